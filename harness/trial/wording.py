"""What is said of a trial's sessions: how they ended, what was given up, disturbed or suspended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.words import shorten

from ..errors import about, counted

if TYPE_CHECKING:
    from analysis.record.disturbance import Disturbances
    from analysis.record.trial_files import GivenUp, SessionEnd, StopRule

    from .ending import Ending
    from .progress import TrialProgress

_ENDS_SHOWN = 8
_CELLS_SHOWN = 3  # with failed runs, that are named
_CELL = 40  # columns of the name of one


def said_of_sessions(ends: Sequence[SessionEnd]) -> list[str]:
    """Say how the sessions under a stopping rule ended, the last ones when there are many."""
    ordered = sorted(ends, key=lambda end: end.session)
    shown = ordered[-_ENDS_SHOWN:]
    hidden = len(ordered) - len(shown)
    earlier = f"  {counted(hidden, 'earlier session')}: see session_ends in manifest.json"
    return [earlier] * bool(hidden) + [f"  session {end.session}: {end.text}" for end in shown]


def said_of_given_up(cells: Sequence[GivenUp]) -> list[str]:
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
    return f"{failed - warmups:,} failed" + (
        f", and {counted(warmups, 'warm-up')}" if warmups else ""
    )


def said_of_failures(how: Mapping[str, Mapping[str, int]]) -> str:
    """Say which cells failed, the worst first, and how: ``logs / gzip-9: timeout``."""
    worst = sorted(how.items(), key=lambda one: -sum(one[1].values()))
    alone = len(worst) == 1 and len(worst[0][1]) == 1  # the number stands before it
    named = [
        f"{shorten(cell, _CELL)}: "
        + ", ".join(outcome if alone else f"{count} {outcome}" for outcome, count in found.items())
        for cell, found in worst
    ]
    return _first(_CELLS_SHOWN, named, "; ")


def _first(most: int, cells: Sequence[str], between: str) -> str:
    hidden = len(cells) - most
    more = f" and {counted(hidden, 'more cell')}" if hidden > 0 else ""
    return between.join(cells[:most]) + more


def said_of_trial(trial: Ending | TrialProgress) -> list[str]:
    """Say how its sessions ended, and what of its runs was given up, disturbed or suspended."""
    lines = said_of_sessions(trial.session_ends) + said_of_given_up(trial.given_up)
    lines += _said_of_disturbances(trial.disturbances, repeating=trial.repeating)
    if trial.suspended:
        verb = "was" if trial.suspended == 1 else "were"
        lines.append(
            f"  suspended: {counted(trial.suspended, 'execution')} {verb} discarded, because the launcher, "
            "fairtrial or the machine stood still: see findings.jsonl"
        )
    return lines


def _said_of_disturbances(found: Disturbances | None, *, repeating: bool) -> list[str]:
    if found is None or not found.disturbed:
        return []
    said = f"  disturbed: {found.disturbed} of {counted(found.known, 'run')} waited for a CPU"
    if not repeating:
        return [f"{said}, and are kept"]
    kept = found.disturbed - found.mended
    replaced = f"{counted(found.repeats, 'repeat')} replaced {found.mended or 'none'}"
    rest = f", {kept} {'is' if kept == 1 else 'are'} left" if kept else ""
    return [f"{said}; {replaced}{rest}"]


def said_of_rule(rule: StopRule) -> str:
    """Say when a session under a stopping rule ends."""
    cap = "" if rule.max_time_s is None else f", or when {about(rule.max_time_s)[6:]} have passed"
    return (
        f"each session ends when its intervals are {rule.width:g} wide or less, after"
        f" {rule.min_runs} to {rule.max_runs} runs a cell{cap}"
    )
