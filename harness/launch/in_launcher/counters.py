"""Counters of processor and kernel: opened beside the runs, read before and after each.

The events count nothing of the launcher itself: they are opened disabled, a child inherits them so,
and its exec enables them. What a spawn that fails does is therefore not counted either.

Beside them stands one event that no child inherits. Without it the kernel takes the events of a child
for a copy of the launcher's, and where the two follow each other on a CPU it exchanges them: the
child's exec then enables the launcher's own, once, and every later run would count nothing.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os

from .system_calls import libc

_CLOEXEC = 8
_RESULT = 24  # the value, and for how many ns it was enabled and counted
_TRYING = range(1000)  # what is done while it is tried whether an event has a place


class Events:
    """The system calls on events; tests put another object in its place."""

    def __init__(self, call: int, enable: int) -> None:
        self._number = ctypes.c_long(call)
        self._enable = enable
        self._call = libc.syscall
        self._call.restype = ctypes.c_long

    def open(self, attributes: bytes, group: int = -1) -> int:
        """Open an event of this process and its children; raise OSError."""
        fd: int = self._call(
            self._number,
            ctypes.c_char_p(attributes),
            ctypes.c_long(0),
            ctypes.c_long(-1),
            ctypes.c_long(group),
            ctypes.c_long(_CLOEXEC),
        )
        if fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return fd

    def enable(self, fd: int) -> None:
        """Begin to count what this process does."""
        fcntl.ioctl(fd, self._enable, 0)

    def read(self, fd: int) -> bytes:
        """Give three numbers of 8 bytes, or fewer bytes for an event that has no place."""
        return os.read(fd, _RESULT)

    def close(self, fd: int) -> None:
        """Close an event."""
        os.close(fd)


class EventCounters:
    """The events of the campaign: `look` tells which can be had, `start` and `taken` count a run.

    They are open only while runs are counted: an open event is inherited by every run, and costs it
    some microseconds.
    """

    def __init__(self, setting: dict | None, events: Events | None = None) -> None:  # type: ignore[type-arg]  # the message
        self._wanted = [] if setting is None else setting["events"]
        self._share = setting is not None and setting["share"]
        if events is None and setting is not None:
            events = Events(setting["call"], setting["enable"])
        self._events = events
        self._ways: list[bytes | None] = [None] * len(self._wanted)
        self._ours = b"" if setting is None else setting["ours"]
        self._open: list[int | None] = []
        self._kept: int | None = None
        self._before: list[bytes] | None = None

    def look(self) -> list:  # type: ignore[type-arg]  # of (errno, number of the way, whether it fits)
        """Tell of each event whether it can be opened, how, and whether the processor has a place."""
        answers = []
        group: list[dict] = []  # type: ignore[type-arg]  # the ways of those that fit together
        for number, event in enumerate(self._wanted):
            failure, chosen = self._try(event["ways"])
            fits = not failure
            if fits and event["on_processor"] and not self._share:
                way = event["ways"][chosen]
                fits = self._fit([*group, way])
                if fits:
                    group.append(way)
            if fits:
                self._ways[number] = event["ways"][chosen]["count"]
            answers.append((failure, chosen, fits))
        return answers

    def _try(self, ways: list) -> tuple[int, int]:  # type: ignore[type-arg]  # of dicts
        """Open an event in the first way that works; give 0 or the errno, and the way's number."""
        failure: int | None = 0
        for chosen, way in enumerate(ways):
            try:
                fd = self._events.open(way["count"])  # type: ignore[union-attr]  # there is an event
            except OSError as error:
                failure = error.errno
                if failure not in {errno.EACCES, errno.EPERM}:
                    break
            else:
                self._events.close(fd)  # type: ignore[union-attr]  # likewise
                return 0, chosen
        return failure or 0, 0

    def _fit(self, ways: list) -> bool:  # type: ignore[type-arg]  # of dicts
        """Tell whether the processor counts these events at the same time.

        They are a group that is pinned to it: one that finds no place is in error, which a read
        tells by giving nothing.
        """
        events = self._events
        assert events is not None
        opened: list[int] = []
        try:
            for way in ways:
                if opened:
                    opened.append(events.open(way["other"], opened[0]))
                else:
                    opened.append(events.open(way["first"]))
            events.enable(opened[0])
            sum(_TRYING)
            return len(events.read(opened[0])) == _RESULT
        except OSError:
            return False  # a group that can never be together is not opened
        finally:
            for fd in reversed(opened):
                events.close(fd)

    def start(self, *, wanted: bool) -> None:
        """Note where the events stand before a run, or close them for one that is not counted."""
        self._before = None
        if not wanted:
            self.close()
            return
        if not self._open and self._wanted:
            self._kept = self._opened(self._ours)
            self._open = [self._opened(way) for way in self._ways]
        self._before = [b"" if fd is None else self._events.read(fd) for fd in self._open]  # type: ignore[union-attr]  # open

    def taken(self) -> list | None:  # type: ignore[type-arg]  # of (value, enabled, counted) or None
        """Give for each event by how much it has moved since `start`; None for a run not counted."""
        if self._before is None or all(fd is None for fd in self._open):
            return None
        return [
            None if fd is None else _moved(before, self._events.read(fd))  # type: ignore[union-attr]  # open
            for fd, before in zip(self._open, self._before, strict=True)
        ]

    def _opened(self, way: bytes | None) -> int | None:
        if way is None or (self._kept is None and way is not self._ours):
            return None
        try:
            return self._events.open(way)  # type: ignore[union-attr]  # there is an event
        except OSError:
            return None  # the kernel may have become stricter meanwhile; the run has no such value

    def close(self) -> None:
        """Close the events, so that what is executed next does not inherit them."""
        for fd in (*self._open, self._kept):
            if fd is not None:
                self._events.close(fd)  # type: ignore[union-attr]  # open
        self._open, self._kept = [], None


def _moved(before: bytes, after: bytes) -> tuple[int, int, int] | None:
    if len(before) != _RESULT or len(after) != _RESULT:
        return None
    numbers = [
        int.from_bytes(after[at : at + 8], "little") - int.from_bytes(before[at : at + 8], "little")
        for at in (0, 8, 16)
    ]
    return numbers[0], numbers[1], numbers[2]
