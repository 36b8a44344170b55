"""@plumbline.variant: what a function says of itself."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any

from plumbline._errors import PlumblineError

DEVICES = ("cpu", "cuda", "simt")
ARRAYS = ("numpy", "torch", "cupy", "numba", "jax")
ON_A_GPU_ALONE = ("cupy", "numba", "jax")
declared: list[Variant] = []  # in this process, in order: what a worker lists of a file that it has imported
in_worker = False  # whether this process is the judge's child


class ImportEnds(BaseException):
    """Ends the import of a script in a worker, where the script itself would judge."""


@dataclasses.dataclass(eq=False)
class Variant:
    """A function and what it promises. Calling it calls the function."""

    op: str
    function: Callable[..., Any]
    name: str
    storage: tuple[str, ...] = ("f32",)
    arithmetic: str = "native"
    device: str = "cpu"
    arrays: str = "numpy"
    returns: bool | None = None
    reproducible: bool = True
    alignment: int = 0
    finite_only: bool = False

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)  # type: ignore[arg-type]
        if not callable(self.function):
            raise PlumblineError(f"variant {self.name!r}: a {type(self.function).__name__} cannot be called")
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", self.name):
            raise PlumblineError(f"variant {self.name!r}: a name is of letters, digits, '_', '-' and '.'")
        for value, known, what in ((self.device, DEVICES, "device"), (self.arrays, ARRAYS, "arrays")):
            if value not in known:
                raise PlumblineError(f"variant {self.name!r}: {what}={value!r}; known: {', '.join(known)}")
        if self.arrays in ON_A_GPU_ALONE and self.device != "cuda":
            raise PlumblineError(f"variant {self.name!r}: arrays={self.arrays!r} lie on a GPU: device='cuda'")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)


def make(
    op: str,
    function: Callable[..., Any],
    *,
    name: str | None = None,
    storage: str | tuple[str, ...] | list[str] = "f32",
    arithmetic: str = "native",
    device: str = "cpu",
    arrays: str = "numpy",
    returns: bool | None = None,
    reproducible: bool = True,
    alignment: int = 0,
    finite_only: bool = False,
) -> Variant:
    """A Variant; the arguments are those of variant()."""
    given = name or getattr(function, "__name__", type(function).__name__)
    given = "lambda" if given == "<lambda>" else given
    types = (storage,) if isinstance(storage, str) else tuple(storage)
    return Variant(op, function, given, types, arithmetic, device, arrays, returns, reproducible, alignment, finite_only)


def variant(op: str, **declaration: Any) -> Callable[[Callable[..., Any]], Variant]:
    """Declares the function below it as a kernel of the operator `op` (plumb verify --describe OP prints the contract).

    Parameters of the function are matched with the contract's names: an input or output array ("x", "A"), a number ("alpha"). Where the names
    are others, as many as the inputs, or as the inputs and outputs, are matched by position. Arrays are views of guarded memory, with the strides and
    offsets that the judge chose. A function that takes the outputs writes them; one that does not returns them: an array, or a tuple of arrays in
    the contract's order, of the output's shape and type. A case whose number the function does not take is `unsupported`, unless the number
    changes nothing (alpha 1, beta 0, stride 1, ...).

    name         of the variant, "user/NAME" in reports; the function's name where it is not given
    storage      "f32", or several: ("f32", "f64"); the types that the function is judged in
    arithmetic   what it computes in: "native", "doubled", "tf32", ... (docs/bounds.md); the bound follows from it
    device       "cpu"; "cuda": it launches kernels on a GPU, which are judged on the CPU executor, too ("simt" is the same word)
    arrays       "numpy" or "torch": what arrays reach the function as; a sparse matrix is a plumbline CSR of such arrays. On a GPU also
                 "cupy", "numba", "jax"; "numpy" are there objects with __cuda_array_interface__, __dlpack__ and data_ptr() (docs/python.md)
    returns      True: the result is returned although the function takes outputs, of which it reads what they hold
    reproducible whether equal inputs at equal places give equal bits; the claim is tested
    alignment    bytes that base pointers and leading dimensions must be a multiple of; 0: the size of an element
    finite_only  NaN and infinities are not promised as the contract has them: such cases are `unsupported`. A product in "tf32" has to say so:
                 it turns the smallest numbers into 0, and 0 times an infinity is NaN

    Raises PlumblineError for a word that is not known.
    """

    def declare(function: Callable[..., Any]) -> Variant:
        made = make(op, function, **declaration)
        declared.append(made)
        return made

    return declare
