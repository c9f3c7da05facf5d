"""What session values are worth: the clock's step, likeness to the session before, two speeds.

Readings that are whole multiples of a step hide differences below it. A reading is uniform within its
step at best, so that its error has the variance step^2 / 12 at least: that is a floor of the standard
error. Where the runs vary less than half a step, all of them may be rounded to one side: there the
whole step is added to the half-width.

The test deals whole sessions out in another order, so that what benchmarks share stays together ([1]_,
section 15.2). It is a warning: an interval that is widened by the factor still does not hold its level.

References
----------
.. [1] E. L. Lehmann, J. P. Romano, "Testing Statistical Hypotheses", 3rd edition, 2005.

A memory layout, or a page's colour, may make every run of a session fast or slow. With S sessions whose
cells are each fast or slow by chance, all differences have one sign and size with chance 2 * 4^-S: with two
or three sessions t then finds a difference that is none, and no interval of finite width helps.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import fdtrc

from ...data.matrix import PerformanceMatrix, with_bounds
from ...data.pair import match, session_order
from ...stats.arguments import stream
from ...stats.samples import Array, Flags, Indices, Integers, clock_step
from .design import (
    PAIRS,
    Layout,
    Tables,
    judged_runs,
    layout_of,
    session_cells,
    session_means,
    tables_of,
    whole_matrix,
    zeroed_of,
)
from .estimates import FLAT, Resolution, Source, of_differences

# --- One number a benchmark of a whole trial: the mean over its sessions of what `multilevel` judges.
#
# Series of trials are made of these: the trial is their unit, and its sessions only make the number more
# exact. Here larger is slower, whichever direction of the metric is better.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionMeans:
    """Means over sessions, arrays over `benchmarks`; nan where there is none.

    `log`: Of the candidate's mean log less the baseline's: minus the log of the speedup that
    `multilevel` gives for the same runs; of one side alone its mean log. `baseline_log`: The
    baseline's mean log over the same sessions; nan of one side alone. `sessions`: How many.
    """

    benchmarks: tuple[str, ...]
    log: Array
    baseline_log: Array
    sessions: Integers


def means_of_pair(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, sessions: Collection[object]
) -> SessionMeans | None:
    """Give the mean difference over those of `sessions` that hold both sides; None without one."""
    ours, theirs = (with_bounds(whole_matrix(one)) for one in (candidate, baseline))
    shared = _session_ids(ours) & _session_ids(theirs) & set(sessions)
    ours_then, theirs_then = _in_sessions(ours, shared), _in_sessions(theirs, shared)
    if ours_then is None or theirs_then is None:
        return None
    if not set(ours_then.benchmarks) & set(theirs_then.benchmarks):
        return None
    pair = match(ours_then, theirs_then)
    layout = layout_of(pair.candidate, pair.baseline)
    sign = 1 if ours.better == "higher" else -1
    tables = tables_of(layout, sign, zeroed_of(layout))
    own, other = of_differences(tables.ours).estimate, of_differences(tables.theirs).estimate
    if tables.rows:
        found = of_differences(tables.differences)
        difference, count = found.estimate, found.values
    else:
        difference, count = own - other, np.zeros(own.shape, dtype=np.int64)
    if layout.design != "paired":  # its rows are no sessions
        count = np.isfinite(difference).astype(np.int64)
    return SessionMeans(
        benchmarks=pair.candidate.benchmarks, log=-difference, baseline_log=-other, sessions=count
    )


def means_of_one(matrix: PerformanceMatrix, sessions: Collection[object]) -> SessionMeans | None:
    """Give the mean log of one variant over some sessions; None where it has no run in them."""
    whole = _in_sessions(with_bounds(whole_matrix(matrix)), set(sessions))
    if whole is None:
        return None
    layout = layout_of(whole, whole)
    sign = 1 if whole.better == "higher" else -1
    means = session_means(layout, layout.ours, sign, zeroed_of(layout)).mean
    found = of_differences(means)
    return SessionMeans(
        benchmarks=whole.benchmarks,
        log=-found.estimate,
        baseline_log=np.full(found.estimate.shape, np.nan),
        sessions=found.values,
    )


def _session_ids(matrix: PerformanceMatrix) -> set[object]:
    rows = matrix.sessions
    return set(np.unique(np.concatenate(rows)).tolist()) if rows else set()


def _in_sessions(matrix: PerformanceMatrix, wanted: set[object]) -> PerformanceMatrix | None:
    """Give the runs of some sessions, without the benchmarks that have none in them."""
    if matrix.sessions is None or not wanted:
        return None
    if wanted >= _session_ids(matrix):
        return matrix
    ids: list[Any] = [*wanted]
    masks = [np.isin(row, ids) for row in matrix.sessions]
    kept = [k for k, mask in enumerate(masks) if mask.any()]
    if not kept:
        return None
    blocks = matrix.blocks
    return replace(
        matrix,
        benchmarks=tuple(matrix.benchmarks[k] for k in kept),
        samples=tuple(matrix.samples[k][masks[k]] for k in kept),
        sessions=tuple(matrix.sessions[k][masks[k]] for k in kept),
        blocks=None if blocks is None else tuple(blocks[k][masks[k]] for k in kept),
        iterations=None,
        run_of=None,
    )


_NEAR = 1e-6
HIDDEN = 0.5 - _NEAR  # of a step, both of logs: of runs that vary by less none may show it


def resolution_of(
    layout: Layout,
    tables: Tables,
    *,
    sign: int,
    exact: Flags,
    zeroed: Flags,
) -> Resolution:
    """Find the step of each benchmark; only that of a clock can be added, what is `exact` is not rounded."""
    samples = [[runs for runs, _ in judged_runs(layout, k)] for k in range(layout.benchmarks)]
    step, sources = steps_in(samples, exact)
    means = (sign * of_differences(table).estimate for table in (tables.ours, tables.theirs))
    with np.errstate(invalid="ignore"):  # nan, where the step is unknown or a side has no mean
        log = np.logaddexp(0.0, np.log(step) - np.minimum(*means))
    if layout.arithmetic is not None:
        log = np.where(layout.arithmetic, step, log)
    ours, theirs = (log * np.sqrt(shares / 12.0) / count for shares, count in _rounding(layout))
    with np.errstate(invalid="ignore"):
        spread = np.array([spread_of_runs(sides) for sides in samples])
        coarse = ~exact & (zeroed | (spread < HIDDEN * log))
    return Resolution(
        step=step,
        sources=sources,
        log=log,
        floor_ours=ours,
        floor_theirs=theirs,
        added=np.where(np.isnan(log), np.nan, np.where(coarse, log, 0.0)),
    )


def steps_in(
    samples: Sequence[Sequence[Array]], exact: Flags
) -> tuple[Array, tuple[Source | None, ...]]:
    """Give the step of each benchmark, from the runs of each side of it, nan where it is unknown; and how it is known."""
    found = np.full(len(samples), np.nan)
    sources: list[Source | None] = [None] * len(samples)
    for k, sides in enumerate(samples):
        step = _step_within(*sides, exact=bool(exact[k]))
        if step is not None:
            found[k], sources[k] = step, "runs"
    of_clocks = [found[k] for k, source in enumerate(sources) if source and not exact[k]]
    for k, sides in enumerate(samples):
        if of_clocks and sides[0].size and not exact[k] and sources[k] is None:
            runs, step = np.concatenate(sides), min(of_clocks)
            common = clock_step(np.append(runs, runs.min() + step)) or 0.0
            if math.isclose(common, step, rel_tol=_NEAR):  # all runs lie on that grid
                found[k], sources[k] = step, "others"
    return found, tuple(sources)


def _step_within(*sides: Array, exact: bool) -> float | None:
    """Give the step that the runs show within each side, where they are counts or any two of all are equal."""
    runs = np.concatenate(sides)
    if not exact and np.unique(runs).size == runs.size:
        return None
    steps = [clock_step(one) for one in sides if np.unique(one).size > 1]
    known = [one for one in steps if one is not None]
    if not known or len(known) < len(steps):
        return None
    return known[0] if len(known) == 1 else clock_step(np.array([0.0, *known]))


def _rounding(layout: Layout) -> list[tuple[Array, Array]]:
    """Give of each side the sum over its values of 1 / runs, and how many values there are."""
    b = layout.benchmarks
    if layout.design == "one session, runs":
        runs = [
            np.bincount(s.benchmark, minlength=b).astype(float)
            for s in (layout.ours, layout.theirs)
        ]
        return [(count, np.maximum(count, 1.0)) for count in runs]
    sides, by_blocks = (layout.ours, layout.theirs), layout.design == "one session, blocks"
    rows = [side.block if by_blocks else side.session for side in sides]
    size = (1 + max(int(row.max()) for row in rows)) * b
    counts = [
        np.bincount(row * b + side.benchmark, minlength=size).reshape(-1, b)
        for side, row in zip(sides, rows, strict=True)
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


def spread_of_runs(sides: Sequence[Array]) -> float:
    """Give the standard deviation of the logs of all runs, each side about its mean; nan without two of a side."""
    logs = (np.log(np.where(one > 0, one, 1.0)) for one in sides if one.size > 1)
    squares = [one.var(ddof=1) for one in logs]
    return math.sqrt(np.mean(squares)) if squares else math.nan


LEAST = 8  # sessions; with fewer nothing is seen
ORDERS = 999
RISK = 0.01  # of one series of sessions; two sides share it


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDependence:
    """How sessions resemble their neighbours.

    `lag1`: Mean over the benchmarks of the autocorrelation of session values that follow each
    other. `pvalue`: One-sided, of "sessions are exchangeable", by 999 other orders of the sessions.
    `sessions`, `benchmarks`: How many it rests on. `side` ({"candidate", "baseline"} or None):
    Where sides have sessions of their own: the one that these are of, the surer one. The risk of the
    caution is then halved. `factor`: By how much the intervals would have to be wider, roughly:
    sqrt((1 + rho) / (1 - rho)) with rho = lag1 + (1 + 3 lag1) / sessions, between 0 and .98.
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
    values: Array, *, side: Literal["candidate", "baseline"] | None = None
) -> SessionDependence | None:
    """Test the session values of all benchmarks; None with fewer than eight sessions of any."""
    there = ~np.isnan(values)
    columns = [
        (np.flatnonzero(rows), column[rows])
        for rows, column in zip(there.T, values.T, strict=True)
        if rows.sum() >= LEAST and np.ptp(column[rows]) >= FLAT
    ]
    if not columns:
        return None
    keys = stream(20_261_124, "order of sessions").random((ORDERS, values.shape[0]))
    observed = np.zeros(1)
    others = np.zeros(ORDERS)
    orders: dict[bytes, Indices] = {}
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
    return SessionDependence(
        lag1=r,
        pvalue=(1 + hits) / (1 + ORDERS),
        sessions=sessions,
        benchmarks=len(columns),
        side=side,
        factor=math.sqrt((1 + rho) / (1 - rho)),
    )


def dependence_in(
    layout: Layout, tables: Tables, candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> SessionDependence | None:
    """Test the sessions of a design: their differences where sides are paired, else each side's."""
    if layout.outermost != "session":
        return None
    if layout.design == "paired":
        places = _places(layout, candidate, layout.common)
        return None if places is None else dependence_of(tables.differences[places])
    if layout.design != "separate":
        return None
    ours = _places(layout, candidate, layout.ours.sessions)
    theirs = _places(layout, baseline, layout.theirs.sessions)
    found = [None if ours is None else dependence_of(tables.ours[ours], side="candidate")]
    found += [None if theirs is None else dependence_of(tables.theirs[theirs], side="baseline")]
    return min(filter(None, found), key=lambda one: one.pvalue, default=None)


def _places(layout: Layout, matrix: PerformanceMatrix, rows: Integers) -> Indices | None:
    """Give the rows of a table in the order of time; `rows` are the sessions that they belong to."""
    order = {str(label): place for place, label in enumerate(session_order(matrix))}
    places = [order.get(layout.labels[row]) for row in rows.tolist()]
    known = [place for place in places if place is not None]
    return np.argsort(known) if len(known) == len(places) else None


def _lag1(values: Array) -> Array:
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray((centred[:, :-1] * centred[:, 1:]).sum(axis=1) / (centred**2).sum(axis=1))


DISTANCE = 20.0  # of the groups, in standard errors of a cell
_TELLING = 8  # cells from which on chance does not put all of one side at one speed


class TwoSpeeds(NamedTuple):
    """Two speeds at which a benchmark's cells lie.

    `distance` is that of the groups' means of logs; `by_side` tells whether the groups are the sides.
    """

    distance: float
    by_side: bool


def two_speeds(ours: Array, theirs: Array, within: float, freedom: int) -> TwoSpeeds | None:
    """Tell whether a benchmark's cells lie at two speeds; None where they do not."""
    cells = np.concatenate([ours, theirs])
    if cells.size < 4 or freedom < 1 or not within > FLAT**2:
        return None
    order = np.argsort(cells, kind="stable")
    # the size of the lower group of the best split
    sizes, ordered = np.arange(2, cells.size - 1), cells[order]
    centred = ordered - ordered.mean()  # so that squares do not cancel
    sums, total = np.cumsum(centred)[sizes - 1], centred.sum()
    between = sums**2 / sizes + (total - sums) ** 2 / (cells.size - sizes)
    place = int(sizes[int(between.argmax())])
    low, high = cells[order[:place]], cells[order[place:]]
    distance = float(high.mean() - low.mean())
    if distance < DISTANCE * math.sqrt(within):
        return None
    left = (((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum()) / (cells.size - 2)
    if fdtrc(cells.size - 2, freedom, left / within) <= RISK:
        return None
    sides = {frozenset(range(ours.size)), frozenset(range(ours.size, cells.size))}
    by_side = frozenset(order[:place].tolist()) in sides
    return None if by_side and cells.size >= _TELLING else TwoSpeeds(distance, by_side)


def speeds_of(layout: Layout, zeroed: Flags) -> dict[int, TwoSpeeds]:
    """Look at every benchmark of a design by sessions: benchmark -> its two speeds, if it has them."""
    if layout.outermost != "session" or layout.design not in ("paired", "separate"):
        return {}
    ours, theirs = (session_cells(layout, side) for side in (layout.ours, layout.theirs))
    both = (ours.runs > 0) & (theirs.runs > 0)
    used = [both, both] if layout.design == "paired" else [ours.runs > 0, theirs.runs > 0]
    found = {}
    for k in np.flatnonzero(~zeroed).tolist():
        rows = [there[:, k] for there in used]
        sides = (ours, theirs)
        freedom = sum(int((s.runs[r, k] - 1).sum()) for s, r in zip(sides, rows, strict=True))
        cells = [s.mean[r, k] for s, r in zip(sides, rows, strict=True)]
        if min(len(one) for one in cells) < 2 or freedom < 1:
            continue
        squares = sum(float(s.squares[r, k].sum()) for s, r in zip(sides, rows, strict=True))
        each = np.concatenate([1 / s.runs[r, k] for s, r in zip(sides, rows, strict=True)]).mean()
        speeds = two_speeds(cells[0], cells[1], squares / freedom * float(each), freedom)
        if speeds is not None:
            found[k] = speeds
    return found
