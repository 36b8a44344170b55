"""A kernel of a framework, on the device of fake_cuda/driver.c, whose file allocates while it is imported."""

import ctypes
import pathlib
import sys

import plumbline as pl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "stand_in"))
import cupy  # noqa: E402
from fake_kernels import right, wait  # noqa: E402

GUARD = 0x7FB5F1CE
held = cupy.state.allocate(100) if cupy.state.allocate else None  # the process that lists variants has no device


def is_guarded(memory, size):
    """Once the stream has come to it."""
    words = (ctypes.c_uint32.from_address(memory - 4).value, ctypes.c_uint32.from_address(memory + size).value)
    return words == (GUARD, GUARD)


@pl.variant("transpose", device="cuda")
def framework(A, B):
    assert cupy.state.stream == pl.current_stream()
    mine = cupy.state.allocate(200)
    wait()
    assert is_guarded(held, 100) and is_guarded(mine, 200)
    right(A, B)
