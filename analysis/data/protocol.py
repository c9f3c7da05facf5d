"""What a trial says of its campaign: its text, its settings with every default, the CPUs of its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..record import CAMPAIGN, MEASUREMENTS, RESOLVED, opened
from .trial import Trial

__all__ = [
    "FREE_SETTINGS",
    "SegmentStart",
    "campaign_text",
    "pinned_cpus",
    "segment_starts",
    "setting_leaves",
    "settings_of",
]

# What two trials of one campaign may say differently: the command line can change them, and who may
# read a trial is no part of the experiment.
FREE_SETTINGS = ("seed", "judge", "share", "protocol.sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStart:
    """What the first row of a session, or of a part of one that was resumed, says.

    `row` is its place among the trial's rows; `cpus` the CPUs that it was pinned to, empty where that
    is not known and None where it was not pinned; `started_at` its start (RFC 3339), None if unknown.
    """

    row: int
    cpus: tuple[int, ...] | None
    started_at: str | None


def campaign_text(trial: Path) -> str | None:
    """Give the text of ``campaign.yaml`` as it is stored; None where it cannot be read."""
    try:
        with opened(trial / CAMPAIGN) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, StoreError):
        return None


def settings_of(trial: Path) -> Mapping[str, Any]:
    """Give ``campaign`` of ``resolved.json``: the campaign with every default; empty if unknown."""
    try:
        with opened(trial / RESOLVED) as file:
            found: Any = json.loads(file.read())
    except (OSError, StoreError, ValueError, RecursionError):
        return {}
    campaign = found.get("campaign") if isinstance(found, dict) else None
    return campaign if isinstance(campaign, dict) else {}


def setting_leaves(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Give the settings below one, each as its key with dots and its value; lists are values."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from setting_leaves(item, f"{at}.{name}" if at else name)
    else:
        yield at, value


def pinned_cpus(trial: Trial) -> tuple[tuple[int, ...] | None, ...]:
    """Give the sets of CPUs that runs were pinned to, each once; None stands for not pinned.

    The runner chooses them when a session begins or goes on, so the first row of each is asked.
    """
    return tuple(dict.fromkeys(one.cpus for one in segment_starts(trial) if one.cpus != ()))


def segment_starts(trial: Trial) -> tuple[SegmentStart, ...]:
    """Give what the first row of each session says, and of each part of one that was resumed.

    A row that cannot be read any more, such as one of a foreign file, is left out with all after it.
    """
    if not len(trial):
        return ()
    begins = np.flatnonzero(np.diff(trial.session) | np.diff(trial.segment)) + 1
    return tuple(_starts(trial.path / MEASUREMENTS, {0, *begins.tolist()}))


def _starts(path: Path, rows: set[int]) -> Iterator[SegmentStart]:
    try:
        with opened(path) as file:
            for number, line in enumerate(file):
                if number not in rows:
                    continue
                found = json.loads(line)
                cpus, at = found.get("cpus", ()), found.get("started_at")
                yield SegmentStart(
                    row=number,
                    cpus=None if cpus is None else tuple(cpus) if isinstance(cpus, list) else (),
                    started_at=at if isinstance(at, str) else None,
                )
    except (OSError, StoreError, ValueError, AttributeError):
        return
