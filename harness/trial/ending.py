"""How a trial ended, what a person is told then, and a command that goes on with it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError
from analysis.record.bisections import bisection_of_trial
from analysis.record.trial_files import CAMPAIGN, GivenUp, Manifest, SessionEnd, TrialStatus
from analysis.words import WIDTH, command_line, next_lines, note_lines

from ..errors import counted, took, wrapped
from .wording import failed_runs, runs_with_warmups, said_of_failures, said_of_trial

if TYPE_CHECKING:
    from analysis.record.disturbance import Disturbances

    from .writer import Rows

RUN_CAP = "the cap"  # how the reason of a trial begins that has all the runs it may have


def command_to_continue(manifest: Manifest, trial: Path) -> tuple[str, ...]:
    """Give the words of the command that goes on with a trial, wherever its campaign is.

    A raised cap is a change of the campaign, which the command has to accept.

    A trial of a bisection is measured by that alone. A comparison goes on in its list of looks; one whose only look was planned is measured anew.
    """
    bisection = bisection_of_trial(trial)
    if bisection is not None:
        return ("fairtrial", "bisect", "--resume", str(bisection))
    if manifest.looks_plan is not None:
        if manifest.looks_plan.rule == "repeated":
            return ("fairtrial", "compare", "--resume", str(trial))
        return ("fairtrial", "run", str(trial / CAMPAIGN))
    again = ("fairtrial", "run", manifest.campaign_path, "--resume", "--trial", str(trial))
    return accepting(again, must_raise(manifest))


def accepting(again: Sequence[str], must_raise: str | None) -> tuple[str, ...]:
    """Add to a command that it accepts the changed campaign, where one is needed."""
    return tuple(again) if must_raise is None else (*again, "--accept-drift")


def raised_first(must_raise: str | None) -> str:
    """Say that a cap, which would stop a trial at once, has to be raised before it goes on."""
    if must_raise == "protocol.never_ok":
        return (
            "once the campaign says 'never_ok: go_on'; a program that was mended needs a new trial"
        )
    return "" if must_raise is None else f"once {must_raise} is raised in the campaign"


def done_first(manifest: Manifest, trial: Path) -> str:
    """Say what has to be done before a trial can go on, or that it does not; nothing where it can."""
    if bisection_of_trial(trial) is not None:
        return ""
    if manifest.looks_plan is not None:
        return "" if manifest.looks_plan.rule == "repeated" else "measures it anew"
    if not os.path.isfile(manifest.campaign_path):  # noqa: PTH113 - Path.is_file() raises on a name that is too long
        return f"once the campaign is put back: {trial / CAMPAIGN} is a copy"
    return raised_first(must_raise(manifest))


def way_on_of(manifest: Manifest, trial: Path) -> str:
    """Say how to go on with a trial, in one line that is not broken."""
    before = done_first(manifest, trial)
    again = command_line(command_to_continue(manifest, trial))
    return f"{again}    {before}" if before else again


def refuse_comparison(path: Path, manifest: Manifest) -> None:
    """Refuse sessions that stand in no plan of looks: the answer of a comparison has been looked at."""
    if bisection_of_trial(path) is not None:
        raise StoreError(
            "this trial belongs to a bisection, which alone adds sessions to it",
            str(path),
            way_on_of(manifest, path),
        )
    if manifest.looks_plan is not None:
        raise StoreError(
            "this trial is a comparison, whose sessions are looked at by a plan: 'run' cannot add to it",
            str(path),
            way_on_of(manifest, path),
        )


def refuse_imported(path: Path, manifest: Manifest) -> None:
    """Refuse to go on with a trial that was made of another tool's files."""
    if manifest.origin == "imported":
        what = "this trial was imported from files of another tool: it cannot be resumed"
        fix = "leave out --resume and name a campaign, to measure a trial of it"
        raise StoreError(what, str(path), fix)


def must_raise(manifest: Manifest) -> str | None:
    """Give the key of the campaign to raise before more can be executed."""
    # The first version does not say it, but its reason does.
    full = manifest.status == "stopped" and (manifest.reason or "").startswith(RUN_CAP)
    return manifest.must_raise or ("protocol.max_runs" if full else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trial ended: its status and why, and how much of it is there.

    `planned` counts the runs that were needed. `capped` says that a cap stopped it: then `unmeasured`
    counts the cells of all sessions without a run that counts, and `must_raise` is the key to raise
    before more can be executed, if there is one. `disturbances` counts the runs that waited for a CPU,
    None where nothing was executed; `suspended` counts executions that were discarded because something
    stood still, `failed_cells` the failed runs of each "benchmark / variant" that has some, and
    `failed_how` the same by outcome; `warmups` and `failed_warmups` count those of `done` and `failed`
    that are warm-ups. `already` says that it was complete before anything was done, `judges` what its
    campaign asks from now on, where that is new.
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
    failed_how: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failed_warmups: int = 0
    warmups: int = 0
    already: bool = False
    judges: str | None = None

    @classmethod
    def of(cls, trial: Path, manifest: Manifest, rows: Rows, **fields: Any) -> Ending:  # noqa: ANN401 - its fields
        """Make the ending of a trial from its manifest and rows; `fields` are those that differ."""
        known: dict[str, Any] = {
            "trial": trial,
            "done": rows.counted,
            "planned": manifest.needed,
            "failed": rows.failed.total(),
            "failed_cells": rows.failed,
            "failed_how": {cell: dict(how) for cell, how in rows.failed_how.items()},
            "failed_warmups": rows.failed_warmups,
            "warmups": rows.warmups,
            "session_ends": manifest.session_ends,
            "given_up": manifest.given_up,
            "repeating": manifest.repeating,
            "suspended": rows.suspended,
        }
        return cls(**known | fields)

    def to_dict(self) -> dict[str, Any]:
        """Give the ending as JSON types."""
        return {
            **dataclasses.asdict(dataclasses.replace(self, failed_cells=dict(self.failed_cells))),
            "trial": str(self.trial),
            "session_ends": [end.to_dict() for end in self.session_ends],
            "given_up": [one.to_dict() for one in self.given_up],
        }

    @property
    def failures(self) -> str | None:
        """How many runs failed, of which cells and how; None where none did."""
        if not self.failed:
            return None
        return (
            f"{failed_runs(self.failed, self.failed_warmups)} ({said_of_failures(self.failed_how)})"
        )

    def head(self, *, took_s: float | None = None, fresh: int | None = None) -> list[str]:
        """Say how it ended, what is kept and what failed.

        `took_s` is how long was measured now, in seconds, `fresh` how many runs were executed in that time.
        """
        head = self._head(took_s, fresh)
        beside = f"{head}    {self.trial}"
        return [beside] if len(beside) <= WIDTH else wrapped(head, "", " " * 6, WIDTH)

    def further(self, again: Sequence[str]) -> list[str]:
        """Say what else there is to know, and what comes next: `again` is the command that goes on with it."""
        lines: list[str] = []
        for line in said_of_trial(self):
            lines += wrapped(line, "", " " * 6, WIDTH)
        if self.failed:
            place = command_line((str(self.trial),))
            lines += note_lines(f"'fairtrial status {place}' says where their output is")
        if self.status != "complete":
            words, why = accepting(again, self.must_raise), raised_first(self.must_raise)
            return lines + next_lines(words, why)
        if self.already:
            return lines
        return lines + next_lines(("fairtrial", "verdict", str(self.trial)))

    def lines(self, again: Sequence[str], *, took_s: float | None = None) -> list[str]:
        """Say all of it; the arguments are those of `head` and `further`."""
        return [*self.head(took_s=took_s), *self.further(again)]

    def _head(self, took_s: float | None, fresh: int | None) -> str:
        failed = f", {self.failures}" if self.failures else ""
        if self.already:
            asked = f"; {self.judges}" if self.judges else ""
            done = f"complete already: {self.done:,} of {self.planned:,}{asked}{failed}"
            return f"{done}. More: --sessions +4"
        if self.status == "complete":
            told = "" if took_s is None else f" in {took(took_s)}"
            if fresh is not None and fresh < self.done:
                told = f", {fresh:,} of them now{told}"
            return f"done: {runs_with_warmups(self.done, self.warmups)}{told}{failed}"
        so_far = f"after {self.done:,} of {self.planned:,} runs"
        if self.status == "interrupted":
            kept = f"; all {self.done:,} are kept" if self.done else ""
            return f"stopped by you {so_far}{kept}{failed}"
        head = f"stopped {so_far}, all kept: {self.reason}"
        if self.unmeasured:
            verb = "has" if self.unmeasured == 1 else "have"
            head += f"; {counted(self.unmeasured, 'cell')} {verb} no run that counts"
        return f"{head}{failed}"
