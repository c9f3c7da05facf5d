"""The two stages of HPT: rank sums on each benchmark, signed ranks over the suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...stats import (
    TIE_TOLERANCE,
    median,
    midranks,
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
    signed_rank_normal,
    signed_rank_table,
    signed_rank_tied,
)
from .result import P_TOLERANCE, Ties, Winner

__all__ = [
    "EXACT_RUNS",
    "RANK_SUM_NORMAL_FROM",
    "SIGNED_RANK_NORMAL_FROM",
    "Kind",
    "Scores",
    "SignedRanks",
    "StageOne",
    "as_scores",
    "kind_of",
    "rank_sum_pvalue",
    "risk_of",
    "signed_rank_stage",
    "stage_one",
    "validate",
]

Scores = Literal["auto", "raw", "ratio", "log-ratio"]
Kind = Literal["raw", "ratio", "log-ratio"]
Array = NDArray[np.float64]

RANK_SUM_NORMAL_FROM = 12  # runs; [1] section 4.1, "Case m >= 12"
SIGNED_RANK_NORMAL_FROM = 25  # benchmarks; "Case n >= 25"
EXACT_RUNS = 80  # runs of both sides together; beyond, ties="exact" takes the normal form


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignedRanks:
    """Stage two: ranks of |d|, both sums, and the p of "better" for either side."""

    ranks: Array
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue_candidate: float
    pvalue_baseline: float
    law: Literal["table", "normal", "exact"]


def stage_one(
    a: PerformanceMatrix,
    b: PerformanceMatrix,
    *,
    speedup: float,
    alpha: float | None,
    ties: Ties,
    kind: Kind,
) -> tuple[list[StageOne], list[Winner]]:
    """Compare on every benchmark; also give the winners under the other convention of ties."""
    other: Ties = "exact" if ties == "table" else "table"
    logs = kind == "log-ratio"
    rows, elsewhere = [], []
    for name, x, y in zip(a.benchmarks, a.samples, b.samples, strict=True):
        s, t = as_scores(name, x, y, speedup=speedup, better=a.better, kind=kind)
        rows.append(_rank_sum_stage(s, t, alpha=alpha, ties=ties, logs=logs))
        elsewhere.append(_rank_sum_stage(s, t, alpha=alpha, ties=other, logs=logs).winner)
    return rows, elsewhere


def signed_rank_stage(differences: ArrayLike, *, ties: Ties = "table") -> SignedRanks:
    """Compare over the benchmarks: stage two, from the differences d (0 where insignificant).

    Zeros take part in the ranking, and half of their ranks goes to each side.

    Raises
    ------
    InsufficientDataError
        If there is no difference.
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
        law, p_a, p_b = "normal", signed_rank_normal(r_b, n), signed_rank_normal(r_a, n)
    ranks.flags.writeable = False
    return SignedRanks(
        ranks=ranks,
        rank_sum_candidate=r_a,
        rank_sum_baseline=r_b,
        pvalue_candidate=p_a,
        pvalue_baseline=p_b,
        law=law,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOne:
    """Stage one on one benchmark; pairs hold the candidate's figure, then the baseline's."""

    runs: tuple[int, int]
    medians: tuple[float, float]
    rank_sums: tuple[float, float]
    pvalues: tuple[float, float] | None
    alpha: float | None
    winner: Winner
    difference: float


def validate(
    speedup: float, confidence: float, alpha: float | None, ties: str, scores: str
) -> None:
    """Refuse arguments that are out of their range."""
    if not (np.isfinite(speedup) and speedup > 0):
        raise UsageError(f"speedup must be a positive number, not {speedup!r}")
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    if alpha is not None and not 0 < alpha < 0.5:
        raise UsageError(f"alpha must lie between 0 and 0.5, not {alpha!r}")
    for name, value, known in (
        ("ties", ties, get_args(Ties)),
        ("scores", scores, get_args(Scores)),
    ):
        if value not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def kind_of(scores: Scores, matrix: PerformanceMatrix) -> Kind:
    """Resolve "auto"."""
    return scores if scores != "auto" else "raw" if matrix.better == "higher" else "ratio"


def as_scores(
    name: str, x: Array, y: Array, *, speedup: float, better: str, kind: Kind
) -> tuple[Array, Array]:
    """Turn runs of one benchmark into scores, larger is better, run by run.

    "log-ratio" gives ratios too: their ranks are those of the logarithms, without the rounding.
    """
    centre = float(median(y))
    with np.errstate(over="ignore", under="ignore"):
        if kind == "raw":
            s, t = (x / speedup, y) if better == "higher" else (-(x * speedup), -y)
        elif better == "higher":
            s, t = x / centre / speedup, y / centre
        else:
            s, t = centre / x / speedup, centre / y
    if not (np.isfinite(s).all() and np.isfinite(t).all() and s.all() and t.all()):
        raise AnalysisError("the scores leave the range of numbers", f"benchmark {name!r}")
    return s, t


def _rank_sum_stage(s: Array, t: Array, *, alpha: float | None, ties: Ties, logs: bool) -> StageOne:
    """Compare on one benchmark: stage one, by two one-sided rank-sum tests.

    `logs` says that the medians, and so the difference, are those of the logarithms.
    """
    m, n = s.size, t.size
    ranks = midranks(np.concatenate([s, t]))
    r_a, r_b = float(ranks[:m].sum()), float(ranks[m:].sum())
    u, v = (np.log(s), np.log(t)) if logs else (s, t)
    median_a, median_b = float(median(u)), float(median(v))
    difference = median_a - median_b
    scale = 1.0 if logs else max(abs(median_a), abs(median_b))
    if abs(difference) <= TIE_TOLERANCE * scale:
        difference = 0.0  # equal but for rounding: it must not pick a side
    pvalues, risk = None, None
    winner: Winner
    if m == n == 1:
        winner = "candidate" if difference > 0 else "baseline" if difference < 0 else "tie"
    else:
        risk = risk_of(m, n, alpha)
        pvalues = rank_sum_pvalue(r_a, ranks, m, n, ties), rank_sum_pvalue(r_b, ranks, n, m, ties)
        p_a, p_b = pvalues
        accepted = risk + P_TOLERANCE
        winner = "candidate" if p_a <= accepted else "baseline" if p_b <= accepted else "tie"
        difference = 0.0 if winner == "tie" else difference
    return StageOne(
        runs=(m, n),
        medians=(median_a, median_b),
        rank_sums=(r_a, r_b),
        pvalues=pvalues,
        alpha=risk,
        winner=winner,
        difference=difference,
    )


def risk_of(m: int, n: int, alpha: float | None) -> float:
    """Give the risk of each one-sided test of stage one with m and n runs."""
    return alpha if alpha is not None else 0.05 if min(m, n) >= 5 else 0.10


def rank_sum_pvalue(r: float, ranks: Array, m: int, n: int, ties: Ties) -> float:
    """Give the p of "the side with m runs is better", r its rank sum, by the named convention.

    The published convention does not look at the ranks of all values.
    """
    if ties == "table":
        if max(m, n) < RANK_SUM_NORMAL_FROM:
            return rank_sum_table(r, m, n)
        return rank_sum_normal(r, m, n)
    if m + n <= EXACT_RUNS:
        return rank_sum_tied(r, ranks, m)
    return rank_sum_normal(r, m, n, tied_ranks=ranks, continuity=0.5)
