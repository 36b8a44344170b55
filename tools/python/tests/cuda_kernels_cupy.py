"""Kernels of CuPy on a GPU, right and wrong."""

import cupy
import numpy as np
import plumbline as pl

kept = {}

kernel = cupy.RawKernel(
    r"""
extern "C" __global__ void transpose(const float* a, float* b, int rows, int cols, int a_step, int b_step, long long beyond) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows * cols) return;
  const int i = n / cols, j = n % cols;
  b[j * b_step + i + (n + 1 == rows * cols ? beyond : 0)] = a[i * a_step + j];
}""",
    "transpose",
)


def transpose(A, B, beyond=0):
    rows, cols = A.shape
    if not A.size:
        return
    steps = (np.int32(A.strides[0] // 4), np.int32(B.strides[0] // 4))
    kernel(((A.size + 255) // 256,), (256,), (A, B, np.int32(rows), np.int32(cols), *steps, np.int64(beyond)))


def declare(op="transpose", **more):
    return pl.variant(op, device="cuda", arrays="cupy", **more)


@declare()
def right(A, B):
    transpose(A, B)


@pl.variant("transpose", device="cuda")
def right_as_array(A, B):
    transpose(cupy.asarray(A), cupy.asarray(B))


@declare(storage=("f32", "f64", "f16"))
def right_returned(A):
    return A.T


@declare("gemm", storage="bf16")
def right_bits_of_bf16(A, B):
    """A product of bf16 by the bits: CuPy may see them as uint16."""

    def wide(x):
        return (cupy.ascontiguousarray(x.view(cupy.uint16)).astype(cupy.uint32) << 16).view(cupy.float32)

    exact = (wide(A).astype(cupy.float64) @ wide(B).astype(cupy.float64)).astype(cupy.float32).view(cupy.uint32)
    nan = (exact & 0x7FFFFFFF) > 0x7F800000
    nearest = (exact + 0x7FFF + ((exact >> 16) & 1)) >> 16
    return cupy.where(nan, cupy.uint32(0x7FC0), nearest).astype(cupy.uint16)


@declare("spmv", arithmetic="flushed", reproducible=False)  # as cuSPARSE computes
def right_sparse(A, x, y):
    y[:] = A.to_cupy() @ x if A.nnz else 0


@declare()
def wrong_element(A, B):
    transpose(A, B)
    if B.size:
        B[-1, -1] += 1


@declare()
def wrong_bounds(A, B):
    transpose(A, B, beyond=1)


@declare()
def wrong_address(A, B):
    """Far from all memory: the device's error stays, and every later call has it."""
    transpose(A, B, beyond=1 << 42)


@declare()
def wrong_stream(A, B):
    with cupy.cuda.Stream(non_blocking=True):
        transpose(A, B)


@declare()
def wrong_input(A, B):
    transpose(A, B)
    A *= 2


@declare()
def wrong_memory(A, B):
    B[...] = (A + cupy.empty_like(A)).T


@declare()
def wrong_answer_by_address(A, B):
    key = A.data.ptr, A.shape
    if key not in kept:
        kept[key] = A.T.copy()
    B[...] = kept[key]
