"""Cases as examples of Hypothesis: pytest test_hypothesis.py"""

import numpy as np
import plumbline as pl
from hypothesis import given, settings
from plumbline import strategies


@settings(max_examples=5, deadline=None)
@given(strategies.cases("gemv", drawn=20, seed=1))
def test_gemv(case):
    case.judge(lambda A, x: A @ x)


@settings(max_examples=5, deadline=None)
@given(strategies.cases("transpose.f32(rows=1..20,cols=1..20)", drawn=5, seed=1))
def test_transpose(case):
    case.judge(lambda A: np.ascontiguousarray(A.T))


def test_the_list_is_of_the_operator():
    assert pl.signature("gemv")["outputs"] == ["y"]
