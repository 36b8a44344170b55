"""For Hypothesis: cases of an operator as examples. Needs the package hypothesis.

    from hypothesis import given, settings
    from plumbline import strategies

    @settings(deadline=None)
    @given(strategies.cases("spmv", drawn=200))
    def test_spmv(case):
        case.judge(mine)

A case that a kernel does not support is rejected, and another one taken. Hypothesis shrinks towards the first cases of the list; the judge's own reduction of a failure is that of judge(drawn=...).
"""

from __future__ import annotations

from typing import Any

from plumbline import _pytest
from plumbline._errors import PlumblineError


class Example(_pytest.Case):
    """A case as an example of Hypothesis, which takes another one where it does not run."""

    def skip(self, reason: str) -> None:
        from hypothesis import reject

        reject()


def cases(
    op: str,
    *,
    tier: str = "smoke",
    drawn: int = 0,
    seed: int | str | None = None,
    storage: str = "f32",
    fills: str | None = None,
    device: str | None = None,
) -> Any:
    """A strategy of plumbline.Case; the arguments are those of plumbline.cases(). PlumblineError: no case, or no Hypothesis."""
    try:
        from hypothesis import strategies
    except ImportError:
        raise PlumblineError("plumbline.strategies needs the package hypothesis") from None
    ids = _pytest.case_ids(op, tier=tier, drawn=drawn, seed=seed, listed=True, storage=storage, fills=fills)
    return strategies.sampled_from([Example(i, device) for i in ids])
