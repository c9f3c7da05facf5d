"""A bundle that is to be measured again: checked, unpacked, and the trials that came with a campaign."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import StoreError, UsageError
from ..archive import MOST_BYTES, MOST_ENTRIES, open_archive
from ..contents import Missing
from .checking import check_archive, unpack_bundle

__all__ = ["Received", "ReceivedTrial", "receive_bundle"]


_PAGE = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedTrial:
    """A trial that came with its campaign: its name, its folder and the campaign's file."""

    name: str
    path: Path
    campaign: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An unpacked bundle.

    Attributes
    ----------
    folder : Path
        Where it lies now, without links in its path.
    trials : tuple of ReceivedTrial
        Those that can be measured again.
    missing : tuple of Missing
        What the bundle says that it lacks.
    redacted : bool
        Whether names were replaced in it.
    page : str
        Its ``README.md``, "" without one: it says what a rerun executes.
    """

    folder: Path
    trials: tuple[ReceivedTrial, ...]
    missing: tuple[Missing, ...]
    redacted: bool
    page: str


def receive_bundle(
    path: Path,
    folder: Path,
    *,
    names: tuple[str, ...] = (),
    max_entries: int = MOST_ENTRIES,
    max_bytes: int = MOST_BYTES,
) -> Received:
    """Check a bundle and unpack it into a new folder, to measure its trials again.

    Parameters
    ----------
    path, folder : Path
        The bundle, and a folder that is not there yet.
    names : tuple of str
        The trials that are wanted; all of them without a name.
    max_entries, max_bytes : int
        The most files, and the most bytes of them all, that are accepted.

    Raises
    ------
    UsageError
        If the file cannot be read, the folder is there, or no such trial can be measured again.
    StoreError
        If the bundle is damaged, or none that can be trusted to be only read.
    """
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
