"""The place of a variant's profile: written beside the old one, and put in its place when it is whole."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import StoreError
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
    mode = stat.S_IMODE(trial.stat().st_mode)
    with contextlib.ExitStack() as held:
        with storing(beside), _locked(beside, mode):
            _tidy(beside, part)
            part.mkdir(mode=mode)
            held.enter_context(_locked(part, mode))
        try:
            yield part
            with storing(place):
                _replace(place, part)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            with contextlib.suppress(OSError), _locked(beside, mode):
                beside.rmdir()  # unless another variant's profile is there
            raise


@contextlib.contextmanager
def _locked(folder: Path, mode: int, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a folder for this process while the block lasts; it is made where it is not there, or goes meanwhile."""
    while True:
        folder.mkdir(mode=mode, exist_ok=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, kind)
            if os.path.lexists(folder) and os.path.samestat(folder.stat(), os.fstat(fd)):
                yield
                return
        finally:
            os.close(fd)


def _tidy(beside: Path, ours: Path) -> None:
    """Remove what starts left that were killed; put back an earlier profile whose successor did not come."""
    for path in sorted(beside.iterdir()):
        if path.name.startswith(".") and path.name.endswith(_PART):
            try:
                with _locked(path, 0o700, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    if (path / TIMED).exists() and is_written_now(path / TIMED):
                        raise written_by_another(path / TIMED)
                    remove_left(path)
            except BlockingIOError:
                if path == ours:
                    what = "another process records a profile of this variant"
                    raise StoreError(what, str(beside), "wait until it is done") from None
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
