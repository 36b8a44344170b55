"""CUDA C++ kernels of the corpus, compiled by NVRTC as CuPy's RawKernel does, each with inputs and what it must yield. Needs NVRTC's library and
no GPU. Lines that touch shared memory say so: a race that a missing barrier leaves is told by two of them."""

import ctypes
import functools
import glob
import os
import sys

import numpy as np
from corpus import Unset, drawn, number

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE, ORDERS = (os.path.join(HERE, name) for name in ("nvrtc_kernels.cu", "order_kernels.cu"))
PLACES = [*(os.path.join(p, "nvidia/*/lib/libnvrtc.so.*") for p in sys.path), "/usr/local/cuda*/lib64/libnvrtc.so"]


def library():
    """NVRTC. Raises ImportError where there is none."""
    found = [os.environ["PLUMB_NVRTC"]] if "PLUMB_NVRTC" in os.environ else [p for place in PLACES for p in sorted(glob.glob(place)) if "alt" not in p]
    if not found:
        raise ImportError("no libnvrtc.so (pip install nvidia-cuda-nvrtc-cu12, or PLUMB_NVRTC)")
    return ctypes.CDLL(found[0])


def compiled(source, path):
    """The module's text, of a file's text; lines are called lines of `path`. Raises RuntimeError with NVRTC's log."""
    nvrtc, program, size = library(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), path.encode(), 0, None, None)
    options = (ctypes.c_char_p * 3)(b"--gpu-architecture=compute_90", b"-lineinfo", b"--std=c++17")
    failed = nvrtc.nvrtcCompileProgram(program, 3, options)
    what = "ProgramLog" if failed else "PTX"
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise RuntimeError(text.value.decode())
    return text.value.decode()


@functools.cache
def module_of(path):
    with open(path, encoding="utf-8") as file:
        return compiled(file.read(), path)


class Case:
    """A kernel of nvrtc_kernels.cu, the launch, arrays and numbers by parameter, and what arrays hold afterwards."""

    file, shared_lines_told = SOURCE, True  # whether lines that touch shared memory tell of a barrier's lack
    written = ()  # arrays that it writes beside those expected

    def __init__(self, name, grid, block, arguments, expected, tolerance=1e-5, shared=0):  # noqa: PLR0917
        self.name, self.grid, self.block, self.shared = name, grid, block, shared
        self.arguments, self.expected, self.tolerance = arguments, expected, tolerance

    def compiled(self):
        """The text of the module, of all kernels of the file."""
        return module_of(self.file)

    def values(self, arrays):
        for name, argument in self.arguments.items():
            yield ctypes.c_void_p(arrays[name].ctypes.data) if name in arrays else number(argument)


class OrderCase(Case):
    """A kernel of order_kernels.cu, of whole numbers."""

    file, shared_lines_told = ORDERS, False

    def __init__(self, name, grid, block, arguments, expected, written=()):  # noqa: PLR0917
        super().__init__(name, (grid,), (block,), arguments, expected)
        self.written = written


def whole(seed, *shape):
    return np.random.RandomState(seed).randint(-99, 99, shape).astype(np.int32)


def order_cases():
    x, nothing, flag = whole(1, 704), Unset(704, np.int32), np.zeros(1, np.int32)
    told = np.tile(3 * np.arange(32), 2)
    for name in ("published", "fenced"):
        yield OrderCase(name, 3, 32, {"data": Unset(32, np.int32), "flag": flag, "o": Unset(64, np.int32)}, {"o": told}, ("data", "flag"))
    yield OrderCase("locked", 4, 1, {"x": x, "lock": flag, "o": np.zeros(1, np.int32)}, {"o": x[:4].sum()}, ("lock",))
    yield OrderCase("chained", 4, 1, {"x": x, "count": flag, "sums": Unset(4, np.int32)}, {"sums": x[:4].cumsum()}, ("count",))
    yield OrderCase("wanted", 2, 1, {"wants": np.zeros(2, np.int32), "place": flag}, {}, ("wants", "place"))
    rows = x.reshape(-1, 64)
    yield OrderCase("handed_on", 1, 64, {"x": x, "o": Unset(128, np.int32)}, {"o": x[:128].reshape(4, 32)[:, ::-1]})
    yield OrderCase("turned_by_warp", 1, 64, {"x": x, "o": Unset(192, np.int32)}, {"o": x[:192].reshape(6, 32)[:, ::-1]})
    yield OrderCase("ring", 1, 96, {"x": x, "o": nothing, "tiles": 11}, {"o": rows[:, ::-1]})
    yield OrderCase("stored", 1, 64, {"x": x, "o": nothing, "tiles": 11}, {"o": rows[:, ::-1]})
    yield OrderCase("stored_and_read", 1, 64, {"x": x, "o": Unset(64, np.int32), "again": Unset(64, np.int32)}, {"again": x[63::-1]}, ("o",))
    for name in ("arriving", "copied"):
        yield OrderCase(name, 1, 64, {"x": x, "o": Unset(256, np.int32)}, {"o": x[255::-1]})
    yield OrderCase("in_pairs", 4, 64, {"x": x, "o": Unset(256, np.int32)}, {"o": rows[[1, 0, 3, 2], ::-1]})


def plain_cases():
    x, y = drawn(1, 1000), drawn(2, 1000)
    yield Case("axpy", (3,), (64,), {"x": x, "y": y.copy(), "n": 1000, "a": 1.5}, {"y": 1.5 * x + y})
    yield Case("total", (4,), (128,), {"x": x, "o": np.zeros(1, np.float32), "n": 1000}, {"o": x.sum(dtype=np.float64)}, 1e-4, shared=16)
    a, b = drawn(3, 32, 32), drawn(4, 32, 32)
    yield Case("matmul", (2, 2), (16, 16), {"a": a, "b": b, "c": Unset((32, 32)), "n": 32}, {"c": a @ b}, 1e-4)
    bins = np.random.RandomState(5).randint(0, 64, 700).astype(np.int32)
    yield Case("histogram", (2,), (128,), {"x": bins, "o": np.zeros(64, np.int32), "n": 700}, {"o": np.bincount(bins, minlength=64)})
    rows = drawn(6, 3, 128)
    yield Case("scan", (3,), (128,), {"x": rows, "o": Unset((3, 128))}, {"o": np.cumsum(rows, 1)}, 1e-4)
    yield Case("last_block", (4,), (64,), {"x": drawn(7, 256), "part": Unset(4), "o": np.zeros(1, np.float32), "left": np.zeros(1, np.int32)},
               {"o": drawn(7, 256).sum(dtype=np.float64)}, 1e-4)
    tiles = drawn(8, 4, 64)
    yield Case("copied_ahead", (1,), (64,), {"x": tiles, "o": Unset((4, 64))}, {"o": tiles[:, ::-1]})


def cases():
    library()
    yield from plain_cases()
    yield from order_cases()
