"""Benchmarks of which no run of the candidate succeeded: a line of what is known."""

from __future__ import annotations

from collections.abc import Mapping

from ....data import PerformanceMatrix
from ..result import BenchmarkLine
from .judging import Failing

__all__ = ["failed_lines"]


def failed_lines(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, failing: Mapping[str, Failing]
) -> tuple[BenchmarkLine, ...]:
    """Give a line for each benchmark of which all the candidate's runs failed, and not the baseline's."""
    runs = dict(zip(baseline.benchmarks, baseline.runs, strict=True))
    known = set(candidate.benchmarks)
    return tuple(
        BenchmarkLine(
            name=name,
            **dict.fromkeys(
                (
                    *("speedup", "low", "high", "error", "freedom", "pvalue", "pvalue_equivalent"),
                    *("more_sessions", "pvalue_adjusted", "pvalue_equivalent_adjusted"),
                    *("mean_candidate", "mean_baseline", "spread_candidate", "spread_baseline"),
                )
            ),
            outcome="undecided",
            outcome_uncorrected="undecided",
            runs_candidate=0,
            runs_baseline=runs[name],
            failed_candidate=count,
            failed_baseline=baseline.failed.get(name, 0),
            sessions=0,
            session_ids=(),
            differences=(),
            reason=failing[name].reason,
            **failing[name].numbers,
        )
        for name, count in candidate.failed.items()
        if count and name not in known and name in runs
    )
