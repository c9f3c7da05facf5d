"""The orchestrator's side of the launcher: where it runs, requests go out, replies come back, nothing survives.

If the launcher process dies, what it left is killed here; if this one dies, the launcher kills its program.
Sources: sched_setaffinity(2), setpriority(2), sched_setscheduler(2).
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.registry import shipped

from ..campaign.model import Isolation
from ..errors import LauncherDiedError, LaunchError, counted
from ..host.state import format_cpus
from .exchange import (
    LOOK_S,
    Execution,
    LaunchRequest,
    Lookout,
    become_subreaper,
    children,
    execution_of,
    lineage,
    message_of,
    more_files,
    not_permitted,
    not_started,
)
from .matching import Interrupted, Interrupts, in_a_job

if TYPE_CHECKING:
    from ..host.cgroups import RunGroups
    from ..host.counters import EventAnswer

_CLASSES = {
    os.SCHED_OTHER: "other",
    os.SCHED_BATCH: "batch",
    os.SCHED_IDLE: "idle",
    os.SCHED_FIFO: "fifo",
    os.SCHED_RR: "rr",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The CPUs that a process may use, its nice value, its scheduling class and the priority in that."""

    cpus: frozenset[int]
    nice: int
    policy: int
    priority: int

    def changes(self, now: Placement) -> str:
        """Say what is other now; nothing where all is the same."""
        found = []
        if now.cpus != self.cpus:
            before, after = format_cpus(tuple(self.cpus)), format_cpus(tuple(now.cpus))
            found.append(f"CPUs {before} became {after}")
        if now.nice != self.nice:
            found.append(f"nice {self.nice} became {now.nice}")
        if (now.policy, now.priority) != (self.policy, self.priority):
            found.append(f"scheduling {self._scheduling()} became {now._scheduling()}")
        return ", ".join(found)

    def _scheduling(self) -> str:
        name = _CLASSES.get(self.policy, f"class {self.policy}")
        return f"{name} {self.priority}" if self.priority else name


def placement_of(pid: int) -> Placement | None:
    """Read how a process is placed; None of one that has ended."""
    try:
        return Placement(
            cpus=frozenset(os.sched_getaffinity(pid)),
            nice=os.getpriority(os.PRIO_PROCESS, pid),
            policy=os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK,
            priority=os.sched_getparam(pid).sched_priority,
        )
    except OSError:
        return None


def place(pid: int, placement: Placement) -> None:
    """Place a process so, as far as that is permitted."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(pid, placement.cpus)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(pid, placement.policy, os.sched_param(placement.priority))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, placement.nice)


_MOST = 512  # what the launcher keeps counts in its memory, below which no target's can be seen


class _Sent(NamedTuple):
    request: LaunchRequest
    env: dict[bytes, bytes]
    handle: int


class Announced:
    """The requests that one launcher has, by their handles.

    Their number is limited; then the oldest makes room, and its handle names another.
    """

    def __init__(self) -> None:
        self._sent: dict[int, _Sent] = {}

    def handle(self, request: LaunchRequest) -> tuple[int, dict[str, Any] | None]:
        """Give a request's handle, and the message that announces it where it is new or changed.

        Its environment may change from one execution to the next; all else is frozen.
        """
        known = self._sent.get(id(request))
        if known is not None and known.env == request.env:
            return known.handle, None
        number = len(self._sent) if known is None else known.handle
        if known is None and number == _MOST:
            number = self._sent.pop(next(iter(self._sent))).handle
        self._sent[id(request)] = _Sent(request, dict(request.env), number)
        return number, {**message_of(request), "handle": number}


_SCRIPT = shipped("harness/launch/launcher.py")
_STAY_NS = 20_000_000
_ENDING_S = 15.0  # what a launcher that sweeps may need
_CONTAINMENTS = ("pid", "user", "none")  # best first

# Locks of this process that its launchers keep, too: what they guard is free once nobody writes there any more;
# and the pipe that programs print to.
kept_locks: set[int] = set()

# Children of this process that are nobody's strays: there before us, or of a living launcher.
_spared: set[int] = set()


# Called while a program runs, on fairtrial's own CPU; a returned text ends the program.
Watch = Callable[[], str | None]
_INTERRUPTED = "interrupted"


class LauncherClient:
    """One launcher process and the way to it."""

    def __init__(
        self,
        isolation: Isolation,
        cpus: tuple[int, ...] | None,
        interrupts: Interrupts,
        *,
        contained: bool = True,
        stays: bool = False,
        counters: Mapping[str, Any] | None = None,
        groups: RunGroups | None = None,
        under: Sequence[str] = (),
        complaints: int | None = None,
    ) -> None:
        """Start it, by the command `under` where one is given: that executes what follows it, and ends with it.

        `complaints` is where that command, and the launcher, write their errors: an open file.
        """
        self._under, self._complaints = under, complaints
        self._stays = stays
        self.counters: tuple[EventAnswer, ...] = ()
        self._family: set[int] = set()
        self._announced = Announced()
        self.dead = False  # killed or crashed, as an exception has reported
        self._pidfd = -1
        self._begun: LaunchRequest | None = None
        self._interrupts = interrupts
        self._groups, self._prefix = groups, ""
        self.spawns_into_groups = False  # else it enters the group of a run, and leaves it
        become_subreaper()
        _spared.update(children(os.getpid()))
        wanted = contained and isolation.containment == "auto"
        for containment in _CONTAINMENTS if wanted else _CONTAINMENTS[-1:]:
            refusal = self._start(isolation, cpus, containment, counters)
            if refusal is None:
                self.containment = containment
                # the kernel may pass over a child while others end: its own are found from below, too
                own = {self._process.pid, *lineage(self.pid)}
                self._family = {*children(os.getpid())} - _spared | own
                _spared.update(self._family)
                return
            if refusal[0] != "containment":
                raise not_permitted(*refusal, isolation, cpus)
        raise LaunchError("the launcher could not be started without a namespace either")

    def _start(
        self,
        isolation: Isolation,
        cpus: tuple[int, ...] | None,
        containment: str,
        counters: Mapping[str, Any] | None,
    ) -> tuple[str, int] | None:
        ours, theirs = socket.socketpair()
        with theirs:
            own = [theirs.fileno(), *kept_locks]
            try:
                self._process = subprocess.Popen(
                    [*self._under, sys.executable, "-I", "-S", str(_SCRIPT), *map(str, own)],
                    pass_fds=[*own, *([self._groups.fd] if self._groups else [])],
                    stdin=subprocess.DEVNULL,
                    stderr=self._complaints,
                    start_new_session=True,  # a terminal's Ctrl-C is for us, not for the launcher
                    cwd="/",
                )
            except OSError as error:
                what = f"the launcher cannot be started: {error.strerror}"
                raise LaunchError(what, sys.executable, more_files(error.errno)) from error
        self._socket = ours
        self._poller = select.poll()
        self._poller.register(ours, select.POLLIN)
        self._poller.register(self._interrupts.fd, select.POLLIN)
        # The kernel tells the pid of the writer in our own terms, whatever namespace it is in.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        place = self._groups.for_launcher(isolation.limits) if self._groups else None
        self._prefix = place["prefix"] if place else ""
        chosen = {
            "cpus": list(cpus) if cpus else None,
            "containment": containment,
            "stay_ns": _STAY_NS if self._stays else 0,
            "counters": counters,
            "cgroup": place,
        }
        self._send(dataclasses.asdict(isolation) | chosen)
        self.pid = self._credentials()
        with contextlib.suppress(ProcessLookupError):  # it refused, ended, and somebody reaped it
            self._pidfd = os.pidfd_open(self.pid)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        reply = self._receive()
        if "error" in reply:
            self.close()
            return reply["error"], reply["errno"]
        if self._pidfd < 0:
            raise self._died()
        self.spawns_into_groups = reply.get("spawns_into_groups", False)
        if reply["counters"]:
            from ..host.counters import EventAnswer

            self.counters = tuple(EventAnswer(*one) for one in reply["counters"])
        return None

    def _credentials(self) -> int:
        size = struct.calcsize("3i")
        space = socket.CMSG_SPACE(size)
        with contextlib.suppress(ConnectionResetError):
            first, control, _, _ = self._socket.recvmsg(1, space, socket.MSG_PEEK)
            for level, kind, data in control:
                if first and (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    return int(struct.unpack("3i", data[:size])[0])
        raise self._died()

    def execute(
        self,
        request: LaunchRequest,
        watch: Watch | None = None,
        every_s: float = LOOK_S,
        *,
        padding: int = 0,
        count: bool = False,
    ) -> Execution:
        """Execute one program and wait for it; `watch` is asked at intervals.

        `padding` is how long its `padded` variable is; with `count` the counters are read around it.
        """
        handle, announcement = self._announced.handle(request)
        run = {"op": "run", "handle": handle, "padding": padding, "count": count}
        limit = None if request.timeout_s is None else request.timeout_s + request.grace_s
        lookout = Lookout(self.pid, limit)
        self._send(*([] if announcement is None else [announcement]), run)
        killed = self._await(lookout, watch, every_s)
        reply = self._receive()
        if killed == _INTERRUPTED:
            raise Interrupted(self._interrupts.received)
        if reply.pop("told", False):  # TERM went to all processes of a job: ours is on its way
            self._interrupts.settle()
        if "error" in reply:
            raise not_started(request, reply["error"], reply["errno"])
        return execution_of(reply, lookout.standstill(reply, woken=killed is not None))

    def begin(self, request: LaunchRequest) -> None:
        """Start a program that runs while others do; `ended` tells when it has ended, `end` ends it."""
        handle, announcement = self._announced.handle(request)
        run = {"op": "run", "handle": handle, "padding": 0, "count": False}
        self._begun = request
        self._send(*([] if announcement is None else [announcement]), run)

    def ended(self) -> Execution | None:
        """Give how the program ended that was begun; None while it lives.

        Raises LaunchError if it could not be started, or its launcher died.
        """
        return self._reply() if self._answers(0.0) else None

    def ask_to_end(self, number: int, grace_s: float) -> None:
        """Ask the program that was begun to end, by a signal to its process group; all that is left after `grace_s` is killed."""
        order = {
            "op": "kill",
            "reason": "ended",
            "signal": int(number),
            "grace_ms": round(grace_s * 1e3),
        }
        self._send(order)
        self._signal(signal.SIGCONT)

    def end(self, grace_s: float) -> Execution:
        """Wait for the end of a program that was asked for it."""
        if not self._answers(grace_s + _ENDING_S):
            self._signal(signal.SIGKILL)
            raise self._died("the launcher of a service did not answer")
        return self._reply()

    def _answers(self, seconds: float) -> bool:
        """Tell whether a reply comes within `seconds`; signals to fairtrial wait meanwhile."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(seconds * 1000))

    def _reply(self) -> Execution:
        reply, request = self._receive(), self._begun
        assert request is not None, "something was begun"
        if "error" in reply:
            raise not_started(request, reply["error"], reply["errno"])
        return execution_of(reply)

    def _await(
        self,
        lookout: Lookout,
        watch: Watch | None = None,
        every_s: float = LOOK_S,
        asked: str | None = None,
    ) -> str | None:
        """Wait for the reply; end the program on a signal or when `watch` says so, and give why.

        `asked` is why its end was asked for already.
        """
        while True:
            if self._interrupts.received and not asked:
                self._kill(asked := _INTERRUPTED)
            began = time.monotonic_ns()
            ready = self._poller.poll(every_s * 1000)
            given_up = lookout.waited(began, every_s, in_vain=not ready)
            if any(fd == self._socket.fileno() for fd, _ in ready):
                return asked
            if given_up is not None:
                self._signal(signal.SIGKILL)
                raise self._died(given_up)
            if ready:
                self._interrupts.drain()
            elif watch and not asked and (asked := watch()):
                self._kill(asked)

    def _kill(self, reason: str) -> None:
        """Ask for the end of the program under way, also if that has stopped its launcher."""
        self._send({"op": "kill", "reason": reason})
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        """Signal the launcher, which may have ended, and its number be another process's."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def targets(self) -> tuple[int, ...]:
        """List the processes that the launcher has as children right now."""
        return children(self.pid)

    @property
    def placement(self) -> Placement | None:
        """Where and how it runs right now, which programs inherit; None when it has ended."""
        return placement_of(self.pid)

    def place(self, placement: Placement) -> None:
        """Place it so again, as far as that is permitted."""
        place(self.pid, placement)

    def sweep(self) -> int:
        """Kill and reap whatever earlier programs left; give the number of killed ones."""
        self._send({"op": "sweep"})
        self._await(Lookout(self.pid, None), asked="sweep")
        return int(self._receive()["orphans"])

    def close(self) -> None:
        """End the launcher; it sweeps before it exits, unless it is stopped for good."""
        self._socket.close()
        if self._pidfd >= 0:
            self._signal(signal.SIGCONT)  # it may be stopped
            ended = select.poll()
            ended.register(self._pidfd, select.POLLIN)
            if not ended.poll(_ENDING_S * 1000):
                self._signal(signal.SIGKILL)
            os.close(self._pidfd)
            self._pidfd = -1
        self._process.wait()  # in a namespace another one than the launcher
        _spared.difference_update(self._family)
        self._reap_strays()

    def _reap_strays(self) -> int:
        """Kill the processes that fell to us when the launcher died; give their number."""
        killed = 0
        while strays := set(children(os.getpid())) - _spared:
            for pid in strays:
                try:
                    os.kill(pid, signal.SIGKILL)
                except PermissionError:  # it became another user's: waiting would never end
                    _spared.add(pid)
                    continue
                except ProcessLookupError:
                    pass
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
                killed += 1
        return killed

    def _send(self, *messages: dict[str, Any]) -> None:
        parts = [marshal.dumps(message) for message in messages]
        data = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise self._died() from None

    def _receive(self) -> dict[str, Any]:
        size = int.from_bytes(self._read(4), "little")
        reply: dict[str, Any] = marshal.loads(self._read(size))  # noqa: S302 - our own launcher wrote it
        return reply

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                more = self._socket.recv(size - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                raise self._died()
            data += more
        return data

    def _died(self, what: str = "the launcher was killed or crashed") -> LauncherDiedError:
        self.dead = True
        self._socket.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        self._process.wait()
        if self._groups is not None:
            self._groups.sweep(self._prefix)  # what other launchers have there is theirs
        _spared.difference_update(self._family)
        strays = self._reap_strays()
        if in_a_job():  # Slurm ends all of its processes at once: it may have been too young
            self._interrupts.settle()
        if strays:
            have = "has" if strays == 1 else "have"
            what += f"; {counted(strays, 'process', 'processes')} that it left {have} been killed"
        return LauncherDiedError(
            what,
            f"launcher process {getattr(self, 'pid', self._process.pid)}",
            "everything measured so far is kept; look for an out-of-memory kill in the kernel log",
        )


# --- Where programs print what nobody looks at: a pipe whose reader throws all away, a
# file, or our own standard output.
#
# Launchers inherit the pipe, so it is opened before the first one starts.


_MOST_AT_ONCE = 1 << 20  # bytes at once


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
                self._taken += os.splice(self._reader, null, _MOST_AT_ONCE)

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
