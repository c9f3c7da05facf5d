"""Paths as they are seen from the folder of an unpacked bundle."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["below", "is_outside", "leads_out"]


def is_outside(path: Path, root: Path) -> bool:
    """Tell whether a path names a place that is not below a folder; links are not followed."""
    return not Path(os.path.normpath(path)).is_relative_to(root)


def below(path: Path, root: Path) -> str:
    """Write a path as it is seen from the new folder, which has no name yet."""
    place = Path(os.path.normpath(path))
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)


def leads_out(path: Path, root: Path) -> bool:
    """Tell whether a path leads out of a folder by its name, or through links."""
    return is_outside(path, root) or not path.resolve().is_relative_to(root.resolve())
