"""CuPy's kernels for the CPU executor, right and wrong. They take arrays of NumPy, and CuPy's own arrays are not there without a GPU."""

import cupy
import numpy as np
import plumbline as pl

CODE = r"""
extern "C" __global__ void transpose(const float* a, float* b, int rows, int cols, int a_step, int b_step) {
  __shared__ float tile[16][17];
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = a[r * a_step + c];
  BARRIER;
  const int i = blockIdx.x * 16 + threadIdx.y, j = blockIdx.y * 16 + threadIdx.x;
  if (i < cols && j < rows + MORE) b[i * b_step + j] = tile[threadIdx.x][threadIdx.y];
}
template <int kThreads>
__global__ void norm(const float* x, const float* w, float* y, int rows, int cols, int x_step, int y_step, float eps) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= rows) return;
  float sum = 0;
  for (int j = 0; j < cols; ++j) sum += x[i * x_step + j] * x[i * x_step + j];
  for (int j = 0; j < cols; ++j) y[i * y_step + j] = x[i * x_step + j] / sqrtf(sum / cols + eps) * w[j];
}
"""


def made(barrier="__syncthreads()", more=0):
    return cupy.RawKernel(CODE, "transpose", options=(f"-DBARRIER={barrier}", f"-DMORE={more}"))


kernel, without_barrier, with_more = made(), made(barrier=""), made(more=1)
module = cupy.RawModule(code=CODE, options=("-DBARRIER=", "-DMORE=0"), name_expressions=["norm<32>"])


def transpose(kernel, A, B):
    numbers = (*A.shape, A.strides[0] // 4, B.strides[0] // 4)
    if A.size:
        kernel((-(-A.shape[1] // 16), -(-A.shape[0] // 16)), (16, 16), (A, B, *map(np.int32, numbers)))


def normalise(x, w, eps, y):
    numbers = (*x.shape, x.strides[0] // 4, y.strides[0] // 4)
    if x.size:
        module.get_function("norm<32>")((-(-x.shape[0] // 32),), (32,), (x, w, y, *numbers, eps))


def declare(op="transpose"):
    return pl.variant(op, device="cuda", arrays="cupy")


@declare()
def right(A, B):
    transpose(kernel, A, B)


@declare("rmsnorm")
def right_of_a_module(x, w, eps, y):
    normalise(x, w, np.float32(eps), y)


@declare()
def wrong_barrier(A, B):
    transpose(without_barrier, A, B)


@declare()
def wrong_bounds(A, B):
    transpose(with_more, A, B)


@declare("rmsnorm")
def wrong_number(x, w, eps, y):
    """A float of Python has eight bytes, and the kernel reads four of them."""
    normalise(x, w, eps, y)
