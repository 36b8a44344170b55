"""Kernels of Triton, right and wrong; the line that a finding must name ends in a comment with the kernel's name."""

import plumbline as pl
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def reads_beyond(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i)  # reads_beyond
    tl.store(o + i, a + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def writes_beyond(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(o + i, s)  # writes_beyond


@triton.jit
def adds_without_atomics(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    old = tl.load(o)
    tl.store(o, old + s)  # adds_without_atomics


@triton.jit
def scaled(x, o, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, (tl.load(x + i, mask=i < n).to(tl.float32) * factor).to(o.dtype.element_ty), mask=i < n)


@triton.jit
def by_table(table, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(o + i, tl.load(x + i))


def configurations():
    return [triton.Config({"BLOCK": b}) for b in (64, 128, 256)]


@triton.autotune(configs=configurations(), key=["n"])
@triton.jit
def tuned(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax_rows(x, y, x_stride, y_stride, d, WRONG: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    other = 0.0 if WRONG == 2 else -float("inf")
    v = tl.load(x + row * x_stride + i, mask=i < d, other=other)
    e = tl.exp(v - tl.max(v, axis=0))
    p = e / tl.sum(e, axis=0)
    if WRONG == 1:
        tl.store(y + row * y_stride + i, p)  # softmax_rows
    else:
        tl.store(y + row * y_stride + i, p, mask=i < d)


def launch_softmax(x, y, wrong):
    n, d = x.shape
    stride = [s // x.itemsize for s in (x.strides[0], y.strides[0])]
    softmax_rows[(n,)](x, y, *stride, d, wrong, BLOCK=triton.next_power_of_2(d))


@pl.variant("softmax", device="cuda")
def softmax(x, y):
    launch_softmax(x, y, 0)


@pl.variant("softmax", device="cuda")
def stores_beyond_the_row(x, y):
    launch_softmax(x, y, 1)


@pl.variant("softmax", device="cuda")
def counts_what_is_masked(x, y):
    """Elements beyond the row are zeros, which are in the sum."""
    launch_softmax(x, y, 2)


@triton.jit
def gemv_parts(a, x, y, a_stride, cols, ATOMIC: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(a + row * a_stride + i, mask=i < cols, other=0.0) * tl.load(x + i, mask=i < cols, other=0.0))
    if ATOMIC:
        tl.atomic_add(y + row, part)
    else:
        tl.store(y + row, tl.load(y + row) + part)  # gemv_parts


def launch_gemv(A, x, y, atomic):
    y[:] = 0
    rows, cols = A.shape
    if rows and cols:
        gemv_parts[(rows, triton.cdiv(cols, 64))](A, x, y, A.strides[0] // A.itemsize, cols, atomic, BLOCK=64)


@pl.variant("gemv", device="cuda", reproducible=False)
def gemv(A, x, y):
    launch_gemv(A, x, y, True)


@pl.variant("gemv", device="cuda", reproducible=False)
def split_without_atomics(A, x, y):
    """Two programs add to one place. In most orders the numbers are right."""
    launch_gemv(A, x, y, False)
