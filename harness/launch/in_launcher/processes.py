"""The processes of a run: where their time went, and those that are left behind are found, killed and reaped.

Between its end and `wait4` a target is a zombie, and its ``schedstat`` still answers. It is read then, and
the launcher's own around the clock: nothing of this lies in the measured time.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cgroups import Leaves, Ungrouped

NAMES = ("on_cpu_ns", "run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")
_UNKNOWN: dict = dict.fromkeys(NAMES)  # type: ignore[type-arg]  # name -> int or None
_COMPLETE = 0.98
_APART_NS = 50_000


class Account:
    """The account of one run after the other: `begin` before t0, `end` after t1, then `numbers`.

    `proc` is where /proc lies.
    """

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        try:
            self._own = os.open(f"{proc}/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a kernel that keeps none
            self._own = -1
        self._delay: int | None = None
        self._on_cpu = 0
        self._target: tuple[int, int] | None = None

    def begin(self) -> None:
        """Note what the launcher has waited and used so far; the clock is read next."""
        self._delay = self._own_delay()
        self._on_cpu = time.thread_time_ns()  # schedstat lags behind by up to a tick while one runs

    def end(self, pid: int) -> None:
        """Take the differences, and read the zombie's account; the clock was read just before."""
        self._on_cpu = time.thread_time_ns() - self._on_cpu
        now = self._own_delay()
        self._delay = None if now is None or self._delay is None else now - self._delay
        self._target = _parsed(_contents(f"{self._proc}/{pid}/schedstat"))

    def numbers(self, wall_ns: int, spawn_ns: int, processor_s: float, tree_s: float = 0.0) -> dict:  # type: ignore[type-arg]  # name -> int or None
        """Give the numbers of `NAMES`: all of them or, where the account is not whole, none.

        `processor_s` is what `wait4` tells of the whole process and the children it waited for:
        where the leading thread has less than 0.98 of it, others have the rest. `tree_s` is that of all
        its processes, whoever waited for them: likewise, where it is beyond by more than 50 us. The
        kernel's two accounts of one process were at most 43 us apart (2,500 runs, most by less than 1);
        and who has worked for less cannot alone make its parent wait for as long as disturbs it.

        posix_spawn wakes the launcher when the program is loaded, but it may wait while that runs on
        (always with SCHED_BATCH, which preempts nobody). Such waiting is the program's own time. It
        is told by what posix_spawn took beyond twice the launcher's work; and the launcher cannot have
        waited longer than the program, from its birth to its end, neither ran nor waited.
        """
        if self._delay is None or self._target is None:
            return _UNKNOWN
        on_cpu, run_delay = self._target
        all_ns = tree_s * 1e9
        beyond = on_cpu < min(_COMPLETE * all_ns, all_ns - _APART_NS)
        if beyond or on_cpu < _COMPLETE * processor_s * 1e9:
            return _UNKNOWN
        beside = max(0, spawn_ns - 2 * self._on_cpu)
        room = max(0, wall_ns - on_cpu - run_delay)
        return {
            "on_cpu_ns": on_cpu,
            "run_delay_ns": run_delay,
            "launcher_delay_ns": min(max(0, self._delay - beside), room),
            "launcher_on_cpu_ns": self._on_cpu,
        }

    def _own_delay(self) -> int | None:
        if self._own < 0:
            return None
        try:
            found = _parsed(os.pread(self._own, 96, 0))
        except OSError:
            return None
        return None if found is None else found[1]


def _contents(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 96)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _parsed(text: bytes) -> tuple[int, int] | None:
    """Read (on a CPU, waiting for one) in ns; None for "0 0 0", which is what some kernels say."""
    fields = text.split()
    if len(fields) != 3 or not all(field.isdigit() for field in fields):
        return None
    on_cpu, delay, slices = map(int, fields)
    return (on_cpu, delay) if on_cpu or delay or slices else None


_SWEEP_LIMIT_S = 10.0
_STEP_S = 0.25


class ProcessTree:
    """Everything below the launcher: `contained` in a PID namespace of its own, or not.

    `leaves` kill the run's processes at one stroke, where they have a cgroup.
    """

    def __init__(self, leaves: Leaves | Ungrouped, *, contained: bool) -> None:
        self.leaves = leaves
        self.contained = contained
        self.me = os.getpid()

    def sweep(self) -> tuple[int, int, float]:
        """Kill and reap everything that is left.

        Give how many had to be killed, how many survived, and the processor time in seconds of all that
        nobody else has waited for.
        """
        killed, used_s = 0, 0.0
        struck = False
        waited, before = 0.0, time.monotonic()
        while True:
            try:
                pid, _, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return killed, 0, used_s
            if pid:
                used_s += usage.ru_utime + usage.ru_stime
                killed += struck  # one that had ended by itself before is no orphan
                continue
            now = time.monotonic()
            waited += min(now - before, _STEP_S)  # no longer: everything may have stood still
            before = now
            if waited > _SWEEP_LIMIT_S:
                return killed, len(_descendants(self.me)), used_s
            struck = True
            self._strike()
            time.sleep(0.0005)

    def _strike(self) -> None:
        self.leaves.kill()
        if self.contained and os.getpid() == 2 and os.getppid() == 1:
            # Everything in this PID namespace but process 1 and this one, at one stroke: even a
            # fork bomb cannot outrun it.
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            return
        family = _descendants(self.me)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in family:
                try:
                    os.kill(pid, number)
                except (ProcessLookupError, PermissionError):
                    pass


def _descendants(pid: int) -> list[int]:
    """List all processes below `pid`, by the parent field of every process in /proc."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fd = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                fields = os.read(fd, 1024).rpartition(b")")[2].split()
            except OSError:
                continue
            finally:
                os.close(fd)
            parents.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
