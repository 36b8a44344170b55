#!/usr/bin/env python3
"""Kernels of Numba and of NVRTC on the CPU executor: right results and no finding; without one barrier, a race that two lines of the source tell.

    languages_test.py LIBRARY LANGUAGE [--only NAME] [--save FOLDER]

LANGUAGE: numba or nvrtc. Exit 0; 1: a kernel fails; 77, skipped: the language is not installed here.
"""

import argparse
import importlib
import math
import sys
import time
import warnings

sys.dont_write_bytecode = True
warnings.simplefilter("ignore")


def run(executor, case, module, seed=0):
    """(findings, arrays by name) of a launch of a module that was loaded."""
    kernel = next(k for k in executor.kernels(module) if case.name in k["name"])
    executor.begin(seed=seed)
    arrays = fresh(executor, case.arguments, case.expected.keys() | {"part", "left", *case.written})
    executor.launch(module, kernel["name"], case.grid, case.block, case.shared, list(case.values(arrays)))
    return [f for f in executor.findings() if not f["note"]], arrays


def judged(case, findings, arrays):
    """What is wrong, as text; empty where the kernel did what it should."""
    return findings[0]["described"] if findings else wrong(case.expected, arrays, case.tolerance)


def shared_lines(case):
    """Lines of the source that touch shared memory."""
    with open(case.file, encoding="utf-8") as file:
        return {k for k, line in enumerate(file, 1) if line.rstrip().endswith(("# shared", "// shared"))}


def is_told(case, findings):
    """Whether a race is told by two lines that touch shared memory."""
    known = shared_lines(case)
    return any(f["kind"] == "race" and all(f[of]["file"] == case.file and f[of]["line"] in known for of in ("at", "other")) for f in findings)


def kernel_alone(text, name):
    """Of a module's kernels the one that is asked for."""
    return next(alone for full, alone in split_modules.each_alone(text) if name in full)


def attack_barriers(executor, case, text):
    """(barriers, [line of a barrier whose lack is not told])."""
    shape = (math.prod(case.block), math.prod(case.grid))

    def found(module, seed):
        findings = run(executor, case, module, seed)[0]
        return is_told(case, findings) if case.shared_lines_told else findings

    barriers, missed = attack(executor, text, shape, found, ("barrier left out",))
    return len(barriers), [m.line for m in missed]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("library")
    options.add_argument("language", choices=("numba", "nvrtc"))
    options.add_argument("--only", default="")
    options.add_argument("--save", default="")
    asked = options.parse_args()
    executor, ran, failed = Executor(asked.library), 0, 0
    for case in kernels_of(asked.language):
        if asked.only not in case.name:
            continue
        text, begun = kernel_alone(case.compiled(), case.name), time.time()
        if asked.save:
            with open(f"{asked.save}/{asked.language}_{case.name}.ptx", "w", encoding="utf-8") as file:
                file.write(text)
        module = executor.load(text)
        said = next(filter(None, (judged(case, *run(executor, case, module, seed)) for seed in SEEDS)), "")
        barriers, missed = (0, []) if said else attack_barriers(executor, case, text)
        said = said or (f"no race is told without the barriers of lines {missed}" if missed else "")
        ran, failed = ran + 1, failed + (said != "")
        print(f"{asked.language} {case.name}: {'FAILED' if said else 'right'}, {barriers} barriers, {time.time() - begun:.1f} s {said}", flush=True)
    print(f"{ran - failed} of {ran} right")
    return 1 if failed or not ran else 0


def kernels_of(language):
    """The cases; ends the program with 77 where the language is not here."""
    try:
        return list(importlib.import_module(f"{language}_kernels").cases())
    except ImportError as e:
        print(f"skipped: {e}")
        sys.exit(77)


try:
    import os

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../simt/ptx"))
    import split_modules
    from corpus import SEEDS, attack, fresh, wrong
    from executor import Executor
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)

if __name__ == "__main__":
    sys.exit(main())
