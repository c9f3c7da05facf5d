"""Modes told apart by the order: two levels between which the runs change within sessions.

Where two speeds are too close for their values to show them, runs that stay at one for a while still
do. The levels and the places where the runs change between them are those that leave the least squares,
each change being charged as if it were noise [1]_; they count where they explain the values far better
than a straight line through each session does, and than a walk in which each run is like the one before.

References
----------
.. [1] Y.-C. Yao, "Estimating the number of change-points via Schwarz' criterion", Statistics &
       Probability Letters 6, 1988.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .by_values import LEAST

__all__ = ["modes_by_order"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Runs = NDArray[np.intp]
_CHARGE = 2.0  # of a change, in variances times the logarithm of the number of runs
_ROUNDS = 20
_CLEAR = 2.0  # standard deviations between the levels
_BETTER = 0.6  # squares that two levels may leave of what lines and walks leave
_STAY = 4.0  # runs at a level, on average: what changes faster is told by its values or not at all
_NORMAL = 1.4826


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
    if x.size < 2 * LEAST:
        return None
    labels = _levels(x, runs)
    changes = sum(int(np.count_nonzero(np.diff(labels[mine]))) for mine in runs)
    counts = np.bincount(labels, minlength=2)
    if counts.min() < LEAST or changes == 0 or x.size < _STAY * (changes + len(runs)):
        return None
    means = [float(x[labels == level].mean()) for level in (0, 1)]
    left = float(((x - np.take(means, labels)) ** 2).sum())
    if means[1] - means[0] < _CLEAR * (left / (x.size - 2)) ** 0.5:
        return None
    rivals = (sum(_line(x[mine]) for mine in runs), _wandering([x[mine] for mine in runs]))
    return labels if left <= _BETTER * min(rivals) else None


def _levels(x: Floats, runs: Sequence[Runs]) -> Labels:
    """Find levels and changes in turn, from the quarters of the values on, until nothing changes."""
    steps = np.concatenate([np.diff(x[mine]) for mine in runs])
    variance = 0.5 * (_NORMAL * float(np.median(np.abs(steps)))) ** 2 if steps.size else 0.0
    charge = _CHARGE * variance * float(np.log(x.size))
    low, high = np.quantile(x, (0.25, 0.75))
    labels = np.zeros(x.size, dtype=np.int8)
    for _ in range(_ROUNDS):
        before = labels.copy()
        for mine in runs:
            labels[mine] = _path((x[mine] - low) ** 2, (x[mine] - high) ** 2, charge)
        if (labels == before).all() or not 0 < labels.sum() < x.size:
            break
        low, high = x[labels == 0].mean(), x[labels == 1].mean()
    return labels


def _path(at_low: Floats, at_high: Floats, charge: float) -> Labels:
    """Give the levels of one session with the least squares and charges (dynamic programming)."""
    costs = np.column_stack((at_low, at_high)).tolist()
    stayed = []
    low, high = costs[0]
    for here_low, here_high in costs[1:]:
        stayed.append((low <= high + charge, high <= low + charge))
        low, high = min(low, high + charge) + here_low, min(high, low + charge) + here_high
    found = np.empty(len(costs), dtype=np.int8)
    level = int(high < low)
    found[-1] = level
    for place in range(len(stayed) - 1, -1, -1):
        level = level if stayed[place][level] else 1 - level
        found[place] = level
    return found


def _line(x: Floats) -> float:
    """Give the squares that a straight line through a session leaves."""
    place = np.arange(x.size) - (x.size - 1) / 2
    y = x - x.mean()
    slope = float(place @ y) / max(1.0, float(place @ place))
    return float(((y - slope * place) ** 2).sum())


def _wandering(sessions: Sequence[Floats]) -> float:
    """Give the squares that a prediction of each run from the one before it leaves, of all runs."""
    pairs = [(y[:-1] - y.mean(), y[1:] - y.mean()) for y in sessions if y.size > 1]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    slope = float(before @ after) / max(np.finfo(np.float64).tiny, float(before @ before))
    runs = sum(y.size for y in sessions)
    return float(((after - slope * before) ** 2).mean()) * runs
