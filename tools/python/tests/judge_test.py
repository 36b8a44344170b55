"""judge() on kernels right and wrong: the verdict of each fault."""

import json
import os
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import plumbline as pl
import pytest

SMALL = "transpose.f32(rows=1..40,cols=1..40)"


def judged(kernels, name, cases=SMALL, **choice):
    return pl.judge(f"{kernels}:{name}", cases=cases, listed=True, **choice)


def first_failure(report):
    assert report.failures, str(report)
    return report.failures[0]


@pytest.mark.parametrize("name", ["transpose", "returned", "other_names"])
def test_right_kernels_pass(kernels, name):
    report = judged(kernels, name)
    assert report.passed, str(report)
    assert report.complete and report.exit_code == 0 and not report.skipped


FAULTS = [
    ("recognises_the_judge", {"fail"}, ""),
    ("answer_by_address", {"fail"}, "new data, old answer?"),
    ("answer_by_id", {"fail"}, ""),
    ("returns_another", {"fail"}, ""),
    ("returns_the_input", {"fail", "error"}, ""),
    ("returns_nothing", {"error"}, "returns nothing, and the outputs are B"),
    ("returns_doubles", {"error"}, "returns B in float64, and it is float32"),
    ("returns_and_takes", {"error"}, "returns an array, and takes B"),
    ("writes_the_input", {"input_modified", "crash"}, ""),
    ("writes_beyond", {"out_of_bounds"}, ""),
    ("writes_before", {"out_of_bounds"}, ""),
    ("leaves_some", {"unwritten"}, ""),
    ("writes_later", {"crash", "error", "out_of_bounds", "input_modified", "nondeterministic"}, ""),
    ("writes_the_last_output", {"fail", "out_of_bounds", "input_modified", "crash", "nondeterministic"}, ""),
    ("leaves_threads", {"error"}, "threads"),
    ("forks", {"error"}, "left a process running"),
    ("answers_for_the_library", {"crash"}, "protocol error"),
    ("patches_plumbline", {"fail"}, ""),
    ("raises", {"error"}, "ValueError: no luck today (kernels.py:"),
    ("exits", {"error"}, "SystemExit"),
    ("exits_at_once", {"crash"}, "exited with code 0"),
    ("segfaults", {"crash"}, "in segfaults"),
    ("kills_the_judge", {"crash"}, "SIGSYS"),
    ("right_for_ten_calls", {"fail", "nondeterministic"}, ""),
    ("random_bits", {"nondeterministic", "fail"}, ""),
    ("flushes_subnormals", {"error"}, "floating-point environment"),
]


@pytest.mark.parametrize(("name", "verdicts", "words"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_each_fault_has_its_verdict(kernels, name, verdicts, words):
    report = judged(kernels, name)
    failure = first_failure(report)
    assert not report.passed and report.exit_code == 1
    assert failure.verdict in verdicts, str(report)
    assert {f.verdict for f in report.failures} <= verdicts | {"fail", "unwritten", "nondeterministic"}, str(
        report
    )
    assert words in "\n".join([failure.reason, *failure.detail]), str(report)
    assert "--python" in failure.repro and f"user/{name}" in failure.repro


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a pool for one processor has no thread")
def test_a_pool_of_threads_may_start_in_any_call(kernels):
    report = judged(kernels, "starts_a_pool_late")
    assert report.passed, str(report)


def test_threads_of_numba_are_no_change_of_the_first_calls(tmp_path):
    pytest.importorskip("numba")
    file = tmp_path / "parallel.py"
    file.write_text(
        "import numba, plumbline as pl\n"
        "@numba.njit(parallel=True)\n"
        "def columns(A, B):\n"
        "    for j in numba.prange(B.shape[0]):\n"
        "        B[j] = A[:, j]\n"
        "@pl.variant('transpose')\n"
        "def mine(A, B): columns(A, B)\n"
    )
    report = pl.judge(str(file), cases=SMALL, listed=True)
    assert report.passed, str(report)


def test_a_loop_ends_at_the_time_limit_and_the_next_case_has_a_new_child(kernels):
    report = judged(kernels, "loops", timeout=1, cases="transpose.f32(rows=1..9,cols=1..9)")
    assert {f.verdict for f in report.failures} == {"timeout"}, str(report)


def test_an_undeclared_tf32_product_fails(kernels):
    failure = first_failure(
        pl.judge(f"{kernels}:truncated_operands", cases="gemm.f32(fill=real)", listed=True)
    )
    assert failure.verdict == "fail" and "bound" in failure.reason


def test_a_declared_tf32_product_of_finite_numbers_passes(kernels):
    report = pl.judge(f"{kernels}:declared_tf32", cases="gemm.f32(m=31,n=33,k=32)", listed=True)
    assert report.passed, str(report)
    assert any("fill=hostile" in r.case and r.verdict == "unsupported" for r in report.skipped), str(report)


def test_cases_whose_numbers_the_function_does_not_take_are_unsupported(kernels):
    pytest.importorskip("scipy")
    report = pl.judge(f"{kernels}:without_factors", cases="spmv.f32(rows=1..300)", listed=True)
    assert report.passed, str(report)
    assert any("takes no alpha, and alpha is" in r.reason for r in report.skipped)
    assert {r.verdict for r in report.skipped} == {"unsupported"}


def test_a_device_that_is_not_there_is_a_skip_with_its_reason(kernels):
    report = judged(kernels, "on_a_gpu", device="cuda")
    assert not report.passed and not report.failures
    assert {(r.verdict, r.reason) for r in report.skipped} == {("skip", pl.device_reason("cuda"))}
    assert "no driver" in str(report)


def test_simt_is_for_kernels_of_a_gpu(kernels):
    if pl.simt.missing():
        with pytest.raises(pl.PlumblineError, match="device='simt': "):
            judged(kernels, "transpose", device="simt")
    else:
        report = judged(kernels, "transpose", device="simt")
        assert not report.passed and not report.records, str(report)


def test_functions_that_cannot_be_imported_travel_by_value():
    factor = np.float32(1)

    def inner(A):
        return A.T * factor

    for function in (lambda A: A.T, inner):
        report = pl.judge("transpose", function, cases=SMALL, listed=True)
        assert report.passed, str(report)
    factor = np.float32(2)
    failure = first_failure(pl.judge("transpose", inner, cases=SMALL, listed=True, fills="real"))
    repeated = subprocess.run(failure.repro, shell=True, capture_output=True, text=True, check=False)
    assert repeated.returncode == 1, repeated.stdout + repeated.stderr


def test_what_cannot_travel_is_named():
    lock = __import__("threading").Lock()
    with pytest.raises(pl.PlumblineError, match="put the function into a file of its own"):
        pl.judge("transpose", lambda A: lock, cases=SMALL)


def test_builtin_functions_get_the_inputs_by_position():
    assert pl.judge("gemm", np.matmul, cases="gemm.f32(m=1..20,n=1..20)", listed=True).passed


def test_formulas_by_name_in_narrow_types():
    torch = pytest.importorskip("torch")
    choice = {"cases": "softmax.bf16(n=1..40,d=1..300)", "listed": True, "arrays": "torch", "storage": "bf16"}
    right = pl.judge(pl.formulas.softmax, lambda x: torch.softmax(x.float(), dim=-1).to(x.dtype), fills="real", **choice)
    assert right.passed, str(right)
    wrong = pl.judge(pl.formulas.softmax, lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True, dtype=x.dtype), fills="real", **choice)
    assert wrong.failures, str(wrong)


@pytest.mark.parametrize(("storage", "torch_type"), [("bf16", "bfloat16"), ("e4m3_bf16", "bfloat16"), ("e5m2_f32", "float32")])
def test_products_of_narrow_types_by_torch(storage, torch_type):
    torch = pytest.importorskip("torch")
    kind = getattr(torch, torch_type)
    cases = f"gemm.{storage}(m=1..40,n=1..40)"
    report = pl.judge("gemm", lambda A, B: (A.float() @ B.float()).to(kind), cases=cases, listed=True, fills="real", storage=storage, arrays="torch")
    assert report.passed, str(report)


def test_a_script_that_judges_at_its_top_is_judged_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import plumbline as pl\n"
        "@pl.variant('transpose')\n"
        "def mine(A): return A.T\n"
        f"print(pl.judge(mine, cases={SMALL!r}, listed=True).raise_if_failed())\n"
        f"print(pl.judge('transpose', lambda A: A.T.copy(), cases={SMALL!r}, listed=True).raise_if_failed())\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=pl._judge.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("plumbline: ") == 2


def test_drawn_cases_are_reduced(kernels):
    report = pl.judge(f"{kernels}:leaves_some", drawn=20, seed=1)
    assert not report.passed
    assert any("smallest case on which user/leaves_some fails alike" in line for line in report.smallest)
    assert "smallest case" in str(report)


def test_reports_in_every_form(kernels, tmp_path):
    report = judged(kernels, "leaves_some")
    lines = [json.loads(line) for line in report.to_json().splitlines()]
    assert lines[-1]["complete"] and lines[-1]["failed"] == len(report.failures)
    assert xml.dom.minidom.parseString(report.to_junit()).getElementsByTagName("failure").length == len(
        report.failures
    )
    assert "<html" in report.to_html() and "|" in report.to_markdown()
    assert len(json.loads(report.to_sarif())["runs"][0]["results"]) == len(report.failures)
    assert "never written" in report._repr_html_() and "unwritten" in str(report)
    for ending in (".json", ".xml", ".html", ".md", ".sarif"):
        report.save(tmp_path / f"report{ending}")
    with pytest.raises(ValueError, match="the ending is one of"):
        report.save(tmp_path / "report.doc")
    with pytest.raises(AssertionError, match="unwritten: user/leaves_some"):
        report.raise_if_failed()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import plumbline as pl\n", "declares no variant"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("def f(:\n", "SyntaxError"),
        ("import plumbline as pl\n@pl.variant('spvm')\ndef f(A): pass\n", "no operator is called 'spvm'"),
        (
            "import plumbline as pl\n@pl.variant('spmv')\ndef f(A, z, v, w): pass\n",
            "spmv has inputs A, x; outputs y; numbers alpha, beta",
        ),
        (
            "import plumbline as pl\n@pl.variant('spmv', storage='f33')\ndef f(A, x): pass\n",
            "storage='f33'; known: f32",
        ),
        (
            "import plumbline as pl\n@pl.variant('spmv', arithmetic='half')\ndef f(A, x): pass\n",
            "arithmetic='half'; known: native",
        ),
        (
            "import plumbline as pl\n@pl.variant('spmv', device='tpu')\ndef f(A, x): pass\n",
            "device='tpu'; known: cpu",
        ),
        ("import os\nos._exit(3)\n", "exited with code 3"),
        (
            "import plumbline as pl\n@pl.variant('dense_to_csr')\ndef f(x, col): pass\n",
            "takes col and not row_ptr: it takes all outputs, or returns all",
        ),
    ],
)
def test_bad_files_give_one_line(tmp_path, text, words):
    file = tmp_path / "bad.py"
    file.write_text(text)
    with pytest.raises(pl.PlumblineError) as raised:
        pl.judge(str(file))
    assert words in str(raised.value)
    assert "bad.py" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_arrays_of_torch_where_there_is_none(monkeypatch):
    from plumbline import _declare, worker

    monkeypatch.setattr(worker.importlib.util, "find_spec", lambda name: None)
    mine = _declare.Variant("spmv", print, "mine", arrays="torch")
    with pytest.raises(pl.PlumblineError, match="variant mine: arrays='torch', and .* has no torch"):
        worker.check_arrays(mine)


def test_bad_arguments_are_refused(kernels):
    with pytest.raises(pl.PlumblineError, match="no such file"):
        pl.judge("nowhere.py")
    with pytest.raises(pl.PlumblineError, match="no variant matches|matches"):
        judged(kernels, "nobody")
    with pytest.raises(pl.PlumblineError, match="storage: said where a variant is declared"):
        judged(kernels, "transpose", storage="f64")
    with pytest.raises(pl.PlumblineError, match="judge\\(\\) takes a variant"):
        pl.judge(right := (lambda A: A))  # noqa: F841
    with pytest.raises(pl.PlumblineError, match="no operator is called"):
        pl.signature("spvm")


def test_the_contract_is_told():
    assert "spmv" in pl.operators()
    assert pl.signature("spmv") == {
        "inputs": ["A.row_ptr", "A.col", "A.val", "x"],
        "outputs": ["y"],
        "scalars": ["alpha", "beta", "A.rows", "A.cols", "A.nnz"],
        "vectors": ["A.row_ptr", "A.col", "A.val", "x", "y"],
        "dtypes": pl.signature("spmv")["dtypes"],
        "formula": "",
    }


def test_import_is_quick_and_loads_no_framework():
    code = "import sys, plumbline; print(sorted({m.split('.')[0] for m in sys.modules} & {'numpy', 'torch', 'scipy', 'pytest'}))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=pl._judge.environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_time_of_an_import_is_no_time_of_a_run(kernels):
    slow = kernels.replace("kernels.py", "slow_import.py")
    report = pl.judge(
        f"{slow}:transpose", cases="transpose.f32(rows=1..40,cols=1..40)", listed=True, timeout=1
    )
    assert report.passed, str(report)
