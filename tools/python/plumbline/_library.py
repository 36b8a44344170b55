"""Where the programs lie, and libplumbline.so by ctypes. The structures are those of gpu/plugin/plugin_abi.h."""

from __future__ import annotations

import ctypes as c
import functools
import json
import os
import pathlib
from typing import Any

from plumbline._errors import PlumblineError

TARGETS = {"libplumbline.so": "plumbline", "libplumb_simt_ptx.so": "plumb_simt_ptx"}  # of CMake, where it is not bin/NAME
PACKAGE = pathlib.Path(__file__).resolve().parent


def program(name: str) -> str:
    """The path of a program or a library: in the package, in the installed tree that this file lies in, or in the clone's newest build."""
    tree = PACKAGE.parents[2]
    for inside in (PACKAGE / "bin" / name, tree / "bin" / name):
        if inside.exists():
            return str(inside)
    found = [p for folder in ("bin", "lib") for p in tree.glob(f"build/*/{folder}/{name}")]
    built = sorted(found, key=lambda p: p.stat().st_mtime)
    if built:
        return str(built[-1])
    raise PlumblineError(
        f"{name} is neither in {PACKAGE / 'bin'} nor built: pip install ., or tools/plumb build {TARGETS.get(name, 'bin/' + name)}"
    )


class Array(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("dtype", c.c_int32),
        ("rank", c.c_int32),
        ("shape", c.c_int64 * 4),
        ("stride", c.c_int64 * 4),
        ("ld", c.c_int64),
        ("is_output", c.c_int32),
        ("reserved", c.c_int32),
        ("data", c.c_void_p),
    ]


class Scalar(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_double)]


class Context(c.Structure):
    pass


WORKSPACE = c.CFUNCTYPE(c.c_void_p, c.POINTER(Context), c.c_int64)
EXPLAIN = c.CFUNCTYPE(None, c.POINTER(Context), c.c_char_p)
Context._fields_ = [
    ("size", c.c_uint32),
    ("reserved", c.c_uint32),
    ("stream", c.c_void_p),
    ("workspace", WORKSPACE),
    ("explain", EXPLAIN),
    ("owner", c.c_void_p),
]


class Call(c.Structure):
    _fields_ = [
        ("size", c.c_uint32),
        ("dtype", c.c_int32),
        ("op", c.c_char_p),
        ("arrays", c.POINTER(Array)),
        ("scalars", c.POINTER(Scalar)),
        ("array_count", c.c_int32),
        ("scalar_count", c.c_int32),
        ("context", c.POINTER(Context)),
    ]


CALLBACK = c.CFUNCTYPE(c.c_void_p, c.POINTER(Call))


class Variant(c.Structure):
    _fields_ = [
        ("size", c.c_uint32),
        ("dtype", c.c_int32),
        ("op", c.c_char_p),
        ("name", c.c_char_p),
        ("device", c.c_int32),
        ("arithmetic", c.c_int32),
        ("flags", c.c_uint32),
        ("alignment", c.c_int32),
        ("min_sm", c.c_int32),
        ("accumulate", c.c_int32),
        ("supports", CALLBACK),
        ("run", CALLBACK),
    ]


class Plugin(c.Structure):
    _fields_ = [
        ("version", c.c_uint32),
        ("variant_size", c.c_uint32),
        ("name", c.c_char_p),
        ("count", c.c_int32),
        ("variants", c.POINTER(Variant)),
    ]


class ExecutorArray(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("data", c.c_void_p),
        ("bytes", c.c_int64),
        ("rows", c.c_int64),
        ("row_bytes", c.c_int64),
        ("step_bytes", c.c_int64),
        ("initialised", c.c_int32),
        ("writable", c.c_int32),
    ]


class ExecutorRun(c.Structure):
    _fields_ = [
        ("schedule", c.c_uint64),
        ("max_threads", c.c_int64),
        ("check", c.c_int32),
        ("count", c.c_int32),
        ("arrays", c.POINTER(ExecutorArray)),
    ]


BEGIN = c.CFUNCTYPE(None, c.POINTER(ExecutorRun))
TEXT = c.CFUNCTYPE(c.c_void_p)


class Executor(c.Structure):
    """tools/python/worker_abi.h."""

    _fields_ = [("begin", BEGIN), ("next_finding", TEXT), ("why_void", TEXT)]


OPEN = c.CFUNCTYPE(c.c_void_p, c.c_char_p, c.POINTER(c.c_void_p))
STRUCTURES = {"variant": Variant, "call": Call, "context": Context, "array": Array, "scalar": Scalar}


@functools.cache
def load() -> c.CDLL:
    """The library that the judge names, else that of the package. Raises PlumblineError where its structures are not those above."""
    path = os.environ.get("PLUMB_LIBRARY") or program("libplumbline.so")
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise PlumblineError(f"{path}: cannot be loaded: {error}") from None
    for name in ("tables", "operators", "signature", "check", "cuda_missing", "cuda_order", "cuda_wait", "cuda_copy_rows"):
        getattr(library, f"plumb_{name}").restype = c.c_char_p
    library.plumb_signature.argtypes = [c.c_char_p]
    library.plumb_check.argtypes = [c.POINTER(Call), c.c_int, c.c_int]
    library.plumb_cuda_allocate.restype = c.c_void_p
    library.plumb_cuda_allocate.argtypes = [c.c_ssize_t, c.c_int, c.c_void_p]
    library.plumb_cuda_free.argtypes = [c.c_void_p, c.c_ssize_t, c.c_int, c.c_void_p]
    library.plumb_cuda_order.argtypes = [c.c_void_p, c.c_void_p]
    library.plumb_cuda_wait.argtypes = [c.c_void_p]
    library.plumb_cuda_copy_rows.argtypes = [
        *(c.c_void_p, c.c_int64, c.c_void_p, c.c_int64),  # to, from: addresses, bytes from row to row
        *(c.c_int, c.c_int64, c.c_int64, c.c_void_p),  # whether from the host, bytes of a row, rows, stream
    ]
    library.plumb_worker_main.argtypes = [OPEN, c.POINTER(Executor)]
    sizes = json.loads(library.plumb_tables())["sizes"]
    for name, structure in STRUCTURES.items():
        if sizes[name] != c.sizeof(structure):
            raise PlumblineError(
                f"{path}: plumb_{name} has {sizes[name]} bytes, this package knows one of {c.sizeof(structure)}: they are of two versions"
            )
    return library


@functools.cache
def tables() -> dict[str, Any]:
    """How types are numbered: "version", and the numbers of "formats", "dtypes" and "arithmetics" by name."""
    return json.loads(load().plumb_tables())


@functools.cache
def signature(op: str) -> dict[str, list[str]]:
    """The names by which an operator's "inputs", "outputs" and "scalars" reach a kernel, and its "dtypes". PlumblineError: there is none."""
    found = json.loads(load().plumb_signature(op.encode()))
    if "error" in found:
        raise PlumblineError(found["error"])
    return found


def operators() -> list[str]:
    """The names of all operators."""
    return json.loads(load().plumb_operators())
