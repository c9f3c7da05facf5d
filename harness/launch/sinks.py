"""Where programs write what nobody keeps: a pipe whose reader throws all away, a file, or our own standard output.

Launchers inherit these files, so they are opened before the first one starts.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import select
import termios
import threading
from typing import TYPE_CHECKING

from analysis.errors import UsageError

from .client import kept_files

if TYPE_CHECKING:
    from collections.abc import Iterable

STDOUT = 1  # which a launcher has from us
_MOST = 1 << 20  # bytes at once


class Drain:
    """A pipe that a thread of this process empties; `fd` is the end to write to."""

    def __init__(self) -> None:
        self._reader, self.fd = os.pipe()
        self._null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        self._taken, self._lock = 0, threading.Lock()
        kept_files.add(self.fd)
        threading.Thread(target=self._read, daemon=True, name="drain").start()

    def _read(self) -> None:
        poller = select.poll()
        poller.register(self._reader, select.POLLIN)
        while True:
            poller.poll()
            with self._lock:
                self._taken += os.splice(self._reader, self._null, _MOST)

    def written(self) -> int:
        """Count the bytes that were written so far."""
        with self._lock:
            left = fcntl.ioctl(self._reader, termios.FIONREAD, b"\0" * 4)
            return self._taken + int.from_bytes(left, "little")


@functools.cache
def drain() -> Drain:
    """Give the pipe of this process."""
    return Drain()


@functools.cache
def _file(path: str) -> int:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        what = f"the output cannot be written there: {error.strerror}"
        raise UsageError(what, path, "name another file") from None
    kept_files.add(fd)
    return fd


def fd_of(sink: str) -> int | None:
    """Give the open file of `pipe`, `inherit` or a file's path; None of the other sinks."""
    if sink == "pipe":
        return drain().fd
    if sink == "inherit":
        return STDOUT
    return _file(sink) if sink.startswith("/") else None


def open_all(sinks: Iterable[str]) -> None:
    """Open what is not open yet."""
    for sink in sinks:
        fd_of(sink)


def emptied(sink: str) -> None:
    """Empty a file before a run writes to it."""
    if sink.startswith("/"):
        with contextlib.suppress(OSError):  # a device
            os.ftruncate(_file(sink), 0)
