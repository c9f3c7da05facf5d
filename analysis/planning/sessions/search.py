"""The cheapest numbers of sessions and runs that reach a goal, by looking at all of them.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013 (whose closed form
   for the runs leaves out the t quantile, and gives no runs or infinitely many where a variance is 0).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ...stats import least_shift, read_only
from ..goal import Goal

__all__ = ["Spread", "cheapest", "errors", "least_sessions", "limits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Variances of the log difference: `between` sessions, and `within` one for a single block."""

    between: float
    within: float

    def times(self, factor: float) -> Spread:
        """Give both, so many times as large."""
        return replace(self, between=self.between * factor, within=self.within * factor)


@functools.lru_cache(maxsize=16)
def limits(goal: Goal, most: int) -> Floats:
    """Give the largest standard error that reaches a goal, for 2 to `most` sessions."""
    freedom = np.arange(1, most, dtype=np.float64)
    found = np.full(freedom.size, math.inf)
    if goal.half is not None:
        found = np.minimum(found, goal.half / stdtrit(freedom, 1 - goal.alpha / 2))
    if goal.effect is not None:
        found = np.minimum(found, goal.effect / least_shift(goal.power, freedom, goal.alpha))
    return read_only(found)


def errors(spreads: tuple[Spread, ...], sessions: int, runs: int) -> Floats:
    """Give the largest standard error of the spreads, for 2 to `sessions` and 1 to `runs`.

    Returns
    -------
    array, shape (sessions - 1, runs)
    """
    between, within = (
        np.array([getattr(spread, name) for spread in spreads]) for name in ("between", "within")
    )
    session: Floats = (between[:, None] + within[:, None] / np.arange(1, runs + 1)).max(axis=0)
    found: Floats = np.sqrt(session / np.arange(2, sessions + 1)[:, None])
    return found


def cheapest(
    spreads: tuple[Spread, ...],
    goal: Goal,
    cost: Callable[[int, int], float],
    *,
    sessions: int,
    runs: int,
) -> tuple[tuple[int, int] | None, list[int | None]]:
    """Find the cheapest plan.

    Parameters
    ----------
    spreads : tuple of Spread
        Each of them has to reach the goal.
    goal : Goal
        What that is.
    cost : function of (sessions, runs)
        Rising in both.
    sessions, runs : int
        The most that are looked at.

    Returns
    -------
    best : (sessions, runs) or None
        Of plans that cost the same, the one with more sessions. None where none reaches the goal.
    least : list of int or None
        For 2 sessions, 3 and so on, the least runs that reach it.
    """
    reached = errors(spreads, sessions, runs) <= limits(goal, sessions)[:, None]
    least = [int(row.argmax()) + 1 if row.any() else None for row in reached]
    # the error falls with the runs, so the first that reaches it is the cheapest of its sessions
    plans = [(cost(s, r), -s, r) for s, r in enumerate(least, 2) if r is not None]
    if not plans:
        return None, least
    _, negative, best = min(plans)
    return (-negative, best), least


def least_sessions(spreads: tuple[Spread, ...], goal: Goal, runs: int, *, most: int) -> int | None:
    """Give the fewest sessions of so many runs that reach the goal; None beyond `most`."""
    reached = errors(spreads, most, runs)[:, -1] <= limits(goal, most)
    return int(reached.argmax()) + 2 if reached.any() else None
