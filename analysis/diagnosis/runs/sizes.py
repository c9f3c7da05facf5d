"""How large what a test found is: in the unit of each finding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .describe import Description
from .series import Series
from .table import RunTable
from .within import CellTests

__all__ = ["size_of"]

Floats = NDArray[np.float64]


def size_of(
    test: CellTests, cell: int, table: RunTable, series: Series, figures: Description
) -> float | None:
    """Give the size of a finding of one cell.

    Returns
    -------
    float or None
        ``order``: the change from the first to the last run of a session; ``change-point``: that at
        the change; ``warm-up``: of the first run against the others; each relative, 0.02 is 2 % more.
        ``lag-1``, ``ljung-box``, ``runs-test``: the autocorrelation at lag 1. ``session-shift``: the
        relative standard deviation of sessions. None where it is not known.
    """
    if test.code in ("lag-1", "ljung-box", "runs-test"):
        found = float(figures.lag_1[cell])
    elif test.code == "session-shift":
        found = math.expm1(min(float(figures.session_sd[cell]), 700.0))
    else:
        found = _relative(test, cell, table, series)
    return found if math.isfinite(found) else None


def _relative(test: CellTests, cell: int, table: RunTable, series: Series) -> float:
    rows = [row[row >= 0] for row in series.row[cell]]
    logs = table.logs
    early: list[Floats] = []
    late: list[Floats] = []
    if test.code == "change-point" and test.session is not None and test.place is not None:
        mine = logs[rows[int(test.session[cell])]]
        cut = int(test.place[cell])
        return _apart(mine[:cut], mine[cut:])
    for row in rows:
        if row.size < 2:
            continue
        relative = logs[row] - np.median(logs[row])
        if test.code == "warm-up":
            early.append(relative[1:])
            late.append(relative[:1])
        else:
            half = row.size // 2
            early.append(relative[:half])
            late.append(relative[-half:])
    if not early:
        return math.nan
    times = 1.0 if test.code == "warm-up" else 2.0  # halves lie half a session apart
    return _apart(np.concatenate(early), np.concatenate(late), times)


def _apart(before: Floats, after: Floats, times: float = 1.0) -> float:
    if not (before.size and after.size):
        return math.nan
    return math.expm1(min(times * float(np.median(after) - np.median(before)), 700.0))
