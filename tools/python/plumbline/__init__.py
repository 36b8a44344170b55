"""Plumbline judges kernels: each element of an output has a derived error bound, and nobody chooses a tolerance.

    import plumbline as pl

    @pl.variant("spmv")
    def mine(A, x, y):              # A.row_ptr, A.col, A.val; y is written
        y[:] = A.to_scipy() @ x

    report = pl.judge(mine, drawn=50)
    print(report)
    assert report.passed

Kernels run in a child process, on guarded and poisoned memory that it shares with the judge, which never loads Python. See docs/python.md.
"""

from plumbline import simt
from plumbline._check import Check, CheckedOutput, CheckFailed, check
from plumbline._declare import Variant, variant
from plumbline._errors import PlumblineError
from plumbline._judge import device_reason, judge, operators, signature
from plumbline._operators import Operator, formula, formulas
from plumbline._pytest import Case, cases
from plumbline._report import Record, Report
from plumbline._stream import current_stream

__all__ = [
    "Case",
    "Check",
    "CheckFailed",
    "CheckedOutput",
    "Operator",
    "PlumblineError",
    "Record",
    "Report",
    "Variant",
    "cases",
    "check",
    "current_stream",
    "device_reason",
    "formula",
    "formulas",
    "judge",
    "operators",
    "signature",
    "simt",
    "variant",
]
