"""Files that commands write, and being ended from outside while they do.

A text is written beside its place and takes it when it is complete, so that a full disk or a killed
command leaves what was there. What is no regular file, such as ``/dev/stdout`` or a pipe, is written
as it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

from ..errors import UsageError

_HALVES = "backslashreplace"  # of surrogate pairs, from file names that are no UTF-8
_MOST = 0o666  # what a new file may be at most; the umask says what it is


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
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
    """Refuse a folder that is none, or that no file can be made in."""
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


def write_file(path: Path, content: str | bytes) -> None:
    """Write a text as UTF-8, or bytes, taking the place of a file that is there."""
    data = content.encode("utf-8", _HALVES) if isinstance(content, str) else content
    try:
        place = _place(path)
        if place.exists() and not place.is_file():
            place.write_bytes(data)
        else:
            _replace(place, data)
    except OSError as error:
        raise _refused(path, error.strerror) from None


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several files into a folder, by their names."""
    for name, text in texts.items():
        write_file(folder / name, text)


def _place(path: Path) -> Path:
    """Follow links: the file that is meant is replaced, not the link."""
    return Path(os.path.realpath(path))


def _replace(place: Path, data: bytes) -> None:
    import tempfile

    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else _MOST & ~mask
    file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is closed before it takes its place
        dir=place.parent, prefix=".", suffix=".part", delete=False
    )
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
        os.replace(file.name, place)  # noqa: PTH105 - both are plain names
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def _refused(path: Path, why: str | None) -> UsageError:
    return UsageError(f"the file cannot be written: {why}", str(path), "name another file")


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, so that what it has made goes with it.

    Only the first signal counts: a second one must not interrupt the removing.
    """
    # whoever started us with a signal ignored (nohup, a script's background job) meant it
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
