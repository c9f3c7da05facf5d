"""Numbers and names as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from analysis.record import Disturbances, GivenUp, SessionEnd, StopRule

_ENDS_SHOWN = 8


def duration(seconds: float) -> str:
    """Write a measured time with three significant digits and a fitting unit."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        value = seconds * factor
        if value >= 0.9995:  # what rounds to 1.00
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def clock(seconds: float) -> str:
    """Write a waiting time as m:ss or h:mm:ss."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def moment(stamp: str) -> str:
    """Say a stored UTC time, such as 2026-11-21T08:43:55.502Z, to the second; others as they are."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    if time.utcoffset() != timedelta(0):
        return stamp
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def about(seconds: float) -> str:
    """Write an estimated time in words."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


def size(count: float) -> str:
    """Write a number of bytes with at most three digits and a fitting unit."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= 0.9995 * scale:  # what rounds to 1
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def counted(number: int, noun: str, several: str | None = None) -> str:
    """Write a number with its noun: ``1 event``, ``12 events``; `several` is a plural of its own."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {several or noun + 's'}"


def said_of_sessions(ends: Sequence[SessionEnd]) -> list[str]:
    """Say how the sessions under a stopping rule ended, the last ones when there are many."""
    ordered = sorted(ends, key=lambda end: end.session)
    shown = ordered[-_ENDS_SHOWN:]
    hidden = len(ordered) - len(shown)
    lines = (
        [f"  {counted(hidden, 'earlier session')}: see session_ends in manifest.json"]
        if hidden
        else []
    )
    return lines + [f"  session {end.session}: {end.text}" for end in shown]


def said_of_given_up(cells: Sequence[GivenUp]) -> list[str]:
    """Say which cells sessions went on without, the last ones when there are many."""
    shown = cells[-_ENDS_SHOWN:]
    hidden = len(cells) - len(shown)
    lines = [f"  {hidden} more given up: see given_up in manifest.json"] if hidden else []
    return lines + [
        f"  given up in session {one.session}: {one.benchmark} / {one.variant} ({one.why})"
        for one in shown
    ]


def said_of_disturbances(found: Disturbances | None, *, repeating: bool) -> list[str]:
    """Say how many runs waited for a CPU, and what became of them; nothing where none is known to have."""
    if found is None or not found.disturbed:
        return []
    said = f"  disturbed: {found.disturbed} of {counted(found.known, 'run')} waited for a CPU"
    if not repeating:
        return [f"{said}, and are kept"]
    kept = found.disturbed - found.mended
    replaced = f"{counted(found.repeats, 'repeat')} replaced {found.mended or 'none'} of them"
    rest = f", {kept} {'is' if kept == 1 else 'are'} judged as disturbed" if kept else ""
    return [f"{said}; {replaced}{rest}"]


def said_of_suspended(executions: int) -> list[str]:
    """Say how many executions were discarded because something stood still; nothing where none was."""
    if not executions:
        return []
    verb = "was" if executions == 1 else "were"
    return [
        f"  suspended: {counted(executions, 'execution')} {verb} discarded, because the launcher, fairtrial or "
        "the machine stood still: see findings.jsonl"
    ]


def said_of_rule(rule: StopRule) -> str:
    """Say when a session under a stopping rule ends."""
    cap = "" if rule.max_time_s is None else f", or when {about(rule.max_time_s)[6:]} have passed"
    return (
        f"each session ends when its intervals are {rule.width:g} wide or less, after"
        f" {rule.min_runs} to {rule.max_runs} runs a cell{cap}"
    )
