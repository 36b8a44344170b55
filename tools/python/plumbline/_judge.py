"""judge(): the program verify on a function, and its report."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from typing import Any

from plumbline import _by_value, _declare, _library, _report, simt
from plumbline._errors import PlumblineError
from plumbline._operators import Operator

DEFAULT_CHIP = "sm_90"
FORMS = ("json", "junit", "html", "markdown")
DEVICE_WORDS = {"cpu": "cpu", "cuda": "gpu", "simt": "simt"}  # as verify calls them


def operators() -> list[Operator]:
    """The operators that kernels can be judged as."""
    return [Operator(name) for name in _library.operators()]


def signature(op: str) -> dict[str, list[str]]:
    """The names by which an operator's "inputs", "outputs" and "scalars" reach a kernel, and its "dtypes". PlumblineError: no such operator."""
    return _library.signature(op)


def device_reason(device: str) -> str | None:
    """Why nothing can run on "cpu", "cuda" or "simt" here, or None."""
    if device == "cpu":
        return None
    if device == "simt":
        return simt.missing()
    if device == "cuda":
        return _library.load().plumb_cuda_missing().decode() or None
    raise PlumblineError(f"device={device!r}; known: {', '.join(_declare.DEVICES)}")


def _is_installed() -> bool:
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()}
    return str(_library.PACKAGE.parent) in places


def _python_path() -> str:
    """Where an interpreter finds this package, and what it finds now."""
    paths = [str(_library.PACKAGE.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(filter(None, paths)))


def command() -> str:
    """What a repro line begins with: the script where it is the first of its name, else the module."""
    script = shutil.which("plumb")
    if script and pathlib.Path(script).parent == pathlib.Path(sys.executable).parent:
        return "plumb"
    words = [sys.executable, "-m", "plumbline"]
    if not _is_installed():
        words = ["env", f"PYTHONPATH={_python_path()}", *words]
    return shlex.join(words)


def _device_of(kernel: Any, device: str | None) -> str | None:
    """Where a kernel is judged: as the caller says, else as it is declared; None: as verify chooses. PlumblineError: its declaration forbids it."""
    if device is not None and device not in _declare.DEVICES:
        raise PlumblineError(f"device={device!r}; known: {', '.join(_declare.DEVICES)}")
    if not isinstance(kernel, _declare.Variant):
        return device
    if device is not None and (device == "cpu") != (kernel.device == "cpu"):
        raise PlumblineError(
            f"device={device!r}: variant {kernel.name} is declared for device={kernel.device!r}; "
            "kernels for a GPU are declared by @plumbline.variant(..., device='cuda')"
        )
    return device or kernel.device


def environment() -> dict[str, str]:
    """Of verify: it starts workers by this interpreter, which must find this package."""
    made = dict(os.environ, PLUMB_PYTHON=sys.executable)
    made.setdefault("PLUMB_COMMAND", command())
    if not _is_installed():
        made["PYTHONPATH"] = _python_path()
    return made


def _path_of(variant: _declare.Variant) -> str:
    """What --python is told: the file that declares the variant, or a file that holds it."""
    module = sys.modules.get(variant.function.__module__) if hasattr(variant.function, "__module__") else None
    file = _by_value.file_of(module) if module else None
    if file and getattr(module, getattr(variant.function, "__qualname__", "?"), None) is variant:
        return file
    return _by_value.write(variant)


def _chosen(kernel: Any, function: Any, declaration: dict[str, Any]) -> tuple[str, list[str]]:
    """The path and the globs of variants."""
    if isinstance(kernel, str) and function is not None:
        if isinstance(function, _declare.Variant):
            function = function.function
        made = _declare.make(kernel, function, **declaration)
        return _by_value.write(made), [f"user/{made.name}"]
    if declaration:
        raise PlumblineError(
            f"{', '.join(declaration)}: said where a variant is declared, or with judge(OPERATOR, function, ...)"
        )
    if isinstance(kernel, _declare.Variant):
        return _path_of(kernel), [f"user/{kernel.name}"]
    if isinstance(kernel, str):
        path, _, name = kernel.partition(":")
        return path, [f"user/{name or '*'}"]
    raise PlumblineError(
        f"judge() takes a variant, OPERATOR and a function, or the path of a file, and no {type(kernel).__name__}"
    )


def judge(
    kernel: _declare.Variant | str,
    function: Callable[..., Any] | None = None,
    *,
    cases: str | None = None,
    tier: str = "smoke",
    drawn: int = 0,
    seed: int | str | None = None,
    fills: str | None = None,
    matrices: list[str] | tuple[str, ...] = (),
    listed: bool = False,
    device: str | None = None,
    chip: str = DEFAULT_CHIP,
    timeout: float | None = None,
    repeat: int | None = None,
    fail_fast: bool = False,
    options: list[str] | tuple[str, ...] = (),
    **declaration: Any,
) -> _report.Report:
    """Judges a kernel: judge(variant), judge("spmv", function, storage="f64"), or judge("my_kernels.py") and judge("my_kernels.py:mine").

    cases    globs over case ids, as `plumb verify --case`; default: those of the variant's operator
    tier     "smoke", "full" or "stress"
    drawn    so many cases that nobody listed, in place of the listed ones; the first failure is reduced
    seed     a number, or "fresh"
    fills    "exact,real,...": only these
    matrices files to judge sparse operators on
    listed   only cases of the contract's list: seven times fewer
    device   "cpu"; "simt": a kernel of Triton's on the CPU executor, which looks for races, too (docs/python.md); "cuda": on the GPU, and where
             there is none every record is a skip with the reason; default: as the variant is declared
    chip     on "simt", what Triton compiles for: "sm_80", "sm_86", "sm_87", "sm_89" or "sm_90"
    timeout  seconds a run (60)
    repeat   runs of each case, at least 2
    options  more words for verify
    The other arguments, with judge(OPERATOR, function), are those of variant().

    Returns a Report, also where kernels fail. Raises PlumblineError for bad input, and where the judge itself is broken.
    """
    if _declare.in_worker:
        raise _declare.ImportEnds
    if device is not None and isinstance(kernel, str) and function is not None:
        declaration.setdefault("device", device)
    device = _device_of(kernel, device)
    if device == "simt" and (reason := device_reason(device)):
        raise PlumblineError(f"device='simt': {reason}")
    if chip not in simt.CHIPS:
        raise PlumblineError(f"chip={chip!r}; known: {', '.join(simt.CHIPS)}")
    path, variants = _chosen(kernel, function, declaration)
    words = [
        _library.program("verify"),
        "--python",
        path,
        "--variant",
        ",".join(variants),
        "--no-color",
        "--tier",
        tier,
        *options,
    ]
    for option, value in (
        ("--case", cases),
        ("--device", DEVICE_WORDS[device] if device not in (None, "cpu") else None),
        ("--drawn", drawn or None),
        ("--seed", seed),
        ("--fill", fills),
        ("--timeout", timeout),
        ("--repeat", repeat),
        *(("--matrix", m) for m in matrices),
    ):
        words += [option, str(value)] if value is not None else []
    words += ["--listed"] if listed else []
    words += ["--fail-fast"] if fail_fast else []
    return run(words, {} if chip == DEFAULT_CHIP else {"PLUMB_CHIP": chip, "PLUMB_COMMAND": f"env PLUMB_CHIP={chip} {command()}"})


def run(words: list[str], more: dict[str, str] | None = None) -> _report.Report:
    """Runs verify with all reports, and reads them; `more`: of its environment. PlumblineError: its message where it could not judge."""
    with tempfile.TemporaryDirectory(prefix="plumbline-") as name:
        folder = pathlib.Path(name)
        for form in FORMS:
            words = [*words, f"--{form}", str(folder / f"{form}.txt")]
        done = subprocess.run(
            words, env={**environment(), **(more or {})}, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode in (2, 4):
            lines = [
                line for line in done.stderr.splitlines() if line.startswith(("error: ", "broken harness"))
            ]
            raise PlumblineError(
                lines[0].removeprefix("error: ") if lines else done.stderr.strip() or "verify cannot judge"
            )
        return _report.read(folder, done.returncode, done.stdout + done.stderr)
