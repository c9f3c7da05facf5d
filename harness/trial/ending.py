"""How a trial ended, and what a person is told then."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record import SessionEnd, TrialStatus

from ..wording import said_of_sessions

RUN_CAP = "the cap"  # how the reason begins when no run is left that may be executed


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trial ended: its status and why, and how much of it is there.

    `planned` counts the runs that were needed; `session_ends` says how the sessions under a
    stopping rule ended.
    """

    trial: Path
    status: TrialStatus
    reason: str | None
    done: int
    planned: int
    failed: int
    session_ends: tuple[SessionEnd, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the ending as JSON types."""
        ends = [end.to_dict() for end in self.session_ends]
        return {**dataclasses.asdict(self), "trial": str(self.trial), "session_ends": ends}

    def lines(self, again: str) -> list[str]:
        """Say how it ended, what is kept and what comes next; `again` is the command to go on."""
        if self.status == "complete":
            head = f"complete: {self.done} runs"
            if self.reason:
                head = f"{self.trial}: {self.reason}, with {self.done} runs"
        elif self.status == "interrupted":
            head = f"stopped by you after {self.done} of {self.planned} runs; all {self.done} are kept."
        else:
            head = f"stopped after {self.done} of {self.planned} runs, all kept: {self.reason}"
        lines = [head, *said_of_sessions(self.session_ends)]
        if self.failed:
            lines.append(
                f"{self.failed} runs were not ok: see 'outcome' and 'detail' in "
                f"{self.trial}/measurements.jsonl and {self.trial}/outputs/"
            )
        if self.status == "stopped" and (self.reason or "").startswith(RUN_CAP):
            lines.append("to measure more: raise protocol.max_runs, then --resume --accept-drift")
        elif self.status != "complete":
            lines.append(f"continue: {again}")
        if self.done:
            lines.append(f"next: fairtrial verdict {self.trial}")
        return lines
