"""At which level each of several series is searched for intervals.

An interval is false where it holds no change. A series with a change somewhere still has nights without one, and
so it may have a false interval too: stepping down as Holm does, from one series to the next at a larger level,
would let all of them together err more often than the risk says. So with "holm" every series is searched at risk /
series, which holds for any dependence between series; its adjusted p-value, which says whether the series changed
at all, is Holm's ([1]_). With "bh" the series that step up are searched at the level that the last of them came to,
risk times their number / series ([2]_, [3]_): of the series that are named, the expected share with a false
interval is at most the risk, where series are independent.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6, 1979.
.. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
   Statistical Society B 57, 1995.
.. [3] Y. Benjamini, D. Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
   selected parameters", Journal of the American Statistical Association 100, 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...stats.multiplicity import Correction, adjusted

MANY: Final = (
    20  # benchmarks from which on the share of false ones is bounded, not the chance of any
)


def usual_correction(benchmarks: int) -> Correction:
    """Give "holm" for fewer than 20 benchmarks, else "bh"."""
    return "bh" if benchmarks >= MANY else "holm"


def levels_of(
    pvalues: Sequence[float | None], risk: float, correction: Correction
) -> tuple[float, tuple[float | None, ...]]:
    """Give the level at which all series are searched, and their adjusted p-values.

    `pvalues`: Of each series, None where it has too few nights, and is no member of the family.
    """
    given = np.array([np.nan if p is None else p for p in pvalues], dtype=np.float64)
    members = int(np.count_nonzero(~np.isnan(given)))
    raised = adjusted(given, correction)
    if members == 0 or correction == "none":
        level = risk
    elif correction == "holm":
        level = risk / members
    else:
        # what rounds up to the risk is named, as `adjusted` has it
        level = risk * max(int(np.count_nonzero(raised <= risk)), 1) / members
    told = tuple(None if np.isnan(p) else float(p) for p in raised)
    return level, told
