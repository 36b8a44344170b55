"""Softmax by Triton, without a GPU: plumb verify --python softmax_triton.py --device simt"""

import plumbline as pl
import triton
import triton.language as tl


@triton.jit
def rows(x, y, x_stride, y_stride, d, masked: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * x_stride + i, mask=i < d, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    y += row * y_stride + i
    if masked:
        tl.store(y, e / tl.sum(e, axis=0), mask=i < d)
    else:
        tl.store(y, e / tl.sum(e, axis=0))


@pl.variant("softmax", device="cuda", arrays="torch")
def triton_softmax(x, y):
    n, d = x.shape
    rows[(n,)](x, y, x.stride(0), y.stride(0), d, True, BLOCK=triton.next_power_of_2(d))


@pl.variant("softmax", device="cuda", arrays="torch")
def without_mask(x, y):
    """Wrong: a row of 100 elements is stored as one of 128."""
    n, d = x.shape
    rows[(n,)](x, y, x.stride(0), y.stride(0), d, False, BLOCK=triton.next_power_of_2(d))


if __name__ == "__main__":
    cases = "softmax.f32(n=1..40,d=1..300,fill=real)"
    print(pl.judge(triton_softmax, cases=cases, listed=True, device="simt").raise_if_failed())
    print(pl.judge(without_mask, cases=cases, listed=True, device="simt", fail_fast=True))
