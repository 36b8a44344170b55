"""libclang over a variant: its syntax tree, its own files, and where macros stand in them."""

import os
import shutil
import subprocess
import sys

PACKAGES = "python3-clang-14 libclang1-14"


class Refused(Exception):
    """Bad input, or something that is missing: one line, exit code 2."""


def cindex():
    """The bindings of Debian's libclang, whichever Python runs."""
    place = "/usr/lib/python3/dist-packages"
    if place not in sys.path:
        sys.path.append(place)
    try:
        from clang import cindex as bindings  # noqa: PLC0415
    except ImportError as e:
        raise Refused(f"libclang is missing: apt-get install {PACKAGES}") from e
    return bindings


def flags(tree, device):
    """How a variant is compiled: on the host, or for the CPU executor, whose shim makes C++ of CUDA."""
    compiler = shutil.which("g++") or "g++"
    include = subprocess.run(
        [compiler, "-print-file-name=include"], capture_output=True, text=True, check=False
    )
    given = ["-xc++", f"-I{tree}", "-w", "-ferror-limit=0", "-idirafter", include.stdout.strip()]
    if not device:
        return [
            *given,
            "-std=c++20",
            "-march=native",
            "-isystem",
            "/usr/include/eigen3",
            '-DPLUMB_ORIGIN="user"',
        ]
    language = os.path.join(tree, "gpu/simt/language/include")
    given += ["-std=c++17", "-D__CUDACC__", "-DPLUMB_SIMT", "-isystem", language]
    given += ["-include", os.path.join(language, "cuda_runtime.h")]
    # what the executor's rewriting takes out of the text (gpu/simt/rewrite/text.py)
    words = ("shared", "global", "device", "constant", "managed", "host")
    return [*given, *(f"-D__plumb_{word}__=" for word in words), "-D__plumb_launch_bounds__(...)="]


class Source:
    """One file as it is: offsets are libclang's, in bytes, so that a byte is a character here."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="latin-1", newline="") as file:
            self.text = file.read()

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1


class Unit:
    """A variant's syntax tree; `files` are its source and the headers of its own folder, by path."""

    def __init__(self, tree, path):
        clang = cindex()
        options = clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        try:
            self.unit = clang.Index.create().parse(path, flags(tree, path.endswith(".cu")), options=options)
        except clang.TranslationUnitLoadError as e:
            raise Refused(f"{path}: libclang cannot read it") from e
        own = os.path.dirname(path)
        includes = [i for i in self.unit.get_includes() if i.source and i.include]
        self.files = {path: Source(path)}
        self.includes = []  # (file, offset of the line, path that is meant)
        for include in includes:
            target = os.path.realpath(include.include.name)
            if os.path.dirname(target) == own and target not in self.files:
                self.files[target] = Source(target)
        for include in includes:
            source = os.path.realpath(include.source.name)
            if source in self.files:
                self.includes.append((source, include.location.line, os.path.realpath(include.include.name)))
        self.macros = {file: [] for file in self.files}
        for node in self.unit.cursor.get_children():
            if node.kind.name == "MACRO_INSTANTIATION" and node.location.file:
                spans = self.macros.get(os.path.realpath(node.location.file.name))
                if spans is not None:
                    spans.append((node.extent.start.offset, node.extent.end.offset))

    def errors(self):
        return [str(d) for d in self.unit.diagnostics if d.severity >= 3]

    def top(self, file):
        """The declarations of one file."""
        for node in self.unit.cursor.get_children():
            if node.kind.is_preprocessing() or not node.location.file:
                continue
            if os.path.realpath(node.location.file.name) == file:
                yield node
