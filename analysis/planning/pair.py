"""The two matrices that planning is about, and what its arguments must be."""

from __future__ import annotations

import math

from ..data import PerformanceMatrix, match
from ..errors import InsufficientDataError, UsageError
from ..report import Caution

__all__ = ["check_positive", "check_runs", "check_share", "matched", "sign_of"]


def matched(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> tuple[PerformanceMatrix, PerformanceMatrix, tuple[Caution, ...]]:
    """Give the two with the benchmarks that both have, and what to know about their values.

    Raises
    ------
    AnalysisError
        If the two do not compare.
    """
    pair = match(candidate, baseline)
    own = (caution.of(m.name) for m in (candidate, baseline) for caution in m.cautions)
    return pair.candidate, pair.baseline, (*own, *pair.cautions)


def sign_of(matrix: PerformanceMatrix) -> int:
    """Orient the log ratio of candidate to baseline: above 0 when the candidate is better."""
    return 1 if matrix.better == "higher" else -1


def check_runs(ours: PerformanceMatrix, theirs: PerformanceMatrix, needed: int) -> None:
    """Raise InsufficientDataError where a benchmark has fewer runs than needed."""
    for matrix in (ours, theirs):
        for bench, runs in zip(matrix.benchmarks, matrix.runs, strict=True):
            if runs < needed:
                raise InsufficientDataError(
                    f"the benchmark has {runs} run{'s' * (runs != 1)}, and {needed} are needed",
                    f"{matrix.name}, benchmark {bench!r}",
                    "measure more runs of it, or leave it out",
                    n=runs,
                    needed=needed,
                )


def check_share(name: str, value: float) -> None:
    """Raise UsageError unless the value lies between 0 and 1."""
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, and is {value!r}")


def check_positive(name: str, value: float) -> None:
    """Raise UsageError unless the value is a finite number above 0."""
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"{name} must be a number above 0, and is {value!r}")
