#!/usr/bin/env python3
# Compiles a module of PTX to a shared library that the CPU executor loads.
#
#   compile_module.py [--name FILE | --keep] MODULE.ptx     prints the library's path, and the name that findings call the module's lines
#                                                           by: FILE, or that of a copy which is kept, or the module's own
#
# A module that was compiled before is found by its text, the translator's own text and the compiler's flags. Exit 1: the library cannot be made;
# 2: the module cannot be read. Instructions that are not offered are notes on stderr: a kernel that comes to one stops there.
import glob
import hashlib
import os
import subprocess
import sys

from executor_build import ROOT, build_folder, known
from module_code import ModuleCode
from module_text import BadModule

HERE = os.path.dirname(os.path.abspath(__file__))
# -O1 and no more of a program's flags for its optimiser: a module must run within seconds. Integers of PTX wrap.
OPTIMISATION = ('-O', '--param', '-funroll', '-fno-tree-partial-pre')
FLAGS = ['-std=gnu++20', '-O1', '-fwrapv', '-fPIC', '-fvisibility=hidden']


def sources():
    """Files that decide what a module becomes."""
    simt = os.path.dirname(HERE)
    found = glob.glob(os.path.join(HERE, '*.py')) + glob.glob(os.path.join(simt, 'rewrite', 'ptx*.py'))
    return sorted(found + glob.glob(os.path.join(simt, 'language', '*.hpp')))


def digest(*parts):
    h = hashlib.sha1()
    for part in parts:
        h.update(part if isinstance(part, bytes) else part.encode())
        h.update(b'\0')
    return h.hexdigest()[:24]


class Compiler:
    def __init__(self):
        self.folder = os.path.join(build_folder(), 'modules')
        how = known()
        kept = [f for f in how['flags'] if not f.startswith(OPTIMISATION) or f.startswith('--param=tsan')]
        self.command = [how['compiler'], *how['language'], *kept, *FLAGS, '-I', ROOT, '-isystem',
                        os.path.join(ROOT, 'gpu/simt/language/include')]
        texts = []
        for path in sources():
            with open(path, 'rb') as file:
                texts.append(file.read())
        self.version = digest(*self.command, *texts)

    def run(self, *words):
        self.say([*self.command, *words])

    @staticmethod
    def say(command):
        result = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True, errors='replace')
        if result.returncode != 0:
            sys.stderr.write(result.stderr)
            sys.exit('error: the module, as C++, does not compile')

    def header(self):
        """The folder of the precompiled header, which is most of what a module's compiler reads."""
        folder = os.path.join(self.folder, 'header-' + self.version)
        made = os.path.join(folder, 'ptx_module.hpp.gch')
        if not os.path.exists(made):
            os.makedirs(folder, exist_ok=True)
            own = '%s.%d' % (made, os.getpid())
            self.run('-x', 'c++-header', os.path.join(ROOT, 'gpu/simt/language/ptx_module.hpp'), '-o', own)
            os.replace(own, made)
        return folder

    def library(self, text, name):
        path = os.path.join(self.folder, '%s.so' % digest(self.version, name, text))
        if not os.path.exists(path):
            self.make(text, name, path)
        with open(path + '.notes', encoding='utf-8') as file:
            sys.stderr.write(file.read())
        return path

    def make(self, text, name, path):
        try:
            module = ModuleCode(text)
            code = module.code(name)
        except BadModule as e:
            print('error: %s:%d: %s' % (name, e.line, e), file=sys.stderr)
            sys.exit(2)
        folder = self.header()
        source = '%s.%d.cpp' % (path[:-3], os.getpid())
        with open(source, 'w', encoding='utf-8') as file:
            file.write(code)
        own = '%s.%d' % (path, os.getpid())
        self.run('-include', os.path.join(folder, 'ptx_module.hpp'), '-c', source, '-o', source + '.o')
        # without the sanitizer's own library, in whose place the executor stands
        self.say([self.command[0], '-shared', source + '.o', '-o', own])
        with open(path + '.notes', 'w', encoding='utf-8') as file:
            for line, what in module.refused:
                file.write('note: %s:%d: not offered by the CPU executor: %s\n' % (name, line, what))
        os.replace(own, path)
        for done in (source, source + '.o'):
            os.remove(done)


def options(words):
    """(name, whether the text is kept, file) of the command line."""
    if len(words) == 3 and words[0] == '--name':
        return os.path.abspath(words[1]), False, words[2]  # as a debugger says it
    if len(words) == 2 and words[0] == '--keep':
        return None, True, words[1]
    if len(words) != 1:
        print('error: compile_module.py [--name FILE | --keep] MODULE.ptx', file=sys.stderr)
        sys.exit(2)
    return os.path.abspath(words[0]), False, words[0]


def kept(folder, text):
    """A file of the build folder that has the text."""
    path = os.path.join(folder, digest(text) + '.ptx')
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        own = '%s.%d' % (path, os.getpid())
        with open(own, 'w', encoding='utf-8') as file:
            file.write(text)
        os.replace(own, path)
    return path


def main():
    name, keep, path = options(sys.argv[1:])
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
    except OSError as e:
        print('error: %s: %s' % (path, e.strerror), file=sys.stderr)
        sys.exit(2)
    compiler = Compiler()
    name = kept(compiler.folder, text) if keep else name
    print(compiler.library(text, name))
    print(name)


if __name__ == '__main__':
    main()
