"""What the diagnosis found in some sessions, for one benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...data.host_record import HostRecord
    from ...diagnose.result import Diagnosis, Finding

__all__ = ["Mark", "marks_of", "notes_of"]

_MOST = 8  # findings of one picture
_SHARE = re.compile(r"([0-9.]+) ?%")
_WORDS = {"order": "drift", "change-point": "step", "host-change": "host"}  # whose size is a share
_OF_RUNS = ("disturbed-runs", "waited-for-cpu")  # no matter of a session
Notes = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something found in some sessions."""

    code: str
    word: str  # or two
    variant: str  # the one that it is of; "" of all
    sessions: tuple[str, ...]
    figures: tuple[str, ...]  # what tells most of each session; "" where there is none
    everywhere: bool  # whether that are all sessions
    text: str


def notes_of(record: HostRecord | None) -> Notes:
    """Give what the runner noted of the host, by check and session: figures differ between sessions."""
    notes = () if record is None else record.notes
    return {
        (note.check, str(note.session)): note.what
        for note in reversed(notes)  # the first of a session stays
        if note.session is not None and note.status in ("warn", "fail")
    }


def _figure(finding: Finding, what: str) -> str:
    """Give the one figure that tells most of a finding in a session; "" where there is none."""
    if finding.code == "load":
        return what.split(" ", 1)[0] if what[:1].isdigit() else ""
    if found := _SHARE.search(what):
        return f"{found[1]}\u00a0%"
    if finding.code in _WORDS and finding.size is not None:
        return f"{100 * finding.size:+.0f}\u00a0%".replace("-", "\u2212")
    return ""


def marks_of(diagnosis: Diagnosis | None, benchmark: str, notes: Notes) -> tuple[Mark, ...]:
    """Give what is certain of a benchmark and of the whole host: what was recorded comes first."""
    if diagnosis is None:
        return ()
    found = [
        one
        for one in diagnosis.findings
        if one.certain
        and one.sessions
        and one.benchmark in (None, benchmark)
        and one.code not in _OF_RUNS
    ]
    found.sort(key=lambda one: (one.benchmark is not None, one.pvalue is not None))
    return tuple(
        Mark(
            code=one.code,
            word=_WORDS.get(one.code, one.code.replace("_", " ").replace("-", " ")),
            variant=one.variant or "",
            sessions=(sessions := tuple(map(str, one.sessions))),
            figures=tuple(_figure(one, notes.get((one.code, s), "")) for s in sessions),
            everywhere=len(sessions) == diagnosis.sessions,
            # of the load the runner's sentence has figures only
            text=f"{one.code} {one.text}" if one.text[:1].isdigit() else one.text,
        )
        for one in found[:_MOST]
    )
