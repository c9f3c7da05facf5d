"""HPT: rank sums on each benchmark, signed ranks over the suite, and which variant is better.

Stage one asks on every benchmark, by Wilcoxon's rank-sum test, whether the difference can be told
from noise; a difference that cannot is set to 0. Stage two ranks what is left, by Wilcoxon's
signed-rank test, over the benchmarks. The symbols are those of [1]_, section 4.1: scores a and b,
rank sums R_a and R_b on one benchmark, differences d of medians, signed-rank sums R_A and R_B.

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...data.matrix import PerformanceMatrix
from ...data.pair import Match, match
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...stats.arguments import checks_arguments
from ...stats.ranks import (
    TIE_TOLERANCE,
    midranks,
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
    signed_rank_normal,
    signed_rank_table,
    signed_rank_tied,
)
from ...stats.samples import Array, median, read_only
from .result import (
    P_TOLERANCE,
    Alternative,
    HptBenchmark,
    HptResult,
    Ties,
    Winner,
    pair_cautions,
    suite_cautions,
)

Scores = Literal["auto", "raw", "ratio", "log-ratio"]
Kind = Literal["raw", "ratio", "log-ratio"]

RANK_SUM_NORMAL_FROM = 12  # runs; [1] section 4.1, "Case m >= 12"
SIGNED_RANK_NORMAL_FROM = 25  # benchmarks; "Case n >= 25"
EXACT_RUNS = 80  # runs of both sides together; beyond, ties="exact" takes the normal form


class HptQuestion(NamedTuple):
    """What is asked of two matched matrices: every part of the answer belongs to one question."""

    pair: Match
    speedup: float
    confidence: float
    alpha: float | None
    ties: Ties
    scores: Kind
    alternative: Alternative | None = None

    @property
    def negated(self) -> bool:
        """Whether scores are negated values, which a speedup multiplies instead of dividing."""
        return self.scores == "raw" and self.pair.candidate.better == "lower"


def ask(  # noqa: PLR0917 - the arguments of `hpt` in their order
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    speedup: float,
    confidence: float,
    alpha: float | None,
    ties: Ties,
    scores: Scores,
    alternative: Alternative | None = None,
) -> HptQuestion:
    """Ask what `hpt` does; refuse arguments that are out of their range."""
    if not (np.isfinite(speedup) and speedup > 0):
        raise UsageError(f"speedup must be a positive number, not {speedup!r}")
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    if alpha is not None and not 0 < alpha < 0.5:
        raise UsageError(f"alpha must lie between 0 and 0.5, not {alpha!r}")
    for name, value, known in (
        ("ties", ties, get_args(Ties)),
        ("scores", scores, get_args(Scores)),
        ("alternative", alternative, (*get_args(Alternative), None)),
    ):
        if value not in known:
            said = ", ".join(text for text in known if text is not None)
            raise UsageError(f"{name} must be one of {said}, not {value!r}")
    pair = match(candidate, baseline)
    kind = scores if scores != "auto" else "raw" if candidate.better == "higher" else "ratio"
    return HptQuestion(pair, speedup, confidence, alpha, ties, kind, alternative)


def base_scores(question: HptQuestion, x: Array, y: Array) -> tuple[Array, Array]:
    """Turn runs into scores before the speedup; the last axis holds the runs of one benchmark."""
    higher = question.pair.candidate.better == "higher"
    if question.scores == "raw":
        return (x, y) if higher else (-x, -y)
    centre = median(y, axis=-1)[..., None]
    with np.errstate(over="ignore", under="ignore"):
        return (x / centre, y / centre) if higher else (centre / x, centre / y)


def _scores(question: HptQuestion, name: str, x: Array, y: Array) -> tuple[Array, Array]:
    """Turn runs of one benchmark into scores, larger is better, run by run."""
    s, t = base_scores(question, x, y)
    with np.errstate(over="ignore", under="ignore"):
        s = s * question.speedup if question.negated else s / question.speedup
    if not (np.isfinite(s).all() and np.isfinite(t).all() and s.all() and t.all()):
        raise AnalysisError("the scores leave the range of numbers", f"benchmark {name!r}")
    return s, t


def _rank_sum_tests(
    sums: tuple[float, float], ranks: Array, m: int, ties: Ties, risk: float
) -> tuple[float, float, Winner]:
    """Give the p of "better" for either side, and the winner."""
    n = ranks.size - m
    p_a = rank_sum_pvalue(sums[0], ranks, m, n, ties)
    p_b = rank_sum_pvalue(sums[1], ranks, n, m, ties)
    accepted = risk + P_TOLERANCE
    return p_a, p_b, "candidate" if p_a <= accepted else "baseline" if p_b <= accepted else "tie"


def _stage_one(question: HptQuestion, name: str, x: Array, y: Array) -> tuple[HptBenchmark, Winner]:
    """Compare on one benchmark, by two one-sided rank-sum tests; its rank is not known yet."""
    s, t = _scores(question, name, x, y)
    m, n = s.size, t.size
    ranks = midranks(np.concatenate([s, t]))
    r_a, r_b = float(ranks[:m].sum()), float(ranks[m:].sum())
    logs = question.scores == "log-ratio"
    u, v = (np.log(s), np.log(t)) if logs else (s, t)
    median_a, median_b = float(median(u)), float(median(v))
    difference = median_a - median_b
    scale = 1.0 if logs else max(abs(median_a), abs(median_b))
    if abs(difference) <= TIE_TOLERANCE * scale:
        difference = 0.0  # equal but for rounding: it must not pick a side
    risk, p_a, p_b = None, None, None
    winner: Winner
    if m == n == 1:
        winner = "candidate" if difference > 0 else "baseline" if difference < 0 else "tie"
        elsewhere = winner
    else:
        risk = risk_of(m, n, question.alpha)
        other: Ties = "table" if question.ties == "exact" else "exact"
        (p_a, p_b, winner), (_, _, elsewhere) = (
            _rank_sum_tests((r_a, r_b), ranks, m, ties, risk) for ties in (question.ties, other)
        )
        difference = 0.0 if winner == "tie" else difference
    row = HptBenchmark(
        name=name,
        runs_candidate=m,
        runs_baseline=n,
        median_candidate=median_a,
        median_baseline=median_b,
        rank_sum_candidate=r_a,
        rank_sum_baseline=r_b,
        pvalue_candidate=p_a,
        pvalue_baseline=p_b,
        alpha=risk,
        winner=winner,
        difference=difference,
        rank=math.nan,
    )
    return row, elsewhere


class SignedRanks(NamedTuple):
    """Stage two: ranks of |d|, both sums, and the p of "better" for either side."""

    ranks: Array
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue_candidate: float
    pvalue_baseline: float
    law: Literal["table", "normal", "exact"]


def signed_rank_stage(differences: ArrayLike, *, ties: Ties = "table") -> SignedRanks:
    """Compare over the benchmarks: stage two, from the differences d (0 where insignificant).

    Zeros take part in the ranking, and half of their ranks goes to each side.
    """
    d = np.asarray(differences, dtype=np.float64)
    n = d.size
    if n == 0:
        raise InsufficientDataError("there is no benchmark to compare over", n=0, needed=1)
    ranks = midranks(np.abs(d))
    zeros = float(ranks[d == 0].sum()) / 2
    r_a = float(ranks[d > 0].sum()) + zeros
    r_b = float(ranks[d < 0].sum()) + zeros
    law: Literal["table", "normal", "exact"]
    if ties == "exact":
        law, given = "exact", ranks[d != 0]
        p_a, p_b = signed_rank_tied(r_b - zeros, given), signed_rank_tied(r_a - zeros, given)
    elif n < SIGNED_RANK_NORMAL_FROM:
        law, p_a, p_b = "table", signed_rank_table(r_b, n), signed_rank_table(r_a, n)
    else:
        law = "normal"
        p_a, p_b = (signed_rank_normal(r, n, continuity=added_to(ties)) for r in (r_b, r_a))
    return SignedRanks(read_only(ranks), r_a, r_b, p_a, p_b, law)


def added_to(ties: Ties) -> float:
    """Give the continuity correction of stage two's normal form: that of the window, or as printed."""
    return 0.0 if ties == "printed" else 0.5


def risk_of(m: int, n: int, alpha: float | None) -> float:
    """Give the risk of each one-sided test of stage one with m and n runs."""
    return alpha if alpha is not None else 0.05 if min(m, n) >= 5 else 0.10


def rank_sum_pvalue(r: float, ranks: Array, m: int, n: int, ties: Ties) -> float:
    """Give the p of "the side with m runs is better", r its rank sum, by the named convention.

    The published convention does not look at the ranks of all values.
    """
    if ties != "exact":
        if max(m, n) < RANK_SUM_NORMAL_FROM:
            return rank_sum_table(r, m, n)
        return rank_sum_normal(r, m, n)
    if m + n <= EXACT_RUNS:
        return rank_sum_tied(r, ranks, m)
    return rank_sum_normal(r, m, n, tied_ranks=ranks, continuity=0.5)


@checks_arguments
def hpt(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
    alternative: Alternative | None = None,
) -> HptResult:
    """Test whether the candidate is better, or `speedup` times better, over a suite.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Matched by benchmark name; what only one of them has is left out, with a caution.
    speedup : float
        The speedup under test; the candidate's scores are divided by it.
    confidence : float
        The confidence that the outcome needs, between 0.5 and 1.
    alpha : float, optional
        The risk of each one-sided test of stage one, below 0.5. By default 0.05 where both sides
        have at least 5 runs, and 0.10 elsewhere.
    ties : {"table", "exact", "printed"}
        "table", as published: both stages by the laws without ties, read at the midrank sums;
        the rank-sum's normal form without corrections from 12 runs on, the signed-rank's with
        continuity correction from 25 benchmarks on. "exact": both stages by the exact law given
        the ties observed; with more than 80 runs of both sides together, stage one takes the
        normal form with tie and continuity correction instead. "printed": as "table", but without
        the continuity correction, which the paper's section 4.1 does not print.
    scores : {"auto", "raw", "ratio", "log-ratio"}
        Differences of medians are ranked across benchmarks, so their unit matters. "ratio" takes
        values relative to the baseline's median (times as baseline median / time), "log-ratio"
        their logarithms, "raw" the values as they are (times negated). "auto" is "raw" where
        higher is better and "ratio" where lower is better.
    alternative : {"candidate", "baseline", "two-sided"}, optional
        Who is better if there is a difference; "two-sided" takes twice the smaller p for "the two are
        not equivalent". By default each direction is judged by its own p.

    Returns
    -------
    HptResult
        The whole rank table, both rank sums, p, confidence, outcome and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.
    """
    return answer(ask(candidate, baseline, speedup, confidence, alpha, ties, scores, alternative))


def answer(question: HptQuestion) -> HptResult:
    """Give what `hpt` does."""
    pair, required = question.pair, question.confidence
    a, b = pair.candidate, pair.baseline
    rows = [
        _stage_one(question, *row) for row in zip(a.benchmarks, a.samples, b.samples, strict=True)
    ]
    stage_two = signed_rank_stage([row.difference for row, _ in rows], ties=question.ties)
    p_a, p_b = stage_two.pvalue_candidate, stage_two.pvalue_baseline
    risk = 1 - required + P_TOLERANCE
    best = signed_rank_stage(np.arange(1.0, len(rows) + 1), ties=question.ties)
    both = 2 if question.alternative == "two-sided" else 1
    ours = question.alternative != "baseline" and both * p_a <= risk
    theirs = question.alternative != "candidate" and both * p_b <= risk
    result = HptResult(
        candidate=a.name,
        baseline=b.name,
        speedup_under_test=float(question.speedup),
        required=required,
        alternative=question.alternative,
        alpha=question.alpha,
        ties=question.ties,
        scores=question.scores,
        timed=figures.timed(a.unit),
        benchmarks=tuple(
            replace(row, rank=rank)
            for (row, _), rank in zip(rows, stage_two.ranks.tolist(), strict=True)
        ),
        rank_sum_candidate=stage_two.rank_sum_candidate,
        rank_sum_baseline=stage_two.rank_sum_baseline,
        pvalue=p_a,
        pvalue_baseline=p_b,
        confidence=1 - p_a,
        outcome="candidate" if ours else "baseline" if theirs else "undecided",
        most=1 - both * best.pvalue_candidate,  # every benchmark a win, none tied
        stage_two=stage_two.law,
    )
    switched = [(row, there) for row, there in rows if row.winner != there]
    return replace(result, cautions=(*pair_cautions(pair), *suite_cautions(result, switched)))
