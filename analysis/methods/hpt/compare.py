"""HPT, hierarchical performance testing, says which of two variants is better over a suite.

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

import numpy as np

from ...data import PerformanceMatrix, match
from ...report import figures
from ...stats import door
from .cautions import pair_cautions, suite_cautions
from .result import (
    P_TOLERANCE,
    HptBenchmark,
    HptResult,
    Outcome,
    Ties,
)
from .stages import Scores, StageOne, kind_of, signed_rank_stage, stage_one, validate

__all__ = ["hpt"]


@door
def hpt(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
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
    ties : {"table", "exact"}
        "table", as published: both stages by the laws without ties, read at the midrank sums;
        the rank-sum's normal form without corrections from 12 runs on, the signed-rank's with
        continuity correction from 25 benchmarks on. "exact": both stages by the exact law given
        the ties observed; with more than 80 runs of both sides together, stage one takes the
        normal form with tie and continuity correction instead.
    scores : {"auto", "raw", "ratio", "log-ratio"}
        Differences of medians are ranked across benchmarks, so their unit matters. "ratio" takes
        values relative to the baseline's median (times as baseline median / time), "log-ratio"
        their logarithms, "raw" the values as they are (times negated). "auto" is "raw" where
        higher is better and "ratio" where lower is better.

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
    validate(speedup, confidence, alpha, ties, scores)
    pair = match(candidate, baseline)
    a, b = pair.candidate, pair.baseline
    kind = kind_of(scores, a)
    first, elsewhere = stage_one(a, b, speedup=speedup, alpha=alpha, ties=ties, kind=kind)
    stage_two = signed_rank_stage([row.difference for row in first], ties=ties)
    benchmarks = tuple(
        _benchmark(name, row, float(rank))
        for name, row, rank in zip(a.benchmarks, first, stage_two.ranks, strict=True)
    )
    switched = [
        (row.name, row.winner, there)
        for row, there in zip(benchmarks, elsewhere, strict=True)
        if row.winner != there
    ]
    risk = 1 - confidence + P_TOLERANCE
    outcome: Outcome = "undecided"
    if stage_two.pvalue_candidate <= risk:
        outcome = "candidate"
    elif stage_two.pvalue_baseline <= risk:
        outcome = "baseline"
    best = signed_rank_stage(np.arange(1.0, len(benchmarks) + 1), ties=ties)
    most = 1 - best.pvalue_candidate  # every benchmark a win, none tied
    return HptResult(
        candidate=a.name,
        baseline=b.name,
        speedup_under_test=float(speedup),
        required=confidence,
        alpha=alpha,
        ties=ties,
        scores=kind,
        timed=figures.timed(a.unit),
        benchmarks=benchmarks,
        rank_sum_candidate=stage_two.rank_sum_candidate,
        rank_sum_baseline=stage_two.rank_sum_baseline,
        pvalue=stage_two.pvalue_candidate,
        pvalue_baseline=stage_two.pvalue_baseline,
        confidence=1 - stage_two.pvalue_candidate,
        outcome=outcome,
        most=most,
        stage_two=stage_two.law,
        cautions=(
            *pair_cautions(pair),
            *suite_cautions(
                benchmarks,
                switched=switched,
                sides=(a.name, b.name),
                required=confidence,
                most=most,
                ties=ties,
            ),
        ),
    )


def _benchmark(name: str, row: StageOne, rank: float) -> HptBenchmark:
    p_a, p_b = row.pvalues or (None, None)
    return HptBenchmark(
        name=name,
        runs_candidate=row.runs[0],
        runs_baseline=row.runs[1],
        median_candidate=row.medians[0],
        median_baseline=row.medians[1],
        rank_sum_candidate=row.rank_sums[0],
        rank_sum_baseline=row.rank_sums[1],
        pvalue_candidate=p_a,
        pvalue_baseline=p_b,
        alpha=row.alpha,
        winner=row.winner,
        difference=row.difference,
        rank=rank,
    )
