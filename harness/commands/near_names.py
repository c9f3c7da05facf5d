"""What a mistyped name was meant to be: a command, an option, a trial.

Imported when something was not found: whoever types well pays nothing for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_CUTOFF = 0.6  # of difflib: 'verdct' has 0.92 with 'verdict', 'frobnicate' 0.47 with the nearest
_MARKS = ("manifest.json", "fleet.json")  # what makes a folder a trial, or a fleet


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known name that is most like a word; None where none is like it."""
    near = get_close_matches(word, list(known), n=1, cutoff=_CUTOFF)
    return near[0] if near else None


def nearest_trial(text: str) -> str | None:
    """Give the trial that was meant by a path, or by PATH:VARIANT, that is not there.

    None where the path is there, or where no trial or fleet in its folder has such a name.
    """
    folder, slash, name = text.rstrip("/").rpartition("/")
    name, colon, variant = name.partition(":")
    place = Path(f"{folder}{slash}" or ".")
    try:
        if not name or os.path.lexists(text) or os.path.lexists(place / name):
            return None
        known = [one.name for one in place.iterdir() if any((one / m).exists() for m in _MARKS)]
    except (OSError, ValueError):  # no such folder, or no name that a path can have
        return None
    near = nearest(name, sorted(known))
    return None if near is None else f"{folder}{slash}{near}{colon}{variant}"
