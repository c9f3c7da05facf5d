"""The trial that is meant where none is named: the newest one in ``runs/``."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..errors import StoreError, UsageError
from ..record import FLEET, MANIFEST, Fleet, read_fleet, read_manifest, trial_place

__all__ = ["newest_trial"]


def newest_trial(folder: Path = Path("runs")) -> Path:
    """Find the trial, or the fleet, in a folder that was begun last; others are passed over.

    Raises
    ------
    UsageError
        If the folder holds none.
    """
    begun: list[tuple[str, str, Path]] = []
    places = sorted(folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
    for place in places:
        try:
            manifest = read_manifest(place.parent)
        except StoreError:
            continue
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
            "name a trial, such as runs/NAME, or measure one: fairtrial run campaign.yaml",
        )
    return max(begun)[2]


def _first_start(folder: Path, fleet: Fleet) -> str:
    """Give when the first trial of a fleet began that was put together by hand; "" if unknown."""
    starts = []
    for host in fleet.hosts:
        with contextlib.suppress(StoreError):
            starts.append(read_manifest(trial_place(folder, host)).started)
    return min(starts, default="")
