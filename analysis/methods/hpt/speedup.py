"""The r-Speedup of HPT: the largest speedup that is claimed with confidence r, exactly.

The signed-rank sum of the candidate is a count over pairs of benchmarks,
``R_A = sum over i <= j of H(d_i + d_j)`` with H = 1, 1/2 or 0 for a positive, zero or negative sum
(Walsh averages; with midranks, and half of the zeros' ranks to each side, it holds with ties too).
Winners, and with them which d are 0, change at few speedups. Between two of these, every sum of
two differences that count falls strictly with g, so R_A falls by 1 at each crossing d_i = -d_j.
It can rise only where a winner changes: where a negative difference of a candidate that wins
by ranks becomes a tie. Such runs are multimodal.

[1]_, section 4.2, defines it as the supremum of the speedups g for which HPT says "A, its scores
divided by g, is better than B" with confidence r at least, and the authors' program searches it
upwards by small steps until the first failure. Here every step of the confidence is listed
(`analysis.methods.hpt.curve`), so the supremum is exact, and a later rise is not missed.

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, Literal

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...pages import number_format as figures
from ...pages.model import Caution, Page, cautions_of, page
from ...pages.result import Result
from ...stats.arguments import checks_arguments
from ...stats.ranks import TIE_TOLERANCE, midranks, signed_rank_normal, signed_rank_table
from ...stats.samples import Array, Flags, Indices, read_only
from ...words import apart
from . import compare as stages
from .compare import HptQuestion
from .winners import Lines, Winners, lines_of, scores_of, winners_of

_SAME = 1e-12  # crossings this near, relatively, are one: equal but for rounding
_CELLS = 1 << 20  # pair comparisons at one time


@dataclass(frozen=True, slots=True, eq=False)
class HptCurve:
    """A step function: confidence at each breakpoint, and below, between and above them.

    `speedups`: The k breakpoints. `at`: The confidence at each breakpoint. `between`: The k + 1
    confidences on the open intervals below, between and above the breakpoints.
    """

    speedups: Array
    at: Array
    between: Array

    def confidence(self, speedup: float) -> float:
        """Give the confidence at one speedup (a breakpoint is met within 1e-10, relatively)."""
        low = int(np.searchsorted(self.speedups, speedup * (1 - TIE_TOLERANCE)))
        if low < self.speedups.size and self.speedups[low] <= speedup * (1 + TIE_TOLERANCE):
            return float(self.at[low])
        return float(self.between[low])

    def supremum(self, required: float) -> tuple[float, float, bool] | None:
        """Give the largest speedup that reaches a confidence, what it attains, and whether there."""
        enough = required - stages.P_TOLERANCE
        each = (np.flatnonzero(x >= enough) for x in (self.at, self.between[:-1]))
        point, left = (int(places.max(initial=-1)) for places in each)
        if point < 0 and left < 0:
            return None
        if point >= left:
            return float(self.speedups[point]), float(self.at[point]), True
        return float(self.speedups[left]), float(self.between[left]), False

    def first_failure(self, required: float) -> float | None:
        """Give where a search upwards from 0 fails first; None when the start fails already."""
        enough = required - stages.P_TOLERANCE
        if self.between[0] < enough:
            return None
        fails = np.flatnonzero((self.at < enough) | (self.between[1:] < enough))
        return float(self.speedups[fails[0]]) if fails.size else None

    @property
    def rises(self) -> bool:
        """Whether the confidence rises anywhere with the speedup."""
        up = np.diff(self.between) > stages.P_TOLERANCE
        return bool(up.any() or (self.at > self.between[:-1] + stages.P_TOLERANCE).any())


def _curve_of(lines: Lines, winners: Winners, *, ties: stages.Ties) -> HptCurve:
    zeros = lines.speedup(lines.level / lines.slope)  # where differences are 0
    zeros = zeros[winners.count_at(zeros)]
    points = _merged(np.concatenate([winners.edges.ravel(), zeros]), TIE_TOLERANCE)
    if not points.size:  # no benchmark ever has a winner
        d = np.zeros(lines.slope.size)
        flat = 1 - stages.signed_rank_stage(d, ties=ties).pvalue_candidate
        return _steps(points, points, np.array([flat]))
    if ties == "exact":
        i, j = np.triu_indices(lines.slope.size, 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            unlike = (lines.level[i] + lines.level[j]) / (lines.slope[i] + lines.slope[j])
            alike = (lines.level[i] - lines.level[j]) / (lines.slope[i] - lines.slope[j])
            crossings = lines.speedup(np.concatenate([unlike, alike]))
        every = _merged(np.concatenate([points, crossings]), _SAME)
        inside = _between(every)
        at = np.where(winners.on(every) != 0, lines.differences(every), 0.0)
        between = np.where(winners.inside(inside) != 0, lines.differences(inside), 0.0)
        known: dict[bytes, float] = {}
        values = [_exact(d, known) for d in np.concatenate([at, between])]
        return _steps(every, np.array(values[: every.size]), np.array(values[every.size :]))
    return _counted(lines, winners, points, stages.added_to(ties))


def _merged(speedups: Array, tolerance: float) -> Array:
    some = np.sort(speedups[np.isfinite(speedups) & (speedups > 0)])
    new = np.concatenate(([True], np.diff(some) > tolerance * some[1:]))[: some.size]
    return some[new]


def _between(points: Array) -> Array:
    """Give a speedup inside every interval that the points leave."""
    inner = np.sqrt(points[:-1]) * np.sqrt(points[1:])
    return np.concatenate(([points[0] / 2], inner, [points[-1] * 2]))


def _counted(lines: Lines, winners: Winners, points: Array, continuity: float) -> HptCurve:
    """Count over the pairs: the sum R_A at and after every breakpoint, then its law."""
    n = lines.slope.size
    counts = winners.inside(_between(points)) != 0  # which differences count, by interval
    d = lines.differences(points)
    on = np.where(winners.on(points) != 0, d, 0.0)
    # R_A = sum of H over pairs; pairs that are not positive nor negative have H = 1/2.
    sums_at = (_positive(on) - _positive(-on)) / 2 + n * (n + 1) / 4
    # On the right of a point a sum that is 0 there is negative, unless both never count.
    idle = n - np.count_nonzero(counts, axis=1)
    share = idle * (idle + 1) / 4
    starts = np.empty(points.size + 1)
    starts[0] = n * (n + 1) / 2 - share[0]  # near 0 every difference that counts is positive
    starts[1:] = _positive(np.where(counts[1:], d, 0.0)) + share[1:]

    crossing, segment = _crossings(lines, points, counts, d)
    # Together: an interval begins with its start, and each crossing in it takes 1 off.
    new = np.ones(crossing.size, dtype=bool)
    new[1:] = np.diff(crossing) > _SAME * crossing[1:]
    new[1:] |= np.diff(segment) > 0
    begins = np.flatnonzero(new)
    done = np.append(begins[1:], crossing.size)  # crossings so far, up to and with each group
    own = segment[begins]
    base = np.searchsorted(segment, own)  # crossings before the interval
    after = starts[own] - (done - base)
    before = starts[own] - (begins - base)
    speedups = np.concatenate([points, crossing[begins]])
    order = np.argsort(speedups, kind="stable")
    at = np.concatenate([sums_at, (before + after) / 2])[order]
    between = np.concatenate([starts, after])[np.concatenate(([0], order + 1))]
    law = _confidences(n, continuity)
    both = (law[np.rint(2 * sums).astype(np.intp)] for sums in (at, between))
    return _steps(speedups[order], *both)


def _crossings(lines: Lines, points: Array, counts: Flags, d: Array) -> tuple[Array, Indices]:
    """Give the speedups where d_i = -d_j between the points, ascending, and their intervals."""
    i, j = _pairs(lines.slope.size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = (lines.level[i] + lines.level[j]) / (lines.slope[i] + lines.slope[j])
        every = lines.speedup(factor)
    segment = np.searchsorted(points, every)
    # Both differences count there; a crossing at a breakpoint belongs to the breakpoint.
    real = counts[segment, i] & counts[segment, j] & np.isfinite(every) & (every > 0)
    real &= every < np.append(points, np.inf)[segment] * (1 - _SAME)
    i, j, every, segment = i[real], j[real], every[real], segment[real]
    left = np.maximum(segment - 1, 0)
    ours, theirs = d[left, i], d[left, j]
    room = TIE_TOLERANCE * np.maximum(np.abs(ours), np.abs(theirs))
    still = (ours + theirs > room) | (segment == 0)
    order = np.flatnonzero(still)[np.argsort(every[still], kind="stable")]
    return every[order], segment[order]


_pairs = lru_cache(maxsize=16)(partial(np.triu_indices, k=1))


def _positive(d: Array) -> Array:
    """Count the pairs i <= j with d_i + d_j > 0, beyond rounding, in each row."""
    lowered = d - (TIE_TOLERANCE / 2) * np.abs(d)
    out = np.empty(d.shape[0])
    step = max(1, _CELLS // d.shape[1] ** 2)
    for k in range(0, d.shape[0], step):
        rows = lowered[k : k + step]
        above = rows[:, :, None] > -rows[:, None, :]
        out[k : k + step] = np.count_nonzero(above.reshape(rows.shape[0], -1), axis=1)
    # Every pair of two was counted twice, every one with itself once.
    out += np.count_nonzero(d > 0, axis=1)
    return out / 2


@lru_cache(maxsize=64)
def _confidences(n: int, continuity: float) -> Array:
    """Give the published confidence for every 2 R_A of n benchmarks."""
    normal = partial(signed_rank_normal, continuity=continuity)
    law = signed_rank_table if n < stages.SIGNED_RANK_NORMAL_FROM else normal
    whole = n * (n + 1)
    return np.array([1 - law((whole - k) / 2, n) for k in range(whole + 1)])


def _exact(d: Array, known: dict[bytes, float]) -> float:
    """Give the confidence given the ties; it depends on order and signs alone."""
    key = np.sort(np.sign(d) * midranks(np.abs(d))).tobytes()
    if key not in known:
        known[key] = 1 - stages.signed_rank_stage(d, ties="exact").pvalue_candidate
    return known[key]


def _steps(speedups: Array, at: Array, between: Array) -> HptCurve:
    """Keep the breakpoints where the confidence changes."""
    keep = (at != between[:-1]) | (between[:-1] != between[1:])
    curve = speedups[keep], at[keep], np.append(between[:-1][keep], between[-1])
    return HptCurve(*map(read_only, curve))


GRID = 1000  # the program window prints thousandths


@dataclass(frozen=True, slots=True, kw_only=True)
class HptSpeedup(Result):
    """The largest speedup that reaches a confidence.

    Attributes
    ----------
    required : float
        The confidence asked for, r.
    value : float or None
        The supremum; None when no speedup at all reaches `required`.
    attained_confidence : float or None
        The confidence at `value` when that point reaches `required`, otherwise the one just below.
    attained_at_value : bool
        Whether `value` itself reaches it.
    printed : str or None
        The largest multiple of 0.001 that lies below `value`, or at it where that point reaches
        `required`: what a search by steps of 0.001 from below would print.
    below_one : bool
        The candidate is not better: it reaches `required` only with its scores raised.
    first_failure : float or None
        Where a search upwards fails first: smaller than `value` when the confidence rises again.
    rises : bool
        Whether the confidence rises anywhere with the speedup.
    curve : HptCurve
        The whole step function.
    """

    method: ClassVar[str] = "hpt-speedup"
    unlisted: ClassVar[frozenset[str]] = frozenset({"timed"})

    candidate: str
    baseline: str
    required: float
    alpha: float | None
    ties: stages.Ties
    scores: stages.Kind
    timed: bool
    value: float | None
    attained_confidence: float | None
    attained_at_value: bool
    printed: str | None
    below_one: bool
    first_failure: float | None
    rises: bool
    curve: HptCurve
    references: tuple[str, ...] = stages.REFERENCES

    @property
    def conclusion(self) -> str:
        """What the search says, in one sentence."""
        if self.printed is None or self.attained_confidence is None:
            most = max([*self.curve.between.tolist(), *self.curve.at.tolist()])
            return (
                f"no speedup has HPT reliability {self.required:g}; at most "
                f"{figures.reliability(most, self.required)} is reached"
            )
        reached = figures.reliability(self.attained_confidence, self.required)
        return (
            f"largest speedup with HPT reliability {self.required:g}: {self.printed} "
            f"(reliability {reached} up to this limit, less than {self.required:g} beyond it)"
        )

    def screen(self) -> Page:
        """Set the conclusion alone."""
        return page(self, f"HPT: {self.candidate} against {self.baseline}", self.conclusion)


@checks_arguments
def hpt_speedup(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: stages.Ties = "table",
    scores: stages.Scores = "auto",
) -> HptSpeedup:
    """Find the largest speedup that HPT claims with a confidence.

    Parameters
    ----------
    candidate, baseline, alpha, ties, scores
        As for `hpt`.
    confidence : float
        The confidence r that the speedup must reach, between 0.5 and 1.

    Returns
    -------
    HptSpeedup
        The exact supremum over all positive speedups, what it attains, and the whole curve.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.

    Notes
    -----
    ``hpt(..., speedup=g)`` is the definition, and its tolerances hold here too: breakpoints
    within 1e-10 of each other, relatively, are one.
    """
    return largest_speedup(stages.ask(candidate, baseline, 1.0, confidence, alpha, ties, scores))


def largest_speedup(question: HptQuestion) -> HptSpeedup:
    """Give what `hpt_speedup` does."""
    pair, required = question.pair, question.confidence
    scores = scores_of(question)
    curve = _curve_of(lines_of(scores, question), winners_of(scores, question), ties=question.ties)
    value, attained, there = curve.supremum(required) or (None, None, False)
    result = HptSpeedup(
        **question.answered(),
        value=value,
        attained_confidence=attained,
        attained_at_value=there,
        printed=None if value is None else _printed(value, there=there),
        below_one=value is not None and value < 1,
        first_failure=curve.first_failure(required),
        rises=curve.rises,
        curve=curve,
    )
    own = speedup_cautions(result, len(pair.candidate.benchmarks))
    return replace(result, cautions=(*stages.pair_cautions(pair), *own))


def speedup_cautions(result: HptSpeedup, n: int) -> tuple[Caution, ...]:
    """Say what a reader of an r-Speedup over n benchmarks should know."""
    value, first, required = result.value, result.first_failure, result.required
    reason = f": with {n} benchmark{'s' * (n != 1)} at most 1 - 2^-{n} is possible"
    ours, theirs = apart((result.candidate, result.baseline), stages.NAME)
    fast = "fast" if result.timed else "good"
    again = value is not None and first is not None and first < value * (1 - TIE_TOLERANCE)
    texts = {
        "no-speedup": value is None
        and f"no speedup reaches reliability {required:g}{reason * (2.0**-n > 1 - required)}",
        "speedup-below-1": value is not None
        and value < 1
        and f"the largest speedup is below 1: that {ours} is "
        f"{figures.outcome_word('faster', timed=result.timed)} than {theirs} does not reach reliability "
        f"{required:g}; what reaches it is that {ours} is at least {result.printed} times as {fast}",
        "reliability-rises-again": again
        and f"the reliability falls below {required:g} at {first:.4g} already and reaches it again "
        f"up to {value:.4g}: the runs are multimodal. The largest speedup is given, as the "
        "method defines it; look at the runs before relying on it",
        "reliability-not-steady": result.rises
        and not again
        and "the reliability does not fall steadily with the speedup: on some benchmarks ranks "
        "and medians disagree about the winner, as multimodal runs make them",
    }
    return cautions_of(texts)


def _printed(value: float, *, there: bool) -> str:
    """Round down to the grid; rounding noise must not cost a step, nor win one."""
    steps = math.floor(value * GRID * (1 + TIE_TOLERANCE))
    if not there and steps >= value * GRID * (1 - TIE_TOLERANCE):
        steps -= 1  # the grid point itself does not reach the level
    return f"{steps / GRID:.3f}"


# --- What the paper compares HPT with: the paired t-test on scores, and the confidence interval technique.
#
# [1]_, section 5.2, gives for each of three rules its confidence in a stated speedup (Table 3) and the
# largest speedup with a confidence r (Table 4). The paired t-test is one-sided, on the differences of
# scores over the benchmarks; the interval technique is made of it (`analysis.stats.classical`).
#
# The mean of u - g v reaches a t of q up to the lower end of Fieller's interval [2]_ for mean(u)/mean(v).
#
# References
# ----------
# .. [2] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical
#    Society B 16, 1954.


Rule = Literal["hpt", "paired t", "interval"]
_SPREAD = 1e-12  # spread that is less, relatively, is rounding


@dataclass(frozen=True, slots=True)
class OtherRule:
    """What one rule says of a stated speedup, and the largest speedup that it claims.

    `confidence` is the rule's at the speedup under test, `confidence_loss` it relative to the level
    asked for, less 1. `speedup` is the largest with that level, `speedup_error` it relative to HPT's,
    less 1. None where there is none: one benchmark, no spread, or no speedup with that level.
    """

    rule: Rule
    confidence: float | None
    confidence_loss: float | None
    speedup: float | None
    speedup_error: float | None


def paired_t_confidence(u: Array, v: Array, speedup: float = 1.0) -> float | None:
    """Give 1 - p of the one-sided paired t-test that u is more than `speedup` times v in the mean.

    `u`, `v`: scores of both sides, one a benchmark, larger is better. None without spread.
    """
    from ...stats.classical import paired_pvalue

    d = u - speedup * v
    sd = float(np.std(d, ddof=1)) if d.size > 1 else 0.0
    if sd <= _SPREAD * float(np.max(np.abs(u)) + np.max(np.abs(speedup * v))):
        return None
    return 1 - paired_pvalue(d, "candidate")


def paired_t_speedup(u: Array, v: Array, confidence: float = 0.95) -> float | None:
    """Give the largest speedup that the one-sided paired t-test claims with a confidence above 0.5.

    `u`, `v`: as for `paired_t_confidence`. None with one benchmark, without spread, or where no
    positive speedup has the confidence.
    """
    from scipy.special import stdtrit

    n = u.size
    if n < 2 or not float(np.mean(v)) > 0 or not float(np.mean(u)) > 0:
        return None
    u, v, scale = u / np.mean(u), v / np.mean(v), float(np.mean(u) / np.mean(v))
    uu, uv, vv = (float(np.mean((x - 1) * (y - 1))) for x, y in ((u, u), (u, v), (v, v)))
    if max(uu, vv) <= _SPREAD**2:
        return None
    # (1 - g)^2 = q^2 (uu - 2 g uv + g^2 vv) with both means 1: the largest such g up to 1
    q2 = float(stdtrit(n - 1, confidence)) ** 2 / (n - 1)
    a, b, c = 1 - q2 * vv, 1 - q2 * uv, 1 - q2 * uu
    inside = b * b - a * c
    if inside < 0:
        if inside < -1e-14 * max(b * b, abs(a * c)):
            return None
        inside = 0.0
    root = math.sqrt(inside)
    far = b + math.copysign(root, b)
    found = [*([] if a == 0 else [far / a]), *([] if far == 0 else [c / far])]
    below = [g for g in found if 0 < g <= 1 + 1e-12]
    return max(below) * scale if below else None


def other_rules(question: HptQuestion, best: HptSpeedup, confidence: float) -> list[OtherRule]:
    """Compare HPT's confidence and r-Speedup with those of the two other rules.

    `confidence`: HPT's at the speedup under test. The rules look at the medians of the scores.
    """
    required, g = question.confidence, question.speedup
    from ...stats.classical import interval_confidence

    lines = lines_of(scores_of(question), question)
    if lines.kind == "log-ratio":  # the differences are logarithms less log g
        d = -lines.level
        reached = paired_t_confidence(d - math.log(g), np.zeros(d.size))
        largest = partial(_log_speedup, d)
    else:
        u, v = (-lines.level, -lines.slope) if lines.negated else (lines.slope, lines.level)
        reached = paired_t_confidence(u, v, g)
        largest = partial(paired_t_speedup, u, v)
    between = None if reached is None else interval_confidence(reached)
    at: dict[Rule, tuple[float | None, float | None]] = {
        "hpt": (confidence, best.value),
        "paired t": (reached, largest(required)),
        "interval": (between, largest((1 + required) / 2)),
    }

    def away(found: float | None, wanted: float | None) -> float | None:
        return None if found is None or wanted is None else found / wanted - 1

    return [
        OtherRule(rule, here, away(here, required), speedup, away(speedup, best.value))
        for rule, (here, speedup) in at.items()
    ]


def _log_speedup(d: Array, confidence: float) -> float | None:
    """Give exp of the lower end of the one-sided t interval of the mean of d."""
    from ...stats.classical import paired_interval

    ends = paired_interval(d, 2 * confidence - 1)
    if ends is None or float(np.std(d, ddof=1)) <= _SPREAD * float(np.max(np.abs(d))):
        return None
    return math.exp(ends[0])
