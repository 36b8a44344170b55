"""A test for every case: pytest test_transpose.py -n auto --plumb-seed=fresh"""

import numpy as np
import plumbline as pl


@pl.variant("transpose")
def numpy_transpose(A, B):
    np.copyto(B, A.T)


@pl.cases("transpose.f32(rows=1..20,cols=1..20)", drawn=4)
def test_transpose(case):
    case.judge(numpy_transpose)
