"""How often a run of one sample beats a run of the other, counted: the Mann-Whitney share.

References
----------
.. [1] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is
       stochastically larger than the other", Annals of Mathematical Statistics 18, 1947.
.. [2] R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney
       statistic, part 2", Statistics in Medicine 25, 2006, method 5.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError, UsageError
from ....stats import door, numbers
from .result import RankShare

__all__ = ["checked_confidence", "rank_share"]

Array = NDArray[np.float64]
_TIED = 1e-10  # relative: rounding must not break a tie


@door
def rank_share(
    x: ArrayLike, y: ArrayLike, *, shift: float = 0.0, confidence: float = 0.95
) -> RankShare:
    """Estimate P[X < Y + shift] + P[X = Y + shift] / 2 by the Mann-Whitney statistic U / (n m).

    Parameters
    ----------
    x, y : array_like
        Finite values, n and m of them, at least one each.
    shift : float
        In the unit of the values.
    confidence : float
        Of Newcombe's score interval, which holds near 0 and 1 too.

    Raises
    ------
    UsageError
        If the shift is not finite or the confidence is out of range.
    InsufficientDataError, AnalysisError
        If a sample is empty or a value is not finite.
    """
    from scipy.special import ndtri

    if not math.isfinite(shift):
        raise UsageError(f"the shift must be a finite number, and is {shift}")
    checked_confidence(confidence)
    a, b = (_finite(side) for side in (x, y))
    b = b + shift
    slack = _TIED * max(float(np.abs(a).max()), float(np.abs(b).max()))
    below = np.searchsorted(a, b - slack, side="left")
    upto = np.searchsorted(a, b + slack, side="right")
    ties = int((upto - below).sum())
    pairs = a.size * b.size
    share = (float(below.sum()) + ties / 2) / pairs
    z = float(ndtri(0.5 + confidence / 2))
    low, high = _newcombe(share, a.size, b.size, z)
    return RankShare(
        estimate=share, low=low, high=high, confidence=confidence, pairs=pairs, ties=ties
    )


def _finite(values: ArrayLike) -> Array:
    x = np.sort(numbers(values, "the values"))
    if x.size == 0:
        raise UsageError("the share of faster runs needs values on both sides")
    if not np.isfinite(x).all():
        raise AnalysisError("a value is not finite", fix="leave out failed runs")
    return x


def _newcombe(share: float, m: int, n: int, z: float) -> tuple[float, float]:
    """Give the t with (share - t)^2 = z^2 V(t), V the Hanley-McNeil variance with both sizes alike."""
    from scipy.optimize import brentq

    size = (m + n) / 2 - 1

    def spread(t: float) -> float:
        """Give z^2 V(t) / (1 - t)."""
        return z * z * t * (1 + size * ((1 - t) / (2 - t) + t / (1 + t))) / (m * n)

    def excess(t: float) -> float:
        return (share - t) ** 2 - (1 - t) * spread(t)

    if share == 0:
        low, high = _newcombe(1.0, m, n, z)
        return 1 - high, 1 - low
    if share == 1:  # 1 is a root too, and not the one
        return float(brentq(lambda t: 1 - t - spread(t), 0, 1)), 1.0
    return float(brentq(excess, 0, share)), float(brentq(excess, share, 1))


def checked_confidence(confidence: float) -> float:
    """Give the confidence back.

    Raises
    ------
    UsageError
        If it does not lie between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"the confidence must lie between 0 and 1, and is {confidence}")
    return confidence
