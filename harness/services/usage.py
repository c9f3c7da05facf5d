"""What processes have used while a run lasted: two readings of /proc, and the difference between them.

A child that ended and was waited for stands in its parent's account: processor time and input and output are
whole with it. How long it waited and how often it was switched ended with it, so these are then unknown. Sources:
proc_pid_stat(5), proc_pid_status(5), proc_pid_io(5), proc_pid_clear_refs(5), Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_APART_TICKS = 3  # by which two accounts of a process may differ, where one is rounded down
_APART, _APART_NS = 0.02, 50_000  # share and time, where both are exact


class _Thread(NamedTuple):
    on_cpu_ns: int
    delay_ns: int
    voluntary: int
    involuntary: int


class _Process(NamedTuple):
    """One process so far. Ticks are those of the kernel; those of children are of those waited for."""

    parent: int
    clock_ns: int | None
    ticks: int
    children_ticks: int
    children_faults: int
    autoreaps: bool
    threads: Mapping[int, _Thread] | None
    disk: tuple[int, int] | None
    peak_bytes: int | None


class _Ended(NamedTuple):
    """What ended and was waited for: the processor time in ticks, and page faults, of which each process has some."""

    ticks: int
    faults: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The processes of one service at one time, by number and start; who takes their orphans.

    `whole` is false where one of them was gone before it could be read.
    """

    processes: Mapping[tuple[int, int], _Process]
    above: Mapping[int, _Ended]
    whole: bool
    reset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a service has used between two readings; ``None`` is unknown.

    `others_ns` is the least that one of its threads has waited while none of its other threads can have had
    the CPU. `peak_bytes` is the sum of the peaks of its processes: since the reading before where `reset`, else since
    each was started. `tree_peak_bytes` is the most that its cgroup had at one time, where it has one that tells.
    """

    cpu_s: float | None = None
    wait_ns: int | None = None
    others_ns: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    peak_bytes: int | None = None
    reset: bool = False
    tree_peak_bytes: int | None = None


def reset_peak(pid: int, proc: Path = _PROC) -> bool:
    """Have a process's peak begin anew; tell whether the kernel did that."""
    try:
        file = os.open(proc / str(pid) / "clear_refs", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, b"5")
        finally:
            os.close(file)
    except OSError:
        return False
    return True


def process_clock(pid: int) -> int | None:
    """Give the processor time of a process in nanoseconds, threads that ended included (clock_getcpuclockid(3))."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


def read(
    pids: Iterable[int],
    proc: Path = _PROC,
    *,
    reset: bool = False,
    clock: Callable[[int], int | None] = process_clock,
) -> Reading:
    """Read processes, parents before their children; with `reset` their peaks begin anew.

    `pids` are all of one tree, without who has started it; `clock` gives the exact processor time of one.
    """
    pids = tuple(pids)
    found: dict[tuple[int, int], _Process] = {}
    whole, was_reset = True, reset
    above: dict[int, _Ended] = {}
    for pid in pids:
        if reset:
            was_reset &= reset_peak(pid, proc)
        try:
            start, process = _read_process(proc / str(pid), clock(pid))
        except (OSError, ValueError, IndexError):
            whole = False
            continue
        found[pid, start] = process
        parent = process.parent
        if parent not in pids and parent not in above:
            try:
                fields = _stat(proc / str(parent))
                above[parent] = _Ended(fields[12] + fields[13], fields[7] + fields[9])
            except (OSError, ValueError, IndexError):
                whole = False
    return Reading(found, above, whole, was_reset)


def used(before: Reading, after: Reading, *, ticks_per_s: int | None = None) -> Used:
    """Give what was used between two readings of one service.

    Nothing is known where a process may have come and gone unseen: one that ignores SIGCHLD keeps no account of
    its children, and of one that vanished nobody tells who waited for it.
    """
    ticks_per_s = ticks_per_s or os.sysconf("SC_CLK_TCK")
    old, new = before.processes, after.processes
    came, went = new.keys() - old.keys(), old.keys() - new.keys()
    both = [*old.values(), *new.values()]
    seen = before.whole and after.whole and old and before.above.keys() == after.above.keys()
    if not seen or any(one.autoreaps for one in both):
        return Used()
    ended = _ended(after) - _ended(before)
    if went and ended <= 0:
        return Used()
    orphans = sum(after.above[pid].faults - before.above[pid].faults for pid in before.above)
    disk = None if orphans else _disk_between(before, after)
    ticks = _children(after) - _children(before) - sum(old[key].ticks for key in went)
    cpu_ns = ticks * 1_000_000_000 // ticks_per_s
    threads: list[_Thread] | None = []
    for key, process in new.items():
        past = None if key in came else old[key]
        own_ns = _own_ns(past, process, ticks_per_s)
        cpu_ns += own_ns
        mine = _between(past, process, own_ns, ticks_per_s)
        threads = None if mine is None or threads is None else [*threads, *mine]
    known = Used(
        cpu_s=max(cpu_ns, 0) / 1e9,  # ticks are rounded down
        read_bytes=None if disk is None else disk[0],
        written_bytes=None if disk is None else disk[1],
        reset=before.reset,
    )
    if ended or went:
        return known
    return _with_threads(known, threads, [one.peak_bytes for one in new.values()])


def working(before: Reading, after: Reading) -> tuple[int, ...]:
    """List the processes that are there after and have used processor time since, as far as ticks tell."""
    past = {key: one.ticks for key, one in before.processes.items()}
    return tuple(key[0] for key, one in after.processes.items() if one.ticks > past.get(key, 0))


def _with_threads(known: Used, threads: list[_Thread] | None, peaks: list[int | None]) -> Used:
    """Add what is known only where nothing has ended."""
    sizes = [one for one in peaks if one is not None]
    peak = sum(sizes) if len(sizes) == len(peaks) else None
    if threads is None:
        return replace(known, peak_bytes=peak)
    on_cpu = sum(one.on_cpu_ns for one in threads)
    least = max((one.delay_ns - (on_cpu - one.on_cpu_ns) for one in threads), default=0)
    return replace(
        known,
        wait_ns=sum(one.delay_ns for one in threads),
        others_ns=max(least, 0),
        voluntary_switches=sum(one.voluntary for one in threads),
        involuntary_switches=sum(one.involuntary for one in threads),
        peak_bytes=peak,
    )


def _ended(reading: Reading) -> int:
    """Give the page faults of all processes that were waited for so far."""
    inside = sum(one.children_faults for one in reading.processes.values())
    return inside + sum(one.faults for one in reading.above.values())


def _children(reading: Reading) -> int:
    """Give the processor time, in ticks, of all processes that were waited for so far."""
    inside = sum(one.children_ticks for one in reading.processes.values())
    return inside + sum(one.ticks for one in reading.above.values())


def _disk_between(before: Reading, after: Reading) -> tuple[int, int] | None:
    sums = []
    for reading in (before, after):
        parts = [one.disk for one in reading.processes.values()]
        known = [one for one in parts if one is not None]
        if len(known) < len(parts):
            return None
        sums.append((sum(one[0] for one in known), sum(one[1] for one in known)))
    return sums[1][0] - sums[0][0], sums[1][1] - sums[0][1]


def _own_ns(old: _Process | None, new: _Process, ticks_per_s: int) -> int:
    """Give a process's own processor time, by its clock where it has one, else by ticks."""
    past_ns = 0 if old is None else old.clock_ns
    if new.clock_ns is not None and past_ns is not None:
        return new.clock_ns - past_ns
    return (new.ticks - (0 if old is None else old.ticks)) * 1_000_000_000 // ticks_per_s


def _between(
    old: _Process | None, new: _Process, own_ns: int, ticks_per_s: int
) -> list[_Thread] | None:
    """Give what each thread of a process has used; None where a thread has ended, or has been unseen."""
    then = {} if old is None else old.threads
    if then is None or new.threads is None or not then.keys() <= new.threads.keys():
        return None
    zero = _Thread(0, 0, 0, 0)
    found = [
        _Thread(*(b - a for a, b in zip(then.get(number, zero), one, strict=True)))
        for number, one in new.threads.items()
    ]
    exact = new.clock_ns is not None and (old is None or old.clock_ns is not None)
    apart = _APART * own_ns if exact else _APART_TICKS * 1e9 / ticks_per_s
    unseen = own_ns - sum(one.on_cpu_ns for one in found)
    if unseen > max(apart, _APART_NS) or any(part < 0 for one in found for part in one):
        return None
    return found


def _stat(folder: Path) -> list[int]:
    """Give the numbers of ``stat`` behind the state: the parent first."""
    text = (folder / "stat").read_text(errors="replace")
    return [int(word) for word in text.rpartition(")")[2].split()[1:]]


def _read_process(folder: Path, clock_ns: int | None) -> tuple[int, _Process]:
    fields = _stat(folder)
    status = _lines(folder / "status")
    ignored = int(status["SigIgn"], 16)
    return fields[18], _Process(
        parent=fields[0],
        clock_ns=clock_ns,
        ticks=fields[10] + fields[11],
        children_ticks=fields[12] + fields[13],
        children_faults=fields[7] + fields[9],
        autoreaps=bool(ignored >> (signal.SIGCHLD - 1) & 1),
        threads=_threads(folder),
        disk=_disk(folder),
        peak_bytes=int(status["VmHWM"].split()[0]) * 1024 if "VmHWM" in status else None,
    )


def _threads(folder: Path) -> dict[int, _Thread] | None:
    """Read the account of each thread; None where the kernel keeps none, or one has just ended."""
    found = {}
    try:
        for task in (folder / "task").iterdir():
            on_cpu, delay = (task / "schedstat").read_text().split()[:2]
            status = _lines(task / "status")
            found[int(task.name)] = _Thread(
                int(on_cpu),
                int(delay),
                int(status["voluntary_ctxt_switches"]),
                int(status["nonvoluntary_ctxt_switches"]),
            )
    except (OSError, ValueError, KeyError):
        return None
    return found or None


def _disk(folder: Path) -> tuple[int, int] | None:
    try:
        found = _lines(folder / "io")
        return int(found["read_bytes"]), int(found["write_bytes"])
    except (OSError, ValueError, KeyError):
        return None


def _lines(path: Path) -> dict[str, str]:
    rows = (line.partition(":") for line in path.read_text(errors="replace").splitlines())
    return {name: text.strip() for name, _, text in rows}
