"""The plug-in of pytest, in runs of its own."""

import json
import subprocess
import sys
import textwrap

import plumbline as pl
import pytest

SUITE = """
    import numpy as np
    import plumbline as pl

    @pl.variant("transpose")
    def right(A, B):
        np.copyto(B, A.T)

    @pl.cases("transpose.f32(rows=1..40,cols=1..40)", drawn=3)
    def test_right(case):
        case.judge(right)

    @pl.cases("transpose", storage="f64", drawn=2)
    def test_function(case):
        case.judge(lambda A: A.T)
"""
WRONG = """
    import plumbline as pl

    @pl.cases("transpose.f32(rows=2..40,cols=2..40)", drawn=2, seed=1)
    def test_wrong(case):
        case.judge(lambda A, B: None)
"""


def run(tmp_path, suite, *words):
    (tmp_path / "test_it.py").write_text(textwrap.dedent(suite))
    registered = [] if _is_registered() else ["-p", "plumbline._pytest"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *registered, *words, str(tmp_path)]
    return subprocess.run(
        command, env=pl._judge.environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )


def _is_registered():
    from importlib.metadata import entry_points

    found = entry_points()
    group = found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", ())
    return any(e.value == "plumbline._pytest" for e in group)


def test_each_case_is_a_test_and_its_id_the_tests(tmp_path):
    done = run(tmp_path, SUITE, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "test_right[transpose.f32(rows=" in done.stdout and "test_function[transpose.f64(rows=" in done.stdout
    )
    assert "5 passed" in done.stdout


def test_a_failing_case_shows_the_report_and_is_kept(tmp_path):
    done = run(tmp_path, WRONG, "--plumb-report", str(tmp_path / "kept"))
    assert done.returncode == 1 and "2 failed" in done.stdout
    assert "unwritten: user/lambda transpose.f32(" in done.stdout and "repro: " in done.stdout
    records = [json.loads(line) for line in (tmp_path / "kept" / "records.jsonl").read_text().splitlines()]
    assert [r["verdict"] for r in records] == ["unwritten"] * 2
    assert len(list((tmp_path / "kept").glob("*.html"))) == 2


def test_a_fresh_seed_is_one_for_all_processes(tmp_path):
    pytest.importorskip("xdist")
    done = run(tmp_path, SUITE, "-n", "2", "--plumb-seed=fresh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout and "--plumb-seed=" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--plumb-seed=abc",), 4, "ERROR: --plumb-seed=abc: a number or 'fresh'"),
        (("--plumb-report=/dev/null/x",), 4, "ERROR: --plumb-report=/dev/null/x: "),
        (("--plumb-device=tpu",), 4, "invalid choice: 'tpu'"),
    ],
)
def test_bad_values_are_told_in_a_line(tmp_path, words, code, told):
    done = run(tmp_path, SUITE, *words)
    assert done.returncode == code and told in done.stderr and "Traceback" not in done.stdout + done.stderr


def test_an_operator_that_is_not_there_is_told_without_a_traceback(tmp_path):
    done = run(tmp_path, SUITE.replace('"transpose", storage', '"transposed", storage'))
    assert done.returncode == 2 and "no operator is called 'transposed'" in done.stdout
    assert "_pytest.py" not in done.stdout, done.stdout


def test_a_device_that_is_not_there_skips(tmp_path):
    done = run(tmp_path, WRONG, "--plumb-device=cuda", "-rs")
    assert done.returncode == 0 and "2 skipped" in done.stdout and "no driver" in done.stdout
