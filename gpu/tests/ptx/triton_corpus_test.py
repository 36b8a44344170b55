#!/usr/bin/env python3
"""Triton's and Gluon's kernels on the CPU executor: right results and no finding. Their mutants: mutants_test.py.

    triton_corpus_test.py LIBRARY [--only NAME] [--chip 80,90] [--save FOLDER]

Exit 0; 1: a kernel fails; 77, skipped: Triton or numpy is not installed here.
"""

import argparse
import ctypes
import itertools
import os
import sys
import time
import warnings

try:
    warnings.simplefilter("ignore")
    import numpy as np
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)
import gluon_kernels
import triton_kernels
from corpus import SEEDS, fresh, memory_of, number, wrong
from executor import Executor

TYPES = {"float16": "*fp16", "float32": "*fp32", "int32": "*i32", "int8": "*i8"}


def keep_in(library):
    """Lets Triton keep what it compiles in the library's build folder: a kernel that it kept for another tree says lines of files there."""
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(library))), "triton"))


def compiled(case, chip):
    signature, constants = {}, dict(case.constants)
    for name in case.kernel.arg_names:
        argument = case.arguments.get(name)
        if argument is None:
            signature[name] = "constexpr"
        elif isinstance(argument, (int, float)):
            signature[name] = "fp32" if isinstance(argument, float) else "i32"
        else:
            signature[name] = TYPES[memory_of(argument).dtype.name]
    source = GluonASTSource if isinstance(case.kernel, GluonJITFunction) else ASTSource
    made = triton.compile(source(case.kernel, signature, constants), target=GPUTarget("cuda", chip, 32), options=dict(case.options))
    return made.asm["ptx"], made.metadata


def run(executor, case, module, metadata, seed=0):
    """(findings, arrays by name) of a launch of a module that was loaded."""
    kernel = executor.kernels(module)[0]
    executor.begin(seed=seed)
    arrays = fresh(executor, case.arguments, (*case.expected, "o", "c", "lock", "again"))
    values = [ctypes.c_void_p(arrays[name].ctypes.data) if name in arrays else number(case.arguments[name])
              for name in case.kernel.arg_names if name in case.arguments]
    size = max(getattr(metadata, "global_scratch_size", 0) * int(np.prod(case.grid)), 1)
    scratch = np.zeros(size + 128, np.uint8)
    place = (scratch.ctypes.data + 127) // 128 * 128
    executor.array("scratch", place, size, False, True)
    values.append(ctypes.c_void_p(place))
    values += [ctypes.c_void_p(0)] * (len(kernel["parameters"]) - len(values))
    executor.launch(module, kernel["name"], case.grid, (kernel["threads"],), metadata.shared, values)
    return [f for f in executor.findings() if not f["note"]], arrays


def line_of(place):
    with open(place["file"], encoding="utf-8") as file:
        return file.read().splitlines()[place["line"] - 1]


def judged(case, findings, arrays):
    """What is wrong, as text; empty where the kernel did what it should."""
    if not case.finding:
        return findings[0]["described"] if findings else wrong(case.expected, arrays, case.tolerance)
    found = [f for f in findings if f["kind"] == case.finding]
    if not found or len(found) != len(findings):
        return f"no {case.finding}, or more than that: {findings}"
    lines = [line_of(f[of]) for f in found for of in ("at", "other")]
    return "" if all(any(word in line for word in case.told or [""]) for line in lines) else f"told by other lines: {lines}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("library")
    options.add_argument("--only", default="")
    options.add_argument("--chip", default="80,90")
    options.add_argument("--save", default="")
    asked = options.parse_args()
    keep_in(asked.library)
    executor = Executor(asked.library)
    failed, ran = 0, 0
    for case in itertools.chain(gluon_kernels.cases(), triton_kernels.cases()):
        for chip in [int(c) for c in asked.chip.split(",")]:
            if asked.only not in case.name or chip not in case.chips:
                continue
            text, metadata = compiled(case, chip)
            if asked.save:
                with open(f"{asked.save}/{case.name}_{chip}.ptx", "w", encoding="utf-8") as file:
                    file.write(text)
            begun, module = time.time(), executor.load(text)
            said = next(filter(None, (judged(case, *run(executor, case, module, metadata, seed)) for seed in SEEDS)), "")
            ran += 1
            failed += said != ""
            print(f"{case.name} sm_{chip}: {'FAILED' if said else 'right'}, {time.time() - begun:.1f} s {said}", flush=True)
    print(f"{ran - failed} of {ran} right")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
