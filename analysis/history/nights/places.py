"""Which trials, fleets and files of other tools are nights: those given, or all below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ...errors import StoreError, UsageError
from ...importers.trials import is_file, is_foreign
from ...record.bisections import BISECTION
from ...record.fleet import is_fleet, read_fleet, trial_place
from ...record.manifest import read_manifest
from ...record.profiles import is_profiles
from ...record.shapes import ShapeError, opened, parse
from ...record.trial_files import CERTIFICATES, IMPORT, MANIFEST, OUTPUTS
from .dates import date_in, first_date
from .model import moment_of
from .trial_values import first_start

_DEEPEST = 8
_LAST = datetime.max.replace(tzinfo=UTC)

_UNDATED = "when it was measured is known neither from its files nor from its name"

Kind = Literal["trial", "fleet", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightPlace:
    """Where a night lies, and what of it is known before it is read.

    `campaign`: The campaign's name. `started_at`: When its first run started; None where that is
    unknown. `trials`: The names of the trials whose runs it holds, with when they began. `trouble`: Why
    it cannot be read.
    """

    path: Path
    kind: Kind
    name: str
    campaign: str = ""
    started_at: str | None = None
    trials: frozenset[tuple[str, str]] = frozenset()
    trouble: str | None = None


def places_in(given: Sequence[str | Path]) -> tuple[NightPlace, ...]:
    """Find the nights that are meant, each once; trials and fleets in the order of their starts.

    Raises UsageError where a name is neither a trial, nor a fleet, nor a file of another tool, nor a folder.
    """
    found: dict[Path, NightPlace] = {}
    for one in given:
        path = Path(one)
        if is_file(str(path)):
            found.setdefault(path.resolve(), _file(path))
            continue
        if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises on a name that is too long
            raise UsageError(
                "there is no such trial, fleet, folder or file",
                str(one),
                "name trials such as runs/NAME, or the folder that holds them, such as runs/",
            )
        for place in _below(path):
            found.setdefault(place.path.resolve(), place)
    kinds = {place.kind == "file" for place in found.values()}
    if len(kinds) > 1:
        first = next(place for place in found.values() if place.kind == "file")
        raise UsageError(
            "trials and files of other tools are no series together",
            str(first.path),
            "name trials alone, or files alone",
        )
    _require_order([place for place in found.values() if place.kind == "trial"])
    return tuple(sorted(found.values(), key=_order))


def _require_order(trials: Sequence[NightPlace]) -> None:
    """Refuse imported trials by themselves that cannot be ordered; among others they are left out."""
    undated = [place for place in trials if place.trouble == _UNDATED]
    if undated and all(not place.campaign for place in trials):
        raise UsageError(
            f"these imported trials cannot be ordered: {undated[0].trouble}",
            " ".join(str(place.path) for place in undated[:3]),
            "put the date into their names, such as 2026-11-03-NAME",
        )


def _order(place: NightPlace) -> tuple[datetime, str, str]:
    return (moment_of(place.started_at) or _LAST, place.name, str(place.path))


def _file(path: Path) -> NightPlace:
    if not is_foreign(path):
        raise UsageError(
            "this is no result of another tool",
            str(path),
            "name trials, folders of trials, or files that 'fairtrial import FILE --dry-run' reads",
        )
    return NightPlace(path=path, kind="file", name=path.name)


def _below(folder: Path) -> Iterator[NightPlace]:
    """Give what a folder is, or else the trials and fleets in it, or else the files of other tools."""
    if is_fleet(folder):
        yield _fleet(folder)
        return
    if os.path.lexists(folder / MANIFEST):
        yield _trial(folder)
        return
    files: list[Path] = []
    trials = [*_walk(folder, 1, files)]
    if trials:
        yield from trials
        return
    for path in sorted(files):
        yield NightPlace(path=path, kind="file", name=str(path.relative_to(folder)))


def _walk(folder: Path, depth: int, files: list[Path]) -> Iterator[NightPlace]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"the folder cannot be read: {error.strerror}", str(folder)) from None
    if depth > 1 and BISECTION in {entry.name for entry in entries}:
        return
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_file(follow_symlinks=False):
            files.append(path)
        elif not entry.is_dir(follow_symlinks=False) or entry.name in (OUTPUTS, CERTIFICATES):
            continue
        elif is_fleet(path):
            yield _fleet(path)
        elif os.path.lexists(path / MANIFEST):
            yield _trial(path)
        elif depth < _DEEPEST and not is_profiles(path):
            yield from _walk(path, depth + 1, files)


def _trial(path: Path) -> NightPlace:
    name = path.name or path.absolute().name
    try:
        manifest = read_manifest(path)
    except StoreError as error:
        return NightPlace(path=path, kind="trial", name=name, trouble=error.what)
    imported = manifest.origin == "imported"
    started_at = _imported_date(path, name) if imported else first_start(path, manifest)
    return NightPlace(
        path=path,
        kind="trial",
        name=name,
        campaign="" if imported else manifest.campaign_name,
        started_at=started_at,
        trouble=_UNDATED if imported and started_at is None else None,
        trials=frozenset(
            {(part.trial, part.started) for part in manifest.merged_from}
            or {(manifest.trial, manifest.started)}
        ),
    )


def _imported_date(path: Path, name: str) -> str | None:
    """Give when an imported trial was measured, as its files say it, or else its name."""
    try:
        with opened(path / IMPORT) as file:
            stored = parse(file.read().strip())
    except (OSError, StoreError, ShapeError):
        stored = None
    cells = stored.get("cells") if isinstance(stored, dict) else None
    sessions = [one.get("session") for one in cells or () if isinstance(one, dict)]
    return first_date(one if isinstance(one, str) else None for one in sessions) or date_in(name)


def _fleet(path: Path) -> NightPlace:
    name = path.name or path.absolute().name
    try:
        fleet = read_fleet(path)
    except StoreError as error:
        return NightPlace(path=path, kind="fleet", name=name, trouble=error.what)
    starts = []
    for host in fleet.hosts:
        try:
            trial = trial_place(path, host)
            starts.append(first_start(trial, read_manifest(trial)))
        except StoreError:
            continue  # its reader says what is wrong
    known = [start for start in starts if moment_of(start) is not None]
    return NightPlace(
        path=path,
        kind="fleet",
        name=name,
        campaign=fleet.campaign,
        started_at=min(known, key=lambda start: moment_of(start) or _LAST, default=None),
    )


def without_copies(places: Sequence[NightPlace]) -> tuple[NightPlace, ...]:
    """Mark trials whose runs another one of them holds: no run may count in two nights.

    Of a trial and its copy the first by name stays; of a merged trial and its parts the parts.
    """
    single: dict[tuple[str, str], NightPlace] = {}
    for place in places:
        if len(place.trials) == 1:
            single.setdefault(next(iter(place.trials)), place)
    found = []
    for place in places:
        others = {single[one].name for one in place.trials if one in single} - {place.name}
        first = single.get(next(iter(place.trials))) if len(place.trials) == 1 else None
        if len(place.trials) > 1 and others:
            which = ", ".join(sorted(others)[:3])
            place = replace(place, trouble=f"it was merged from {which}, which is counted")  # noqa: PLW2901
        elif first is not None and first is not place:
            place = replace(place, trouble=f"it holds the runs of {first.path}")  # noqa: PLW2901
        found.append(place)
    return tuple(found)
