"""Shift between sessions, against what runs differ within them."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from .series import Series, midranks_along
from .within import LEAST, CellTests

__all__ = ["session_shift"]


def session_shift(series: Series) -> CellTests:
    """Test whether the sessions of each cell have one level (Kruskal and Wallis 1952, with ties).

    The hypothesis: all runs of the cell are exchangeable, over sessions too. A cell needs 10 runs,
    and two runs in each of two sessions.
    """
    cells, sessions, size = series.values.shape
    n = series.counts.astype(np.float64)
    flat = np.where(series.present, series.values, np.inf).reshape(cells, sessions * size)
    ranks = midranks_along(flat).reshape(series.values.shape)
    runs = n.sum(axis=1)
    centred = np.where(series.present, ranks - ((runs + 1) / 2)[:, None, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(n > 0, centred.sum(axis=2) / n, 0.0)
        among = (n * means**2).sum(axis=1)
        statistic = (runs - 1) * among / (centred**2).sum(axis=(1, 2))
    freedom = (n > 0).sum(axis=1) - 1
    tested = (runs >= LEAST) & ((n >= 2).sum(axis=1) >= 2) & np.isfinite(statistic)
    found = np.full(cells, np.nan)
    found[tested] = np.clip(
        chdtrc(freedom[tested], statistic[tested]), np.finfo(np.float64).tiny, 1.0
    )
    return CellTests(code="session-shift", pvalues=found)
