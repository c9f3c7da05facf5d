"""From estimates to words: laws of errors, the risk of looks, decisions, and what more would decide.

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

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.special import chdtri, gammaincinv, gammaln, ndtr, ndtri, stdtr, stdtrit

from ...errors import UsageError
from ...pages.result import lazily
from ...record.trial_files import LooksPlan, with_look
from ...stats.arguments import counted
from ...stats.multiplicity import Correction, adjusted, holm_steps, nominal_risk
from ...stats.samples import Array, Flags, Integers, read_only
from .estimates import FLAT, ErrorParts, Estimates, satterthwaite
from .result import Line, LookRisk, LooksRule, MoreSessions

if TYPE_CHECKING:
    from ...pages.number_format import Word


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
    # a margin's own rounding decides nothing
    same = sure & (apart < np.maximum(margin - FLAT, FLAT))
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


# --- How many more sessions would probably decide, and whether more runs alone would.
#
# The data are kept, and what they leave open is drawn: the spread of session values by its chi-square law,
# the true log ratio by the t law around the estimate, and then the new sessions. A further session is worth
# the share of draws in which old and new sessions together end with an interval outside 0 or inside the
# margin. That is right on average over what the data leave possible, and less where the truth lies on the
# margin. The same is said for the spread at its quartiles.
#
# Whether more runs would do takes estimate and spread as if they were true; its chances are integrals over
# the law of the standard deviation (of both, where sides have unequal numbers of sessions and each has its
# own quantile of t): scipy's noncentral t gives nan in its lower tail.


LIMIT = 10_000  # sessions at most: lazy_advice finds whether they decide
CHANCE = 0.9  # so that three in four decide wherever the truth lies: a spread that came out small asks for too few
AT_LOOKS = 0.8  # of compare, which goes on from look to look
DRAWS = 1000
_SEED = 20261121  # of the order of the strata; fixed, so that equal data get equal advice
_RUNS = 10  # times as many runs a session at most
# of the integrals over one standard deviation, and over two
_RULES = {1: np.polynomial.legendre.leggauss(64), 2: np.polynomial.legendre.leggauss(40)}
_REACH = 7.0  # standard deviations of a chi beyond which there is nothing
# degrees of freedom from which on a quantile of chi-square is near enough for draws
_NEAR_NORMAL = 20
_GRID = 65  # degrees of freedom between which quantiles of t are interpolated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """What the error of some estimates is made of: arrays of shape (lines, sides).

    One side where differences are paired, two where the sides have sessions of their own.
    `variance` is that of session values, `sessions` their number, `within` the part of the variance
    that the scatter of the runs makes (nan where unknown). `step` widens each half-width, shape (lines,).
    """

    variance: Array
    sessions: Array
    within: Array
    step: Array


class AdviceQuestion(NamedTuple):
    """What is asked of some lines: their log ratios, and by which law, margin of the log and `steps` of the correction."""

    estimate: Array
    scatter: Scatter
    law: ErrorLaw
    margin: float
    steps: tuple[Array, Array]


def chances(
    estimate: Array, error: Array, freedom: Array, multipliers: tuple[Array, Array], margin: float
) -> tuple[Array, Array]:
    """Give the chance of an interval outside 0, and of one inside the margin."""
    shape = (len(estimate), -1)
    errors, freedoms = error.reshape(shape), freedom.reshape(shape)
    error = np.hypot.reduce(errors, axis=1)
    weight = np.ones((len(estimate), 1))
    squares = [np.zeros((len(estimate), 1)) for _ in multipliers]
    for part in range(errors.shape[1]):
        u, density = _deviations(freedoms[:, part], *_RULES[errors.shape[1]])
        share = (errors[:, part] / error)[:, None]
        weight = _grid(weight, density, np.multiply)
        squares = [
            _grid(square, (multiplier.reshape(shape)[:, part, None] * share * u) ** 2, np.add)
            for square, multiplier in zip(squares, multipliers, strict=True)
        ]
    shift = (estimate / error)[:, None]
    outer, inner = (np.sqrt(square) for square in squares)
    outside = ndtr(shift - outer) + ndtr(-shift - outer)
    room = (margin / error)[:, None] - inner
    inside = np.where(room > 0, ndtr(room - shift) - ndtr(-room - shift), 0.0)
    return (weight * outside).sum(axis=1), (weight * inside).sum(axis=1)


def _deviations(freedom: Array, nodes: Array, weights: Array) -> tuple[Array, Array]:
    """Give nodes of chi / sqrt(freedom) with weights that sum to 1, arrays of shape (n, nodes)."""
    reach = _REACH / np.sqrt(2.0 * freedom)
    low, high = np.maximum(0.0, 1.0 - reach), 1.0 + reach
    u = low[:, None] + (high - low)[:, None] * (nodes + 1) / 2
    df = freedom[:, None]
    log = (df - 1) * np.log(u) - df * u**2 / 2 + df / 2 * np.log(df / 2) - gammaln(df / 2)
    weight = np.exp(log) * weights
    return u, weight / weight.sum(axis=1, keepdims=True)


def _grid(found: Array, more: Array, together: np.ufunc) -> Array:
    """Put every entry of a row together with every one of another, shape (n, nodes)."""
    both: Array = together(found[:, :, None], more[:, None, :])
    return both.reshape(len(found), -1)


def sessions_needed(
    line: Line, law: ErrorLaw, margin: float, *, limit: int = LIMIT, chance: float = CHANCE
) -> int | None:
    """Give how many more sessions would decide a line of paired sessions with a chance.

    `margin` is that of the log ratio. None without an interval, and beyond `limit`.
    """
    if line.speedup is None or not line.error or line.sessions < 2:
        return None
    scatter = Scatter(
        variance=np.array([[line.error**2 * line.sessions]]),
        sessions=np.array([[float(line.sessions)]]),
        within=np.full((1, 1), np.nan),
        step=np.array([line.step_added or 0.0]),
    )
    steps = np.ones(1), np.ones(1)
    asked = AdviceQuestion(np.log([line.speedup]), scatter, law, margin, steps)
    found = int(_least(asked, None, limit, chance)[0][0])
    return found if found <= limit else None


def rounded(count: int) -> int:
    """Give a number of two digits that is no less, such as 140 for 137."""
    step = int(10 ** max(len(str(count)) - 2, 0))
    return -(-count // step) * step


def advise(asked: AdviceQuestion) -> tuple[MoreSessions, ...]:
    """Advise on lines that are undecided."""
    least, shares = _least(asked, None)
    # a spread at its lower and at its upper quartile
    ends = [_least(asked, quantile)[0] for quantile in (0.25, 0.75)]
    runs = _runs_suffice(asked)
    found = []
    for k in range(len(asked.estimate)):
        counts = [rounded(int(n[k])) if n[k] <= LIMIT else None for n in (least, *ends)]
        faster, slower, equivalent, any_of_these = (float(share[k]) for share in shares)
        likeliest = max(faster, slower)
        found.append(
            MoreSessions(
                sessions=counts[0],
                low=counts[1],
                high=counts[2],
                chance=None if counts[0] is None else any_of_these,
                target="equivalent"
                if equivalent > likeliest
                else "faster"
                if faster >= slower
                else "slower",
                runs_suffice=runs[k],
            )
        )
    return tuple(found)


def lazy_advice(asked: AdviceQuestion) -> tuple[MoreSessions, ...]:
    """Advise as `advise` does, on all lines at once when a number of one is asked for."""
    together = functools.cache(lambda: advise(asked))
    return tuple(
        lazily(MoreSessions, functools.partial(lambda k: together()[k], k))
        for k in range(len(asked.estimate))
    )


def _least(
    asked: AdviceQuestion, quantile: float | None, limit: int = LIMIT, chance: float = CHANCE
) -> tuple[Integers, list[Array]]:
    """Find by halving the least number with the chance, and the shares there."""
    low = np.zeros(len(asked.estimate), dtype=np.int64)
    high = np.full_like(low, limit + 1)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        enough = _shares(asked, middle, quantile)[-1] >= chance
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return high, _shares(asked, high, quantile)


def _shares(asked: AdviceQuestion, more: Integers, quantile: float | None) -> list[Array]:
    """Draw `more` sessions more a side: the shares faster, slower, equivalent, and any of these."""
    have, variance = asked.scatter.sessions, asked.scatter.variance
    x = np.repeat(asked.estimate[:, None], DRAWS, axis=1)
    errors, freedoms = [], []
    for j in range(have.shape[1]):
        old, new = have[:, j, None], more[:, None].astype(np.float64)
        true = variance[:, j, None] * (old - 1.0)
        if quantile is None:
            true = true / np.stack([_chi_square(f - 1.0, 3 * j) for f in have[:, j]])
        else:  # the upper tail of chi-square is the lower one of the spread
            true = true / np.asarray(chdtri(old - 1.0, quantile))
        # the new sessions' mean less the old ones': of the truth about the old mean, and of their own
        apart = np.sqrt(true * (1 / old + 1 / new)) * _normal(3 * j + 1)
        x = x + new / (old + new) * apart
        squares = (old - 1.0) * variance[:, j, None] + old * new / (old + new) * apart**2
        squares += true * np.stack([_chi_square(n - 1.0, 3 * j + 2) for n in more.tolist()])
        freedoms.append((old + new - 1.0)[:, 0])
        errors.append(np.sqrt(squares / (old + new - 1.0) / (old + new)))
    outer, inner = (
        half + asked.scatter.step[:, None]
        for half in _halves(asked, np.stack(errors, axis=-1), np.stack(freedoms, axis=-1))
    )
    equivalent = np.abs(x) + inner < asked.margin
    faster, slower = (sign * x > outer for sign in (1, -1))
    ends = (faster & ~equivalent, slower & ~equivalent, equivalent, faster | slower | equivalent)
    return [end.mean(axis=1) for end in ends]


def _halves(asked: AdviceQuestion, errors: Array, freedoms: Array) -> list[Array]:
    """Give both half-widths, of errors (lines, draws, sides) with freedoms (lines, sides)."""
    law = asked.law
    if freedoms.shape[1] == 1:
        return [
            law.multiplier(freedoms[:, 0], step)[:, None] * errors[..., 0] for step in asked.steps
        ]
    equal = np.abs(freedoms[:, 0] - freedoms[:, 1]) < FLAT
    # Welch's t needs a quantile for each draw: looked up along a grid, between f and 2 f, even in 1 / f
    least = freedoms[:, :1]
    freedom = satterthwaite(errors, np.broadcast_to(freedoms[:, None], errors.shape))
    place = np.clip(2 * (1 - least / np.where(equal[:, None], freedom, least)), 0, 1) * (_GRID - 1)
    below = np.minimum(place.astype(np.int64), _GRID - 2)
    grid = least / np.linspace(1.0, 0.5, _GRID)
    found = []
    for step in asked.steps:
        each = law.multiplier(freedoms, step[:, None])
        half = np.hypot(*np.moveaxis(each[:, None] * errors, -1, 0))  # Banerjee's bound
        if equal.any():
            known = law.multiplier(grid, step[:, None])
            left = np.take_along_axis(known, below, axis=1)
            right = np.take_along_axis(known, below + 1, axis=1)
            welch = (left + (place - below) * (right - left)) * np.hypot(
                *np.moveaxis(errors, -1, 0)
            )
            half = np.where(equal[:, None], welch, half)
        found.append(half)
    return found


# ---- draws: each variate's strata in an order of its own


@functools.lru_cache(maxsize=16)
def _strata(variate: int) -> Array:
    rng = np.random.default_rng([_SEED, variate])
    return read_only((rng.permutation(DRAWS) + 0.5) / DRAWS)


@functools.lru_cache(maxsize=16)
def _normal(variate: int) -> Array:
    return np.asarray(ndtri(_strata(variate)))


@functools.lru_cache(maxsize=1024)
def _chi_square(freedom: float, variate: int) -> Array:
    """Give draws of a chi-square; 0 without any degree of freedom."""
    if freedom == 0:
        return np.zeros(DRAWS)
    if freedom < _NEAR_NORMAL:
        return np.asarray(2.0 * gammaincinv(freedom / 2, _strata(variate)))
    spread = 2.0 / (9.0 * freedom)  # Wilson and Hilferty: the cube root is nearly normal
    return np.asarray(freedom * (1.0 - spread + np.sqrt(spread) * _normal(variate)) ** 3)


# ---- more runs in the same sessions


def _runs_suffice(asked: AdviceQuestion) -> list[bool | None]:
    """Tell of each line whether ten times the runs in the same sessions would decide it."""
    scatter = asked.scatter
    known = ~np.atleast_1d(np.isnan(scatter.within).any(axis=1))
    between = np.maximum(scatter.variance - scatter.within, 0.0)
    # never 0, which has no chances
    variance = np.maximum(between + scatter.within / _RUNS, scatter.variance * 1e-12)
    errors = np.sqrt(np.where(known[:, None], variance, scatter.variance) / scatter.sessions)
    freedoms = scatter.sessions - 1.0
    unequal = freedoms[:, 0] != freedoms[:, -1]
    enough = np.zeros(len(errors), dtype=np.bool_)
    for rows, apart in ((~unequal, False), (unequal, True)):
        if not rows.any():
            continue
        error, freedom = errors[rows], freedoms[rows]
        if not apart:  # one quantile for both sides
            freedom = satterthwaite(error, freedom)[:, None]
            error = np.hypot.reduce(error, axis=1)[:, None]
        outer, inner = (asked.law.multiplier(freedom, step[rows, None]) for step in asked.steps)
        found = chances(asked.estimate[rows], error, freedom, (outer, inner), asked.margin)
        enough[rows] = np.maximum(*found) >= CHANCE
    return [bool(e) if k else None for e, k in zip(enough.tolist(), known.tolist(), strict=True)]
