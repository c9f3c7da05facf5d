"""The ends of a bootstrap interval, from the replicates of the ratio.

H is the list of replicates of the ratio, alpha the risk, as in section 4 of Irving et al. (2018).

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 12 to 14.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ....errors import AnalysisError, InsufficientDataError
from .draws import Comparison, Draws, jackknife, standard_error, strata_sizes
from .result import Interval, Sides

__all__ = ["bca_corrections", "interval_ends", "ratios_of", "tails_of"]

Array = NDArray[np.float64]
Tails = tuple[float | None, float | None]

_TIE = 1e-12  # of the ratio: replicates this close to the observed one are equal to it
_FAR = 1e300
_OUTLANDISH = "look for values that are no measurements"


def tails_of(confidence: float, sides: Sides) -> Tails:
    """Give the risks left below and above; None leaves an end open."""
    risk = 1 - confidence
    if sides == "two":
        return risk / 2, risk / 2
    return (risk, None) if sides == "lower" else (None, risk)


def interval_ends(
    interval: Interval,
    comparison: Comparison,
    drawn: Draws,
    *,
    ratio: float,
    replicates: Array,
    tails: Tails,
    corrections: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Give both ends for the risks left below and above: see `tails_of`.

    `corrections` are what `bca_corrections` gives, for those who ask for several ends.

    Raises
    ------
    AnalysisError
        If the interval does not exist for these replicates.
    """
    low_tail, high_tail = tails
    if interval == "studentized":
        return _studentized(ratio, drawn, comparison, tails)
    if interval == "bca":
        z0, a = corrections or bca_corrections(comparison, ratio=ratio, replicates=replicates)
        levels = _bca_levels(z0, a, tails)
    else:
        levels = (low_tail, None if high_tail is None else 1 - high_tail)
    low, high = levels
    return (
        0.0 if low is None else float(np.quantile(replicates, low)),
        float("inf") if high is None else float(np.quantile(replicates, high)),
    )


def bca_corrections(
    comparison: Comparison, *, ratio: float, replicates: Array
) -> tuple[float, float]:
    """Give z0 and a of BCa: the bias by the share below, the acceleration by the jackknife.

    Every stratum is jackknifed around its own mean, and weighs by its size (for equal sizes
    equation 14.15 of [1] over all strata).

    Raises
    ------
    AnalysisError
        If z0 is infinite, or a unit cannot be left out.
    """
    margin = _TIE * ratio
    below = np.count_nonzero(replicates < ratio - margin)
    equal = np.count_nonzero(np.abs(replicates - ratio) <= margin)
    share = (below + equal / 2) / replicates.size
    if share in (0, 1):
        raise AnalysisError(
            f"all {replicates.size} replicates lie on one side of the observed ratio, so BCa's "
            "correction for bias is infinite",
            fix="take another interval, or more resamples",
        )
    parts = [ratios_of(ratio, shifts) for shifts in jackknife(comparison)]
    sizes = np.array([part.size for part in parts])
    starts = np.cumsum(sizes) - sizes
    left = np.concatenate(parts)
    largest = float(left.max())
    left /= largest  # no scale changes a, and the cubes of ratios may be no numbers
    centres = np.add.reduceat(left, starts) / sizes
    u = np.repeat((sizes - 1) / sizes, sizes) * (np.repeat(centres, sizes) - left)
    size = float(np.abs(u).max())
    if size <= _TIE * (ratio / largest):
        return float(ndtri(share)), 0.0
    u /= size
    return float(ndtri(share)), float((u**3).sum()) / (6 * float((u**2).sum()) ** 1.5)


def _bca_levels(z0: float, a: float, tails: Tails) -> Tails:
    """Give the quantiles' levels of BCa, equation 14.10 of [1]."""

    def level(tail: float, direction: int) -> float:
        z = z0 + direction * -float(ndtri(tail))
        scale = 1 - a * z
        if scale <= 0:
            raise AnalysisError(
                f"BCa does not exist at this confidence: its acceleration is {a:.3g}",
                fix="take another interval, or a lower confidence",
            )
        return float(ndtr(z0 + z / scale))

    low, high = tails
    return None if low is None else level(low, -1), None if high is None else level(high, 1)


def _studentized(
    ratio: float, drawn: Draws, comparison: Comparison, tails: Tails
) -> tuple[float, float]:
    assert drawn.errors is not None
    error = standard_error(comparison)
    if not (np.isfinite(error) and np.isfinite(drawn.errors).all()):
        raise AnalysisError("a standard error leaves the range of numbers", fix=_OUTLANDISH)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = drawn.shifts / drawn.errors
    t[drawn.shifts == 0] = 0.0
    t = np.clip(t, -_FAR, _FAR)
    # the largest t belongs to the lower end
    low, high = tails
    levels = (None if low is None else 1 - low, None if high is None else high)
    found = [None if level is None else float(np.quantile(t, level)) for level in levels]
    if any(q is not None and abs(q) > _FAR / 1e10 for q in found):
        sizes = strata_sizes(comparison)
        least = int(min(size.min() for size in sizes))
        raise InsufficientDataError(
            "in too many resamples no unit varies, so that the studentized end is infinite",
            fix="measure more, or take the corrected interval",
            n=least,
            needed=least + 1,
        )
    ends = [
        None if q is None else float(ratios_of(ratio, np.array([-q * error]))[0]) for q in found
    ]
    return (0.0 if ends[0] is None else ends[0], float("inf") if ends[1] is None else ends[1])


def ratios_of(ratio: float, shifts: Array) -> Array:
    """Turn shifts of the log ratio into ratios.

    Raises
    ------
    AnalysisError
        If one of them leaves the range of numbers.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratios = ratio * np.exp(shifts)
    if not (np.isfinite(ratios).all() and ratios.all()):
        raise AnalysisError(
            "the replicates of the ratio leave the range of numbers",
            fix=_OUTLANDISH,
        )
    return np.asarray(ratios, dtype=np.float64)
