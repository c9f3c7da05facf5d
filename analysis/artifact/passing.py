"""A passing folder for what is unpacked or packed: it goes with the process that made it.

A process that was killed leaves its folder. The next one that needs such a folder removes it: each holds
a lock for as long as its process, or one that this has started, is there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError

__all__ = ["Passing", "passing_folder"]

_PREFIX = "fairtrial-"
_LOCK = ".fairtrial-lock"
_CONTENT = "bundle"
_HOMES = "homes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """A folder that is removed at the end.

    Attributes
    ----------
    content : Path
        An empty folder, for the bundle.
    homes : Path
        Another one: what commands write for themselves goes below it.
    lock : int
        A descriptor; a process that inherits it keeps the folder from being removed by others.
    """

    content: Path
    homes: Path
    lock: int


@contextlib.contextmanager
def passing_folder() -> Iterator[Passing]:
    """Make such a folder below the one for temporary files, and remove those that were left there.

    Raises
    ------
    UsageError
        If none can be made.
    """
    try:
        place = Path(tempfile.gettempdir())
        _remove_left(place)
        root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    except OSError as error:
        what = f"no temporary folder can be made: {error.strerror}"
        raise UsageError(what, None, "set TMPDIR to a folder that can be written") from None
    lock = None
    try:
        # it gets its name once it is held: who sees it and can have it knows that nobody else does
        fresh = root / f"{_LOCK}.new"
        lock = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        fresh.rename(root / _LOCK)
        found = Passing(content=root / _CONTENT, homes=root / _HOMES, lock=lock)
        found.content.mkdir()
        found.homes.mkdir()
        yield found
    finally:
        shutil.rmtree(root, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_left(place: Path) -> None:
    """Remove folders of this user whose lock nobody holds: whoever made them was killed."""
    for root in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = root.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(lock)
