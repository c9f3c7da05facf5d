"""Two matrices that are compared: the benchmarks that both have, and what was left out for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import AnalysisError
from ..report import Caution
from .matrix import PerformanceMatrix
from .origin import apart, pair_cautions, set_apart

__all__ = ["Match", "match"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match:
    """Two matrices with the same benchmarks in the same order, and what was left out for it."""

    candidate: PerformanceMatrix
    baseline: PerformanceMatrix
    cautions: tuple[Caution, ...]


def match(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Match:
    """Match two matrices by benchmark name, in the candidate's order.

    Benchmarks that only one of them has are left out, and `Match.cautions` says which; also whether
    both are one variant, or of two trials, whose blocks and sessions are never the same ones.

    Raises
    ------
    AnalysisError
        If the directions or units differ, or no benchmark is common.
    """
    where = f"{candidate.name} against {baseline.name}"
    for field in ("better", "unit"):
        ours, theirs = getattr(candidate, field), getattr(baseline, field)
        if ours != theirs:
            raise AnalysisError(
                f"the two differ in '{field}': {ours!r} and {theirs!r}",
                where,
                "compare values of one kind",
            )
    known = tuple(pair_cautions(candidate, baseline))
    if apart(candidate, baseline):
        candidate, baseline = set_apart(candidate, "1"), set_apart(baseline, "2")
    if candidate.benchmarks == baseline.benchmarks:
        return Match(candidate=candidate, baseline=baseline, cautions=known)
    theirs_have = set(baseline.benchmarks)
    common = [bench for bench in candidate.benchmarks if bench in theirs_have]
    if not common:
        raise AnalysisError(
            "they have no benchmark in common",
            where,
            f"one has {_some(candidate.benchmarks)}; the other {_some(baseline.benchmarks)}",
        )
    cautions = tuple(
        Caution(
            "benchmarks-of-one-side",
            f"left out, because only {matrix.name!r} has it: {_some(rest)}"
            if len(rest) == 1
            else f"{len(rest)} benchmarks left out, because only {matrix.name!r} has them: "
            f"{_some(rest)}",
            tuple(rest),
        )
        for matrix in (candidate, baseline)
        if (rest := [bench for bench in matrix.benchmarks if bench not in set(common)])
    )
    return Match(
        candidate=candidate.select(common),
        baseline=baseline.select(common),
        cautions=(*known, *cautions),
    )


def _some(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
