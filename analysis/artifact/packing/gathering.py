"""The sources of a bundle: trials, folders of trials, and files, each copied whole."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import StoreError, UsageError
from ...formats import is_file, is_foreign, trial_and_variant
from ...record import (
    CAMPAIGN,
    CERTIFICATES,
    ENVIRONMENT,
    FINDINGS,
    FLEET,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Fleet,
    Manifest,
    fleet_text,
    is_fleet,
    read_fleet,
    read_manifest,
    trial_place,
)
from ...words import normal
from ..contents import FLEET_PLACE, BundleSource
from .staging import Staging, file_hash

__all__ = ["Gathered", "gather"]

_RECORDS = (CAMPAIGN, RESOLVED, ENVIRONMENT, PLAN, MEASUREMENTS, FINDINGS, IMPORT)
_SAFE = re.compile(r"[^\w.+-]+")
_MOST_FILES = 20_000  # of a folder of another tool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # a key, each for itself
class Gathered:
    """A source that was copied.

    Attributes
    ----------
    given : tuple of str
        How the command line named it, by which claims may name it too.
    origin : Path
        Where it lies outside.
    source : BundleSource
        What the bundle says of it.
    manifest : Manifest or None
        Of a trial.
    """

    given: tuple[str, ...]
    origin: Path
    source: BundleSource
    manifest: Manifest | None = None


def gather(sources: Sequence[str], staging: Staging, *, hide_hosts: bool = False) -> list[Gathered]:
    """Copy all sources.

    Parameters
    ----------
    sources : sequence of str
        Trials (with or without a variant), fleets, folders of trials, files and folders of other tools.
    staging : Staging
        Where they go.
    hide_hosts : bool, optional
        Whether no folder may be called after a host.

    Raises
    ------
    UsageError
        If a source is none of these, or stands there twice.
    StoreError
        If a fleet or a trial is damaged, or a trial is being measured, or cannot be read.
    """
    found: list[Gathered] = []
    names: set[str] = set()
    for given in sources:
        fleet = _fleet_named(given)
        if fleet is not None:
            found += _fleet(given, fleet, found, names, staging, hide_hosts=hide_hosts)
            continue
        for path in _paths(given):
            again = next((one for one in found if _same(one.origin, path)), None)
            if again is not None:
                if given in again.given:
                    raise UsageError("the source stands there twice", given, "name it once")
                found[found.index(again)] = _also(again, given)
                continue
            if (path / MANIFEST).is_file():
                found.append(_trial(given, path, names, staging))
            else:
                found.append(_foreign(given, path, names, staging))
    return found


def _paths(given: str) -> Iterator[Path]:
    """Give what a source names: itself, or each trial in a folder of trials."""
    named = trial_and_variant(given)
    path = named[0] if named is not None else Path(given)
    if os.path.isdir(path) and not is_file(str(path / MANIFEST)):  # noqa: PTH112 - Path.is_dir() raises where nothing may be searched
        trials = sorted(place.parent for place in path.glob(f"*/{MANIFEST}"))
        if trials:
            yield from trials
            return
    if not (is_file(str(path)) or is_file(str(path / MANIFEST)) or is_foreign(path)):
        raise UsageError(
            "this is no trial, no folder of trials and no file",
            given,
            "name runs/NAME as 'fairtrial run' printed it, or a file of runs",
        )
    yield path


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _also(one: Gathered, given: str) -> Gathered:
    return Gathered(
        given=(*one.given, given), origin=one.origin, source=one.source, manifest=one.manifest
    )


def _fleet_named(given: str) -> Path | None:
    path = Path(given)
    if not is_fleet(path) and ":" in given:
        path = Path(given.rpartition(":")[0])
    return path if is_fleet(path) else None


def _fleet(
    given: str,
    path: Path,
    found: Sequence[Gathered],
    names: set[str],
    staging: Staging,
    *,
    hide_hosts: bool,
) -> list[Gathered]:
    """Copy the trials of a fleet; the folder of all trials is the fleet in the bundle.

    What only the scheduler of the author's cluster understands stays behind.
    """
    if any(_same(one.origin, path) for one in found):
        raise UsageError("the source stands there twice", given, "name it once")
    if any(one.source.kind == "fleet" for one in found):
        raise UsageError(
            "a bundle holds one fleet, and this is another one",
            given,
            "pack each fleet by itself, or name the trials of its hosts: FLEET/HOST",
        )
    fleet = read_fleet(path)
    name = _named(path.resolve().name, names)
    packed: list[Gathered] = []
    hosts = []
    for number, host in enumerate(fleet.hosts, 1):
        place = trial_place(path, host)
        wanted = f"{name}-{number}"
        if not (place / MANIFEST).is_file():
            staging.miss(f"{given}/{host.trial}", f"{host.host} has no trial: it is missing")
            hosts.append(replace(host, jobs=(), trial=_named(wanted, names), further={}))
            continue
        if any(_same(one.origin, place) for one in found):
            what = "the trial is packed already, by itself"
            raise UsageError(what, str(place), "name the fleet alone: it holds the trial")
        one = _trial(str(place), place, names, staging, wanted=wanted if hide_hosts else None)
        packed.append(one)
        hosts.append(replace(host, jobs=(), trial=one.source.name, further={}))
    if not packed:
        raise UsageError("no host of this fleet has a trial", given, "measure it first")
    bare = Fleet(
        campaign=fleet.campaign,
        identity=fleet.identity,
        submitted_at=fleet.submitted_at,
        script=None,
        hosts=tuple(hosts),
        identities=fleet.identities,
    )
    staging.write(f"{FLEET_PLACE}/{FLEET}", fleet_text(bare))
    source = BundleSource(
        name=name, kind="fleet", path=FLEET_PLACE, identity=file_hash(path / FLEET)
    )
    return [Gathered(given=(given, str(path)), origin=path, source=source), *packed]


def _trial(
    given: str, path: Path, names: set[str], staging: Staging, *, wanted: str | None = None
) -> Gathered:
    """Copy a trial; `wanted` names its folder where its own name may be that of a host."""
    manifest = read_manifest(path)
    _refuse_running(path, manifest)
    name = _named(wanted or manifest.trial, names)
    root = f"trials/{name}"
    there = _listed(path, manifest)
    for file in sorted(there):
        sha256 = staging.copy(f"{root}/{file}", path / file)
        if manifest.files.get(file, sha256) != sha256:
            raise StoreError(
                "the file is not what it was when the trial ended",
                str(path / file),
                "restore it from a copy; what was changed by hand is no measurement",
            )
    for file in sorted(manifest.files.keys() - there):
        if not file.startswith(f"{OUTPUTS}/"):  # kept output is evidence, not a record
            staging.gone.append(f"{root}/{file}")
        staging.miss(
            f"{root}/{file}", "the trial does not hold it any more", sha256=manifest.files[file]
        )
    for file in sorted(_strays(path, there)):
        staging.miss(f"{root}/{file}", "it lies in the trial's folder and is no part of the trial")
    if (path.parent / CERTIFICATES).is_dir() and any((path.parent / CERTIFICATES).iterdir()):
        staging.miss(
            f"{CERTIFICATES}/",
            "certificates of calibrations are not packed: what is said of them depends on today's "
            "date",
        )
    if manifest.origin == "imported":
        staging.miss(
            manifest.campaign_path,
            "the trial was imported from it; name it as a SOURCE too to pack it",
        )
    source = BundleSource(
        name=name,
        kind="trial",
        path=root,
        trial=None if wanted is not None and _is_host(manifest) else manifest.trial,
        identity=file_hash(path / MANIFEST),
    )
    return Gathered(given=(given,), origin=path, source=source, manifest=manifest)


def _is_host(manifest: Manifest) -> bool:
    return manifest.trial in (manifest.node, manifest.host)


def _refuse_running(path: Path, manifest: Manifest) -> None:
    """Refuse a trial that is being measured: its runner holds a lock on the measurements."""
    if manifest.status != "running":
        return
    try:
        with (path / MEASUREMENTS).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(
            "the trial is being measured", str(path), "pack it when it has ended"
        ) from None
    except OSError:
        pass  # whoever copies it says what is wrong


def _listed(path: Path, manifest: Manifest) -> set[str]:
    """Name the trial's own files that are there: no link, no folder, nothing that was put there."""
    if manifest.files:
        named = {MANIFEST, *manifest.files}
    else:  # it runs, or was killed: all that its runner writes
        outputs = path / OUTPUTS
        found = (p for p in outputs.rglob("*") if not p.name.startswith("current."))
        inside = () if outputs.is_symlink() else found
        named = {MANIFEST, *_RECORDS, *(p.relative_to(path).as_posix() for p in inside)}
    return _plain(path, named)


def _plain(path: Path, named: Iterable[str]) -> set[str]:
    """Give those files of a trial that are there, and reached through no link."""
    found: set[str] = set()
    folders: dict[str, bool] = {"": True}  # whether one is a folder, and no link
    root = str(path)
    for name in named:
        if name.startswith("/") or ".." in name.split("/"):
            continue
        parent = ""
        for part in name.split("/")[:-1]:
            folder = f"{parent}/{part}" if parent else part
            if folder not in folders:
                folders[folder] = folders[parent] and _is(f"{root}/{folder}", stat.S_ISDIR)
            parent = folder
        if folders[parent] and _is(f"{root}/{name}", stat.S_ISREG):
            found.add(name)
    return found


def _is(path: str, kind: Callable[[int], bool]) -> bool:
    try:
        return kind(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _strays(path: Path, known: set[str]) -> Iterator[str]:
    start = len(str(path)) + 1
    for folder, folders, files in os.walk(path):
        inside = folder[start:]
        links = [one for one in folders if _is(f"{folder}/{one}", stat.S_ISLNK)]
        for one in (*files, *links):
            name = f"{inside}/{one}" if inside else one
            if name not in known:
                yield name.encode("utf-8", "backslashreplace").decode()


def _refuse_archive(given: str, path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PK\3\4":
        raise UsageError(
            "this is an archive, and no file of runs",
            given,
            "unpack it, and name the trials or files in it",
        )


def _foreign(given: str, path: Path, names: set[str], staging: Staging) -> Gathered:
    name = _named(path.name or "source", names)
    root = f"sources/{name}"
    if path.is_dir():
        for file in _files_in(path):
            staging.copy(f"{root}/{file}", path / file)
        identity = None
    else:
        _refuse_archive(given, path)
        staging.copy(root, path)
        identity = file_hash(path)
    source = BundleSource(name=name, kind="file", path=root, identity=identity)
    return Gathered(given=(given,), origin=path, source=source)


def _files_in(folder: Path) -> list[str]:
    found: list[str] = []
    for place, _, files in os.walk(folder):
        for file in files:
            path = Path(place) / file
            if stat.S_ISREG(path.lstat().st_mode):
                found.append(path.relative_to(folder).as_posix())
        if len(found) > _MOST_FILES:
            raise UsageError(
                f"the folder has more than {_MOST_FILES:,} files",
                str(folder),
                "name the folder of the results, not one above it",
            )
    return sorted(found)


def _named(wanted: str, names: set[str]) -> str:
    """Give a name that is safe on every system, and that no other source has."""
    ending = "".join(Path(wanted).suffixes[-2:])
    plain = (
        _SAFE.sub("_", normal(wanted)).lstrip(".-")[:150].encode()[:200].decode("utf-8", "ignore")
    )
    plain = plain or "source"
    name, number = plain, 1
    while name.casefold() in names:
        number += 1
        stem = plain.removesuffix(ending)
        name = f"{stem}-{number}{plain[len(stem) :]}"
    names.add(name.casefold())
    return name
