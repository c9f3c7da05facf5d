"""How fast the host was in each session, and which cells move with it.

A host that changes between two speeds for every program at once makes each program look bimodal. Seen
over all programs, neighbours in time agree; this module says how far apart the speeds are, which
share of the runs had which, and in which sessions.

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

from .run_table import Floats, Integers, RunTable, Series, middle_of, midranks_along

_WINDOWS = (1, 3, 5, 9, 17, 33, 65, 129)  # runs
_CLEAR = 4.0  # standard deviations within a speed: two speeds, not one that wanders (2.7) or noise
_LEAST_SHARE = 0.1  # of the runs, or it is some odd moments, no speed
_CLIP = 10.0  # spreads of its cell: a far run must not make a level
_WINDOWS_IN_ALL = 20
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpeed:
    """One session: the share of its runs with higher values, and its level against the others'."""

    session: int | str
    share: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpeeds:
    """The levels of all runs, each against the median of its cell.

    `two` tells whether two levels stand clearly apart; otherwise the host wanders, and the two groups
    are only the halves of that. `ratio` is the higher level over the lower one, `lower` the lower one
    against the medians of the cells, `share` that of the runs at the higher level; `switches` counts
    changes of the level within sessions, `window` the consecutive runs that were averaged.
    """

    two: bool
    ratio: float
    lower: float
    share: float
    switches: int
    window: int
    sessions: tuple[SessionSpeed, ...]


def host_speeds(table: RunTable, series: Series) -> HostSpeeds | None:
    """Divide the runs of all cells into two levels; None where values do not vary or allow no logs."""
    relative, weights, spreads = _relative(table, series)
    if not weights.any():
        return None
    clipped = np.clip(relative, -_CLIP * spreads, _CLIP * spreads)
    best: tuple[float, int, Floats, float] | None = None
    for window in _WINDOWS:
        if window > 1 and window * _WINDOWS_IN_ALL > relative.size:
            break
        level = _smoothed(clipped, weights, table.session, window)
        known = level[np.isfinite(level)]
        if known.size < _WINDOWS_IN_ALL:
            continue
        cut = _two_means(known)
        clear = _clearness(known, cut)
        if best is None or clear > best[0]:
            best = (clear, window, level, cut)
    if best is None:
        return None
    clear, window, level, cut = best
    high = level > cut
    usable = np.isfinite(level) & (weights > 0)
    if not (high & usable).any() or not (~high & usable).any():
        return None
    lower = float(np.median(relative[~high & usable]))
    ratio = math.exp(float(np.median(relative[high & usable])) - lower)
    told = []
    for k, label in enumerate(table.sessions):
        mine = usable & (table.session == k)
        if mine.any():
            told.append(
                SessionSpeed(
                    session=label,
                    share=float(high[mine].mean()),
                    level=math.exp(float(np.median(relative[mine]))),
                )
            )
    path, session = high[usable], table.session[usable]
    switches = int(((path[1:] != path[:-1]) & (session[1:] == session[:-1])).sum())
    return HostSpeeds(
        two=clear >= _CLEAR,
        ratio=ratio,
        lower=math.exp(lower),
        share=float(path.mean()),
        switches=switches,
        window=window,
        sessions=tuple(told),
    )


def _relative(table: RunTable, series: Series) -> tuple[Floats, Floats, Floats]:
    """Give logs less their cell's median, weights (0 where unusable) and the cells' spreads."""
    cells = series.counts.shape[0]
    logs = np.where(series.present, table.logs[series.row], np.nan).reshape(cells, -1)
    good = (np.isfinite(logs) == series.present.reshape(cells, -1)).all(axis=1)
    apart = logs - middle_of(logs)[:, None]
    spread = _NORMAL * middle_of(np.abs(apart))
    good &= spread > 0
    weight = np.zeros(cells)
    if good.any():
        # no cell counts more than a hundred of the typical ones
        weight[good] = 1 / np.maximum(spread[good], np.median(spread[good]) / 10) ** 2
    relative, weights, spreads = np.zeros((3, table.values.size))
    row, there = series.row.reshape(cells, -1), series.present.reshape(cells, -1)
    there = there & good[:, None]
    relative[row[there]] = apart[there]
    spreads[row[there]] = np.broadcast_to(spread[:, None], row.shape)[there]
    weights[row[there]] = np.broadcast_to(weight[:, None], row.shape)[there]
    return relative, weights, spreads


def _smoothed(relative: Floats, weights: Floats, session: Integers, window: int) -> Floats:
    """Average neighbours in time within each session."""
    found = np.full(relative.shape, np.nan)
    ones = np.ones(window)
    for k in np.unique(session):
        rows = np.flatnonzero(session == k)
        if rows.size < window:
            continue
        weight = np.convolve(weights[rows], ones, "same")
        total = np.convolve(weights[rows] * relative[rows], ones, "same")
        with np.errstate(divide="ignore", invalid="ignore"):
            found[rows] = np.where(weight > 0, total / weight, np.nan)
    return found


def _two_means(values: Floats) -> float:
    """Give the cut of the two groups with the least squares within them."""
    ordered = np.sort(values)
    n = ordered.size
    below = np.arange(1, n)
    sums = np.cumsum(ordered)
    gain = sums[:-1] ** 2 / below + (sums[-1] - sums[:-1]) ** 2 / (n - below)
    edge = max(1, int(_LEAST_SHARE * n))
    gain[: edge - 1] = -np.inf
    gain[n - edge :] = -np.inf
    at = int(gain.argmax())
    return float((ordered[at] + ordered[at + 1]) / 2)


def _clearness(values: Floats, cut: float) -> float:
    """Give the distance of the two groups' medians in robust standard deviations within them."""
    low, high = values[values <= cut], values[values > cut]
    if low.size < 2 or high.size < 2:
        return 0.0
    apart = float(np.median(high) - np.median(low))
    spreads = [float(np.median(np.abs(group - np.median(group)))) for group in (low, high)]
    within = _NORMAL * math.sqrt((spreads[0] ** 2 + spreads[1] ** 2) / 2)
    return apart / within if within > 0 else 0.0


Flags = NDArray[np.bool_]
_WITH_OTHERS, _NAMED, _BY_ITSELF = 0.05, 0.01, 0.001  # risks, one-sided
_FEWEST = 5  # stretches
_RUNS = 2  # of a variant in a stretch, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Movers:
    """The variants and benchmarks that move together, where it is not the whole host that does."""

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
