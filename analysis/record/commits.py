"""Commits as a record has them: how git is asked for them, and which folder is a bisection of them; the standard library only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..words import command_line, shown

# --- How git is asked: no program of a repository, no network, no lock, no other repository than the
# one that is named.
#
# Sources: git(1), githooks(5), git-config(1).


# fsmonitor is a program, and so are hooks
NO_PROGRAMS = ("core.hooksPath=/dev/null", "core.fsmonitor=false")
ALONE = {  # it asks nobody, and fetches nothing that nobody asked for
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_TRUST = re.compile(r"^\s*(git config --global --add safe\.directory .+)$", re.MULTILINE)


def with_settings(*settings: str) -> list[str]:
    """Give the options of git for these settings, ``NAME=VALUE`` each."""
    return [part for one in settings for part in ("-c", one)]


def for_reading(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables with which a repository is only read.

    None of git's own, such as ``GIT_DIR`` of a hook that starts fairtrial, leads elsewhere, and no
    protocol fetches what a partial clone lacks.
    """
    kept = {name: text for name, text in variables.items() if not name.startswith("GIT_")}
    return kept | ALONE | {"GIT_ALLOW_PROTOCOL": "none"}


def is_cut_off(text: str | bytes) -> bool:
    """Tell whether git's answer lacks its end: all that it lists has one, a newline or a null byte."""
    return text[-1:] not in {"", "\n", "\0", b"", b"\n", b"\0"}


def remedy_in(text: str) -> str | None:
    """Give the command with which git, as it says, reads a repository that another user owns."""
    found = _TRUST.search(text)
    return None if found is None else shown(found[1])


# --- A bisection's commits, and its folder: which one is such, which one a trial belongs to; the
# standard library only.


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
