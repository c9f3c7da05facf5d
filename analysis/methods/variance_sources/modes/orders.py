"""Other orders of labels within their sessions: what chance would make of them.

A factor that was drawn for each run may be held against any order of the labels. Of an observed one only
the whole session is turned, so that neighbours stay neighbours: labels and covariate keep the dependence
that each has in itself, and lose only that between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["detrended", "permuted", "turned", "within"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Runs = NDArray[np.intp]
_NOTHING = 1e-9  # of the spread: what rounding leaves of a straight line


def within(sessions: NDArray[np.int64]) -> tuple[Runs, ...]:
    """Give the runs of each session, in their order."""
    return tuple(np.flatnonzero(sessions == one) for one in dict.fromkeys(sessions.tolist()))


def permuted(
    labels: Labels, sessions: Sequence[Runs], count: int, rng: np.random.Generator
) -> Labels:
    """Give `count` orders of the labels, each drawn from all orders within the sessions."""
    found = np.empty((count, labels.size), dtype=np.int8)
    for runs in sessions:
        places = np.argsort(rng.random((count, runs.size)), axis=1)
        found[:, runs] = labels[runs][places]
    return found


def turned(
    labels: Labels, sessions: Sequence[Runs], count: int, rng: np.random.Generator
) -> Labels:
    """Give `count` orders in which each session was turned by a number of runs drawn for it."""
    found = np.empty((count, labels.size), dtype=np.int8)
    for runs in sessions:
        by = rng.integers(runs.size, size=(count, 1))
        found[:, runs] = labels[runs][(np.arange(runs.size) + by) % runs.size]
    return found


def detrended(values: Floats, sessions: Sequence[Runs]) -> Floats:
    """Take the straight line out of each session, and leave its mean; unknown values stay nan.

    What only grows with time, as the clock does, is the same everywhere afterwards.
    """
    found = values.copy()
    for runs in sessions:
        known = np.isfinite(values[runs])
        if known.sum() < 3:
            continue
        x = np.flatnonzero(known) - np.flatnonzero(known).mean()
        y = values[runs][known] - values[runs][known].mean()
        rest = y - x * (x @ y) / (x @ x)
        if np.abs(rest).max() <= _NOTHING * np.abs(values[runs][known]).max():
            rest = np.zeros_like(rest)
        found[runs[known]] = values[runs][known].mean() + rest
    return found
