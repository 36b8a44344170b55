"""The child process in which kernels run: `python -m plumbline.worker`, started by the judge, on two descriptors that it has opened."""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import importlib.util
import os
import pathlib
import sys
import traceback
from typing import Any

from plumbline import _by_value, _declare, _frameworks, _library
from plumbline._errors import PlumblineError

NOT_REPRODUCIBLE, FINITE_ONLY = 1, 2  # flags of gpu/plugin/plugin_abi.h
here = pathlib.Path(__file__).resolve().parent


class Text:
    """Texts that the library reads after a callback has returned: the last one is kept."""

    def __init__(self) -> None:
        self.buffer: Any = None

    def address(self, text: str | None) -> int | None:
        if text is None:
            return None
        self.buffer = ctypes.create_string_buffer(text.encode("utf-8", "replace"))
        return ctypes.addressof(self.buffer)


def reason_of(error: BaseException) -> str:
    """One line: the exception, and the last line of the user's code that it passed."""
    if isinstance(error, PlumblineError):
        return str(error)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if pathlib.Path(f.filename).parent != here]
    frames = [f for f in frames if not f.filename.startswith("<frozen")]
    where = (
        f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno}, in {frames[-1].name})"
        if frames
        else ""
    )
    if isinstance(error, SyntaxError):
        where = f" ({os.path.basename(error.filename or '?')}:{error.lineno})"
        return f"SyntaxError: {error.msg}{where}"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' + text if text else ''}{where}"


def module_of(path: str) -> Any:
    """The module of FILE.py, imported once; a script ends at its first verdict, which is not for a worker. PlumblineError: there is no file."""
    if not os.path.exists(path):
        raise PlumblineError("no such file")
    file = pathlib.Path(path).resolve()
    if file.stem in sys.modules:
        return sys.modules[file.stem]
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except _declare.ImportEnds:
        pass
    except BaseException:
        del sys.modules[file.stem]  # asked again, it fails again
        raise
    return module


def variants_of(path: str) -> list[_declare.Variant]:
    """What a file, a module or a kernel that judge() has stored declares."""
    if path.endswith(_by_value.ENDING):
        return _by_value.read(path)
    if path.endswith(".py"):
        module_of(path)
    else:
        sys.path.insert(0, os.getcwd())
        importlib.import_module(path)
    if not _declare.declared:
        raise PlumblineError("declares no variant: @plumbline.variant(OPERATOR) above a function")
    return list(dict.fromkeys(_declare.declared))


def check_arrays(variant: _declare.Variant) -> None:
    """PlumblineError: this interpreter lacks the package whose arrays the variant takes."""
    package = variant.arrays
    if importlib.util.find_spec(package) is None:
        raise PlumblineError(
            f"variant {variant.name}: arrays={package!r}, and {sys.executable} has no {package}: install it there, or let "
            "PLUMB_PYTHON name an interpreter that has it"
        )


class Table:
    """The list of variants as the library reads it: it is kept as long as the process runs."""

    def __init__(self, variants: list[_declare.Variant]) -> None:
        from plumbline import _arguments

        types, tables = _arguments.Types(), _library.tables()
        self.text, self.kept, entries = Text(), [], []
        for variant in variants:
            check_arrays(variant)
            binding = _arguments.Binding(variant, types)
            supports, run = self._callbacks(binding)
            for storage in variant.storage:
                entries.append(self._entry(variant, storage, tables, supports, run))
        self.entries = (_library.Variant * len(entries))(*entries)
        self.plugin = _library.Plugin(
            tables["version"], ctypes.sizeof(_library.Variant), b"python", len(entries), self.entries
        )

    def _callbacks(self, binding: Any) -> tuple[Any, Any]:
        def supports(call: Any) -> int | None:
            return self.text.address(binding.refusal(call.contents))

        def run(call: Any) -> int | None:
            try:
                binding.run(call.contents)
            except BaseException as error:
                sys.stdout.flush()
                return self.text.address(reason_of(error))
            return None

        made = _library.CALLBACK(supports), _library.CALLBACK(run)
        self.kept.append(made)
        return made

    @staticmethod
    def _entry(
        variant: _declare.Variant, storage: str, tables: dict[str, Any], supports: Any, run: Any
    ) -> Any:
        for word, known, what in (
            (storage, tables["dtypes"], "storage"),
            (variant.arithmetic, tables["arithmetics"], "arithmetic"),
        ):
            if word not in known:
                raise PlumblineError(f"variant {variant.name}: {what}={word!r}; known: {', '.join(known)}")
        return _library.Variant(
            size=ctypes.sizeof(_library.Variant),
            dtype=tables["dtypes"][storage],
            op=variant.op.encode(),
            name=variant.name.encode(),
            device=0 if variant.device == "cpu" else 1,
            arithmetic=tables["arithmetics"][variant.arithmetic],
            flags=(0 if variant.reproducible else NOT_REPRODUCIBLE) | (FINITE_ONLY if variant.finite_only else 0),
            alignment=variant.alignment,
            supports=supports,
            run=run,
        )


opened: dict[bytes, Table] = {}
cannot_open: list[PlumblineError] = []
trouble_text = Text()


def open_plugin(path: bytes, trouble: Any) -> int | None:
    """The library's question: what does this path declare?"""
    try:
        if cannot_open:
            raise cannot_open[0]
        _frameworks.guard_imports()
        opened[path] = Table(variants_of(path.decode()))
        _frameworks.settle()
    except BaseException as error:
        trouble[0] = trouble_text.address(reason_of(error))
        return None
    return ctypes.addressof(opened[path].plugin)


class Executor:
    """The CPU executor for the judge: a session of Triton's that lasts as long as the process."""

    def __init__(self) -> None:
        from plumbline import simt

        self.session = simt.Judged()
        self.session.__enter__()
        self.text = Text()
        calls = (
            _library.BEGIN(lambda run: self.session.begin(run.contents)),
            _library.TEXT(lambda: self.text.address(self.session.next_finding())),
            _library.TEXT(lambda: self.text.address(self.session.why_void)),
        )
        self.structure = _library.Executor(*calls)


def executor() -> Executor | None:
    """Where the judge wants it. Without Triton or a compiler a list of variants cannot be had: opening says why."""
    if os.environ.get("PLUMB_DEVICE") != "simt":
        return None
    # with products fused into sums, threads that hold one sum round it differently, and the order of threads shows in the result
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "0")
    try:
        return Executor()
    except PlumblineError as error:
        cannot_open.append(error)
    return None


def main() -> int:
    _declare.in_worker = True
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable(all_threads=False)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # a pool of processes would outlive the call
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the judge's arrays lie on the same GPU
    made = executor()
    return _library.load().plumb_worker_main(
        _library.OPEN(open_plugin), ctypes.byref(made.structure) if made else None
    )


if __name__ == "__main__":
    sys.modules["plumbline.worker"] = sys.modules["__main__"]  # one module, whoever imports it
    sys.exit(main())
