"""The tests that a study compares, each as one p-value on one pair of sides."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import stdtr

from ..methods.hpt import hpt
from ..methods.resampling import randomization_test
from ..planning import log_error
from .draws import Pair

__all__ = ["TESTS", "Alternative", "pvalue_of"]

Alternative = Literal["candidate", "two-sided"]

TESTS = ("hpt", "t", "welch", "randomization")


def pvalue_of(
    pair: Pair, test: str, alternative: Alternative, resamples: int, rng: np.random.Generator
) -> float:
    """Give the p-value of one of `TESTS` on one pair."""
    ours, theirs = pair
    if test == "randomization":
        return randomization_test(
            ours, theirs, alternative=alternative, resamples=resamples, rng=rng
        ).pvalue
    if test == "hpt":
        result = hpt(ours, theirs)
        if alternative == "candidate":
            return result.pvalue
        return min(1.0, 2 * min(result.pvalue, result.pvalue_baseline))
    logs = [[np.log(row) for row in matrix.samples] for matrix in pair]
    sign = 1 if ours.better == "higher" else -1
    gains = np.array([sign * (a.mean() - b.mean()) for a, b in zip(*logs, strict=True)])
    mean = float(gains.mean())
    if test == "t":  # over the benchmarks: as many values as there are benchmarks
        error, freedom = math.sqrt(gains.var(ddof=1) / gains.size), gains.size - 1.0
    else:
        both = [row for side in logs for row in side]
        variances = np.array([row.var(ddof=1) for row in both])
        counts = np.array([row.size for row in both])
        error, freedom = (float(x) for x in log_error(variances, counts, gains.size))
    if error == 0:
        return 1.0 if mean == 0 or (alternative == "candidate" and mean < 0) else 0.0
    if alternative == "candidate":
        return float(stdtr(freedom, -mean / error))
    return float(2 * stdtr(freedom, -abs(mean) / error))
