"""What nvcc says with -v: CMake reads from it where the toolkit is, and how the host's linker is called."""

import os
import re
import sys

from . import toolkit


def by_name(libraries):
    """The libraries as -L and -l where they are shared ones, which is what CMake takes up."""
    out = []
    for one in libraries:
        shared = re.fullmatch(r"(.*)/lib([^/]+?)\.so[.\d]*", one)
        out += [f"-L{shared.group(1)}", f"-l{shared.group(2)}"] if shared else [one]
    return out


def say(root, build, known):
    named = toolkit.named_alone(known["libraries"])
    top = toolkit.laid_out(root, build, known["compiler"], named)
    libraries = " ".join(by_name(named))
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
