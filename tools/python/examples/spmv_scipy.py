"""Sparse matrix times vector by SciPy: a kernel that writes its output. plumb verify --python spmv_scipy.py"""

import plumbline as pl


@pl.variant("spmv", storage=("f32", "f64"))
def scipy_csr(A, x, y):
    y[:] = A.to_scipy() @ x


@pl.variant("spmv", storage=("f32", "f64"))
def with_factors(alpha, A, x, beta, y):
    """Takes the factors too: beta = 0 means that y is written and never read."""
    product = alpha * (A.to_scipy() @ x) if alpha != 0 else 0
    y[:] = product if beta == 0 else product + beta * y


if __name__ == "__main__":
    print(pl.judge(scipy_csr, listed=True).raise_if_failed())
