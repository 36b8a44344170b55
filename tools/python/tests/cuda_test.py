"""device="cuda" on a real GPU: kernels of each framework that is installed, right and wrong. Most of the time goes into imports: -n auto."""

import importlib.util
import pathlib

import plumbline as pl
import pytest

here = pathlib.Path(__file__).resolve().parent
pytestmark = pytest.mark.skipif(pl.device_reason("cuda") is not None, reason=f"no GPU: {pl.device_reason('cuda')}")

CASES = (
    "transpose.*(rows=1..40,cols=1..40),gemm.*(m=30..48,n=30..40,k=30..100),"
    "spmv.f32(rows=1..40),softmax.*(n=1..40,d=1..300)"
)
# What a kernel that is called wrong_SOMETHING is found to be; one of several verdicts, some of its records.
VERDICTS = {
    "element": {"fail"},
    "bounds": {"out_of_bounds"},
    "bounds_of_memory": {"out_of_bounds"},
    "address": {"error"},
    "stream": {"race"},
    "default_stream": {"race"},
    "end": {"race"},
    "input": {"input_modified"},
    "memory": {"fail", "nondeterministic"},
    "answer_by_address": {"fail"},
    "answer_by_shape": {"fail"},
    "tf32": {"fail"},
    "type": {"error"},
}
KERNELS = {
    "torch": "right right_by_events right_returned right_with_memory right_by_cupy right_bf16 right_fp8 right_sparse wrong_element wrong_bounds "
    "wrong_bounds_of_memory wrong_stream wrong_default_stream wrong_end wrong_input wrong_memory wrong_answer_by_address wrong_tf32",
    "triton": "right right_without_torch_arrays right_softmax wrong_element wrong_bounds wrong_stream wrong_input wrong_answer_by_address",
    "cupy": "right right_as_array right_returned right_bits_of_bf16 right_sparse wrong_element wrong_bounds wrong_address wrong_stream "
    "wrong_input wrong_memory wrong_answer_by_address",
    "numba": "right right_by_interface right_on_its_stream wrong_element wrong_bounds wrong_stream wrong_input wrong_answer_by_address",
    "jax": "right right_compiled right_bf16 right_fp8 wrong_element wrong_type wrong_answer_by_shape",
}
ALL = [(framework, name) for framework, names in KERNELS.items() for name in names.split()]


@pytest.mark.parametrize(("framework", "name"), ALL, ids=["-".join(pair) for pair in ALL])
def test_kernel(framework, name):
    for package in {framework, "cupy" if name.endswith("by_cupy") else framework}:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    file = here / f"cuda_kernels_{framework}.py"
    report = pl.judge(f"{file}:{name}", cases=CASES, listed=True, device="cuda", timeout=120)
    if name.startswith("right"):
        assert report.passed, str(report)
    else:
        found = {r.verdict for r in report.failures}
        assert found & VERDICTS[name.removeprefix("wrong_")], str(report)
