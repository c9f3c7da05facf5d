"""Who moves where tests of the whole host found something: all variants, or only some.

The tests of the host see that cells agree. They would also where the cells of one variant agree with
each other and the others stay as they are, which is a matter of that variant and not of the host. So
each variant is held against all others: over short stretches of time, whether its mean score goes with
theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .series import Series, middle_of, midranks_along
from .table import RunTable

__all__ = ["Movers", "movers_of", "only_these"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_WITH_OTHERS, _NAMED, _BY_ITSELF = 0.05, 0.01, 0.001  # risks, one-sided
_FEWEST = 5  # stretches
_RUNS = 2  # of a variant in a stretch, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Movers:
    """The variants and benchmarks that move together, where it is not the whole host that does.

    Attributes
    ----------
    variants, benchmarks : tuple of str
        Whose cells agree; empty where that cannot be told.
    others : tuple of str
        The variants that do not show it.
    """

    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scored:
    """A score for each entry, the cell that it is of, and the stretch of time, -1 where there is none."""

    scores: Floats
    stretch: Integers
    benchmark: Integers
    variant: Integers

    def agree(self, one: Flags, other: Flags, risk: float) -> bool:
        """Tell whether two groups of entries go together."""
        return _is_positive([self.moments(one, other)], risk)

    def agree_inside(self, own: Flags) -> bool:
        """Tell whether the benchmarks of one variant go together, each with its others."""
        return _is_positive(
            [
                self.moments(own & (self.benchmark == bench), own & (self.benchmark != bench))
                for bench in np.unique(self.benchmark[own]).tolist()
            ],
            _BY_ITSELF,
        )

    def moments(self, one: Flags, other: Flags) -> tuple[float, float]:
        """Give the sum of products of both groups' mean scores, and its variance over all orders."""
        size = int(self.stretch.max(initial=-1)) + 1
        sums, counts = [], []
        for rows in (one & (self.stretch >= 0), other & (self.stretch >= 0)):
            sums.append(np.bincount(self.stretch[rows], self.scores[rows], size))
            counts.append(np.bincount(self.stretch[rows], minlength=size))
        both = (counts[0] > 0) & (counts[1] > 0)
        n = int(both.sum())
        if n < _FEWEST:
            return 0.0, 0.0
        a, b = (total[both] / count[both] for total, count in zip(sums, counts, strict=True))
        a, b = a - a.mean(), b - b.mean()
        return float(a @ b), float((a @ a) * (b @ b) / (n - 1))


def movers_of(
    table: RunTable, series: Series, *, over: Literal["runs", "sessions"]
) -> Movers | None:
    """Tell who moves; None where all variants do, where there is one only, or too few to tell.

    A variant moves with the host where the sum of products of its mean score and that of all others,
    over stretches of a few runs (or over sessions), is positive at 5 % (normal, with the variance over
    all orders of the stretches). Where two variants or more do, they are named. Where none does, those
    are whose own benchmarks agree at 0.1 %, each with the others of its variant. Their benchmarks are
    those that go with the others among them at 1 %.

    Parameters
    ----------
    table : RunTable
        The runs, of which some test of the host found something.
    series : Series
        The same, arranged by cell and session.
    over : {"runs", "sessions"}
        Whether what moves within sessions is looked at, or the sessions' medians.
    """
    there = np.unique(table.variant)
    scored = _of_runs(table, series, there.size) if over == "runs" else _of_sessions(series)
    if there.size < 2 or np.unique(scored.stretch[scored.stretch >= 0]).size < _FEWEST:
        return None
    used = scored.scores != 0
    mine = {k: scored.variant == k for k in there.tolist()}
    moving = [k for k, own in mine.items() if scored.agree(own & used, ~own & used, _WITH_OTHERS)]
    if len(moving) == there.size:
        return None
    if len(moving) < 2:
        moving = [k for k, own in mine.items() if scored.agree_inside(own & used)]
    among = np.isin(scored.variant, moving) & used
    benchmarks = [
        bench
        for bench in np.unique(scored.benchmark[among]).tolist()
        if scored.agree(
            among & (scored.benchmark == bench), among & (scored.benchmark != bench), _NAMED
        )
    ]
    return Movers(
        variants=tuple(table.variants[k] for k in moving),
        benchmarks=tuple(table.benchmarks[k] for k in benchmarks),
        others=tuple(table.variants[k] for k in mine if k not in moving),
    )


def only_these(table: RunTable, movers: Movers) -> RunTable:
    """Give the runs of the cells that move."""
    variants = [table.variants.index(name) for name in movers.variants]
    kept = np.isin(table.variant, variants)
    if movers.benchmarks:
        kept &= np.isin(
            table.benchmark, [table.benchmarks.index(name) for name in movers.benchmarks]
        )
    labels, session = np.unique(table.session[kept], return_inverse=True)
    return replace(
        table,
        sessions=tuple(table.sessions[k] for k in labels.tolist()),
        values=table.values[kept],
        benchmark=table.benchmark[kept],
        variant=table.variant[kept],
        session=session.astype(np.int64).reshape(-1),
        block=table.block[kept],
        start_s=table.start_s[kept],
    )


def _of_runs(table: RunTable, series: Series, variants: int) -> _Scored:
    """Score runs by their ranks, over short stretches within sessions: some runs of each variant, or blocks."""
    scores = np.zeros(table.values.size)
    scores[series.row[series.present]] = series.scaled()[series.present]
    stretch = np.where(
        table.block < 0, -1, table.session * (table.block.max(initial=0) + 1) + table.block
    )
    if table.ordered:
        begin = 0
        for k in range(len(table.sessions)):
            rows = np.flatnonzero(table.session == k)
            stretch[rows] = begin + np.arange(rows.size) // (_RUNS * variants)
            begin = int(stretch[rows].max(initial=begin)) + 1
    return _Scored(scores=scores, stretch=stretch, benchmark=table.benchmark, variant=table.variant)


def _of_sessions(series: Series) -> _Scored:
    """Score sessions by the ranks of their medians in each cell that has runs in all of them."""
    complete = (series.counts > 0).all(axis=1)
    sessions = series.counts.shape[1]
    ranks = midranks_along(middle_of(series.values[complete])) - (sessions + 1) / 2
    return _Scored(
        scores=ranks.reshape(-1),
        stretch=np.tile(np.arange(sessions), int(complete.sum())),
        benchmark=np.repeat(series.benchmark[complete], sessions),
        variant=np.repeat(series.variant[complete], sessions),
    )


def _is_positive(parts: list[tuple[float, float]], risk: float) -> bool:
    total, variance = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return variance > 0 and float(ndtr(-total / math.sqrt(variance))) <= risk
