"""Kernels of Triton on a GPU, right and wrong."""

import plumbline as pl
import torch
import triton
import triton.language as tl

kept = {}


@triton.jit(do_not_specialize=["a_step", "b_step", "cols"])
def rows(a, b, a_step, b_step, cols, ADD: tl.constexpr, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(a + i * a_step + j, mask=j < cols, other=0.0)
    if ADD:
        v += 1
    tl.store(b + j * b_step + i, v, mask=j < (cols if MASKED else cols + 1))


def transpose(A, B, add=False, masked=True):
    if A.shape[0] * A.shape[1]:
        grid = (A.shape[0], triton.cdiv(A.shape[1], 64))
        rows[grid](A, B, A.stride(0), B.stride(0), A.shape[1], add, masked, BLOCK=64)


@triton.jit(do_not_specialize=["x_step", "y_step", "d"])
def softmax_rows(x, y, x_step, y_step, d, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * x_step + i, mask=i < d, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * y_step + i, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=i < d)


@pl.variant("transpose", device="cuda", arrays="torch")
def right(A, B):
    transpose(A, B)


@pl.variant("transpose", device="cuda")
def right_without_torch_arrays(A, B):
    transpose(A, B)


@pl.variant("softmax", device="cuda", arrays="torch", storage=("f32", "bf16"))
def right_softmax(x, y):
    n, d = x.shape
    softmax_rows[(n,)](x, y, x.stride(0), y.stride(0), d, BLOCK=triton.next_power_of_2(d))


@pl.variant("transpose", device="cuda", arrays="torch")
def wrong_element(A, B):
    transpose(A, B, add=True)


@pl.variant("transpose", device="cuda", arrays="torch")
def wrong_bounds(A, B):
    transpose(A, B, masked=False)


@pl.variant("transpose", device="cuda", arrays="torch")
def wrong_stream(A, B):
    with torch.cuda.stream(torch.cuda.Stream()):
        transpose(A, B)


@pl.variant("transpose", device="cuda", arrays="torch")
def wrong_input(A, B):
    transpose(A, B)
    if A.numel():
        A.mul_(2)


@pl.variant("transpose", device="cuda", arrays="torch")
def wrong_answer_by_address(A, B):
    key = A.data_ptr(), A.shape
    if key not in kept:
        kept[key] = torch.empty_like(B).contiguous()
        transpose(A, kept[key])
    B.copy_(kept[key])
