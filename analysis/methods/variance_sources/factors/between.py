"""Factors that differ between sessions only: sessions are what such a factor has been tried on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cells import Cell
from .columns import Columns
from .orders import Directions, Fits, directions

__all__ = ["SessionFits", "between_sessions"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_RISK = 0.05  # fewer arrangements cannot reach it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionFits:
    """How well a factor fits the means of sessions; `fits` is None where they are too few to tell.

    `coordinates` are the means along the factor's directions, `spread` its standard deviation.
    """

    along: Directions
    coordinates: Floats
    spread: float
    fits: Fits | None


def between_sessions(
    cell: Cell, columns: Columns, count: int, rng: np.random.Generator
) -> SessionFits | None:
    """Hold a factor against the sessions of each trial in other orders.

    None where it does not differ between the sessions of any trial.

    Notes
    -----
    Sessions of one trial are exchanged, each weighing the same. Where the arrangements are too few for
    a p-value below 0.05, such as those of three sessions, or the factor has a direction for every two
    sessions, nothing is told.
    """
    trial = np.array([cell.trial[mine[0]] for mine in cell.sessions])
    y = np.array([cell.logs[mine].mean() for mine in cell.sessions])
    rows = []
    for mine in cell.sessions:
        there = mine[columns.known[mine]]
        rows.append(
            columns.table[there].mean(axis=0)
            if there.size
            else np.full(columns.table.shape[1], np.nan)
        )
    table = np.array(rows)
    known = np.isfinite(table).all(axis=1)
    trial, y, table = trial[known], y[known], table[known]
    if not trial.size:
        return None
    whole = table.copy()
    strata = [np.flatnonzero(trial == one) for one in np.unique(trial)]
    for mine in strata:
        y[mine] -= y[mine].mean()
        table[mine] -= table[mine].mean(axis=0)
    found = directions(table, whole)
    square = float(y @ y)
    if found is None or square <= 0:
        return None
    coordinates = found.basis.T @ y
    freedom = max(y.size - len(strata), 1)
    spread = math.sqrt(float((table[:, 0] ** 2).sum()) / freedom)
    few = 2 * found.basis.shape[1] > y.size - len(strata)
    if few or 2 / _arrangements(table, strata) > _RISK:  # two of them may fit alike
        return SessionFits(along=found, coordinates=coordinates, spread=spread, fits=None)
    orders = np.empty((count, y.size))
    for mine in strata:
        orders[:, mine] = rng.permuted(np.broadcast_to(y[mine], (count, mine.size)), axis=1)
    drawn = ((orders @ found.basis) ** 2).sum(axis=1) / square
    fits = Fits(
        found=float(coordinates @ coordinates) / square,
        drawn=drawn,
        along=coordinates,
        length=math.sqrt(square),
        signed=np.zeros(0),
        lengths=np.full(count, math.sqrt(square)),
    )
    return SessionFits(along=found, coordinates=coordinates, spread=spread, fits=fits)


def _arrangements(table: Floats, strata: list[Integers]) -> float:
    """Count the different ways in which the sessions of each trial could have met the factor."""
    logs = 0.0
    for mine in strata:
        alike = Counter(map(tuple, np.round(table[mine], 9).tolist()))
        logs += math.lgamma(mine.size + 1) - sum(math.lgamma(n + 1) for n in alike.values())
    return math.exp(min(logs, 50.0))
