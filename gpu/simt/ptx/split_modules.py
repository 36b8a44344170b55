#!/usr/bin/env python3
# Writes each kernel of modules of PTX as a module of its own: what PLUMB_SIMT_PTX names (host/ptx_kernels.hpp).
#
#   split_modules.py FOLDER MODULE.ptx...
#
# FOLDER/kernels lists them, "FILE<TAB>KERNEL". Of kernels of the same name, which two modules have of one template, the first is taken.
# Exit 2: a module cannot be read.
import os
import re
import sys

from module_text import NAME, BadModule, closing_of, line_at, without_comments

ENTRY = re.compile(r'(?:\.(?:visible|weak|extern)\s+)*\.entry\s+(%s)' % NAME)


def kernels_of(text):
    """[(name, offset, offset of the end)] of the kernels in a module's text."""
    bare, found = without_comments(text), []
    m = ENTRY.search(bare)
    while m:
        parameters = bare.find('(', m.end())
        limits = closing_of(bare, parameters) if bare[m.end():parameters].strip() == '' else m.end()
        body = bare.find('{', limits)
        if body < 0:
            raise BadModule(line_at(bare, m.start()), "a kernel without a body: '%s'" % m.group(1))
        found.append((m.group(1), m.start(), closing_of(bare, body)))
        m = ENTRY.search(bare, found[-1][2])
    return found


def each_alone(text):
    """(name, text of a module that has that kernel and no other) of each kernel."""
    kernels = kernels_of(text)
    begins, ends = [0] + [end for _, _, end in kernels], [begin for _, begin, _ in kernels] + [len(text)]
    between = [text[begin:end] for begin, end in zip(begins, ends)]
    for k, (name, begin, end) in enumerate(kernels):
        yield name, ''.join(between[:k + 1]) + text[begin:end] + ''.join(between[k + 1:])


def split(folder, paths):
    """Writes the modules and the list; returns the number of kernels."""
    os.makedirs(folder, exist_ok=True)
    lines = {}
    for path in paths:
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
        try:
            for k, (name, alone) in enumerate(each_alone(text)):
                if name in lines:
                    continue
                lines[name] = '%s.%d.ptx' % (os.path.basename(path)[:-len('.ptx')], k)
                with open(os.path.join(folder, lines[name]), 'w', encoding='utf-8') as file:
                    file.write(alone)
        except BadModule as e:
            print('error: %s:%d: %s' % (path, e.line, e), file=sys.stderr)
            sys.exit(2)
    with open(os.path.join(folder, 'kernels'), 'w', encoding='utf-8') as file:
        file.write(''.join('%s\t%s\n' % (file_name, name) for name, file_name in lines.items()))
    return len(lines)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        print('error: split_modules.py FOLDER MODULE.ptx...', file=sys.stderr)
        sys.exit(2)
    print('%d kernels' % split(sys.argv[1], sys.argv[2:]))
