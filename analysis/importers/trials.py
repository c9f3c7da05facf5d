"""Trials as sources: how one is named, the newest where none is, and each read once.

A file, or a folder, of another tool is a trial as well: it is imported when it is read, into a place
that is gone afterwards. What it cannot tell is one of the trial's cautions.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.iterations.session_quantiles import of_one_basis
from ..data.trial import Trial, read_trial
from ..errors import FairtrialError, StoreError, UsageError
from ..record.bisections import way_to_bisections
from ..record.fleet import FLEET, Fleet, is_fleet, read_fleet, trial_place
from ..record.manifest import read_manifest
from ..record.trial_files import MANIFEST
from ..words import normal

if TYPE_CHECKING:
    from ..data.levels import Unit
    from ..data.number_text import Decimal
    from ..record.run_numbers import Better


def newest_trial(folder: Path = Path("runs")) -> Path:
    """Find the trial, or the fleet, in a folder that was begun last; others are passed over."""
    begun: list[tuple[str, str, Path]] = []
    places = sorted(folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
    for place in places:
        with contextlib.suppress(StoreError):
            manifest = read_manifest(place.parent)
            begun.append((manifest.started, manifest.trial, place.parent))
    for place in sorted(folder.glob(f"*/{FLEET}")) if folder.is_dir() else []:
        with contextlib.suppress(StoreError):
            fleet = read_fleet(place.parent)
            began = fleet.submitted_at or _first_start(place.parent, fleet)
            begun.append((began, place.parent.name, place.parent))
    if not begun:
        raise UsageError(
            "no trial is named, and there is none here",
            f"{folder}/",
            way_to_bisections(folder)
            or "name a trial, such as runs/NAME, or measure one: fairtrial run campaign.yaml",
        )
    return max(begun)[2]


def _first_start(folder: Path, fleet: Fleet) -> str:
    """Give when the first trial of a fleet began that was put together by hand; "" if unknown."""
    starts = []
    for host in fleet.hosts:
        with contextlib.suppress(StoreError):
            starts.append(read_manifest(trial_place(folder, host)).started)
    return min(starts, default="")


# numbers, which commands read as matrices
_BARE = ("wide-csv", "matrix", "numbers", "speedup-test")


def is_file(text: str) -> bool:
    """Tell whether there is such a file; a text that cannot be a path at all names none."""
    return "\0" not in text and os.path.isfile(text)  # noqa: PTH113 - Path.is_file() raises on a name that is too long


def is_foreign(path: Path) -> bool:
    """Tell whether a file, or a folder that is no trial, is another tool's: by its content.

    A file that two formats know is one as well: reading it says which, and what to do.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    return _is_foreign(str(path), status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=256)
def _is_foreign(path: str, _mtime: int, _size: int) -> bool:
    if os.path.lexists(os.path.join(path, MANIFEST)) or is_fleet(path):  # noqa: PTH118 - a trial; most sources are
        return False
    from ..data.opening import open_foreign  # no trial of ours needs the readers of foreign files
    from .registry import tool_of

    try:
        return tool_of(open_foreign(path)).name not in _BARE
    except FairtrialError as error:
        # what is damaged, unreadable or of two formats is told by who reads it as such
        return "no format is known" not in error.what and "trials of fairtrial" not in error.what


def trial_and_variant(text: str) -> tuple[Path, str | None] | None:
    """Split ``runs/NAME:VARIANT``, or take ``runs/NAME``; None when no trial is named.

    Files and folders of other tools count as trials. Names may hold colons: the longest path that is
    there is the trial's.
    """
    if "\0" in text:
        return None
    # Path.is_dir() raises on a name that is too long
    there = [one for one in _splits(text) if os.path.isdir(one[0]) or is_file(one[0])]  # noqa: PTH112
    if not there:
        return None
    (path, variant), *shorter = there
    others = [f"the variant {v!r} of {p}" for p, v in shorter if v and _has_variant(Path(p), v)]
    if others:
        first = f"the {'folder' if Path(path).is_dir() else 'file'} {path}"
        if variant is not None:
            first = f"the variant {variant!r} of {path}"
        raise UsageError(
            f"this may be {first}, or {', or '.join(others)}",
            text,
            "rename one of them, or import the file whose variant is meant under another name: "
            "fairtrial import FILE -o runs/NAME",
        )
    if Path(path).is_dir() or is_foreign(Path(path)):
        return Path(path), None if variant is None else _as_named(Path(path), variant)
    return None


def _as_named(path: Path, variant: str) -> str:
    """Give a variant's name as a trial has it: in its normal form, but for names of other tools."""
    return variant if variant.isascii() or _has_variant(path, variant) else normal(variant)


def _has_variant(path: Path, variant: str) -> bool:
    better: tuple[Better | None, ...] = (None, "lower")  # the names are the same in any direction
    for direction in better:
        with contextlib.suppress(FairtrialError):
            return variant in open_trial(path, better=direction).manifest.variants
    return False


def _splits(text: str) -> Iterator[tuple[str, str | None]]:
    """Give the ways to read PATH:VARIANT, the longest path first."""
    yield text, None
    place = text.rfind(":")
    while place > 0:
        yield text[:place], text[place + 1 :]
        place = text.rfind(":", 0, place)


def open_trial(
    path: Path,
    level: str = "process",
    better: Better | None = None,
    *,
    by: Unit = "host",
    decimal: Decimal | None = None,
) -> Trial:
    """Read a trial directory, a fleet, or a file or folder of another tool.

    A fleet is one trial here, whose sessions are its hosts or those of its hosts; a caution says so.
    """
    if is_fleet(path):
        from ..data.fleet import open_fleet
        from ..data.fleet_as_trial import joined_trial

        return replace(joined_trial(open_fleet(path), by=by), level=level)
    if is_foreign(path):
        return replace(_imported(path, better, decimal), level=level)
    if not (is_file(str(path)) or trial_and_variant(str(path)) == (path, None)):
        raise StoreError(
            "there is no such trial",
            str(path),
            "name the directory that 'fairtrial run' printed, such as runs/NAME, or a file of another "
            "tool",
        )
    return replace(read_trial(path), level=level)


def _imported(path: Path, better: Better | None, decimal: Decimal | None) -> Trial:
    """Read a foreign file as the trial that ``fairtrial import`` would make of it."""
    from ..data.opening import open_foreign
    from .gathering import gather
    from .importing import import_files
    from .naming import ReadingChoices
    from .registry import read_foreign

    try:
        file = read_foreign(open_foreign(str(path), decimal=decimal))
    except FairtrialError as error:
        if re.search(r"--(format|encoding)\b", error.fix or ""):
            error.fix = f"{error.fix}: fairtrial import {path} -o runs/NAME"
        raise
    gathered = gather([file], ReadingChoices(better=better))
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        folder = Path(place) / (path.name or "imported")
        import_files(gathered, folder, better=better)
        trial = read_trial(folder)
    return replace(trial, path=path)


class OpenedTrials:
    """The trials that one call has read: reading is most of what a command does."""

    def __init__(self, better: Better | None = None, decimal: Decimal | None = None) -> None:
        self._better, self._decimal = better, decimal
        self._trials: dict[Path, Trial] = {}

    def read(self, path: Path) -> Trial:
        """Read a trial, the first time that it is asked for."""
        if path not in self._trials:
            self._trials[path] = open_trial(path, better=self._better, decimal=self._decimal)
        return self._trials[path]

    def compare(self, paths: Iterable[Path], metric: str) -> None:
        """Have the trials give values of a metric that can be compared with each other's."""
        paths = tuple(dict.fromkeys(paths))
        if len(paths) > 1:
            trials = of_one_basis([self.read(path) for path in paths], metric)
            self._trials.update(zip(paths, trials, strict=True))
