"""Who moves where a test of the host found something: all programs, those of some variants or benchmarks, or one.

The tests of the host see that cells agree, or that all of them together rise, begin or change in one way. They would
also where the cells of one variant do and the others stay as they are, or where one cell does it so strongly that it
leads the sum, which is no matter of the host. So each variant, and then each benchmark, is asked for itself: does it go
with all others, or does it show the same alone?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .host_tests import change_parts, first_run_parts, trend_parts
from .run_table import Floats, Integers, RunTable, Series, middle_of, midranks_along

if TYPE_CHECKING:
    from .host_tests import HostTest

Flags = NDArray[np.bool_]
_WITH_OTHERS, _NAMED, _BY_ITSELF = 0.05, 0.01, 0.001  # risks, one-sided
_CLEARLY = 3e-5  # four standard deviations: by chance 1.6 or less in 1 % of what moves alike
_FEWEST = 5  # stretches
_RUNS = 2  # of a variant in a stretch, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Movers:
    """The variants and benchmarks that move, where it is not the whole host that does.

    `others` are the variants that do not show it; there are none where some benchmarks move in all of them. All
    three are empty where it cannot be told who moves.
    """

    variants: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def cell(self) -> tuple[str, str] | None:
        """The benchmark and the variant, where one cell alone moves."""
        if len(self.variants) == len(self.benchmarks) == 1:
            return self.benchmarks[0], self.variants[0]
        return None


class _Seen(Protocol):
    """What a test of the host says of groups of entries: each has a benchmark and a variant."""

    @property
    def benchmark(self) -> Integers: ...
    @property
    def variant(self) -> Integers: ...
    @property
    def fewest(self) -> int:
        """How many groups must move before one of them is named: agreement takes two."""

    def moves(self, own: Flags, other: Flags, risk: float) -> bool:
        """Tell whether a group of entries moves, and with another one where that can be asked."""

    def moves_inside(self, own: Flags, parts: Integers) -> bool:
        """Tell whether the parts of a group move together, whatever the other groups do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """A score for each entry, the cell that it is of, and the stretch of time, -1 where there is none."""

    scores: Floats
    stretch: Integers
    benchmark: Integers
    variant: Integers
    fewest: int = 2

    def moves(self, own: Flags, other: Flags, risk: float) -> bool:
        """Tell whether two groups of entries go together."""
        return _is_positive([self.moments(own, other)], risk)

    def moves_inside(self, own: Flags, parts: Integers) -> bool:
        """Tell whether the parts of a group go together, each with its others."""
        each = [parts == part for part in np.unique(parts[own]).tolist()]
        return _is_positive([self.moments(own & one, own & ~one) for one in each], _BY_ITSELF)

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """What each cell adds to a statistic that is a sum, and the variance of that where its runs are exchangeable."""

    values: Floats
    variances: Floats
    benchmark: Integers
    variant: Integers
    fewest: int = 1

    def moves(self, own: Flags, other: Flags, risk: float) -> bool:  # noqa: ARG002 - the other shows itself
        """Tell whether a group shows by itself what all together do."""
        way = math.copysign(1.0, float(self.values.sum()))
        return _is_positive(
            [(way * float(self.values[own].sum()), float(self.variances[own].sum()))], risk
        )

    def moves_inside(self, own: Flags, parts: Integers) -> bool:  # noqa: ARG002 - as above
        """Nothing more can be asked: who shows it has been named."""
        return False


def who_moves(
    table: RunTable, series: Series, tests: Sequence[HostTest], over: Literal["runs", "sessions"]
) -> dict[HostTest, Movers | None]:
    """Tell of each of these tests who moves; None where all do.

    What is a sum over cells (`host-trend`, `host-warm-up`, `host-change`) is asked of each group of cells by the
    same sum, at 5 %. Of agreement (`host-blocks`, `host-neighbours`, `host-sessions`): a group moves with the host where
    the sum of products of its mean score and that of all others, over stretches of a few runs (or over sessions), is
    positive at 5 % (normal, with the variance over all orders of the stretches).
    """
    agreed: list[Movers | None] = []
    told = {}
    for test in tests:
        parts = _parts(series, test)
        if parts is None and not agreed:
            scored = _of_runs(table, series) if over == "runs" else _of_sessions(series)
            few = np.unique(scored.stretch[scored.stretch >= 0]).size < _FEWEST
            agreed.append(Movers() if few else _who(scored, table))
        told[test] = agreed[0] if parts is None else _who(parts, table)
    return told


def _who(seen: _Seen, table: RunTable) -> Movers | None:
    """Name the variants that move, and the benchmarks among them; None where all do."""
    there = np.unique(table.variant).tolist()
    mine = {k: seen.variant == k for k in there}
    moving = [
        k for k, own in mine.items() if len(there) == 1 or seen.moves(own, ~own, _WITH_OTHERS)
    ]
    if len(moving) == len(there):
        return _some_benchmarks(seen, table)
    if len(moving) < seen.fewest:
        moving = [k for k, own in mine.items() if seen.moves_inside(own, seen.benchmark)]
    among = np.isin(seen.variant, moving)
    each = {k: seen.benchmark == k for k in np.unique(seen.benchmark[among]).tolist()}
    benchmarks = [k for k, one in each.items() if seen.moves(among & one, among & ~one, _NAMED)]
    return Movers(
        variants=tuple(table.variants[k] for k in moving),
        benchmarks=tuple(table.benchmarks[k] for k in benchmarks),
        others=tuple(table.variants[k] for k in there if k not in moving and moving),
    )


def _some_benchmarks(seen: _Seen, table: RunTable) -> Movers | None:
    """Name the benchmarks that move in all variants, where all the others together do not; else None.

    It is said only where half of them or more move so clearly that the others, had they moved alike, would show it.
    """
    each = {k: seen.benchmark == k for k in np.unique(table.benchmark).tolist()}
    moving = [k for k, own in each.items() if seen.moves(own, ~own, _WITH_OTHERS)]
    among = np.isin(seen.benchmark, moving)
    clear = [k for k in moving if seen.moves(each[k], among & ~each[k], _CLEARLY)]
    if len(moving) < seen.fewest:
        moving = clear = [k for k, own in each.items() if seen.moves_inside(own, seen.variant)]
        among = np.isin(seen.benchmark, moving)
    some = moving and not among.all() and 2 * len(clear) >= len(moving)
    if not some or seen.moves(~among, among, _WITH_OTHERS):
        return None
    return Movers(
        variants=tuple(table.variants[k] for k in np.unique(table.variant).tolist()),
        benchmarks=tuple(table.benchmarks[k] for k in moving),
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


def _parts(series: Series, test: HostTest) -> Parts | None:
    """Give what each cell adds to the statistic of a test, None of one that is no sum over cells."""
    if test.code == "host-trend":
        values, variances = trend_parts(series)
    elif test.code == "host-warm-up":
        values, variances = first_run_parts(series)
    elif test.session is not None and test.row is not None:
        values, variances = change_parts(series, test.session, test.row)
    else:
        return None
    return Parts(
        values=values, variances=variances, benchmark=series.benchmark, variant=series.variant
    )


def _of_runs(table: RunTable, series: Series) -> Scored:
    """Score runs by their ranks, over short stretches within sessions: some runs of each variant, or blocks."""
    scores = np.zeros(table.values.size)
    scores[series.row[series.present]] = series.scaled()[series.present]
    stretch = np.where(
        table.block < 0, -1, table.session * (table.block.max(initial=0) + 1) + table.block
    )
    if table.ordered:
        begin, variants = 0, np.unique(table.variant).size
        for k in range(len(table.sessions)):
            rows = np.flatnonzero(table.session == k)
            stretch[rows] = begin + np.arange(rows.size) // (_RUNS * variants)
            begin = int(stretch[rows].max(initial=begin)) + 1
    stretch = np.where(scores == 0, -1, stretch)  # they tell nothing
    return Scored(scores=scores, stretch=stretch, benchmark=table.benchmark, variant=table.variant)


def _of_sessions(series: Series) -> Scored:
    """Score sessions by the ranks of their medians in each cell that has runs in all of them."""
    complete = (series.counts > 0).all(axis=1)
    sessions = series.counts.shape[1]
    ranks = midranks_along(middle_of(series.values[complete])) - (sessions + 1) / 2
    return Scored(
        scores=ranks.reshape(-1),
        stretch=np.where(ranks == 0, -1, np.arange(sessions)).reshape(-1),
        benchmark=np.repeat(series.benchmark[complete], sessions),
        variant=np.repeat(series.variant[complete], sessions),
    )


def _is_positive(parts: list[tuple[float, float]], risk: float) -> bool:
    total, variance = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return variance > 0 and float(ndtr(-total / math.sqrt(variance))) <= risk
