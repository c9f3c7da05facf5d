"""The two protocols of the Speedup-Test: from runs of many pairs to decisions with steps.

Each p-value is computed once for a pair, for all pairs of equal sizes together. What a level decides is
then a matter of comparing these numbers with its risk, so that the search costs nothing.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 4.1 and 4.2 (figures 1 and 2) and 6.2.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from ...stats import classical
from ...stats.samples import Array, Flags
from . import result
from .result import LARGE, Decision, Step

P_TOLERANCE = 1e-12  # a p of exactly the risk must be accepted whatever its last digits

_NO_LESS_MEAN = "the candidate's mean time is not below the baseline's"
_HYPOTHESES = {
    result.SHAPIRO: "the times are normally distributed",
    result.F_TEST: "both sides have the same variance",
    result.STUDENT: _NO_LESS_MEAN,
    result.WELCH: _NO_LESS_MEAN,
    result.KOLMOGOROV: "the times less their medians have the same distribution on both sides",
    result.WILCOXON: "the candidate's times do not tend to be below the baseline's",
}

_MORE, _APPROXIMATE = f"more than {LARGE} runs", "its risk is approximate"


def mean_path(tests: _Evidence, k: int, risk: float) -> tuple[list[Step], int | None]:
    """Give the steps of the protocol for the mean of the k-th pair (figure 1), and the runs it asks for."""
    steps: list[Step] = []
    needed: list[int] = []
    sides: tuple[tuple[result.Side, int, classical.PairTests], ...] = (
        ("baseline", tests.n, tests.normal_x),
        ("candidate", tests.m, tests.normal_y),
    )
    for side, runs, normal in sides:
        more, follows = _normality(runs, float(normal.pvalue[k]), risk)
        if more is not None:
            needed.append(more)
        steps.append(_step(result.SHAPIRO, normal, k, risk, follows, side))
    if needed:
        return steps, max(needed)
    pooled = bool(tests.f.pvalue[k] > risk + P_TOLERANCE)
    if math.isnan(tests.f.pvalue[k]):
        follows = "all times of a side are equal: Welch's t-test"
    elif pooled:
        follows = "variances taken as equal: Student's t-test"
    else:
        follows = "variances differ: Welch's t-test"
    fisher = _step(result.F_TEST, tests.f, k, risk, follows)
    if fisher.statistic is not None:
        df = tests.n - 1, tests.m - 1
        low, high = classical.variance_ratio(fisher.statistic, df, confidence=1 - risk)
        fisher = replace(fisher, low=low, high=high)
    steps.append(fisher)
    name, last = (result.STUDENT, tests.student) if pooled else (result.WELCH, tests.welch)
    if math.isnan(last.pvalue[k]):
        follows = "the times do not differ by more than rounding: cannot conclude"
    else:
        follows = _verdict("mean", last, k, risk)
    return [*steps, _step(name, last, k, risk, follows)], None


def median_path(tests: _Evidence, k: int, risk: float) -> tuple[list[Step], int | None]:
    """Give the steps of the protocol for the median (figure 2), and the runs that it asks for."""
    one_shape = tests.ks.pvalue[k] > risk + P_TOLERANCE
    small = min(tests.n, tests.m) <= LARGE
    if one_shape:
        follows = "the two may differ by a shift only"
    elif small:
        follows = f"the shapes differ: cannot conclude; {_MORE} are needed on both sides"
    else:
        follows = f"the shapes differ, but with {_MORE} the rank-sum test is used; {_APPROXIMATE}"
    first = _step(result.KOLMOGOROV, tests.ks, k, risk, follows)
    if small and not one_shape:
        return [first], LARGE + 1
    follows = _verdict("median", tests.rank_sum, k, risk)
    return [first, _step(result.WILCOXON, tests.rank_sum, k, risk, follows)], None


def _normality(runs: int, p: float, risk: float) -> tuple[int | None, str]:
    """Give the runs that are needed for want of normality, and the consequence in words."""
    if runs > LARGE:
        if p > risk + P_TOLERANCE:
            return None, f"not required with {_MORE}, and no departure is seen"
        if p <= risk + P_TOLERANCE:
            return None, f"not required with {_MORE}: the t-test is used; {_APPROXIMATE}"
        if runs > classical.MOST:
            return None, f"not required with {_MORE}; no law is known beyond {classical.MOST}"
        return None, f"all values are equal; not required with {_MORE}"
    if runs < classical.LEAST:
        return classical.LEAST, f"it needs {classical.LEAST} runs, so cannot conclude"
    if math.isnan(p):
        return LARGE + 1, f"all values are equal, so cannot conclude; {_MORE} are needed"
    if p > risk + P_TOLERANCE:
        return None, "taken as normal"
    return LARGE + 1, f"not normal: cannot conclude; {_MORE} are needed"


def _verdict(centre: str, last: classical.PairTests, k: int, risk: float) -> str:
    word = "is" if last.pvalue[k] <= risk + P_TOLERANCE else "is not"
    return f"the speedup of the {centre} {word} significant"


def _step(  # noqa: PLR0917 - what is read at a step, in the order of a sentence
    test: str,
    found: classical.PairTests,
    k: int,
    risk: float,
    consequence: str,
    sample: result.Side | None = None,
) -> Step:
    p = float(found.pvalue[k])
    known = not math.isnan(p)
    rejected: result.Outcome = "rejected" if p <= risk + P_TOLERANCE else "not rejected"
    return Step(
        test=test,
        hypothesis=_HYPOTHESES[test],
        sample=sample,
        statistic=float(found.statistic[k]) if known else None,
        pvalue=p if known else None,
        risk=risk,
        outcome=rejected if known else "not tested",
        consequence=consequence,
    )


# The levels of the search in hundredths, the highest first: above 0.50, in steps of 0.01.
LEVELS = tuple(range(99, 50, -1))


def risk_of(confidence: float) -> float:
    """Give 1 - confidence as written: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Decimal(repr(float(confidence))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """Every statistic of a batch of pairs; rows are pairs."""

    n: int
    m: int
    normal_x: classical.PairTests
    normal_y: classical.PairTests
    f: classical.PairTests
    student: classical.PairTests
    welch: classical.PairTests
    ks: classical.PairTests
    rank_sum: classical.PairTests

    def swapped(self, x: Array, y: Array) -> _Evidence:
        """Give the evidence with the sides swapped; only the one-sided tests look at their order."""
        few = min(self.n, self.m) < 2
        return replace(
            self,
            n=self.m,
            m=self.n,
            normal_x=self.normal_y,
            normal_y=self.normal_x,
            student=self.student if few else classical.student(y, x),
            welch=self.welch if few else classical.welch(y, x),
            rank_sum=classical.rank_sum(y, x),
        )

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
) -> list[tuple[Decision, Decision]]:
    """Judge pairs of samples of equal sizes, by mean and by median."""
    evidence = _evidence(x, y)
    swapped = evidence.swapped(x, y)
    found: list[list[Decision]] = []
    for path, *judges in (
        (mean_path, evidence.mean_at, swapped.mean_at),
        (median_path, evidence.median_at, swapped.median_at),
    ):
        ours, theirs = (_decided(one, confidences, compatible=compatible) for one in judges)
        ways = (path(evidence, k, one.risk) for k, one in enumerate(ours))
        found.append(list(map(_decision, ways, ours, theirs, confidences)))
    means, medians = found
    return list(zip(means, medians, strict=True))


def _evidence(x: Array, y: Array) -> _Evidence:
    n, m = x.shape[1], y.shape[1]
    unknown = np.full(len(x), np.nan)
    missing = classical.PairTests(statistic=unknown, pvalue=unknown)

    def normal(rows: Array) -> classical.PairTests:
        if not classical.LEAST <= rows.shape[1] <= classical.MOST:
            return missing
        statistic, pvalue = classical.shapiro_wilk(rows)
        return classical.PairTests(statistic=statistic, pvalue=pvalue)

    few = min(n, m) < 2  # no variance
    return _Evidence(
        n=n,
        m=m,
        normal_x=normal(x),
        normal_y=normal(y),
        f=missing if few else classical.f_test(x, y),
        student=missing if few else classical.student(x, y),
        welch=missing if few else classical.welch(x, y),
        ks=classical.ks_centred(x, y),
        rank_sum=classical.rank_sum(x, y),
    )


_Judge = Callable[[Array], tuple[Flags, Array]]


class _Found(NamedTuple):
    """What is decided of one pair: the level, the risk that the steps are taken at, and p."""

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


def _decision(
    way: tuple[list[Step], int | None], ours: _Found, theirs: _Found, asked: float | None
) -> Decision:
    """Put together the way to a decision, what it is, and what it would be with the sides swapped."""
    searched = asked is None

    def significant(one: _Found) -> bool | None:
        if searched:
            return one.level is not None
        return None if one.pvalue is None else one.pvalue <= one.risk + P_TOLERANCE

    return Decision(
        significant=significant(ours),
        confidence=ours.level,
        pvalue=ours.pvalue,
        steps=tuple(way[0]),
        needed_runs=way[1],
        searched=searched,
        swapped=result.Swapped(
            significant=significant(theirs), confidence=theirs.level, pvalue=theirs.pvalue
        ),
    )


def _scan(judge: _Judge, count: int) -> list[_Found]:
    """Go down from 0.99 to 0.51 and stop at the first level at which everything holds."""
    risks = np.array([(100 - level) / 100 for level in LEVELS])
    holds, pvalue = judge(risks[:, None])
    good = holds & (pvalue <= risks[:, None] + P_TOLERANCE)
    best = good.argmax(axis=0)
    found, some = good.any(axis=0), holds.any(axis=0)
    # without a level, p is given at the lowest one whose checks hold
    at = np.where(found, best, len(LEVELS) - 1 - holds[::-1].argmax(axis=0))
    text = pvalue[at, np.arange(count)]
    columns = (column.tolist() for column in (best, found, text, some))
    return [
        _Found(
            LEVELS[k] / 100 if done else None,
            float(risks[k if done else -1]),
            p if known else None,
        )
        for k, done, p, known in zip(*columns, strict=True)
    ]


def _bisect(judge: _Judge, count: int) -> list[_Found]:
    """Halve [0.5, 1] eight times and cut the lower end to two decimals."""
    low, high = np.full(count, 0.5), np.ones(count)
    for _ in range(8):  # of [0.5, 1] by the bisection that prints the report's 0.83
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
            *(column.tolist() for column in (hundredths, found, 1 - low, pvalue)),
            without,
            strict=True,
        )
    ]
