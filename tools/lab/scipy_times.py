#!/usr/bin/env python3
"""SciPy beside our host variants: the cases of a stored report of bench, timed once more by SciPy.

    bench --case gemv,spmv,spmm,gemm,log_softmax --drawn 16 --seed fresh --device cpu --warm --json host.json
    tools/lab/scipy_times.py host.json FOLDER_WITH_PROGRAMS [--seconds 0.05]

Sparse matrices are those of the cases, written by `dataset generate pattern`; dense operands are random.
spmv and spmm are `A @ X` of a csr_array, on one thread; gemv and gemm BLAS as scipy.linalg.blas calls it, on
as many threads as OMP_NUM_THREADS says; log_softmax scipy.special's. A time is the median of calls that fill
--seconds, at least 5, with what Python takes for a call. Prints a table: the speed of our fastest variant
beside SciPy's, geometric mean, 5th percentile and worst of the cases.
Exit 0: printed; 2: a report or a program that cannot be used, or no SciPy."""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
    import scipy.linalg.blas
    import scipy.sparse
    import scipy.special
except ModuleNotFoundError as missing:
    print(f"error: {missing.name} is not installed for {sys.executable}: apt-get install python3-scipy",
          file=sys.stderr)
    sys.exit(2)

LEAST_CALLS = 5


def refuse(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def parts_of(case):
    """("spmv", "f32", {"rows": "10", ...}) of a case's id."""
    found = re.fullmatch(r"(\w+)\.(f32|f64)\((.*)\)", case)
    if not found:
        refuse(f"{case}: not the id of a case")
    return found[1], found[2], dict(p.split("=", 1) for p in found[3].split(",") if "=" in p)


def fastest_of_ours(report):
    """{case: seconds of our fastest variant on the host}."""
    best = {}
    for r in report["results"]:
        if r["device"] == "cpu" and not r["library"] and "warm" in r:
            seconds = r["warm"]["median_s"]
            best[r["case"]] = min(seconds, best.get(r["case"], seconds))
    return best


def matrix_of(p, dtype, programs):
    """The sparse matrix of a case, as a csr_array."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "case.npz"
        words = ["generate", "pattern", p["pattern"], "--dtype", dtype, "-o", out]
        for name in ("rows", "cols", "density", "fill", "seed"):
            if name in p:
                words += [f"--{name}", p[name]]
        subprocess.run([programs / "dataset", *words], check=True, stdout=subprocess.DEVNULL)
        return scipy.sparse.csr_array(scipy.sparse.load_npz(out))


def product(p, dtype, programs, columns):
    """A @ X, with what beta adds; A sparse."""
    a = matrix_of(p, dtype, programs)
    x = random_array((a.shape[1], *columns), a.dtype)
    y = np.ones((a.shape[0], *columns), a.dtype)
    if float(p.get("beta", 0)) == 0:
        return lambda: a @ x
    return lambda: a @ x + y


def random_array(shape, kind):
    return np.random.default_rng(1).standard_normal(shape).astype(kind)


def call_of(op, dtype, p, programs):
    """What is timed, or None where SciPy has no such operator."""
    kind, letter = (np.float32, "s") if dtype == "f32" else (np.float64, "d")
    size = {name: int(p[name]) for name in ("rows", "cols", "m", "n", "k") if name in p and p[name].isdigit()}
    if op == "spmv":
        return product(p, dtype, programs, ())
    if op == "spmm":
        return product(p, dtype, programs, (size["n"],))
    if op == "log_softmax":
        x = random_array((size["rows"], size["cols"]), kind)
        return lambda: scipy.special.log_softmax(x, axis=1)
    if op == "gemv":
        a, x = random_array((size["rows"], size["cols"]), kind), random_array(size["cols"], kind)
        gemv = getattr(scipy.linalg.blas, letter + "gemv")
        return lambda: gemv(1.0, a.T, x, trans=1)  # a.T is stored by columns: no copy
    if op == "gemm":
        a, b = random_array((size["m"], size["k"]), kind), random_array((size["k"], size["n"]), kind)
        gemm = getattr(scipy.linalg.blas, letter + "gemm")
        return lambda: gemm(1.0, b.T, a.T)
    return None


def median_seconds(call, seconds):
    call()
    times = []
    while len(times) < LEAST_CALLS or sum(times) < seconds:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def row_of(op, dtype, ratios):
    """A line of the table; ratios: (SciPy's time over ours, case)."""
    speed = sorted(r for r, _ in ratios)
    mean, low = math.exp(sum(math.log(r) for r in speed) / len(speed)), speed[int(0.05 * len(speed))]
    return f"| {op}.{dtype} | {len(speed)} | {mean:.2f}x | {low:.2f}x | {speed[0]:.2f}x |"


def main():
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("report", type=Path)
    of.add_argument("programs", type=Path)
    of.add_argument("--seconds", type=float, default=0.05)
    arguments = of.parse_args()
    try:
        best = fastest_of_ours(json.loads(arguments.report.read_text()))
    except (OSError, KeyError, ValueError) as why:
        refuse(f"{arguments.report}: not a report of bench: {why}")
    if not (arguments.programs / "dataset").exists():
        refuse(f"{arguments.programs}: has no dataset (tools/plumb build)")
    ratios = {}
    for number, (case, ours) in enumerate(sorted(best.items()), 1):
        op, dtype, p = parts_of(case)
        call = call_of(op, dtype, p, arguments.programs)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(best)} cases", end="", file=sys.stderr)
        if call:
            ratios.setdefault((op, dtype), []).append((median_seconds(call, arguments.seconds) / ours, case))
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    print("| operator | cases | ours / SciPy | 5th % | worst |\n|---|---|---|---|---|")
    for (op, dtype), of_op in sorted(ratios.items()):
        print(row_of(op, dtype, of_op))
    for (op, dtype), of_op in sorted(ratios.items()):
        print(f"worst of {op}.{dtype}: {min(of_op)[0]:.2f}x {min(of_op)[1]}")


if __name__ == "__main__":
    main()
