"""A trial's folder: what is written whole and synced there, and what a start without any run left in it.

The folder may be reached through a link, which is its user's. Below it no link is followed: one was put there
by somebody else, such as the program that is measured, and a write would destroy a file elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.sample_files import SAMPLES
from analysis.record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
)

from .locks import lock_trial

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def mode_of_files(folder: Path | int) -> int:
    """Give the mode of new files in a folder of a trial: that of the folder, which is never changed."""
    return os.stat(folder).st_mode & 0o666  # noqa: PTH116 - a descriptor is no path


def open_inside(trial: Path, name: str, flags: int) -> int:
    """Open or make a file of a trial's folder; give its descriptor."""
    *folders, last = Path(name).parts
    at = os.open(trial, _FOLDER)
    try:
        for part in folders:
            inner = _open(trial, name, part, _FOLDER, at)
            os.close(at)
            at = inner
        return _open(trial, name, last, flags | os.O_CLOEXEC, at)
    finally:
        os.close(at)


def _open(trial: Path, name: str, part: str, flags: int, at: int) -> int:
    try:
        return os.open(part, flags | os.O_NOFOLLOW, mode_of_files(at), dir_fd=at)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(part, at):
            raise StoreError(
                "it is reached through a symbolic link, which fairtrial does not make: writing there "
                "would change a file somewhere else",
                str(trial / name),
                f"look who put it there, and remove the link (ls -l {trial / Path(name).parts[0]})",
            ) from error
        raise


def _is_link(part: str, at: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode)
    return False


def refuse_links(trial: Path) -> None:
    """Refuse a trial with symbolic links where fairtrial writes: in its folder, `outputs` and `samples`."""
    found = []
    for folder in (trial, trial / OUTPUTS, trial / SAMPLES):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found += [entry.path for entry in entries if entry.is_symlink()]
        if found and folder == trial:
            break  # one of them may be another of these folders
    if found:
        raise StoreError(
            "symbolic links lie in this trial, which fairtrial does not make: going on would write "
            f"where they lead to\n{chr(10).join(f'    {name}' for name in sorted(found))}",
            str(trial),
            "look who put them there, and remove them (rm removes a link, not what it names)",
        )


def files_of_runs(trial: Path) -> list[str]:
    """Name the files in `outputs` and `samples`, links left out; hooks may have made folders there."""
    paths = (path for name in (OUTPUTS, SAMPLES) for path in (trial / name).rglob("*"))
    files = (path for path in paths if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(trial)) for path in files)


def write_whole(fd: int, data: bytes) -> None:
    """Append with one system call; what does not fit whole leaves nothing of itself."""
    written = os.write(fd, data)
    if written != len(data):
        os.ftruncate(fd, os.fstat(fd).st_size - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def append_synced(trial: Path, name: str, data: bytes) -> None:
    """Append to a file of the trial and bring it to the disk."""
    fd = open_inside(trial, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        write_whole(fd, data)
        os.fdatasync(fd)
    finally:
        os.close(fd)


def write_synced(trial: Path, name: str, data: bytes) -> None:
    """Write a file of the trial anew and bring it to the disk."""
    fd = open_inside(trial, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)


def cut(trial: Path, name: str, size: int) -> None:
    """Cut a file of the trial off after `size` bytes."""
    fd = open_inside(trial, name, os.O_WRONLY)
    try:
        os.ftruncate(fd, size)
    finally:
        os.close(fd)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk."""
    fd = os.open(path, _FOLDER)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class storing:  # noqa: N801 - reads as a phrase: "with storing(path):"
    """Turn an operating system error into a `StoreError` that says where and what to do."""

    _FIXES = {  # noqa: RUF012 - a constant table
        errno.ENOSPC: "free some space, then continue with --resume",
        errno.EDQUOT: "your disk quota is used up: free some space, then continue with --resume",
        errno.EACCES: "choose a folder that you may write with --dir DIR",
        errno.EEXIST: "something is there: another process has just begun a trial in that folder?",
        errno.EROFS: "choose a folder on a writable file system with --dir DIR",
    }

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Translate an `OSError`."""
        if isinstance(error, OSError):
            fix = self._FIXES.get(error.errno or 0)
            if error.errno in {errno.EACCES, errno.EPERM} and os.path.lexists(self._where):
                fix = (
                    "you may not write this trial: ask its owner, or go on with a copy of your own"
                )
            raise StoreError(
                f"cannot be written: {error.strerror}", str(self._where), fix
            ) from error


LEFT = ".part"  # how hidden folders end that nobody needs any more
RESERVE = ".reserve"  # kept aside so that a full disk still leaves room for the last manifest
FRESH_MANIFEST = f".{MANIFEST}.new"
FRESH_ENVIRONMENT = f".{ENVIRONMENT}.new"
FILES = frozenset(
    {
        BUILDS,
        CAMPAIGN,
        ENVIRONMENT,
        FINDINGS,
        MANIFEST,
        FRESH_ENVIRONMENT,
        FRESH_MANIFEST,
        MEASUREMENTS,
        PLAN,
        RESERVE,
        RESOLVED,
    }
)


def holds_only_a_start(folder: Path) -> bool:
    """Tell whether a folder holds nothing but files of a trial, and no row."""
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries}
    if names - FILES - {OUTPUTS, SAMPLES}:
        return False
    return MEASUREMENTS not in names or not (folder / MEASUREMENTS).stat().st_size


def remove_left(path: Path) -> None:
    """Free the name of a folder that something may still write to, and delete what it holds now.

    What is written there later stays under another name.
    """
    gone = path.with_name(f".{os.urandom(6).hex()}{LEFT}")
    path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def clear_unused(folder: Path) -> None:
    """Empty a folder in which a trial was begun and nothing was measured."""
    refuse_links(folder)
    with storing(folder):
        fd = open_inside(folder, MEASUREMENTS, os.O_RDWR | os.O_CREAT)
        lock_trial(fd, folder)
        try:
            if not holds_only_a_start(folder):
                what = "it holds more than the start of a trial without any run"
                raise StoreError(what, str(folder), "name a folder that is not there")
            for name in (OUTPUTS, SAMPLES):
                with contextlib.suppress(FileNotFoundError):
                    remove_left(folder / name)
            for name in FILES - {MEASUREMENTS}:
                (folder / name).unlink(missing_ok=True)
            (folder / MEASUREMENTS).unlink()  # the lock lies on it
        finally:
            os.close(fd)
