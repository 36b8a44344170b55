"""Kernels of Numba, CuPy and JAX's Pallas on the CPU executor."""

import importlib.util
import pathlib
import subprocess

import numpy as np
import plumbline as pl
import pytest

here = pathlib.Path(__file__).resolve().parent
if pl.simt.missing():
    pytest.skip(pl.simt.missing(), allow_module_level=True)

NEEDED = {"numba": ("numba",), "cupy": ("cupy",), "pallas": ("jax", "triton")}
CASES = "reduce.f32(n=1..300,kind=sum),transpose.f32(rows=1..40,cols=1..40),spmv.f32(rows=1..40),spmv.f64(rows=1..40),softmax.f32(n=1..40,d=1..41),rmsnorm.f32(n=1..40,d=1..41)"
KERNELS = {
    "numba": "right right_for_all right_with_types wrong_barrier wrong_bounds",
    "cupy": "right right_of_a_module wrong_barrier wrong_bounds wrong_number",
    "pallas": "right wrong_mask wrong_bounds",
}
# What a kernel that is called wrong_SOMETHING is found to be; one of several verdicts, some of its records.
VERDICTS = {"barrier": {"race"}, "bounds": {"error", "race"}, "number": {"fail"}, "mask": {"fail"}}
ALL = [(framework, name) for framework, names in KERNELS.items() for name in names.split()]


def file_of(framework):
    for package in NEEDED[framework]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    return here / f"simt_kernels_{framework}.py"


@pytest.mark.parametrize(("framework", "name"), ALL, ids=["-".join(pair) for pair in ALL])
def test_kernel(framework, name):
    file = file_of(framework)
    report = pl.judge(f"{file}:{name}", cases=CASES, listed=True, fills="real", device="simt", timeout=120)
    if name.startswith("right"):
        assert report.passed, str(report)
        return
    assert report.failures, str(report)
    found = {r.verdict for r in report.failures}
    assert found & VERDICTS[name.removeprefix("wrong_")], str(report)
    told = next((i for i, line in enumerate(file.read_text().splitlines(), 1) if line.endswith(f"# {name}")), None)
    if told is not None:
        assert f"{file.name}:{told}" in str(report), str(report)


def test_a_failure_is_repeated_by_its_command():
    failure = pl.judge(f"{file_of('numba')}:wrong_bounds", cases=CASES, listed=True, device="simt", fail_fast=True).failures[0]
    done = subprocess.run(failure.repro, shell=True, env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and failure.verdict.upper() in done.stdout, done.stdout + done.stderr


def test_launches_of_numba_in_a_session():
    file_of("numba")
    a, b = np.ones((5, 3), np.float32), np.zeros((3, 5), np.float32)
    with pl.simt.session() as session, pytest.raises(pl.simt.Found, match="out of bounds"):
        import simt_kernels_numba as k

        k.transpose(k.one_more, a, b)
    assert session.launches == 1


def test_findings_of_pallas_are_raised_when_the_session_ends():
    file_of("pallas")
    import simt_kernels_pallas as k

    x = np.ones((3, 5), np.float32)
    with pytest.raises(pl.simt.Found, match="out of bounds"), pl.simt.session():
        k.by_rows(k.row_and_more, x).block_until_ready()
    with pl.simt.session() as session:
        np.testing.assert_allclose(k.softmax(x), 0.2, rtol=1e-6)
    assert session.launches == 1 and not session.findings


def test_pallas_that_jax_interprets():
    file_of("pallas")
    import simt_kernels_pallas as k

    x = np.linspace(-3, 3, 35, dtype=np.float32).reshape(5, 7)
    assert pl.check(k.interpreted(x), pl.formulas.softmax, x).passed
