"""What a start without any run left in a trial's folder, which the next start may remove."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from analysis.record import (
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
)

from ..errors import StoreError
from .folder import open_inside, refuse_links, storing
from .trial_lock import lock_trial

RESERVE = ".reserve"  # kept aside so that a full disk still leaves room for the last manifest
FRESH_MANIFEST = f".{MANIFEST}.new"
FILES = frozenset(
    {
        CAMPAIGN,
        ENVIRONMENT,
        FINDINGS,
        MANIFEST,
        FRESH_MANIFEST,
        MEASUREMENTS,
        PLAN,
        RESERVE,
        RESOLVED,
    }
)


def holds_only_a_start(folder: Path) -> bool:
    """Tell whether a folder holds nothing but files of a trial, and no row.

    Raises
    ------
    OSError
        If it is no folder, or cannot be read.
    """
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries}
    if names - FILES - {OUTPUTS}:
        return False
    return MEASUREMENTS not in names or not (folder / MEASUREMENTS).stat().st_size


def clear_unused(folder: Path) -> None:
    """Empty a folder in which a trial was begun and nothing was measured.

    Raises
    ------
    StoreError
        If it holds something else, a row or a link, if another process writes it, or if something
        cannot be removed.
    """
    refuse_links(folder)
    with storing(folder):
        fd = open_inside(folder, MEASUREMENTS, os.O_RDWR | os.O_CREAT)
        lock_trial(fd, folder)
        try:
            if not holds_only_a_start(folder):
                raise StoreError(
                    "it holds more than the start of a trial without any run",
                    str(folder),
                    "name a folder that is not there",
                )
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(folder / OUTPUTS)
            for name in FILES - {MEASUREMENTS}:
                (folder / name).unlink(missing_ok=True)
            (folder / MEASUREMENTS).unlink()  # the lock lies on it
        finally:
            os.close(fd)
