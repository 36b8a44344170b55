"""nvcc's command line: what each option takes, and what is done with it here."""

import re
import shlex
from dataclasses import dataclass, field

from . import missing


def words_in(text):
    return set(text.split())


KINDS = {
    ".cu": "cu",
    ".c": "c",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".cxx": "cpp",
    ".C": "cpp",
    ".o": "object",
    ".a": "object",
    ".so": "object",
}

# Long names, by the short ones that stand for them below.
LONG = {
    "output-file": "o",
    "include-path": "I",
    "define-macro": "D",
    "undefine-macro": "U",
    "library-path": "L",
    "library": "l",
    "system-include": "isystem",
    "pre-include": "include",
    "gpu-architecture": "arch",
    "gpu-code": "code",
    "generate-code": "gencode",
    "compiler-options": "Xcompiler",
    "linker-options": "Xlinker",
    "ptxas-options": "Xptxas",
    "archive-options": "Xarchive",
    "compiler-bindir": "ccbin",
    "optimize": "O",
    "machine": "m",
    "output-directory": "odir",
    "options-file": "optf",
    "compile": "c",
    "device-c": "dc",
    "device-w": "dw",
    "device-link": "dlink",
    "lib": "lib",
    "preprocess": "E",
    "ptx": "ptx",
    "cubin": "cubin",
    "fatbin": "fatbin",
    "debug": "g",
    "device-debug": "G",
    "generate-line-info": "lineinfo",
    "disable-warnings": "w",
    "relocatable-device-code": "rdc",
    "x-language": "x",
    "language": "x",
    "verbose": "v",
    "generate-dependencies": "M",
    "generate-nonsystem-dependencies": "MM",
    "generate-dependencies-with-compile": "MD",
    "generate-nonsystem-dependencies-with-compile": "MMD",
    "dependency-output": "MF",
    "dependency-target-name": "MT",
    "threads": "t",
    "diag-suppress": "diag-suppress",
    "maxrregcount": "maxrregcount",
}
# They take a value: joined to them, behind a =, or as the next word.
JOINED = ("D", "I", "U", "L", "l", "O", "m", "j", "t", "Werror", "Wno", "W")
VALUED = words_in(
    "o I D U L l isystem include x arch code gencode Xcompiler Xlinker Xptxas Xarchive Xnvlink Xcudafe "
    "ccbin std rdc O m odir optf MF MT MQ t keep-dir cudart cudadevrt ftz prec-div prec-sqrt fmad "
    "maxrregcount default-stream diag-suppress diag-error diag-warn Werror idp idir ldir target-dir "
    "split-compile brief-diagnostics allow-unsupported-compiler-version nvlink-options "
    "jump-table-density"
)
# They say how the device's code is made, which here is always made the same way, or what is told meanwhile.
WITHOUT_MEANING = words_in(
    "g G lineinfo w W pg keep save-temps use_fast_math extended-lambda expt-extended-lambda "
    "expt-relaxed-constexpr extra-device-vectorization restrict Wno-deprecated-gpu-targets "
    "Wno-deprecated-declarations Wreorder Wall Wextra Wext-lambda-captures-this Wmissing-launch-bounds "
    "Wdefault-stream-launch m64 allow-unsupported-compiler source-in-ptx no-align-double res-usage "
    "resource-usage display-error-number no-display-error-number forward-unknown-to-host-compiler "
    "forward-unknown-to-host-linker disable-optimizer-constants no-compress dlto relaxed-constexpr "
    "extensible-whole-program ewp objtemp static-global-template-stub device-stack-protector time "
    "gen-opt-lto"
)
MODES = {
    "c": "compile",
    "dc": "compile",
    "dw": "compile",
    "dlink": "device link",
    "lib": "archive",
    "E": "preprocess",
    "M": "dependencies",
    "MM": "dependencies",
    "ptx": "device code",
    "cubin": "device code",
    "fatbin": "device code",
}
# Of the toolkit; the executor stands in for them, or has no such calls and the linker names what is missing.
OF_THE_TOOLKIT = words_in(
    "cudart cudart_static cuda cudadevrt cublas cublasLt cublas_static cublasLt_static curand curand_static "
    "cusparse cusparse_static cufft cufft_static cufftw cusolver cusolver_static cusolverMg cudnn nccl nvrtc "
    "nvJitLink nvToolsExt nvidia-ml cupti nvjpeg culibos"
)


class Refused(Exception):
    pass


@dataclass
class Order:
    """What one command line asks for."""

    mode: str = "link"
    files: list = field(default_factory=list)  # (path, kind)
    output: str = ""
    folder: str = ""
    rdc: bool = False
    standard: str = "17"
    chip: str = ""  # "90" or "90a" where the command names that chip: what __CUDA_ARCH__ says
    shared: bool = False
    per_thread: bool = False  # the default stream is the host thread's own
    verbose: bool = False
    preprocessor: list = field(default_factory=list)  # -I, -isystem and the like, as gcc takes them
    defines: list = field(default_factory=list)  # ("D" or "U", text), in their order
    includes: list = field(default_factory=list)
    host: list = field(default_factory=list)  # for the host's compiler
    link: list = field(default_factory=list)
    dependencies: list = field(default_factory=list)
    with_dependencies: bool = False


def name_and_value(word):
    """The option's short name, and the value joined to it, or None."""
    body = word.lstrip("-")
    name, equals, value = body.partition("=")
    value = value if equals else None
    name = LONG.get(name, name) if word.startswith("--") or name in LONG else name
    if (
        name in VALUED
        or name in WITHOUT_MEANING
        or name in MODES
        or name in ("shared", "v", "version", "V", "help", "h", "MD", "MMD", "MP")
    ):
        return name, value
    for short in JOINED:
        if not word.startswith("--") and body.startswith(short) and len(body) > len(short):
            if short.startswith("W"):
                return "w", None
            return short, body[len(short) :]
    return name, value


def words_of(words):
    """The words, with those of options files in their place."""
    words = list(words)
    while words:
        word = words.pop(0)
        path = None
        if word in ("-optf", "--options-file") and words:
            path = words.pop(0)
        elif word.startswith("--options-file=") or word.startswith("-optf="):
            path = word.partition("=")[2]
        elif word.startswith("@"):
            path = word[1:]
        if path is None:
            yield word
            continue
        try:
            with open(path, encoding="utf-8") as file:
                words[:0] = shlex.split(file.read())
        except OSError as e:
            raise Refused(f"{path}: {e.strerror}") from e


def host_words(value):
    """What -Xcompiler says: words separated by commas."""
    return [word for word in value.replace('"', "").split(",") if word]


def take(order, name, value, language):
    """One option with a value. Returns the language for the files that follow."""
    if name == "o":
        order.output = value
    elif name in ("I", "isystem", "idir"):
        if missing.is_of_a_toolkit(value):  # the installed one's are found behind the executor's, once
            order.preprocessor += [] if missing.toolkit() else ["-idirafter", value]
        else:
            order.preprocessor += ["-isystem" if name == "isystem" else "-I", value]
    elif name in ("D", "U"):
        order.defines.append((name, value))
    elif name in ("arch", "code", "gencode"):
        for chip in re.findall(r"(?:sm|compute)_(90a?)\b", value):
            order.chip = max(order.chip, chip)
    elif name == "include":
        order.includes += value.split(",")
    elif name == "L":
        order.link.append("-L" + value)
    elif name == "l":
        order.link += [
            "-l" + one
            for one in value.split(",")
            if one not in OF_THE_TOOLKIT and not one.startswith("npp")
        ]
    elif name == "Xcompiler":
        order.host += host_words(value)
    elif name == "Xlinker":
        order.link += ["-Wl," + one for one in value.split(",")]
    elif name == "std":
        order.standard = value.replace("c++", "").replace("gnu++", "")
    elif name == "rdc":
        order.rdc = value == "true"
    elif name == "x":
        return {"cu": "cu", "c": "c", "c++": "cpp", "none": None}.get(value, value)
    elif name == "odir":
        order.folder = value
    elif name in ("MF", "MT", "MQ"):
        order.dependencies += ["-" + name, value]
    elif name == "default-stream":
        order.per_thread = value == "per-thread"
    return language


def flag(order, name, word):
    if name in MODES:
        order.mode = MODES[name]
        order.rdc = order.rdc or name in ("dc", "dlink")
        if name in ("M", "MM"):
            order.dependencies.append("-" + name)
    elif name in ("MD", "MMD"):
        order.with_dependencies = True
    elif name in ("shared", "v"):
        order.shared, order.verbose = order.shared or name == "shared", order.verbose or name == "v"
    elif name in ("version", "V", "help", "h"):
        order.mode = "help" if name[0] == "h" else "version"
    elif word in ("-fopenmp", "-pthread", "-fPIC", "-fpic"):
        order.host.append(word)
    elif name not in WITHOUT_MEANING and name != "MP":
        raise Refused(f"unknown option '{word}'")


def read(words):
    """The order that a command line gives. Throws Refused."""
    order, language = Order(), None
    rest = words_of(words)
    for word in rest:
        if word == "-" or not word.startswith("-"):
            kind = language or KINDS.get(
                word[word.rfind(".") :] if "." in word else "", "object" if ".so." in word else None
            )
            if word == "__cmake_determine_cuda":  # CMake's question, asked with -v
                continue
            if kind is None:
                raise Refused(f"{word}: neither a .cu file nor one of C or C++, an object or a library")
            (order.link if kind == "object" else order.files).append(
                word if kind == "object" else (word, kind)
            )
            continue
        name, value = name_and_value(word)
        if name in VALUED:
            if value is None:
                value = next(rest, None)
            if value is None:
                raise Refused(f"'{word}' takes a value")
            language = take(order, name, value, language)
        else:
            flag(order, name, word)
    return order
