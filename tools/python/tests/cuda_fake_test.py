"""device="cuda" from end to end, on a driver whose device is memory of the host: no GPU and no framework is needed."""

import pathlib
import shutil
import subprocess

import plumbline as pl
import pytest

here = pathlib.Path(__file__).resolve().parent
FILE = str(here / "fake_kernels.py")
SMALL = "transpose.f32(rows=1..40,cols=1..40)"


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The folder with libcuda.so.1."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the driver that stands in for a GPU's")
    folder = tmp_path_factory.mktemp("driver")
    source, library = here / "fake_cuda" / "driver.c", folder / "libcuda.so.1"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return folder


@pytest.fixture(autouse=True)
def here_is_a_device(driver, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))


def judged(name, cases=SMALL, **choice):
    return pl.judge(f"{FILE}:{name}", cases=cases, listed=True, **{"device": "cuda", **choice})


RIGHT = [
    "waits",
    "launches",
    "launches_by_default",
    "returned",
    "returned_by_numpy",
    "allocates",
    "by_dlpack",
    "imports_late",
    "begins_threads_late",
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_pass(name):
    report = judged(name)
    assert report.passed and not report.skipped, str(report)


@pytest.mark.parametrize("storage", ["f64", "f16"])
def test_other_types(storage):
    report = judged("launches", SMALL.replace("f32", storage))
    assert report.passed and not report.skipped, str(report)


def test_vectors_and_numbers():
    report = judged("returned_number", "reduce.f32(n=1..300)")
    assert report.passed, str(report)


def test_sparse_matrices():
    pytest.importorskip("scipy")
    report = judged("product", "spmv.f32(rows=1..300)")
    assert report.passed, str(report)


def test_a_framework_has_the_stream_and_guarded_memory_from_its_import():
    report = pl.judge(f"{here / 'fake_framework.py'}:framework", cases=SMALL, listed=True, device="cuda")
    assert report.passed and not report.skipped, str(report)


FAULTS = [
    ("wrong_element", {"fail"}, ""),
    ("returned_untransposed", {"fail", "error"}, ""),
    ("returned_doubles", {"error"}, "returns B in float64, and it is float32"),
    ("does_not_wait", {"race"}, "did not wait for what the call's stream had to do before"),
    ("nobody_waits", {"race"}, "after all that the call's stream had to do"),
    ("leaves_some", {"unwritten"}, ""),
    ("writes_beyond", {"out_of_bounds"}, ""),
    ("writes_far_beyond", {"out_of_bounds"}, "past the end of the staged arrays"),
    ("writes_the_input", {"input_modified"}, ""),
    ("answer_by_address", {"fail"}, "new data, old answer?"),
    ("raises", {"error"}, "ValueError: no luck today (fake_kernels.py:"),
    ("reads_stale_memory", {"fail"}, ""),
    ("writes_beyond_what_it_allocates", {"out_of_bounds"}, "past the end of a workspace of 100 bytes"),
]


@pytest.mark.parametrize(("name", "verdicts", "words"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_each_fault_has_its_verdict(name, verdicts, words):
    report = judged(name)
    assert report.failures and not report.passed, str(report)
    failure = next((f for f in report.failures if f.verdict in verdicts), report.failures[0])
    assert failure.verdict in verdicts, str(report)
    assert words in "\n".join([failure.reason, *failure.detail]), str(report)
    assert "--device gpu" in failure.repro and f"user/{name}" in failure.repro


def test_what_a_race_names():
    failure = judged("does_not_wait").failures[0]
    assert failure.verdict == "race" and "B(0, 0)" in failure.reason, failure


def test_an_error_of_the_device_ends_the_child_and_the_next_case_has_a_new_one():
    report = judged("breaks", options=["--all"])
    assert {f.verdict for f in report.failures} == {"error"}, str(report)
    assert all("CUDA_ERROR_ILLEGAL_ADDRESS" in f.reason for f in report.failures), str(report)
    verdicts = [r.verdict for r in report.records]
    assert "pass" in verdicts[verdicts.index("error") :], verdicts


def test_where_no_device_is_named_kernels_run_on_the_gpu():
    report = pl.judge(f"{FILE}:waits", cases=SMALL, listed=True)
    assert report.passed and "fake device, sm_90" in report.to_json(), report.to_json()
    assert {r.variant for r in report.records} == {"user/waits"}


def test_a_driver_without_a_device_is_a_skip(monkeypatch):
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "0")
    report = judged("waits")
    assert {(r.verdict, r.reason) for r in report.skipped} == {("skip", "no CUDA device")}, str(report)
    assert not report.failures and not report.passed


def test_functions_travel_by_value():
    report = pl.judge("transpose", lambda A, B: None, device="cuda", cases=SMALL, listed=True)
    assert {f.verdict for f in report.failures} == {"unwritten"}, str(report)


def test_arrays_of_no_framework_name_those_that_there_are():
    report = pl.judge("transpose", lambda A: A.T, device="cuda", cases=SMALL, listed=True)
    assert "has no T: declare arrays='torch', 'cupy'" in report.failures[0].reason, str(report)


def test_the_stream_belongs_to_a_call():
    with pytest.raises(pl.PlumblineError, match="outside of a call"):
        pl.current_stream()


def test_arrays_of_a_gpu_are_for_kernels_of_a_gpu():
    with pytest.raises(pl.PlumblineError, match="arrays='cupy' lie on a GPU: device='cuda'"):
        pl.variant("transpose", arrays="cupy")(print)
    with pytest.raises(pl.PlumblineError, match="arrays of JAX cannot be written"):
        _binding(lambda A, B: None, "jax")


def _binding(function, arrays):
    from plumbline import _arguments, _declare

    declared = _declare.make("transpose", function, device="cuda", arrays=arrays)
    return _arguments.Binding(declared, _arguments.Types())
