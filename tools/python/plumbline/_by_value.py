"""Functions that a worker cannot import (lambdas, closures, those of a notebook) travel as their code; all others by module and name."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import io
import marshal
import os
import pathlib
import pickle
import sys
import tempfile
import types
from typing import Any

from plumbline._declare import Variant
from plumbline._errors import PlumblineError

ENDING = ".kernel"


def file_of(module: Any) -> str | None:
    """The .py file by which a module can be imported again: that of a script, or of a module that belongs to no package."""
    path = getattr(module, "__file__", None)
    return (
        path
        if path and path.endswith(".py") and os.path.exists(path) and not getattr(module, "__package__", None)
        else None
    )


def found_by_name(function: Any) -> bool:
    """Whether the function is what its module holds under its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    held = module
    for part in getattr(function, "__qualname__", "<").split("."):
        held = getattr(held, part, None)
    held = held.function if isinstance(held, Variant) else held
    return held is function and (module.__name__ != "__main__" or file_of(module) is not None)  # type: ignore[union-attr]


def _imported(file: str, name: str) -> Any:
    """In a worker: what a script, or a module that belongs to no package, holds under a name."""
    from plumbline import worker

    held: Any = worker.module_of(file)
    for part in name.split("."):
        held = getattr(held, part)
    return held.function if isinstance(held, Variant) else held


def _made(code: bytes, name: str, module: str, defaults: Any, named_defaults: Any, cells: int) -> Any:
    made = types.FunctionType(
        marshal.loads(code),
        {"__builtins__": __builtins__, "__name__": module},
        name,
        defaults,
        tuple(types.CellType() for _ in range(cells)),
    )
    made.__kwdefaults__ = named_defaults
    return made


def _filled(made: Any, state: tuple[dict[str, Any], list[Any]]) -> None:
    used, contents = state
    made.__globals__.update(used)
    for cell, value in zip(made.__closure__ or (), contents):
        cell.cell_contents = value


def _names(code: types.CodeType) -> set[str]:
    """Global names that a function's code uses, with those of functions inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, types.ModuleType):
            return importlib.import_module, (obj.__name__,)
        if not isinstance(obj, types.FunctionType):
            return NotImplemented
        if found_by_name(obj):
            module = sys.modules[obj.__module__]
            file = file_of(module)
            return NotImplemented if file is None else (_imported, (file, obj.__qualname__))
        used = {name: obj.__globals__[name] for name in _names(obj.__code__) if name in obj.__globals__}
        cells = [cell.cell_contents for cell in obj.__closure__ or ()]
        made = (
            marshal.dumps(obj.__code__),
            obj.__name__,
            obj.__module__,
            obj.__defaults__,
            obj.__kwdefaults__,
            len(cells),
        )
        return _made, made, (used, cells), None, None, _filled


def folder() -> pathlib.Path:
    """A folder of this user's for what repro lines name. PlumblineError: it is another user's."""
    made = pathlib.Path(tempfile.gettempdir()) / f"plumbline-{os.getuid()}"
    made.mkdir(mode=0o700, exist_ok=True)
    if made.stat().st_uid != os.getuid():
        raise PlumblineError(f"{made} belongs to another user (TMPDIR names another place)")
    return made


def store(path: pathlib.Path, data: bytes) -> None:
    """Writes a file that other processes see whole, or not at all."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def write(variant: Variant) -> str:
    """Stores a variant for a worker of this interpreter; the file's name, which follows from its contents. PlumblineError: it holds what cannot travel."""
    fields = {f.name: getattr(variant, f.name) for f in dataclasses.fields(variant)}
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, protocol=4).dump(fields)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise PlumblineError(
            f"variant {variant.name}: uses what a child process cannot be given: {error}; put the function into a file of its own"
        ) from None
    stored = pickle.dumps((list(sys.version_info[:2]), [p for p in sys.path if p], buffer.getvalue()))
    path = folder() / f"{variant.name}-{hashlib.sha256(stored).hexdigest()[:12]}{ENDING}"
    store(path, stored)
    return str(path)


def read(path: str) -> list[Variant]:
    """In a worker: the variant that write() has stored."""
    try:
        version, paths, stored = pickle.loads(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise PlumblineError(f"{error.strerror}") from None
    if version != list(sys.version_info[:2]):
        raise PlumblineError(
            "was stored by Python {}.{}, this is {}.{}".format(*version, *sys.version_info[:2])
        )
    sys.path.extend(p for p in paths if p not in sys.path)
    return [Variant(**pickle.loads(stored))]
