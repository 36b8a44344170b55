"""Numba's CUDA kernels for the CPU executor, right and wrong; the line that a finding must name ends in a comment with the kernel's name."""

import plumbline as pl
from numba import cuda, float32

THREADS = 64


@cuda.jit
def halves(x, result):
    part, t, i = cuda.shared.array(THREADS, float32), cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(result, 0, part[0])


@cuda.jit
def halves_at_once(x, result):
    part, t, i = cuda.shared.array(THREADS, float32), cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # wrong_barrier
        step //= 2
    if t == 0:
        cuda.atomic.add(result, 0, part[0])


@cuda.jit
def one_more(a, b):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j <= a.shape[1]:
        b[j, i] = a[i, j]  # wrong_bounds


@cuda.jit("void(float32[:,:], float32[:,:])")
def with_types(a, b):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        b[j, i] = a[i, j]


@cuda.jit
def by_row(row_ptr, col, val, x, y):
    i = cuda.grid(1)
    if i < y.size:
        total = float32(0)
        for k in range(row_ptr[i], row_ptr[i + 1]):
            total += val[k] * x[col[k]]
        y[i] = total


def total(kernel, x, result):
    result[0] = 0
    if x.size:
        kernel[-(-x.size // THREADS), THREADS](x, result)


def transpose(kernel, A, B):
    if A.size:
        kernel[(-(-A.shape[0] // 8), -(-(A.shape[1] + 1) // 8)), (8, 8)](A, B)


def declare(op, **more):
    return pl.variant(op, device="cuda", arrays="numba", **more)


@declare("reduce", reproducible=False)
def right(x, result):
    total(halves, x, result)


@declare("spmv", storage=("f32", "f64"))
def right_for_all(A, x, y):
    by_row.forall(y.size)(A.row_ptr, A.col, A.val, x, y)


@declare("transpose")
def right_with_types(A, B):
    transpose(with_types, A, B)


@declare("reduce", reproducible=False)
def wrong_barrier(x, result):
    total(halves_at_once, x, result)


@declare("transpose")
def wrong_bounds(A, B):
    transpose(one_more, A, B)
