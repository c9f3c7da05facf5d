"""What the diagnosis found in some sessions, for one benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .result import Mark

if TYPE_CHECKING:
    from ...data.host_record import HostRecord
    from ...diagnose.result import Diagnosis, FarRun, Finding

__all__ = ["FoundRuns", "Notes", "marks_of"]

_MOST = 8  # findings of one picture
_SHARE = re.compile(r"([0-9.]+) ?%")
_MOVES = ("order", "change-point", "host-change")
_WORDS = {"order": "drift", "change-point": "step", "host-change": "host"}


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


class Notes:
    """What the runner noted of the host in each session: its figures differ from one to the next."""

    def __init__(self, record: HostRecord | None) -> None:
        self._what: dict[tuple[str, str], str] = {}
        for note in () if record is None else record.notes:
            if note.session is not None and note.status in ("warn", "fail"):
                self._what.setdefault((note.check, str(note.session)), note.what)

    def figure(self, finding: Finding, session: str) -> str:
        """Give the one figure that tells most of a finding in a session; "" where there is none."""
        what = self._what.get((finding.code, session), "")
        if finding.code == "load":
            return what.split(" ", 1)[0] if what[:1].isdigit() else ""
        if found := _SHARE.search(what):
            return f"{found[1]}\u00a0%"
        if finding.code in _MOVES and finding.size is not None:
            return f"{100 * finding.size:+.0f}\u00a0%".replace("-", "\u2212")
        return ""


def marks_of(diagnosis: Diagnosis | None, benchmark: str, notes: Notes) -> tuple[Mark, ...]:
    """Give the findings that touch some sessions of a benchmark: what was recorded comes first.

    Parameters
    ----------
    diagnosis : Diagnosis or None
        Only what is certain counts; single disturbed runs are no matter of a session.
    benchmark : str
        Its cells, and the whole host.
    notes : Notes
        Where figures of single sessions come from.
    """
    if diagnosis is None:
        return ()
    found = [
        one
        for one in diagnosis.findings
        if one.certain
        and one.sessions
        and one.benchmark in (None, benchmark)
        and one.code not in ("disturbed-runs", "waited-for-cpu")
    ]
    found.sort(key=lambda one: (one.benchmark is not None, one.pvalue is not None))
    return tuple(
        Mark(
            code=one.code,
            word=_WORDS.get(one.code, one.code.replace("_", " ").replace("-", " ")),
            variant=one.variant or "",
            sessions=tuple(map(str, one.sessions)),
            figures=tuple(notes.figure(one, str(session)) for session in one.sessions),
            everywhere=len(one.sessions) == diagnosis.sessions,
            # of the load the runner's sentence has figures only
            text=f"{one.code} {one.text}" if one.text[:1].isdigit() else one.text,
        )
        for one in found[:_MOST]
    )
