"""A candidate all of whose runs fail on some hosts: what the other hosts say decides nothing then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ...data import Trial
from ...methods.multilevel import Line, Multilevel

__all__ = ["failed_of", "undecided_by"]


def failed_of(trial: Trial, variant: str) -> Counter[str]:
    """Count the failed runs of a variant by benchmark."""
    return Counter(
        run.benchmark for run in trial.failures() if run.variant == variant and not run.warmup
    )


def undecided_by(result: Multilevel, failed: Mapping[str, int]) -> Multilevel:
    """Take a candidate's words back, as of a trial in which it fails and the baseline does not.

    Parameters
    ----------
    result : Multilevel
        What the hosts say on which it has runs that count.
    failed : mapping of str to int
        Its failed runs on the others, by benchmark.
    """

    def opened(line: Line | None) -> Line | None:
        return None if line is None else replace(line, outcome="undecided")

    return replace(
        result,
        benchmarks=tuple(
            replace(
                line,
                outcome="undecided",
                reason="fails-always",
                failed_candidate=line.failed_candidate + failed.get(line.name, 0),
                fails=None,  # the test of the other hosts says nothing of those
                pvalue_fails=None,
                pvalue_fails_adjusted=None,
                fails_proven=True,
            )
            for line in result.benchmarks
        ),
        these=opened(result.these),
        similar=opened(result.similar),
    )
