"""What processes have used while a run lasted: two readings of /proc, and the difference between them.

A child that ended and was waited for stands in its parent's account: processor time and input and output are
whole with it. How long it waited and how often it was switched ended with it, so these are then unknown. Sources:
proc_pid_stat(5), proc_pid_status(5), proc_pid_io(5), proc_pid_clear_refs(5), Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.record.run_numbers import (
    PEAK,
    PEAK_SINCE_START,
    PEAK_TREE,
    SERVICES,
    metric_of,
    metrics_of,
    service_disturbed,
)
from analysis.record.trial_files import Finding, warning

from .exchange import stat_of

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from ..host.cgroups import RunGroups
    from .running import RunningServices

# --- The most memory that all processes of a service had together while a run lasted, by its cgroup.
#
# Source: Documentation/admin-guide/cgroup-v2.rst, ``memory.peak``: since Linux 6.12 what is written
# to it begins the peak anew, for who reads it through the same open file.


_PEAK = "memory.peak"
_MOST = 64


def folder_with_peaks(groups: RunGroups | None) -> Path | None:
    """Give the folder of the services' groups; None where there is none, or a peak in it cannot begin anew."""
    if groups is None or "memory" not in groups.controllers:
        return None
    return None if GroupPeak(groups.path / "self").taken() is None else groups.path


def group_of(pid: int, folder: Path, proc: Path = Path("/proc")) -> Path | None:
    """Give the group below a folder in which a process is; None where it is in none of them."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::")), "")
    above, _, name = own.rpartition("/")
    return folder / name if above.rpartition("/")[2] == folder.name else None


class GroupPeak:
    """The peak of a group from now on."""

    def __init__(
        self, group: Path, anew: Callable[[int], object] = lambda file: os.write(file, b"reset\n")
    ) -> None:
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = os.open(group / _PEAK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                anew(self._file)
            except OSError:
                self._close()

    def taken(self) -> int | None:
        """Give it in bytes, and end; None where the kernel does not tell it."""
        if self._file < 0:
            return None
        try:
            return int(os.pread(self._file, _MOST, 0))
        except (OSError, ValueError):
            return None
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._file = -1


_PROC = Path("/proc")
_APART_TICKS = 3  # by which two accounts of a process may differ, where one is rounded down
_APART, _APART_NS = 0.02, 50_000  # share and time, where both are exact


class _Thread(NamedTuple):
    on_cpu_ns: int
    delay_ns: int
    voluntary: int
    involuntary: int


class _Ended(NamedTuple):
    """What ended and was waited for: the processor time in ticks, and page faults; each process has some."""

    ticks: int
    faults: int


class _Process(NamedTuple):
    """One process so far, and its `children` that were waited for. Ticks are those of the kernel."""

    parent: int
    clock_ns: int | None
    ticks: int
    children: _Ended
    autoreaps: bool
    threads: Mapping[int, _Thread] | None
    disk: tuple[int, int] | None
    peak_bytes: int | None


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
                fields = [*map(int, stat_of(proc / str(parent))[1:])]
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
    now, then = _waited_for(after), _waited_for(before)
    ended = now.faults - then.faults
    if went and ended <= 0:
        return Used()
    orphans = sum(after.above[pid].faults - before.above[pid].faults for pid in before.above)
    disk = None if orphans else _disk_between(before, after)
    ticks = now.ticks - then.ticks - sum(old[key].ticks for key in went)
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
    return replace(
        known,
        wait_ns=sum(one.delay_ns for one in threads),
        others_ns=max([0, *(one.delay_ns - (on_cpu - one.on_cpu_ns) for one in threads)]),
        voluntary_switches=sum(one.voluntary for one in threads),
        involuntary_switches=sum(one.involuntary for one in threads),
        peak_bytes=peak,
    )


def _waited_for(reading: Reading) -> _Ended:
    """Give processor time and page faults of all processes that were waited for so far."""
    all_of_them = [*(one.children for one in reading.processes.values()), *reading.above.values()]
    return _Ended(sum(one.ticks for one in all_of_them), sum(one.faults for one in all_of_them))


def _disk_between(before: Reading, after: Reading) -> tuple[int, int] | None:
    sums = []
    for reading in (before, after):
        known = [one.disk for one in reading.processes.values() if one.disk is not None]
        if len(known) < len(reading.processes):
            return None
        sums.append([sum(one[k] for one in known) for k in (0, 1)])
    (read_before, written_before), (read_now, written_now) = sums
    return read_now - read_before, written_now - written_before


def _own_ns(old: _Process | None, new: _Process, ticks_per_s: int) -> int:
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


def _read_process(folder: Path, clock_ns: int | None) -> tuple[int, _Process]:
    fields = [*map(int, stat_of(folder)[1:])]  # the parent first
    status = _lines(folder / "status")
    ignored = int(status["SigIgn"], 16)
    return fields[18], _Process(
        parent=fields[0],
        clock_ns=clock_ns,
        ticks=fields[10] + fields[11],
        children=_Ended(fields[12] + fields[13], fields[7] + fields[9]),
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


# --- What the services of a run, and what hooks have left running, used while it lasted: metrics, and words.


_NAMED = 4
_LEAST_S = 0.01  # of processor time in all runs of a session: the kernel tells it in such steps


def can_reset_peaks() -> bool:
    """Tell whether the kernel lets a process's peak begin anew (CONFIG_PROC_PAGE_MONITOR)."""
    return Path("/proc/self/clear_refs").exists()


def service_metrics(
    campaign: Campaign, *, resets: bool, grouped: bool = False
) -> dict[str, Mapping[str, str]]:
    """Describe the metrics that a campaign's services have, for the manifest."""
    peaks = (PEAK if resets else PEAK_SINCE_START, *((PEAK_TREE,) if grouped else ()))
    return {
        metric: {"unit": unit, "better": "lower", "source": SERVICES}
        for name in dict.fromkeys(one.name for one in campaign.services)
        for metric, unit in metrics_of(name, *peaks)
    }


class ServiceMeter:
    """Reads the services that a run uses before and after it; `groups` is where their cgroups lie."""

    def __init__(
        self, services: RunningServices, *, resets: bool, groups: Path | None = None
    ) -> None:
        self._services, self._resets, self._groups = services, resets, groups
        self._peaks: dict[str, GroupPeak] = {}
        self._names = {one.label: one.name for one in services.services}
        self._before: dict[str, Reading] = {}

    def begin(self, variant: str) -> None:
        """Read those that a variant's run uses."""
        if self._names:
            self._before = self._read(variant, reset=self._resets)
            self._peaks = {} if self._groups is None else self._new_peaks(variant, self._groups)

    def end(self, variant: str) -> dict[str, Used]:
        """Give what each has used since then, by its name."""
        if not self._names:
            return {}
        peaks = {label: peak.taken() for label, peak in self._peaks.items()}
        after = self._read(variant, reset=False)
        nothing = Reading({}, {}, whole=False)
        return {
            self._names[label]: replace(
                used(self._before.get(label, nothing), after.get(label, nothing)),
                tree_peak_bytes=peaks.get(label),
            )
            for label in self._services.serving(variant)
        }

    def metrics(self, found: Mapping[str, Used]) -> dict[str, tuple[float, ...]]:
        """Give the metrics of a run, without those that are not known."""
        values: dict[str, float | None] = {}
        for name, one in found.items():
            parts = {
                "cpu": one.cpu_s,
                "wait": None if one.wait_ns is None else one.wait_ns / 1e9,
                "disk_read": one.read_bytes,
                "disk_written": one.written_bytes,
                "voluntary_switches": one.voluntary_switches,
                "involuntary_switches": one.involuntary_switches,
                PEAK if self._resets else PEAK_SINCE_START: (
                    one.peak_bytes if one.reset == self._resets else None
                ),
                PEAK_TREE: one.tree_peak_bytes,
            }
            values |= {metric_of(name, what): value for what, value in parts.items()}
        return {name: (float(value),) for name, value in values.items() if value is not None}

    def _new_peaks(self, variant: str, folder: Path) -> dict[str, GroupPeak]:
        serving, found = self._services.serving(variant), {}
        for label, pids in self._services.processes().items():
            group = group_of(pids[0], folder) if pids and label in serving else None
            if group is not None:
                found[label] = GroupPeak(group)
        return found

    def _read(self, variant: str, *, reset: bool) -> dict[str, Reading]:
        serving = self._services.serving(variant)
        return {
            label: read(pids, reset=reset)
            for label, pids in self._services.processes().items()
            if label in serving
        }


def disturbed(wall_ns: int, found: Mapping[str, Used]) -> list[bool | None]:
    """Tell of each service whether it waited for a CPU during a run that took so long."""
    return [service_disturbed(wall_ns, one.wait_ns, one.others_ns) for one in found.values()]


class HookLeftovers:
    """Adds up what processes that hooks have left running use while runs last.

    `left` lists them, as the /proc in `proc` numbers them.
    """

    def __init__(self, left: Callable[[], Iterable[int]], proc: Path = Path("/proc")) -> None:
        self._left, self._proc = left, proc
        self._before: Reading | None = None
        self._seconds = 0.0
        self._names: dict[str, None] = {}

    def begin(self) -> None:
        """Read them before a run."""
        pids = tuple(self._left())
        self._before = read(pids, self._proc) if pids else None

    def end(self) -> None:
        """Add what they have used since then."""
        before, self._before = self._before, None
        if before is None:
            return
        pids = tuple(self._left())
        after = read(pids, self._proc)
        seconds = used(before, after).cpu_s
        if seconds:
            self._seconds += seconds
            names = (_name(pid, self._proc) for pid in working(before, after) or pids)
            self._names |= dict.fromkeys(names)

    def findings(self) -> tuple[Finding, ...]:
        """Say what they were and used, and begin anew; nothing where they used nothing."""
        seconds, names = self._seconds, [name for name in self._names if name]
        self._seconds, self._names = 0.0, {}
        if seconds < _LEAST_S:
            return ()
        text = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        what = f"what a hook left running ({text or 'unknown'}) used {seconds:.2f} s of processor time during runs"
        found = warning(
            "hook-left-running",
            what,
            "hooks",
            "declare it as one of 'services': then it has CPUs of its own, and is measured during each run",
            "it runs on fairtrial's CPUs, and nobody sees how long it waits for them",
        )
        return (found,)


def _name(pid: int, proc: Path) -> str:
    try:
        return (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""
