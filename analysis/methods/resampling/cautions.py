"""What a reader of every resampling answer should know: where the runs come from, what is moved."""

from __future__ import annotations

from collections.abc import Iterator

from ...data import Match, PerformanceMatrix
from ...report import Caution
from .units import Units

__all__ = ["pair_cautions", "unit_cautions"]


def pair_cautions(pair: Match) -> Iterator[Caution]:
    """Hand on what is known of both matrices, and of benchmarks that only one of them has."""
    for matrix in (pair.candidate, pair.baseline):
        yield from (caution.of(matrix.name) for caution in matrix.cautions)
    yield from pair.cautions


def unit_cautions(pair: Match, units: Units) -> Iterator[Caution]:
    """Say what the choice of units takes for granted, and what the data cannot tell."""
    a, b = pair.candidate, pair.baseline
    if units.unit == "run":
        yield _single_runs(a, b, units)
    if units.sessions is None:
        yield Caution(
            "sessions-unknown",
            f"the sessions of the runs are not known{_one_side('sessions', a, b)}: the outcome "
            "holds within one session only",
        )
    elif units.sessions == 1:
        yield Caution(
            "one-session",
            "all runs stem from one session and share its memory layout, frequencies and "
            "neighbours: the outcome holds within one session only; measure 3 or more",
        )
    elif units.unit != "session":
        yield _several_sessions(a, b, units)


def _single_runs(a: PerformanceMatrix, b: PerformanceMatrix, units: Units) -> Caution:
    known = a.blocks is not None and b.blocks is not None
    why = (
        "rounds are known, but single runs were asked for"
        if known
        else "which runs of different benchmarks belong to one round is not known"
    )
    where = _one_side("blocks", a, b) if units.chosen else ""
    return Caution(
        "runs-as-units",
        f"{why}{where}: the runs of one benchmark count as independent of those of the others. "
        "Benchmarks that share a process or a busy moment break that, and the answer is then "
        "too sure",
    )


def _several_sessions(a: PerformanceMatrix, b: PerformanceMatrix, units: Units) -> Caution:
    ours, theirs = (
        {label for row in matrix.sessions or () for label in row.tolist()} for matrix in (a, b)
    )
    if not ours & theirs:
        return Caution(
            "sessions-apart",
            "no session holds both variants: a difference between sessions looks like one between "
            f"the variants, and {units.noun}s cannot tell them apart. Take unit 'session', and "
            "measure both variants in every session",
        )
    return Caution(
        "sessions-pooled",
        f"{units.noun}s of one session are not independent replications, and all of the "
        f"{units.sessions} sessions count as if they were: the answer is too sure where sessions "
        "shift the variants differently. Unit 'session' asks that question",
    )


def _one_side(kind: str, a: PerformanceMatrix, b: PerformanceMatrix) -> str:
    known = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is not None]
    return f" (for {known[0]!r} alone they are)" if len(known) == 1 else ""
