"""Files that a command writes: whole or not at all, and refused before the long work.

A text is written beside its place and takes it when it is complete, so that a full disk or a killed
command leaves what was there. What is no regular file, such as ``/dev/stdout`` or a pipe, is written
as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ..errors import UsageError

__all__ = ["check_file", "check_folder", "write_file", "write_files"]

_HALVES = "backslashreplace"  # of surrogate pairs, from file names that are no UTF-8
_MOST = 0o666  # what a new file may be at most; the umask says what it is


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises
    ------
    UsageError
        If its folder is missing or may not be written, or if it is a folder.
    """
    try:
        place = _place(path)
        if place.is_dir():
            raise UsageError("this is a folder, not a file", str(path), "name a file in it")
        if place.exists() and not place.is_file():
            return
        check_folder(place.parent, named=path)
        if place.exists() and not os.access(place, os.W_OK):
            raise _refused(path, os.strerror(errno.EACCES))
    except OSError as error:  # such as a name too long
        raise _refused(path, error.strerror) from None


def check_folder(folder: Path, *, named: Path | None = None) -> None:
    """Refuse a folder that is none, or that no file can be made in.

    Raises
    ------
    UsageError
        If it is so; the message names `named` if that is given.
    """
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {str(folder)!r}",
            str(named or folder),
            "make it, or name another place",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"nothing may be written in the folder {str(folder)!r}",
            str(named or folder),
            "name another place",
        )


def write_file(path: Path, text: str) -> None:
    """Write a text as UTF-8, taking the place of a file that is there.

    Raises
    ------
    UsageError
        If it cannot be written; what was there is still there then.
    """
    try:
        place = _place(path)
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8", errors=_HALVES)
        else:
            _replace(place, text)
    except OSError as error:
        raise _refused(path, error.strerror) from None


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several files into a folder, by their names.

    Raises
    ------
    UsageError
        If one cannot be written; those before it are.
    """
    for name, text in texts.items():
        write_file(folder / name, text)


def _place(path: Path) -> Path:
    """Follow links: the file that is meant is replaced, not the link."""
    return Path(os.path.realpath(path))


def _replace(place: Path, text: str) -> None:
    import tempfile

    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else _MOST & ~_umask()
    file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is closed before it takes its place
        "w",
        encoding="utf-8",
        errors=_HALVES,
        newline="",
        dir=place.parent,
        prefix=".",
        suffix=".part",
        delete=False,
    )
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
        os.replace(file.name, place)  # noqa: PTH105 - both are plain names
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def _refused(path: Path, why: str | None) -> UsageError:
    return UsageError(f"the file cannot be written: {why}", str(path), "name another file")
