"""Stage one of HPT as a function of the speedup under test: who wins each benchmark, where.

The law of the rank sum changes with the ties, so a winner is judged as `hpt` would, at ratios and
between them: at all of them for few runs, around the two changes for many.

Dividing the candidate's scores by g moves them past the baseline's one by one, at the ratios a/b
of a candidate's to a baseline's score. The rank sum depends on g only through the number of ratios
above g, so under one law of the rank sum the winner changes at two order statistics of the ratios:
with K the critical number, the candidate wins below the K-th largest ratio, and the baseline
above the K-th smallest. Given ties inside a sample the law itself changes on the way; then every
ratio that could matter is looked at. Of many runs the ratios are not made but searched
(`Ratios`): memory grows with the runs, not with their product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...stats.ranks import TIE_TOLERANCE, midranks
from ...stats.samples import Array, Flags, Indices, Integers, median
from . import compare as stages
from .compare import HptQuestion, Kind

Signs = NDArray[np.int8]
Changes = tuple[Array, Signs, Signs]  # the edges of one benchmark, and the winners: see `Winners`
_EVERY = 28  # up to this number of runs of both sides every ratio is looked at
_NEAR = 6  # beyond, this number of places on each side of a change
_FEW = 4  # searched ratios around a change, which are looked at one by one


def _changes_of(one: Scores) -> Changes:
    """Find where the winner of one benchmark changes, given the ties."""
    s, t = one.candidate, one.baseline
    if s.size * t.size <= MADE:
        every = np.sort(one.ratios())
        ends = every[0] / 2, every[-1] * 2
        return _changes(_judge(one, s, t), every, ends, every=s.size + t.size <= _EVERY)
    ratios = one.sorted_ratios()
    wins = _judge(one, np.sort(s), np.sort(t))  # ranking sorted runs is quicker
    ends_at = (lambda g, _: wins(g) < 1, lambda g, _: wins(g) < 0)
    windows = [ratios.window(beyond, few=_FEW) for beyond in ends_at]
    (low, below, on_low), (high, above, on_high) = (_around(wins, one) for one in windows)
    if windows[0].before == windows[1].before:  # both changes in one window
        return low, below, on_low
    between = np.concatenate([below, above[1:]])
    return np.concatenate([low, high]), between, np.concatenate([on_low, on_high])


def _around(wins: Callable[[float], int], window: Window) -> Changes:
    """Find the changes in a window; beyond its neighbours the winner is the one at them."""
    some = np.concatenate(([window.under], window.values, [window.over]))
    ratios = some[(some > 0) & np.isfinite(some)]
    ends = window.under or ratios[0] / 2, min(window.over, ratios[-1] * 2)
    return _changes(wins, ratios, ends, every=True)


def _changes(
    wins: Callable[[float], int], ratios: Array, ends: tuple[float, float], *, every: bool
) -> Changes:
    new = np.concatenate(([True], np.diff(ratios) > TIE_TOLERANCE * ratios[1:]))
    points = ratios[new]
    inner = np.sqrt(points[:-1]) * np.sqrt(points[1:])
    opens = np.concatenate((ends[:1], inner, ends[1:]))

    # Intervals and points in turn, from below: 2q + 1 places.
    places = np.empty(2 * points.size + 1)
    places[::2], places[1::2] = opens, points
    found = _settle(lambda k: wins(float(places[k])), places.size, every=every)
    between, at = found[::2], found[1::2]
    keep = (between[:-1] != between[1:]) | (at != between[:-1])
    return points[keep], np.append(between[:-1][keep], between[-1]), at[keep]


def _settle(wins: Callable[[int], int], size: int, *, every: bool) -> Signs:
    """Find the winner at each place; with many runs, only near both changes place by place."""
    found = np.zeros(size, dtype=np.int8)
    if every:
        found[:] = [wins(k) for k in range(size)]
        return found
    for side in (1, -1):
        low, high = -1, size  # the candidate wins up to low; the baseline from high on
        while high - low > 1:
            middle = (low + high) // 2
            verdict = wins(middle)
            goes_on = verdict == 1 or (side == -1 and verdict == 0)
            low, high = (middle, high) if goes_on else (low, middle)
        if side == 1:
            found[: low + 1] = 1
            first = range(max(0, low - _NEAR), min(size, high + _NEAR + 1))
        else:
            found[high:] = -1
            for k in (*first, *range(max(0, low - _NEAR), min(size, high + _NEAR + 1))):
                found[k] = wins(k)
    return found


def _judge(one: Scores, s: Array, t: Array) -> Callable[[float], int]:
    """Give the winner at a speedup, as `hpt` finds it; equal ranks are judged once."""
    m, n = s.size, t.size
    accepted = one.risk + stages.P_TOLERANCE
    known: dict[bytes, int] = {}

    def judged(ranks: Array) -> int:
        r_a, r_b = float(ranks[:m].sum()), float(ranks[m:].sum())
        if stages.rank_sum_pvalue(r_a, ranks, m, n, "exact") <= accepted:
            return 1
        return -1 if stages.rank_sum_pvalue(r_b, ranks, n, m, "exact") <= accepted else 0

    def wins(g: float) -> int:
        ranks = midranks(np.concatenate([s * g if one.negated else s / g, t]))
        if m + n > stages.EXACT_RUNS:  # the normal form is cheap, and a key of many runs large
            return judged(ranks)
        key = np.concatenate([np.sort(ranks[:m]), np.sort(ranks[m:])]).tobytes()
        if key not in known:
            known[key] = judged(ranks)
        return known[key]

    return wins


_LARGEST, _SMALLEST = 1e200, 1e-200  # scores, so that a score times a ratio is a number
_APART = 1e100  # a factor between the scores of one benchmark, so that their ratios are


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Winners:
    """The winner of each benchmark (1 candidate, 0 tie, -1 baseline) as a step function of g.

    `edges` (benchmarks x k, ascending, padded with infinity) holds the speedups where it may
    change, `between` (k + 1) the winner below, between and above them, `at` (k) the one at each.
    """

    edges: Array
    between: Signs
    at: Signs

    def inside(self, speedups: Array) -> Signs:
        """Give the winners (speedups x benchmarks) at speedups that are no edges."""
        below = np.sum(self.edges[None, :, :] < speedups[:, None, None], axis=2)
        return self._pick(self.between, below)

    def on(self, speedups: Array) -> Signs:
        """Give the winners (speedups x benchmarks) at speedups that may be edges."""
        low = np.sum(self.edges[None] < speedups[:, None, None] * (1 - TIE_TOLERANCE), axis=2)
        high = np.sum(self.edges[None] <= speedups[:, None, None] * (1 + TIE_TOLERANCE), axis=2)
        last = self.edges.shape[1] - 1
        own = self._pick(self.at, np.minimum(low, last))
        return np.asarray(np.where(high > low, own, self._pick(self.between, low)))

    def count_at(self, speedups: Array) -> Flags:
        """Tell of each benchmark, at its own speedup, whether its difference may count there."""
        own = speedups[:, None]
        low = np.sum(self.edges < own * (1 - TIE_TOLERANCE), axis=1)
        high = np.sum(self.edges <= own * (1 + TIE_TOLERANCE), axis=1)
        counts: Flags = self.between[np.arange(low.size), low] != 0
        counts |= high > low
        return counts

    @staticmethod
    def _pick(table: Signs, where: Indices) -> Signs:
        return np.asarray(table[np.arange(table.shape[0])[None, :], where])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """The difference of medians of each benchmark as a function of g.

    It is ``slope * f - level``, with f = 1/g for scores that are divided by g, f = g for negated
    times, and f = -log g (slope 1) for logarithms.
    """

    slope: Array
    level: Array
    kind: Kind
    negated: bool

    def speedup(self, factors: Array) -> Array:
        """Give the speedup of each f; what is none becomes infinite or NaN."""
        if self.kind == "log-ratio":
            return np.exp(-factors)
        return factors if self.negated else 1 / factors

    def differences(self, speedups: Array) -> Array:
        """Give the differences (speedups x benchmarks), equal medians as exactly 0."""
        if self.kind == "log-ratio":
            factors = -np.log(speedups)
        else:
            factors = speedups if self.negated else 1 / speedups
        ours = self.slope * factors[:, None]
        d = ours - self.level
        # hpt() forgives rounding relative to the medians; of logarithms, absolutely.
        scale = 1.0 if self.kind == "log-ratio" else np.maximum(np.abs(ours), np.abs(self.level))
        d[np.abs(d) <= TIE_TOLERANCE * scale] = 0.0
        return d


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of a benchmark before the speedup, larger is better, and the risk of each test; `negated` as in `HptQuestion`."""

    candidate: Array
    baseline: Array
    risk: float
    negated: bool

    def ratios(self) -> Array:
        """Give all ratios, shape (mn,): the speedups that tie two runs."""
        ours, theirs = self.candidate[:, None], self.baseline
        return (theirs / ours if self.negated else ours / theirs).ravel()

    def sorted_ratios(self) -> Ratios:
        """Give all ratios in order, without making them."""
        both = (self.candidate, self.baseline)
        return Ratios.of(*(both[::-1] if self.negated else both))


def scores_of(question: HptQuestion) -> list[Scores]:
    """Give the scores of each benchmark; refuse those whose ratios are no numbers."""
    a, b = question.pair.candidate, question.pair.baseline
    found = []
    for name, x, y in zip(a.benchmarks, a.samples, b.samples, strict=True):
        s, t = stages.base_scores(question, x, y)
        sizes = np.abs(np.concatenate([s, t]))
        low, high = sizes.min(), sizes.max()
        if not (low >= _SMALLEST and high <= _LARGEST and low >= high / _APART):
            what = "the scores leave the range of numbers, or lie too far apart"
            fix = "give the values in another unit, and look for a wrong one"
            raise AnalysisError(what, f"benchmark {name!r}", fix)
        risk = stages.risk_of(s.size, t.size, question.alpha)
        found.append(Scores(s, t, risk, question.negated))
    return found


def lines_of(scores: list[Scores], question: HptQuestion) -> Lines:
    """Give the differences of medians as functions of the speedup."""
    kind, sides = question.scores, [(x.candidate, x.baseline) for x in scores]
    logs = kind == "log-ratio"
    ours, theirs = np.array(
        [[median(np.log(side) if logs else side) for side in both] for both in sides]
    ).T
    slope, level = (np.ones(len(scores)), theirs - ours) if logs else (ours, theirs)
    return Lines(slope=slope, level=level, kind=kind, negated=question.negated)


def winners_of(scores: list[Scores], question: HptQuestion) -> Winners:
    """Give the winner of each benchmark as a step function of the speedup."""
    signs, found = np.array([1, -1], dtype=np.int8), list[Changes]()
    for one in scores:
        if one.candidate.size == one.baseline.size == 1:  # no test: the sign decides
            found.append((one.ratios(), signs, signs[1:] * 0))
        else:
            found.append(_changes_of(one) if question.ties == "exact" else _by_order(one))
    width = max(1, *(edges.size for edges, _, _ in found))
    edges = np.full((len(scores), width), np.inf)
    between = np.zeros((len(scores), width + 1), dtype=np.int8)
    at = np.zeros((len(scores), width), dtype=np.int8)
    for i, (where, apart, on) in enumerate(found):
        edges[i, : where.size], between[i, : apart.size], at[i, : where.size] = where, apart, on
    return Winners(edges=edges, between=between, at=at)


@lru_cache(maxsize=256)
def _critical(m: int, n: int, risk: float) -> int:
    """Give the smallest 2U that wins by the published rule; 2mn + 1 when none does."""
    none = np.empty(0)

    def wins(doubled: int) -> bool:
        p = stages.rank_sum_pvalue(doubled / 2 + m * (m + 1) / 2, none, m, n, "table")
        return p <= risk + stages.P_TOLERANCE

    low, high = m * n, 2 * m * n + 1  # at the middle p is about one half, above the risk
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle) else (middle, high)
    return high


def _by_order(one: Scores) -> Changes:
    """Find both thresholds as order statistics of the ratios: the published convention."""
    m, n = one.candidate.size, one.baseline.size
    critical, total = _critical(m, n, one.risk), m * n
    needed = (critical + 1) // 2  # ratios above g, when none ties
    between = np.array([1, 0, -1], dtype=np.int8)
    if needed > total:
        return np.array([0.0, np.inf]), between, np.zeros(2, dtype=np.int8)
    places = [total - needed, needed - 1]
    if total > MADE:  # too many to be made
        ratios = one.sorted_ratios()
        edges = np.array([*map(ratios.smallest, places)])
        upto = np.array([*map(ratios.upto, edges * (1 + TIE_TOLERANCE))])
        below = np.array([*map(ratios.below, edges * (1 - TIE_TOLERANCE))])
    else:
        every = np.partition(one.ratios(), places)
        edges = every[places]
        upto = np.count_nonzero(every <= edges[:, None] * (1 + TIE_TOLERANCE), axis=1)
        below = np.count_nonzero(every < edges[:, None] * (1 - TIE_TOLERANCE), axis=1)
    doubled = 2 * total - upto - below  # ties count half
    at = (doubled >= critical).astype(np.int8) - (2 * total - doubled >= critical)
    return edges, between, at


# --- All ratios of two samples in order, without making them: counts, order statistics, windows. The
# m x n ratios u_i / l_j of two sorted samples are a matrix with sorted rows and columns, also after
# rounding. How many are at most g is then known from one search a row, and halving g's range leads to
# any place among them in memory proportional to m + n. Halving goes over the floating-point numbers
# themselves, so it ends at the very number that sorting all ratios would give.

MADE = 1 << 18  # ratios: up to here making and sorting them is quicker than searching
_SORTED = 1 << 14  # ratios: up to here they are sorted rather than halved


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Neighbouring ratios, distinct and ascending, and how often each occurs.

    `before` is how many smaller ratios there are, `under` the largest of them (0 without any), and
    `over` the smallest of the larger ones (infinite without any).
    """

    values: Array
    counts: Integers
    before: int
    under: float
    over: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """The ratios of every value of one sample to every value of another; see `of`.

    `upper`, `lower` (arrays of shapes (m,) and (n,)): The distinct values, positive and ascending.
    `often` (shape (m,)): How often each upper value occurs. `rest` (shape (n + 1,)): How many lower
    values, repeated ones too, there are from each place on.
    """

    upper: Array
    lower: Array
    often: Integers
    rest: Integers

    @classmethod
    def of(cls, upper: Array, lower: Array) -> Self:
        """Take samples of one sign; their ratios must not leave the range of numbers."""
        over, often = np.unique(np.abs(upper), return_counts=True)
        under, counts = np.unique(np.abs(lower), return_counts=True)
        rest = np.concatenate((np.cumsum(counts[::-1])[::-1], [0]))
        return cls(upper=over, lower=under, often=often, rest=rest)

    def upto(self, g: float) -> int:
        """Count the ratios that are at most g."""
        return self._count(self._first(g))

    def below(self, g: float) -> int:
        """Count the ratios that are less than g."""
        return self.upto(float(np.nextafter(g, 0)))

    def smallest(self, k: int) -> float:
        """Give the k-th smallest ratio, counted from 0."""
        found = self.window(lambda _, upto: upto > k, few=_SORTED)
        place = np.searchsorted(np.cumsum(found.counts), k - found.before, side="right")
        return float(found.values[place])

    def window(self, beyond: Callable[[float, int], bool], *, few: int) -> Window:
        """Narrow the range to few ratios, around the change of a condition from False to True.

        `beyond`: Takes g and the number of ratios up to it; True at the largest ratio. `few`: How
        many distinct pairs of values the window may hold; more only where their ratios are one
        number.
        """
        low = float(np.nextafter(self.upper[0] / self.lower[-1], 0))
        high = float(self.upper[-1] / self.lower[0])
        at_low, at_high = self._first(low), self._first(high)
        while int((at_low - at_high).sum()) > few:
            ends = np.array([low, high]).view(np.int64)
            middle = float((ends[:1] + (ends[1:] - ends[:1]) // 2).view(np.float64)[0])
            if middle == low:
                break
            at_middle = self._first(middle)
            if beyond(middle, self._count(at_middle)):
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
        return self._listed(low, high, at_low, at_high)

    def _listed(self, low: float, high: float, after: Integers, start: Integers) -> Window:
        """List the ratios above `low`, up to `high`, which begin at these lower values."""
        before = self._count(after)
        if np.nextafter(low, np.inf) == high:  # many pairs perhaps, but one number
            values, counts = np.array([high]), np.array([self._count(start) - before])
        else:
            width = after - start
            row = np.repeat(np.arange(self.upper.size), width)
            column = np.arange(row.size) + np.repeat(start - np.cumsum(width) + width, width)
            values, place = np.unique(self.upper[row] / self.lower[column], return_inverse=True)
            counts = np.zeros(values.size, dtype=np.int64)
            np.add.at(counts, place, self.often[row] * (self.rest[column] - self.rest[column + 1]))
        smaller, larger = after < self.lower.size, start > 0
        under = (self.upper[smaller] / self.lower[after[smaller]]).max(initial=0)
        over = (self.upper[larger] / self.lower[start[larger] - 1]).min(initial=np.inf)
        return Window(values, counts, before, float(under), float(over))

    def _count(self, first: Integers) -> int:
        return int((self.often * self.rest[first]).sum())

    def _first(self, g: float) -> Integers:
        """Give, for each upper value, the first lower value with a ratio of at most g."""
        with np.errstate(over="ignore", under="ignore"):
            first = np.searchsorted(self.lower, self.upper / g).astype(np.int64)
        last = self.lower.size - 1
        while True:  # the search divided by g, the ratios by the lower values: rounding differs
            early = (first <= last) & (self.upper / self.lower[np.minimum(first, last)] > g)
            late = (first > 0) & (self.upper / self.lower[np.maximum(first - 1, 0)] <= g)
            step = early.astype(np.int64) - late
            if not step.any():
                return first
            first += step
