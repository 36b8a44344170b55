"""A stand-in for nvcc: compiles a CUDA program for the CPU executor, with nvcc's options (tools/simt-nvcc).

Exit 0; 1: the program does not compile; 2: an option or file that cannot be; 3: it names something of the
toolkit that the CPU executor does not have. Functions of libraries that the executor does not have are
linked, and end the program with exit code 3 where it calls one."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import missing, toolkit, verbose
from .keeping import keep
from .missing import NotOffered
from .options import Refused, read

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gpu/simt/ptx"))
import executor_build  # noqa: E402

BUILD = executor_build.build_folder()
VERSION = missing.version()
AS_NVCC = [
    "-D__NVCC__",
    f"-D__CUDACC_VER_MAJOR__={VERSION // 1000}",
    f"-D__CUDACC_VER_MINOR__={VERSION % 1000 // 10}",
    "-D__CUDACC_VER_BUILD__=0",
    f"-DPLUMB_SIMT_CUDA_VERSION={VERSION}",
]


class Failed(Exception):
    pass


def say(command):
    result = subprocess.run(command, check=False)
    if result.returncode != 0:
        raise Failed()


def told(command):
    """Runs a command; whether it did what it should, and what it said on stderr."""
    result = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True, errors="replace")
    return result.returncode == 0, result.stderr


def compile_and_name(command):
    """As say(), but what CUDA has and the executor has not is told by its name (missing.py)."""
    done, messages = told(command)
    if not done:
        missing.in_compiler(messages)
    sys.stderr.write(messages)
    if not done:
        raise Failed()


def undefined_names(objects):
    command = ["nm", "-u", *objects]
    return subprocess.run(command, check=False, capture_output=True, text=True, errors="replace").stdout


def c_object(compiler, scratch, name, text):
    """The object of a C file with that text."""
    source = os.path.join(scratch, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    say([compiler, "-x", "c", "-w", "-fPIC", "-c", source, "-o", source + ".o"])
    return source + ".o"


def with_modules(names, known, scratch):
    """The libraries of a program with those undefined names: it may load modules of PTX, made by NVRTC.

    A module's library uses what the executor has, of which the program itself may use little."""
    libraries = known["libraries"]
    out = list(libraries)
    if re.search(r"cu(?:ModuleLoad|LibraryLoad)", names):
        # where the translator is (host/ptx_modules.cpp)
        root = f"const char plumb_simt_root[] = {json.dumps(ROOT)};\n"
        whole = ["-rdynamic", f"-Wl,--whole-archive,{libraries[0]},--no-whole-archive"]
        out = [c_object(known["compiler"], scratch, "root", root), *whole, *out]
    folder = missing.library_folder("libnvrtc.so")
    if folder and re.search(r"\bnvrtc[A-Z]", names):
        out += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lnvrtc"]
    return out


class Compiler:
    """One order, in a scratch folder."""

    def __init__(self, order, scratch):
        self.known = executor_build.known()
        self.order, self.scratch = order, scratch
        self.standard = "-std=gnu++" + (
            order.standard if order.standard in ("20", "2a", "23", "2b") else "17"
        )
        self.chip = []  # of a .cu file: what the executor's own headers are told
        if order.per_thread:
            self.chip.append("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")
        if order.chip:
            self.chip.append("-D__CUDA_ARCH__=900")
        if order.chip == "90a":
            self.chip.append("-D__CUDA_ARCH_FEAT_SM90_ALL")
        self.after = self.defines()

    def headers(self, cuda):
        """Where headers are looked for; `cuda` is the folder of those of the toolkit's names."""
        behind = [word for folder in missing.toolkit() for word in ("-idirafter", folder)]
        return [*self.order.preprocessor, "-I", ROOT, "-isystem", cuda, *behind]

    def defines(self):
        """A header with the -D and -U of the command: they begin behind the executor's own headers, which
        ask for the chip and the default stream alone."""
        text = ""
        for what, one in self.order.defines:
            if one.startswith(("__CUDA_ARCH", "CUDA_API_PER_THREAD")):
                self.chip.append(f"-{what}{one}")
                continue
            name, equals, value = one.partition("=")
            text += f"#undef {name.split('(')[0]}\n" + (
                f"#define {name} {value if equals else 1}\n" if what == "D" else ""
            )
        # the same text has the same name, which stands in what is compiled: it is kept under that
        path = os.path.join(BUILD, "kept", hashlib.sha1(text.encode()).hexdigest() + ".h")
        keep(path, text.encode())
        return [word for header in (path, *self.order.includes) for word in ("-include", header)]

    def preprocess(self, source, out, *more):
        """A .cu file as the executor's compiler sees it."""
        cuda = os.path.join(ROOT, "gpu/simt/language/include")
        compile_and_name(
            [
                self.known["compiler"],
                "-E",
                self.standard,
                *self.known["language"],
                *AS_NVCC,
                *self.chip,
                *self.headers(cuda),
                "-include",
                os.path.join(cuda, "cuda_runtime.h"),
                *self.after,
                *[word for word in self.order.host if word in ("-fopenmp", "-pthread")],
                *more,
                "-x",
                "c++",
                source,
                "-o",
                out,
            ]
        )

    def kernels(self, source, out, dependencies):
        """Compiles a .cu file; what was compiled before is taken from the build folder."""
        stem = os.path.join(self.scratch, hashlib.sha1(source.encode()).hexdigest())
        self.preprocess(source, stem + ".ii", *dependencies)
        rewrite = [
            sys.executable,
            os.path.join(ROOT, "gpu/simt/rewrite/rewrite.py"),
            *(["--rdc"] if self.order.rdc else []),
        ]
        say([*rewrite, stem + ".ii", stem + ".cpp"])
        # nvcc lets pass what g++ does not, such as a class that gives a type's name another meaning
        flags = [self.standard, "-fpermissive", *self.known["language"], *self.known["flags"], *AS_NVCC]
        flags += [word for word in self.order.host if word in ("-fopenmp", "-pthread", "-fPIC", "-fpic")]
        with open(stem + ".cpp", "rb") as file:
            text = file.read()
        # what is compiled says where: lines are of files below this folder
        place = [self.known["compiler"], os.getcwd(), *flags]
        key = hashlib.sha1("\n".join(place).encode() + text).hexdigest()
        kept = os.path.join(BUILD, "kept", key + ".o")
        if not os.path.exists(kept):
            compile_and_name(
                [
                    *self.known["launcher"],
                    self.known["compiler"],
                    *flags,
                    "-c",
                    stem + ".cpp",
                    "-o",
                    stem + ".o",
                ]
            )
            with open(stem + ".o", "rb") as file:
                keep(kept, file.read())
        shutil.copy(kept, out)

    def host(self, source, kind, out, dependencies):
        """Compiles a host file, which finds CUDA's headers as behind nvcc."""
        standard = [] if kind == "c" else [self.standard]
        compile_and_name(
            [
                self.known["compiler"],
                *standard,
                "-O2",
                "-w",
                *self.order.host,
                *self.headers(toolkit.include(ROOT, BUILD)),
                *self.after,
                *dependencies,
                "-x",
                "c" if kind == "c" else "c++",
                "-c",
                source,
                "-o",
                out,
            ]
        )

    def object(self, source, kind, out):
        dependencies = []
        if self.order.with_dependencies:
            dependencies = ["-MD", *self.order.dependencies]
            if "-MF" not in dependencies:
                dependencies += ["-MF", os.path.splitext(out)[0] + ".d"]
            if not {"-MT", "-MQ"} & set(dependencies):
                dependencies += ["-MT", out]
        if kind == "cu":
            self.kernels(source, out, dependencies)
        else:
            self.host(source, kind, out, dependencies)

    def objects(self):
        out = []
        for number, (source, kind) in enumerate(self.order.files):
            out.append(os.path.join(self.scratch, f"{number}.o"))
            self.object(source, kind, out[-1])
        return out

    def link(self, output):
        shared = ["-shared"] if self.order.shared else []
        host = [word for word in self.order.host if not word.startswith("-W") or word.startswith("-Wl,")]
        objects = self.objects()
        command = [self.known["compiler"], *shared, *host, *objects]
        of_modules = with_modules(undefined_names(objects), self.known, self.scratch)
        # nvcc leaves out what headers define and nothing uses (MPI's classes for C++), undefined names too.
        libraries = ["-Wl,--as-needed", *of_modules]
        behind = ["-Wl,--gc-sections", *self.order.link, *libraries, "-o", output]
        done, messages = told([*command, *behind])
        names = [] if done else missing.in_linker(messages)
        if names:
            done, messages = told([*command, self.stand_ins(names), *behind])
            named = ", ".join(names)
            messages += f"note: not supported by the CPU executor: {named}; a call ends the program\n"
        sys.stderr.write(messages)
        if not done:
            raise Failed()

    def stand_ins(self, names):
        """An object with functions of those names."""
        return c_object(self.known["compiler"], self.scratch, "stand_ins", missing.in_their_place(names))


def compile_each(compiler):
    order = compiler.order
    if order.output and len(order.files) > 1:
        raise Refused("-o names one file, and several are compiled")
    for source, kind in order.files:
        stem = os.path.splitext(os.path.basename(source))[0]
        compiler.object(source, kind, order.output or os.path.join(order.folder, stem + ".o"))


def preprocess_each(compiler):
    order = compiler.order
    for source, _ in order.files:
        compiler.preprocess(
            source, order.output or "-", *(order.dependencies if order.mode == "dependencies" else [])
        )


def archive(compiler):
    order = compiler.order
    say(
        [
            "ar",
            "rcs",
            order.output or "a.a",
            *compiler.objects(),
            *[word for word in order.link if not word.startswith("-")],
        ]
    )


def obey(order, scratch):
    """Does what the order says; the exit code."""
    if order.mode == "version":
        print("nvcc: NVIDIA (R) Cuda compiler driver\nplumb simt-nvcc, which stands in for it")
        named = f"{VERSION // 1000}.{VERSION % 1000 // 10}"
        print(f"Cuda compilation tools, release {named}, V{named}.0")
        return 0
    if order.mode == "help":
        print(__doc__)
        return 0
    if order.mode == "device code":
        raise Refused("the CPU executor has no code of a device: no -ptx, -cubin or -fatbin")
    for source, _ in order.files:
        if not os.path.isfile(source):
            raise Refused(f"{source}: no such file")
    if not order.files and not order.link and not order.verbose:
        raise Refused(
            "no input files (example: tools/simt-nvcc gpu/tests/programs/dot_product.cu -o dot_product)"
        )
    compiler = Compiler(order, scratch)
    if order.verbose:
        verbose.say(ROOT, BUILD, compiler.known)
    if order.mode in ("compile", "preprocess", "dependencies", "archive"):
        {"compile": compile_each, "archive": archive}.get(order.mode, preprocess_each)(compiler)
    elif not order.files and not order.link:
        pass
    elif (
        order.mode == "device link"
    ):  # kernels are linked as functions are: nothing is left to do, in a file that is asked for
        empty = os.path.join(scratch, "empty.cpp")
        with open(empty, "w", encoding="utf-8"):
            pass
        say([compiler.known["compiler"], "-c", *order.host, empty, "-o", order.output or "a_dlink.o"])
    else:
        compiler.link(order.output or os.path.join(order.folder, "a.out"))
    return 0


def main():
    try:
        order = read(sys.argv[1:])
        with tempfile.TemporaryDirectory(prefix="simt-nvcc-") as scratch:
            return obey(order, scratch)
    except Refused as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    except NotOffered as e:
        print(f"error: not supported by the CPU executor: {e}", file=sys.stderr)
        return 3
    except Failed:
        return 1


if __name__ == "__main__":
    sys.exit(main())
