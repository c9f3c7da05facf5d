"""The runner's branch of the error tree, and how its messages set numbers and names."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from datetime import datetime, timedelta

from analysis.errors import FairtrialError, StoreError
from analysis.words import WIDTH, next_lines, note_lines


class HostError(FairtrialError):
    """The host is not fit to measure: a required check failed, or a setting is not permitted."""

    exit_code = 3


class LaunchError(FairtrialError):
    """A program, a build step or the launcher itself could not be started."""

    exit_code = 4


class LauncherDiedError(LaunchError):
    """A launcher was killed or crashed while it was needed."""


class DriftError(StoreError):
    """A trial is not resumed because something has changed: `drifts` say what, `again` measures anew.

    A comparison, a search, and a trial whose plan is another one take no change: nothing `accepts` it.
    """

    def __init__(
        self,
        path: str,
        drifts: Sequence[str],
        again: Sequence[str],
        *,
        complete: bool,
        accepts: bool,
    ) -> None:
        self.drifts, self.again = tuple(drifts), again
        # of a complete trial nothing is left to accept the change for
        goes, more = "it goes on", ""
        if complete:
            goes, more = "it is complete: more sessions under the change", "--sessions +1 "
        way = f"start a new trial; {goes} with {more}--accept-drift, and the change is then recorded in the trial"
        way = f"put it back as it was, or {way if accepts else 'measure anew'}"
        super().__init__("\n".join(drifts), path, way)

    def __str__(self) -> str:
        lines: list[str] = []
        for number, what in enumerate(self.drifts):
            begin = "" if number else "not resumed: "
            for line in f"{begin}{what}".splitlines():
                lines += wrapped(line, "    " * bool(lines), "    ", WIDTH)
        lines += note_lines(f"{self.where}: {self.fix}")
        return "\n".join(lines + next_lines(self.again, "a new trial"))


def wrapped(text: str, first: str, further: str, width: int) -> list[str]:
    """Set a text in lines behind `first` and `further`; no word is broken, and ``5 %`` stays together."""
    lines = textwrap.wrap(
        re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text),
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [re.sub(r"(?<=\d)\N{NO-BREAK SPACE}(?=%)", " ", line) for line in lines]


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


def took(seconds: float) -> str:
    """Write a time that has passed in words: ``0.4 s``, ``45 s``, ``6 min 50 s``, ``2 h 5 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        parts = (minutes, "min"), (rest, "s")
    else:
        hours, minutes = divmod(round(seconds / 60), 60)
        parts = (hours, "h"), (minutes, "min")
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def about_exactly(seconds: float) -> str:
    """Write an estimated time in words, as exactly as it can be known: ``about 2 min 50 s``."""
    step = 1 if seconds < 60 else 10 if seconds < 600 else 60
    return f"about {took(max(1.0, round(seconds / step)) * step)}".replace(".0 s", " s")


def moment(stamp: str) -> str:
    """Say a stored UTC time, such as 2026-11-21T08:43:55.502Z, to the second; others as they are."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    return stamp if time.utcoffset() != timedelta(0) else f"{time:%Y-%m-%d %H:%M:%S} UTC"


def size(count: float) -> str:
    """Write a number of bytes with at most three digits and a fitting unit."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= 0.9995 * scale:  # what rounds to 1
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def counted(number: int, noun: str, several: str | None = None) -> str:
    """Write a number with its noun: ``1 event``, ``12 events``; `several` is a plural of its own."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {several or noun + 's'}"
