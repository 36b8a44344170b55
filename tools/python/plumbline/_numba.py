"""Numba's CUDA kernels on the CPU executor: Numba's own compiler makes the PTX, and kernels take arrays of NumPy."""

from __future__ import annotations

import contextlib
import functools
import re
import struct
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plumbline import _executor
from plumbline._errors import PlumblineError
from plumbline._patches import replaced

if TYPE_CHECKING:
    from plumbline.simt import Session

THREADS_OF_FORALL = 128
FLOATS = {16: "<e", 32: "<f", 64: "<d"}


def encoded(kind: Any, value: Any) -> Iterator[bytes]:
    """The bytes of each parameter that a kernel's PTX has for one argument. PlumblineError: a type that has none here."""
    from numba.core import types as numba_types

    if isinstance(kind, numba_types.Array):
        words = (0, 0, value.size, value.itemsize, value.__array_interface__["data"][0], *value.shape, *value.strides)
        yield from (int(word).to_bytes(8, "little", signed=word < 0) for word in words)
    elif isinstance(kind, (numba_types.Boolean, numba_types.Integer)):
        size = getattr(kind, "bitwidth", 8) // 8
        yield (int(value) % (1 << 8 * size)).to_bytes(size, "little")
    elif isinstance(kind, numba_types.Float):
        yield struct.pack(FLOATS[kind.bitwidth], value)
    elif isinstance(kind, numba_types.Complex):
        form = FLOATS[kind.bitwidth // 2]
        yield from (struct.pack(form, value.real), struct.pack(form, value.imag))
    elif isinstance(kind, numba_types.BaseTuple):
        for k, v in zip(kind, value):
            yield from encoded(k, v)
    else:
        raise PlumblineError(f"the CPU executor takes no argument of Numba's type {kind}")


class Kernels:
    """Of one session: compiled once for each function and types of its arguments."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.modules: dict[Any, _executor.Module] = {}
        self.declared: dict[Any, Any] = {}  # types of the arguments, where @cuda.jit was given them

    def compile(self, dispatcher: Any, signature: Any) -> None:
        from numba.core import sigutils

        self.declared[dispatcher] = sigutils.normalize_signature(signature)[0]

    def call(self, dispatcher: Any, arguments: Any, grid: Any, block: Any, stream: Any, shared_bytes: int) -> None:
        from plumbline.simt import Memory

        kinds = self.declared.get(dispatcher) or tuple(map(dispatcher.typeof_pyval, arguments))
        module = self._module(dispatcher, kinds)
        kernel = next(iter(module.kernels))
        names = dispatcher.py_func.__code__.co_varnames
        self.session._launch(
            module,
            kernel,
            [Memory.of(n, a) for n, a in zip(names, arguments) if hasattr(a, "__array_interface__") and hasattr(a, "strides")],
            grid=grid,
            block=block,
            arguments=[part for k, a in zip(kinds, arguments) for part in encoded(k, a)],
            shared_bytes=shared_bytes,
        )

    def _module(self, dispatcher: Any, kinds: Any) -> _executor.Module:
        from numba import cuda

        if (dispatcher, kinds) not in self.modules:
            options, chip = dispatcher.targetoptions, divmod(self.session.chip, 10)
            debug, fast = bool(options.get("debug")), bool(options.get("fastmath"))
            text, _ = cuda.compile_ptx(
                dispatcher.py_func, kinds, debug=debug, opt=not debug, lineinfo=not debug, device=False, fastmath=fast, cc=chip
            )
            mangled = re.search(r"\.entry\s+(\w+)", text)
            if mangled is not None:
                text = text.replace(mangled.group(1), dispatcher.py_func.__name__)
            self.modules[dispatcher, kinds] = _executor.Module(text)
        return self.modules[dispatcher, kinds]


def _asked(dispatcher: Any, of_kernels: Any, *arguments: Any) -> None:
    of_kernels(dispatcher, *arguments)


def _for_all(launch: Any, *arguments: Any) -> None:
    """kernel.forall(n)(...)"""
    if launch.ntasks > 0:
        threads = launch.thread_per_block or THREADS_OF_FORALL
        launch.dispatcher[-(-launch.ntasks // threads), threads, 0, launch.sharedmem](*arguments)


@contextlib.contextmanager
def active(session: Session) -> Iterator[None]:
    """Launches inside go to the session."""
    from numba import config, cuda
    from numba.cuda import dispatcher

    kernels = Kernels(session)
    with contextlib.ExitStack() as stack:
        for owner, name, ours in (
            (dispatcher.CUDADispatcher, "call", functools.partialmethod(_asked, kernels.call)),
            (dispatcher.CUDADispatcher, "compile", functools.partialmethod(_asked, kernels.compile)),
            (dispatcher.CUDADispatcher, "disable_compile", lambda *_: None),
            (dispatcher.ForAll, "__call__", _for_all),
            (dispatcher, "get_current_device", lambda: types.SimpleNamespace(compute_capability=divmod(session.chip, 10))),
            (cuda, "synchronize", lambda: None),
            (config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0),
        ):
            stack.enter_context(replaced(owner, name, ours))
        yield
