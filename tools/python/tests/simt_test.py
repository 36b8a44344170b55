"""Kernels of Triton on the CPU executor: launches in a session, and what the judge says of them."""

import json
import pathlib
import subprocess

import numpy as np
import plumbline as pl
import pytest

pytest.importorskip("triton")
if pl.simt.missing():
    pytest.skip(pl.simt.missing(), allow_module_level=True)

import triton_kernels as k  # noqa: E402

FILE = pathlib.Path(k.__file__)
LINES = FILE.read_text().splitlines()


def line_of(name):
    return next(i for i, line in enumerate(LINES, 1) if line.endswith(f"# {name}"))


def arrays(n=1000):
    draw = np.random.default_rng(1)
    x, y = (draw.standard_normal(n).astype(np.float32) for _ in range(2))
    return x, y, np.full(n, 7, np.float32)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_a_right_kernel_runs_and_nothing_is_found(chip):
    x, y, o = arrays()
    with pl.simt.session(chip=chip) as session:
        k.add[(4,)](x, y, o, 1000, BLOCK=256)
    assert session.launches == 1 and not session.findings
    np.testing.assert_array_equal(o, x + y)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.arange(100).to(kind)
        o = torch.empty_like(x)
        with pl.simt.session():
            k.scaled[lambda meta: (-(-100 // meta["BLOCK"]),)](x, o, 100, 0.5, BLOCK=64)
        assert torch.equal(o, (x.float() * 0.5).to(kind))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("reads_beyond", "out of bounds"), ("writes_beyond", "out of bounds"), ("adds_without_atomics", "race")],
)
def test_a_fault_is_told_with_its_line(name, kind):
    x, y, o = arrays()
    with pl.simt.session(), pytest.raises(pl.simt.Found) as raised:
        getattr(k, name)[(4,)](x, y, o, 1000, BLOCK=256)
    found = raised.value.findings[0]
    assert found.kind == kind and found.kernel == name
    lines = {found.line, found.facts.get("other", {}).get("line", found.line)}
    assert pathlib.Path(found.file).name == FILE.name and line_of(name) in lines, str(found)
    assert f"{FILE.name}:{line_of(name)}" in str(raised.value)


def test_threads_that_store_one_sum_of_a_reduction_are_no_race_and_others_are():
    at = {"file": "k.py", "line": 3, "by": "k.ptx:9", "block": [1, 0, 0], "thread": [6, 0, 0]}
    text = "shared 'dynamic shared memory' at byte 0 is written here and written there, and nothing orders the two"
    race = {"kind": "race", "text": text, "at": at, "other": {**at, "thread": [24, 0, 0]}}
    assert pl.simt._triton.is_of_one_store(race)
    for change in (
        {"other": {**at, "block": [2, 0, 0], "thread": [24, 0, 0]}},
        {"other": {**at, "by": "k.ptx:10", "thread": [24, 0, 0]}},
        {"text": text.replace("shared 'dynamic shared memory'", "'y'")},
        {"text": text.replace("is written here", "is read here")},
        {"kind": "out of bounds"},
    ):
        assert not pl.simt._triton.is_of_one_store({**race, **change})


def test_findings_may_be_collected():
    x, y, o = arrays()
    with pl.simt.session(on_finding="collect") as session:
        k.reads_beyond[(4,)](x, y, o, 1000, BLOCK=256)
        k.add[(4,)](x, y, o, 1000, BLOCK=256)
    assert [f.kind for f in session.findings] == ["out of bounds"] and session.launches == 2


def test_bounds_are_those_of_a_view():
    x, y, o = arrays()
    with pl.simt.session(), pytest.raises(pl.simt.Found, match="out of bounds"):
        k.add[(1,)](x[:100], y, o, 101, BLOCK=128)


def test_views_that_overlap_are_one():
    x, _, _ = arrays()
    expected = x[:500] * 2
    with pl.simt.session():
        k.add[(2,)](x[:500], x[:500], x[:500], 500, BLOCK=256)
    np.testing.assert_array_equal(x[:500], expected)


def test_what_nothing_wrote_is_told_where_the_caller_says_so():
    x, y, o = arrays()
    with pl.simt.session() as session:
        k.add[(4,)](x, y, o, 1000, BLOCK=256)
        with pytest.raises(pl.simt.Found, match="uninitialised|never|nothing wrote"):
            k.add[(4,)](session.unset(x), y, o, 1000, BLOCK=256)
        k.add[(4,)](x, y, session.unset(o), 1000, BLOCK=256)


def test_memory_behind_a_table_is_named():
    x, _, o = arrays(64)
    table = np.array([x.ctypes.data], np.int64)
    with pl.simt.session() as session:
        with pytest.raises(pl.simt.Found, match="out of bounds"):
            k.by_table[(1,)](table, o, BLOCK=64)
        session.reachable(x, "x")
        k.by_table[(1,)](table, o, BLOCK=64)
    np.testing.assert_array_equal(o, x)


def test_autotuning_takes_the_first_configuration_or_runs_each():
    x, y, o = arrays()
    for autotune, launches in (("first", 1), ("all", 4)):
        with pl.simt.session(autotune=autotune) as session:
            k.tuned[lambda meta: (-(-1000 // meta["BLOCK"]),)](x, y, o, 1000)
        assert session.launches == launches
        assert k.tuned.best_config.kwargs == {"BLOCK": 64} and not k.tuned.cache
        np.testing.assert_array_equal(o, x + y)


def test_what_a_session_changes_ends_with_it():
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    before, run = dict(vars(driver)), JITFunction.run
    with pl.simt.session():
        assert JITFunction.run is not run
        with pytest.raises(pl.PlumblineError, match="one is open"), pl.simt.session():
            pass
    assert vars(driver) == before and JITFunction.run is run


def test_bad_words_are_refused():
    for choice, words in (({"chip": "sm_70"}, "known: sm_80"), ({"autotune": "best"}, "known: first, all")):
        with pytest.raises(pl.PlumblineError, match=words):
            pl.simt.session(**choice)


SOFTMAX = "softmax.f32(n=1..40,d=1..300)"
GEMV = "gemv.f32(rows=67,cols=129)"


def judged(name, cases, **choice):
    return pl.judge(f"{FILE}:{name}", cases=cases, listed=True, fills="real", device="simt", **choice)


@pytest.mark.parametrize(("name", "cases"), [("softmax", SOFTMAX), ("gemv", GEMV)])
def test_right_kernels_pass(name, cases):
    report = judged(name, cases)
    assert report.passed, str(report)


@pytest.mark.parametrize(
    ("name", "cases", "verdicts", "words"),
    [
        ("stores_beyond_the_row", SOFTMAX, {"error", "out_of_bounds", "race"}, ""),
        ("counts_what_is_masked", SOFTMAX, {"fail"}, "bound"),
        ("split_without_atomics", GEMV, {"race"}, f"{FILE.name}:{line_of('gemv_parts')}"),
    ],
)
def test_wrong_kernels_fail(name, cases, verdicts, words):
    report = judged(name, cases)
    assert report.failures, str(report)
    failure = report.failures[0]
    assert failure.verdict in verdicts and words in "\n".join([failure.reason, *failure.detail]), str(report)
    assert "--device simt" in failure.repro and "--python" in failure.repro


def test_the_command_of_a_failure_names_the_chip():
    failure = judged("split_without_atomics", GEMV, fail_fast=True, chip="sm_80").failures[0]
    assert failure.verdict == "race" and failure.repro.startswith("env PLUMB_CHIP=sm_80 ")
    with pytest.raises(pl.PlumblineError, match="known: sm_80"):
        judged("softmax", SOFTMAX, chip="sm_70")


def test_reports_name_the_line():
    report = judged("split_without_atomics", GEMV, fail_fast=True)
    file, line = report.failures[0].place
    assert pathlib.Path(file).name == FILE.name and line == line_of("gemv_parts")
    found = json.loads(report.to_sarif())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert found["region"]["startLine"] == line
    assert "race" in report._repr_html_() and "race" in report.to_junit()


def test_a_failure_is_repeated_by_its_command():
    failure = judged("split_without_atomics", GEMV, fail_fast=True).failures[0]
    done = subprocess.run(failure.repro, shell=True, env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "race" in done.stdout, done.stdout + done.stderr


def test_a_declared_kernel_is_judged_where_it_says():
    assert pl.judge(k.softmax, cases="softmax.f32(n=1..40,d=1..40)", listed=True, fills="real", device="simt").passed
    with pytest.raises(pl.PlumblineError, match="declared for device='cuda'"):
        pl.judge(k.softmax, device="cpu")
