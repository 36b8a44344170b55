"""What is changed in a package of somebody else's: as soon as it is imported, whoever imports it, and until it is taken back."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any


class _Importing(importlib.abc.MetaPathFinder):
    """Lets a module be found as always, and calls what waits for it when it has been executed."""

    def __init__(self) -> None:
        self.waiting: list[tuple[str, Callable[[Any], None]]] = []
        self.looking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if self.looking or all(name != wanted for wanted, _ in self.waiting):
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_act(module: Any) -> None:
            execute(module)
            for action in [a for wanted, a in self.waiting if wanted == name]:
                action(module)

        spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]
        return spec


_importing = _Importing()


def when_imported(name: str, action: Callable[[Any], None]) -> Callable[[], None]:
    """Calls action(module) now, or as soon as a module is imported. What is returned ends the waiting."""
    if name in sys.modules:
        action(sys.modules[name])
        return lambda: None
    if _importing not in sys.meta_path:
        sys.meta_path.insert(0, _importing)
    entry = (name, action)
    _importing.waiting.append(entry)
    return lambda: _importing.waiting.remove(entry)


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """owner.name is value inside."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
