"""Whether a session resembles the one before it: then there are fewer independent values than sessions.

The test deals whole sessions out in another order, so that what benchmarks share stays together ([1]_,
section 15.2). It is a warning: an interval that is widened by the factor still does not hold its level.

References
----------
.. [1] E. L. Lehmann, J. P. Romano, "Testing Statistical Hypotheses", 3rd edition, 2005.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....data import PerformanceMatrix, session_order
from ....stats import stream
from ..contrast import Tables
from ..design import Layout
from ..estimates import FLAT

__all__ = ["Dependence", "dependence_in", "dependence_of"]

Floats = NDArray[np.float64]

LEAST = 8  # sessions; with fewer nothing is seen
ORDERS = 999
RISK = 0.01  # of one series of sessions; two sides share it
_SEED = 20_261_124


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """How sessions resemble their neighbours.

    Attributes
    ----------
    lag1 : float
        Mean over the benchmarks of the autocorrelation of session values that follow each other.
    pvalue : float
        One-sided, of "sessions are exchangeable", by 999 other orders of the sessions.
    sessions, benchmarks : int
        How many it rests on.
    side : {"candidate", "baseline"} or None
        Where sides have sessions of their own: of which these are, the surer one. The risk of the
        caution is then halved.
    factor : float
        By how much the intervals would have to be wider, roughly: sqrt((1 + rho) / (1 - rho)) with
        rho = lag1 + (1 + 3 lag1) / sessions, between 0 and .98.
    """

    lag1: float
    pvalue: float
    sessions: int
    benchmarks: int
    side: Literal["candidate", "baseline"] | None = None
    factor: float

    @property
    def warned(self) -> bool:
        """Whether that is more than chance."""
        return self.pvalue <= (RISK if self.side is None else RISK / 2)


def dependence_of(
    values: Floats, *, side: Literal["candidate", "baseline"] | None = None
) -> Dependence | None:
    """Test the session values of all benchmarks; None with fewer than eight sessions of any.

    Parameters
    ----------
    values : array, shape (sessions, benchmarks)
        In the order of time; nan where a benchmark has none: its other sessions then follow each other.
    side : {"candidate", "baseline"}, optional
        Whose they are.
    """
    there = ~np.isnan(values)
    columns = [
        (np.flatnonzero(rows), column[rows])
        for rows, column in zip(there.T, values.T, strict=True)
        if rows.sum() >= LEAST and np.ptp(column[rows]) >= FLAT
    ]
    if not columns:
        return None
    keys = stream(_SEED, "order of sessions").random((ORDERS, values.shape[0]))
    observed = np.zeros(1)
    others = np.zeros(ORDERS)
    orders: dict[bytes, NDArray[np.intp]] = {}
    for rows, column in columns:
        known = rows.tobytes()
        if known not in orders:
            orders[known] = np.argsort(keys[:, rows], axis=1)
        observed += _lag1(column[None, :])
        others += _lag1(column[orders[known]])
    r = float(observed[0]) / len(columns)
    hits = int((others >= float(observed[0]) - FLAT).sum())
    sessions = int(there.any(axis=1).sum())
    rho = min(max(r + (1 + 3 * r) / sessions, 0.0), 0.98)
    return Dependence(
        lag1=r,
        pvalue=(1 + hits) / (1 + ORDERS),
        sessions=sessions,
        benchmarks=len(columns),
        side=side,
        factor=math.sqrt((1 + rho) / (1 - rho)),
    )


def dependence_in(
    layout: Layout, tables: Tables, candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> Dependence | None:
    """Test the sessions of a design: their differences where sides are paired, else each side's.

    None where the order of the sessions in time is not known, or one side's is not, and where hosts
    stand for sessions.

    Parameters
    ----------
    layout, tables : Layout, Tables
        Of both sides.
    candidate, baseline : PerformanceMatrix
        As `analysis.data.match` gives them.
    """
    if layout.outermost != "session":
        return None
    if layout.design == "paired":
        places = _places(layout, candidate, layout.common)
        return None if places is None else dependence_of(tables.differences[places])
    if layout.design != "separate":
        return None
    ours = _places(layout, candidate, layout.ours.sessions)
    theirs = _places(layout, baseline, layout.theirs.sessions)
    found = (
        None if ours is None else dependence_of(tables.ours[ours], side="candidate"),
        None if theirs is None else dependence_of(tables.theirs[theirs], side="baseline"),
    )
    known = [one for one in found if one is not None]
    return min(known, key=lambda one: one.pvalue, default=None)


def _places(
    layout: Layout, matrix: PerformanceMatrix, rows: NDArray[np.int64]
) -> NDArray[np.intp] | None:
    """Give the rows of a table in the order of time; `rows` are the sessions that they belong to."""
    order = {str(label): place for place, label in enumerate(session_order(matrix))}
    places = [order.get(layout.labels[row]) for row in rows.tolist()]
    known = [place for place in places if place is not None]
    return np.argsort(known) if len(known) == len(places) else None


def _lag1(values: Floats) -> Floats:
    """Give the lag-1 autocorrelation of each row."""
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray((centred[:, :-1] * centred[:, 1:]).sum(axis=1) / (centred**2).sum(axis=1))
