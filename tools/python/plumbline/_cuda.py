"""Arrays of a call that lie on a GPU, as frameworks have them, and the stream that the call belongs to. In the worker.

Memory is the judge's, between guards. A framework that has a current stream is given the call's; what it allocates during the call is guarded and
poisoned, where it lets another allocate for it.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plumbline import _dlpack, _frameworks, _library
from plumbline._errors import PlumblineError

# Of the judge's formats: NumPy's name and ml_dtypes', and how frameworks that lack the type see its bits.
NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i32": "int32",
    "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}
BITS = {"bf16": "uint16", "e4m3": "uint8", "e5m2": "uint8"}
DLPACK_CODES = {"f": 2, "i": 0, "u": 1, "bf16": 4, "e4m3": 10, "e5m2": 12}


def _checked(trouble: bytes | None) -> None:
    if trouble is not None:
        raise PlumblineError(trouble.decode())


class Array:
    """An array in the memory of a GPU: __cuda_array_interface__, DLPack, and what Triton asks of an argument.

    shape, strides (bytes), dtype (NumPy's, or ml_dtypes' for bf16 and fp8), ndim, size, itemsize, nbytes are NumPy's. The elements can only be
    read by a framework, or by cupy.asarray(), torch.as_tensor(), numba.cuda.as_cuda_array(), jax.dlpack.from_dlpack().
    """

    def __init__(
        self, address: int, shape: tuple[int, ...], steps: tuple[int, ...], kind: str, stream: int
    ) -> None:
        self._address, self.shape, self._steps, self._kind, self._stream = address, shape, steps, kind, stream
        self._raw = np.dtype(BITS.get(kind, NAMES[kind]))

    @property
    def dtype(self) -> np.dtype:
        """PlumblineError: the type is ml_dtypes', which is not installed."""
        if self._kind not in BITS:
            return self._raw
        try:
            import ml_dtypes
        except ImportError:
            raise PlumblineError(
                f"arrays of {self._kind} need the package ml_dtypes, or arrays='torch'"
            ) from None
        return np.dtype(getattr(ml_dtypes, NAMES[self._kind]))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self._raw.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(step * self.itemsize for step in self._steps)

    def __len__(self) -> int:
        return self.shape[0]

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._address

    def stride(self, axis: int | None = None) -> Any:
        """As torch has it: elements from one index to the next."""
        return self._steps if axis is None else self._steps[axis]

    def element_size(self) -> int:
        return self.itemsize

    def _interface(self, stream: int | None) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self._raw.str,
            "data": (self._address if self.size else 0, False),
            "version": 3,
            "stream": stream,
        }

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface(self._stream or None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CUDA, 0

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        """The consumer's stream waits for the call's."""
        if stream not in (-1, self._stream):
            _checked(_library.load().plumb_cuda_wait(self._stream))
        code = DLPACK_CODES.get(self._kind, DLPACK_CODES[self._raw.kind])
        return _dlpack.capsule(self._address, self.shape, self._steps, code, 8 * self.itemsize)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"an array on a GPU has no {name}: declare arrays='torch', 'cupy', 'numba' or 'jax' for one of a framework's"
        )

    def __repr__(self) -> str:
        return f"<plumbline array of {NAMES[self._kind]} {self.shape} on a GPU>"


class _Interface:
    """An array as frameworks take it whose stream is the call's: nobody need wait."""

    def __init__(self, array: Array, typestr: str | None = None) -> None:
        self.__cuda_array_interface__ = array._interface(None)
        if typestr is not None:
            self.__cuda_array_interface__["typestr"] = typestr


class _Packed(Array):
    """A copy without gaps between rows, in memory of its own, which its consumer ends: as raw bits where DLPack's readers may lack the type."""

    def __init__(self, array: Array) -> None:
        library = _library.load()
        steps = (array.shape[1], 1) if array.ndim == 2 else (1,)
        kind = array._kind
        memory = library.plumb_cuda_allocate(array.nbytes, 0, array._stream)
        if not memory:
            raise PlumblineError(f"out of device memory: {array.nbytes} bytes for a copy of an input")
        super().__init__(memory, array.shape, steps, kind, array._stream)
        _copy_rows(self, array._address, array.strides[0], False)

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        _checked(_library.load().plumb_cuda_wait(self._stream))
        memory, free = self._address, _library.load().plumb_cuda_free
        return _dlpack.capsule(
            memory,
            self.shape,
            self._steps,
            DLPACK_CODES[self._raw.kind],
            8 * self.itemsize,
            lambda: free(memory, 0, 0, None),
        )


def _copy_rows(to: Array, address: int, pitch: int, on_host: bool) -> None:
    """Rows of `to` from an address, as far apart as `pitch` says (bytes)."""
    rows, cols = (1, to.shape[0]) if to.ndim == 1 else to.shape
    to_pitch = to.strides[0] if to.ndim == 2 else cols * to.itemsize
    _checked(
        _library.load().plumb_cuda_copy_rows(
            to._address, to_pitch, address, pitch, int(on_host), cols * to.itemsize, rows, to._stream
        )
    )


# ---- an array as each framework has it ----


def _torch(array: Array) -> Any:
    import torch

    kind = getattr(torch, NAMES[array._kind])
    if not array.size:
        return torch.empty(array.shape, dtype=kind, device="cuda")
    typestr = "<i2" if array._kind == "bf16" else None  # torch reads no other integers of two bytes everywhere
    tensor = torch.as_tensor(_Interface(array, typestr), device="cuda")
    return tensor.view(kind) if array._kind in BITS else tensor


def _cupy(array: Array) -> Any:
    import cupy

    made = cupy.asarray(_Interface(array)) if array.size else cupy.empty(array.shape, array._raw)
    if array._kind in BITS:
        with contextlib.suppress(Exception):  # CuPy 14 has bf16; what it lacks is seen as bits
            made = made.view(array.dtype)
    return made


def _numba(array: Array) -> Any:
    from numba import cuda

    if not array.size:
        return cuda.device_array(array.shape, array._raw)
    return cuda.as_cuda_array(_Interface(array), sync=False)


def _jax(array: Array) -> Any:
    import jax
    import jax.numpy as jnp

    kind = getattr(jnp, NAMES[array._kind])
    if not array.size:
        return jnp.zeros(array.shape, kind)
    made = jax.dlpack.from_dlpack(_Packed(array))
    return jax.lax.bitcast_convert_type(made, kind) if array._kind in BITS else made


MAKERS: dict[str, Callable[[Array], Any]] = {
    "numpy": lambda array: array,
    "torch": _torch,
    "cupy": _cupy,
    "numba": _numba,
    "jax": _jax,
}
# Whose kernels are launched on the default stream where nothing else is said: it keeps the call's order.
DEFAULT_STREAM = ("numpy", "numba", "jax")


# ---- the call ----


class Device:
    """Where arrays lie: on a GPU."""

    def __init__(self, kinds: dict[int, str], arrays: str) -> None:
        self.kinds, self.arrays, self.stream = kinds, arrays, 0
        self.given: dict[str, Array] = {}  # of the call, by name
        self.kept: list[Any] = []  # what is being copied: the stream may not have come to it when the call ends

    def array(self, a: Any) -> Any:
        """An array of the call, as the variant's framework has it."""
        vector = a.rank == 1
        shape = (a.shape[0],) if vector else (a.shape[0], a.shape[1])
        steps = (1,) if vector else (a.ld, 1)
        made = Array(a.data or 0, shape, steps, self.kinds[a.dtype], self.stream)
        self.given[a.name.decode()] = made
        return MAKERS[self.arrays](made)

    @contextlib.contextmanager
    def calling(self, call: Any) -> Iterator[None]:
        """The call's stream is the current one of frameworks that have one; the default stream is in order with it where others launch there."""
        self.stream = call.context.contents.stream or 0
        self.given.clear()
        self.kept.clear()
        order = _library.load().plumb_cuda_order
        with _frameworks.on_stream(self.stream, self.arrays):
            joined = self.arrays in DEFAULT_STREAM
            if joined:
                _checked(order(self.stream, None))
            yield
            if joined:
                _checked(order(None, self.stream))

    @staticmethod
    def address(value: Any) -> int:
        """Of an array's first element; 0 where it does not say."""
        if hasattr(value, "data_ptr"):
            return value.data_ptr()
        interface = getattr(value, "__cuda_array_interface__", None)
        return interface["data"][0] if interface else 0

    def copy(self, name: str, value: Any, _: Any) -> None:
        """What the function has returned, into an output: the same shape and type."""
        output = self.given[name]
        if isinstance(value, (int, float)) and not hasattr(value, "dtype"):
            value = np.full((1,), value, output.dtype) if output.shape == (1,) else np.full((), value, np.float64)
        _check_alike(name, value, output)
        torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
        if torch is not None and isinstance(value, torch.Tensor):
            _torch(output)[...] = value.detach().reshape(output.shape)
            return
        if jax is not None and isinstance(value, jax.Array):
            value = _bits_of_jax(jax, value, output)
        self.kept.append(value)
        if not hasattr(value, "__cuda_array_interface__"):
            value = np.ascontiguousarray(value).view(output._raw)
            _copy_rows(output, value.ctypes.data, value.shape[-1] * value.itemsize if value.ndim else 0, True)
            return
        self.kept.append(_copy_described(name, value, output))


def _check_alike(name: str, value: Any, output: Array) -> None:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise PlumblineError(f"returns a {type(value).__module__}.{type(value).__name__} for {name}: no array")
    if (tuple(value.shape) or (1,)) != output.shape:
        raise PlumblineError(f"returns {name} of shape {tuple(value.shape)}, and it has {output.shape}")
    kind = str(value.dtype).removeprefix("torch.")
    if kind not in (NAMES[output._kind], BITS.get(output._kind)):
        raise PlumblineError(f"returns {name} in {kind}, and it is {NAMES[output._kind]}")


def _bits_of_jax(jax: Any, value: Any, output: Array) -> Any:
    if output._kind in BITS and str(value.dtype) == NAMES[output._kind]:
        value = jax.lax.bitcast_convert_type(value, getattr(jax.numpy, BITS[output._kind]))
    return jax.block_until_ready(value)


def _copy_described(name: str, value: Any, output: Array) -> Any:
    """From memory of a GPU that __cuda_array_interface__ describes; its rows may lie apart. What is copied, which may not end before."""
    described = value.__cuda_array_interface__
    shape, size = output.shape, output.itemsize
    steps = described.get("strides") or ((shape[1] * size, size) if output.ndim == 2 else (size,))
    if steps and shape[-1] > 1 and steps[-1] != size:
        if not hasattr(value, "copy"):
            raise PlumblineError(f"returns {name} with strides {tuple(steps)}: elements of a row lie apart")
        return _copy_described(name, value.copy(order="C"), output)
    _copy_rows(output, described["data"][0], steps[0] if output.ndim == 2 else 0, False)
    return value
