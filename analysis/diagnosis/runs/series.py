"""The runs of each cell and session as rows of one array, and their ranks.

A series is what one cell (benchmark and variant) measured in one session, in order. All tests within
sessions take ranks within the series, so that no shift between sessions, no law of the values and no
monotone scale enters them: under exchangeable runs each order of the ranks is equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .table import RunTable

__all__ = ["Series", "middle_of", "midranks_along", "series_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_FEWEST = 3  # runs of a series that say something about their order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """Series of C cells in S sessions, of at most R runs.

    Attributes
    ----------
    benchmark, variant : array of int, shape (C,)
        The cell.
    row : array of int, shape (C, S, R)
        The place of each run in its table; -1 where there is none.
    values : array of float, shape (C, S, R)
        The values; nan where there is none.
    counts : array of int, shape (C, S)
        The runs of each series.
    scores : array of float, shape (C, S, R)
        Midranks within the series less their mean, 0 where there is no run. A series that is too
        short or has one value only has the score 0 throughout.
    squares : array of float, shape (C, S)
        The sums of the squared scores.
    """

    benchmark: Integers
    variant: Integers
    row: Integers
    values: Floats
    counts: Integers
    scores: Floats
    squares: Floats

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a run."""
        found: NDArray[np.bool_] = self.row >= 0
        return found

    @property
    def runs(self) -> Integers:
        """The runs of each cell, shape (C,)."""
        found: Integers = self.counts.sum(axis=1)
        return found

    def scaled(self) -> Floats:
        """Scores with variance 1 within each series (0 where all are equal), shape (C, S, R)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(self.counts / self.squares)
        scale[~np.isfinite(scale)] = 0.0
        found: Floats = self.scores * scale[:, :, None]
        return found


def series_of(table: RunTable) -> Series:
    """Arrange the runs of a table by cell and session."""
    sessions = len(table.sessions)
    cells, cell = np.unique(
        table.benchmark * len(table.variants) + table.variant, return_inverse=True
    )
    group = cell.reshape(-1) * sessions + table.session
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group, minlength=cells.size * sessions)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    place = np.arange(order.size) - np.repeat(starts, counts)
    shape = (cells.size, sessions, int(counts.max()))
    row = np.full(shape, -1, dtype=np.int64)
    row.reshape(cells.size * sessions, -1)[group[order], place] = order
    values = np.where(row >= 0, table.values[row], np.nan)
    counts = counts.reshape(shape[:2])
    ranks = midranks_along(np.where(row >= 0, values, np.inf))
    centred = ranks - ((counts + 1) / 2)[:, :, None]
    scores = np.where((row >= 0) & (counts >= _FEWEST)[:, :, None], centred, 0.0)
    return Series(
        benchmark=cells // len(table.variants),
        variant=cells % len(table.variants),
        row=row,
        values=values,
        counts=counts,
        scores=scores,
        squares=(scores**2).sum(axis=2),
    )


def midranks_along(values: Floats) -> Floats:
    """Rank along the last axis from 1, equal values by their mean rank; what is absent is infinite."""
    size = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones(values.shape, dtype=np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    last = np.ones(values.shape, dtype=np.bool_)
    last[..., :-1] = new[..., 1:]
    at = np.arange(size)
    first = np.maximum.accumulate(np.where(new, at, 0), axis=-1)
    final = np.minimum.accumulate(np.where(last, at, size)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + final) / 2 + 1, axis=-1)
    return ranks


def middle_of(values: Floats) -> Floats:
    """Give the median along the last axis of what is known; nan where nothing is."""
    ordered = np.sort(values, axis=-1)
    last = np.maximum(np.isfinite(values).sum(axis=-1) - 1, 0)
    low = np.take_along_axis(ordered, (last // 2)[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, ((last + 1) // 2)[..., None], axis=-1)[..., 0]
    found: Floats = low / 2 + high / 2
    return found
