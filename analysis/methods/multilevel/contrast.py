"""From runs to session values: the tables that `estimates` and `suite` judge.

A difference belongs to one session and one benchmark: the mean, over the blocks that hold both
sides, of the candidate's mean log less the baseline's. Positive means that the candidate is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .design import Codes, Floats, Layout, Side

__all__ = ["Tables", "run_tables", "tables_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """Tables with a row for each session, block or run, and a column for each benchmark.

    Attributes
    ----------
    ours, theirs : array, shape (rows, benchmarks)
        Oriented mean logs of each side; nan where there is none. In paired designs both come from
        the same blocks, and have the same rows.
    within_ours, within_theirs : array, shape (rows, benchmarks)
        The variance that the scatter of the runs gives each of them; nan where that is unknown.
    within : array, shape (rows, benchmarks)
        The same for their difference; empty where the sides have rows of their own.
    rows : tuple of str
        What the rows are called; empty where the sides have rows of their own.
    spread_ours, spread_theirs : array, shape (benchmarks,)
        The standard deviation of the logs of the runs within sessions.
    """

    ours: Floats
    theirs: Floats
    within_ours: Floats
    within_theirs: Floats
    within: Floats
    rows: tuple[str, ...]
    spread_ours: Floats
    spread_theirs: Floats

    @property
    def differences(self) -> Floats:
        """The candidate's oriented logs less the baseline's."""
        return self.ours - self.theirs


class _Means(NamedTuple):
    """Mean logs, and the variance of these means by the scatter of the runs below them."""

    mean: Floats
    variance: Floats
    spread: Floats  # by benchmark


def tables_of(layout: Layout, sign: int, zeroed: NDArray[np.bool_]) -> Tables:
    """Make the tables of a design.

    Parameters
    ----------
    layout : Layout
        The runs and their design.
    sign : int
        -1 where less is better.
    zeroed : bool array, shape (benchmarks,)
        Benchmarks that have runs of 0: their sessions are compared by arithmetic means, and where
        one of those is 0 the benchmark has no values.
    """
    ours, theirs = (
        _session_means(layout, side, sign, zeroed) for side in (layout.ours, layout.theirs)
    )
    if layout.design == "one session, runs":
        single = [_runs(side, layout.benchmarks, sign) for side in (layout.ours, layout.theirs)]
        for table, means in zip(single, (ours, theirs), strict=True):
            table[:, zeroed] = np.nan
            table[0, zeroed] = means.mean[means.mean.shape[0] - 1, zeroed]
        return _apart(
            _Means(single[0], np.full_like(single[0], np.nan), ours.spread),
            _Means(single[1], np.full_like(single[1], np.nan), theirs.spread),
        )
    if layout.design in ("separate", "confounded"):
        return _apart(
            *(
                means._replace(
                    mean=means.mean[side.sessions], variance=means.variance[side.sessions]
                )
                for means, side in ((ours, layout.ours), (theirs, layout.theirs))
            )
        )
    return _paired(layout, ours, theirs, sign, zeroed)


def run_tables(layout: Layout, sign: int) -> tuple[Floats, Floats]:
    """Give the oriented logs of all runs of each side, shape (runs, benchmarks)."""
    return (
        _runs(layout.ours, layout.benchmarks, sign),
        _runs(layout.theirs, layout.benchmarks, sign),
    )


def _logs(side: Side, sign: int) -> Floats:
    """Give oriented logs, 0 for the runs of 0, which `_session_means` compares otherwise."""
    return sign * np.log(np.where(side.values > 0, side.values, 1.0))


def _session_means(layout: Layout, side: Side, sign: int, zeroed: NDArray[np.bool_]) -> _Means:
    n, b = len(layout.labels), layout.benchmarks
    logs = _logs(side, sign)
    cell = side.session * b + side.benchmark
    runs = np.bincount(cell, minlength=n * b)
    mean = np.bincount(cell, logs, minlength=n * b) / np.maximum(runs, 1)
    squares = np.bincount(cell, (logs - mean[cell]) ** 2, minlength=n * b)
    mean = np.where(runs > 0, mean, np.nan)
    variance = np.where(runs > 1, squares / np.maximum((runs - 1) * runs, 1), np.nan)
    free = np.maximum(runs - 1, 0).reshape(n, b).sum(axis=0)
    spread = np.where(
        free > 0, np.sqrt(squares.reshape(n, b).sum(axis=0) / np.maximum(free, 1)), np.nan
    )
    mean, variance = mean.reshape(n, b), variance.reshape(n, b)
    if zeroed.any():
        total = np.bincount(cell, side.values, minlength=n * b).reshape(n, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            arithmetic = sign * np.log(total / runs.reshape(n, b))
        unread = np.isinf(arithmetic).any(axis=0)
        mean[:, zeroed] = np.where(unread, np.nan, arithmetic)[:, zeroed]
        variance[:, zeroed] = np.nan
        spread[zeroed] = np.nan
    return _Means(mean, variance, spread)


def _runs(side: Side, benchmarks: int, sign: int) -> Floats:
    """Give the logs of all runs below each other, shape (most runs, benchmarks)."""
    counts = np.bincount(side.benchmark, minlength=benchmarks)
    table = np.full((int(counts.max()), benchmarks), np.nan)
    order = np.argsort(side.benchmark, kind="stable")
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    table[place, side.benchmark[order]] = _logs(side, sign)[order]
    return table


def _apart(ours: _Means, theirs: _Means) -> Tables:
    return Tables(
        ours=ours.mean,
        theirs=theirs.mean,
        within_ours=ours.variance,
        within_theirs=theirs.variance,
        within=np.empty((0, ours.mean.shape[1])),
        rows=(),
        spread_ours=ours.spread,
        spread_theirs=theirs.spread,
    )


def _paired(
    layout: Layout, ours: _Means, theirs: _Means, sign: int, zeroed: NDArray[np.bool_]
) -> Tables:
    cells = _common_cells(layout, sign)
    n, b = len(layout.labels), layout.benchmarks
    if layout.design == "one session, blocks":
        blocks, row = np.unique(cells.block, return_inverse=True)
        a, c = (np.full((len(blocks), b), np.nan) for _ in range(2))
        a[row, cells.benchmark], c[row, cells.benchmark] = cells.ours, cells.theirs
        for table, means in ((a, ours), (c, theirs)):
            table[:, zeroed] = np.nan
            table[0, zeroed] = means.mean[0, zeroed]
        labels = tuple(str(k + 1) for k in range(len(blocks)))
        within = np.full(a.shape, np.nan)
    else:
        at = cells.session * b + cells.benchmark
        count = np.bincount(at, minlength=n * b)
        some = np.maximum(count, 1)
        a, c = (
            (np.bincount(at, side, minlength=n * b) / some) for side in (cells.ours, cells.theirs)
        )
        squares = np.bincount(at, (cells.ours - cells.theirs - (a - c)[at]) ** 2, minlength=n * b)
        by_blocks = squares / np.maximum((count - 1) * count, 1)
        without = (count == 0).reshape(n, b) | zeroed
        a = np.where(without, ours.mean, a.reshape(n, b))
        c = np.where(without, theirs.mean, c.reshape(n, b))
        scattered = (count > 1).reshape(n, b) & ~without
        within = np.where(scattered, by_blocks.reshape(n, b), ours.variance + theirs.variance)
        common = layout.common
        a, c, within = a[common], c[common], within[common]
        labels = tuple(layout.labels[k] for k in common)
    lonely = np.isnan(a) | np.isnan(c)
    a[lonely] = c[lonely] = within[lonely] = np.nan
    return Tables(
        ours=a,
        theirs=c,
        within_ours=np.full(a.shape, np.nan),
        within_theirs=np.full(a.shape, np.nan),
        within=within,
        rows=labels,
        spread_ours=ours.spread,
        spread_theirs=theirs.spread,
    )


class _Cells(NamedTuple):
    """Blocks of a benchmark that hold both sides, an entry each, with both mean logs."""

    benchmark: Codes
    session: Codes
    block: Codes
    ours: Floats
    theirs: Floats


def _common_cells(layout: Layout, sign: int) -> _Cells:
    a, b = layout.ours, layout.theirs
    blocks = 1 + max(int(a.block.max()), int(b.block.max()))
    key = np.concatenate([side.benchmark * blocks + side.block for side in (a, b)])
    found, first, cell = np.unique(key, return_index=True, return_inverse=True)
    means, there = [], np.ones(len(found), dtype=np.bool_)
    for side, mine in ((a, cell[: len(a.values)]), (b, cell[len(a.values) :])):
        runs = np.bincount(mine, minlength=len(found))
        means.append(
            np.bincount(mine, _logs(side, sign), minlength=len(found)) / np.maximum(runs, 1)
        )
        there &= runs > 0
    session = np.concatenate([a.session, b.session])[first]
    return _Cells(
        benchmark=(found // blocks)[there],
        session=session[there],
        block=(found % blocks)[there],
        ours=means[0][there],
        theirs=means[1][there],
    )
