"""Triton on the CPU executor: a driver whose launches run the PTX that Triton's own compiler made, on memory of the host."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plumbline import _executor
from plumbline._errors import PlumblineError
from plumbline._patches import replaced

if TYPE_CHECKING:
    from plumbline.simt import Session

SHARED_BYTES = {80: 166912, 86: 101376, 87: 166912, 89: 101376, 90: 232448}  # of a block at most, by chip
MULTIPROCESSORS = 4  # what kernels are told that size their grid by it
FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


class HostArray:
    """A NumPy array as Triton takes one: an address and a type."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def data_ptr(self) -> int:
        return self.array.__array_interface__["data"][0]

    def element_size(self) -> int:
        return self.array.itemsize

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.array.itemsize for s in self.array.strides)


def as_argument(value: Any) -> Any:
    """A NumPy array as a HostArray; everything else as it is."""
    return HostArray(value) if hasattr(value, "__array_interface__") and hasattr(value, "strides") else value


def flat(name: str, kind: Any, value: Any) -> Iterator[tuple[str, str, Any]]:
    """(name, type, value) of what a kernel's PTX has for one argument: none for a constant, several for a tuple or a descriptor."""
    if isinstance(kind, tuple):
        for i, (k, v) in enumerate(zip(kind, value)):
            yield from flat(f"{name}[{i}]", k, v)
    elif kind.startswith("tensordesc"):
        from triton.backends.driver import decompose_descriptor, expand_signature

        for k, v in zip(expand_signature([kind], None, ""), decompose_descriptor(value)):
            yield name, k, v
    elif kind != "constexpr":
        yield name, kind, value


def encoded(name: str, kind: str, value: Any, size: int) -> bytes:
    """The bytes of one parameter. PlumblineError: a type that has none here."""
    if kind.startswith("*"):
        return (value.data_ptr() if hasattr(value, "data_ptr") else int(value or 0)).to_bytes(8, "little")
    if kind.startswith(("i", "u")):
        return (int(value) % (1 << 8 * size)).to_bytes(size, "little")
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    if kind in FLOATS:
        return struct.pack(FLOATS[kind], value)
    raise PlumblineError(f"parameter {name}: the CPU executor takes no argument of Triton's type {kind!r}")


def is_of_one_store(finding: dict[str, Any]) -> bool:
    """Whether a race is between threads of one block in one store to shared memory, which the compiler makes. Its reductions have such: threads
    that hold the same data round the same sum differently where products are fused into sums, and each stores it. An author can neither see nor
    mend them; a barrier that lacks is also a race of a store and a read."""
    at, other = finding["at"], finding.get("other")
    if finding["kind"] != "race" or other is None or "block" not in at or "block" not in other:
        return False
    one_place = at["block"] == other["block"] and at.get("by") == other.get("by") and at.get("by") is not None
    stores = re.match(r"shared '.*' at byte \d+ is written here and written there,", finding["text"])
    return one_place and stores is not None


class Launcher:
    """Of one compiled kernel, which Triton keeps: its launches go to the session that is open. Called as Triton calls a launcher."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.metadata = metadata
        self.signature = [(str(name), kind) for name, kind in source.signature.items()]
        if getattr(metadata, "tensordesc_meta", None):
            raise PlumblineError(
                f"{metadata.name}: a TensorDescriptor of the host's is decoded by hardware from sm_90 on, which a session "
                "does not offer: pl.simt.session(chip='sm_80'), or tl.make_tensor_descriptor() in the kernel"
            )

    def __call__(self, x: int, y: int, z: int, stream: Any, function: Any, *rest: Any) -> None:
        _, launch_metadata, enter, leave, *values = rest
        if enter is not None:
            enter(launch_metadata)
        if x * y * z > 0:  # else nothing is launched, as on a device
            self._launch((x, y, z), *function, values)
        if leave is not None:
            leave(launch_metadata)

    def _launch(self, grid: tuple[int, ...], module: _executor.Module, kernel: str, values: list[Any]) -> None:
        from plumbline.simt import Memory, open_session

        m, ctas = self.metadata, getattr(self.metadata, "num_ctas", 1)
        given = [p for (name, kind), v in zip(self.signature, values) for p in flat(name, kind, v)]
        parameters = module.parameters(kernel)
        arguments = [encoded(n, t, v, p["bytes"]) for p, (n, t, v) in zip(parameters, given)]
        memories = [Memory.of(n, v) for n, t, v in given if t.startswith("*") and hasattr(v, "data_ptr")]
        size = getattr(m, "global_scratch_size", 0) * grid[0] * grid[1] * grid[2] * ctas
        with _scratch(size) as scratch:
            if size:
                memories.append(Memory("scratch memory of the compiler's", scratch, size, initialised=False))
            # behind the kernel's own parameters: that memory, and memory for profiles
            own = [scratch.to_bytes(8, "little"), bytes(8)]
            open_session()._launch(
                module,
                kernel,
                memories,
                grid=(grid[0] * ctas, grid[1], grid[2]),
                block=(module.kernels[kernel]["threads"] or 32 * m.num_warps, 1, 1),
                cluster=(ctas, 1, 1) if ctas > 1 else (0, 0, 0),
                arguments=arguments + own[: len(parameters) - len(arguments)],
                shared_bytes=m.shared,
                cooperative=bool(getattr(m, "launch_cooperative_grid", False)),
            )


@contextlib.contextmanager
def _scratch(size: int) -> Iterator[int]:
    """The address of so many bytes, aligned as hardware wants descriptors; 0 for none."""
    import numpy as np

    memory = np.zeros(size + 128 if size else 0, np.uint8)
    yield -(-memory.ctypes.data // 128) * 128 if size else 0


class _Utils:
    """What Triton asks of a device."""

    def __init__(self, chip: int) -> None:
        self.chip = chip
        self.loading: Any = None  # the compiled kernel that load_binary() is about

    def get_device_properties(self, device: Any) -> dict[str, int]:
        return {
            "max_shared_mem": SHARED_BYTES[self.chip],
            "multiprocessor_count": MULTIPROCESSORS,
            "max_num_regs": 65536,
            "warpSize": 32,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: Any) -> tuple[Any, Any, int, int, int]:
        """(module, function, registers, spills, threads at most): the PTX, which Triton keeps beside the binary."""
        module = _executor.Module(self.loading.asm["ptx"])
        return module, (module, name), 0, 0, 1024

    def unload_module(self, module: Any) -> None:
        """Modules stay loaded."""


def _driver(session: Session) -> Any:
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        def __init__(self) -> None:
            self.utils = _Utils(session.chip)
            self.launcher_cls = Launcher

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            raise PlumblineError("the CPU executor compiles no launchers")

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", session.chip, 32)

        def get_current_device(self) -> str:
            """Kernels are kept by it: those of a GPU are others."""
            return f"plumbline sm_{session.chip}"

        def set_current_device(self, device: Any) -> None:
            """There is one."""

        def get_current_stream(self, device: Any = None) -> int:
            return 0

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            raise PlumblineError("kernels are not timed on the CPU executor: triton.testing.do_bench() needs a GPU")

        def get_benchmarker(self) -> Any:
            return _run_once

    return Driver()


def _run_once(call: Any, **_: Any) -> list[float]:
    """In place of a benchmark: each configuration runs, and the first is the fastest."""
    call()
    return [float(next(_runs))] * 3


_runs = itertools.count()


def _takes_numpy(run: Any) -> Any:
    @functools.wraps(run)
    def with_arrays(self: Any, *arguments: Any, **named: Any) -> Any:
        named = {n: v if n in ("grid", "warmup") else as_argument(v) for n, v in named.items()}
        return run(self, *map(as_argument, arguments), **named)

    return with_arrays


def _tells_kernel(driver: Any, init: Any) -> Any:
    def init_handles(self: Any) -> None:
        driver.utils.loading = self
        init(self)

    return init_handles


def _tunes(all_configurations: bool, run: Any) -> Any:
    """Autotuner.run with the first configuration that the user's pruning leaves, or with each of them once; what it finds is not kept."""

    def tuned(self: Any, *arguments: Any, **named: Any) -> Any:
        kept = dict(self.__dict__)
        self.cache, self._do_bench, self.cache_results = {}, _run_once, False
        self.__dict__.pop("do_bench", None)
        if not all_configurations:
            prune = self.prune_configs
            self.prune_configs = lambda *a, **n: prune(*a, **n)[:1]
            self._do_bench = lambda call, **_: [0.0] * 3
        try:
            return run(self, *arguments, **named)
        finally:
            best = self.__dict__.get("best_config")
            self.__dict__.clear()
            self.__dict__.update(kept, best_config=best)

    return tuned


def version() -> tuple[int, ...]:
    """Triton's. PlumblineError: it is not installed, or older than 3.0."""
    try:
        import triton
    except ImportError:
        raise PlumblineError("the package triton is not installed, which compiles these kernels") from None
    found = tuple(int(n) for n in triton.__version__.split("+")[0].split(".")[:2] if n.isdigit())
    if found < (3, 0):
        raise PlumblineError(f"device='simt' needs Triton 3.0 or later, and this is {triton.__version__}")
    return found


@contextlib.contextmanager
def active(session: Session) -> Iterator[None]:
    """Launches inside go to the session. PlumblineError: this Triton is too old."""
    version()
    from triton.compiler.compiler import CompiledKernel
    from triton.runtime import driver as config
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    ours = _driver(session)
    slot = "_active" if "_active" in vars(config) else "active"
    before = vars(config)[slot]
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, config, slot, before)
        config.set_active(ours)
        stack.enter_context(replaced(JITFunction, "run", _takes_numpy(JITFunction.run)))
        stack.enter_context(replaced(CompiledKernel, "_init_handles", _tells_kernel(ours, CompiledKernel._init_handles)))
        stack.enter_context(replaced(Autotuner, "run", _tunes(session.autotune == "all", Autotuner.run)))
        yield
