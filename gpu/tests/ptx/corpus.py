"""What the corpora here share: cases, a launch of one on the CPU executor, what is wrong with it, and copies that lack one barrier each. Needs numpy."""

import ctypes
import re

import numpy as np

BARRIER = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:bar\.sync|barrier\.sync)\s[^\n;]*;", re.M)


class Unset:
    """An array that nothing has written."""

    def __init__(self, shape, kind=np.float32):
        self.array = np.full(shape, 99, dtype=kind)


def drawn(seed, *shape, kind=np.float32):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(kind)


def memory_of(argument):
    return argument.array if isinstance(argument, Unset) else argument


def number(argument):
    """A scalar argument as the 32 bits that kernels here take."""
    return ctypes.c_float(argument) if isinstance(argument, float) else ctypes.c_int(argument)


def fresh(executor, arguments, written):
    """Copies of the arrays among `arguments` (values by name) as arrays of the run, those named in `written` writable."""
    arrays = {}
    for name, argument in arguments.items():
        if isinstance(argument, (int, float)):
            continue
        arrays[name] = np.ascontiguousarray(memory_of(argument)).copy()
        executor.array(name, arrays[name].ctypes.data, arrays[name].nbytes, not isinstance(argument, Unset), name in written)
    return arrays


def wrong(expected, arrays, tolerance):
    """What is not as expected, as text; empty where all is."""
    for name, values in expected.items():
        got = arrays[name].astype(np.float64)
        error = np.abs(got - np.asarray(values, np.float64).reshape(got.shape)).max()
        if not error <= tolerance:
            return f"{name} is wrong by {error}"
    return ""


def without_each_barrier(text):
    """(line, copy of the text) for each barrier, which the copy lacks."""
    for m in BARRIER.finditer(text):
        blank = re.sub(r"[^\n]", " ", m.group(0))
        yield text.count("\n", 0, m.end()) + 1, text[: m.start()] + blank + text[m.end() :]
