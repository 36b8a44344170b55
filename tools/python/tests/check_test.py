"""check(): arrays that the caller has computed, against each operator, right and wrong."""

import subprocess

import numpy as np
import plumbline as pl
import pytest

draw = np.random.default_rng(7)


def normal(*shape, kind=np.float32):
    return draw.standard_normal(shape).astype(kind)


def csr(rows, cols, kind=np.float32):
    """(row_ptr, col, val, shape) of a random matrix, and the same as a dense one."""
    dense = np.where(draw.random((rows, cols)) < 0.2, normal(rows, cols, kind=kind), 0).astype(kind)
    row_ptr = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
    return (row_ptr, np.nonzero(dense)[1].astype(np.int32), dense[dense != 0], dense.shape), dense


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    from math import erf

    return (x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))).astype(x.dtype)


def silu(x):
    return x / (1 + np.exp(-x))


def attention(q, k, v, scale, mask=None):
    s = np.einsum("grnd,gmd->grnm", q, k) * scale
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    return np.einsum("grnm,gmd->grnd", softmax(s), v).astype(q.dtype)


def convolved(X, F):
    n, _, h, w = X.shape
    k, _, r, s = F.shape
    Y = np.zeros((n, k, h - r + 1, w - s + 1), X.dtype)
    for a in range(r):
        for b in range(s):
            Y += np.einsum("nchw,kc->nkhw", X[:, :, a : a + Y.shape[2], b : b + Y.shape[3]], F[:, :, a, b])
    return Y


def problems():
    """(operator, output, inputs, numbers by name) of a right computation in float32."""
    x, w, b = normal(33, 70), normal(70), normal(70)
    A, dense = csr(40, 30)
    q, k, v = normal(2, 3, 8, 16), normal(2, 12, 16), normal(2, 12, 16)
    X, F = normal(2, 3, 9, 8), normal(4, 3, 3, 2)
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    right, other = normal(70, 20), normal(33, 70)
    yield "gemm", x @ right, (x, right), {}
    yield "skinny_gemm", x @ right, (x, right), {}
    yield "gemv", x @ w, (x, w), {}
    yield "spmv", dense @ w[:30], (A, w[:30]), {}
    yield "spmm", dense @ right[:30], (A, right[:30]), {}
    sampled = (x[:33, :5] @ other[:30, :5].T)
    B, pattern = csr(33, 30)
    yield "sddmm", sampled[pattern != 0], (B, x[:, :5], other[:30, :5]), {}
    yield "conv2d", convolved(X, F), (X, F), {"oh": 7, "ow": 7}
    yield "transpose", x.T, (x,), {}
    yield "bias_relu", np.maximum(x + b, 0), (x, b), {}
    yield "log_softmax", x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)), (x,), {}
    yield "reduce", np.array([x.sum()]), (x.ravel(),), {"kind": 0}
    yield "softmax", softmax(x), (x,), {}
    yield "rmsnorm", x * w / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)), (x, w, 1e-6), {}
    yield "layernorm", (x - mean) / np.sqrt(var + np.float32(1e-5)) * w + b, (x, w, b), {"eps": 1e-5}
    yield "gelu", gelu(x), (x,), {}
    yield "swiglu", silu(x) * other, (x, other), {}
    yield "attention", attention(q, k, v, 0.25), (q, k, v, 0.25), {}


PROBLEMS = list(problems())


@pytest.mark.parametrize(("op", "got", "inputs", "named"), PROBLEMS, ids=[p[0] for p in PROBLEMS])
def test_right_outputs_pass_and_one_wrong_element_fails(op, got, inputs, named):
    check = pl.check(got, op, *inputs, **named)
    assert check.passed and check.ratio < 1 and not check.repro
    assert f"{op}.f32: passed" in str(check)
    wrong = np.array(got)
    at = np.unravel_index(wrong.size * 2 // 3, wrong.shape)
    wrong[at] = wrong[at] * np.float32(1.01) + np.float32(0.01)
    with pytest.raises(pl.CheckFailed) as raised:
        pl.check(wrong, op, *inputs, **named)
    failed = raised.value.check.outputs[0]
    assert failed.misses == 1 and failed.worst == tuple(int(i) for i in at) and failed.max_ratio > 1, str(raised.value)
    assert "1 of" in str(raised.value) and "repro: " in str(raised.value)


def test_any_choice_among_equal_elements_is_right():
    x = draw.integers(-3, 4, (9, 40)).astype(np.float32)
    for columns in (np.argsort(-x, -1, kind="stable"), 39 - np.argsort(-x[:, ::-1], -1, kind="stable")):
        indices = columns[:, :7].astype(np.int32)
        values = np.take_along_axis(x, indices, -1)
        assert pl.check((values, indices), "topk", x).passed
        indices[4, 1] = indices[4, 0]
        with pytest.raises(pl.CheckFailed, match="stands at indices.4, 0. too: each place stands once in a row"):
            pl.check((values, indices), "topk", x)


def test_a_failure_is_repeated_by_its_command():
    a, b = normal(5, 6), normal(6, 4)
    check = pl.check(a @ b + 1, "gemm", a, b, raises=False)
    done = subprocess.run(check.repro, shell=True, env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "20 of 20 elements beyond their bounds" in done.stdout, done.stdout + done.stderr
    assert str(check).splitlines()[:3] == done.stdout.splitlines()[:3]


def test_numbers_and_what_an_output_held():
    a, b, c = normal(5, 6), normal(6, 4), normal(5, 4)
    got = np.float32(2) * (a @ b) - np.float32(0.5) * c
    assert pl.check(got, "gemm", a, b, alpha=2, beta=-0.5, C=c).passed
    assert pl.check(got, "gemm", A=a, B=b, alpha=2, beta=-0.5, C=c).passed
    assert not pl.check(got, "gemm", a, b, raises=False).passed


def test_sparse_matrices_of_each_kind():
    parts, dense = csr(40, 30)
    x = normal(30)
    row_ptr, col, val, shape = parts
    kinds = [parts]
    try:
        from scipy.sparse import csr_matrix

        kinds.append(csr_matrix((val, col, row_ptr), shape=shape))
    except ImportError:
        pass
    for A in kinds:
        assert pl.check(dense @ x, "spmv", A, x).passed


def test_types_follow_from_the_arrays():
    a, b = normal(20, 30), normal(30, 10)
    assert pl.check(a.astype(np.float64) @ b.astype(np.float64), "gemm", a.astype(np.float64), b.astype(np.float64)).storage == "f64"
    half = [m.astype(np.float16) for m in (a, b)]
    exact = half[0].astype(np.float64) @ half[1].astype(np.float64)
    assert pl.check(exact.astype(np.float16), "gemm", *half).storage == "f16"
    assert pl.check(exact.astype(np.float32), "gemm", *half).storage == "f16_f32"


@pytest.mark.parametrize(("kind", "storage"), [("bfloat16", "bf16"), ("float8_e4m3fn", "e4m3"), ("float8_e5m2", "e5m2")])
def test_tensors_of_torch_in_narrow_types(kind, storage):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, kind)
    a, b = (torch.from_numpy(normal(16, 32)).to(dtype) for _ in range(2))
    product = a.float() @ b.float().T
    assert pl.check(product, "gemm", a, b.T.contiguous()).storage == f"{storage}_f32"
    rounded = product.to(torch.bfloat16)
    name = "bf16" if storage == "bf16" else f"{storage}_bf16"
    assert pl.check(rounded, "gemm", a, b.T).storage == name
    wrong = rounded.clone()
    wrong[3, 5] += 2 * abs(wrong[3, 5]) + 1
    assert pl.check(wrong, "gemm", a, b.T, raises=False).outputs[0].worst == (3, 5)


@pytest.mark.parametrize("storage", ["f16", "bf16"])
def test_formulas_in_narrow_types(storage):
    torch = pytest.importorskip("torch")
    if storage not in pl.formulas.softmax.storage:
        pytest.skip(f"softmax has no type {storage}")
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[storage]
    x = torch.from_numpy(normal(20, 300)).to(dtype)
    assert pl.check(torch.softmax(x.float(), dim=-1).to(dtype), pl.formulas.softmax, x).storage == storage
    e = torch.exp(x)  # rounded, and so is the sum
    total = torch.zeros(20, 1, dtype=dtype)
    for j in range(300):
        total += e[:, j : j + 1]
    assert not pl.check(e / total, pl.formulas.softmax, x, raises=False).passed


def test_arrays_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = (normal(16, 16).astype(ml_dtypes.bfloat16) for _ in range(2))
    got = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert pl.check(got, "gemm", a, b).storage == "bf16"


@pytest.mark.parametrize("fill", ["ones", "equal", "integers", "positive", "one_large"])
def test_right_sums_of_unusual_data_pass(fill):
    """Nothing is known of a caller's data: terms may repeat, have one sign, or differ in size."""
    data = {
        "ones": np.ones((8, 4096)),
        "equal": np.full((8, 4096), 0.1),
        "integers": draw.integers(-3, 4, (8, 4096)),
        "positive": draw.random((8, 4096)),
        "one_large": np.where(np.arange(4096) == 0, 1e8, draw.standard_normal((8, 4096))),
    }[fill].astype(np.float32)
    x = data[0].copy()
    one_by_one = np.zeros(8, np.float32)
    for j in range(4096):
        one_by_one += data[:, j] * x[j]
    for got in (one_by_one, data @ x):
        check = pl.check(got, "gemv", data, x)
        assert check.ratio <= 1


def test_a_matrix_of_more_dimensions_has_all_but_the_last_as_rows():
    x = normal(2, 3, 5, 40)
    assert pl.check(softmax(x), pl.formulas.softmax, x).outputs[0].elements == x.size


def test_undeclared_arithmetic_fails_and_declared_passes():
    a, b = normal(30, 256), normal(256, 30)
    cut = [(m.view(np.int32) & ~0x1FFF).view(np.float32) for m in (a, b)]
    got = cut[0] @ cut[1]
    assert not pl.check(got, "gemm", a, b, raises=False).passed
    assert pl.check(got, "gemm", a, b, arithmetic="tf32").arithmetic == "tf32"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pl.check(normal(3, 3), "gem", normal(3, 3), normal(3, 3)), "no operator is called 'gem'"),
        (lambda: pl.check(normal(3, 3), "gemm", normal(3, 3)), "gemm needs B"),
        (lambda: pl.check(normal(3, 3), "gemm", normal(3, 4), normal(3, 3)), "gemm: "),
        (lambda: pl.check(normal(3), "gemm", normal(3, 3), normal(3, 3)), "C is a matrix, and this has the shape \\(3,\\)"),
        (lambda: pl.check(normal(3, 1), "gemv", normal(3, 3), normal(3)), "y is a vector"),
        (lambda: pl.check(normal(3, 3), "gemm", normal(3, 3), normal(3, 3), gamma=2), "gemm has no number gamma"),
        (lambda: pl.check(normal(3, 3), "gemm", normal(3, 3), normal(3, 3), arithmetic="half"), "known: native"),
        (lambda: pl.check(normal(3, 3), "gemm", normal(3, 3), normal(3, 3).astype(np.float64)), "inputs have one type"),
        (lambda: pl.check(normal(3, 3).astype(np.float64), "gemm", normal(3, 3), normal(3, 3)), "has no type f32_f64"),
        (lambda: pl.check(normal(3, 3), "rmsnorm", normal(3, 3), normal(3)), "rmsnorm: needs eps"),
        (lambda: pl.check(normal(3), "spmv", normal(3, 3), normal(3)), "a sparse matrix is"),
        (lambda: pl.check(np.array(["a"]), "reduce", normal(3), kind=0), "have no format"),
        (lambda: pl.check(normal(2, 3, 8, 16), "attention", normal(2, 3, 8, 16), normal(3, 5, 16), normal(3, 5, 16), 1.0), "extent g is 3"),
        (lambda: pl.formula("gemm"), "gemm is no formula; formulas: "),
    ],
)
def test_what_the_contract_does_not_allow_is_one_line(call, words):
    with pytest.raises(pl.PlumblineError, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "x.npz").write_text("no")
    with pytest.raises(pl.PlumblineError, match="x.npz: is no file that pl.check"):
        pl._check.Problem.read(str(tmp_path / "x.npz"))


def test_formulas_are_named():
    assert "softmax" in list(pl.formulas) and "gemm" not in list(pl.formulas)
    assert pl.formulas.rmsnorm.signature == "x: n d, w: d, eps>0 -> y: n d"
    assert pl.formulas.rmsnorm.inputs == ("x", "w") and pl.formulas.rmsnorm.numbers == ("eps",)
    with pytest.raises(AttributeError, match="no operator is called"):
        _ = pl.formulas.sofmax


def test_it_is_shown_in_a_notebook():
    a, b = normal(5, 6), normal(6, 4)
    assert "passed" in pl.check(a @ b, "gemm", a, b)._repr_html_()
    assert "red" in pl.check(a @ b + 1, "gemm", a, b, raises=False)._repr_html_()
