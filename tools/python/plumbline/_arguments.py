"""From a call of the judge's to a function's arguments, and from what it returns to the outputs. In the worker."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from plumbline import _cuda, _library
from plumbline._declare import Variant
from plumbline._errors import PlumblineError

# What a number is where it changes nothing: a function that does not take it is not asked for other values. The first four are factors, which
# are floats; every other number that is whole is an int.
FACTORS = {"alpha": 1.0, "beta": 0.0, "bias": 0.0, "cap": math.inf}
NEUTRAL = {
    **FACTORS,
    "kind": 0,
    **{
        f"{what}_{axis}": value
        for what, value in (("stride", 1), ("pad", 0), ("dilation", 1))
        for axis in "hw"
    },
}

# NumPy's names of the judge's formats, where NumPy itself or ml_dtypes has them; and torch's.
NUMPY_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "i32": "int32"}
ML_NAMES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
TORCH_NAMES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


@dataclasses.dataclass(frozen=True)
class CSR:
    """A sparse matrix in compressed rows: row i holds the entries [row_ptr[i], row_ptr[i + 1]). Columns may repeat and be unsorted.

    row_ptr (rows + 1) and col (nnz) are int32, val (nnz) has the type of the case. All are views of guarded memory.
    """

    row_ptr: Any
    col: Any
    val: Any
    rows: int
    cols: int

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return int(self.val.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols)."""
        return self.rows, self.cols

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_matrix of the same memory; duplicates and order of columns are as they are."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.val, self.col, self.row_ptr), shape=self.shape, copy=False)

    def to_cupy(self) -> Any:
        """A cupyx.scipy.sparse.csr_matrix of the same memory."""
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((self.val, self.col, self.row_ptr), shape=self.shape)

    def to_torch(self) -> Any:
        """A torch.sparse_csr_tensor of the same memory."""
        import torch

        arrays = [
            a if isinstance(a, torch.Tensor) else torch.from_numpy(a)
            for a in (self.row_ptr, self.col, self.val)
        ]
        with warnings.catch_warnings():  # of torch, once in every process: that this layout is new to it
            warnings.simplefilter("ignore", UserWarning)
            return torch.sparse_csr_tensor(*arrays, size=self.shape, check_invariants=False)


class _Memory:
    """Memory of the judge's, as NumPy takes it."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "strides": strides,
            "typestr": typestr,
            "version": 3,
        }


class Types:
    """NumPy's types by the judge's numbers."""

    def __init__(self) -> None:
        self.formats = {number: name for name, number in _library.tables()["formats"].items()}
        self.known: dict[int, Any] = {}

    def numpy(self, number: int) -> tuple[np.dtype, np.dtype]:
        """The type in which memory is read, and that in which it is seen: they differ where NumPy itself has none. PlumblineError: no type."""
        if number not in self.known:
            self.known[number] = self._find(self.formats[number])
        return self.known[number]

    @staticmethod
    def _find(name: str) -> tuple[np.dtype, np.dtype]:
        if name in NUMPY_NAMES:
            return np.dtype(NUMPY_NAMES[name]), np.dtype(NUMPY_NAMES[name])
        try:
            import ml_dtypes

            seen = np.dtype(getattr(ml_dtypes, ML_NAMES[name]))
        except (ImportError, KeyError):
            raise PlumblineError(f"arrays of {name} need the package ml_dtypes, or arrays='torch'") from None
        return np.dtype(f"u{seen.itemsize}"), seen

    def numpy_array(self, a: Any) -> np.ndarray:
        """A view of an array of the call."""
        raw, seen = self.numpy(a.dtype)
        view = _view(a, raw)
        return view if raw is seen or raw == seen else view.view(seen)

    def torch_tensor(self, a: Any) -> Any:
        """The same as a tensor of torch's."""
        import torch

        name = self.formats[a.dtype]
        if name not in TORCH_NAMES:
            return torch.from_numpy(self.numpy_array(a))
        integers = np.dtype("int16" if name == "bf16" else "uint8")
        return torch.from_numpy(_view(a, integers)).view(getattr(torch, TORCH_NAMES[name]))

    def jax_array(self, a: Any) -> Any:
        """A copy as an array of JAX's, which cannot be written: an output is NumPy's."""
        import jax

        view = self.numpy_array(a)
        return view if a.is_output else jax.numpy.array(view)


def _view(a: Any, dtype: np.dtype) -> np.ndarray:
    shape = (a.shape[0],) if a.rank == 1 else (a.shape[0], a.shape[1])
    size = dtype.itemsize
    strides = (size,) if a.rank == 1 else (a.ld * size, size)
    if 0 in shape or not a.data:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(a.data, shape, strides, dtype.str))


class Host:
    """Where arrays lie: in memory of the host."""

    def __init__(self, types: Types, arrays: str) -> None:
        makers = {"torch": types.torch_tensor, "jax": types.jax_array}
        self.array = makers.get(arrays, types.numpy_array)

    def calling(self, _: Any) -> Any:
        """What is in force during a call."""
        return contextlib.nullcontext()

    def address(self, value: Any) -> int:
        """Of an array's first element."""
        return _address(value)

    def copy(self, name: str, value: Any, output: Any) -> None:
        """What the function has returned, into an output: the same shape and type."""
        _copy(name, value, output)


def _on_executor() -> bool:
    return os.environ.get("PLUMB_DEVICE") == "simt"


@dataclasses.dataclass(frozen=True)
class Signature:
    """What an operator's arguments are called; "A.row_ptr" and its like are one argument, "A"."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    scalars: tuple[str, ...]

    @classmethod
    def of(cls, op: str) -> Signature:
        found = _library.signature(op)
        heads = tuple(dict.fromkeys(name.split(".")[0] for name in found["inputs"]))
        return cls(heads, tuple(found["outputs"]), tuple(s for s in found["scalars"] if "." not in s))

    def text(self) -> str:
        return f"inputs {', '.join(self.inputs)}; outputs {', '.join(self.outputs)}" + (
            f"; numbers {', '.join(self.scalars)}" if self.scalars else ""
        )


def _required(function: Callable[..., Any]) -> list[str] | None:
    """The parameters that a caller has to give; those with a default that the contract names count too. None: not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.default is p.empty]


class Binding:
    """How one variant's arguments are taken from a call."""

    def __init__(self, variant: Variant, types: Types) -> None:
        self.variant = variant
        on_gpu = variant.device == "cuda" and not _on_executor()
        self.memory: Any = _cuda.Device(types.formats, variant.arrays) if on_gpu else Host(types, variant.arrays)
        self.signature = Signature.of(variant.op)
        self.taken = self._taken()
        outputs = [name for name in self.signature.outputs if name in self.taken]
        if outputs and len(outputs) != len(self.signature.outputs):
            missing = [name for name in self.signature.outputs if name not in outputs]
            raise PlumblineError(
                f"variant {variant.name}: takes {outputs[0]} and not {missing[0]}: it takes all outputs, or returns all"
            )
        self.returns = variant.returns if variant.returns is not None else not outputs
        if variant.arrays == "jax" and not self.returns:
            raise PlumblineError(f"variant {variant.name}: arrays of JAX cannot be written: it returns its outputs")
        self.optional = self._optional()

    def _taken(self) -> list[str]:
        s, names = self.signature, _required(self.variant.function)
        known = {*s.inputs, *s.outputs, *s.scalars}
        if names is None:
            return list(s.inputs)
        if all(name in known for name in names):
            return names
        for order in (s.inputs, s.inputs + s.outputs):
            if len(order) == len(names) and all(a == b or a not in known for a, b in zip(names, order)):
                return list(order)
        raise PlumblineError(
            f"variant {self.variant.name}({', '.join(names)}): {self.variant.op} has {s.text()}"
        )

    def _optional(self) -> list[str]:
        """Parameters with a default that the contract names: given by name."""
        try:
            parameters = inspect.signature(self.variant.function).parameters.values()
        except (TypeError, ValueError):
            return []
        s = self.signature
        return [
            p.name
            for p in parameters
            if p.default is not p.empty and p.name in (*s.inputs, *s.outputs, *s.scalars)
        ]

    def refusal(self, call: Any) -> str | None:
        """Why the function cannot be asked, or None."""
        given = (*self.taken, *self.optional)
        for i in range(call.scalar_count):
            name, value = call.scalars[i].name.decode(), call.scalars[i].value
            if name not in given and NEUTRAL.get(name, value) != value:
                return f"takes no {name}, and {name} is {value:g}"
        for i in range(call.array_count):
            a = call.arrays[i]
            head = a.name.decode().split(".")[0]
            if head not in given and not a.is_output and a.shape[0] * a.shape[1] > 0:
                return f"takes no {head}"
        return None

    def arguments(self, call: Any) -> dict[str, Any]:
        """Every argument of the call by its name."""
        parts: dict[str, Any] = {}
        numbers: dict[str, float] = {}
        for i in range(call.scalar_count):
            numbers[call.scalars[i].name.decode()] = call.scalars[i].value
        for i in range(call.array_count):
            parts[call.arrays[i].name.decode()] = self.memory.array(call.arrays[i])
        found: dict[str, Any] = {}
        for name, array in parts.items():
            head, _, part = name.partition(".")
            if not part:
                found[head] = array
            elif head not in found:
                rows, cols = int(numbers[f"{head}.rows"]), int(numbers[f"{head}.cols"])
                found[head] = CSR(
                    parts[f"{head}.row_ptr"], parts[f"{head}.col"], parts[f"{head}.val"], rows, cols
                )
        for name, value in numbers.items():
            if "." not in name:
                found[name] = value if name in FACTORS or not value.is_integer() else int(value)
        return found

    def run(self, call: Any) -> None:
        """Calls the function, and stores what it returns. Raises what the function raises, and PlumblineError where it returns what is no output."""
        with self.memory.calling(call):
            found = self.arguments(call)
            result = self.variant.function(
                *(found[name] for name in self.taken), **{n: found[n] for n in self.optional}
            )
            outputs = [found[name] for name in self.signature.outputs]
            if self.returns:
                self._store(result, outputs)
            elif _is_array(result) and self.memory.address(result) not in map(self.memory.address, outputs):
                raise PlumblineError(
                    f"returns an array, and takes {self.signature.outputs[0]}: it writes its outputs, or takes none, or declares returns=True"
                )

    def _store(self, result: Any, outputs: list[Any]) -> None:
        results = result if isinstance(result, (tuple, list)) and len(outputs) > 1 else (result,)
        if result is None or len(results) != len(outputs):
            raise PlumblineError(
                f"returns {_kind(result)}, and the outputs are {', '.join(self.signature.outputs)}"
            )
        for name, value, output in zip(self.signature.outputs, results, outputs):
            self.memory.copy(name, value, output)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and getattr(value, "shape", ()) != ()


def _address(value: Any) -> int:
    return (
        value.data_ptr() if hasattr(value, "data_ptr") else np.asarray(value).__array_interface__["data"][0]
    )


def _kind(value: Any) -> str:
    return f"a {type(value).__module__}.{type(value).__name__}".replace(
        "a builtins.NoneType", "nothing"
    ).replace("builtins.", "")


def _copy(name: str, value: Any, output: Any) -> None:
    """value into output: the same shape and type; a Python number, which has no type, into an output of one element."""
    if isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        value = np.full((), value, np.float64)
        if output.shape == (1,):
            output[0] = float(value)
            return
    if hasattr(output, "data_ptr"):  # a tensor of torch's
        import torch

        if not isinstance(value, torch.Tensor):
            value = torch.from_numpy(np.asarray(value))
        value = value.detach()
    else:
        value = _as_numpy(name, value)
    shape = tuple(value.shape) or (1,)
    if shape != tuple(output.shape):
        raise PlumblineError(
            f"returns {name} of shape {tuple(value.shape)}, and it has {tuple(output.shape)}"
        )
    if value.dtype != output.dtype:
        raise PlumblineError(f"returns {name} in {value.dtype}, and it is {output.dtype}")
    output[...] = value.reshape(shape)


def _as_numpy(name: str, value: Any) -> np.ndarray:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "detach"):  # torch: no gradient, and memory of the host
        return value.detach().cpu().numpy()
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    raise PlumblineError(
        f"returns {_kind(value)} for {name}: no array (NumPy's, __dlpack__, __array_interface__)"
    )
