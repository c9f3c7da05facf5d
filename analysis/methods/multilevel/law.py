"""From estimates to words: Student's t or a confidence sequence, the risk of looks, decisions.

A `ErrorLaw` turns errors into half-widths and estimates into p-values, element by element of arrays of
any shape. All of it is on the log scale. Where no single number of degrees of freedom fits an error,
its independent parts have a quantile each ([3]_): the half-width is the root of the sum of the squares
of theirs, and a p-value is the risk at which the interval ends at the value that H0 names.

References
----------
.. [1] T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976 (the t mixture).
.. [2] H. Wang, A. Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
   unknown variance", 2024, section 4 (right-Haar prior on the standard deviation).
.. [3] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations
   when the population variances are not equal", Sankhya 22, 1960.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from scipy.special import stdtr, stdtrit

from ...errors import UsageError
from ...record.trial_files import LooksPlan, with_look
from ...stats.arguments import counted
from ...stats.multiplicity import Correction, adjusted, holm_steps, nominal_risk
from ...stats.samples import Array, Flags
from .estimates import FLAT, ErrorParts, Estimates, satterthwaite

if TYPE_CHECKING:
    from ...pages.number_format import Word


LooksRule = Literal["single", "planned", "growing", "always-valid", "repeated"]

_MOST = 1000  # looks that may be planned
_USUAL = 0.05  # alpha; a plan's risk is a part of it
_FEWEST = 2  # sessions without which nothing can be decided, so that no risk is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Which look at the data this is, and by what the risk alpha = 1 - confidence is divided for it.

    Of a trial that grows, nobody said beforehand how often it would be looked at. Its i-th look has
    alpha / (i (i + 1)), which sum to alpha however many there are. The first look at a trial that was
    never appended to has alpha itself, because nobody knew that others would follow: of a trial that
    began with two sessions or more all looks together have at most 1.5 alpha. Looks at fewer than two
    sessions cannot decide anything; they spend nothing and are not counted.

    Of a trial that was looked at while it was measured, by a list of numbers of sessions that was made
    before ("repeated"), each look has the nominal risk at which all of them together have alpha
    (`nominal_risk`).

    `count`: This look's number, or how many are planned. `rule` ({"single", "planned", "growing",
    "always-valid", "repeated"}): How the risk is shared. `division`: By what alpha is divided at this look;
    of repeated ones: over how many candidates, before it is shared among the looks.
    `next_division`: The same at the next look, for advice on how much more to measure. `total`: The
    risk of all looks together, as a multiple of alpha: no more than that. `open`: Whether a list of
    repeated looks goes on to 1,024 sessions. `share`: What part of alpha the planned looks have together.
    """

    count: int = 1
    rule: LooksRule = "single"
    division: int = 1
    next_division: int = 1
    total: float = 1.0
    open: bool = False
    share: float = 1.0

    @classmethod
    def planned(cls, count: int) -> Self:
        """Give one of `count` looks that were planned: alpha / count each."""
        counted("looks", count, most=_MOST)
        if count == 1:
            return cls()
        return cls(count=int(count), rule="planned", division=int(count), next_division=int(count))

    @classmethod
    def of_plan(cls, plan: LooksPlan, sessions: int) -> Self:
        """Give the look after `sessions` sessions of a trial that is looked at by a plan.

        The plan's risk is that of all its looks at a confidence of 95 %; at another one it is scaled.
        """
        if plan.rule == "planned":
            share, division = plan.risk / _USUAL, len(plan.looks) * plan.candidates
            if division == 1 and share == 1.0:
                return cls()
            return cls(
                count=len(plan.looks),
                rule="planned",
                division=division,
                next_division=division,
                total=share,
                share=share,
            )
        return cls(
            count=max(1, sum(n <= sessions for n in with_look(plan.looks, sessions))),
            rule="repeated",
            division=plan.candidates,
            next_division=plan.candidates,
            open=plan.open,
        )

    @classmethod
    def growing(cls, sessions: Sequence[int]) -> Self:
        """Give the latest look at a trial that grew as nobody planned."""
        count = max(1, sum(one >= _FEWEST for one in sessions))
        begun = sessions[0] >= _FEWEST
        if len(sessions) == 1:
            return cls(next_division=_spending(2 if begun else 1))
        return cls(
            count=count,
            rule="growing",
            division=_spending(count),
            next_division=_spending(count + 1),
            total=1.5 if begun else 1.0,
        )

    @classmethod
    def of(cls, looks: int | Looks, *, always_valid: bool) -> Looks:
        """Give what the two options of a comparison come to."""
        found = looks if isinstance(looks, Looks) else cls.planned(looks)
        if not always_valid or found.rule == "always-valid":
            return found
        if found.rule != "single":
            raise UsageError(
                "looks and always_valid exclude each other",
                fix="always_valid holds however often one looks; looks divides the level",
            )
        return cls(rule="always-valid")  # by bounds that hold at all looks at once

    def alpha(self, confidence: float) -> float:
        """Give the risk of this look, at each candidate."""
        share = self.share * (1.0 - confidence) / self.division
        return nominal_risk(share, open=self.open) if self.rule == "repeated" else share

    def next_alpha(self, confidence: float) -> float:
        """Give the risk that the next look will have."""
        if self.rule == "repeated":
            return self.alpha(confidence)
        return self.share * (1.0 - confidence) / self.next_division

    def at(self, confidence: float) -> LookRisk:
        """Give what an answer at this confidence says of it."""
        return LookRisk(
            count=self.count,
            alpha=round(self.alpha(confidence), 15),
            rule=self.rule,
            total=round(self.total * (1.0 - confidence), 15),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRisk:
    """Which look at the data an answer is, and what it risks.

    `count`: Its number, or how many are planned. `alpha`: Its risk: intervals have the confidence 1 - alpha.
    `rule`: How looks share the risk, as of `Looks`. `total`: The most that all looks together may risk.
    """

    renamed: ClassVar[Mapping[str, str]] = {
        "count": "looks",
        "alpha": "look_alpha",
        "rule": "looks_rule",
        "total": "risk_total",
    }

    count: int
    alpha: float
    rule: LooksRule
    total: float

    @property
    def always_valid(self) -> bool:
        """Whether intervals hold at every number of sessions (a confidence sequence)."""
        return self.rule == "always-valid"


def _spending(look: int) -> int:
    return look * (look + 1)


C_SQUARED = 10.0  # of the mixture; fixed before any data are seen, or the sequence would not hold
_LEAST = sys.float_info.min  # a p-value is never 0
_STEPS = 60  # halvings of the logarithm of a p-value: to its last digit


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLaw:
    """Two-sided intervals of confidence 1 - `alpha`, and the p-values that belong to them.

    With `always_valid` they hold at all numbers of sessions at once: the t mixture of [1]_ and [2]_
    over S = freedom + 1 session values, with k = 1 + S c^2 and c^2 = 10. The half-width is
    error sqrt((S - 1) (A - 1) / (1 - A / k)) with A = (k / alpha^2)^(1 / S), and infinite unless
    A < k: at alpha = 0.05 from 3 sessions on.
    """

    alpha: float
    always_valid: bool = False

    def multiplier(self, freedom: Array, division: Array | float = 1.0) -> Array:
        """Give half-width over standard error, at level alpha / `division`."""
        alpha = self.alpha / np.asarray(division, dtype=np.float64)
        if not self.always_valid:
            return np.asarray(-stdtrit(freedom, alpha / 2), dtype=np.float64)
        count = freedom + 1.0
        k = 1.0 + count * C_SQUARED
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            a = np.exp((np.log(k) - 2.0 * np.log(alpha)) / count)
            square = freedom * (a - 1.0) / (1.0 - a / k)
            return np.asarray(
                np.where(np.isnan(freedom), np.nan, np.where(a < k, np.sqrt(square), np.inf))
            )

    def half(self, error: Array, freedom: Array, parts: ErrorParts | None = None) -> Array:
        """Give half the width of the interval; nan where there is none, 0 where the error is 0."""
        with np.errstate(invalid="ignore", over="ignore"):
            half = np.where(error == 0, 0.0, self.multiplier(freedom) * error)
        some = np.asarray((error > 0) & np.isnan(freedom))
        if parts is not None and some.any():
            half[some] = _bound(_chosen(parts, some), np.full(int(some.sum()), self.alpha))
        return np.where(np.isfinite(half), half, np.nan)

    def pvalue(
        self, estimate: Array, error: Array, freedom: Array, parts: ErrorParts | None = None
    ) -> Array:
        """Give the two-sided p of H0: the true log ratio is 0; nan without spread or interval."""
        known = np.asarray(error > 0)
        # 1e150: far beyond any p of interest, and its square is a number
        t = np.minimum(np.abs(estimate) / np.where(known, error, 1.0), 1e150)
        if self.always_valid:
            count = freedom + 1.0
            k = 1.0 + count * C_SQUARED
            r = t**2 / freedom
            # the interval's formula solved for alpha
            log_p = (np.log(k) + count * (np.log1p(r / k) - np.log1p(r))) / 2
            p = np.exp(np.minimum(log_p, 0.0))
        else:
            p = 2.0 * stdtr(freedom, -t)
        p = np.where(known & ~np.isnan(freedom), np.maximum(p, _LEAST), np.nan)
        some = known & np.isnan(freedom)
        if parts is not None and some.any():
            far, mine = np.abs(np.broadcast_to(estimate, some.shape)[some]), _chosen(parts, some)
            # the level at which the bound's half-width is the distance, by halving
            low, high = np.full(far.shape, np.log(_LEAST)), np.zeros(far.shape)
            for _ in range(_STEPS):
                middle = (low + high) / 2
                wider = _bound(mine, np.exp(middle)) > far
                low, high = np.where(wider, middle, low), np.where(wider, high, middle)
            p[some] = np.maximum(np.exp(high), _LEAST)
        return p

    def pvalue_equivalent(
        self,
        estimate: Array,
        error: Array,
        freedom: Array,
        margin: float | Array,
        parts: ErrorParts | None = None,
    ) -> Array:
        """Give the larger of the two one-sided p of H0: the true log ratio lies outside the margin."""
        sides = []
        for inside in (estimate + margin, margin - estimate):
            p = self.pvalue(inside, error, freedom, parts)
            sides.append(np.where(inside > 0, p / 2, 1 - p / 2))
        return np.maximum(np.maximum(*sides), np.where(np.isnan(sides[0]), np.nan, _LEAST))

    def one_sided(self, found: Estimates) -> Array:
        """Give the p of H0: the true value is 0 or less."""
        p = self.pvalue(found.estimate, found.error, found.freedom, found.parts)
        return np.where(found.estimate > 0, p / 2, 1 - p / 2)


def _chosen(parts: ErrorParts, some: Flags) -> ErrorParts:
    return ErrorParts(*(part[some] for part in parts))


def _bound(parts: ErrorParts, alpha: Array) -> Array:
    """Give the half-widths of Banerjee's bound at these two-sided levels, shape (n,)."""
    with np.errstate(invalid="ignore", over="ignore"):
        each = -stdtrit(parts.freedoms, alpha[:, None] / 2) * parts.errors
    return np.asarray(np.hypot.reduce(np.where(parts.errors > 0, each, 0.0), axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """Intervals, p-values and words; arrays over the benchmarks, nan where there is none.

    `pvalue_welch` is Welch's of two sides, also where it is not the one that counts. `steps` and `steps_equivalent` are the factors by which the correction divides the level at each
    benchmark's own place in its family.
    """

    low: Array
    high: Array
    pvalue: Array
    pvalue_equivalent: Array
    pvalue_welch: Array
    pvalue_adjusted: Array
    pvalue_equivalent_adjusted: Array
    steps: Array
    steps_equivalent: Array
    outcome: tuple[Word, ...]
    outcome_uncorrected: tuple[Word, ...]


def word_of(sign: float, *, equivalent: bool, differs: bool) -> Word:
    """Give the word of a difference of this sign: proven to lie within the margin wins over faster and slower."""
    if equivalent:
        return "equivalent"
    return ("faster" if sign > 0 else "slower") if differs else "undecided"


def word_by_interval(low: float, high: float, margin: float) -> Word:
    """Read the word off an interval of the log ratio; `margin` is that of the log ratio."""
    differs = low > 0 or high < 0  # nan decides nothing
    return word_of(low, equivalent=-margin < low and high < margin, differs=differs)


def decide(
    found: Estimates,
    law: ErrorLaw,
    margin: float | Array,
    correction: Correction,
    arithmetic: Array | None = None,
    *,
    beside: tuple[Array, Array] | None = None,
) -> Decisions:
    """Judge the benchmarks of one candidate.

    Two families over the benchmarks are corrected: the two-sided p, held against alpha, and that of
    equivalence, held against alpha / 2. An estimate without spread, whose values do not vary for all that is known,
    has no interval and no p; it takes part with p = 1. The clock's step widens each interval, and every
    distance that is tested is less by it. Counts that do not vary have their own p and no interval; where both sides
    are one number they are in no family. `arithmetic` has the p of equivalence of what is not compared by logs, nan else. `beside` are
    further members of both families: the p-values of candidates that share the risk.
    """
    chance = np.full(found.estimate.shape, np.nan) if found.chance is None else found.chance
    sure, apart, step = ~np.isnan(chance), np.abs(found.estimate), found.widening
    flat = (found.error == 0) & ~sure
    half = law.half(found.error, found.freedom, found.parts) + step
    half = np.where(flat, np.nan, np.where(sure, 0.0, half))
    low, high = (np.where(sure, np.nan, found.estimate + side * half) for side in (-1, 1))
    seen = np.maximum(apart - step, 0.0)
    pvalue = law.pvalue(seen, found.error, found.freedom, found.parts)
    pvalue = np.where(sure & (apart >= FLAT), chance, pvalue)
    equivalent = law.pvalue_equivalent(
        found.estimate, found.error, found.freedom, margin - step, found.parts
    )
    if arithmetic is not None:
        equivalent = np.where(np.isnan(arithmetic), equivalent, arithmetic)
    same = sure & (
        apart < np.maximum(margin - FLAT, FLAT)
    )  # a margin's own rounding decides nothing
    size, others = flat.size, beside or (np.empty(0), np.empty(0))
    families = [
        np.concatenate((np.where(flat, 1.0, p), more))
        for p, more in zip((pvalue, equivalent), others, strict=True)
    ]
    ours, theirs = (adjusted(family, correction)[:size] for family in families)
    known = ~np.isnan(half)
    alone, outcomes = (
        tuple(
            word_of(e, equivalent=q, differs=p)
            for e, q, p in zip(
                found.estimate.tolist(),
                (known & (same | (q <= law.alpha / 2))).tolist(),
                (known & (p <= law.alpha)).tolist(),
                strict=True,
            )
        )
        for p, q in ((pvalue, equivalent), (ours, theirs))
    )
    by_welch = np.full(found.estimate.shape, np.nan)
    if found.parts is not None and "welch" in found.laws:
        by_welch = law.pvalue(found.estimate, found.error, satterthwaite(*found.parts))
    return Decisions(
        low=low,
        high=high,
        pvalue=pvalue,
        pvalue_equivalent=equivalent,
        pvalue_welch=by_welch,
        pvalue_adjusted=np.where(flat, np.nan, ours),
        pvalue_equivalent_adjusted=np.where(flat, np.nan, theirs),
        steps=holm_steps(families[0], correction)[:size],
        steps_equivalent=holm_steps(families[1], correction)[:size],
        outcome=outcomes,
        outcome_uncorrected=alone,
    )
