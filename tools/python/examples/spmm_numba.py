"""Sparse matrix times dense matrix, a loop compiled by Numba."""

import numba
import plumbline as pl


@numba.njit
def rows_times_matrix(row_ptr, col, val, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            total = C.dtype.type(0)
            for k in range(row_ptr[i], row_ptr[i + 1]):
                total += val[k] * B[col[k], j]
            C[i, j] = total


@pl.variant("spmm", storage=("f32", "f64"))
def numba_rows(A, B, C):
    rows_times_matrix(A.row_ptr, A.col, A.val, B, C)


if __name__ == "__main__":
    print(pl.judge(numba_rows, listed=True).raise_if_failed())
