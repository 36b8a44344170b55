#!/usr/bin/env python3
"""Triton's kernels on the CPU executor: right results and no finding; with one barrier taken out at a time, a finding for most.

    triton_corpus_test.py LIBRARY [--only NAME] [--chip 80,90] [--mutants] [--save FOLDER]

Exit 0; 1: a kernel fails; 77, skipped: Triton or numpy is not installed here.
"""

import argparse
import ctypes
import re
import sys
import time
import warnings

try:
    warnings.simplefilter("ignore")
    import numpy as np
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton_kernels import Unset, cases
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)
from executor import Executor

TYPES = {"float16": "*fp16", "float32": "*fp32", "int32": "*i32", "int8": "*i8"}
BARRIER = re.compile(r"^\s*(?:bar\.sync|barrier\.sync)\s[^\n;]*;", re.M)


def memory_of(argument):
    return argument.array if isinstance(argument, Unset) else argument


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
    made = triton.compile(ASTSource(case.kernel, signature, constants), target=GPUTarget("cuda", chip, 32), options=dict(case.options))
    return made.asm["ptx"], made.metadata


def run(executor, case, text, metadata, seed=0):
    """(findings, arrays by name) of a launch."""
    module = executor.load(text)
    kernel = executor.kernels(module)[0]
    executor.begin(seed=seed)
    values, arrays = [], {}
    for name in case.kernel.arg_names:
        argument = case.arguments.get(name)
        if argument is None:
            continue
        if isinstance(argument, (int, float)):
            values.append(ctypes.c_float(argument) if isinstance(argument, float) else ctypes.c_int(argument))
            continue
        arrays[name] = np.ascontiguousarray(memory_of(argument)).copy()
        executor.array(name, arrays[name].ctypes.data, arrays[name].nbytes, not isinstance(argument, Unset), name in (*case.expected, "o", "lock"))
        values.append(ctypes.c_void_p(arrays[name].ctypes.data))
    size = max(getattr(metadata, "global_scratch_size", 0) * int(np.prod(case.grid)), 1)
    scratch = np.zeros(size + 128, np.uint8)
    place = (scratch.ctypes.data + 127) // 128 * 128
    executor.array("scratch", place, size, False, True)
    values.append(ctypes.c_void_p(place))
    values += [ctypes.c_void_p(0)] * (len(kernel["parameters"]) - len(values))
    executor.launch(module, kernel["name"], case.grid, (kernel["threads"],), metadata.shared, values)
    return [f for f in executor.findings() if not f["note"]], arrays


def wrong(case, arrays):
    """What is not as expected, as text; empty where all is."""
    for name, expected in case.expected.items():
        got = arrays[name].astype(np.float64)
        error = np.abs(got - np.asarray(expected, np.float64).reshape(got.shape)).max()
        if not error <= case.tolerance:
            return f"{name} is wrong by {error}"
    return ""


def judged(case, findings, arrays):
    """What is wrong, as text; empty where the kernel did what it should."""
    if case.finding:
        return "" if [f["kind"] for f in findings] == [case.finding] else f"no {case.finding}, or more than that: {findings}"
    return findings[0]["described"] if findings else wrong(case, arrays)


def without_each_barrier(text):
    """(line, copy of the text) for each barrier, which the copy lacks."""
    for m in BARRIER.finditer(text):
        blank = re.sub(r"[^\n]", " ", m.group(0))
        yield text.count("\n", 0, m.end()) + 1, text[: m.start()] + blank + text[m.end() :]


def attack(executor, case, text, metadata):
    """(barriers, found, lines of those that were not) of copies that lack one each."""
    count, missed = 0, []
    for line, mutant in without_each_barrier(text):
        count += 1
        found = any(run(executor, case, mutant, metadata, seed)[0] for seed in (0, 1))
        if not found:
            missed.append(line)
    return count, count - len(missed), missed


def main():
    options = argparse.ArgumentParser()
    options.add_argument("library")
    options.add_argument("--only", default="")
    options.add_argument("--chip", default="80,90")
    options.add_argument("--mutants", action="store_true")
    options.add_argument("--save", default="")
    asked = options.parse_args()
    executor = Executor(asked.library)
    failed, ran, barriers, found = 0, 0, 0, 0
    for case in cases():
        for chip in [int(c) for c in asked.chip.split(",")]:
            if asked.only not in case.name or chip not in case.chips:
                continue
            text, metadata = compiled(case, chip)
            if asked.save:
                with open(f"{asked.save}/{case.name}_{chip}.ptx", "w", encoding="utf-8") as file:
                    file.write(text)
            begun = time.time()
            findings, arrays = run(executor, case, text, metadata)
            said = judged(case, findings, arrays)
            ran += 1
            failed += said != ""
            print(f"{case.name} sm_{chip}: {'FAILED' if said else 'right'}, {time.time() - begun:.1f} s {said}", flush=True)
            if asked.mutants and not said and not case.finding:
                count, hit, missed = attack(executor, case, text, metadata)
                barriers, found = barriers + count, found + hit
                print(f"  {hit} of {count} missing barriers found{'; not those of lines ' + str(missed) if missed else ''}", flush=True)
    print(f"{ran - failed} of {ran} right" + (f"; {found} of {barriers} missing barriers found" if asked.mutants else ""))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
