"""How a trial ended, what a person reads then, and a command that goes on with it."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.announcing import about
from analysis.errors import FairtrialError, StoreError
from analysis.record.manifest import bisection_of_trial, is_here
from analysis.record.run_numbers import Disturbances, DisturbanceTally
from analysis.record.trial_files import (
    CAMPAIGN,
    GivenUp,
    Manifest,
    SessionEnd,
    StopRule,
    TrialStatus,
)
from analysis.record.yaml_reader import read_bytes
from analysis.words import WIDTH, Name, command_line, next_lines, note_lines

from ..campaign.resolve import load_campaign
from ..campaign.schema import identity_of
from ..errors import counted, took, wrapped


class RowCounts:
    """What the rows of a trial add up to: `counted` planned runs.

    `failed_how` counts by cell and outcome the planned runs and repeats that were not ok, `failed_warmups` those of
    them that are warm-ups, and `warmups` all planned ones; `suspended` the executions that were discarded because
    something stood still.
    """

    def __init__(self) -> None:
        self.counted = self.warmups = self.failed_warmups = self.suspended = 0
        self.failed_how: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.disturbances = DisturbanceTally()

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row."""
        planned, outcome = row["position"] >= 0, row["outcome"]
        self.counted += planned
        self.warmups += planned and bool(row["warmup"])
        self.disturbances.add(row)
        self.suspended += row.get("suspended") or 0
        if outcome != "ok" and (planned or row.get("repeats") is not None):
            self.failed_how[f"{row['benchmark']} / {row['variant']}"][outcome] += 1
            self.failed_warmups += bool(row["warmup"])

    @property
    def fields(self) -> dict[str, Any]:
        """Give them as the fields of an ending, or of a trial's progress."""
        return {
            "failed_how": {cell: dict(how) for cell, how in self.failed_how.items()},
            "failed_warmups": self.failed_warmups,
            "warmups": self.warmups,
            "suspended": self.suspended,
        }


# --- What is said of a trial's sessions: how they ended, what was given up, disturbed or suspended.


_ENDS_SHOWN = 8
_CELLS_SHOWN = 3  # with failed runs, that are named


def session_lines(ends: Sequence[SessionEnd]) -> list[str]:
    """Say how the sessions under a stopping rule ended, the last ones when there are many."""
    ordered = sorted(ends, key=lambda end: end.session)
    shown = ordered[-_ENDS_SHOWN:]
    hidden = len(ordered) - len(shown)
    earlier = f"  {counted(hidden, 'earlier session')}: see session_ends in manifest.json"
    return [earlier] * bool(hidden) + [f"  session {end.session}: {end.text}" for end in shown]


def given_up_lines(cells: Sequence[GivenUp]) -> list[str]:
    """Say which cells sessions, or all of the trial, went on without, the last ones when there are many.

    Cells of the same reason stand together.
    """
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for one in cells:
        what = "left out" if one.never_ok else f"given up in session {one.session}"
        alike.setdefault((what, one.why), {})[f"{one.benchmark} / {one.variant}"] = None
    shown = [*alike.items()][-_ENDS_SHOWN:]
    hidden = sum(map(len, alike.values())) - sum(len(each) for _, each in shown)
    return [f"  {hidden} more given up: see given_up in manifest.json"] * bool(hidden) + [
        f"  {what}: {_first(_ENDS_SHOWN, [*each], ', ')} ({why})" for (what, why), each in shown
    ]


def runs_with_warmups(runs: int, warmups: int) -> str:
    """Count runs, warm-ups among them, as everywhere: ``144 runs (24 warm-up)``."""
    return counted(runs, "run") + (f" ({warmups:,} warm-up)" if warmups else "")


def failed_runs(failed: int, warmups: int) -> str:
    """Count failed runs, `warmups` of them warm-ups: ``12 failed, and 1 warm-up``."""
    if failed == warmups:
        return f"{counted(warmups, 'warm-up')} failed"
    more = f", and {counted(warmups, 'warm-up')}" if warmups else ""
    return f"{failed - warmups:,} failed{more}"


def failures_text(how: Mapping[str, Mapping[str, int]]) -> str:
    """Say which cells failed, the worst first, and how: ``logs / gzip-9: timeout``."""
    worst = sorted(how.items(), key=lambda one: -sum(one[1].values()))
    alone = len(worst) == 1 and len(worst[0][1]) == 1  # the number stands before it
    named = [
        f"{Name(cell):.40}: "
        + ", ".join(outcome if alone else f"{count} {outcome}" for outcome, count in found.items())
        for cell, found in worst
    ]
    return _first(_CELLS_SHOWN, named, "; ")


def _first(most: int, cells: Sequence[str], between: str) -> str:
    hidden = len(cells) - most
    more = f" and {counted(hidden, 'more cell')}" if hidden > 0 else ""
    return between.join(cells[:most]) + more


def ending_lines(
    ends: Sequence[SessionEnd], given_up: Sequence[GivenUp], disturbances: Disturbances | None, suspended: int,
    *, repeating: bool,
) -> list[str]:  # fmt: skip
    """Say how a trial's sessions ended, and what of its runs was given up, disturbed or suspended."""
    lines = session_lines(ends) + given_up_lines(given_up)
    lines += _disturbance_lines(disturbances, repeating=repeating)
    if suspended:
        verb = "was" if suspended == 1 else "were"
        lines.append(
            f"  suspended: {counted(suspended, 'execution')} {verb} discarded, because the launcher, "
            "fairtrial or the machine stood still: see findings.jsonl"
        )
    return lines


def _disturbance_lines(found: Disturbances | None, *, repeating: bool) -> list[str]:
    if found is None or not found.disturbed:
        return []
    text = f"  disturbed: {found.disturbed} of {counted(found.known, 'run')} waited for a CPU"
    if not repeating:
        return [f"{text}, and are kept"]
    kept = found.disturbed - found.mended
    replaced = f"{counted(found.repeats, 'repeat')} replaced {found.mended or 'none'}"
    rest = f", {kept} {'is' if kept == 1 else 'are'} left" if kept else ""
    return [f"{text}; {replaced}{rest}"]


def rule_text(rule: StopRule) -> str:
    """Say when a session under a stopping rule ends."""
    cap = "" if rule.max_time_s is None else f", or when {about(rule.max_time_s)[6:]} have passed"
    return (
        f"each session ends when its intervals are {rule.width:g} wide or less, after"
        f" {rule.min_runs} to {rule.max_runs} runs a cell{cap}"
    )


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
        return "once the campaign says 'never_ok: go_on'; a corrected program needs a new trial"
    return "" if must_raise is None else f"once {must_raise} is raised in the campaign"


def done_first(manifest: Manifest, trial: Path) -> str:
    """Say what has to be done before a trial can go on, or that it does not; nothing where it can."""
    if bisection_of_trial(trial) is not None:
        return ""
    if manifest.looks_plan is not None:
        return "" if manifest.looks_plan.rule == "repeated" else "measures it anew"
    if not is_here(manifest.campaign_path):
        return f"once the campaign is put back: {trial / CAMPAIGN} is a copy"
    if must_raise(manifest) is None and _is_changed(Path(manifest.campaign_path), manifest, trial):
        return f"once the campaign is as it was: {trial / CAMPAIGN} is a copy"
    return raised_first(must_raise(manifest))


def _is_changed(campaign: Path, manifest: Manifest, trial: Path) -> bool:
    """Tell whether a campaign's file says now what a trial does not go on with; other bytes alone are no change."""
    try:
        if read_bytes(campaign) == read_bytes(trial / CAMPAIGN):
            return False
        now = load_campaign(campaign, seed=manifest.seed)
    except FairtrialError:
        return True
    return identity_of(now, manifest.campaign_identity) != manifest.campaign_sha256


def way_on_of(manifest: Manifest, trial: Path) -> str:
    """Say how to go on with a trial, in one line that is not broken."""
    again = command_line(command_to_continue(manifest, trial))
    return "    ".join(filter(None, (again, done_first(manifest, trial))))


def refuse_comparison(path: Path, manifest: Manifest) -> None:
    """Refuse sessions that stand in no plan of looks: the answer of a comparison has been looked at."""
    what = None
    if bisection_of_trial(path) is not None:
        what = "this trial belongs to a bisection, which alone adds sessions to it"
    elif manifest.looks_plan is not None:
        what = "this trial is a comparison, whose sessions are looked at by a plan: 'run' cannot add to it"
    if what is not None:
        raise StoreError(what, str(path), way_on_of(manifest, path))


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
    def of(cls, trial: Path, manifest: Manifest, rows: RowCounts, **fields: Any) -> Ending:  # noqa: ANN401 - its fields
        """Make the ending of a trial from its manifest and rows; `fields` are those that differ."""
        known: dict[str, Any] = {
            "trial": trial,
            "done": rows.counted,
            "planned": manifest.needed,
            "failed": sum(how.total() for how in rows.failed_how.values()),
            "failed_cells": {cell: how.total() for cell, how in rows.failed_how.items()},
            "session_ends": manifest.session_ends,
            "given_up": manifest.given_up,
            "repeating": manifest.repeating,
        }
        return cls(**known | rows.fields | fields)

    def to_dict(self) -> dict[str, Any]:
        """Give the ending as JSON types."""
        return {
            **dataclasses.asdict(self),
            "trial": str(self.trial),
            "session_ends": [end.to_dict() for end in self.session_ends],
            "given_up": [one.to_dict() for one in self.given_up],
        }

    @property
    def failures(self) -> str | None:
        """How many runs failed, in which cells and how; None where none did."""
        if not self.failed:
            return None
        return f"{failed_runs(self.failed, self.failed_warmups)} ({failures_text(self.failed_how)})"

    def head(self, *, took_s: float | None = None, fresh: int | None = None) -> list[str]:
        """Say how it ended, what is kept and what failed.

        `took_s` is how long was measured now, in seconds, `fresh` how many runs were executed in that time.
        """
        head = self._head(took_s, fresh)
        one_line = f"{head}    {self.trial}"
        return [one_line] if len(one_line) <= WIDTH else wrapped(head, "", " " * 6, WIDTH)

    def further(self, again: Sequence[str]) -> list[str]:
        """Say what else there is to know, and what comes next: `again` is the command that goes on with it."""
        lines: list[str] = []
        known = self.session_ends, self.given_up, self.disturbances, self.suspended
        for line in ending_lines(*known, repeating=self.repeating):
            lines += wrapped(line, "", " " * 6, WIDTH)
        if self.failed:
            status = command_line(("fairtrial", "status", str(self.trial)))
            lines += note_lines(f"'{status}' says where their output is")
        if self.status != "complete":
            words, why = accepting(again, self.must_raise), raised_first(self.must_raise)
            return lines + next_lines(words, why)
        if self.already:
            return lines + next_lines((*again, "--sessions", "+4"), "adds sessions")
        return lines + next_lines(("fairtrial", "verdict", str(self.trial)))

    def lines(self, again: Sequence[str], *, took_s: float | None = None) -> list[str]:
        """Say all of it; the arguments are those of `head` and `further`."""
        return [*self.head(took_s=took_s), *self.further(again)]

    def _head(self, took_s: float | None, fresh: int | None) -> str:
        failed = f", {self.failures}" if self.failures else ""
        if self.already:
            asked = f"; {self.judges}" if self.judges else ""
            return f"complete already: {self.done:,} of {self.planned:,}{asked}{failed}"
        if self.status == "complete":
            text = "" if took_s is None else f" in {took(took_s)}"
            if fresh is not None and fresh < self.done:
                text = f", {fresh:,} of them now{text}"
            return f"done: {runs_with_warmups(self.done, self.warmups)}{text}{failed}"
        so_far = f"after {self.done:,} of {self.planned:,} runs"
        if self.status == "interrupted":
            kept = f"; all {self.done:,} are kept" if self.done else ""
            return f"stopped by you {so_far}{kept}{failed}"
        head = f"stopped {so_far}, all kept: {self.reason}"
        if self.unmeasured:
            head += f"; no run counts in {counted(self.unmeasured, 'cell')} of all sessions"
        return f"{head}{failed}"
