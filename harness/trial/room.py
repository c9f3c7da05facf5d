"""Whether a trial can be written: how much room on the disk there is, and how much it may need."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path

from ..campaign import Campaign
from ..errors import StoreError

_ROW_BYTES = 1200  # a row of measurements and one of the plan, generously
_MARGIN_BYTES = 16 * 1024 * 1024


def free_space(folder: Path) -> int:
    """Make the folder of trials, if it is missing; give the free bytes there.

    Raises
    ------
    StoreError
        If nothing can be written there, or what is written could not be read by who wrote it.
    """
    os.umask(mask := os.umask(0o077))  # there is no other way to ask for it
    if mask & stat.S_IRWXU:
        raise StoreError(
            f"the umask {mask:03o} takes the rights of new files from their owner too",
            str(folder),
            "set another one, such as 'umask 077'; the measured programs inherit it",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-test-{time.monotonic_ns()}"
        probe.write_bytes(b"fairtrial")
        probe.unlink()
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise StoreError(
            f"trials cannot be written there: {error.strerror}",
            str(folder),
            "choose a folder that you may write with --dir DIR",
        ) from error


def room_needed(campaign: Campaign, sessions: int, *, kept_bytes: int = 0) -> int:
    """Give the bytes that a trial may need: its rows, and what is kept of runs should all of them fail.

    Parameters
    ----------
    campaign : Campaign
        What is going to be executed.
    sessions : int
        How many sessions are planned.
    kept_bytes : int, optional
        What is kept already of the runs of a trial that is gone on with.
    """
    rows = len(campaign.cells) * campaign.protocol.passes_at_most(sessions)
    kept = max(0, _kept_at_most(campaign, sessions) - kept_bytes)
    return rows * _ROW_BYTES + _MARGIN_BYTES + kept


def _kept_at_most(campaign: Campaign, sessions: int) -> int:
    """Give the most bytes that may be kept of what the planned runs write."""
    sinks = sum(sink != "discard" for cell in campaign.cells for sink in (cell.stdout, cell.stderr))
    runs = campaign.protocol.passes_at_most(sessions)
    isolation = campaign.isolation
    return min(isolation.kept_outputs_bytes, runs * sinks * isolation.output_limit_bytes)
