"""Where and how a launcher runs, which every program inherits: held against what it was at its start.

Sources: sched_setaffinity(2), setpriority(2), sched_setscheduler(2).
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from ..host import format_cpus

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
            found.append(f"CPUs {_listed(self.cpus)} became {_listed(now.cpus)}")
        if now.nice != self.nice:
            found.append(f"nice {self.nice} became {now.nice}")
        if (now.policy, now.priority) != (self.policy, self.priority):
            found.append(f"scheduling {self._scheduling()} became {now._scheduling()}")
        return ", ".join(found)

    def _scheduling(self) -> str:
        name = _CLASSES.get(self.policy, f"class {self.policy}")
        return f"{name} {self.priority}" if self.priority else name


def _listed(cpus: frozenset[int]) -> str:
    return format_cpus(tuple(cpus))


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
        param = os.sched_param(placement.priority)
        os.sched_setscheduler(pid, placement.policy, param)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, placement.nice)
