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


def included(directive):
    """The file that an #include means; None where there is none, which the bindings assert."""
    try:
        return os.path.realpath(directive.get_included_file().name)
    except AssertionError:
        return None


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
        self.files = {path: Source(path)}
        self.includes = []  # (file, number of the line, path that is meant)
        nodes = self.unit.cursor.get_children()
        recorded = [n for n in nodes if n.kind.is_preprocessing() and n.location.file]
        # directives, not get_includes(): that leaves out those which an include guard makes nothing of
        for node in (n for n in recorded if n.kind.name == "INCLUSION_DIRECTIVE"):
            if target := included(node):
                self.includes.append((os.path.realpath(node.location.file.name), node.location.line, target))
                if os.path.dirname(target) == own and target not in self.files:
                    self.files[target] = Source(target)
        self.includes = [i for i in self.includes if i[0] in self.files]
        self.macros = {file: [] for file in self.files}
        for node in (n for n in recorded if n.kind.name == "MACRO_INSTANTIATION"):
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
