"""The steps of the Speedup-Test in words: what was tested, at which risk, and what follows.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   figures 1 and 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...stats import shapiro_wilk as wilk
from .result import (
    F_TEST,
    KOLMOGOROV,
    LARGE,
    SHAPIRO,
    STUDENT,
    WELCH,
    WILCOXON,
    Outcome,
    Side,
    Step,
)

__all__ = ["P_TOLERANCE", "Pair", "mean_path", "median_path"]

P_TOLERANCE = 1e-12  # a p of exactly the risk must be accepted whatever its last digits

NORMAL = "the times are normally distributed"
ONE_VARIANCE = "both sides have the same variance"
NO_LESS_MEAN = "the candidate's mean time is not below the baseline's"
ONE_SHAPE = "the times less their medians have the same distribution on both sides"
NO_SHIFT = "the candidate's times do not tend to be below the baseline's"

_MORE = f"more than {LARGE} runs"
_APPROXIMATE = "its risk is approximate"


class Pair(NamedTuple):
    """Every statistic and p of one pair; nan where a test is not possible."""

    runs_baseline: int
    runs_candidate: int
    w_baseline: float
    p_normal_baseline: float
    w_candidate: float
    p_normal_candidate: float
    f: float
    p_f: float
    t_student: float
    p_student: float
    t_welch: float
    p_welch: float
    distance: float
    p_distance: float
    rank_sum: float
    p_rank_sum: float


def mean_path(pair: Pair, risk: float) -> tuple[tuple[Step, ...], int | None]:
    """Give the steps of the protocol for the mean (figure 1), and the runs that it asks for."""
    steps: list[Step] = []
    needed: list[int] = []
    sides: tuple[tuple[Side, int, float, float], ...] = (
        ("baseline", pair.runs_baseline, pair.w_baseline, pair.p_normal_baseline),
        ("candidate", pair.runs_candidate, pair.w_candidate, pair.p_normal_candidate),
    )
    for side, runs, w, p in sides:
        more, consequence = _normality(runs, p, risk)
        if more is not None:
            needed.append(more)
        steps.append(_step(SHAPIRO, NORMAL, side, w, p, risk=risk, consequence=consequence))
    if needed:
        return tuple(steps), max(needed)
    pooled = pair.p_f > risk + P_TOLERANCE
    if math.isnan(pair.p_f):
        follows = "all times of a side are equal: Welch's t-test"
    else:
        follows = (
            "variances taken as equal: Student's t-test"
            if pooled
            else "variances differ: Welch's t-test"
        )
    steps.append(
        _step(F_TEST, ONE_VARIANCE, None, pair.f, pair.p_f, risk=risk, consequence=follows)
    )
    t, p = (pair.t_student, pair.p_student) if pooled else (pair.t_welch, pair.p_welch)
    if math.isnan(p):
        follows = "the times do not differ by more than rounding: cannot conclude"
    else:
        follows = _verdict("mean", p, risk)
    steps.append(
        _step(
            STUDENT if pooled else WELCH, NO_LESS_MEAN, None, t, p, risk=risk, consequence=follows
        )
    )
    return tuple(steps), None


def median_path(pair: Pair, risk: float) -> tuple[tuple[Step, ...], int | None]:
    """Give the steps of the protocol for the median (figure 2), and the runs that it asks for."""
    one_shape = pair.p_distance > risk + P_TOLERANCE
    small = min(pair.runs_baseline, pair.runs_candidate) <= LARGE
    if one_shape:
        follows = "the two may differ by a shift only"
    elif small:
        follows = f"the shapes differ: cannot conclude; {_MORE} are needed on both sides"
    else:
        follows = f"the shapes differ, but with {_MORE} the rank-sum test is used; {_APPROXIMATE}"
    steps = [
        _step(
            KOLMOGOROV,
            ONE_SHAPE,
            None,
            pair.distance,
            pair.p_distance,
            risk=risk,
            consequence=follows,
        )
    ]
    if small and not one_shape:
        return tuple(steps), LARGE + 1
    follows = _verdict("median", pair.p_rank_sum, risk)
    steps.append(
        _step(
            WILCOXON, NO_SHIFT, None, pair.rank_sum, pair.p_rank_sum, risk=risk, consequence=follows
        )
    )
    return tuple(steps), None


def _normality(runs: int, p: float, risk: float) -> tuple[int | None, str]:
    """Give the runs that are needed for want of normality, and the consequence in words."""
    if runs > LARGE:
        if p > risk + P_TOLERANCE:
            return None, f"not required with {_MORE}, and no departure is seen"
        if p <= risk + P_TOLERANCE:
            return None, f"not required with {_MORE}: the t-test is used; {_APPROXIMATE}"
        if runs > wilk.MOST:
            return None, f"not required with {_MORE}; no law is known beyond {wilk.MOST}"
        return None, f"all values are equal; not required with {_MORE}"
    if runs < wilk.LEAST:
        return wilk.LEAST, f"it needs {wilk.LEAST} runs, so cannot conclude"
    if math.isnan(p):
        return LARGE + 1, f"all values are equal, so cannot conclude; {_MORE} are needed"
    if p > risk + P_TOLERANCE:
        return None, "taken as normal"
    return LARGE + 1, f"not normal: cannot conclude; {_MORE} are needed"


def _verdict(centre: str, p: float, risk: float) -> str:
    word = "is" if p <= risk + P_TOLERANCE else "is not"
    return f"the speedup of the {centre} {word} significant"


def _step(
    test: str,
    hypothesis: str,
    sample: Side | None,
    statistic: float,
    pvalue: float,
    *,
    risk: float,
    consequence: str,
) -> Step:
    outcome: Outcome
    value: float | None
    p: float | None
    if math.isnan(pvalue):
        outcome, value, p = "not tested", None, None
    else:
        outcome = "rejected" if pvalue <= risk + P_TOLERANCE else "not rejected"
        value, p = statistic, pvalue
    return Step(
        test=test,
        hypothesis=hypothesis,
        sample=sample,
        statistic=value,
        pvalue=p,
        risk=risk,
        outcome=outcome,
        consequence=consequence,
    )
