"""What a reader of a plan of sessions should know."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Caution, figures
from ..components import ComponentLine
from .costs import TrialCosts

__all__ = ["session_cautions"]

_FEW = 5  # sessions of a pilot: with fewer the quartiles of the variance lie a factor of 3 apart
_FURTHER = 10  # times the pilot's runs


def session_cautions(
    lines: tuple[ComponentLine, ...],
    *,
    fewest: int,
    best: tuple[int, int] | None,
    costs: TrialCosts | None,
) -> Iterator[Caution]:
    """Say what a plan rests on."""
    if fewest < _FEW:
        yield Caution(
            "few-pilot-sessions",
            f"the pilot has only {fewest} sessions: what lies between sessions is roughly known, and "
            "the plan is no better; plan again when more are measured",
        )
    flat = tuple(line.name for line in lines if line.session_sd == 0 and line.run_sd)
    if flat:
        yield Caution(
            "no-session-component",
            "sessions of the pilot differ no more than their runs explain, and the plan takes that for "
            f"true: {figures.listed(flat)}",
            flat,
        )
    if all(line.run_sd is None for line in lines):
        yield Caution(
            "one-run-a-session",
            "the pilot has one run a session: what more runs would bring is not known, and only "
            "sessions are planned",
        )
    elif all(not line.run_sd and not line.session_sd for line in lines):
        yield Caution("pilot-without-spread", "nothing varies in the pilot: any plan seems enough")
    runs = max(line.blocks / line.sessions for line in lines)
    if best is not None and best[1] > _FURTHER * runs:
        yield Caution(
            "far-from-the-pilot",
            f"the plan has more than {_FURTHER} times the pilot's runs a session, and takes them to "
            "vary as those did",
        )
    if costs is None:
        yield Caution(
            "costs-unknown",
            "what a session costs before its first run is not known, and counts as nothing: such a "
            "plan has more sessions than one from a trial directory",
        )
