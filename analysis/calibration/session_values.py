"""What session-level methods suppose of the session values: that they are normal and independent.

Swapping the labels of whole sessions gives such methods their 5 % by construction, whatever the data
are, so that their false alarms cannot be counted. What they suppose of the differences between two
identical variants, one a session, is tested instead: normality by Shapiro and Wilk, independence by
the likeness of neighbours, given all orders or many, and by the number of runs about the median.
One Benjamini-Hochberg over all of them.

References
----------
.. [1] A. Wald, J. Wolfowitz, "On a test whether two samples are from the same population", Annals of
   Mathematical Statistics 11, 1940.
.. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
   Statistical Society B 57, 1995.
.. [3] J. von Neumann, "Distribution of the ratio of the mean square successive difference to the
   variance", Annals of Mathematical Statistics 12, 1941.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..stats import shapiro_wilk as wilk, stream
from .result import SessionCheck, Supposed

__all__ = ["FEWEST", "checks_of", "lag_pvalue", "runs_pvalue"]

Array = NDArray[np.float64]
FEWEST = 5  # sessions; below, no departure could be seen
_LISTED = 7  # sessions of which all orders are looked at
_ORDERS = 9_999  # orders drawn at random beyond
_EQUAL = 1e-12


def checks_of(
    values: Mapping[str, Sequence[float]], *, risk: float, rng: np.random.Generator
) -> tuple[SessionCheck, ...]:
    """Test the session values of each benchmark, and adjust all p-values together.

    Parameters
    ----------
    values : mapping of str to sequence of float
        For each benchmark the log differences of its sessions, in their order.
    risk : float
        Of the Benjamini-Hochberg procedure.
    rng : numpy.random.Generator
        Draws orders where there are too many to list.
    """
    root = int(rng.integers(2**63))
    found: list[tuple[str, Supposed, float]] = []
    for bench, given in values.items():
        row = np.asarray(given, dtype=np.float64)
        if row.size < FEWEST or np.ptp(row) <= _EQUAL:
            continue
        normal = float(wilk.shapiro_wilk(row[None, :])[1][0])
        found.append((bench, "normality", normal))
        found.append((bench, "neighbours", lag_pvalue(row, stream(root, bench))))
        told = runs_pvalue(row, risk)
        if told is not None:
            found.append((bench, "runs", told))
    adjusted = _adjusted([p for _, _, p in found])
    return tuple(
        SessionCheck(
            benchmark=bench, test=test, pvalue=p, pvalue_adjusted=q, departs=bool(q <= risk)
        )
        for (bench, test, p), q in zip(found, adjusted, strict=True)
    )


def lag_pvalue(values: Array, rng: np.random.Generator) -> float:
    """Give the two-sided p of the likeness of neighbours, given the values in any order.

    The statistic is von Neumann's: the sum of squared steps [3]_. It is the lag-1 correlation with its
    ends mended, so that a steady drift is the extreme that it should be.

    Parameters
    ----------
    values : float array
        In their order; not all equal.
    rng : numpy.random.Generator
        Not asked where all orders are listed: then p is k / N, otherwise (k + 1) / (N + 1).
    """
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()
    listed = centred.size <= _LISTED
    if listed:
        orders = centred[np.array(list(itertools.permutations(range(centred.size))))]
    else:
        orders = rng.permuted(np.tile(centred, (_ORDERS, 1)), axis=1)
    null = -(np.diff(orders, axis=1) ** 2).sum(axis=1)
    seen = -float((np.diff(centred) ** 2).sum())
    more = int((null >= seen - _EQUAL).sum())
    less = int((null <= seen + _EQUAL).sum())
    if listed:
        return min(1.0, 2 * min(more, less) / len(null))
    return min(1.0, 2 * (min(more, less) + 1) / (len(null) + 1))


def runs_pvalue(values: Array, risk: float) -> float | None:
    """Give the two-sided p of the number of runs about the median, by its exact law.

    None where so few values could not reach the risk at all. Values at the median take no part.
    """
    above = values[values != np.median(values)] > np.median(values)
    n, m = int(above.sum()), int((~above).sum())
    if min(n, m) < 2:
        return None
    law = _law_of_runs(n, m)
    tails = {
        count: (
            math.fsum(p for k, p in law.items() if k <= count),
            math.fsum(p for k, p in law.items() if k >= count),
        )
        for count in law
    }
    if 2 * min(tails[min(law)][0], tails[max(law)][1]) > risk:
        return None
    seen = int((above[1:] != above[:-1]).sum()) + 1
    return min(1.0, 2 * min(tails[seen]))


def _law_of_runs(n: int, m: int) -> dict[int, float]:
    total = math.comb(n + m, n)
    law = {}
    for count in range(2, n + m + 1):
        k = count // 2
        if count % 2 == 0:
            ways = 2 * math.comb(n - 1, k - 1) * math.comb(m - 1, k - 1)
        else:
            ways = math.comb(n - 1, k) * math.comb(m - 1, k - 1)
            ways += math.comb(n - 1, k - 1) * math.comb(m - 1, k)
        if ways:
            law[count] = ways / total
    return law


def _adjusted(pvalues: Sequence[float]) -> list[float]:
    """Adjust by Benjamini and Hochberg's step-up procedure."""
    count = len(pvalues)
    order = sorted(range(count), key=lambda k: pvalues[k])
    adjusted = [1.0] * count
    least = 1.0
    for rank in range(count, 0, -1):
        where = order[rank - 1]
        least = min(least, pvalues[where] * count / rank)
        adjusted[where] = least
    return adjusted
