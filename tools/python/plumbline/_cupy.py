"""CuPy's RawKernel and RawModule on the CPU executor: NVRTC, which needs no GPU, makes the PTX, and kernels take arrays of NumPy."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from plumbline import _executor
from plumbline._errors import PlumblineError
from plumbline._patches import replaced

if TYPE_CHECKING:
    from plumbline.simt import Session


def encoded(value: Any) -> bytes:
    """The bytes of an argument, as CuPy passes it. PlumblineError: a type that has none."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.ctypes.data.to_bytes(8, "little")
    if isinstance(value, (bool, int, float, complex)):
        value = np.asarray(value)[()]  # of 8 bytes, a bool of one, a complex number of 16
    if isinstance(value, np.generic):
        return value.tobytes()
    raise PlumblineError(f"a RawKernel on the CPU executor takes arrays of NumPy and numbers, and no {type(value).__name__}")


class RawModule:
    """In place of cupy.RawModule."""

    def __init__(
        self, *, code: str | None = None, options: Sequence[str] = (), backend: str = "nvrtc", name_expressions: Any = None, **_: Any
    ) -> None:
        if code is None or backend != "nvrtc":
            raise PlumblineError("the CPU executor takes CuPy's kernels as code for NVRTC")
        self.code, self.options, self.names = code, tuple(options), tuple(name_expressions or ())

    @functools.cached_property
    def compiled(self) -> tuple[_executor.Module, dict[str, str]]:
        """The module, and its kernels' names by name expressions."""
        from cupy import _environment
        from cupy.cuda import compiler

        from plumbline.simt import open_session

        includes = [f"-I{folder}/include" for folder in (_environment.get_cuda_path(), f"{compiler.__file__}/../../_core") if folder]
        options = (*self.options, f"-arch=compute_{open_session().chip}", "-lineinfo", "--device-as-default-execution-space", *includes)
        program = compiler._NVRTCProgram(self.code, "RawKernel.cu", name_expressions=self.names)
        text, names = program.compile(options)
        return _executor.Module(text.decode() if isinstance(text, bytes) else text), names or {}

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(self.code, name, module=self)


class RawKernel:
    """In place of cupy.RawKernel."""

    def __init__(self, code: str, name: str, options: Sequence[str] = (), backend: str = "nvrtc", *, module: Any = None, **more: Any) -> None:
        self.name, self.code = name, code
        self.module = module or RawModule(code=code, options=options, backend=backend)
        self.cooperative = bool(more.get("enable_cooperative_groups"))

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0, **_: Any) -> None:
        from plumbline.simt import Memory, open_session

        module, names = self.module.compiled
        kernel = names.get(self.name, self.name)
        parameters = [p["name"] for p in module.parameters(kernel)]
        open_session()._launch(
            module,
            kernel,
            [Memory.of(n, a) for n, a in zip(parameters, args) if hasattr(a, "ctypes")],
            grid=(*grid, 1, 1)[:3],
            block=(*block, 1, 1)[:3],
            arguments=[encoded(a) for a in args],
            shared_bytes=shared_mem,
            cooperative=self.cooperative,
        )


@contextlib.contextmanager
def active(session: Session) -> Iterator[None]:
    """Kernels that are made inside are those above."""
    import cupy

    with replaced(cupy, "RawKernel", RawKernel), replaced(cupy, "RawModule", RawModule):
        yield
