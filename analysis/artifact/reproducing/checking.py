"""Is an artifact whole, and may it be unpacked: every file what the list says, nothing that acts.

All damage is found before anything is written, and each damaged file is named.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...announcing import doing
from ...errors import StoreError, UsageError
from ...record.fleet import FLEET
from ...record.trial_files import MANIFEST, OUTPUTS
from ..archive import MOST_BYTES, MOST_ENTRIES, Archive, open_archive, read_tar, unpack_tar
from ..contents import BUNDLE, SUMS, Contents, Missing, read_contents
from ..recomputing import fault_of_command

_NAMED = 20  # damaged files that a message names
# Commands are executed in the bundle's root. Nothing else may lie there: libraries look for their
# settings in the current folder (matplotlibrc, .numba_config.yaml).
_MADE = ("CITATION.cff", "LICENSE", "README.md", "claims.json", "report.html")
_FILES = frozenset({BUNDLE, SUMS, *_MADE, "ro-crate-metadata.json"})
_FOLDERS = frozenset({"analyses", "campaigns", "container", "software", "sources", "trials"})
_TAR = f"{OUTPUTS}.tar"


def check_archive(archive: Archive) -> Contents:
    """Hold every file of an archive against its checksums and against the list in ``bundle.json``."""
    where = str(archive.path)
    contents = read_contents(archive.read(BUNDLE), where)
    faults: list[str] = []
    digests: dict[str, str] = {}
    for number, name in enumerate(archive.entries, 1):
        doing("hashing", number, len(archive.entries), "files")
        try:
            digests[name] = archive.sha256(name)
        except StoreError as error:
            faults.append(error.what)
    faults += _not_as_listed(archive, contents, digests)
    if SUMS not in archive.entries:
        faults.append(f"{SUMS} is not there")
    elif not faults and _sums(archive.read(SUMS)) != sorted(
        (digest, name) for name, digest in digests.items() if name != SUMS
    ):
        faults.append(f"{SUMS} does not say the hashes that the files have")
    if faults:
        more = len(faults) - _NAMED
        told = faults[:_NAMED] + [f"and {more} more"] * (more > 0)
        raise StoreError(
            "the bundle is damaged, or was changed after it was packed: " + "; ".join(told),
            where,
            "fetch it again; if it stays so, ask who made it",
        )
    for fault in _acts(archive, contents):
        raise StoreError(
            f"the bundle is refused, nothing was executed: {fault}", where, "ask who made it"
        )
    for name, trial in _tars(archive):
        if any(
            other.startswith(f"{trial}/{OUTPUTS}") and other != name for other in archive.entries
        ):
            what = f"it holds the outputs of {trial} twice, packed and not"
            raise StoreError(what, where, "ask who made it")
        with archive.stream(name) as file:
            for _ in read_tar(file, name, max_bytes=archive.entries[name]):
                pass  # it raises where something is not as it should be
    return contents


def unpack_bundle(archive: Archive, folder: Path) -> None:
    """Write a checked bundle into a new folder, the outputs of its trials at their places.

    The folder appears whole or not at all.
    """
    if os.path.lexists(folder):
        raise UsageError("something is there already", str(folder), "name a folder that is not")
    place = folder.absolute()
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name[:60]}.", dir=place.parent))
    except OSError as error:
        what = f"no folder can be made here: {error.strerror}"
        raise UsageError(what, str(folder), "name another place, whose folder is there") from None
    try:
        unpack_into(archive, fresh)
        fresh.rename(place)
    except OSError as error:
        what = f"the folder cannot be made: {error.strerror}"
        raise UsageError(what, str(folder), "name another one") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # after it was renamed there is none


def unpack_into(archive: Archive, folder: Path) -> None:
    """Write a checked bundle into an empty folder; raises as `unpack_bundle` does."""
    archive.unpack(folder)
    for name, trial in _tars(archive):
        place = folder / trial / OUTPUTS
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            what = f"the outputs cannot be unpacked: {error.strerror}"
            raise StoreError(what, f"{archive.path}: {name}", "free some space") from None
        with archive.stream(name) as file:
            unpack_tar(file, place, name, max_bytes=archive.entries[name])


def _tars(archive: Archive) -> Iterator[tuple[str, str]]:
    """Give the packed outputs of each trial, with the trial's folder."""
    for name in archive.entries:
        trial, _, last = name.rpartition("/")
        if last == _TAR and trial.startswith("trials/") and trial.count("/") == 1:
            yield name, trial


def _not_as_listed(archive: Archive, contents: Contents, digests: dict[str, str]) -> Iterator[str]:
    """Compare the files with the list: none more, none less, each with its size and hash."""
    for name, digest in digests.items():
        listed = contents.files.get(name)
        if listed is None:
            if name not in {BUNDLE, SUMS}:
                yield f"{name} is not listed in {BUNDLE}"
        elif (listed.bytes, listed.sha256) != (archive.entries[name], digest):
            yield f"{name} does not have the hash that {BUNDLE} says"
    for name in (name for name in contents.files if name not in archive.entries):
        yield f"{name} is listed in {BUNDLE} and not there"


def _sums(text: bytes) -> list[tuple[str, str]]:
    lines = text.decode("utf-8", "replace").splitlines()
    return sorted((digest, name) for digest, _, name in (line.partition("  ") for line in lines))


def _acts(archive: Archive, contents: Contents) -> Iterator[str]:
    """Say what the bundle holds or asks for that could act here, or point out of it."""
    for name in archive.entries:
        first, slash, _ = name.partition("/")
        if first not in (_FOLDERS if slash else _FILES):
            yield f"{name} does not belong into a bundle"
    names = {analysis.name for analysis in contents.analyses}
    if len(names) < len(contents.analyses):
        yield "two of its analyses have one name"
    asked = [(analysis.command, analysis.result) for analysis in contents.analyses]
    if contents.report is not None:
        asked.append((contents.report.command, contents.report.result))
    for command, result in asked:
        fault = fault_of_command(command)
        if fault is not None:
            yield f"'fairtrial {' '.join(command)[:200]}' is asked for; {fault}"
        if result not in archive.entries:
            yield f"the stored result {result!r} is not there"
    if contents.claims is not None and contents.claims not in archive.entries:
        yield f"the claims {contents.claims!r} are not there"
    folders = {  # another tool's results may be a folder
        f"sources/{name.split('/')[1]}/" for name in archive.entries if name.count("/") > 1
    }
    for source in contents.sources:
        inside = {"trial": MANIFEST, "fleet": FLEET}.get(source.kind)
        held = source.path if inside is None else f"{source.path}/{inside}"
        if held not in archive.entries and f"{source.path}/" not in folders:
            yield f"the source {source.path!r} is not there"
        if source.campaign is not None and source.campaign not in archive.entries:
            yield f"the campaign {source.campaign!r} is not there"


_PAGE = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedTrial:
    """A trial that came with its campaign: its name, its folder and the campaign's file."""

    name: str
    path: Path
    campaign: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An unpacked bundle."""

    folder: Path  # where it lies now, without links in its path
    trials: tuple[ReceivedTrial, ...]  # those that can be measured again
    missing: tuple[Missing, ...]  # what the bundle says that it lacks
    redacted: bool  # whether names were replaced in it
    page: str  # its ``README.md``, "" without one: it says what a rerun executes


def receive_bundle(
    path: Path,
    folder: Path,
    *,
    names: tuple[str, ...] = (),
    max_entries: int = MOST_ENTRIES,
    max_bytes: int = MOST_BYTES,
) -> Received:
    """Check a bundle and unpack it into a new folder, to measure its trials again."""
    with open_archive(path, max_entries=max_entries, max_bytes=max_bytes) as archive:
        contents = check_archive(archive)
        there = {
            source.name: source
            for source in contents.sources
            if source.kind == "trial" and source.campaign is not None
        }
        known = ", ".join(there)
        if not there:
            raise StoreError(
                "no trial of the bundle came with its campaign: nothing can be measured again",
                str(path),
                "check it without --rerun",
            )
        for name in names:
            if name not in there:
                raise UsageError(
                    f"the bundle has no trial {name!r} with a campaign",
                    str(path),
                    f"it has {known}",
                )
        page = archive.read(_PAGE).decode("utf-8", "replace") if _PAGE in archive.entries else ""
        unpack_bundle(archive, folder)
    root = folder.resolve()
    return Received(
        folder=root,
        trials=tuple(
            ReceivedTrial(
                name=name, path=root / source.path, campaign=root / (source.campaign or "")
            )
            for name, source in there.items()
            if not names or name in names
        ),
        missing=contents.missing,
        redacted=contents.redacted is not None,
        page=page,
    )
