"""What the worker asks of CuPy, without CuPy: a current stream, and an allocator that can be changed."""

import types

state = types.SimpleNamespace(stream=0, allocate=None)


class ExternalStream:
    def __init__(self, ptr):
        self.ptr = ptr

    def __enter__(self):
        self.before, state.stream = state.stream, self.ptr

    def __exit__(self, *_):
        state.stream = self.before


class PythonFunctionAllocator:
    def __init__(self, malloc, free):
        self.malloc = lambda size: malloc(size, 0)


cuda = types.SimpleNamespace(
    ExternalStream=ExternalStream,
    PythonFunctionAllocator=PythonFunctionAllocator,
    set_allocator=lambda allocate: setattr(state, "allocate", allocate),
    get_current_stream=lambda: types.SimpleNamespace(ptr=state.stream),
)
