"""What the clock's step adds to the error of an estimate, so that equal readings prove nothing.

Readings that are whole multiples of a step hide differences below it. A reading is uniform within its
step at best, so that its error has the variance step^2 / 12 at least: that is a floor of the standard
error. Where the runs vary less than half a step, all of them may be rounded to one side: there the
whole step is added to the half-width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...stats import clock_step
from .contrast import Tables
from .design import PAIRS, Codes, Layout, Side
from .estimates import of_differences

__all__ = ["Resolution", "Source", "resolution_of"]

Floats = NDArray[np.float64]
Source = Literal["exact", "runs", "other benchmarks"]

EXACT = frozenset(
    {"B", "byte", "bytes", "1", "count", "counts", "instructions"}
)  # units of what is counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resolution:
    """The clock's step and what follows from it, arrays over the benchmarks; nan where it is unknown.

    Attributes
    ----------
    step : array
        The smallest difference between two values, in their unit.
    sources : tuple of {"exact", "runs", "other benchmarks"} or None
        How it is known.
    log : array
        The same on the log scale, at the smaller of both means.
    floor_ours, floor_theirs : array
        The least standard error of each side's mean.
    added : array
        What is added to half-widths: 0 or `log`.
    """

    step: Floats
    sources: tuple[Source | None, ...]
    log: Floats
    floor_ours: Floats
    floor_theirs: Floats
    added: Floats

    @property
    def floor(self) -> Floats:
        """The least standard error of the difference."""
        return np.hypot(self.floor_ours, self.floor_theirs)


def resolution_of(
    layout: Layout,
    tables: Tables,
    samples: Sequence[tuple[Floats, Floats]],
    *,
    sign: int,
    unit: str,
    zeroed: NDArray[np.bool_],
) -> Resolution:
    """Find the clock's step of each benchmark.

    In this order: 1 of what is counted (bytes, events); the greatest step of which all differences
    between the runs of both sides are multiples, if some two runs are equal; the least of these of the
    other benchmarks; else it is unknown.

    Parameters
    ----------
    layout, tables
        The design, and what the runs come to in it.
    samples : sequence of pairs of arrays
        The runs of both sides of each benchmark.
    sign : int
        -1 where less is better.
    unit : str
        Of the values.
    zeroed : bool array, shape (benchmarks,)
        Benchmarks that have runs of 0, which shows that the step is as large as a run.
    """
    step, sources = _steps([np.concatenate(both) for both in samples], unit)
    means = [
        np.exp(sign * of_differences(table).estimate) for table in (tables.ours, tables.theirs)
    ]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        log = np.log1p(step / np.minimum(*means))
    ours, theirs = (log * np.sqrt(shares / 12.0) / count for shares, count in _rounding(layout))
    with np.errstate(invalid="ignore"):
        coarse = zeroed | (_spread(layout) < log / 2)
    return Resolution(
        step=step,
        sources=sources,
        log=log,
        floor_ours=ours,
        floor_theirs=theirs,
        added=np.where(np.isnan(log), np.nan, np.where(coarse, log, 0.0)),
    )


def _steps(values: Sequence[Floats], unit: str) -> tuple[Floats, tuple[Source | None, ...]]:
    found = np.full(len(values), np.nan)
    sources: list[Source | None] = [None] * len(values)
    for k, runs in enumerate(values):
        if unit in EXACT and (runs == np.rint(runs)).all():
            found[k], sources[k] = 1.0, "exact"
        elif np.unique(runs).size < runs.size and (step := clock_step(runs)) is not None:
            found[k], sources[k] = step, "runs"
    of_runs = [found[k] for k, source in enumerate(sources) if source == "runs"]
    if of_runs:
        for k, source in enumerate(sources):
            if source is None:
                found[k], sources[k] = min(of_runs), "other benchmarks"
    return found, tuple(sources)


def _rounding(layout: Layout) -> list[tuple[Floats, Floats]]:
    """Give of each side the sum over its values of 1 / runs, and how many values there are."""
    b = layout.benchmarks
    if layout.design == "one session, runs":
        runs = [
            np.bincount(s.benchmark, minlength=b).astype(float)
            for s in (layout.ours, layout.theirs)
        ]
        return [(count, np.maximum(count, 1.0)) for count in runs]
    by_blocks = layout.design == "one session, blocks"
    counts = [
        _counts(side, side.block if by_blocks else side.session, layout)
        for side in (layout.ours, layout.theirs)
    ]
    if layout.design in PAIRS:  # what one side alone has takes no part
        both = (counts[0] > 0) & (counts[1] > 0)
        counts = [np.where(both, count, 0) for count in counts]
    return [
        (
            np.where(count > 0, 1.0 / np.maximum(count, 1), 0.0).sum(axis=0),
            np.maximum((count > 0).sum(axis=0), 1).astype(np.float64),
        )
        for count in counts
    ]


def _counts(side: Side, row: Codes, layout: Layout) -> Codes:
    rows = 1 + max(
        int(one.max()) for s in (layout.ours, layout.theirs) for one in (s.session, s.block)
    )
    cell = row * layout.benchmarks + side.benchmark
    found = np.bincount(cell, minlength=rows * layout.benchmarks)
    return found.reshape(rows, layout.benchmarks)


def _spread(layout: Layout) -> Floats:
    """Give the standard deviation of the logs of all runs, each side about its mean."""
    squares, sides = np.zeros(layout.benchmarks), np.zeros(layout.benchmarks)
    for side in (layout.ours, layout.theirs):
        logs = np.log(np.where(side.values > 0, side.values, 1.0))
        runs = np.bincount(side.benchmark, minlength=layout.benchmarks)
        mean = np.bincount(side.benchmark, logs, minlength=layout.benchmarks) / np.maximum(runs, 1)
        apart = np.bincount(
            side.benchmark, (logs - mean[side.benchmark]) ** 2, minlength=layout.benchmarks
        )
        squares += np.where(runs > 1, apart / np.maximum(runs - 1, 1), 0.0)
        sides += runs > 1
    return np.asarray(np.where(sides > 0, np.sqrt(squares / np.maximum(sides, 1)), np.nan))
