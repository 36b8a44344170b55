"""Operators by name, and those that are formulas."""

from __future__ import annotations

from collections.abc import Iterator

from plumbline import _library
from plumbline._errors import PlumblineError


class Operator(str):
    """The name of an operator, with its contract: what judge(), variant(), cases() and check() take."""

    __slots__ = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs; a sparse matrix is one."""
        return tuple(dict.fromkeys(name.split(".")[0] for name in _library.signature(self)["inputs"]))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(_library.signature(self)["outputs"])

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numbers beside the arrays."""
        return tuple(name for name in _library.signature(self)["scalars"] if "." not in name)

    @property
    def storage(self) -> tuple[str, ...]:
        """The types that it has: "f32", "bf16", "bf16_f32" (inputs in bf16, outputs in f32), ..."""
        return tuple(_library.signature(self)["dtypes"])

    @property
    def signature(self) -> str:
        """Of a formula: its arrays with the names of their extents, "x: n d, w: d, eps>0 -> y: n d"; else empty."""
        return _library.signature(self)["formula"]


class Formulas:
    """plumbline.formulas: the operators that are formulas, as attributes. `list(plumbline.formulas)` names them."""

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return formula(name)
        except PlumblineError as error:
            raise AttributeError(str(error)) from None

    def __iter__(self) -> Iterator[Operator]:
        return (op for op in map(Operator, _library.operators()) if op.signature)

    def __dir__(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return "\n".join(f"{op}: {op.signature}" for op in self)


def formula(name: str) -> Operator:
    """The operator of that name, which is a formula (docs/formulas.md). PlumblineError: there is none, or it is no formula."""
    op = Operator(name)
    if not op.signature:
        known = ", ".join(Formulas())
        raise PlumblineError(f"{name} is no formula; formulas: {known}")
    return op


formulas = Formulas()
