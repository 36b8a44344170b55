"""Kernels of a device whose memory is the host's (fake_cuda/driver.c), right and wrong.

A function that computes at once, and has not waited for the call's stream, is to the judge what a kernel on another stream is.
"""

import ctypes
import pathlib
import sys
import threading
import time

import numpy as np
import plumbline as pl

driver = ctypes.CDLL("libcuda.so.1")
pointer = ctypes.c_void_p
kept = {}


def wait():
    assert driver.cuStreamSynchronize(pointer(pl.current_stream())) == 0


def seen(array, before=0, behind=0):
    """Memory of an array as NumPy's, by the interface that frameworks use; with elements of its first row that lie around it."""
    described = array.__cuda_array_interface__
    address, item = described["data"][0], np.dtype(described["typestr"]).itemsize
    if array.size == 0 and not before + behind:
        return np.empty(array.shape, described["typestr"])

    class Memory:
        __array_interface__ = {
            "data": (address - before * item, False),
            "shape": (before + array.shape[-1] + behind,) if before + behind else array.shape,
            "strides": None if before + behind else described["strides"],
            "typestr": described["typestr"],
            "version": 3,
        }

    return np.asarray(Memory())


def launch(call, stream=None):
    """In the stream's order, as a kernel that is launched there."""
    kept["launched"] = kept.get("launched", [])[-50:]
    made = ctypes.CFUNCTYPE(None, pointer)(lambda _: call())
    kept["launched"].append(made)
    driver.cuLaunchHostFunc(pointer(pl.current_stream() if stream is None else stream), made, None)


def other_stream():
    if "stream" not in kept:
        handle = pointer()
        driver.cuStreamCreate(ctypes.byref(handle), 1)
        kept["stream"] = handle.value
    return kept["stream"]


def right(A, B):
    np.copyto(seen(B), seen(A).T)


@pl.variant("transpose", device="cuda")
def waits(A, B):
    wait()
    right(A, B)


@pl.variant("transpose", device="cuda", storage=("f32", "f64", "f16"))
def launches(A, B):
    launch(lambda: right(A, B))


@pl.variant("transpose", device="cuda")
def launches_by_default(A, B):
    launch(lambda: right(A, B), 0)


class Result:
    """An array of a framework that nobody knows."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        described = dict(array.__array_interface__)
        self.__cuda_array_interface__ = described


@pl.variant("transpose", device="cuda")
def returned(A):
    wait()
    return Result(np.ascontiguousarray(seen(A).T))


@pl.variant("transpose", device="cuda")
def returned_by_numpy(A):
    wait()
    return seen(A).T


@pl.variant("reduce", device="cuda")
def returned_number(x):
    wait()
    return float(seen(x).astype(np.float64).sum())


@pl.variant("transpose", device="cuda")
def returned_doubles(A):
    wait()
    return Result(np.ascontiguousarray(seen(A).T.astype(np.float64)))


@pl.variant("transpose", device="cuda")
def returned_untransposed(A):
    wait()
    return Result(np.ascontiguousarray(seen(A)))


@pl.variant("spmv", device="cuda")
def product(A, x, y):
    from scipy.sparse import csr_matrix

    wait()
    matrix = csr_matrix((seen(A.val), seen(A.col), seen(A.row_ptr)), shape=A.shape)
    seen(y)[:] = matrix @ seen(x) if A.nnz else 0


# ---- faults ----


@pl.variant("transpose", device="cuda")
def wrong_element(A, B):
    wait()
    right(A, B)
    if B.size:
        seen(B)[-1, -1] += 1


@pl.variant("transpose", device="cuda")
def does_not_wait(A, B):
    """Computes before the stream has come to the inputs."""
    right(A, B)


@pl.variant("transpose", device="cuda")
def nobody_waits(A, B):
    """Launched after the inputs are there, on a stream that the call's does not wait for."""
    wait()
    if B.size:
        launch(lambda: right(A, B), other_stream())


@pl.variant("transpose", device="cuda")
def leaves_some(A, B):
    wait()
    np.copyto(seen(B)[1:], seen(A).T[1:])


@pl.variant("transpose", device="cuda")
def writes_beyond(A, B):
    wait()
    right(A, B)
    if B.shape[0] == 1:
        seen(B, behind=1)[-1] = 3


@pl.variant("transpose", device="cuda")
def writes_far_beyond(A, B):
    wait()
    right(A, B)
    end = B.data_ptr() + (1 << 16)
    ctypes.memset(end, 3, 64)


@pl.variant("transpose", device="cuda")
def writes_the_input(A, B):
    wait()
    right(A, B)
    if A.size:
        seen(A)[0, 0] = 0.5


@pl.variant("transpose", device="cuda")
def answer_by_address(A, B):
    wait()
    key = A.data_ptr(), A.shape
    if key not in kept:
        kept[key] = seen(A).T.copy()
    np.copyto(seen(B), kept[key])


@pl.variant("transpose", device="cuda")
def breaks(A, B):
    """As a kernel that reads where there is no memory: every later call of the driver fails."""
    wait()
    if A.shape[0] > 8:
        driver.fakeBreak(700)
    right(A, B)


@pl.variant("transpose", device="cuda")
def raises(A, B):
    raise ValueError("no luck today")


# ---- memory that a framework allocates during a call ----


def allocated(size):
    library = pl._library.load()
    memory = library.plumb_cuda_allocate(size, 0, pl.current_stream())
    assert memory
    return memory


@pl.variant("transpose", device="cuda")
def allocates(A, B):
    """Reads what it has written, and gives it back."""
    memory = allocated(A.nbytes)

    def work():
        packed = np.ascontiguousarray(seen(A))
        ctypes.memmove(memory, packed.ctypes.data, A.nbytes)
        held = np.frombuffer((ctypes.c_char * A.nbytes).from_address(memory), A.dtype)
        np.copyto(seen(B), held.reshape(A.shape).T)

    launch(work)
    pl._library.load().plumb_cuda_free(memory, A.nbytes, 0, pl.current_stream())


@pl.variant("transpose", device="cuda")
def reads_stale_memory(A, B):
    """Takes fresh memory for zeros."""
    memory = allocated(A.nbytes)
    wait()
    held = np.frombuffer((ctypes.c_char * A.nbytes).from_address(memory), A.dtype)
    np.copyto(seen(B), (seen(A) + held.reshape(A.shape)).T)


@pl.variant("transpose", device="cuda")
def writes_beyond_what_it_allocates(A, B):
    memory = allocated(100)
    wait()
    ctypes.memset(memory + 100, 0, 1)
    right(A, B)


# ---- DLPack ----


@pl.variant("transpose", device="cuda")
def by_dlpack(A, B):
    """The capsule as a consumer takes it: NumPy, told that memory of the device is the host's."""

    class OfHost:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            capsule = self.array.__dlpack__(stream=2)
            get = ctypes.pythonapi.PyCapsule_GetPointer
            get.restype, get.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]
            ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8).value = 1
            return capsule

    np.copyto(seen(B), np.from_dlpack(OfHost(A)).T)
    A.__dlpack__()  # which nobody takes


# ---- frameworks ----


@pl.variant("transpose", device="cuda")
def begins_threads_late(A, B):
    """As a framework does whose pool is first needed in a later run."""
    kept["calls"] = kept.get("calls", 0) + 1
    if kept["calls"] == 3:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    wait()
    right(A, B)


@pl.variant("transpose", device="cuda")
def imports_late(A, B):
    folder = str(pathlib.Path(__file__).resolve().parent / "stand_in")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import cupy

    assert cupy.state.stream == pl.current_stream() and cupy.state.allocate(8)
    wait()
    right(A, B)
