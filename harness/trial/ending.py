"""How a trial ended, what a person is told then, and a command that goes on with it."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError
from analysis.record.trial_files import CAMPAIGN, GivenUp, Manifest, SessionEnd, TrialStatus

from ..errors import counted
from .wording import said_of_trial

if TYPE_CHECKING:
    from analysis.record.disturbance import Disturbances

    from .writer import Rows

RUN_CAP = "the cap"  # how the reason of a trial begins that has all the runs it may have


def way_on(again: str, must_raise: str | None = None) -> str:
    """Say how to go on by the command `again`; a cap that would stop it at once is raised first.

    A raised cap is a change of the campaign, which the command has to accept (`accepting`).
    """
    if must_raise is None:
        return f"continue: {again}"
    return f"to measure more: raise {must_raise} in the campaign, then {again}"


def accepting(again: str, must_raise: str | None) -> str:
    """Add to a command that it accepts the changed campaign, where one is needed."""
    return again if must_raise is None else f"{again} --accept-drift"


def command_to_continue(manifest: Manifest, trial: Path) -> str:
    """Give the command that goes on with a trial, wherever its campaign is.

    A comparison goes on in its list of looks; one whose only look was planned is measured anew.
    """
    if manifest.looks_plan is not None:
        if manifest.looks_plan.rule == "repeated":
            return f"fairtrial compare --resume {shlex.quote(str(trial))}"
        return f"fairtrial run {shlex.quote(str(trial / CAMPAIGN))}"
    campaign = shlex.quote(manifest.campaign_path)
    again = f"fairtrial run {campaign} --resume --trial {shlex.quote(str(trial))}"
    return accepting(again, must_raise(manifest))


def way_on_of(manifest: Manifest, trial: Path) -> str:
    """Say how to go on with a trial, from what is stored of it."""
    again = command_to_continue(manifest, trial)
    if manifest.looks_plan is not None:
        return way_on(again) if manifest.looks_plan.rule == "repeated" else f"measure anew: {again}"
    if not os.path.isfile(manifest.campaign_path):  # noqa: PTH113 - Path.is_file() raises on a name that is too long
        return (
            f"continue: put the campaign back ({trial / CAMPAIGN} is a copy of "
            f"{manifest.campaign_path}), then {again}"
        )
    return way_on(again, must_raise(manifest))


def refuse_comparison(path: Path, manifest: Manifest) -> None:
    """Refuse sessions that stand in no plan of looks: the answer of a comparison has been looked at."""
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


_SHOWN = 3  # cells with failed runs that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trial ended: its status and why, and how much of it is there.

    `planned` counts the runs that were needed. `capped` says that a cap stopped it: then `unmeasured`
    counts the cells of all sessions without a run that counts, and `must_raise` is the key to raise
    before more can be executed, if there is one. `disturbances` counts the runs that waited for a CPU,
    None where nothing was executed; `suspended` counts executions that were discarded because something
    stood still, `failed_cells` the failed runs of each "benchmark / variant" that has some.
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

    @classmethod
    def of(cls, trial: Path, manifest: Manifest, rows: Rows, **fields: Any) -> Ending:  # noqa: ANN401 - its fields
        """Make the ending of a trial from its manifest and rows; `fields` are those that differ."""
        known: dict[str, Any] = {
            "trial": trial,
            "done": rows.counted,
            "planned": manifest.needed,
            "failed": rows.failed.total(),
            "failed_cells": rows.failed,
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
        lines = [head, *said_of_trial(self)]
        lines += [] if self.failures is None else [self.failures]
        if self.status != "complete":
            again = accepting(again, self.must_raise)
            lines.append(way_on(again, self.must_raise))
        if self.done:
            lines.append(f"next: fairtrial verdict {self.trial}")
        return lines
