"""Memory of a GPU as a DLPack capsule, without a compiler: the structures of dlpack.h by ctypes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from typing import Any

CUDA = 2  # kDLCUDA
NAME = b"dltensor"


class _Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("rank", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


_DELETER = c.CFUNCTYPE(None, c.c_void_p)


class _Managed(c.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", _DELETER)]


_alive: dict[int, tuple[Any, ...]] = {}  # what consumers hold, by the address of its structure


@_DELETER
def _delete(address: int) -> None:
    *_, release = _alive.pop(address, (None,))
    if release is not None:
        release()


@_DELETER
def _forget(capsule: int) -> None:
    """A capsule ends; where nobody has taken what it holds, that ends too."""
    if c.pythonapi.PyCapsule_IsValid(c.c_void_p(capsule), NAME):
        get = c.pythonapi.PyCapsule_GetPointer
        get.restype = c.c_void_p
        _delete(get(c.c_void_p(capsule), NAME))


def capsule(
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    code: int,
    bits: int,
    release: Callable[[], None] | None = None,
) -> Any:
    """A capsule of memory of device 0; strides in elements, `code` as DLPack numbers types. `release` is called once its consumer is done."""
    extents, steps = (c.c_int64 * len(shape))(*shape), (c.c_int64 * len(shape))(*strides)
    managed = _Managed(
        _Tensor(address, CUDA, 0, len(shape), code, bits, 1, extents, steps, 0), None, _delete
    )
    at = c.addressof(managed)
    _alive[at] = (managed, extents, steps, release)
    new = c.pythonapi.PyCapsule_New
    new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, _DELETER]
    return new(at, NAME, _forget)
