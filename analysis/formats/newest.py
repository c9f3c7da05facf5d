"""The trial that is meant where none is named: the newest one in ``runs/``."""

from __future__ import annotations

from pathlib import Path

from ..errors import StoreError, UsageError
from ..record import MANIFEST, read_manifest

__all__ = ["newest_trial"]


def newest_trial(folder: Path = Path("runs")) -> Path:
    """Find the trial in a folder that was begun last; what is no readable trial is passed over.

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
    if not begun:
        raise UsageError(
            "no trial is named, and there is none here",
            f"{folder}/",
            "name a trial, such as runs/NAME, or measure one: fairtrial run campaign.yaml",
        )
    return max(begun)[2]
