"""The place of a variant's profile: written beside the old one, and put in its place when it is whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from analysis.record.manifest import sync_place
from analysis.record.profiles import TIMED, profiles_of

from ..trial.folder import LEFT, remove_left, storing
from ..trial.locks import is_written_now, written_by_another

_PART, _OLD = LEFT, ".old"


@contextlib.contextmanager
def new_profile(trial: Path, variant: str) -> Iterator[Path]:
    """Give a folder for a profile; at the end it takes the place of the variant's earlier one.

    What a killed start left is removed, or put back where it was an earlier profile. Whatever ends the block early
    leaves nothing but that earlier profile.

    Raises
    ------
    StoreError
        If another process records a profile of this variant, or the folder cannot be written.
    """
    beside = profiles_of(trial)
    place, part = beside / variant, beside / f".{variant}{_PART}"
    with storing(beside):
        mode = stat.S_IMODE(trial.stat().st_mode)
        beside.mkdir(mode=mode, exist_ok=True)
        _tidy(beside)
        part.mkdir(mode=mode)
    try:
        yield part
        with storing(place):
            _replace(place, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        with contextlib.suppress(OSError):
            beside.rmdir()  # unless another variant's profile is there
        raise


def _tidy(beside: Path) -> None:
    """Remove what starts left that were killed; put back an earlier profile whose successor did not come."""
    for path in sorted(beside.iterdir()):
        if path.name.startswith(".") and path.name.endswith(_PART):
            if (path / TIMED).exists() and is_written_now(path / TIMED):
                raise written_by_another(path / TIMED)
            remove_left(path)
        elif path.name.startswith(".") and path.name.endswith(_OLD):
            place = beside / path.name[1 : -len(_OLD)]
            if os.path.lexists(place):
                remove_left(path)
            else:
                path.rename(place)


def _replace(place: Path, part: Path) -> None:
    old = place.with_name(f".{place.name}{_OLD}")
    sync_place(part)
    if os.path.lexists(place):
        place.rename(old)
    part.rename(place)
    sync_place(place.parent)
    shutil.rmtree(old, ignore_errors=True)
