"""A trial's folder that appears whole or not at all. Standard library only.

For whoever writes a finished trial: the runner's store, which measures for hours, has its own way.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import StoreError, UsageError

__all__ = ["appearing", "sync_place", "write_hashed"]


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder beside the wanted one; at the end it takes that name.

    Raises
    ------
    UsageError
        If something is there already.
    StoreError
        If it cannot be written; then nothing is left of it.
    """
    if os.path.lexists(folder):
        raise UsageError("something is there already", str(folder), "name a folder that is not")
    place = Path(folder.absolute())
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name[:60]}.", dir=place.parent))
        try:
            yield fresh
            sync_place(fresh)
            fresh.rename(place)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        sync_place(place.parent)
    except OSError as error:
        raise StoreError(
            f"the trial cannot be written: {error.strerror or error}",
            str(folder),
            "name another folder with -o, or free some space",
        ) from error


def write_hashed(path: Path, data: Iterable[bytes]) -> str:
    """Write a new file, bring it to the disk, and give the SHA-256 of its bytes."""
    digest = hashlib.sha256()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        for piece in data:
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def sync_place(path: Path) -> None:
    """Bring a folder's names to the disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
