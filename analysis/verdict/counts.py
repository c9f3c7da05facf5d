"""How many runs a verdict rests on: those that count, warm-ups, failed ones, and those of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..data import PerformanceMatrix, Trial
from .sides import Side

__all__ = ["RunCounts", "counts_of", "session_runs", "summed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """The runs of the variants that are judged.

    `session_runs` are the fewest and the most runs of a cell in a session, None where sessions are
    unknown.
    """

    sessions: int
    session_runs: tuple[int, int] | None
    runs: int
    warmups: int
    failed: int


def counts_of(
    trial: Trial, metric: str, variants: Sequence[str], sides: Iterable[Side]
) -> RunCounts:
    """Count the runs of a trial's variants, and what of them the sides hold."""
    mine = np.isin(trial.variant, [trial.manifest.variants.index(name) for name in variants])
    return RunCounts(
        sessions=trial.sessions,
        session_runs=session_runs([one.matrix for one in sides if one.matrix is not None]),
        runs=int((trial.judged(metric) & mine).sum()),
        warmups=int((trial.warmup & mine).sum()),
        failed=sum(not run.warmup and run.variant in variants for run in trial.failures()),
    )


def summed(each: Sequence[RunCounts]) -> RunCounts:
    """Count the runs of several trials together."""
    known = [count for one in each if one.session_runs is not None for count in one.session_runs]
    return RunCounts(
        sessions=sum(one.sessions for one in each),
        session_runs=(min(known), max(known)) if known else None,
        runs=sum(one.runs for one in each),
        warmups=sum(one.warmups for one in each),
        failed=sum(one.failed for one in each),
    )


def session_runs(matrices: Sequence[PerformanceMatrix]) -> tuple[int, int] | None:
    """Count the fewest and the most runs of a cell in a session."""
    counts = [
        int(count)
        for matrix in matrices
        if matrix.sessions is not None
        for row in matrix.sessions
        for count in np.unique(row, return_counts=True)[1]
    ]
    return (min(counts), max(counts)) if counts else None
