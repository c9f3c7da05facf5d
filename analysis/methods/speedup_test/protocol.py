"""The two protocols of the Speedup-Test: from the runs of many pairs to decisions with their steps.

Each p-value is computed once for a pair, for all pairs of equal sizes together. What a level decides is
then a matter of comparing these numbers with its risk, so that the search costs nothing.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 4.1 and 4.2 (figures 1 and 2) and 6.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...stats import PairTests, f_test, ks_centred, rank_sum, shapiro_wilk as wilk, student, welch
from .result import LARGE, Decision, Step, Swapped
from .steps import P_TOLERANCE, Pair, mean_path, median_path

__all__ = ["LEVELS", "Decided", "decide", "risk_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# The levels of the search in hundredths, the highest first: above 0.50, in steps of 0.01.
LEVELS = tuple(range(99, 50, -1))
_HALVINGS = 8  # of [0.5, 1] by the bisection that prints the report's 0.83


class Decided(NamedTuple):
    """What the protocols say about one pair."""

    mean: Decision
    median: Decision


def risk_of(confidence: float) -> float:
    """Give 1 - confidence as written: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Decimal(repr(float(confidence))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """Every statistic of a batch of pairs; rows are pairs."""

    n: int
    m: int
    normal_x: PairTests
    normal_y: PairTests
    f: PairTests
    student: PairTests
    welch: PairTests
    ks: PairTests
    rank_sum: PairTests

    def swapped(self, x: Array, y: Array) -> _Evidence:
        """Give the evidence with the sides swapped; only the one-sided tests look at their order."""
        few = min(self.n, self.m) < 2
        return replace(
            self,
            n=self.m,
            m=self.n,
            normal_x=self.normal_y,
            normal_y=self.normal_x,
            student=self.student if few else student(y, x),
            welch=self.welch if few else welch(y, x),
            rank_sum=rank_sum(y, x),
        )

    def pairs(self) -> list[Pair]:
        tests = (self.normal_x, self.normal_y, self.f, self.student, self.welch)
        columns = [
            column.tolist()
            for test in (*tests, self.ks, self.rank_sum)
            for column in (test.statistic, test.pvalue)
        ]
        return [Pair(self.n, self.m, *row) for row in zip(*columns, strict=True)]

    def mean_at(self, risk: Array) -> tuple[Flags, Array]:
        """Tell where the checks hold at a risk, and give the p of the t-test it leads to."""
        holds = np.ones(np.broadcast_shapes(risk.shape, self.f.pvalue.shape), dtype=np.bool_)
        for size, normal in ((self.n, self.normal_x), (self.m, self.normal_y)):
            if size <= LARGE:
                holds &= normal.pvalue > risk + P_TOLERANCE
        pooled = self.f.pvalue > risk + P_TOLERANCE
        pvalue = np.where(pooled, self.student.pvalue, self.welch.pvalue)
        return holds & ~np.isnan(pvalue), pvalue

    def median_at(self, risk: Array) -> tuple[Flags, Array]:
        """Tell where the checks hold at a risk, and give the p of the rank-sum test."""
        shape = np.broadcast_shapes(risk.shape, self.ks.pvalue.shape)
        holds = np.ones(shape, dtype=np.bool_)
        if min(self.n, self.m) <= LARGE:
            holds &= self.ks.pvalue > risk + P_TOLERANCE
        return holds, np.broadcast_to(self.rank_sum.pvalue, shape)


def decide(
    x: Array, y: Array, confidences: Sequence[float | None], *, compatible: bool
) -> list[Decided]:
    """Judge pairs of samples of equal sizes.

    Parameters
    ----------
    x, y : array of shape (pairs, n), (pairs, m)
        Times of the baseline and of the candidate.
    confidences : sequence of float or None
        The level asked for each pair; None searches.
    compatible : bool
        Search by bisection, as the original tool did, instead of a scan.
    """
    evidence = _evidence(x, y)
    swapped = evidence.swapped(x, y)
    pairs = evidence.pairs()
    found = (
        _decisions(
            pairs,
            path,
            _decided(ours, confidences, compatible=compatible),
            _decided(theirs, confidences, compatible=compatible),
            confidences,
        )
        for path, ours, theirs in (
            (mean_path, evidence.mean_at, swapped.mean_at),
            (median_path, evidence.median_at, swapped.median_at),
        )
    )
    return [Decided(*both) for both in zip(*found, strict=True)]


def _evidence(x: Array, y: Array) -> _Evidence:
    n, m = x.shape[1], y.shape[1]
    unknown = np.full(len(x), np.nan)
    missing = PairTests(statistic=unknown, pvalue=unknown)

    def normal(rows: Array) -> PairTests:
        if not wilk.LEAST <= rows.shape[1] <= wilk.MOST:
            return missing
        statistic, pvalue = wilk.shapiro_wilk(rows)
        return PairTests(statistic=statistic, pvalue=pvalue)

    few = min(n, m) < 2  # no variance
    return _Evidence(
        n=n,
        m=m,
        normal_x=normal(x),
        normal_y=normal(y),
        f=missing if few else f_test(x, y),
        student=missing if few else student(x, y),
        welch=missing if few else welch(x, y),
        ks=ks_centred(x, y),
        rank_sum=rank_sum(x, y),
    )


_Judge = Callable[[Array], tuple[Flags, Array]]
_Way = Callable[[Pair, float], tuple[tuple[Step, ...], int | None]]


class _Found(NamedTuple):
    """What is decided of one pair: the level, the risk that the steps are told at, and p."""

    level: float | None
    risk: float
    pvalue: float | None


def _decided(
    judge: _Judge, confidences: Sequence[float | None], *, compatible: bool
) -> list[_Found]:
    """Decide at the levels asked for, and search where none is."""
    risks = np.array([0.5 if c is None else risk_of(c) for c in confidences])
    fixed = zip(risks.tolist(), *(column.tolist() for column in judge(risks)), strict=True)
    sought: list[_Found] = []
    if None in confidences:
        sought = (_bisect if compatible else _scan)(judge, len(confidences))
    return [
        sought[k] if confidence is None else _Found(confidence, risk, p if holds else None)
        for k, (confidence, (risk, holds, p)) in enumerate(zip(confidences, fixed, strict=True))
    ]


def _significant(found: _Found, *, searched: bool) -> bool | None:
    if searched:
        return found.level is not None
    return None if found.pvalue is None else found.pvalue <= found.risk + P_TOLERANCE


def _decisions(
    pairs: Sequence[Pair],
    path: _Way,
    ours: Sequence[_Found],
    theirs: Sequence[_Found],
    confidences: Sequence[float | None],
) -> Iterator[Decision]:
    for pair, found, other, asked in zip(pairs, ours, theirs, confidences, strict=True):
        searched = asked is None
        steps, needed = path(pair, found.risk)
        yield Decision(
            significant=_significant(found, searched=searched),
            confidence=found.level,
            pvalue=found.pvalue,
            steps=steps,
            needed_runs=needed,
            searched=searched,
            swapped=Swapped(
                significant=_significant(other, searched=searched),
                confidence=other.level,
                pvalue=other.pvalue,
            ),
        )


def _scan(judge: _Judge, count: int) -> list[_Found]:
    """Go down from 0.99 to 0.51 and stop at the first level at which everything holds.

    Acceptance is not monotone in the level (a larger risk makes the checks harder to pass, and may
    switch between the t-tests), so every level is looked at.
    """
    risks = np.array([(100 - level) / 100 for level in LEVELS])
    holds, pvalue = judge(risks[:, None])
    good = holds & (pvalue <= risks[:, None] + P_TOLERANCE)
    best = good.argmax(axis=0)
    found: Flags = np.asarray(good.any(axis=0))
    some: Flags = np.asarray(holds.any(axis=0))
    # without a level, p is told at the lowest one whose checks hold
    at = np.where(found, best, len(LEVELS) - 1 - holds[::-1].argmax(axis=0))
    told = pvalue[at, np.arange(count)]
    return [
        _Found(
            LEVELS[k] / 100 if done else None,
            float(risks[k if done else -1]),
            p if known else None,
        )
        for k, done, p, known in zip(
            best.tolist(), found.tolist(), told.tolist(), some.tolist(), strict=True
        )
    ]


def _bisect(judge: _Judge, count: int) -> list[_Found]:
    """Halve [0.5, 1] eight times and cut the lower end to two decimals.

    All printed levels come out of this rule, also the fourth mean's 0.83, where the scan finds 0.84.
    """
    low, high = np.full(count, 0.5), np.ones(count)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        holds, pvalue = judge(1 - middle)
        good = holds & (pvalue <= 1 - middle + P_TOLERANCE)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    hundredths = np.floor(100 * low).astype(np.int64)
    found = hundredths >= LEVELS[-1]
    without = _scan(judge, count)
    _, pvalue = judge(1 - low)
    return [
        _Found(whole / 100, risk, p) if done else _Found(None, other.risk, other.pvalue)
        for whole, done, risk, p, other in zip(
            hundredths.tolist(),
            found.tolist(),
            (1 - low).tolist(),
            pvalue.tolist(),
            without,
            strict=True,
        )
    ]
