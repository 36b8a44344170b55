"""Faults that users of Python kernels have met, each judged wrong, and right once it is repaired."""

import os
import pathlib
import subprocess
import sys

import plumbline as pl
import pytest

WRONG_AND_RIGHT = [
    ("zeros", "sums_in_its_own_type", "gemm.f32(m=1..40,n=1..40)"),
    ("sums_in_halves", "sums_in_its_own_type", "gemm.f32(m=1..40,n=1..40)"),
    ("assumes_tight_rows", "transpose", "transpose.f32(rows=1..40,cols=1..40)"),
    ("adds_to_what_is_there", "adds_to_zeros", "gemv.f32(rows=1..300,fill=real)"),
    ("right_for_ten_calls", "transpose", "transpose.f32(rows=1..40,cols=1..40)"),
    ("answer_by_address", "transpose", "transpose.f32(rows=1..40,cols=1..40)"),
    ("writes_beyond", "transpose", "transpose.f32(rows=1..40,cols=1..40)"),
    ("writes_the_input", "transpose", "transpose.f32(rows=1..40,cols=1..40)"),
]


@pytest.mark.parametrize(("wrong", "right", "cases"), WRONG_AND_RIGHT, ids=[w[0] for w in WRONG_AND_RIGHT])
def test_the_fault_fails_and_the_repaired_kernel_passes(kernels, wrong, right, cases):
    assert pl.judge(f"{kernels}:{wrong}", cases=cases, listed=True).failures
    repaired = pl.judge(f"{kernels}:{right}", cases=cases, listed=True)
    assert repaired.passed, str(repaired)


def test_a_kernel_that_crashes_does_not_fail_another(kernels):
    both = f"{kernels}:segfaults,user/transpose"
    report = pl.judge(both, cases="transpose.f32(rows=1..40,cols=1..40)", listed=True)
    verdicts = {(r.variant, r.verdict) for r in report.records}
    assert ("user/segfaults", "crash") in verdicts
    assert {v for name, v in verdicts if name == "user/transpose"} == {"pass"}


@pytest.mark.parametrize(
    ("name", "package"),
    [("spmv_scipy", "scipy"), ("gemm_numpy", "numpy"), ("softmax_torch", "torch"), ("spmm_numba", "numba")],
)
def test_the_examples_run(examples, name, package):
    pytest.importorskip(package)
    words = [sys.executable, str(examples / f"{name}.py")]
    done = subprocess.run(words, env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout


def test_the_example_of_pytest_runs(examples):
    path = os.pathsep.join([str(pathlib.Path(pl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(examples / "test_transpose.py")]
    if not pl._judge._is_installed():
        words += ["-p", "plumbline._pytest"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout + done.stderr
