"""A folder laid out as CUDA's toolkit, whose headers are the executor's where it has them: for the compiler
of host files, and for find_package(CUDAToolkit)."""

import hashlib
import os
import subprocess
import tempfile

from . import keeping, missing


def named_alone(libraries):
    """The libraries without options of the compiler: CMake and scripts of the linker take names alone."""
    return ["-lgomp" if one == "-fopenmp" else one for one in libraries]


def goes_on_to_the_next(header):
    """Whether a header only sets the stage for the toolkit's of the same name."""
    if os.path.isdir(header):
        return False
    with open(header, encoding="utf-8") as file:
        return "#include_next" in file.read()


def include(root, build):
    """The folder of headers. One that includes another beside it finds the executor's: the toolkit's are
    copies, since the compiler follows a link to where its target stands."""
    here = os.path.join(build, "toolkit", "include")
    if os.path.islink(here):  # as older versions made it
        os.unlink(here)
    os.makedirs(here, exist_ok=True)
    for room in ("gpu", "reference"):  # what the headers include in turn
        keeping.link(os.path.join(root, room), os.path.join(here, room))
    told = f"#define PLUMB_SIMT_CUDA_VERSION {missing.version()}\n"
    keeping.keep(os.path.join(here, "plumb_simt_cuda_version.h"), told.encode())
    own = os.path.join(root, "gpu/simt/language/include")
    for folder in (own, *missing.toolkit()):
        for name in os.listdir(folder):  # the executor's stand before the toolkit's of the same name
            path, kept = os.path.join(folder, name), os.path.join(here, name)
            if os.path.lexists(kept) or (folder == own and goes_on_to_the_next(path)):
                continue
            if folder == own or os.path.isdir(path):
                keeping.link(path, kept)
            else:
                with open(path, "rb") as file:
                    keeping.keep(kept, file.read())
    return here


def laid_out(root, build, compiler, libraries):
    top = os.path.dirname(include(root, build))
    for folder in ("bin", "lib64", "nvvm/libdevice"):
        os.makedirs(os.path.join(top, folder), exist_ok=True)
    keeping.link(os.path.join(root, "tools/simt-nvcc"), os.path.join(top, "bin/nvcc"))
    for name in ("cudart", "cublas", "cublasLt", *missing.LIBRARIES, *missing.NPP):
        files = [*libraries, *stand_ins(top, name, compiler)]
        keeping.keep(os.path.join(top, f"lib64/lib{name}.so"), f"INPUT({' '.join(files)})\n".encode())
    return top


def stand_ins(top, library, compiler):
    """An object with the functions that the executor lacks of one of the toolkit's libraries, if any."""
    names = missing.functions_of(library) if library in missing.LIBRARIES else []
    if not names:
        return []
    text = missing.in_their_place(names).encode()
    out = os.path.join(top, f"lib64/{library}_stand_ins_{hashlib.sha256(text).hexdigest()[:8]}.o")
    if not os.path.exists(out):
        with tempfile.TemporaryDirectory(prefix="simt-nvcc-") as scratch:
            made = os.path.join(scratch, "made.o")
            command = [compiler, "-x", "c", "-w", "-fPIC", "-c", "-", "-o", made]
            subprocess.run(command, input=text, check=True)
            with open(made, "rb") as file:
                keeping.keep(out, file.read())
    return [out]
