"""What nvcc says with -v: CMake reads from it where the toolkit is, and how the host's linker is called."""

import os
import re
import sys

from . import keeping


def by_name(libraries):
    """The libraries as -L and -l where they are shared ones, which is what CMake takes up."""
    out = []
    for one in libraries:
        shared = re.fullmatch(r"(.*)/lib([^/]+?)\.so[.\d]*", one)
        out += [f"-L{shared.group(1)}", f"-l{shared.group(2)}"] if shared else [one]
    return out


def toolkit(root, build, libraries):
    """A folder laid out as a toolkit's, for find_package(CUDAToolkit)."""
    top = os.path.join(build, "toolkit")
    for folder in ("bin", "lib64", "nvvm/libdevice"):
        os.makedirs(os.path.join(top, folder), exist_ok=True)
    for link, target in (("include", "gpu/simt/language/include"), ("bin/nvcc", "tools/simt-nvcc")):
        if not os.path.lexists(os.path.join(top, link)):
            os.symlink(os.path.join(root, target), os.path.join(top, link))
    for name in ("cudart", "cublas", "cublasLt"):
        files = [
            one for one in libraries if one != "-fopenmp"
        ]  # a script of the linker's names files and -l alone
        keeping.keep(
            os.path.join(top, f"lib64/lib{name}.so"), f"INPUT({' '.join([*files, '-lgomp'])})\n".encode()
        )
    return top


def say(root, build, known):
    top = toolkit(root, build, known["libraries"])
    libraries = " ".join(by_name(known["libraries"]))
    for line in (
        f"_TARGET_DIR_={top}",
        f"TOP={top}",
        f"NVVMIR_LIBRARY_DIR={top}/nvvm/libdevice",
        f"PATH={os.environ.get('PATH', '')}",
        f'INCLUDES="-I{top}/include" "-I{root}"',
        f"LIBRARIES= {libraries}",
        "cicc -arch compute_80",
        f'"{known["compiler"]}" -o "a.out" "a.o" {libraries}',
    ):
        print("#$ " + line, file=sys.stderr)
