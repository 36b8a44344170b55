"""Kernels of JAX's Pallas on the CPU executor: JAX lowers them to Triton's language, of which Triton's own compiler makes the PTX."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plumbline import _executor, _triton
from plumbline._errors import PlumblineError

if TYPE_CHECKING:
    import numpy as np

    from plumbline.simt import Session

ALIGNMENT = 128  # bytes, of arrays; Pallas promises its compiler 32


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A new array, of poison."""
    import numpy as np

    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.full(size + ALIGNMENT, 0xFF, np.uint8)  # NaN in every type of floats
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + size].view(dtype).reshape(shape)


class Kernel:
    """One pallas_call, compiled. PlumblineError: it is not for Triton, or Triton is not there."""

    def __init__(self, chip: int, context: Any, params: dict[str, Any]) -> None:
        from jax._src.pallas.triton import core, lowering

        given = params["compiler_params"]
        if given is not None and not isinstance(given, core.CompilerParams):
            raise PlumblineError(
                f"pallas_call with {type(given).__module__}.{type(given).__name__}: the CPU executor runs kernels for Triton "
                "(compiler_params=jax.experimental.pallas.triton.CompilerParams())"
            )
        made = lowering.lower_jaxpr_to_triton_module(params["jaxpr"], params["grid_mapping"], "cuda", chip, mlir_ctx=context)
        info = params["jaxpr"].debug_info
        # the file of the lines in it: JAX leaves it out
        place = re.sub(r".* at (.*):(\d+)$", r'"\1":\2:0', info.func_src_info)
        text = made.module.operation.get_asm(enable_debug_info=True).replace("#loc = loc(unknown)", f"#loc = loc({place})")
        warps, stages = (getattr(given, name, None) or usual for name, usual in (("num_warps", 4), ("num_stages", 3)))
        self.shared_bytes, self.module = _compiled(text, chip, warps, stages)
        self.name = next(iter(self.module.kernels))
        self.grid = (*made.grid, 1, 1)[:3]
        self.threads = self.module.kernels[self.name]["threads"] or 32 * warps
        # behind the arrays: scratch memory of the compiler's, which no kernel of these uses
        self.own = [bytes(p["bytes"]) for p in self.module.parameters(self.name)[len(params["jaxpr"].invars) :]]
        self.outputs = [(tuple(a.shape), a.dtype) for a in context_outputs(params)]
        self.aliases = {out: given for given, out in params["input_output_aliases"]}
        self.names = [n or f"argument {i}" for i, n in enumerate(info.arg_names or [""] * len(params["jaxpr"].invars))]

    def __call__(self, *inputs: Any) -> list[np.ndarray]:
        """Runs it on arrays; its outputs."""
        import numpy as np

        from plumbline.simt import Memory, open_session

        given = []
        for value in map(np.asarray, inputs):
            given.append(aligned(value.shape, value.dtype))
            given[-1][...] = value
        outputs = [given[self.aliases[i]] if i in self.aliases else aligned(*what) for i, what in enumerate(self.outputs)]
        memories = [Memory.of(n, a) for n, a in zip(self.names, given)]
        memories += [
            Memory.of(n, a, initialised=i in self.aliases) for i, (n, a) in enumerate(zip(self.names[len(given) :], outputs))
        ]
        open_session()._launch(
            self.module,
            self.name,
            memories,
            grid=self.grid,
            block=(self.threads, 1, 1),
            arguments=[*(a.ctypes.data.to_bytes(8, "little") for a in (*given, *outputs)), *self.own],
            shared_bytes=self.shared_bytes,
            later=True,
        )
        return outputs


def context_outputs(params: dict[str, Any]) -> Any:
    """Shapes and types of the outputs."""
    return [m.array_aval for m in params["grid_mapping"].block_mappings_output]


def _compiled(text: str, chip: int, warps: int, stages: int) -> tuple[int, _executor.Module]:
    """(bytes of shared memory, the module) of a module in Triton's language."""
    _triton.version()
    import triton
    from triton.backends.compiler import GPUTarget

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ttir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        made = triton.compile(path, target=GPUTarget("cuda", chip, 32), options={"num_warps": warps, "num_stages": stages})
    return made.metadata.shared, _executor.Module(made.asm["ptx"])


@contextlib.contextmanager
def active(session: Session) -> Iterator[None]:
    """What is lowered for the CPU inside calls the executor."""
    import jax
    from jax._src.interpreters import mlir
    from jax._src.pallas.pallas_call import pallas_call_p

    before = mlir._lowerings[pallas_call_p]

    def rule(context: Any, *nodes: Any, interpret: Any, **params: Any) -> Any:
        if interpret or tuple(context.module_context.platforms) != ("cpu",):
            return before.rule(context, *nodes, interpret=interpret, **params)
        kernel = Kernel(session.chip, context.module_context, params)
        results = [jax.ShapeDtypeStruct(*what) for what in kernel.outputs]
        return mlir.lower_fun(lambda *values: jax.pure_callback(kernel, results, *values))(context, *nodes)

    mlir.register_lowering(pallas_call_p, rule)
    try:
        yield
    finally:
        mlir._lowerings[pallas_call_p] = before
