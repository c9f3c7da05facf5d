"""How a trial ended, and what a person is told then."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.record import Disturbances, GivenUp, SessionEnd, TrialStatus

from ..wording import (
    counted,
    said_of_disturbances,
    said_of_given_up,
    said_of_sessions,
    said_of_suspended,
)
from .resuming.way_on import accepting, way_on

_SHOWN = 3  # cells with failed runs that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trial ended: its status and why, and how much of it is there.

    `planned` counts the runs that were needed; `session_ends` says how the sessions under a
    stopping rule ended, `given_up` which cells sessions went on without. `capped` says that a cap stopped it: then `unmeasured` counts the cells of
    all sessions without a run that counts, and `must_raise` is the key to raise before more can be
    executed, if there is one. `disturbances` counts the runs that waited for a CPU, None where nothing
    was executed, and `repeating` says whether they are repeated; `suspended` counts
    executions that were discarded because something stood still, `failed_cells` the failed runs of each
    "benchmark / variant" that has some.
    """

    trial: Path
    status: TrialStatus
    reason: str | None
    done: int
    planned: int
    failed: int
    session_ends: tuple[SessionEnd, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    capped: bool = False
    unmeasured: int = 0
    must_raise: str | None = None
    disturbances: Disturbances | None = None
    repeating: bool = False
    suspended: int = 0
    failed_cells: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the ending as JSON types."""
        ends = [end.to_dict() for end in self.session_ends]
        given_up = [one.to_dict() for one in self.given_up]
        return {
            **dataclasses.asdict(dataclasses.replace(self, failed_cells=dict(self.failed_cells))),
            "trial": str(self.trial),
            "session_ends": ends,
            "given_up": given_up,
        }

    @property
    def failures(self) -> str | None:
        """How many runs failed, of which cells, and where to look; None where none did."""
        if not self.failed:
            return None
        worst = sorted(self.failed_cells.items(), key=lambda one: -one[1])
        cells = ", ".join(f"{name}: {count}" for name, count in worst[:_SHOWN])
        more = f" and {counted(len(worst) - _SHOWN, 'more cell')}" if len(worst) > _SHOWN else ""
        verb = "was" if self.failed == 1 else "were"
        return (
            f"{counted(self.failed, 'run')} {verb} not ok ({cells}{more}): see 'outcome' and 'detail' in "
            f"{self.trial}/measurements.jsonl and {self.trial}/outputs/"
        )

    def lines(self, again: str) -> list[str]:
        """Say how it ended, what is kept and what comes next; `again` is the command to go on."""
        if self.status == "complete":
            runs = f"{self.done} run{'s' * (self.done != 1)}"
            head = (
                f"{self.trial}: {self.reason}, with {runs}" if self.reason else f"complete: {runs}"
            )
        elif self.status == "interrupted":
            head = f"stopped by you after {self.done} of {self.planned} runs; all {self.done} are kept."
        else:
            head = f"stopped after {self.done} of {self.planned} runs, all kept: {self.reason}"
            if self.unmeasured:
                verb = "has" if self.unmeasured == 1 else "have"
                head += f"; {counted(self.unmeasured, 'cell')} {verb} no run that counts"
        lines = [head, *said_of_sessions(self.session_ends), *said_of_given_up(self.given_up)]
        lines += said_of_disturbances(self.disturbances, repeating=self.repeating)
        lines += said_of_suspended(self.suspended)
        lines += [] if self.failures is None else [self.failures]
        if self.status != "complete":
            again = accepting(again, self.must_raise)
            lines.append(way_on(again, self.must_raise))
        if self.done:
            lines.append(f"next: fairtrial verdict {self.trial}")
        return lines
