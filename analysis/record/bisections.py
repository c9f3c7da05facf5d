"""A bisection's commits, and its folder: which one is such, which one a trial belongs to; the standard library only."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..words import command_line

BISECTION = "bisect.json"  # the file that says what was asked and found
_ABOVE = 2  # folders between a trial and its bisection at most: search/NNNN-sha7


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommit:
    """A commit: its place (0 is good), SHA, subject, author and date, as git has them."""

    place: int
    commit: str
    subject: str
    author: str
    date: str

    @property
    def short(self) -> str:
        """The SHA's first seven signs."""
        return self.commit[:7]

    @property
    def variant(self) -> str:
        """What its variant in the trials is called."""
        return f"{self.place:04d}-{self.short}"


def is_bisection(path: str | Path) -> bool:
    """Tell whether a folder holds ``bisect.json``; what cannot be looked at is none."""
    try:
        return os.path.lexists(os.path.join(path, BISECTION))  # noqa: PTH118 - Path raises on a name that is too long
    except ValueError:  # a zero byte
        return False


def bisection_of_trial(trial: Path) -> Path | None:
    """Give the bisection that a trial's sessions belong to; None of other trials."""
    above = list(trial.absolute().parents)[:_ABOVE]
    for number, folder in enumerate(above, 1):
        if is_bisection(folder):
            return Path(*trial.parts[:-number]) if len(trial.parts) > number else folder
    return None


def way_to_bisections(folder: Path) -> str | None:
    """Say how the newest bisection in a folder is read, for who looks for trials there; None without one."""
    found: list[tuple[int, Path]] = []
    with suppress(OSError, ValueError):  # no folder, or one that may not be read
        for path in folder.iterdir():
            with suppress(OSError):
                found.append((os.lstat(path / BISECTION).st_mtime_ns, path))
    if not found:
        return None
    _, newest = max(found)
    words = command_line(("fairtrial", "status", str(newest)))
    return f"a bisection lies there: {words}; its trials are named one by one, such as {newest / 'step0'}"
