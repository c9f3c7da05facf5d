"""Modes told apart by the order: two levels between which the runs change within sessions.

Where the speeds are too close for their values to show them, runs that stay at one for a while still
do. Sessions are cut where their level changes [1]_, and the parts divided into a lower and a higher
level, if these explain the values far better than a straight line through each session does.

References
----------
.. [1] A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28,
       1979.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .by_values import LEAST

__all__ = ["modes_by_order"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
_RISK = 0.01  # of a cut, over all sessions
_PART = 5  # runs of a part at least
_CLEAR = 2.0  # standard deviations between the levels
_BETTER = 0.5  # squares that two levels may leave of what straight lines leave


def modes_by_order(values: Floats, sessions: NDArray[np.int64]) -> Labels | None:
    """Tell of each run whether it is of the lower level (0) or the higher one (1).

    Parameters
    ----------
    values : array of float, shape (n,)
        Finite, in the order of execution; their logarithms are looked at where all are positive.
    sessions : array of int, shape (n,)
        The session of each.

    Returns
    -------
    array of int, shape (n,), or None
        None where the level does not change within any session, where it wanders rather than jumps,
        or where one of the levels has fewer than 10 runs.
    """
    x = np.log(values) if values.min() > 0 else values
    runs = [np.flatnonzero(sessions == one) for one in dict.fromkeys(sessions.tolist())]
    parts: list[NDArray[np.intp]] = []
    for mine in runs:
        parts += [mine[part] for part in _parts(x[mine], _RISK / len(runs))]
    if len(parts) == len(runs):
        return None
    high = _two_levels(np.array([x[part].mean() for part in parts]), [part.size for part in parts])
    labels = np.zeros(x.size, dtype=np.int8)
    for part, level in zip(parts, high.tolist(), strict=True):
        labels[part] = level
    sizes = np.bincount(labels, minlength=2)
    if sizes.min() < LEAST:
        return None
    means = [x[labels == level].mean() for level in (0, 1)]
    left = float(((x - np.take(means, labels)) ** 2).sum())
    spread = (left / (x.size - 2)) ** 0.5
    if means[1] - means[0] < _CLEAR * spread or left > _BETTER * sum(
        _line(x[mine]) for mine in runs
    ):
        return None
    return labels


def _parts(x: Floats, risk: float) -> list[NDArray[np.intp]]:
    """Cut a session where its level changes most, and each part again, until none changes."""
    from scipy.special import kolmogorov
    from scipy.stats import rankdata

    whole = np.arange(x.size)
    if x.size < 2 * _PART:
        return [whole]
    scores = rankdata(x) - (x.size + 1) / 2
    squares = float(scores @ scores)
    if squares == 0:
        return [whole]
    sums = np.abs(np.cumsum(scores))
    chance = float(kolmogorov(sums.max() / np.sqrt(x.size * squares / (x.size - 1))))
    at = int(sums.argmax()) + 1
    if chance > risk or min(at, x.size - at) < _PART:
        return [whole]
    found = _parts(x[:at], risk)
    return [*found, *(part + at for part in _parts(x[at:], risk))]


def _two_levels(means: Floats, sizes: list[int]) -> NDArray[np.int8]:
    """Divide parts into low and high ones, so that the squares within are least."""
    order = np.argsort(means, kind="stable")
    m, n = means[order], np.array(sizes, dtype=np.float64)[order]
    total, count = np.cumsum(m * n)[:-1], np.cumsum(n)[:-1]
    between = (total - count * (m @ n) / n.sum()) ** 2 / (count * (n.sum() - count))
    high = np.zeros(means.size, dtype=np.int8)
    high[order[int(between.argmax()) + 1 :]] = 1
    return high


def _line(x: Floats) -> float:
    """Give the squares that a straight line through a session leaves."""
    place = np.arange(x.size) - (x.size - 1) / 2
    y = x - x.mean()
    slope = float(place @ y) / max(1.0, float(place @ place))
    return float(((y - slope * place) ** 2).sum())
