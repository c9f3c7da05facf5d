"""What a comparison's reader should note, and the one command that comes next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...pages.model import Next
from ...pages.number_format import listed
from .table_numbers import time_text

if TYPE_CHECKING:
    from .answer import CompareAnswer, ComparedCommand

MOST_NOTES = 3
_SHORT_S = 0.005  # below it, starting a process is most of a run
_HOPELESS = 100  # times the time that was spent
_HOUR_S = 3600.0
_MOST_MARGIN = 10  # per cent; a wider one answers no question
_STEPS_S = (20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600)
_LAST_LOOK = 108
_SESSIONS = 2  # fewer say nothing about a difference


def notes_of(answer: CompareAnswer) -> list[str]:
    """Give the sentences that a reader needs beside the numbers, those that change them most first."""
    found: list[str] = []
    for one in answer.commands:
        if one.failing is not None and (one.answered or one is answer.base):
            left = f"and {'is' if one.failing.failed == 1 else 'are'} left out"
            if one.times.cut:
                left = f"and {one.times.cut} of them count with their limit, as at least that"
            found.append(f"{one.failing.said} of {one.shown} failed {left} ({one.failing.how})")
        elif one.failing is not None and len(answer.others) > 1:
            found.append(
                f"no answer for {one.shown}: {one.failing.said} failed ({one.failing.how})"
            )
    found += answer.said
    if answer.stopped_because == "depends":
        found.append("sessions resemble their neighbours: no word is safe; measure again later")
    if answer.stopped_because == "interrupted":
        found.append("stopped by you: this is what was measured until then")
    if not answer.looked_at and answer.others and answer.verdict.sessions < _SESSIONS:
        found.append("one session tells nothing of another: times, and no word")
    short = [one for one in answer.commands if one.times.mean and one.times.mean < _SHORT_S]
    if short:
        least = min(one.times.mean for one in short if one.times.mean)
        found.append(f"a run is {time_text(least)}: starting a process is most of it")
    count = len(answer.others)
    if count > 1:
        level = 100 * (1 - (1 - answer.verdict.confidence) / count)
        found.append(
            f"{len(answer.commands)} commands: each interval is at {level:.4g} %, so {_number(count)} "
            f"hold together in {100 * answer.verdict.confidence:g} %"
        )
    return found


def next_step(answer: CompareAnswer) -> Next | None:
    """Give the command that comes next, and what it is for; None where nothing was measured."""
    trial = answer.verdict.path or answer.verdict.trial or ""
    if not answer.answered:
        return Next(("fairtrial", "status", trial), "which runs failed, and how")
    if answer.stopped_because == "interrupted" and (_unsettled(answer) or not answer.others):
        return Next(_resume(answer), "goes on")
    unsettled = _unsettled(answer)
    if not unsettled:
        where = (trial,) if answer.folder else ()
        return Next(("fairtrial", "report", *where, "-o", "report.html"), "every run, as a page")
    names = listed([one.shown for one in unsettled], 2)
    if answer.stopped_because == "depends":
        return Next(_resume(answer), "later: adds sessions of another time")
    if answer.stopped_because == "runs":
        return Next(_anew(answer), "looks until it is certain")
    wanted = answer.wanted_s
    if wanted is not None and (wanted > _HOPELESS * answer.seconds or wanted > _HOUR_S):
        percent = _margin_percent(answer)
        if percent > _MOST_MARGIN:
            why = "nothing within an hour would settle it: "
            if any(one.code == "modes" for one in answer.verdict.cautions):  # no host's fault
                return Next(("fairtrial", "sources", trial), f"{why}what makes the modes")
            return Next(("fairtrial", "doctor"), f"{why}a quieter host, or longer runs")
        return Next(
            _anew(answer, "--margin", f"{percent}%"),
            "nothing within an hour would settle it: a wider margin, or longer runs",
        )
    last = answer.looked_at[-1] if answer.looked_at else 0
    if last >= _LAST_LOOK and not answer.open_list:
        return Next(_anew(answer, "--open"), "this list has no more looks: a new compare")
    if wanted is None:
        return Next((*_resume(answer), "--for", "60s"), f"more sessions for {names}")
    settles = (
        "settles it with a chance of 80 %" if len(answer.others) == 1 else f"would settle {names}"
    )
    return Next((*_resume(answer), "--for", duration_text(wanted)), settles)


def _unsettled(answer: CompareAnswer) -> list[ComparedCommand]:
    """List the commands that are undecided against the baseline, or that may be the fastest."""
    tied: set[str] = set()
    if answer.standing is not None and answer.standing.beside:
        tied = {answer.standing.leader, *answer.standing.beside}
    return [one for one in answer.commands if one in answer.open or one.variant in tied]


def duration_text(seconds: float) -> str:
    """Round a time up to one that a person would type: ``90s``, ``2m``, ``45m``."""
    step = next((one for one in _STEPS_S if one >= seconds), None)
    if step is None:
        return f"{math.ceil(seconds / _HOUR_S)}h"
    return f"{step}s" if step < 120 else f"{step // 60}m"


def _resume(answer: CompareAnswer) -> tuple[str, ...]:
    named = (answer.verdict.path or "",) if answer.folder else ()
    return ("fairtrial", "compare", "--resume", *named)


def _anew(answer: CompareAnswer, *options: str) -> tuple[str, ...]:
    words = answer.again or tuple(one.command for one in answer.commands)
    return ("fairtrial", "compare", *options, *words)


def _margin_percent(answer: CompareAnswer) -> int:
    """Give the per cent within which both ends of every undecided interval lie, rounded up."""
    ends = [
        abs(end - 1)
        for one in answer.open
        if (told := one.difference) is not None
        for end in (told.low, told.high)
        if end is not None
    ]
    return max(
        math.ceil(100 * max(ends, default=0.01)), math.floor(100 * answer.verdict.margin) + 1
    )


def _number(count: int) -> str:
    words = {2: "both", 3: "all three", 4: "all four", 5: "all five", 6: "all six"}
    return words.get(count, f"all {count}")
