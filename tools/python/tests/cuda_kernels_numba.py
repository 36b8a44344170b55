"""Kernels of Numba on a GPU, right and wrong."""

import ctypes

import plumbline as pl
from numba import cuda

kept = {}


@cuda.jit
def rows(a, b, add, more):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1] + more:
        v = a[i, j if j < a.shape[1] else 0]
        b[j, i] = v
        if add:
            b[j, i] = v + 1


@cuda.jit
def doubles(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] *= 2


def transpose(A, B, add=0, more=0, stream=0):
    if A.shape[0] * A.shape[1]:
        rows[(-(-A.shape[0] // 8), -(-(A.shape[1] + more) // 32)), (8, 32), stream](A, B, add, more)


def declare(arrays="numba"):
    return pl.variant("transpose", device="cuda", arrays=arrays)


@declare()
def right(A, B):
    transpose(A, B)


@declare("numpy")
def right_by_interface(A, B):
    transpose(cuda.as_cuda_array(A), cuda.as_cuda_array(B))


@declare("numpy")
def right_on_its_stream(A, B):
    stream = cuda.external_stream(pl.current_stream())
    transpose(cuda.as_cuda_array(A, sync=False), cuda.as_cuda_array(B, sync=False), stream=stream)


@declare()
def wrong_element(A, B):
    transpose(A, B, add=1)


@declare()
def wrong_bounds(A, B):
    transpose(A, B, more=1)


@declare()
def wrong_stream(A, B):
    if "stream" not in kept:
        handle = ctypes.c_void_p()
        assert ctypes.CDLL("libcuda.so.1").cuStreamCreate(ctypes.byref(handle), 1) == 0  # non-blocking
        kept["stream"] = cuda.external_stream(handle.value)
    transpose(A, B, stream=kept["stream"])


@declare()
def wrong_input(A, B):
    transpose(A, B)
    if A.shape[0] * A.shape[1]:
        doubles[(-(-A.shape[0] // 8), -(-A.shape[1] // 32)), (8, 32)](A)


@declare()
def wrong_answer_by_address(A, B):
    key = A.__cuda_array_interface__["data"][0], A.shape
    if key not in kept:
        kept[key] = cuda.device_array(B.shape, B.dtype)
        transpose(A, kept[key])
        kept[key] = kept[key].copy_to_host()
    transpose(cuda.to_device(kept[key].T.copy()), B)
