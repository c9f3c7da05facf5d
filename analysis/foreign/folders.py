"""The files of a foreign folder: not too deep, not too many, no link followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import AnalysisError, UsageError
from .opening import Opened, open_foreign

__all__ = ["DEEPEST", "MOST_ENTRIES", "files_in", "opened_in"]

DEEPEST = 6
MOST_ENTRIES = 20_000


def files_in(opened: Opened) -> Iterator[Path]:
    """Give the plain files of a folder and of those in it, sorted, as paths relative to it.

    Raises
    ------
    UsageError
        If a folder cannot be read.
    AnalysisError
        If there are more than `MOST_ENTRIES` entries.
    """
    if opened.path is None or not opened.is_folder:
        return
    count = 0
    waiting = [(opened.path, 1)]
    while waiting:
        folder, depth = waiting.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            raise UsageError(f"the folder cannot be read: {error.strerror}", str(folder)) from None
        count += len(entries)
        if count > MOST_ENTRIES:
            raise AnalysisError(
                f"the folder has more than {MOST_ENTRIES:,} entries",
                opened.source,
                "name the folder of the results, not one above it",
            )
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path).relative_to(opened.path)
            elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), depth + 1))


def opened_in(opened: Opened, name: Path) -> Opened:
    """Open a file of the folder."""
    return open_foreign(str(Path(opened.source) / name), encoding=opened.encoding)
