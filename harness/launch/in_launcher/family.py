"""The processes that targets leave behind: found, killed and reaped."""

from __future__ import annotations

import os
import signal
import time

from .leaves import Leaves, Ungrouped

_SWEEP_LIMIT_S = 10.0
_STEP_S = 0.25


class Family:
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
