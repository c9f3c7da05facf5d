"""Where programs print what nobody looks at: a pipe whose reader throws all away, a file, or our own standard output.

Launchers inherit the pipe, so it is opened before the first one starts.
"""

from __future__ import annotations

import fcntl
import functools
import os
import select
import termios
import threading
from pathlib import Path

from .client import kept_locks

_MOST = 1 << 20  # bytes at once


class Drain:
    """A pipe that a thread of this process empties; `fd` is the end to write to."""

    def __init__(self) -> None:
        self._reader, self.fd = os.pipe()
        self._taken, self._lock = 0, threading.Lock()
        kept_locks.add(self.fd)
        threading.Thread(target=self._read, daemon=True, name="drain").start()

    def _read(self) -> None:
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        while select.select([self._reader], [], []):
            with self._lock:
                self._taken += os.splice(self._reader, null, _MOST)

    def written(self) -> int:
        """Count the bytes that were written so far."""
        with self._lock:
            return self._taken + waiting(self._reader)


drain = functools.cache(Drain)  # the one of this process


def waiting(fd: int) -> int:
    """Count the bytes that can be read from an open file now."""
    return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4), "little")


def sink_of(name: str) -> Path | int | None:
    """Give what `pipe`, `inherit` or a file's path is to a launcher; None of other sinks."""
    if name in ("pipe", "inherit"):
        return drain().fd if name == "pipe" else 1
    return Path(name).resolve() if name.startswith("/") else None
