"""What the diagnosis found in some sessions, for one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase

from ...diagnosis.audit import Diagnosis, FarRun
from .result import Mark

__all__ = ["FoundRuns", "marks_of"]

_MOST = 8  # bars of one picture


class FoundRuns:
    """Far runs and the cells' figures by benchmark, looked up once."""

    def __init__(self, diagnosis: Diagnosis | None) -> None:
        self._far: dict[str, dict[str, list[FarRun]]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._lags: dict[tuple[str, str], float | None] = {}
        if diagnosis is None:
            return
        for run in diagnosis.far_runs:
            self._far.setdefault(run.benchmark, {}).setdefault(run.variant, []).append(run)
        for cell in diagnosis.cells:
            self._counts[cell.benchmark, cell.variant] = cell.far
            self._lags[cell.benchmark, cell.variant] = cell.lag_1

    def far(self, benchmark: str) -> Mapping[str, Sequence[FarRun]]:
        """Give the far runs by variant, the farthest first."""
        return self._far.get(benchmark, {})

    def count(self, benchmark: str, variant: str) -> int:
        """Count the far runs of a cell."""
        return self._counts.get((benchmark, variant), 0)

    def lag_1(self, benchmark: str, variant: str) -> float | None:
        """Give the autocorrelation of neighbours in a cell."""
        return self._lags.get((benchmark, variant))


def marks_of(diagnosis: Diagnosis | None, benchmark: str) -> tuple[Mark, ...]:
    """Give the findings that touch some sessions of a benchmark, the host's first."""
    if diagnosis is None:
        return ()
    found = [
        one
        for one in diagnosis.findings
        if one.certain
        and one.sessions
        and one.benchmark in (None, benchmark)
        and one.code != "disturbed-runs"  # single runs, not sessions
    ]
    found.sort(key=lambda one: one.benchmark is not None)
    return tuple(
        Mark(
            letter=letter,
            code=one.code,
            variant=one.variant or "",
            sessions=tuple(map(str, one.sessions)),
            # of the load the runner's sentence has figures only
            text=f"{one.code} {one.text}" if one.text[:1].isdigit() else one.text,
        )
        for letter, one in zip(ascii_lowercase, found[:_MOST], strict=False)
    )
