"""The CPU executor for modules of PTX, by ctypes: libplumb_simt_ptx.so, whose functions are those of gpu/simt/ptx/library/simt_ptx.h."""

from __future__ import annotations

import ctypes as c
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from plumbline import _by_value, _library
from plumbline._errors import PlumblineError

LIBRARY = "libplumb_simt_ptx.so"
TREE = _library.PACKAGE / "simt"  # of a wheel: the executor's headers and its translator
FLAGS_OF_NEWER = {
    "-ftrivial-auto-var-init=pattern": 12
}  # of g++, with the first version that has it


class Shape(c.Structure):
    _fields_ = [
        ("grid", c.c_uint * 3),
        ("block", c.c_uint * 3),
        ("cluster", c.c_uint * 3),
        ("shared_bytes", c.c_size_t),
        ("cooperative", c.c_int),
    ]


class ExecutorError(PlumblineError):
    """What the executor itself cannot do: a module that does not compile, a kernel that is not there, memory that ran out."""


def missing() -> str | None:
    """Why no module can run here, or None."""
    try:
        _library.program(LIBRARY)
        if TREE.exists():
            _compiler()
    except PlumblineError as error:
        return str(error)
    return None


@functools.cache
def _compiler() -> tuple[str, int]:
    """A g++ of this machine, and its version. PlumblineError: there is none, or it is too old."""
    found = shutil.which(os.environ.get("CXX") or "g++")
    if found is None:
        raise PlumblineError(
            "the CPU executor compiles kernels with g++ 11 or later, and there is none (Debian: apt-get install g++)"
        )
    said = subprocess.run([found, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout
    version = said.split(".")[0].strip()
    if not version.isdigit() or int(version) < 11:
        raise PlumblineError(f"the CPU executor needs g++ 11 or later, and {found} is {said.strip() or 'none'}")
    return found, int(version)


def _build_folder() -> pathlib.Path:
    """Of a wheel: a folder of the user's, where compiled modules are kept."""
    compiler, version = _compiler()
    known = json.loads((TREE / "executor.json").read_text(encoding="utf-8"))
    known["compiler"] = compiler
    known["flags"] = [f for f in known["flags"] if FLAGS_OF_NEWER.get(f, 0) <= version]
    text = json.dumps(known)
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(cache) / "plumbline" / hashlib.sha256(text.encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    _by_value.store(folder / "simt_nvcc.json", text.encode())
    return folder


def _set_places(library: str) -> None:
    """Where the library looks for its translator, its interpreter and its build folder."""
    if TREE.exists():
        os.environ.setdefault("PLUMB_SIMT_ROOT", str(TREE))
        os.environ.setdefault("PLUMB_SIMT_BUILD", str(_build_folder()))
    elif (built := pathlib.Path(library).parents[1]) and (built / "simt_nvcc.json").exists():
        os.environ.setdefault("PLUMB_SIMT_BUILD", str(built))
    os.environ.setdefault("PLUMB_PYTHON", sys.executable)


@functools.cache
def _load() -> c.CDLL:
    path = _library.program(LIBRARY)
    _set_places(path)
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise PlumblineError(f"{path}: cannot be loaded: {error}") from None
    for name in ("error", "kernels", "findings"):
        getattr(library, f"plumb_ptx_{name}").restype = c.c_char_p
    library.plumb_ptx_load.restype = c.c_void_p
    library.plumb_ptx_kernels.argtypes = [c.c_void_p]
    library.plumb_ptx_array.argtypes = [c.c_char_p, c.c_void_p, c.c_size_t, c.c_int, c.c_int]
    library.plumb_ptx_remove.argtypes = [c.c_void_p]
    library.plumb_ptx_launch.argtypes = [c.c_void_p, c.c_char_p, c.POINTER(Shape), c.POINTER(c.c_void_p)]
    return library


def _error() -> ExecutorError:
    return ExecutorError(_load().plumb_ptx_error().decode("utf-8", "replace"))


def begin(seed: int, chip: int, race: bool, max_threads: int = 0) -> None:
    """Begins a run: arrays and findings are forgotten. `chip`: compute capability * 10; `race`: every access is checked; `max_threads`: of all
    launches of the run, 0: any number."""
    options = json.dumps({"seed": seed, "chip": chip, "check": race, "max_threads": max_threads}).encode()
    if _load().plumb_ptx_begin(options):
        raise _error()


class Module:
    """A module of PTX, compiled for this machine; what was compiled before is not compiled again."""

    def __init__(self, text: str) -> None:
        self.handle = _load().plumb_ptx_load(text.encode(), None)
        if not self.handle:
            raise _error()
        kernels = json.loads(_load().plumb_ptx_kernels(self.handle))
        self.kernels = {kernel["name"]: kernel for kernel in kernels}

    def parameters(self, kernel: str) -> list[dict[str, Any]]:
        """Of each: "name", "type", "bytes", "pointer", "read". ExecutorError: there is no such kernel."""
        if kernel not in self.kernels:
            raise ExecutorError(f"the module has no kernel {kernel!r}; it has {', '.join(self.kernels)}")
        return self.kernels[kernel]["parameters"]

    def launch(
        self,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[bytes],
        shared_bytes: int = 0,
        cluster: Sequence[int] = (0, 0, 0),
        cooperative: bool = False,
    ) -> None:
        """Runs the kernel to its end, or to what stops it; see findings(). `arguments`: the bytes of each parameter, in order. ExecutorError: there
        are not as many, or one has too few."""
        wanted = self.parameters(kernel)
        if len(arguments) != len(wanted):
            raise ExecutorError(f"{kernel} has {len(wanted)} parameters, and {len(arguments)} are given")
        for p, value in zip(wanted, arguments):
            if len(value) < p["bytes"]:
                raise ExecutorError(f"{kernel}: the parameter {p['name']} has {p['bytes']} bytes, and {len(value)} are given")
        shape = Shape(tuple(grid), tuple(block), tuple(cluster), shared_bytes, cooperative)
        buffers = [c.create_string_buffer(value, max(len(value), 1)) for value in arguments]
        pointers = (c.c_void_p * (len(buffers) + 1))(*[c.addressof(b) for b in buffers])
        if _load().plumb_ptx_launch(self.handle, kernel.encode(), c.byref(shape), pointers) > 1:
            raise _error()


def add_array(name: str, address: int, size: int, initialised: bool = True, writable: bool = True) -> None:
    """Makes `size` bytes of the host an array of the run."""
    _load().plumb_ptx_array(name.encode(), address, size, initialised, writable)


def remove_array(address: int) -> None:
    """Makes the array that begins there none."""
    _load().plumb_ptx_remove(address)


def findings() -> list[dict[str, Any]]:
    """Those since the last call, as `tools/plumb simt --json=FILE` writes them, each with "described" for people; notes are left out."""
    return [f for f in json.loads(_load().plumb_ptx_findings()) if not f["note"]]
