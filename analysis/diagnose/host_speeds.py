"""How fast the host was in each session.

A host that changes between two speeds for every program at once makes each program look bimodal. Seen
over all programs, neighbours in time agree; this module says how far apart the speeds are, which
share of the runs had which, and in which sessions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..stats.samples import off_ticks
from .run_table import Floats, Integers, RunTable, Series, middle_of

_WINDOWS = (1, 3, 5, 9, 17, 33, 65, 129)  # runs
CLEAR = 4.0  # standard deviations within a speed: two speeds, not one that wanders (2.7) or noise
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
        cut = two_means(known)
        clear = clearness(known, cut)
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
        two=clear >= CLEAR,
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
    values = table.values.copy()
    for rows in (row[row >= 0] for row in series.row):
        values[rows] = off_ticks(values[rows])
    logs = replace(table, values=values).logs
    logs = np.where(series.present, logs[series.row], np.nan).reshape(cells, -1)
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


def two_means(values: Floats) -> float:
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


def clearness(values: Floats, cut: float) -> float:
    """Give the distance of the two groups' medians in robust standard deviations within them."""
    low, high = values[values <= cut], values[values > cut]
    if low.size < 2 or high.size < 2:
        return 0.0
    apart = float(np.median(high) - np.median(low))
    spreads = [float(np.median(np.abs(group - np.median(group)))) for group in (low, high)]
    within = _NORMAL * math.sqrt((spreads[0] ** 2 + spreads[1] ** 2) / 2)
    return apart / within if within > 0 else 0.0
