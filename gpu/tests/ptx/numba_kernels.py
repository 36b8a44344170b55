"""Numba kernels of the corpus, each with inputs and what it must yield. Needs numba with its CUDA target, and no GPU. Lines that touch shared
memory say so: a race that a missing barrier leaves is told by two of them."""

import ctypes
import math
import types as python_types
import unittest.mock

import numba
import numpy as np
from corpus import Unset, drawn, memory_of, number
from numba import cuda, float32, int32

CHIP = (9, 0)
KINDS = {"float32": numba.float32, "float64": numba.float64, "int32": numba.int32}


class Case:
    """A kernel, the launch, arrays and numbers by parameter, and what arrays hold afterwards."""

    shared, written, shared_lines_told = 0, (), True

    def __init__(self, kernel, grid, block, arguments, expected, tolerance=1e-5):
        self.name, self.file, self.kernel = kernel.py_func.__name__, __file__, kernel.py_func
        self.grid, self.block, self.arguments, self.expected, self.tolerance = grid, block, arguments, expected, tolerance

    def compiled(self):
        """The text of a module."""
        types = [numba.float32 if isinstance(a, float) else numba.int32 if isinstance(a, int) else
                 numba.types.Array(KINDS[memory_of(a).dtype.name], memory_of(a).ndim, "C") for a in self.arguments.values()]
        # a shuffle is a function of Numba's own, which is compiled for the device that is there: there is none
        device = python_types.SimpleNamespace(compute_capability=CHIP)
        with unittest.mock.patch("numba.cuda.dispatcher.get_current_device", lambda: device):
            return cuda.compile_ptx(self.kernel, tuple(types), cc=CHIP, lineinfo=True)[0]

    def values(self, arrays):
        """Parameters: of an array, what Numba makes of it."""
        for name, argument in self.arguments.items():
            if name not in arrays:
                yield number(argument)
                continue
            a = arrays[name]
            yield from (ctypes.c_void_p(0), ctypes.c_void_p(0), ctypes.c_longlong(a.size), ctypes.c_longlong(a.itemsize), ctypes.c_void_p(a.ctypes.data))
            yield from map(ctypes.c_longlong, a.shape + a.strides)


@cuda.jit
def scale(x, o, factor):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        o[i] = x[i] * factor


@cuda.jit
def block_sum(x, o):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)  # shared
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # shared
        cuda.syncthreads()
        step //= 2
    if t == 127:
        o[cuda.blockIdx.x] = s[0]  # shared


@cuda.jit
def transpose(x, o):
    tile = cuda.shared.array((16, 17), float32)
    r, c = cuda.blockIdx.y * 16 + cuda.threadIdx.y, cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if r < x.shape[0] and c < x.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[r, c]  # shared
    cuda.syncthreads()
    r, c = cuda.blockIdx.x * 16 + cuda.threadIdx.y, cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if r < o.shape[0] and c < o.shape[1]:
        o[r, c] = tile[cuda.threadIdx.x, cuda.threadIdx.y]  # shared


@cuda.jit
def matmul(a, b, c):
    sa, sb = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k in range(a.shape[1] // 8):
        if k > 0:
            cuda.syncthreads()
        sa[ty, tx] = a[row, k * 8 + tx]  # shared
        sb[ty, tx] = b[k * 8 + ty, col]  # shared
        cuda.syncthreads()
        for j in range(8):
            acc += sa[ty, j] * sb[j, tx]  # shared
    c[row, col] = acc


@cuda.jit
def histogram(x, o):
    bins = cuda.shared.array(32, int32)
    if cuda.threadIdx.x < 32:
        bins[cuda.threadIdx.x] = 0  # shared
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i], 1)  # shared
    cuda.syncthreads()
    if cuda.threadIdx.x < 32:
        cuda.atomic.add(o, cuda.threadIdx.x, bins[cuda.threadIdx.x])  # shared


@cuda.jit
def warp_sums(x, o):
    v, i = x[cuda.grid(1)], cuda.grid(1)
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if i % 32 == 0:
        o[i // 32] = v


@cuda.jit
def scan(x, o):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.blockIdx.x, t]  # shared
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t - d] if t >= d else float32(0)  # shared
        cuda.syncthreads()
        s[t] += v  # shared
        cuda.syncthreads()
        d *= 2
    o[cuda.blockIdx.x, t] = s[63 - t]  # shared


@cuda.jit
def csr_spmv(first, column, value, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for j in range(first[row], first[row + 1]):
            total += value[j] * x[column[j]]
        y[row] = total


@cuda.jit
def softmax(x, o):
    s = cuda.shared.array(64, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    s[t] = x[row, t]  # shared
    cuda.syncthreads()
    most = s[0]  # shared
    for j in range(64):
        most = s[j] if s[j] > most else most  # shared
    e = math.exp(x[row, t] - most)
    cuda.syncthreads()
    s[t] = e  # shared
    cuda.syncthreads()
    total = float32(0)
    for j in range(64):
        total += s[j]  # shared
    o[row, t] = e / total


@cuda.jit
def median_of_five(x, o):
    own = cuda.local.array(5, float32)
    i = cuda.grid(1)
    if i + 4 < x.size:
        for k in range(5):
            own[k] = x[i + k]
        for a in range(4):
            for b in range(4 - a):
                if own[b] > own[b + 1]:
                    own[b], own[b + 1] = own[b + 1], own[b]
        o[i] = own[2]


@cuda.jit
def stencil(x, o):
    s = cuda.shared.array(66, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t + 1] = x[i]  # shared
    if t == 0:
        s[0] = x[i - 1] if i > 0 else float32(0)  # shared
    if t == 63:
        s[65] = x[i + 1] if i + 1 < x.size else float32(0)  # shared
    cuda.syncthreads()
    o[i] = s[t] + s[t + 1] + s[t + 2]  # shared


def cases():
    x = drawn(1, 1000)
    yield Case(scale, (3,), (64,), {"x": x, "o": Unset(1000), "factor": 2.5}, {"o": x * 2.5})
    padded = np.pad(x, (0, 24)).reshape(8, 128)
    yield Case(block_sum, (8,), (128,), {"x": x, "o": Unset(8)}, {"o": padded.sum(1)})
    y = drawn(2, 40, 24)
    yield Case(transpose, (2, 3), (16, 16), {"x": y, "o": Unset((24, 40))}, {"o": y.T})
    a, b = drawn(3, 16, 40), drawn(4, 40, 16)
    yield Case(matmul, (2, 2), (8, 8), {"a": a, "b": b, "c": Unset((16, 16))}, {"c": a @ b})
    bins = np.random.RandomState(5).randint(0, 32, 500).astype(np.int32)
    yield Case(histogram, (2,), (64,), {"x": bins, "o": np.zeros(32, np.int32)}, {"o": np.bincount(bins, minlength=32)})
    z = drawn(6, 256)
    yield Case(warp_sums, (2,), (128,), {"x": z, "o": Unset(8)}, {"o": z.reshape(8, 32).sum(1)})
    rows = drawn(7, 3, 64)
    yield Case(scan, (3,), (64,), {"x": rows, "o": Unset((3, 64))}, {"o": np.cumsum(rows, 1)[:, ::-1]})
    dense = np.where(np.random.RandomState(8).uniform(size=(50, 30)) < 0.2, drawn(9, 50, 30), 0).astype(np.float32)
    first = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
    yield Case(csr_spmv, (2,), (32,), {"first": first, "column": np.nonzero(dense)[1].astype(np.int32), "value": dense[dense != 0], "x": drawn(10, 30),
                                       "y": Unset(50)}, {"y": dense @ drawn(10, 30)})
    e = np.exp(rows - rows.max(1, keepdims=True))
    yield Case(softmax, (3,), (64,), {"x": rows, "o": Unset((3, 64))}, {"o": e / e.sum(1, keepdims=True)})
    yield Case(median_of_five, (4,), (64,), {"x": z, "o": Unset(252)}, {"o": [np.median(z[i : i + 5]) for i in range(252)]})
    wide = np.pad(z, 1)
    yield Case(stencil, (4,), (64,), {"x": z, "o": Unset(256)}, {"o": wide[:-2] + wide[1:-1] + wide[2:]})
