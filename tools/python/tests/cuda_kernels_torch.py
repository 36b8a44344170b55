"""Kernels of PyTorch on a GPU, right and wrong."""

import plumbline as pl
import torch

kept = {}


def declare(op="transpose", **more):
    return pl.variant(op, device="cuda", arrays="torch", **more)


class Beyond:
    """Elements behind the last of a tensor, where torch itself does not go."""

    def __init__(self, tensor, count=1):
        last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": "<f4",
            "data": (tensor.data_ptr() + 4 * (last + 1), False),
            "version": 3,
        }


def beyond(tensor):
    return torch.as_tensor(Beyond(tensor), device="cuda")


@declare(storage=("f32", "f64", "f16"))
def right(A, B):
    B.copy_(A.T)


@declare()
def right_by_events(A, B):
    """On a stream of its own, which keeps the order."""
    side, current = torch.cuda.Stream(), torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        B.copy_(A.T)
    current.wait_stream(side)


@declare()
def right_returned(A):
    return A.T


@declare()
def right_with_memory(A, B):
    held = torch.empty_like(A)
    held.copy_(A)
    B.copy_(held.T)


@declare()
def right_by_cupy(A, B):
    """By a framework that it imports itself, and that has to have the call's stream."""
    import cupy

    cupy.asarray(B)[...] = cupy.asarray(A).T


@declare("gemm", storage="bf16")
def right_bf16(A, B):
    return (A.float() @ B.float()).to(torch.bfloat16)


@declare("gemm", storage="e4m3_bf16")
def right_fp8(A, B):
    return (A.float() @ B.float()).to(torch.bfloat16)


@declare("spmv", arithmetic="flushed", reproducible=False)  # as cuSPARSE computes
def right_sparse(A, x, y):
    y.copy_(torch.mv(A.to_torch(), x)) if A.nnz else y.zero_()


@declare()
def wrong_element(A, B):
    B.copy_(A.T)
    if B.numel():
        B[-1, -1] += 1


@declare()
def wrong_bounds(A, B):
    B.copy_(A.T)
    if B.numel():
        beyond(B).fill_(3)


@declare()
def wrong_bounds_of_memory(A, B):
    held = torch.empty(100, device="cuda")
    beyond(held).fill_(3)
    B.copy_(A.T)


@declare()
def wrong_stream(A, B):
    with torch.cuda.stream(torch.cuda.Stream()):
        B.copy_(A.T)


@declare()
def wrong_default_stream(A, B):
    with torch.cuda.stream(torch.cuda.default_stream()):
        B.copy_(A.T)


@declare()
def wrong_end(A, B):
    """Nobody waits for the stream that it works on."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(2_000_000)
        B.copy_(A.T)


@declare()
def wrong_input(A, B):
    B.copy_(A.T)
    if A.numel():
        A[0, 0] = 0.5


@declare()
def wrong_memory(A, B):
    """Takes fresh memory for zeros."""
    B.copy_((A + torch.empty_like(A)).T)


@declare()
def wrong_answer_by_address(A, B):
    key = A.data_ptr(), A.shape
    if key not in kept:
        kept[key] = A.T.clone()
    B.copy_(kept[key])


@declare("gemm")
def wrong_tf32(A, B):
    torch.backends.cuda.matmul.allow_tf32 = True
    return A @ B
