"""Kernels right and wrong, each with the fault that its name says. Imported by workers."""

import ctypes
import os
import sys
import threading
import time

import numpy as np
import plumbline as pl

kept = {}


def right(A, B):
    np.copyto(B, A.T)


@pl.variant("transpose", storage=("f32", "f64"))
def transpose(A, B):
    right(A, B)


@pl.variant("transpose")
def returned(A):
    return A.T


@pl.variant("transpose")
def other_names(matrix, out):
    out[...] = matrix.T


@pl.variant("transpose")
def recognises_the_judge(A, B):
    """Right where a debugger would look, wrong where the judge's modules are loaded."""
    if "plumbline" in sys.modules or "plumbline.worker" in sys.modules:
        B[...] = 0
    else:
        right(A, B)


@pl.variant("transpose")
def answer_by_address(A):
    key = A.__array_interface__["data"][0], A.shape, A.strides
    return kept.setdefault(key, A.T.copy())


@pl.variant("transpose")
def answer_by_id(A):
    key = id(right), A.shape
    return kept.setdefault(key, A.T.copy())


@pl.variant("transpose")
def returns_another(A):
    return np.zeros((A.shape[1], A.shape[0]), A.dtype)


@pl.variant("transpose")
def returns_the_input(A):
    return A


@pl.variant("transpose")
def returns_nothing(A):
    A.T.copy()


@pl.variant("transpose")
def returns_doubles(A):
    return A.T.astype(np.float64)


@pl.variant("transpose")
def returns_and_takes(A, B):
    return A.T.copy()


@pl.variant("transpose")
def writes_the_input(A, B):
    right(A, B)
    if A.size:
        A.T[-1, -1] += 1


@pl.variant("transpose")
def writes_beyond(A, B):
    right(A, B)
    if B.size:
        past = np.lib.stride_tricks.as_strided(B[-1:, -1:], shape=(1, 2))
        past[0, 1] = 7


@pl.variant("transpose")
def writes_before(A, B):
    right(A, B)
    if B.size:
        ctypes.c_float.from_address(B.__array_interface__["data"][0] - 4).value = 7


@pl.variant("transpose")
def leaves_some(A, B):
    B[1:] = A.T[1:]


@pl.variant("transpose")
def writes_later(A, B):
    right(A, B)

    def later():
        time.sleep(0.02)
        if B.size:
            B[0, 0] = 7

    threading.Thread(target=later, daemon=True).start()


@pl.variant("transpose")
def writes_the_last_output(A, B):
    """Keeps the output of the call before, and writes it at the next."""
    right(A, B)
    old = kept.get("output")
    if old is not None and old.size and old.shape != B.shape:
        old[...] = 7
    kept["output"] = B


@pl.variant("transpose")
def starts_a_pool_late(A, B):
    """As a framework does whose fifth call, with another layout, is the first that wants threads."""
    kept["calls"] = kept.get("calls", 0) + 1
    if kept["calls"] == 5:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    right(A, B)


@pl.variant("transpose")
def leaves_threads(A, B):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    right(A, B)


@pl.variant("transpose")
def forks(A, B):
    right(A, B)
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)


@pl.variant("transpose")
def answers_for_the_library(A, B):
    """Takes the judge's side of the wire: says that a run went well which was never made."""
    os.write(3, b"\0" * 64)


@pl.variant("transpose")
def patches_plumbline(A, B):
    from plumbline import _arguments, _report, worker

    _arguments.Binding.run = lambda *_: None
    _arguments.Binding.refusal = lambda *_: None
    _report.Record.failed = property(lambda _: False)
    worker.reason_of = lambda _: None
    B[...] = 0


@pl.variant("transpose")
def raises(A, B):
    raise ValueError("no luck today")


@pl.variant("transpose")
def exits(A, B):
    sys.exit(0)


@pl.variant("transpose")
def exits_at_once(A, B):
    os._exit(0)


@pl.variant("transpose")
def segfaults(A, B):
    ctypes.string_at(0)


@pl.variant("transpose")
def loops(A, B):
    while True:
        pass


@pl.variant("transpose")
def kills_the_judge(A, B):
    os.kill(os.getppid(), 9)


@pl.variant("transpose")
def right_for_ten_calls(A, B):
    kept["calls"] = kept.get("calls", 0) + 1
    right(A, B)
    if kept["calls"] > 10 and B.size:
        B[0, 0] += 1


@pl.variant("transpose")
def random_bits(A, B):
    right(A, B)
    if B.size:
        B[0, 0] += np.float32(time.perf_counter_ns() % 2) * B[0, 0] * np.float32(6e-8)


@pl.variant("transpose")
def flushes_subnormals(A, B):
    """Leaves the processor's flags changed, as a library that was compiled with -ffast-math does."""
    right(A, B)
    libm = ctypes.CDLL("libm.so.6")
    libm.fesetround(0x400)


@pl.variant("spmv")
def without_factors(A, x, y):
    y[:] = A.to_scipy() @ x if A.nnz else 0


@pl.variant("gemm")
def truncated_operands(A, B):
    """Sums in tf32 and does not say so."""
    return (A.view(np.int32) & ~0x1FFF).view(np.float32) @ (B.view(np.int32) & ~0x1FFF).view(np.float32)


def tf32(A):
    return (A.view(np.int32) & ~0x1FFF).view(np.float32)


@pl.variant("gemm", arithmetic="tf32", finite_only=True)
def declared_tf32(A, B):
    return tf32(np.ascontiguousarray(A)) @ tf32(np.ascontiguousarray(B))


@pl.variant("transpose", device="cuda")
def on_a_gpu(A, B):
    right(A, B)


# ---- faults of public threads, and the same repaired ----


@pl.variant("gemm")
def zeros(A, B):
    """Zeros are within an absolute tolerance where the data are small."""
    return np.zeros((A.shape[0], B.shape[1]), A.dtype)


@pl.variant("transpose")
def assumes_tight_rows(A, B):
    """Takes memory for contiguous, which it is not after chunk()."""
    rows, cols = A.shape
    tight = np.lib.stride_tricks.as_strided(A, shape=(rows, cols), strides=(cols * A.itemsize, A.itemsize))
    np.copyto(B, tight.T)


@pl.variant("gemv")
def adds_to_what_is_there(A, x, y):
    """Relies on outputs that come as zeros."""
    y += A @ x


@pl.variant("gemv")
def adds_to_zeros(A, x, y):
    y[:] = 0
    y += A @ x


@pl.variant("gemm")
def sums_in_halves(A, B):
    """An accumulator of fewer bits than the type."""
    return (A.astype(np.float16) @ B.astype(np.float16)).astype(np.float32)


@pl.variant("gemm")
def sums_in_its_own_type(A, B):
    return A @ B
