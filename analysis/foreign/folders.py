"""The files of a foreign folder: not too deep, not too many, no link followed, no trial entered."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ..errors import AnalysisError, UsageError
from ..record import MANIFEST, MEASUREMENTS
from .opening import Opened, open_foreign

__all__ = ["DEEPEST", "MOST_ENTRIES", "files_in", "opened_in", "trials_within"]

DEEPEST = 6
MOST_ENTRIES = 20_000


def files_in(opened: Opened) -> Iterator[Path]:
    """Give the plain files of a folder and of those in it, sorted, as paths relative to it.

    What lies in a trial of fairtrial is passed over.

    Raises
    ------
    UsageError
        If a folder cannot be read.
    AnalysisError
        If there are more than `MOST_ENTRIES` entries.
    """
    for folder, entries in _folders(opened):
        if not _is_trial(entries):
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield (folder / entry.name).relative_to(opened.path or folder)


def trials_within(opened: Opened) -> tuple[str, ...]:
    """Name the trials of fairtrial in a folder, or the folder itself.

    Raises
    ------
    UsageError, AnalysisError
        As `files_in`.
    """
    return tuple(str(folder) for folder, entries in _folders(opened) if _is_trial(entries))


def _is_trial(entries: list[os.DirEntry[str]]) -> bool:
    return {MANIFEST, MEASUREMENTS} <= {entry.name for entry in entries}


def _folders(opened: Opened) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Give each folder with its entries, a trial's without those below."""
    if opened.path is None or not opened.is_folder:
        return
    count = 0
    waiting = deque([(opened.path, 1)])
    while waiting:
        folder, depth = waiting.popleft()
        try:
            with os.scandir(folder) as listed:
                entries = list(itertools.islice(listed, MOST_ENTRIES + 1))
        except OSError as error:
            raise UsageError(
                f"the folder cannot be read: {error.strerror}",
                str(folder),
                "name the folder of the results, not one above it",
            ) from None
        count += len(entries)
        if count > MOST_ENTRIES:
            raise AnalysisError(
                f"the folder has more than {MOST_ENTRIES:,} entries",
                opened.source,
                "name the folder of the results, not one above it",
            )
        entries.sort(key=lambda entry: entry.name)
        yield folder, entries
        if depth < DEEPEST and not _is_trial(entries):
            waiting.extend(
                (Path(entry.path), depth + 1)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
            )


def opened_in(opened: Opened, name: Path) -> Opened:
    """Open a file of the folder."""
    return open_foreign(
        str(Path(opened.source) / name), encoding=opened.encoding, decimal=opened.decimal
    )
