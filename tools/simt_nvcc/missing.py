"""What a program asks of CUDA that the executor does not have: told by its name, with its own exit code."""

import glob
import os
import re

# As the linker names what is missing: functions of cuRAND, cuFFT, NPP, NVRTC, the driver and others.
OF_A_LIBRARY = re.compile(
    r"undefined reference to `"
    r"((?:cu(?:rand|fft|sparse|solver|blas|dnn|da[A-Z]|pti|[A-Z])|npp|nvrtc|nvml|nvjpeg|nvJitLink|nccl)\w*)'"
)
UNDECLARED = re.compile(
    r"error: [‘'](?:\w+::)*(\w+)[’'] "
    r"(?:was not declared|does not name a|has not been declared|is not a member of)"
)
# A header of the toolkit's libraries that is not installed.
NO_HEADER = re.compile(
    r"^(\S+:\d+):\d+: fatal error: "
    r"((?:cu(?:rand|fft|sparse|solver|blas|dnn|da)|npp|nvrtc|nvjpeg|nvJitLink|nccl)\w*\.h): No such file",
    re.MULTILINE,
)
# Headers of the toolkit that the executor stands in for.
HEADERS = (
    "cuda.h",
    "cuda*runtime*.h",
    "driver_*.h",
    "*_types.h",
    "*_functions.h",
    "*_intrinsics.h",
    "cuda_*primitives.h",
    "cooperative_groups.h",
    "cooperative_groups/*.h",
    "cublas*.h",
    "crt/*.h",
)


# Libraries of the toolkit by the headers that declare their functions, which begin with the library's name.
# All of NPP is in nppc, which its other libraries need.
LIBRARIES = {
    "cufft": ("cufft.h", "cufftXt.h"),
    "curand": ("curand.h",),
    "cusolver": ("cusolverDn.h", "cusolverRf.h", "cusolverSp.h"),
    "cusparse": ("cusparse.h",),
    "nccl": ("nccl.h",),
    "nppc": ("nppcore.h", "nppi_*.h", "npps_*.h"),
    "nvJitLink": ("nvJitLink.h",),
    "nvjpeg": ("nvjpeg.h",),
    "nvrtc": ("nvrtc.h",),
}


BEGINNING = {"nppc": "npp[is]?"}  # of its functions' names, where it is not the library's
NPP = (
    "nppial",
    "nppicc",
    "nppidei",
    "nppif",
    "nppig",
    "nppim",
    "nppist",
    "nppisu",
    "nppitc",
    "npps",
)


class NotOffered(Exception):
    pass


def toolkit():
    """Folders of the toolkit's own headers, where one is installed."""
    top = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    folders = (os.path.join(top, "include"), os.path.join(top, "include", "cccl"))
    return [folder for folder in folders if os.path.isdir(folder)]


def library_folder(name):
    """The folder of the toolkit's library of that name; None where there is none."""
    top = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    folders = (os.path.join(top, "lib64"), os.path.join(top, "lib"))
    return next((folder for folder in folders if os.path.isfile(os.path.join(folder, name))), None)


def is_of_a_toolkit(folder):
    """Whether it is the folder of some toolkit's headers, or lies below one."""
    folder = os.path.abspath(folder)
    always = ("cuda_runtime.h", "crt/host_config.h")
    while True:
        if all(os.path.isfile(os.path.join(folder, name)) for name in always):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def version():
    """Of the toolkit, as CUDA_VERSION has it: programs that ask for it then use the headers that are there.
    Without a toolkit it is 12.0."""
    for folder in toolkit()[:1]:
        path = os.path.join(folder, "cuda.h")
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                found = re.search(r"^#define CUDA_VERSION (\d+)", file.read(), re.MULTILINE)
            if found:
                return int(found.group(1))
    return 12000


def declared_by_cuda(names):
    """Those of the names that stand in the toolkit's headers."""
    left, found = set(names), set()
    paths = [
        path
        for folder in toolkit()[:1]
        for header in HEADERS
        for path in glob.glob(os.path.join(folder, header))
    ]
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            words = set(re.findall(r"\w+", file.read())) if left else set()
        found |= left & words
        left -= words
    return sorted(found)


def in_compiler(messages):
    """Raises NotOffered where names that a compiler does not know are CUDA's, or a header of CUDA's is not
    there."""
    header = NO_HEADER.search(messages)
    if header:
        top = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        place, name = header.groups()
        raise NotOffered(f"{name} ({place}), a header of CUDA's toolkit that is not in {top}/include")
    names = {
        name for name in UNDECLARED.findall(messages) if re.match(r"cu[A-Z]|cuda|CU|__|[a-z]+[0-9]D", name)
    }
    names = declared_by_cuda(names) if names else []
    if names:
        raise NotOffered(", ".join(names))


def in_linker(messages):
    """Functions of the toolkit's libraries that the linker did not find."""
    return sorted(set(OF_A_LIBRARY.findall(messages)))


def functions_of(library):
    """What the toolkit's headers declare of that library."""
    beginning = BEGINNING.get(library, library)
    names = set()
    for folder in toolkit()[:1]:
        paths = [path for header in LIBRARIES[library] for path in glob.glob(os.path.join(folder, header))]
        for path in paths:
            with open(path, encoding="utf-8", errors="replace") as file:
                names |= set(re.findall(rf"\b(p?{beginning}[A-Z]\w*)\s*\(", file.read()))
    return sorted(names)


def in_their_place(names):
    """A C file of functions that end the program, with exit code 3, where it calls one of these and no other
    library has it."""
    stand_in = "__attribute__((weak)) int {0}(void) {{ plumb_simt_call_not_offered(\"{0}\"); return -1; }}\n"
    declared = "void plumb_simt_call_not_offered(const char*);\n"
    return declared + "".join(stand_in.format(name) for name in names)
