"""What the corpora here share: cases, a launch of one on the CPU executor, what is wrong with it, and which of its mutants nothing tells. Needs numpy."""

import ctypes

import mutants
import numpy as np

SEEDS = range(4)  # of runs that must be right: each has another order of threads


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


def attack(executor, text, shape, is_told, kinds=(), seeds=4):
    """(mutants, those that no seed tells) of a module. `shape`: the launch's threads in a block, and its blocks; `is_told(module, seed)`: whether a
    launch of the module, with the mutant in force, is told. Raises RuntimeError where no mutant is in force and it is told all the same."""
    text, made = mutants.schema(text, kinds, (shape[0] + 31) // 32, shape[1])
    if not made:
        return [], []
    module = executor.load(text)
    if is_told(module, 0):
        raise RuntimeError("the module with its mutants is told with none in force")
    missed = []
    for m in made:
        executor.set(module, mutants.VARIABLE, m.number)
        if not any(is_told(module, seed) for seed in range(seeds)):
            missed.append(m)
    executor.set(module, mutants.VARIABLE, 0)
    return made, missed
