"""Stage one of HPT as a function of the speedup under test: who wins each benchmark, where.

Dividing the candidate's scores by g moves them past the baseline's one by one, at the ratios a/b
of a candidate's to a baseline's score. The rank sum depends on g only through the number of ratios
above g, so under one law of the rank sum the winner changes at two order statistics of the ratios:
with K the critical number, the candidate wins below the K-th largest ratio, and the baseline
above the K-th smallest. Given ties inside a sample the law itself changes on the way; then every
ratio that could matter is looked at. Of many runs the ratios are not made but searched
(`analysis.methods.hpt.ratios`): memory grows with the runs, not with their product.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError
from ...stats import TIE_TOLERANCE, median
from .looking import changes_of
from .ratios import MADE, Ratios
from .result import P_TOLERANCE, Ties
from .stages import Kind, rank_sum_pvalue, risk_of

__all__ = ["Benchmarks", "Lines", "Winners", "lines_of", "winners_of"]

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
_LARGEST, _SMALLEST = 1e200, 1e-200  # scores, so that a score times a ratio is a number
_APART = 1e100  # a factor between the scores of one benchmark, so that their ratios are
_CELLS = 1 << 22  # ratios of all benchmarks made at one time


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
        out: Signs = np.where(high > low, own, self._pick(self.between, low))
        return out

    def count_at(self, speedups: Array) -> NDArray[np.bool_]:
        """Tell of each benchmark, at its own speedup, whether its difference may count there."""
        own = speedups[:, None]
        low = np.sum(self.edges < own * (1 - TIE_TOLERANCE), axis=1)
        high = np.sum(self.edges <= own * (1 + TIE_TOLERANCE), axis=1)
        counts: NDArray[np.bool_] = self.between[np.arange(low.size), low] != 0
        counts |= high > low
        return counts

    @staticmethod
    def _pick(table: Signs, where: NDArray[np.intp]) -> Signs:
        picked: Signs = table[np.arange(table.shape[0])[None, :], where]
        return picked


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

    def factor(self, speedups: Array) -> Array:
        """Give f for each speedup."""
        if self.kind == "log-ratio":
            return -np.log(speedups)
        return np.asarray(speedups) if self.negated else 1 / speedups

    def speedup(self, factors: Array) -> Array:
        """Give the speedup of each f; what is none becomes infinite or NaN."""
        if self.kind == "log-ratio":
            return np.exp(-factors)
        return factors if self.negated else 1 / factors

    def differences(self, speedups: Array) -> Array:
        """Give the differences (speedups x benchmarks), equal medians as exactly 0."""
        ours = self.slope * self.factor(speedups)[:, None]
        d = ours - self.level
        # hpt() forgives rounding relative to the medians; of logarithms, absolutely.
        scale = 1.0 if self.kind == "log-ratio" else np.maximum(np.abs(ours), np.abs(self.level))
        d[np.abs(d) <= TIE_TOLERANCE * scale] = 0.0
        return d

    def zeros(self) -> Array:
        """Give the speedup at which each benchmark's difference is 0."""
        return self.speedup(self.level / self.slope)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Benchmarks:
    """Benchmarks of one shape, stacked: scores before the speedup, larger is better."""

    where: NDArray[np.intp]
    candidate: Array  # benchmarks x m
    baseline: Array  # benchmarks x n

    def ratios(self, *, negated: bool) -> Array:
        """Give all ratios of each benchmark (benchmarks x mn): the speedups that tie two runs."""
        ours, theirs = self.candidate[:, :, None], self.baseline[:, None, :]
        every = theirs / ours if negated else ours / theirs
        return every.reshape(every.shape[0], -1)


def stack(a: PerformanceMatrix, b: PerformanceMatrix, kind: Kind) -> list[Benchmarks]:
    """Stack the benchmarks of equal run counts, as scores."""
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, (x, y) in enumerate(zip(a.samples, b.samples, strict=True)):
        shapes[x.size, y.size].append(i)
    stacks = []
    for rows in shapes.values():
        ours = np.array([a.samples[i] for i in rows])
        theirs = np.array([b.samples[i] for i in rows])
        with np.errstate(over="ignore", under="ignore"):
            if kind == "raw":
                sign = 1.0 if a.better == "higher" else -1.0
                s, t = sign * ours, sign * theirs
            else:
                centre = median(theirs, axis=1)[:, None]
                if a.better == "higher":
                    s, t = ours / centre, theirs / centre
                else:
                    s, t = centre / ours, centre / theirs
        sizes = np.abs(np.concatenate([s, t], axis=1))
        low, high = sizes.min(axis=1), sizes.max(axis=1)
        bad = ~((low >= _SMALLEST) & (high <= _LARGEST) & (low >= high / _APART))
        if bad.any():
            raise AnalysisError(
                "the scores leave the range of numbers, or lie too far apart",
                f"benchmark {a.benchmarks[rows[int(np.argmax(bad))]]!r}",
                "give the values in another unit, and look for a wrong one",
            )
        stacks.append(Benchmarks(where=np.array(rows), candidate=s, baseline=t))
    return stacks


def lines_of(stacks: list[Benchmarks], n: int, kind: Kind, *, negated: bool) -> Lines:
    """Give the differences of medians as functions of the speedup."""
    ours, theirs = np.empty(n), np.empty(n)
    for part in stacks:
        s, t = part.candidate, part.baseline
        if kind == "log-ratio":
            s, t = np.log(s), np.log(t)
        ours[part.where], theirs[part.where] = median(s, axis=1), median(t, axis=1)
    if kind == "log-ratio":
        return Lines(slope=np.ones(n), level=theirs - ours, kind=kind, negated=negated)
    return Lines(slope=ours, level=theirs, kind=kind, negated=negated)


def winners_of(
    stacks: list[Benchmarks], n: int, *, alpha: float | None, ties: Ties, negated: bool
) -> Winners:
    """Give the winner of each benchmark as a step function of the speedup."""
    parts: list[Winners] = []
    for part in stacks:
        runs = part.candidate.shape[1], part.baseline.shape[1]
        if runs == (1, 1):
            parts.append(_by_sign(part, negated=negated))
        elif ties == "table":
            parts.append(_by_order(part, risk_of(*runs, alpha), negated=negated))
        else:
            parts.append(_by_looking(part, risk_of(*runs, alpha), negated=negated))
    width = max(1, *(one.edges.shape[1] for one in parts))
    edges = np.full((n, width), np.inf)
    between = np.zeros((n, width + 1), dtype=np.int8)
    at = np.zeros((n, width), dtype=np.int8)
    for part, one in zip(stacks, parts, strict=True):
        k = one.edges.shape[1]
        edges[part.where, :k], at[part.where, :k] = one.edges, one.at
        between[part.where, : k + 1] = one.between
    return Winners(edges=edges, between=between, at=at)


def _by_sign(part: Benchmarks, *, negated: bool) -> Winners:
    """One run on each side: stage one is skipped, the sign decides."""
    edges = part.ratios(negated=negated)
    between = np.tile(np.array([1, -1], dtype=np.int8), (edges.shape[0], 1))
    return Winners(edges=edges, between=between, at=np.zeros(edges.shape, dtype=np.int8))


@lru_cache(maxsize=256)
def _critical(m: int, n: int, risk: float) -> int:
    """Give the smallest 2U that wins by the published rule; 2mn + 1 when none does."""
    none = np.empty(0)

    def wins(doubled: int) -> bool:
        p = rank_sum_pvalue(doubled / 2 + m * (m + 1) / 2, none, m, n, "table")
        return p <= risk + P_TOLERANCE

    low, high = m * n, 2 * m * n + 1  # at the middle p is about one half, above the risk
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle) else (middle, high)
    return high


def _by_order(part: Benchmarks, risk: float, *, negated: bool) -> Winners:
    """Find both thresholds as order statistics of the ratios: the published convention."""
    m, n = part.candidate.shape[1], part.baseline.shape[1]
    critical = _critical(m, n, risk)
    needed = (critical + 1) // 2  # ratios above g, when none ties
    q, total = part.where.size, m * n
    between = np.tile(np.array([1, 0, -1], dtype=np.int8), (q, 1))
    if needed > total:
        nowhere = np.tile(np.array([0.0, np.inf]), (q, 1))
        return Winners(edges=nowhere, between=between, at=np.zeros((q, 2), dtype=np.int8))
    places = total - needed, needed - 1
    if total > MADE:
        edges, doubled = _searched(part, places, negated=negated)
    else:
        edges, doubled = np.empty((q, 2)), np.empty((q, 2), dtype=np.int64)
        step = max(1, _CELLS // total)
        for k in range(0, q, step):
            rows = slice(k, k + step)
            some = Benchmarks(
                where=part.where[rows],
                candidate=part.candidate[rows],
                baseline=part.baseline[rows],
            )
            edges[rows], doubled[rows] = _made(some.ratios(negated=negated), places)
    at = (doubled >= critical).astype(np.int8) - (2 * total - doubled >= critical)
    return Winners(edges=edges, between=between, at=at)


def _made(ratios: Array, places: tuple[int, int]) -> tuple[Array, NDArray[np.int64]]:
    """Give the ratios at two places of each benchmark, and 2U there (benchmarks x 2)."""
    low, high = places
    ratios.partition(low, axis=1)  # one at a time: numpy's fast path takes a single order statistic
    if high > low:
        ratios[:, low + 1 :].partition(high - low - 1, axis=1)
    edges = ratios[:, [low, high]]
    doubled = np.empty(edges.shape, dtype=np.int64)
    for k, place in enumerate(places):
        # Everything on the left is at most the edge, everything on the right at least.
        edge = edges[:, k, None]
        left = np.count_nonzero(ratios[:, :place] < edge * (1 - TIE_TOLERANCE), axis=1)
        right = np.count_nonzero(ratios[:, place + 1 :] > edge * (1 + TIE_TOLERANCE), axis=1)
        doubled[:, k] = ratios.shape[1] + right - left  # ties count half
    return edges, doubled


def _searched(
    part: Benchmarks, places: tuple[int, int], *, negated: bool
) -> tuple[Array, NDArray[np.int64]]:
    """Give the same as `_made`, benchmark by benchmark, from the sorted runs."""
    edges = np.empty((part.where.size, 2))
    doubled = np.empty(edges.shape, dtype=np.int64)
    for i, (s, t) in enumerate(zip(part.candidate, part.baseline, strict=True)):
        ratios = Ratios.of(t, s) if negated else Ratios.of(s, t)
        for k, place in enumerate(places):
            edge = edges[i, k] = ratios.smallest(place)
            right = ratios.total - ratios.upto(edge * (1 + TIE_TOLERANCE))
            doubled[i, k] = ratios.total + right - ratios.below(edge * (1 - TIE_TOLERANCE))
    return edges, doubled


def _by_looking(part: Benchmarks, risk: float, *, negated: bool) -> Winners:
    """Look at every ratio that could matter: both conventions of ties, here for the exact one."""
    found = [
        changes_of(s, t, risk, negated=negated)
        for s, t in zip(part.candidate, part.baseline, strict=True)
    ]
    width = max(1, *(edges.size for edges, _, _ in found))
    edges = np.full((len(found), width), np.inf)
    between = np.zeros((len(found), width + 1), dtype=np.int8)
    at = np.zeros((len(found), width), dtype=np.int8)
    for i, (where, open_, on) in enumerate(found):
        edges[i, : where.size], at[i, : where.size] = where, on
        between[i, : open_.size] = open_
    return Winners(edges=edges, between=between, at=at)
