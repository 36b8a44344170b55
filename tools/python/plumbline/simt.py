"""Kernels of Triton, Numba, CuPy and Pallas without a GPU: launches run on the CPU executor, which checks every access.

    import plumbline as pl

    with pl.simt.session():
        add[grid](x, y, out, n, BLOCK=1024)     # tensors of torch on the CPU, or NumPy's arrays

The kernel's own compiler makes the PTX; what runs is that PTX, with its barriers and without those that the compiler left out. A race, an access
outside of a tensor, a read of what nothing wrote, a barrier that not all threads reach: each is told with the line of the source. See
docs/python.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from plumbline import _cupy, _executor, _numba, _pallas, _patches, _triton
from plumbline._errors import PlumblineError

__all__ = ["Finding", "Found", "Session", "missing", "session"]

CHIPS = tuple(f"sm_{chip}" for chip in _triton.SHARED_BYTES)
AUTOTUNE = ("first", "all")
ON_FINDING = ("raise", "collect")
# Modules whose import makes kernels known, and what makes their launches go to a session.
ROADS: dict[str, Callable[[Session], Any]] = {
    "triton": _triton.active,
    "numba.cuda": _numba.active,
    "cupy": _cupy.active,
    "jax.experimental.pallas": _pallas.active,
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel."""

    kind: str  # "race", "out of bounds", ... as `tools/plumb simt` names them
    kernel: str
    text: str  # one line
    file: str  # of the source, empty where it is not known
    line: int
    described: str  # in full, as reports show it
    facts: dict[str, Any] = dataclasses.field(repr=False)  # as `tools/plumb simt --json=FILE` writes it

    def __str__(self) -> str:
        return self.described.rstrip()

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Finding:
        at = facts.get("at", {})
        return cls(
            facts["kind"],
            facts["kernel"],
            facts["text"],
            at.get("file", ""),
            int(at.get("line", 0)),
            facts["described"],
            facts,
        )


class Found(AssertionError):
    """Raised by a launch, with what the executor has found in it."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes that a launch may touch: from the first to the last element of a tensor, gaps between its rows included."""

    name: str
    address: int
    size: int
    initialised: bool = True
    writable: bool = True

    @property
    def end(self) -> int:
        return self.address + self.size

    @classmethod
    def of(cls, name: str, tensor: Any, initialised: bool = True) -> Memory:
        """Of a tensor of torch's or an array of NumPy's. PlumblineError: it lies on a device."""
        tensor = _triton.as_argument(tensor)
        device = getattr(getattr(tensor, "device", None), "type", "cpu")
        if device != "cpu":
            raise PlumblineError(f"{name}: a tensor on {device}; the CPU executor takes tensors of the CPU")
        shape, strides = tuple(tensor.shape), tensor.stride()
        size = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        return cls(name, tensor.data_ptr(), size * tensor.element_size(), initialised)

    def merged(self, other: Memory) -> Memory:
        """Both, where they overlap: two views of one tensor, or a tensor that is passed twice."""
        begin, name = min(self.address, other.address), self.name
        if other.name not in name.split(" and "):
            name = f"{name} and {other.name}"
        size = max(self.end, other.end) - begin
        return Memory(name, begin, size, self.initialised or other.initialised, self.writable or other.writable)


def disjoint(memories: Iterable[Memory]) -> list[Memory]:
    """The same bytes in pieces that do not overlap, by address."""
    made: list[Memory] = []
    for memory in sorted((m for m in memories if m.size > 0), key=lambda m: m.address):
        if made and memory.address < made[-1].end:
            made[-1] = made[-1].merged(memory)
        else:
            made.append(memory)
    return made


class Session:
    """Launches on the CPU executor; made by session(). One at a time in a process.

    findings   of all launches so far, in order
    launches   how many there were
    """

    def __init__(self, race: bool, seed: int, chip: str, autotune: str, on_finding: str) -> None:
        for value, known, what in (
            (chip, CHIPS, "chip"),
            (autotune, AUTOTUNE, "autotune"),
            (on_finding, ON_FINDING, "on_finding"),
        ):
            if value not in known:
                raise PlumblineError(f"{what}={value!r}; known: {', '.join(known)}")
        self.race, self.seed, self.chip = race, seed, int(chip.removeprefix("sm_"))
        self.autotune, self.on_finding = autotune, on_finding
        self.findings: list[Finding] = []
        self.launches = 0
        self._others: list[Memory] = []  # beside the arguments of launches
        self._unset: set[tuple[int, int]] = set()  # (address, size)
        self._max_threads = 0  # of one launch; 0: any number
        self._late: list[Finding] = []  # that are raised when the session ends
        self._changes = contextlib.ExitStack()

    def __enter__(self) -> Session:
        global _open  # noqa: PLW0603
        if _open is not None:
            raise PlumblineError("pl.simt.session(): one is open")
        if (reason := missing()) is not None:
            raise PlumblineError(f"device='simt': {reason}")
        for name, active in ROADS.items():
            self._changes.callback(_patches.when_imported(name, functools.partial(self._change, active)))
        _open = self
        return self

    def _change(self, active: Callable[[Session], Any], _: Any) -> None:
        self._changes.enter_context(active(self))

    def __exit__(self, kind: Any, *_: Any) -> None:
        global _open  # noqa: PLW0603
        _open = None
        self._changes.close()
        if self._late and kind is None:
            raise Found(self._late)

    def unset(self, tensor: Any) -> Any:
        """Says that nothing has written the tensor yet: in the next launch that is given it, a read before a write is a finding. Returns it."""
        memory = Memory.of("tensor", tensor)
        self._unset.add((memory.address, memory.size))
        return tensor

    def reachable(self, tensor: Any, name: str = "tensor") -> Any:
        """Says that kernels may touch the tensor, which they reach by an address that is no argument: one in a table of pointers. Returns it."""
        self._others.append(Memory.of(name, tensor))
        return tensor

    def _taken(self, memory: Memory) -> Memory:
        """What is known of the memory of an argument."""
        known = (memory.address, memory.size) in self._unset
        self._unset.discard((memory.address, memory.size))
        return dataclasses.replace(memory, initialised=False) if known else memory

    def _memories(self, arguments: Iterable[Memory]) -> list[Memory]:
        """Of one launch: what is known of the arguments, and the others."""
        return disjoint([*map(self._taken, arguments), *self._others])

    def _launch(self, module: _executor.Module, kernel: str, given: list[Memory], *, later: bool = False, **shape: Any) -> None:
        """later: what is found is raised when the session ends, not by the launch."""
        _executor.begin(self.seed, self.chip, self.race, self._max_threads)
        for m in self._memories(given):
            _executor.add_array(m.name, m.address, m.size, m.initialised, m.writable)
        sys.stdout.flush()
        module.launch(kernel, **shape)
        found = [Finding.of(f) for f in _executor.findings() if not _triton.is_of_one_store(f)]
        self.launches += 1
        self.findings += found
        if self.on_finding == "raise":
            self._late += found if later else []
            if found and not later:
                raise Found(found)


def _bytes_of(rows: list[tuple[int, int]]) -> list[bytes]:
    return [ctypes.string_at(address, size) for address, size in rows]


class Judged(Session):
    """That of the judge's worker: its arrays are those of the call, and the judge takes what is found."""

    def __init__(self) -> None:
        super().__init__(True, 0, os.environ.get("PLUMB_CHIP") or "sm_90", "first", "collect")
        # each with its rows (address, bytes), where they held poison, and what it was
        self._of_call: list[tuple[Memory, list[tuple[int, int]], list[bytes]]] = []
        self.why_void: str | None = None

    def begin(self, run: Any) -> None:
        """Before each run of a variant: an ExecutorRun of the library's."""
        self.seed, self.race, self._max_threads = run.schedule, bool(run.check), run.max_threads
        self.findings, self.why_void, self._of_call = [], None, []
        for a in run.arrays[: run.count]:
            memory = Memory(a.name.decode(), a.data, a.bytes, bool(a.initialised), bool(a.writable))
            rows = [(a.data + i * a.step_bytes, a.row_bytes) for i in range(0 if memory.initialised else a.rows)]
            self._of_call.append((memory, rows, _bytes_of(rows)))

    def next_finding(self) -> str | None:
        """Races first: the first finding gives the verdict. What several launches of the run show is told once."""
        self.findings.sort(key=lambda f: f.kind != "race")
        if not self.findings:
            return None
        told = str(self.findings[0])
        self.findings = [f for f in self.findings if str(f) != told]
        return told

    def _memories(self, arguments: Iterable[Memory]) -> list[Memory]:
        known = [
            # what a function has put there since then is not the kernel's to write
            dataclasses.replace(m, initialised=m.initialised or _bytes_of(rows) != before)
            for m, rows, before in self._of_call
        ]
        others = [a for a in arguments if all(a.end <= m.address or m.end <= a.address for m in known)]
        return disjoint([*known, *others, *self._others])

    def _launch(self, module: _executor.Module, kernel: str, given: list[Memory], **shape: Any) -> None:
        try:
            super()._launch(module, kernel, given, **shape)
        except _executor.ExecutorError as error:
            self.why_void = str(error)
            raise


_open: Session | None = None


def open_session() -> Session:
    """That which launches go to. PlumblineError: none is open, and a kernel that one has compiled is launched."""
    if _open is None:
        raise PlumblineError("this kernel was compiled in a session of pl.simt.session(), which has ended")
    return _open


def session(
    *,
    race: bool = True,
    seed: int = 0,
    chip: str = "sm_90",
    autotune: str = "first",
    on_finding: str = "raise",
) -> Session:
    """Inside of `with`, kernel[grid](...) of Triton's runs on the CPU executor: tensors of torch on the CPU, or arrays of NumPy. So do launches of
    Numba's, of a RawKernel of CuPy's that was made inside, and pallas_call in programs of JAX for the CPU (docs/python.md).

    race        whether every access is checked for races, bounds and initialisation; without it only what shows by itself
    seed        the order in which threads run follows from it
    chip        for which is compiled: "sm_80", "sm_86", "sm_87", "sm_89" or "sm_90"
    autotune    "first": of an autotuned kernel the first configuration that its pruning leaves; "all": each of them runs, once
    on_finding  "raise": a launch raises Found (of Pallas's, the end of the session does); "collect": they are added to Session.findings, and the program goes on

    A tensor's bounds are its own, not those of the memory that it is a view of; tensors of one launch that overlap are one. What a tensor
    holds counts as written (Session.unset() says otherwise).

    Raises PlumblineError for a word that is not known; when it is entered, where none of these packages, no compiler or no executor is there.
    """
    return Session(race, seed, chip, autotune, on_finding)


def missing() -> str | None:
    """Why no kernel can run on the CPU executor here, or None."""
    packages = dict.fromkeys(name.split(".")[0] for name in ROADS)
    if not any(importlib.util.find_spec(name) for name in packages):
        return f"it runs kernels of {', '.join(packages)}, and none of these packages is installed"
    return _executor.missing()
