"""Values that a mixture may be fitted to, and ties spread over the clock's step."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError, InsufficientDataError
from ...stats import numbers

__all__ = ["LEAST", "checked", "spread_ties"]

Array = NDArray[np.float64]
LEAST = 4  # the dip of fewer values is the same for every sample
_LARGEST, _LEAST_RANGE = 1e150, 1e-150  # squares stay finite, and above 0
_SAME = 1e-9  # neighbours closer than this share of the range are one reading of the clock


def checked(values: ArrayLike, least: int = LEAST) -> Array:
    """Give the values sorted.

    Raises
    ------
    InsufficientDataError
        With fewer than `least` values.
    AnalysisError
        If a value is not finite or beyond 1e150, or all are equal or within 1e-150.
    """
    x = np.sort(numbers(values, "the values"))
    if x.size < least:
        raise InsufficientDataError(
            f"evidence about modes needs at least {least} values, and there are {x.size}",
            n=x.size,
            needed=least,
        )
    if not (np.abs(x) <= _LARGEST).all():
        raise AnalysisError(
            f"a value is not finite, or exceeds {_LARGEST:g}", fix="leave out failed runs"
        )
    if x[0] == x[-1]:
        raise AnalysisError(
            f"all {x.size} values are equal: there is nothing to tell modes by",
            fix="measure with a finer clock",
        )
    if x[-1] - x[0] < _LEAST_RANGE:
        raise AnalysisError(
            f"the values lie within {_LEAST_RANGE:g} of each other", fix="choose a smaller unit"
        )
    return x


def spread_ties(ordered: Array, tick: float | None = None) -> tuple[Array, float | None]:
    """Spread values that share a clock reading evenly over the clock's tick.

    Parameters
    ----------
    ordered : numpy.ndarray
        Values in ascending order.
    tick : float, optional
        The clock's step; otherwise the smallest step between two readings (the values must then
        not all be equal).

    Returns
    -------
    numpy.ndarray
        The values in ascending order; those without ties are unchanged.
    float or None
        The tick; None without ties.
    """
    gaps = np.diff(ordered)
    new = gaps > _SAME * (ordered[-1] - ordered[0])
    if new.all():
        return ordered, None
    step = float(gaps[new].min()) if tick is None else tick
    group = np.concatenate(([0], np.cumsum(new)))
    count = np.bincount(group)
    first = np.concatenate(([0], np.cumsum(count)[:-1]))
    place = (np.arange(ordered.size) - first[group] + 0.5) / count[group] - 0.5
    moved = np.where(count[group] > 1, ordered[first[group]] + step * place, ordered)
    return np.sort(moved), step
