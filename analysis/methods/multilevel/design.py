"""From runs to session values: the design that sessions and blocks allow, and its tables.

A difference belongs to one session and one benchmark: the mean, over the blocks that hold both
sides, of the candidate's mean log less the baseline's. Positive means that the candidate is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...data.pair import Match, match
from ...pages import number_format as figures
from ...pages.model import Caution, ShortSentence, plain
from ...pages.number_format import Difference
from ...stats.samples import Array, Flags, Integers

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.runs import Unit

Design = Literal[
    "paired", "separate", "one session, blocks", "one session, runs", "confounded", "hosts"
]
PAIRS: tuple[Design, ...] = ("paired", "one session, blocks")  # both sides have the same rows
Rows = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideRuns:
    """The runs of one variant, an entry a run; `benchmark`, `session` and `block` are numbers from 0."""

    values: Array
    benchmark: Integers
    session: Integers
    block: Integers

    @property
    def sessions(self) -> Integers:
        """The sessions that hold a run of it, in their order."""
        return np.unique(self.session)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Both sides in one numbering of sessions and blocks.

    `design`: What is compared with what; decided once, over all benchmarks. `ours`, `theirs`: The
    candidate's and the baseline's runs. `labels`: The sessions' ids by their number. `blocks`:
    Whether blocks are known on both sides. Without, each session counts as one block. `benchmarks`:
    How many. `outermost` ({"session", "host"}): What the sessions are; hosts only where both sides'
    are. `arithmetic`: The benchmarks whose values are compared, not their logs.
    """

    design: Design
    ours: SideRuns
    theirs: SideRuns
    labels: tuple[str, ...]
    blocks: bool
    benchmarks: int
    outermost: Unit
    arithmetic: Flags | None = None

    @property
    def common(self) -> Integers:
        """The sessions that hold runs of both sides."""
        return np.intersect1d(self.ours.session, self.theirs.session)


def judged_runs(layout: Layout, k: int) -> list[tuple[Array, Integers]]:
    """Give values and sessions of the runs of a benchmark that count, candidate first."""
    both = [(side, side.benchmark == k) for side in (layout.ours, layout.theirs)]
    if layout.design == "paired":
        shared = np.intersect1d(*(side.session[mine] for side, mine in both))
        both = [(side, mine & np.isin(side.session, shared)) for side, mine in both]
    return [(side.values[mine], side.session[mine]) for side, mine in both]


def whole_matrix(matrix: PerformanceMatrix) -> PerformanceMatrix:
    """Put the benchmarks that have runs of 0 with the others."""
    zeros = matrix.with_zeros
    if zeros is None:
        return matrix
    join = {
        name: None
        if getattr(matrix, name) is None
        else (*getattr(matrix, name), *getattr(zeros, name))
        for name in ("samples", "blocks", "sessions", "benchmarks")
    }
    return replace(matrix, with_zeros=None, **join)  # type: ignore[arg-type]


def zeroed_of(layout: Layout) -> Flags:
    """Tell which benchmarks have a run of 0 that counts, on either side."""
    sides = (judged_runs(layout, k) for k in range(layout.benchmarks))
    return np.array([any((runs == 0).any() for runs, _ in both) for both in sides], dtype=np.bool_)


def layout_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Layout:
    """Give the sessions and blocks of both sides one numbering, and decide the design."""
    sizes = np.array([len(row) for row in (*candidate.samples, *baseline.samples)])
    sessions, labels = _numbered(*_sessions(candidate, baseline))
    blocks = candidate.blocks is not None and baseline.blocks is not None
    number, count = sessions, len(labels)
    if candidate.blocks is not None and baseline.blocks is not None:
        within, named = _numbered(candidate.blocks, baseline.blocks)
        pairs = sessions * len(named) + within
        found, number = np.unique(pairs, return_inverse=True)
        count = len(found)
    n = len(candidate.benchmarks)
    benchmark = np.repeat(np.tile(np.arange(n), 2), sizes)
    values = np.concatenate([*candidate.samples, *baseline.samples])
    first = int(sizes[:n].sum())
    ours, theirs = (
        SideRuns(
            values=values[part],
            benchmark=benchmark[part],
            session=sessions[part],
            block=number[part],
        )
        for part in (slice(None, first), slice(first, None))
    )
    a, b = ours.sessions, theirs.sessions
    common, design = np.intersect1d(a, b).size, "confounded"
    if common >= 2:
        design = "paired"
    elif a.size >= 2 and b.size >= 2:
        design = "separate"
    elif a.size == b.size == common == 1:
        # whether any benchmark has two blocks that hold both sides
        cells = [np.unique(side.benchmark * count + side.block) for side in (ours, theirs)]
        shared = np.intersect1d(cells[0], cells[1], assume_unique=True) // count
        several = blocks and shared.size and int(np.bincount(shared).max()) >= 2
        design = f"one session, {'blocks' if several else 'runs'}"
    return Layout(
        design=cast("Design", design),
        ours=ours,
        theirs=theirs,
        labels=labels,
        blocks=blocks,
        benchmarks=n,
        outermost=candidate.outermost if candidate.outermost == baseline.outermost else "session",
    )


def _sessions(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> tuple[Rows, Rows]:
    """Give the session ids of both sides; a side without any is one session."""
    a, b = candidate.sessions, baseline.sessions
    if a is not None and b is not None:
        return a, b
    trials = (candidate.trial, baseline.trial)
    apart = None not in trials and trials[0] != trials[1]
    names = ("1", "2") if apart else ("1", "1")
    ours, theirs = (
        # what no id of the other side can be by accident
        tuple(np.full(len(row), f"unknown/{name}") for row in matrix.samples)
        if rows is None
        else rows
        for matrix, rows, name in ((candidate, a, names[0]), (baseline, b, names[1]))
    )
    return ours, theirs


def _numbered(ours: Rows, theirs: Rows) -> tuple[Integers, tuple[str, ...]]:
    """Give ids numbers over both sides; a number and a name never are the same id."""
    rows = [*ours, *theirs]
    if len({row.dtype.kind for row in rows}) > 1:
        rows = [
            np.array(
                [str(label) if isinstance(label, int) else f"'{label}'" for label in row.tolist()]
            )
            for row in rows
        ]
    found, number = np.unique(np.concatenate(rows), return_inverse=True)
    return number, tuple(str(label) for label in found.tolist())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """Tables with a row for each session, block or run, and a column for each benchmark.

    `ours`, `theirs` (shape (rows, benchmarks)): Oriented mean logs of each side; nan where there is
    none. In paired designs both come from the same blocks, and have the same rows. `within` (each of
    shape (rows, benchmarks)): The variance that the scatter of the runs gives their difference, or
    each of them where the sides have rows of their own; nan where that is unknown. `rows`: What the
    rows are called; empty where the sides have rows of their own. `spreads` (each of shape
    (benchmarks,)): The standard deviation of the logs of the runs within sessions, of both sides.
    """

    ours: Array
    theirs: Array
    within: tuple[Array, ...]
    rows: tuple[str, ...]
    spreads: tuple[Array, Array]

    @property
    def differences(self) -> Array:
        """The candidate's oriented logs less the baseline's."""
        return self.ours - self.theirs


class _Means(NamedTuple):
    """Mean logs, and the variance of these means by the scatter of the runs below them."""

    mean: Array
    variance: Array
    spread: Array  # by benchmark


def tables_of(layout: Layout, sign: int, zeroed: Flags) -> Tables:
    """Make the tables of a design."""
    ours, theirs = (
        session_means(layout, side, sign, zeroed) for side in (layout.ours, layout.theirs)
    )
    if layout.design == "one session, runs":
        single = run_tables(layout, sign)
        for table, means in zip(single, (ours, theirs), strict=True):
            table[:, zeroed] = np.nan
            table[0, zeroed] = means.mean[-1, zeroed]
        return _apart(
            _Means(single[0], np.full_like(single[0], np.nan), ours.spread),
            _Means(single[1], np.full_like(single[1], np.nan), theirs.spread),
        )
    if layout.design in ("separate", "confounded"):
        a, b = layout.ours.sessions, layout.theirs.sessions
        return _apart(
            _Means(ours.mean[a], ours.variance[a], ours.spread),
            _Means(theirs.mean[b], theirs.variance[b], theirs.spread),
        )
    return _paired(layout, ours, theirs, sign, zeroed)


def run_tables(layout: Layout, sign: int) -> tuple[Array, Array]:
    """Give the oriented logs of all runs of each side, shape (runs, benchmarks)."""
    return _runs(layout, layout.ours, sign), _runs(layout, layout.theirs, sign)


def _logs(layout: Layout, side: SideRuns, sign: int) -> Array:
    """Give oriented logs, nan for the runs of 0, which `session_means` compares otherwise; values of what is arithmetic."""
    logs = np.log(np.where(side.values > 0, side.values, np.nan))
    if layout.arithmetic is not None:
        logs = np.where(layout.arithmetic[side.benchmark], side.values, logs)
    return sign * logs


class SessionCells(NamedTuple):
    """Runs, mean logs and sums of squares about them, each of the shape (sessions, benchmarks)."""

    runs: Integers
    mean: Array
    squares: Array


def session_cells(layout: Layout, side: SideRuns, sign: int = 1) -> SessionCells:
    """Sum up the runs of one side; mean logs are oriented, 0 where there is no run."""
    shape = len(layout.labels), layout.benchmarks
    cell, logs = side.session * layout.benchmarks + side.benchmark, _logs(layout, side, sign)
    runs = np.bincount(cell, minlength=shape[0] * shape[1])
    mean = np.bincount(cell, logs, minlength=runs.size) / np.maximum(runs, 1)
    squares = np.asarray(np.bincount(cell, (logs - mean[cell]) ** 2, runs.size), dtype=np.float64)
    return SessionCells(runs.reshape(shape), mean.reshape(shape), squares.reshape(shape))


def session_means(layout: Layout, side: SideRuns, sign: int, zeroed: Flags) -> _Means:
    """Give the mean logs of one side by session; of benchmarks with runs of 0 the logs of means."""
    runs, mean, squares = session_cells(layout, side, sign)
    mean = np.where(runs > 0, mean, np.nan)
    variance = np.where(runs > 1, squares / np.maximum((runs - 1) * runs, 1), np.nan)
    free = np.maximum(runs - 1, 0).sum(axis=0)
    spread = np.where(free > 0, np.sqrt(squares.sum(axis=0) / np.maximum(free, 1)), np.nan)
    if zeroed.any():
        cell = side.session * layout.benchmarks + side.benchmark
        total = np.bincount(cell, side.values, minlength=runs.size).reshape(runs.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            arithmetic = sign * np.log(total / runs)
        judged = arithmetic[layout.common] if layout.design == "paired" else arithmetic
        mean[:, zeroed] = np.where(np.isinf(judged).any(axis=0), np.nan, arithmetic)[:, zeroed]
        variance[:, zeroed] = np.nan
        spread[zeroed] = np.nan
    if layout.arithmetic is not None:
        spread[layout.arithmetic] = np.nan
    return _Means(mean, variance, spread)


def _runs(layout: Layout, side: SideRuns, sign: int) -> Array:
    """Give the logs of all runs below each other, shape (most runs, benchmarks)."""
    counts = np.bincount(side.benchmark, minlength=layout.benchmarks)
    table = np.full((int(counts.max()), layout.benchmarks), np.nan)
    order = np.argsort(side.benchmark, kind="stable")
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    table[place, side.benchmark[order]] = _logs(layout, side, sign)[order]
    return table


def _apart(ours: _Means, theirs: _Means) -> Tables:
    return Tables(
        ours=ours.mean,
        theirs=theirs.mean,
        within=(ours.variance, theirs.variance),
        rows=(),
        spreads=(ours.spread, theirs.spread),
    )


def _paired(layout: Layout, ours: _Means, theirs: _Means, sign: int, zeroed: Flags) -> Tables:
    # the blocks of a benchmark that hold both sides, an entry each, with both mean logs
    both, n, b = (layout.ours, layout.theirs), len(layout.labels), layout.benchmarks
    width = 1 + max(int(side.block.max()) for side in both)
    key = np.concatenate([side.benchmark * width + side.block for side in both])
    found, first, cell = np.unique(key, return_index=True, return_inverse=True)
    means, there = [], np.ones(len(found), dtype=np.bool_)
    for side, mine in zip(both, np.split(cell, [len(layout.ours.values)]), strict=True):
        runs = np.bincount(mine, minlength=len(found))
        total = np.bincount(mine, _logs(layout, side, sign), minlength=len(found))
        means.append(total / np.maximum(runs, 1))
        there &= runs > 0
    session = np.concatenate([side.session for side in both])[first][there]
    benchmark, block = (found // width)[there], (found % width)[there]
    ours_logs, theirs_logs = (one[there] for one in means)
    if layout.design == "one session, blocks":
        blocks, row = np.unique(block, return_inverse=True)
        a, c = (np.full((len(blocks), b), np.nan) for _ in range(2))
        a[row, benchmark], c[row, benchmark] = ours_logs, theirs_logs
        for table, own in ((a, ours), (c, theirs)):
            table[:, zeroed] = np.nan
            table[0, zeroed] = own.mean[0, zeroed]
        labels = tuple(str(k + 1) for k in range(len(blocks)))
        within = np.full(a.shape, np.nan)
    else:
        at = session * b + benchmark
        count = np.bincount(at, minlength=n * b)
        some = np.maximum(count, 1)
        a, c = (np.bincount(at, x, minlength=n * b) / some for x in (ours_logs, theirs_logs))
        squares = np.bincount(at, (ours_logs - theirs_logs - (a - c)[at]) ** 2, minlength=n * b)
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
        ours=a, theirs=c, within=(within,), rows=labels, spreads=(ours.spread, theirs.spread)
    )


# --- Whether totals say something else than typical runs: the ratio of arithmetic means
# compared with that of geometric ones.
#
# Of each side J = log(arithmetic mean) - mean log, sessions weighing the same, whose variance over
# n lognormal runs of spread s is v = (exp(s^2) - 1 - s^2) / n; s is 1.4826 times the median
# distance of all logs from their median. Totals disagree where both sides have 20 runs and D = J_c
# - J_b lies beyond max(log(1 + margin), 4 sqrt(v_c + v_b)).


LEAST = 20  # runs of each side
_SURE = 4.0  # standard errors, and robust standard deviations from which on a run is far
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Candidate over baseline, of the metric itself: `ratio` of arithmetic means, `typical` of geometric ones.

    `difference` is that of their logs, which disagree where it lies beyond `threshold`.
    """

    ratio: float
    typical: float
    disagree: bool
    difference: float
    threshold: float


def totals_of(table: Array, shares: Array, margin: float) -> Totals | None:
    """Compare the mean of benchmarks, from columns of `totals_table`; None where one is unknown. `margin`: Of the log."""
    used = shares > 0
    typical, apart = (table[:2, used] * shares[used]).sum(axis=1).tolist()
    if math.isnan(apart) or not used.any():
        return None
    threshold = max(margin, _SURE * math.hypot(*(table[2, used] * shares[used])))
    return Totals(
        ratio=math.exp(typical + apart),
        typical=math.exp(typical),
        disagree=abs(apart) > threshold,
        difference=apart,
        threshold=threshold,
    )


def disagreeing(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> list[str]:
    """Name the common benchmarks, one at least, whose totals disagree with typical runs by more than 1 %."""
    pair = match(whole_matrix(candidate), whole_matrix(baseline))
    table = totals_table(layout_of(pair.candidate, pair.baseline))
    found = (totals_of(column[:, None], np.ones(1), math.log1p(0.01)) for column in table.T)
    names = zip(pair.candidate.benchmarks, found, strict=True)
    return [name for name, one in names if one is not None and one.disagree]


def totals_table(layout: Layout) -> Array:
    """Give log typical ratio, D and its standard error, shape (3, benchmarks); nan with few runs or one of 0."""
    table = np.full((3, layout.benchmarks), np.nan)
    for k in range(layout.benchmarks):
        sides = judged_runs(layout, k)
        if all(values.size >= LEAST and (values > 0).all() for values, _ in sides):
            of_sides = []
            for values, session in sides:
                logs, at = np.log(values), np.unique(session, return_inverse=True)[1]
                mean, typical = (
                    (np.bincount(at, x) / np.bincount(at)).mean() for x in (values, logs)
                )
                square = _spread(logs) ** 2
                variance = (math.expm1(min(square, 500.0)) - square) / values.size
                of_sides.append((float(typical), math.log(mean) - float(typical), variance))
            ours, theirs = map(np.array, of_sides)
            table[:2, k] = (ours - theirs)[:2]
            table[2, k] = math.sqrt(ours[2] + theirs[2])
    return table


def _spread(logs: Array) -> float:
    return _NORMAL * float(np.median(np.abs(logs - np.median(logs))))


def _far(values: Array, session: Integers) -> str:
    """Name the far runs of a side: ``5 of 96 runs of {} take 4 to 6 times as much``."""
    logs = np.log(values)
    far = logs > np.median(logs) + _SURE * _spread(logs)
    if not far.any():
        return ""
    times = values[far] / float(np.median(values))
    hit, of = np.unique(session[far]).size, np.unique(session).size
    where = f" in {hit} of {of} sessions" if 4 * hit <= of else ""
    ends = dict.fromkeys(figures.significant(float(end), 2) for end in (times.min(), times.max()))
    return f": {times.size} of {values.size} runs of {{}}{where} take{'s' * (times.size == 1)} {' to '.join(ends)} times as much"


def totals_cautions(
    layout: Layout, totals: Mapping[str, Totals | None], pair: Match
) -> Iterator[Caution]:
    """Say of each benchmark whose totals disagree what both ratios are, and which runs are far."""
    sides = pair.candidate, pair.baseline
    for k, (name, one) in enumerate(totals.items()):
        if one is None or not one.disagree:
            continue
        both = (one.ratio, one.typical)
        total, typical = (
            Difference(x, None, None, "wall", sides[0].unit, sides[0].better) for x in both
        )
        if total.amount() == typical.amount():  # with the decimals that tell them apart
            total, typical = (replace(x, low=min(both), high=max(both)) for x in (total, typical))
        amount = plain(total.amount().removesuffix(" (wall)"))
        less = " ".join(typical.amount().split()[:3])
        side = int(one.difference < 0)
        far = _far(*judged_runs(layout, k)[side])
        text = (
            f"in all, {{}} {total.verb} {amount}, though the typical run {total.verb} {less}{far}"
        )
        names = [name] * (len(totals) > 1) + [sides[0].name] + [sides[side].name] * bool(far)
        short = ShortSentence.of("{}: " * (len(totals) > 1) + text, *names)
        yield Caution("totals", short.pattern.format(*names), (name,), short)
