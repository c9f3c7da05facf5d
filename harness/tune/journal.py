"""What tuning is about to change, on disk before it changes it; and what the doctor says of a host that is tuned.

A restart of the host empties ``/run``, as it resets the settings. Whoever holds the folder's lock, which a
guardian inherits, tunes or undoes. The journal is JSON lines with checksums: a head, a line before and one
after each change, at last a line that all was done.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record.shapes import checksum_holds, encode_checked
from analysis.record.trial_files import CheckStatus, Finding

from ..errors import HostError, counted
from ..trial.folder import locked

FOLDER = "/run/fairtrial"
NAME = "tune.journal"
VERSION = 1
_UNDO = "sudo fairtrial tune --undo"
_LARGEST = 4 * 1024 * 1024  # bytes: a host has some thousand interrupts at most
_TRIES = 8
_LOOKS = 10
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a journal tells.

    `head` is its first line, empty when that cannot be read; `lines` are the others that can, `damaged`
    how many cannot, but for a torn last one: what stood there was not begun.
    """

    head: Mapping[str, Any]
    lines: tuple[Mapping[str, Any], ...]
    damaged: int = 0

    @property
    def finished(self) -> bool:
        """Whether everything was changed that was to be."""
        return any("finished" in line for line in self.lines)

    @property
    def changes(self) -> int:
        """How many changes were begun."""
        return sum("change" in line for line in self.lines)

    @property
    def kept(self) -> bool:
        """Whether the settings were meant to stay until somebody undoes them."""
        return bool(self.head.get("kept")) and self.finished and not self.undo_failed

    @property
    def undo_failed(self) -> bool:
        """Whether somebody tried to put everything back, and could not."""
        return any("undo_failed" in line for line in self.lines)


class TuneAtWorkError(HostError):
    """Somebody tunes, or puts back, right now."""


class Desk:
    """The folder of the journal, held by this process."""

    def __init__(self, root: Path, *, make: bool = True) -> None:
        self._path = root / FOLDER.lstrip("/")
        self._file: int | None = None
        for _ in range(_TRIES):
            self._fd = self._opened(make=make)
            if not locked(self._fd, _LOOKS):
                os.close(self._fd)
                what = "another 'fairtrial tune' is running on this host"
                raise TuneAtWorkError(what, str(self._path), "wait until it ends")
            with contextlib.suppress(OSError):
                now = self._path.lstat()
                if os.path.samestat(now, os.fstat(self._fd)):
                    return
            os.close(self._fd)  # who held it removed it just now: there is a new one, or none
        raise HostError("the folder of the journal keeps disappearing", str(self._path))

    def _opened(self, *, make: bool) -> int:
        try:
            if make:
                self._path.mkdir(mode=0o700, exist_ok=True)
            fd = os.open(self._path, _FOLDER_FLAGS)
        except OSError as error:
            what = "the folder of the journal cannot be used"
            fix = None
            if error.errno in (errno.EACCES, errno.EPERM):
                fix = "execute it as root: sudo fairtrial tune"
            elif error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EEXIST):
                fix = "something else was put there: look at it, and remove it"
            raise HostError(f"{what}: {error.strerror}", str(self._path), fix) from error
        found = os.fstat(fd)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            os.close(fd)
            raise HostError(
                "others may write to the folder of the journal, so what it contains is not trusted",
                f"{self._path}: owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}",
                "look at what is there, and remove it",
            )
        return fd

    def read(self) -> Story | None:
        """Read the journal; None when there is none."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(NAME, flags, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._strange(error.strerror or "") from error
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            os.close(fd)
            raise self._strange("it is not a regular file of this user")
        with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise self._strange("it is too large for a journal")
        return story_of(data)

    def _strange(self, why: str) -> HostError:
        fix = "look at it, restore by hand what it names, and remove it"
        return HostError(f"the journal is not trusted: {why}", str(self._path / NAME), fix)

    def begin(self, head: Mapping[str, Any]) -> None:
        """Make the journal, with its head."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file = os.open(NAME, flags, 0o600, dir_fd=self._fd)
        except FileExistsError as error:
            what = "the settings of this host are tuned already, or a tune died"
            raise HostError(what, str(self._path / NAME), f"{_UNDO}, then tune again") from error
        os.fsync(self._fd)
        self.add({"journal": VERSION, **head})

    def add(self, line: Mapping[str, Any]) -> None:
        """Write a line, and wait until it is on the disk."""
        assert self._file is not None
        data = encode_checked(line) + b"\n"
        try:
            written = os.write(self._file, data)
            os.fsync(self._file)
        except OSError as error:
            written, why = 0, error.strerror
        else:
            why = "no space is left"
        if written != len(data):
            raise HostError(f"the journal cannot be written: {why}", str(self._path / NAME))

    def go_on(self) -> None:
        """Open a journal that is there, and ends with a whole line, to add to it."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file = os.open(NAME, flags, dir_fd=self._fd)
        except OSError as error:
            raise self._strange(error.strerror or "") from error

    def clear(self) -> None:
        """Remove the journal: all is as it was."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(NAME, dir_fd=self._fd)

    def close(self) -> None:
        """Let others tune, as far as nobody else holds the same lock; an empty folder is removed."""
        with contextlib.suppress(OSError):
            self._path.rmdir()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        os.close(self._fd)


def story_of(data: bytes) -> Story:
    """Read a journal; a last line that was not written to its end tells of nothing that was begun."""
    whole, _, _torn = data.rpartition(b"\n")
    lines: list[Mapping[str, Any]] = []
    damaged = 0
    for line in whole.split(b"\n") if whole else ():
        parsed: object = None
        if checksum_holds(line):
            with contextlib.suppress(ValueError):
                parsed = json.loads(line)
        if isinstance(parsed, dict):
            lines.append(parsed)
        else:
            damaged += 1
    if lines and lines[0].get("journal") == VERSION:
        return Story(head=lines[0], lines=tuple(lines[1:]), damaged=damaged)
    return Story(head={}, lines=tuple(lines), damaged=damaged)


_REASON = "forgotten settings wear the machine out, and are not what its owner chose"


def finding_of_tuning(root: Path = Path("/")) -> Finding | None:
    """Look whether there is a journal; None when there is nothing to say."""
    folder = root / FOLDER.lstrip("/")
    if not os.path.lexists(folder):
        return None
    where = f"{FOLDER}/{NAME}"
    if not os.access(folder, os.R_OK | os.X_OK):
        what = "settings of this host were changed by 'fairtrial tune': only root can see which"
        return _found("unknown", what, FOLDER, "sudo fairtrial doctor")
    try:
        with contextlib.closing(Desk(root, make=False)) as desk:
            story = desk.read()
    except TuneAtWorkError:
        return _found("ok", "a 'fairtrial tune' is running, and will put its settings back", where)
    except HostError as error:
        return _found("warn", error.what, error.where or where, error.fix)
    if story is None:
        return None
    begun = f"{counted(story.changes, 'setting')} of this host since {story.head.get('started')}"
    if story.kept:
        return _found("ok", f"'fairtrial tune' changed {begun}, to be kept", where, _UNDO)
    if story.undo_failed:
        return _found("warn", f"not all could be put back of {begun}", where, _UNDO)
    return _found("warn", f"a 'fairtrial tune' died and left changed {begun}", where, _UNDO)


def _found(status: CheckStatus, what: str, where: str, fix: str | None = None) -> Finding:
    return Finding(check="tune", status=status, what=what, where=where, fix=fix, reason=_REASON)
