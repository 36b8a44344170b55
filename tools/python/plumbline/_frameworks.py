"""Frameworks that have a current stream, and allocate on a GPU as they are told: torch and CuPy. In the worker."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from plumbline import _library, _patches, _stream


def _guard_torch(torch: Any) -> None:
    """What torch allocates from now on is guarded. RuntimeError: it has allocated already."""
    memory = torch.cuda.memory
    memory.change_current_allocator(
        memory.CUDAPluggableAllocator(_library.load()._name, "plumb_cuda_allocate", "plumb_cuda_free")
    )


def _guard_cupy(cupy: Any) -> None:
    library = _library.load()

    def allocate(size: int, _: int) -> int:
        memory = library.plumb_cuda_allocate(size, 0, cupy.cuda.get_current_stream().ptr)
        if not memory:
            raise MemoryError(f"{size} bytes")
        return memory

    def free(memory: int, _: int) -> None:
        library.plumb_cuda_free(memory, 0, 0, None)

    cupy.cuda.set_allocator(cupy.cuda.PythonFunctionAllocator(allocate, free).malloc)


def _stream_of_torch(torch: Any, stream: int) -> Any:
    if not torch.cuda.is_available():
        return contextlib.nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(stream))


def _stream_of_cupy(cupy: Any, stream: int) -> Any:
    return cupy.cuda.ExternalStream(stream)


# Of frameworks that have a current stream, and allocate as they are told: how they are told, and the context in which a stream is the current one.
GUARDS: dict[str, Callable[[Any], None]] = {"torch": _guard_torch, "cupy": _guard_cupy}
STREAMS: dict[str, Callable[[Any, int], Any]] = {"torch": _stream_of_torch, "cupy": _stream_of_cupy}
_guarded: set[str] = set()  # frameworks whose allocations are
_contexts: list[contextlib.ExitStack] = []  # of the call that this process is in: one, or none


def _guard_once(name: str, framework: Any) -> None:
    if name not in _guarded:
        _guarded.add(name)
        with contextlib.suppress(Exception):  # built without CUDA, or it has allocated before
            GUARDS[name](framework)


def _enter_stream(name: str, framework: Any) -> None:
    _contexts[-1].enter_context(STREAMS[name](framework, _stream.current_stream()))


def _arrived(name: str, framework: Any) -> None:
    _guard_once(name, framework)
    if _contexts:  # imported by the function itself
        _enter_stream(name, framework)


@functools.cache
def guard_imports() -> None:
    """In a worker whose kernels run on a GPU, before the user's file is imported: a file may allocate, or ask for the device, while it is
    imported itself."""
    if _library.load().plumb_cuda_is_here():
        for name in GUARDS:
            _patches.when_imported(name, functools.partial(_arrived, name))


def settle() -> None:
    """Lets Numba start its threads, which it does once in a process, and with them OpenMP's settings: they are no change of the first call's."""
    if "numba" in sys.modules:
        with contextlib.suppress(Exception):  # it has no layer of threads
            sys.modules["numba"].get_num_threads()


@contextlib.contextmanager
def on_stream(stream: int, wanted: str) -> Iterator[None]:
    """A call: the stream is the current one of those that are imported, and of `wanted`, which is imported where it is one of them."""
    _stream.streams.append(stream)
    try:
        with contextlib.ExitStack() as context:
            _contexts.append(context)
            for name in GUARDS:
                framework = sys.modules.get(name)
                if framework is not None:
                    _guard_once(name, framework)
                    _enter_stream(name, framework)
                elif wanted == name:
                    __import__(name)  # which enters, too
            yield
    finally:
        _contexts.clear()
        _stream.streams.pop()
