"""Faults that users of Python kernels have met, each judged wrong, and right once it is repaired."""

import json
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
    [
        ("spmv_scipy", "scipy"),
        ("gemm_numpy", "numpy"),
        ("softmax_torch", "torch"),
        ("spmm_numba", "numba"),
        ("check_torch", "torch"),
        ("formulas_numpy", "numpy"),
        ("races_triton", "triton"),
        ("softmax_triton", "triton"),
    ],
)
def test_the_examples_run(examples, name, package):
    pytest.importorskip(package)
    if package == "triton":
        pytest.importorskip("torch")
        if pl.simt.missing():
            pytest.skip(pl.simt.missing())
    words = [sys.executable, str(examples / f"{name}.py")]
    done = subprocess.run(words, env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert any(word in done.stdout for word in (" 0 failed", ": passed", "race in total")), done.stdout


def test_the_cells_of_the_notebook_run(examples, monkeypatch):
    monkeypatch.chdir(examples)
    monkeypatch.syspath_prepend(str(examples))
    cells = json.loads((examples / "first_steps.ipynb").read_text(encoding="utf-8"))["cells"]
    names = {"__name__": "notebook"}
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    for number, text in enumerate(code):
        exec(compile(text, f"cell {number}", "exec"), names)
    assert len(code) > 5 and names["right"].passed and not names["wrong"].passed


@pytest.mark.parametrize(("name", "package", "passes"), [("test_transpose", "pytest", 4), ("test_hypothesis", "hypothesis", 3)])
def test_the_examples_of_pytest_run(examples, name, package, passes):
    pytest.importorskip(package)
    path = os.pathsep.join([str(pathlib.Path(pl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(examples / f"{name}.py")]
    if not pl._judge._is_installed():
        words += ["-p", "plumbline._pytest"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"{passes} passed" in done.stdout, done.stdout + done.stderr
