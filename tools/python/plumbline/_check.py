"""check(): arrays that somebody has computed by himself, against an operator, each element within its derived bound."""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plumbline import _library
from plumbline._errors import PlumblineError
from plumbline._operators import Operator

if TYPE_CHECKING:
    import numpy as np

FORMATS = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
}
# Extents of arrays of more than two; those before the bar are rows of the matrix that the contract has.
PLANES = {"conv2d": {"X": "n c | h w", "F": "k | c r s", "Y": "n k | oh ow"}}
LARGEST_KEPT = 1 << 30  # bytes of the arrays of a failure that a file is made of


@dataclasses.dataclass(frozen=True)
class CheckedOutput:
    """One output of a check. `worst`: the index of the element with the largest error in units of its bound; empty where there is none."""

    name: str
    elements: int
    misses: int  # elements beyond their bound
    unbounded: int  # elements of which nothing can be said
    max_ratio: float  # the largest error over its bound
    mean_ratio: float
    worst: tuple[int, ...]
    first: tuple[str, ...]  # the first ten misses; indices are those of the contract's matrix
    map: str  # where they are
    guess: str  # what they look like, or empty


@dataclasses.dataclass(frozen=True)
class Check:
    """What check() says. `repro`: a command that repeats a failure; empty where it passed, or where the arrays are too large to be kept."""

    op: str
    storage: str
    arithmetic: str
    outputs: tuple[CheckedOutput, ...]
    repro: str

    @property
    def passed(self) -> bool:
        return not any(o.misses for o in self.outputs)

    @property
    def ratio(self) -> float:
        """The largest error over its bound, of all outputs."""
        return max((o.max_ratio for o in self.outputs), default=0.0)

    def raise_if_failed(self) -> Check:
        """Returns itself where it passed. CheckFailed: an element is beyond its bound."""
        if self.passed:
            return self
        raise CheckFailed(self)

    def __str__(self) -> str:
        lines = []
        for o in self.outputs:
            if not o.misses:
                lines.append(f"{o.name}: {o.elements} elements within their bounds, the largest error is {o.max_ratio:.3g} of its bound")
            else:
                lines.append(f"{o.name}: {o.misses} of {o.elements} elements beyond their bounds, the worst by {o.max_ratio:.3g} times")
                lines += [f"  {line}" for line in (*o.first[:3], o.guess and f"all of them are {o.guess}") if line]
            if o.unbounded:
                lines.append(f"  of {o.unbounded} elements nothing can be said")
        lines += [f"repro: {self.repro}"] if self.repro else []
        head = f"{self.op}.{self.storage}" + ("" if self.arithmetic == "native" else f" in {self.arithmetic}")
        return "\n".join([f"{head}: {'passed' if self.passed else 'failed'}", *("  " + line for line in lines)])

    def _repr_html_(self) -> str:
        """For notebooks."""
        colour = "green" if self.passed else "red"
        return f'<pre style="border-left: 4px solid {colour}; padding-left: 8px">{html.escape(str(self))}</pre>'


class CheckFailed(AssertionError):
    """Raised by check(), with the whole answer as `check`."""

    def __init__(self, check: Check) -> None:
        self.check = check
        super().__init__(str(check))


@dataclasses.dataclass(frozen=True)
class Given:
    """One array: packed, row-major, as it is stored."""

    name: str
    format: str
    output: bool
    data: np.ndarray  # in the contract's shape, of unsigned integers of the format's size, or int32
    shape: tuple[int, ...]  # of what the caller gave


@dataclasses.dataclass(frozen=True)
class Problem:
    """A call that somebody has made by himself, as the library takes it."""

    op: str
    storage: str
    arithmetic: str
    accumulate: str
    arrays: tuple[Given, ...]
    numbers: dict[str, float]

    def judged(self) -> Check:
        """PlumblineError: what the contract does not allow."""
        found = json.loads(_call(self))
        if "error" in found:
            raise PlumblineError(f"{self.op}: {found['error']}")
        outputs = tuple(map(self._told, found["outputs"]))
        nothing = [o.name for o in outputs if o.elements and o.unbounded == o.elements]
        if nothing:
            raise PlumblineError(f"{self.op}: of no element of {nothing[0]} anything can be said: these data have no bound")
        check = Check(self.op, self.storage, self.arithmetic, outputs, "")
        return check if check.passed else dataclasses.replace(check, repro=self._kept())

    def _told(self, o: dict[str, Any]) -> CheckedOutput:
        import numpy as np

        shape = next(a.shape for a in self.arrays if a.name == o["name"] and a.output)
        known = o["worst"] >= 0 and math.prod(shape) == o["elements"]
        worst = tuple(int(i) for i in np.unravel_index(o["worst"], shape)) if known and shape else ()
        ratio = math.inf if o["max_ratio"] is None else o["max_ratio"]
        mean = math.inf if o["mean_ratio"] is None else o["mean_ratio"]
        return CheckedOutput(
            o["name"], o["elements"], o["misses"], o["unbounded"], ratio, mean, worst, tuple(o["first"]), o["map"], o["guess"]
        )

    def _kept(self) -> str:
        """The command that judges these arrays again, which lie in a file of the temporary folder."""
        from plumbline import _by_value, _judge

        if sum(a.data.nbytes for a in self.arrays) > LARGEST_KEPT:
            return ""
        stored = self.stored()
        path = _by_value.folder() / f"{self.op}-{hashlib.sha256(stored).hexdigest()[:12]}.npz"
        _by_value.store(path, stored)
        return f"{_judge.command()} check {path}"

    def stored(self) -> bytes:
        """As a file .npz."""
        import numpy as np

        about = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "arrays"}
        about["arrays"] = [[a.name, a.format, a.output, list(a.shape)] for a in self.arrays]
        buffer = io.BytesIO()
        np.savez(buffer, about=np.array(json.dumps(about)), **{f"array_{i}": a.data for i, a in enumerate(self.arrays)})
        return buffer.getvalue()

    @classmethod
    def read(cls, path: str) -> Problem:
        """From such a file. PlumblineError: it is none."""
        import numpy as np

        try:
            with np.load(path) as file:
                about = json.loads(str(file["about"]))
                data = [file[f"array_{i}"] for i in range(len(about["arrays"]))]
        except (OSError, KeyError, ValueError) as error:
            raise PlumblineError(f"{path}: is no file that pl.check() has written: {error}") from None
        arrays = tuple(
            Given(name, form, output, d, tuple(shape)) for d, (name, form, output, shape) in zip(data, about.pop("arrays"))
        )
        return cls(arrays=arrays, **about)


def _call(problem: Problem) -> bytes:
    """The library's answer."""
    tables = _library.tables()
    kept: list[Any] = []
    arrays = (_library.Array * len(problem.arrays))()
    for slot, a in zip(arrays, problem.arrays):
        data = a.data if a.data.size else a.data.reshape(-1)
        kept.append(data)
        slot.name, slot.dtype, slot.rank, slot.is_output = a.name.encode(), tables["formats"][a.format], a.data.ndim, a.output
        slot.shape[: a.data.ndim] = a.data.shape
        slot.data = data.ctypes.data
    scalars = (_library.Scalar * max(len(problem.numbers), 1))()
    for slot, (name, value) in zip(scalars, problem.numbers.items()):
        slot.name, slot.value = name.encode(), value
    call = _library.Call(
        ctypes.sizeof(_library.Call),
        tables["dtypes"][problem.storage],
        problem.op.encode(),
        arrays,
        scalars,
        len(problem.arrays),
        len(problem.numbers),
        None,
    )
    accumulate = tables["formats"][problem.accumulate] + 1 if problem.accumulate else 0
    return _library.load().plumb_check(ctypes.byref(call), tables["arithmetics"][problem.arithmetic], accumulate)


def stored(name: str, value: Any) -> tuple[str, np.ndarray]:
    """(format, contiguous elements): floats as unsigned integers of their size, indices as int32. PlumblineError: a type that has no format."""
    import numpy as np

    if hasattr(value, "detach"):  # torch
        value = value.detach().cpu().contiguous()
        kind = str(value.dtype).removeprefix("torch.")
        if kind in FORMATS:
            import torch

            integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[value.element_size()]
            array = value.view(integers).numpy()
            return FORMATS[kind], array.view(f"u{array.itemsize}")
        value = value.numpy()
    elif hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):  # CuPy
        value = value.get()
    array = np.asarray(value)
    if array.dtype.name in FORMATS:
        array = np.ascontiguousarray(array).reshape(array.shape)
        return FORMATS[array.dtype.name], array.view(f"u{array.itemsize}")
    if array.dtype.kind in "iu":
        if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
            raise PlumblineError(f"{name}: indices are int32, and these are larger")
        return "i32", np.ascontiguousarray(array, np.int32).reshape(array.shape)
    raise PlumblineError(f"{name}: arrays of {array.dtype} have no format here; known: {', '.join(FORMATS)}, integers")


def sparse_parts(name: str, value: Any) -> tuple[dict[str, Any], tuple[int, int]]:
    """The arrays of a matrix in compressed rows by their names, and its shape. PlumblineError: it is none."""
    for names in (("row_ptr", "col", "val"), ("indptr", "indices", "data"), ("crow_indices", "col_indices", "values")):
        if all(hasattr(value, n) for n in names):
            parts = [getattr(value, n) for n in names]
            parts = [p() if callable(p) else p for p in parts]
            break
    else:
        if not isinstance(value, (tuple, list)) or len(value) != 4:
            raise PlumblineError(
                f"{name}: a sparse matrix is plumbline's CSR, SciPy's csr_matrix, torch's sparse_csr tensor, "
                "or (row_ptr, col, val, (rows, cols))"
            )
        parts = list(value[:3])
    shape = value[3] if isinstance(value, (tuple, list)) else value.shape
    return {f"{name}.{n}": p for n, p in zip(("row_ptr", "col", "val"), parts)}, (int(shape[0]), int(shape[1]))


def extents_of(op: Operator) -> dict[str, tuple[list[str], list[str]]]:
    """Of each dense array the names of its extents: of the rows, and of the columns."""
    if op in PLANES:
        halves = {name: text.split("|") for name, text in PLANES[op].items()}
        return {name: (rows.split(), cols.split()) for name, (rows, cols) in halves.items()}
    found = {}
    for part in op.signature.replace("->", ",").split(","):
        name, colon, text = part.partition(":")
        words = [w for w in text.split() if not w.startswith(">") and w != "flag"]
        if colon and "csr" not in words and "in" not in words and "to" not in words:
            found[name.strip()] = (words[:-1], words[-1:])
    return found


class Builder:
    """Makes a Problem of what the caller gave."""

    def __init__(self, op: Operator, numbers: Mapping[str, Any]) -> None:
        self.op = op
        self.contract = _library.signature(op)
        self.extents = extents_of(op)
        self.given: list[Given] = []
        self.numbers = {name: float(value) for name, value in numbers.items()}

    def dense(self, name: str, value: Any, output: bool) -> None:
        form, data = stored(name, value)
        shape = data.shape
        if name in self.contract["vectors"]:
            if data.ndim > 1:
                raise PlumblineError(f"{name} is a vector, and this has the shape {shape}")
            data = data.reshape(-1)
        else:
            data = data.reshape(self._matrix(name, shape))
        self.given.append(Given(name, form, output, data, shape))

    def _matrix(self, name: str, shape: tuple[int, ...]) -> tuple[int, int]:
        """Rows and columns. Extents are learnt where there are as many as the contract names; else all but the last are rows."""
        if len(shape) < 2:
            raise PlumblineError(f"{name} is a matrix, and this has the shape {shape}")
        rows, cols = self.extents.get(name, ([], []))
        if len(shape) != len(rows) + len(cols):
            return math.prod(shape[:-1]), shape[-1]
        for extent, size in zip(rows + cols, shape):
            if extent in self.contract["scalars"] and self.numbers.setdefault(extent, size) != size:
                raise PlumblineError(f"{name}: its extent {extent} is {size}, and {self.numbers[extent]:.0f} elsewhere")
        return math.prod(shape[: len(rows)]), math.prod(shape[len(rows) :])

    def sparse(self, name: str, value: Any) -> None:
        parts, (rows, cols) = sparse_parts(name, value)
        for part, array in parts.items():
            form, data = stored(part, array)
            self.given.append(Given(part, form, False, data.reshape(-1), data.shape))
        self.numbers.update({f"{name}.rows": rows, f"{name}.cols": cols, f"{name}.nnz": self.given[-1].data.size})

    def input(self, name: str, value: Any) -> None:
        if f"{name}.row_ptr" in self.contract["inputs"]:
            self.sparse(name, value)
        else:
            self.dense(name, value, False)

    def storage(self) -> str:
        """The type of the case that these arrays are of. PlumblineError: the operator has none such."""

        def one(output: bool) -> set[str]:
            return {a.format for a in self.given if a.output == output and a.format != "i32"}

        ins, outs = one(False), one(True)
        if len(ins) > 1 or len(outs) > 1:
            what = ", ".join(f"{a.name} in {a.format}" for a in self.given if a.format != "i32")
            raise PlumblineError(f"{self.op}: inputs have one type, and so have outputs: {what}")
        into, out = (ins or outs or {"f32"}).pop(), (outs or ins or {"f32"}).pop()
        name = into if into == out else f"{into}_{out}"
        if name not in self.contract["dtypes"]:
            raise PlumblineError(f"{self.op} has no type {name}; it has {', '.join(self.contract['dtypes'])}")
        return name

    def fill_numbers(self) -> None:
        """Those that change nothing where they are not given. PlumblineError: one is missing, or is none of the operator's."""
        from plumbline._arguments import NEUTRAL

        for name in self.contract["scalars"]:
            if name not in self.numbers and name in NEUTRAL:
                self.numbers[name] = float(NEUTRAL[name])
        missing = [n for n in self.contract["scalars"] if n not in self.numbers]
        if missing:
            raise PlumblineError(f"{self.op}: needs {', '.join(missing)}: by name, or by arrays with all their extents")
        unknown = [n for n in self.numbers if n not in self.contract["scalars"]]
        if unknown:
            raise PlumblineError(f"{self.op} has no number {unknown[0]}; it has {', '.join(self.contract['scalars']) or 'none'}")


def problem_of(
    got: Any, op: str, inputs: Sequence[Any], arithmetic: str, accumulate: str | None, named: Mapping[str, Any]
) -> Problem:
    """What check() hands to the library. PlumblineError: what does not fit the contract."""
    op = Operator(op)
    tables, outputs = _library.tables(), op.outputs
    if arithmetic not in tables["arithmetics"]:
        raise PlumblineError(f"arithmetic={arithmetic!r}; known: {', '.join(tables['arithmetics'])}")
    if accumulate is not None and accumulate not in tables["formats"]:
        raise PlumblineError(f"accumulate={accumulate!r}; known: {', '.join(tables['formats'])}")
    numbers = {n: v for n, v in named.items() if n not in (*op.inputs, *outputs)}
    order = [*op.inputs, *(n for n in op.numbers if n not in _all_extents(op))]
    if len(inputs) > len(order):
        raise PlumblineError(f"{op} takes {', '.join(order)}, and {len(inputs)} are given")
    given = dict(zip(order, inputs))
    if twice := [n for n in given if n in named]:
        raise PlumblineError(f"{op}: {twice[0]} is given twice")
    given.update({n: v for n, v in named.items() if n in op.inputs})
    if absent := [n for n in op.inputs if n not in given]:
        raise PlumblineError(f"{op} needs {', '.join(absent)}")
    numbers.update({n: v for n, v in given.items() if n in op.numbers})
    results = tuple(got) if len(outputs) > 1 and isinstance(got, (tuple, list)) else (got,)
    if len(results) != len(outputs):
        raise PlumblineError(f"{op} has the outputs {', '.join(outputs)}, and {len(results)} are given")
    build = Builder(op, numbers)
    for name in op.inputs:
        build.input(name, given[name])
    for name, value in zip(outputs, results):
        build.dense(name, value, True)
    storage = build.storage()
    for name in outputs:  # what an output held before, where that was read
        if name in named:
            build.dense(name, named[name], False)
    build.fill_numbers()
    return Problem(str(op), storage, arithmetic, accumulate or "", tuple(build.given), build.numbers)


def _all_extents(op: Operator) -> set[str]:
    return {extent for rows, cols in extents_of(op).values() for extent in (*rows, *cols)}


def check(
    got: Any,
    expected: str,
    *inputs: Any,
    arithmetic: str = "native",
    accumulate: str | None = None,
    raises: bool = True,
    **named: Any,
) -> Check:
    """Judges arrays that you have computed: pl.check(rmsnorm(x, w, 1e-6), pl.formulas.rmsnorm, x, w, 1e-6), in place of assert_close.

    got         the output, or a tuple of outputs in the contract's order: arrays of NumPy (with ml_dtypes for bf16 and fp8), tensors of torch,
                arrays of JAX or CuPy. The operator's type follows from the arrays: f32, bf16, bf16_f32, ...
    expected    the operator: "gemm", pl.formulas.softmax, ... (pl.operators() names them all, pl.signature() tells an operator's arrays)
    inputs      the inputs in the contract's order, then its numbers; or by name. A matrix may have more than two dimensions: all but the last are
                its rows, and of an array whose extents the contract names (attention: q (g, r, n, d); conv2d: X (n, c, h, w)) the numbers
                follow from the shape. A sparse matrix is a CSR of this package, SciPy's csr_matrix, torch's sparse_csr tensor, or
                (row_ptr, col, val, (rows, cols)).
    arithmetic  what was computed in: "native", "tf32", ... (docs/bounds.md); accumulate: the format of the sums, where it is another
    raises      False: the answer is returned also where it is a failure
    named       numbers ("alpha", "eps"), and by the name of an output what it held before, where that was read (beta not 0)

    Nothing is run: guards, poison and other data at the same addresses are judge()'s. Elements are compared as judge() compares them; the
    bound is that of the data given. Sums of data of which nothing is known may have terms of one sign, and terms that repeat.

    Raises CheckFailed (an AssertionError) with the first misses and a command that repeats them; PlumblineError where shapes, types or values
    are not as the contract has them.
    """
    made = problem_of(got, expected, inputs, arithmetic, accumulate, named).judged()
    return made.raise_if_failed() if raises else made


def main(words: list[str]) -> int:
    """plumb check FILE.npz: what check() has kept, once more."""
    if len(words) != 1 or words[0] in ("-h", "--help"):
        print("plumb check FILE.npz    judges again the arrays that pl.check() has kept of a failure")
        return 0 if words in (["-h"], ["--help"]) else 2
    made = Problem.read(words[0]).judged()
    print(made)
    return 0 if made.passed else 1
