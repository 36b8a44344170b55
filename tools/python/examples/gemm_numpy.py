"""A matrix product by NumPy: a function that returns its output."""

import numpy as np
import plumbline as pl

if __name__ == "__main__":
    report = pl.judge("gemm", lambda A, B: A @ B, storage="f64", listed=True)
    print(report.raise_if_failed())
    # accumulating in half the precision is no rounding error of the type: it fails
    wrong = pl.judge(
        "gemm",
        lambda A, B: np.float64(np.float32(A) @ np.float32(B)),
        storage="f64",
        listed=True,
        fills="real",
    )
    print(wrong)
    assert not wrong.passed
