"""Orders commits as a repository's history does; git is asked, and nothing is written."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...errors import StoreError, UsageError
from ...record.asking_git import NO_PROGRAMS, for_reading, is_cut_off, remedy_in, with_settings

_NAME = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])")
_SECONDS = 60


def commits_in(text: str) -> tuple[str, ...]:
    """Give what in a name may be a commit."""
    return tuple(dict.fromkeys(_NAME.findall(text)))


def without_commits(text: str) -> str:
    """Give a name without what may be a commit in it; a word without a digit is taken for a word."""
    return _NAME.sub(lambda match: "" if any(map(str.isdigit, match[0])) else match[0], text)


def repository_of(places: Iterable[Path]) -> Path | None:
    """Give the first of these folders that lies in a git repository; None where none does.

    Raises UsageError where git refuses one because another user owns it.
    """
    for place in dict.fromkeys(places):
        if _git(place, "rev-parse", "--git-dir"):
            return place
    return None


def places_of_commits(repository: Path, names: Iterable[str]) -> Mapping[str, int]:
    """Give the place in history of each name that is a commit there, parents before children."""
    known: dict[str, list[str]] = {}
    wanted = list(dict.fromkeys(names))
    for name, sha in zip(wanted, _resolved(repository, wanted), strict=True):
        if sha is not None:
            known.setdefault(sha, []).append(name)
    if not known:
        return {}
    told = _git(repository, "rev-list", "--topo-order", "--reverse", *known) or ""
    order = {sha: k for k, sha in enumerate(told.split()) if sha in known}
    if not known.keys() <= order.keys():
        raise _cut_off(repository)
    return {name: order[sha] for sha, all_ in known.items() for name in all_}


def _resolved(repository: Path, names: list[str]) -> Iterator[str | None]:
    asked = "".join(f"{name}^{{commit}}\n" for name in names)
    told = _git(repository, "cat-file", "--batch-check=%(objectname)", asked=asked)
    lines = [""] * len(names) if told is None else told.splitlines()
    if len(lines) != len(names):
        raise _cut_off(repository)
    for line in lines:
        yield line if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", line) else None


def _git(place: Path, *words: str, asked: str = "") -> str | None:
    """Give what git says; None where there is no git, or it has no answer."""
    try:
        done = subprocess.run(
            ["git", *with_settings(*NO_PROGRAMS), "-C", str(place), *words],
            input=asked,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            env=for_reading(os.environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode and (fix := remedy_in(done.stderr)) is not None:
        what = "git refuses the repository that knows the order of commits: another user owns it"
        raise UsageError(what, str(place), fix)
    if done.returncode == 0 and is_cut_off(done.stdout):
        raise _cut_off(place)
    return done.stdout if done.returncode == 0 else None


def _cut_off(place: Path) -> StoreError:
    return StoreError("git's answer is cut off: the order of commits is not known", str(place))
