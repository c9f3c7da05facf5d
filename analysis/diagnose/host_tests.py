"""Tests of the whole host: what happens to the runs of all cells at once, and who moves where it is not all of them.

Each run is scored by its rank within its own cell and session, so that programs of any speed and
spread count alike. When cells do not influence each other and runs are exchangeable, the scores of
different cells are independent, whatever the law of each: a program with two modes of its own
changes nothing here, a host with two speeds does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Literal

import numpy as np
from scipy.special import chdtrc, kolmogorov, ndtr

from ..stats.samples import Array as Floats, Flags, Integers, off_ticks
from .cell_tests import LEAST, NORMAL, RunTable, Series, middle_of, midranks_along, two_sided

# --- How fast the host was in each session.
#
# A host that changes between two speeds for every program at once makes each program look bimodal. Seen
# over all programs, neighbours in time agree.

_WINDOWS = (1, 3, 5, 9, 17, 33, 65, 129)  # runs
CLEAR = 4.0  # standard deviations within a speed: two speeds, not one that wanders (2.7) or noise
_LEAST_SHARE = 0.1  # of the runs, or it is some odd moments, no speed
_CLIP = 10.0  # spreads of its cell: a far run must not make a level
_WINDOWS_IN_ALL = 20


@dataclass(frozen=True, slots=True)
class SessionSpeed:
    """One session: the share of its runs with higher values, and its level against the others'."""

    session: int | str
    share: float
    level: float


@dataclass(frozen=True, slots=True)
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


def host_speeds(series: Series) -> HostSpeeds | None:
    """Divide the runs of all cells into two levels; None where values do not vary or allow no logs."""
    table, (relative, weights, spreads) = series.table, _relative(series)
    if not weights.any():
        return None
    clipped = np.clip(relative, -_CLIP * spreads, _CLIP * spreads)
    found: list[tuple[float, int, Floats, float]] = []
    for window in _WINDOWS:
        if window > 1 and window * _WINDOWS_IN_ALL > relative.size:
            break
        level = _smoothed(clipped, weights, table.session, window)
        known = level[np.isfinite(level)]
        if known.size >= _WINDOWS_IN_ALL:
            cut = two_means(known)
            found.append((clearness(known, cut), window, level, cut))
    if not found:
        return None
    clear, window, level, cut = max(found, key=itemgetter(0))
    high = level > cut
    usable = np.isfinite(level) & (weights > 0)
    if not (high & usable).any() or not (~high & usable).any():
        return None
    lower = float(np.median(relative[~high & usable]))
    ratio = math.exp(float(np.median(relative[high & usable])) - lower)
    sessions = tuple(
        SessionSpeed(label, float(high[mine].mean()), math.exp(float(np.median(relative[mine]))))
        for k, label in enumerate(table.sessions)
        if (mine := usable & (table.session == k)).any()
    )
    path, session = high[usable], table.session[usable]
    switches = int(((path[1:] != path[:-1]) & (session[1:] == session[:-1])).sum())
    two, share = clear >= CLEAR, float(path.mean())
    return HostSpeeds(two, ratio, math.exp(lower), share, switches, window, sessions)


def _relative(series: Series) -> tuple[Floats, Floats, Floats]:
    """Give logs less their cell's median, weights (0 where unusable) and the cells' spreads."""
    cells = series.counts.shape[0]
    values = series.table.values.copy()
    for rows in (row[row >= 0] for row in series.row):
        values[rows] = off_ticks(values[rows])
    freed = replace(series, table=replace(series.table, values=values))
    logs = freed.logs.reshape(cells, -1)
    good = (np.isfinite(logs) == series.present.reshape(cells, -1)).all(axis=1)
    apart = logs - middle_of(logs)[:, None]
    spread = NORMAL * middle_of(np.abs(apart))
    good &= spread > 0
    weight = np.zeros(cells)
    if good.any():
        # no cell counts more than a hundred of the typical ones
        weight[good] = 1 / np.maximum(spread[good], np.median(spread[good]) / 10) ** 2
    relative, weights, spreads = np.zeros((3, values.size))
    there = series.present.reshape(cells, -1) & good[:, None]
    rows, cell = series.row.reshape(cells, -1)[there], np.nonzero(there)[0]
    relative[rows], spreads[rows], weights[rows] = apart[there], spread[cell], weight[cell]
    return relative, weights, spreads


def _smoothed(relative: Floats, weights: Floats, session: Integers, window: int) -> Floats:
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
    within = NORMAL * math.sqrt((spreads[0] ** 2 + spreads[1] ** 2) / 2)
    return apart / within if within > 0 else 0.0


HostCode = Literal[
    "host-blocks", "host-neighbours", "host-trend", "host-warm-up", "host-change", "host-sessions"
]
_CELLS = 2  # a host is seen where two cells or more agree


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTest:
    """One test of the host; its p-value is None where it was not possible.

    `session` (by its number in the table) and `row`, the first run after the change in it, are of a
    test of one session. `size`: of blocks and sessions the mean correlation between cells; of
    neighbours that of consecutive runs; of a trend the mean rank correlation; of a warm-up the mean
    standardised rank of first runs; of a change that of all values, 0.02 is 2 % more. `parts` gives what
    each cell adds to a statistic that is a sum over cells, and the variance of that.
    """

    code: HostCode
    pvalue: float | None
    session: int | None = None
    row: int | None = None
    size: float | None = None
    parts: Callable[[], tuple[Floats, Floats]] | None = None


def host_tests(series: Series) -> tuple[HostTest, ...]:
    """Test the host; nothing where there is one cell only."""
    used = series.squares > 0
    if int(used.any(axis=1).sum()) < _CELLS or int(series.counts[used].sum()) < LEAST:
        return ()
    table, scores = series.table, _scores(series)
    return (
        _blocks(table, scores),
        *((_neighbours(series, scores),) if table.ordered else ()),
        _trend(series),
        _warm_up(series),
        *(_changes(series, scores) if table.ordered else ()),
        _sessions(series),
    )


def _scores(series: Series) -> Floats:
    """Give the score of each run, nan where its series tells nothing: a middle rank is 0, and tells something."""
    scores = np.full(series.table.values.size, np.nan)
    used = series.present & (series.squares > 0)[:, :, None]
    scores[series.row[used]] = series.scaled()[used]
    return scores


def _plain(p: float) -> float | None:
    return max(float(p), float(np.finfo(np.float64).tiny)) if np.isfinite(p) else None


def _normal(z: float) -> float | None:
    return _plain(two_sided(np.array(z)).item())


def _blocks(table: RunTable, scores: Floats) -> HostTest:
    """Apply Friedman's test to blocks: cells are the judges, the blocks of a session what they rank."""
    known = (table.block >= 0) & ~np.isnan(scores)
    sessions, blocks = len(table.sessions), int(table.block.max(initial=0)) + 1
    place = (table.session * blocks + table.block)[known]
    totals = np.bincount(place, scores[known], sessions * blocks).reshape(sessions, blocks)
    weights = np.bincount(place, scores[known] ** 2, sessions * blocks).reshape(sessions, blocks)
    there = np.bincount(place, minlength=sessions * blocks).reshape(sessions, blocks) > 0
    freedom = np.maximum(there.sum(axis=1) - 1, 0)
    used = (weights.sum(axis=1) > 0) & (freedom > 0)
    if not used.any():
        return HostTest(code="host-blocks", pvalue=None)
    statistic = (freedom[used] * (totals[used] ** 2).sum(axis=1) / weights[used].sum(axis=1)).sum()
    total = int(freedom[used].sum())
    judges = weights[used].sum() / there[used].sum()
    size = float((statistic / total - 1) / (judges - 1)) if judges > 1 else None
    return HostTest(code="host-blocks", pvalue=_plain(chdtrc(total, statistic)), size=size)


def _sessions(series: Series) -> HostTest:
    """Apply Friedman's test to sessions: whether cells agree which were slow."""
    sessions, ranks = series.counts.shape[1], session_ranks(series)[0]
    squares, judges = (ranks**2).sum(), len(ranks)
    if judges < _CELLS or squares == 0:
        return HostTest(code="host-sessions", pvalue=None)
    statistic = (sessions - 1) * (ranks.sum(axis=0) ** 2).sum() / squares
    size = float((statistic / (sessions - 1) - 1) / (judges - 1))
    return HostTest(code="host-sessions", pvalue=_plain(chdtrc(sessions - 1, statistic)), size=size)


def session_ranks(series: Series) -> tuple[Floats, Flags]:
    """Rank the medians of sessions, less their mean, in each cell with runs in all; name those."""
    complete = np.asarray((series.counts > 0).all(axis=1))
    ranks = midranks_along(middle_of(series.values[complete]))
    return ranks - (series.counts.shape[1] + 1) / 2, complete


def trend_parts(series: Series) -> tuple[Floats, Floats]:
    """Give what each cell adds to Page's statistic, freed of its runs' number, and the variance of that."""
    n = series.counts[:, :, None]
    place = np.where(series.present, np.arange(series.row.shape[2]) - (n - 1) / 2, 0.0)
    used = series.squares > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # each series weighs the same however many runs it has
        unit = place / np.sqrt((place**2).sum(axis=2))[:, :, None]
        factor = np.sqrt((series.counts - 1) / series.counts)
    parts = (series.scaled() * np.nan_to_num(unit)).sum(axis=2) * np.nan_to_num(factor)
    return np.where(used, parts, 0.0).sum(axis=1), used.sum(axis=1).astype(np.float64)


def _trend(series: Series) -> HostTest:
    """Apply Page's test: whether all cells get slower, or faster, within sessions."""
    parts, variances = trend_parts(series)
    # the rank correlation r of n exchangeable runs has the variance 1 / (n - 1)
    lengths = series.counts[series.squares > 0]
    mean = parts.sum() / float((np.sqrt(lengths - 1)).sum())
    z = parts.sum() / np.sqrt(variances.sum())
    again = partial(trend_parts, series)
    return HostTest(code="host-trend", pvalue=_normal(z), size=float(mean), parts=again)


def first_run_parts(series: Series) -> tuple[Floats, Floats]:
    """Give the sum of each cell's scores of first runs, and the variance of that."""
    used = series.squares > 0
    first = np.where(used, series.scaled()[:, :, 0], 0.0)
    return first.sum(axis=1), used.sum(axis=1).astype(np.float64)


def _warm_up(series: Series) -> HostTest:
    """Compare the first runs of all cells in all sessions with the others, by their ranks."""
    total, count = (float(part.sum()) for part in first_run_parts(series))
    p, again = _normal(total / math.sqrt(count)), partial(first_run_parts, series)
    return HostTest(code="host-warm-up", pvalue=p, size=total / count, parts=again)


def change_parts(series: Series, session: int, row: int) -> tuple[Floats, Floats]:
    """Give the sum of each cell's scores in a session up to a change, and its variance over all orders."""
    used, count = series.squares[:, session] > 0, series.counts[:, session]
    there = series.present[:, session] & used[:, None]
    before = there & (series.row[:, session] < row)
    sums = np.where(before, series.scaled()[:, session], 0.0).sum(axis=1)
    ahead = before.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = ahead * (count - ahead) / (count - 1)
    return sums, np.where(used, np.nan_to_num(variances), 0.0)


def _neighbours(series: Series, scores: Floats) -> HostTest:
    """Correlate consecutive runs of different cells.

    The variance is exact: for each pair of series that of sum M_ij a_i b_j over all orders of both,
    where M tells which of their runs are neighbours.
    """
    group = np.full(scores.size, -1, dtype=np.int64)
    of_series = np.arange(series.counts.size).reshape(*series.counts.shape, 1)
    group[series.row[series.present]] = np.broadcast_to(of_series, series.row.shape)[series.present]
    first, second = np.arange(scores.size - 1), np.arange(1, scores.size)
    session = series.table.session
    pair = (session[first] == session[second]) & (group[first] != group[second])
    pair &= ~np.isnan(scores[first] + scores[second])
    first, second = first[pair], second[pair]
    if first.size < 30:  # for the normal law
        return HostTest(code="host-neighbours", pvalue=None)
    counts = series.counts.reshape(-1).astype(np.float64)
    swap = group[first] > group[second]
    low, high = np.where(swap, second, first), np.where(swap, first, second)
    total = float((scores[first] * scores[second]).sum())
    key, of_pair = np.unique(group[low] * counts.size + group[high], return_inverse=True)
    of_pair = of_pair.reshape(-1)
    n, m = counts[key // counts.size], counts[key % counts.size]
    edges = np.bincount(of_pair).astype(np.float64)

    def squared(runs: Integers) -> Floats:
        """Sum the squares of how many neighbours each run has in the other series."""
        both, times = np.unique(of_pair * scores.size + runs, return_counts=True)
        squares = times.astype(np.float64) ** 2
        return np.bincount(both // scores.size, squares, key.size).astype(np.float64)

    apart = edges - squared(low) / m - squared(high) / n + edges**2 / (n * m)
    variance = (n / (n - 1) * m / (m - 1) * apart).sum()
    if variance <= 0:
        return HostTest(code="host-neighbours", pvalue=None)
    p = _normal(total / np.sqrt(variance))
    size = max(-1.0, min(1.0, total / first.size))  # more where far ranks have more neighbours
    return HostTest(code="host-neighbours", pvalue=p, size=size)


def _changes(series: Series, scores: Floats) -> Iterator[HostTest]:
    """Look for one shift of all cells within a session: the largest partial sum of the scores."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(series.squares > 0, series.counts**2 / (series.counts - 1), 0.0)
    apart, logs = np.full(scores.size, np.nan), series.logs
    apart[series.row[series.present]] = (logs - middle_of(logs)[:, :, None])[series.present]
    for k, weight in enumerate(weights.sum(axis=0).tolist()):
        rows = np.flatnonzero(series.table.session == k)
        if rows.size < LEAST or weight <= 0 or int((weights[:, k] > 0).sum()) < _CELLS:
            continue
        sums = np.abs(np.nancumsum(scores[rows]))
        at = int(sums.argmax())
        row = int(rows[min(at + 1, rows.size - 1)])
        yield HostTest(
            code="host-change",
            pvalue=_plain(kolmogorov(sums[at] / np.sqrt(weight))),
            session=k,
            row=row,
            size=_step(apart[rows[: at + 1]], apart[rows[at + 1 :]]),
            parts=partial(change_parts, series, k, row),
        )


def _step(before: Floats, after: Floats) -> float | None:
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    if not (before.size and after.size):
        return None
    step = float(np.median(after) - np.median(before))
    return math.expm1(step) if step < 700.0 else None


# --- Who moves where a test of the host found something: all programs, those of some variants or benchmarks, or one.
#
# The tests of the host see that cells agree, or that all of them together rise, begin or change in one
# way. They would also where the cells of one variant do and the others stay as they are, or where one
# cell does it so strongly that it leads the sum. So each variant, and then each benchmark, is asked for
# itself: does it go with all others, or does it show the same alone?

_WITH_OTHERS, _NAMED, _BY_ITSELF = 0.05, 0.01, 0.001  # risks, one-sided
_CLEARLY = 3e-5  # four standard deviations: by chance 1.6 or less in 1 % of what moves alike
_FEWEST = 5  # stretches
_RUNS = 2  # of a variant in a stretch, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Movers:
    """The variants and benchmarks that move, where it is not the whole host that does.

    `others` are the variants that do not show it; there are none where some benchmarks move in all of them. All
    three are empty where nothing shows who moves.
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


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A score for each entry, the cell that it is of, and the stretch of time, -1 where there is none."""

    scores: Floats
    stretch: Integers
    benchmark: Integers
    variant: Integers

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


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What each cell adds to a statistic that is a sum, and the variance of that where its runs are exchangeable."""

    values: Floats
    variances: Floats
    benchmark: Integers
    variant: Integers

    def moments(self, own: Flags, other: Flags) -> tuple[float, float]:  # noqa: ARG002 - it shows itself
        """Give a group's sum, in the direction of that of all together, and its variance."""
        way = math.copysign(1.0, float(self.values.sum()))
        return way * float(self.values[own].sum()), float(self.variances[own].sum())


_Seen = Scored | Parts


def _moves(seen: _Seen, groups: Iterable[tuple[Flags, Flags]], risk: float) -> bool:
    """Tell whether groups of entries go together, each with its others, or show by themselves what all together do."""
    each = ((0.0, 0.0), *(seen.moments(*both) for both in groups))
    total, variance = map(sum, zip(*each, strict=True))
    return variance > 0 and float(ndtr(-total / math.sqrt(variance))) <= risk


def _moving_inside(seen: _Seen, groups: Mapping[int, Flags], parts: Integers) -> list[int]:
    """Name the groups whose parts go together, each with its others; of a sum nothing more can be asked."""
    found = []
    for k, own in groups.items() if isinstance(seen, Scored) else ():
        each = [parts == part for part in np.unique(parts[own]).tolist()]
        if _moves(seen, [(own & one, own & ~one) for one in each], _BY_ITSELF):
            found.append(k)
    return found


def who_moves(
    series: Series, tests: Sequence[HostTest], over: Literal["runs", "sessions"]
) -> dict[HostTest, Movers | None]:
    """Tell of each of these tests who moves; None where all do.

    What is a sum over cells (`host-trend`, `host-warm-up`, `host-change`) is asked of each group of cells by the
    same sum, at 5 %. Of agreement (`host-blocks`, `host-neighbours`, `host-sessions`): a group moves with the host where
    the sum of products of its mean score and that of all others, over stretches of a few runs (or over sessions), is
    positive at 5 % (normal, with the variance over all orders of the stretches).
    """
    agreed: list[Movers | None] = []
    found = {}
    for test in tests:
        if test.parts is None and not agreed:
            scored = _of_runs(series) if over == "runs" else _of_sessions(series)
            few = np.unique(scored.stretch[scored.stretch >= 0]).size < _FEWEST
            agreed.append(Movers() if few else _who(scored, series.table))
        if test.parts is None:
            found[test] = agreed[0]
        else:
            own = Parts(*test.parts(), series.benchmark, series.variant)
            found[test] = _who(own, series.table)
    return found


def _who(seen: _Seen, table: RunTable) -> Movers | None:
    """Name the variants that move, and the benchmarks among them; None where all do."""
    there = np.unique(table.variant).tolist()
    mine = {k: seen.variant == k for k in there}
    alone = len(there) == 1
    moving = [k for k, own in mine.items() if alone or _moves(seen, [(own, ~own)], _WITH_OTHERS)]
    if len(moving) == len(there):
        return _some_benchmarks(seen, table)
    if len(moving) < (2 if isinstance(seen, Scored) else 1):  # agreement takes two
        moving = _moving_inside(seen, mine, seen.benchmark)
    among = np.isin(seen.variant, moving)
    each = {k: seen.benchmark == k for k in np.unique(seen.benchmark[among]).tolist()}
    benchmarks = [
        k for k, one in each.items() if _moves(seen, [(among & one, among & ~one)], _NAMED)
    ]
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
    moving = [k for k, own in each.items() if _moves(seen, [(own, ~own)], _WITH_OTHERS)]
    among = np.isin(seen.benchmark, moving)
    clear = [k for k in moving if _moves(seen, [(each[k], among & ~each[k])], _CLEARLY)]
    if len(moving) < (2 if isinstance(seen, Scored) else 1):
        moving = clear = _moving_inside(seen, each, seen.variant)
        among = np.isin(seen.benchmark, moving)
    some = moving and not among.all() and 2 * len(clear) >= len(moving)
    if not some or _moves(seen, [(~among, among)], _WITH_OTHERS):
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
        named = [table.benchmarks.index(name) for name in movers.benchmarks]
        kept &= np.isin(table.benchmark, named)
    labels, session = np.unique(table.session[kept], return_inverse=True)
    columns = ("values", "benchmark", "variant", "block", "start_s")
    return replace(
        table,
        **{name: getattr(table, name)[kept] for name in columns},
        sessions=tuple(table.sessions[k] for k in labels.tolist()),
        session=session.astype(np.int64).reshape(-1),
    )


def _of_runs(series: Series) -> Scored:
    """Score runs by their ranks, over short stretches within sessions: some runs of each variant, or blocks."""
    table, scores = series.table, _scores(series)
    places = table.session * (table.block.max(initial=0) + 1) + table.block
    stretch = np.where(table.block < 0, -1, places)
    if table.ordered:
        begin, variants = 0, np.unique(table.variant).size
        for k in range(len(table.sessions)):
            rows = np.flatnonzero(table.session == k)
            stretch[rows] = begin + np.arange(rows.size) // (_RUNS * variants)
            begin = int(stretch[rows].max(initial=begin)) + 1
    stretch[np.isnan(scores)] = -1
    return Scored(scores, stretch, table.benchmark, table.variant)


def _of_sessions(series: Series) -> Scored:
    ranks, complete = session_ranks(series)
    sessions = ranks.shape[1]
    stretch = np.where(ranks.any(axis=1, keepdims=True), np.arange(sessions), -1).reshape(-1)
    cells = (np.repeat(one[complete], sessions) for one in (series.benchmark, series.variant))
    return Scored(ranks.reshape(-1), stretch, *cells)
