"""The C library's calls, and what is set with them once: isolation that targets inherit, a PID namespace."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import marshal
import os
import select
import signal

# --- What reaches the launcher: messages from the orchestrator, and signals.
#
# TERM is sent to every process of a job at once by a batch system or a service manager. It is
# meant for the orchestrator, which may want to execute its last hooks, and tells this process
# what to do. CONT comes to a process that was stopped and goes on, which nothing else tells it.


class Hangup(Exception):
    """The orchestrator is gone, or a signal has asked to end."""


def receive(fd: int) -> dict:  # type: ignore[type-arg]  # messages are plain dicts
    """Read one message; raise `Hangup` at the end of the stream."""
    head = _read_exactly(fd, 4)
    message: dict = marshal.loads(  # type: ignore[type-arg]  # a plain dict
        _read_exactly(fd, int.from_bytes(head, "little"))
    )
    return message


def _read_exactly(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            more = os.read(fd, size - len(data))
        except ConnectionResetError:  # it died with a reply of ours unread
            more = b""
        if not more:
            raise Hangup
        data += more
    return data


def send(fd: int, message: dict) -> None:  # type: ignore[type-arg]  # messages are plain dicts
    """Write one message; raise `Hangup` when nobody is there to read it."""
    data = marshal.dumps(message)
    view = memoryview(len(data).to_bytes(4, "little") + data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Hangup from None


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class ReceivedSignals:
    """Whether TERM has come since the last reply, and whether CONT has since `continued` was cleared."""

    def __init__(self) -> None:
        self._came = False
        self.continued = False

    def listen(self) -> None:
        """Note the signals from now on, in place of ending by TERM."""
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGCONT, self._note_going_on)

    def _note(self, _number: int, _frame: object) -> None:
        self._came = True

    def _note_going_on(self, _number: int, _frame: object) -> None:
        self.continued = True

    def taken(self) -> bool:
        """Tell whether TERM came, once."""
        came, self._came = self._came, False
        return came


# --- The calls themselves.


class SettingRefused(Exception):
    """A setting could not be applied: (setting, errno)."""


libc = ctypes.CDLL(None, use_errno=True)


def call(setting: str, result: int) -> None:
    """Raise `SettingRefused` for a call that answers -1."""
    if result < 0:
        raise SettingRefused(setting, ctypes.get_errno())


def check(failure: int) -> None:
    """Raise OSError for a call that answers with an error number."""
    if failure:
        raise OSError(failure, os.strerror(failure))


_ADDR_NO_RANDOMIZE = 0x0040000


def apply(config: dict) -> None:  # type: ignore[type-arg]  # the configuration message
    """Put the campaign's settings on this process; targets inherit them."""
    if config["cpus"]:
        _try("cpus", lambda: os.sched_setaffinity(0, config["cpus"]))
    if config["nice"] is not None:
        _try("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, config["nice"]))
    if config["scheduling"] == "batch":
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
    elif config["scheduling"] == "fifo":
        # One above the target, or a spinning target would never let a timeout fire.
        above = os.sched_param(config["priority"] + 1)
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, above))
    if not config["aslr"]:
        persona = libc.personality(ctypes.c_ulong(0xFFFFFFFF))
        call("aslr", libc.personality(ctypes.c_ulong(persona | _ADDR_NO_RANDOMIZE)))


def _try(setting: str, action) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - no typing import here
    try:
        action()
    except OSError as error:
        raise SettingRefused(setting, error.errno) from None


_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_MS_REC_SLAVE = 0x4000 | 0x80000
_PR_SET_PDEATHSIG = 1


def enter_namespace(kind: str) -> None:
    """Go on as process 2 of a new PID namespace with a /proc of its own.

    Process 1 is a fork that only waits: some programs take a parent number of 1 to mean that
    their parent died, so the launcher itself must not be number 1. The caller's process ends.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = _CLONE_NEWPID | _CLONE_NEWNS | (_CLONE_NEWUSER if kind == "user" else 0)
    call("containment", libc.unshare(flags))
    if kind == "user":
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(fd, text.encode())
            os.close(fd)
    # Slave, not private: what a hook mounts on the host still reaches the targets.
    call("containment", libc.mount(None, b"/", None, _MS_REC_SLAVE, None))
    ready_r, ready_w = os.pipe()
    starter = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(ready_w)
        verdict = os.read(ready_r, 16)
        if not verdict:
            raise SettingRefused("containment", errno.EPERM)
        if verdict != b"ok":
            raise SettingRefused("containment", int(verdict))
        os._exit(0)
    os.close(ready_r)
    if libc.mount(b"proc", b"/proc", b"proc", 0, None) < 0:
        os.write(ready_w, b"%d" % ctypes.get_errno())
        os._exit(1)
    child = os.fork()
    if child:
        for number in ENDING:  # of those without a handler, the inside reaches process 1 with none
            signal.signal(number, signal.SIG_DFL)
        os.write(ready_w, b"ok")
        # Who started us ends, and we fall to the orchestrator: from then on we die with it.
        ended = select.poll()
        ended.register(starter, select.POLLIN)
        ended.poll()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.closerange(3, 1 << 16)
        while os.wait()[0] != child:
            pass
        os._exit(0)
    os.close(ready_w)
    os.close(starter)


# --- Counters of processor and kernel: opened outside the runs, read before and after each.
#
# The events count nothing of the launcher itself: they are opened disabled, a child inherits them
# so, and its exec enables them. What a spawn that fails does is therefore not counted either.
#
# With them stands one event that no child inherits. Without it the kernel takes the events of a
# child for a copy of the launcher's, and where the two follow each other on a CPU it exchanges
# them: the child's exec then enables the launcher's own, once, and every later run would count
# nothing.


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
