"""Reads what moves on a host: processor time, interrupts, other programs, and how much of a CPU they take.

Reading the clock takes a twentieth of a microsecond: where more than 2 us lie between two reads the CPU did
something else, for a program, an interrupt, the hypervisor or the firmware.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil

from analysis.registry import shipped

from . import facts
from .facts import (
    CPU,
    LOGINS,
    cpufreq,
    energy_zones,
    online,
    own_cgroups,
    own_group,
    sensors,
    topology,
    turbo,
    usable,
)
from .state import IN_FILES, Busy, GapLook, Gaps, HostCounters, HostState, OwnGroup, Tree, whole

STAT = "/proc/stat"
LOADAVG = "/proc/loadavg"
VMSTAT = "/proc/vmstat"
INTERRUPTS = "/proc/interrupts"
PRESSURE = "/proc/pressure"  # Documentation/accounting/psi.rst
KERNEL_LOG = "/dev/kmsg"
# what no CPU can hand on: GIC's 16 to 31 (Arm IHI 0069, section 2.2.1), a hart's own on RISC-V
_PRIVATE = re.compile(r"GIC\S*\s+(1[6-9]|2\d|3[01])\s|RISC-V INTC\s")

# Columns of a cpu line in /proc/stat, in ticks of 1/CLK_TCK s.
_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ, _STEAL = 0, 1, 2, 5, 6, 7
_BUSY, _STOLEN = (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ), (_STEAL,)
_STEAL_OF_CPU = re.compile(rb"\ncpu([0-9]{1,6}) (?:[0-9]{1,20} ){7}([0-9]{1,20})\b")
_TOTAL = re.compile(rb"some [^\n]*\btotal=([0-9]{1,20})\b")

Pressed = Literal["cpu", "memory", "io"]

# What the kernel says when a measurement on this host is in doubt.
_ALARM = re.compile(
    r"\[Hardware Error\]|Machine check|EDAC .*\b[CU]E\b|cpu clock throttled|temperature above"
    r"|Out of memory|oom-kill|invoked oom-killer|blocked for more than|soft lockup|hard LOCKUP"
    r"|self-detected stall|detected stalls|RT throttling activated|Marking clocksource .* unstable"
    r"|Buffer I/O error|I/O error, dev|critical (?:medium|target) error",
    re.IGNORECASE,
)
_MOST_ALARMS = 1000


class KernelLog:
    """Collects the alarming lines of the kernel log; the log stays open, so each is read once."""

    def __init__(self, tree: Tree) -> None:
        self._descriptor: int | None = None
        self._alarms: list[str] = []
        with suppress(OSError):
            self._descriptor = os.open(tree.path(KERNEL_LOG), os.O_RDONLY | os.O_NONBLOCK)

    def alarms(self) -> tuple[str, ...] | None:
        """Give the alarming lines since boot, oldest first, or None when the log is unreadable."""
        if self._descriptor is None:
            return None
        while (block := self._block(self._descriptor)) is not None:
            for line in block.decode("utf-8", "replace").splitlines():
                # "priority,sequence,microseconds,flags;text"; further lines begin with a blank.
                head, semicolon, text = line.partition(";")
                if semicolon and not line.startswith(" ") and _ALARM.search(text):
                    self._alarms.append(f"{_seconds(head)}{text.strip()}")
        del self._alarms[:-_MOST_ALARMS]
        return tuple(self._alarms)

    def _block(self, descriptor: int) -> bytes | None:
        while True:
            try:
                return os.read(descriptor, 16 * 1024) or None
            except BrokenPipeError:
                continue  # records were overwritten before we read them; the next read goes on
            except OSError:
                return None  # EAGAIN: no record left

    def close(self) -> None:
        """Close the log."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _seconds(head: str) -> str:
    parts = head.split(",")
    stamp = whole(parts[2]) if len(parts) > 2 else None
    return "" if stamp is None else f"[{stamp / 1e6:.3f}] "


class ProcessorTime:
    """One reading of /proc/stat: of all CPUs, in ticks of `tick_s` seconds, and read out only where it is asked."""

    def __init__(self, data: bytes, tick_s: float) -> None:
        self._data, self.tick_s = b"\n" + data, tick_s

    def stolen(self, cpus: tuple[int, ...]) -> int | None:
        """Give the ticks that a hypervisor took from `cpus` since boot, of the whole host when it is empty."""
        return self._ticks(cpus, _STOLEN)

    def busy(self, cpus: tuple[int, ...]) -> int | None:
        """Give the ticks in which `cpus` were busy, whoever ran there, likewise."""
        return self._ticks(cpus, _BUSY)

    def stolen_by_cpu(self) -> dict[int, int]:
        """Give the ticks that were taken from each CPU; empty where the kernel does not show it."""
        return {int(number): int(ticks) for number, ticks in _STEAL_OF_CPU.findall(self._data)}

    def _ticks(self, cpus: tuple[int, ...], columns: tuple[int, ...]) -> int | None:
        total = 0
        for name in [b"\ncpu%d " % cpu for cpu in cpus] or [b"\ncpu "]:
            start = self._data.find(name)
            end = self._data.find(b"\n", start + 1)
            found = self._data[start + len(name) : end].split()
            whole_line = start >= 0 and end >= 0 and len(found) > max(columns)
            if not whole_line or not all(word.isdigit() for word in found):
                return None
            total += sum(int(found[column]) for column in columns)
        return total


class Host:
    """The one reader of /proc and /sys below `root`: of the real host, or of a recorded tree. It changes nothing.

    A value that the kernel does not show, or that this process may not read, is None: never a guess.

    Notes
    -----
    Close it, or use it as a context manager: what is read between runs is kept open.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self.root, self._tree = root, Tree(root)
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self._stat_bytes: int | None = None
        self._sensors: tuple[str, ...] | None = None
        self._log: KernelLog | None = None

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is kept open."""
        if self._log is not None:
            self._log.close()
        self._tree.close()

    def processor_time(self) -> ProcessorTime | None:
        """Read what each CPU has done since boot; None where the kernel does not show it."""
        if self._stat_bytes is None:
            # Only the first lines are wanted; the line of interrupts below them may be long.
            count = (self._tree.text(STAT) or "").count("\ncpu")
            self._stat_bytes = 160 * (count + 2)
        data = self._tree.poll(STAT, self._stat_bytes)
        return None if data is None else ProcessorTime(data, self._tick_s)

    def steal_s(self, cpus: tuple[int, ...]) -> float | None:
        """Give the time that a hypervisor took from `cpus` since boot, in seconds: of ticks, usually of 10 ms."""
        now = self.processor_time()
        ticks = None if now is None else now.stolen(cpus)
        return None if ticks is None else ticks * self._tick_s

    def _busy_s(self, cpus: tuple[int, ...]) -> float | None:
        now = self.processor_time()
        ticks = None if now is None else now.busy(cpus)
        return None if ticks is None else ticks * self._tick_s

    def load_1min(self) -> float | None:
        """Give the mean number of running and waiting processes of the last minute."""
        data = self._tree.poll(LOADAVG, 64)
        return None if data is None else _real(data.decode("ascii", "replace"))

    def pressure_us(self, what: Pressed) -> int | None:
        """Give how long some process has waited for a resource since boot, in microseconds."""
        match = _TOTAL.match(self._tree.poll(f"{PRESSURE}/{what}", 256) or b"")
        return None if match is None else int(match.group(1))

    def temperature_c(self) -> float | None:
        """Give the processor's temperature: the hottest package's."""
        if self._sensors is None:
            self._sensors = tuple(path for path, _ in sensors(self._tree))
        values = [self._tree.poll_number(path) for path in self._sensors]
        # A broken sensor reads absurd values; they are unknown, not cold or hot.
        believable = [value / 1000 for value in values if value is not None and 0 < value < 150_000]
        return max(believable, default=None)

    def energy_uj(self, path: str) -> int | None:
        """Give a counter of energy in microjoules, None where it is gone or closed."""
        return self._tree.poll_number(path)

    def frequency_khz(self, cpu: int) -> int | None:
        """Give the frequency that the driver reports for the CPU now."""
        value = self._tree.poll_number(cpufreq(cpu, "scaling_cur_freq"))
        return value if value is not None and value > 0 else None

    def counters(self, cpus: tuple[int, ...] = ()) -> HostCounters:
        """Read what moves, for `cpus`; for every usable CPU when empty."""
        cpus = cpus or usable(self._tree, online(self._tree))
        self._log = self._log or KernelLog(self._tree)
        load = (self._tree.text(LOADAVG) or "").split()
        running = self._tree.first(STAT, r"^procs_running (\d+)")
        frequencies = {cpu: self.frequency_khz(cpu) for cpu in cpus}
        governors = {cpu: self._tree.text(cpufreq(cpu, "scaling_governor")) for cpu in cpus}
        unified, first = own_cgroups(self._tree)
        stats = [f"{folder}/cpu.stat" for folder in (*unified, *first)]
        counts = [self._tree.first(path, r"^nr_throttled (\d+)$") for path in stats]
        return HostCounters(
            cpus=cpus,
            uptime_s=_real(self._tree.text("/proc/uptime")),
            load_1min=_real(" ".join(load)),
            # The process that reads is running while it reads.
            runnable=None if running is None else max(0, int(running) - 1),
            steal_s=self.steal_s(cpus),
            busy_s=self._busy_s(cpus),
            busy_all_s=self._busy_s(()),
            fairtrial_s=time.process_time(),
            irqs=self._irqs(cpus),
            swapped_in_pages=self._vmstat("pswpin"),
            swapped_out_pages=self._vmstat("pswpout"),
            memory_available_bytes=facts.meminfo(self._tree, "MemAvailable"),
            throttled=self._throttled(cpus),
            cooling=self._cooling(),
            quota_throttled=sum(map(int, filter(None, counts))) if any(counts) else None,
            temperature_c=self.temperature_c(),
            frequency_khz={cpu: value for cpu, value in frequencies.items() if value is not None},
            governors={cpu: value for cpu, value in governors.items() if value is not None},
            turbo=turbo(self._tree, cpus).on,
            kernel_alarms=self._log.alarms(),
            has_log=self._tree.exists(KERNEL_LOG),
        )

    def _vmstat(self, name: str) -> int | None:
        return whole(self._tree.first(VMSTAT, rf"^{name} (\d+)$"))

    def _irqs(self, cpus: tuple[int, ...]) -> dict[str, int] | None:
        lines = (self._tree.text(INTERRUPTS) or "").splitlines()
        header = lines[0].split() if lines else []
        if not header or not all(re.fullmatch(r"CPU\d+", word) for word in header):
            return None
        columns = [i for i, word in enumerate(header) if not cpus or int(word[3:]) in cpus]
        counts: dict[str, int] = {}
        for line in lines[1:]:
            number, _, rest = line.strip().partition(":")
            # Device interrupts have numbers; the kernel's own (timer, rescheduling) have names, or are a CPU's own.
            words = rest.split(maxsplit=len(header))
            if not number.isdigit() or len(words) < len(header) or _PRIVATE.match(words[-1]):
                continue
            seen = [words[column] for column in columns]
            if all(word.isdigit() for word in seen) and (total := sum(map(int, seen))):
                name = words[len(header)].split()[-1] if len(words) > len(header) else ""
                counts[f"{number} {name}".strip()] = total
        return counts

    def _throttled(self, cpus: tuple[int, ...]) -> int | None:
        cores, packages = (
            [
                count
                for cpu in cpus or topology(self._tree).numbers
                if (count := self._tree.number(f"{CPU}/cpu{cpu}/thermal_throttle/{name}"))
                is not None
            ]
            for name in ("core_throttle_count", "package_throttle_count")
        )
        # Each CPU repeats its package's count: adding those up would count an event many times.
        return sum(cores) + max(packages, default=0) if cores or packages else None

    def _cooling(self) -> tuple[str, ...] | None:
        base = "/sys/class/thermal"
        states = {
            f"{base}/{name}/cur_state": self._tree.number(f"{base}/{name}/cur_state")
            for name in self._tree.names(base) or ()
            if name.startswith("cooling_device")
            and re.search(r"cpu|processor", self._tree.text(f"{base}/{name}/type") or "", re.I)
        }
        known = {path: state for path, state in states.items() if state is not None}
        return tuple(path for path, state in known.items() if state > 0) if known else None

    # ---- what stands still, and other programs

    def read(self, cpus: tuple[int, ...] = ()) -> HostState:
        """Read everything that stands still during a session."""
        tree = self._tree
        topology = facts.topology(tree)
        usable = facts.usable(tree, topology.numbers)
        measured = cpus or usable
        # kernels before 6.1 do not show it as a file; on another root there is nobody to ask
        machine = os.uname().machine if self.root == Path("/") else None
        fields = facts.cpuinfo(tree)
        virtual, virtual_path = facts.virtual(tree, fields)
        container, container_path = facts.container(tree)
        quota, quota_known, quota_path = facts.quota(tree)
        sensors = facts.sensors(tree)
        limits = [limit for _, limit in sensors if limit is not None]
        base = facts.CPU
        throttled = (f"{base}/cpu{n}/thermal_throttle/core_throttle_count" for n in measured)
        return HostState(
            cpus=measured,
            architecture=tree.text("/proc/sys/kernel/arch") or machine,
            distribution=facts.distribution(tree),
            cpu_model=facts.cpu_model(tree, fields),
            microcode=tree.text(f"{base}/cpu0/microcode/version") or fields.get("microcode"),
            flags_sha256=facts.flags_sha256(fields),
            topology=topology,
            usable=usable,
            isolated=facts.isolated(tree),
            turbo=facts.turbo(tree, measured),
            smt_active=facts.smt_active(tree, topology),
            clocksources=tuple((tree.text(facts.CLOCKSOURCES) or "").split()),
            virtual=virtual,
            virtual_path=virtual_path,
            container=container,
            container_path=container_path,
            quota_cpus=quota,
            quota_known=quota_known,
            quota_path=quota_path,
            cgroup=own_group(tree),
            memory_total_bytes=facts.meminfo(tree, "MemTotal"),
            swap_total_bytes=facts.meminfo(tree, "SwapTotal"),
            temperature_path=sensors[0][0] if sensors else None,
            temperature_limit_c=min(limits, default=None),
            throttle_path=next(filter(tree.exists, throttled), None),
            supplies=facts.supplies(tree),
            energy=energy_zones(tree),
            device_irqs=facts.device_irqs(tree),
            vulnerabilities=facts.vulnerabilities(tree),
            **{name: getattr(tree, how)(path) for name, (path, how) in IN_FILES.items()},
        )

    def gaps(
        self, cpus: tuple[int, ...] | None, seconds: float, *, priority: int = 0, nice: int = 0
    ) -> GapLook:
        """Look for `seconds` how much of the CPUs others take; see `look_for_gaps`."""
        if self.root != Path("/"):
            return GapLook(problem="a recorded host has no CPUs to look at")
        if not cpus:
            return look_for_gaps(cpus, seconds)  # says why nothing is looked at
        began, before = time.monotonic(), processor_times()
        look = look_for_gaps(cpus, seconds, priority=priority, nice=nice)
        after, elapsed = processor_times(), time.monotonic() - began
        return replace(look, busiest=busiest(before, after, elapsed))

    def others_logged_in(self) -> int | None:
        """Count the users that are logged in besides the caller; None where nobody keeps a list, or can tell."""
        if self.root != Path("/") or not Path(LOGINS).exists():
            return None
        try:
            return len({user.name for user in psutil.users()} - {getpass.getuser()})
        except (OSError, KeyError):  # a list that may not be read; a user without a name
            return None

    def own_group(self) -> OwnGroup | None:
        """Give the cgroup of version 2 in which this process is now."""
        return own_group(self._tree)

    def thread_count(self, pid: int) -> int | None:
        """Give how many threads the process has, or None when it is gone."""
        return whole(self._tree.first(f"/proc/{pid}/status", r"^Threads:\s*(\d+)"))

    def machine_id(self) -> str | None:
        """Give the SHA-256 of the machine's id: it tells hosts apart and names none."""
        for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            text = self._tree.text(path)
            if text and text != "uninitialized":
                return hashlib.sha256(text.encode()).hexdigest()
        return None

    def boot_id(self) -> str | None:
        """Give the id of this boot: another one after a restart of the host."""
        return self._tree.text("/proc/sys/kernel/random/boot_id")

    def umask(self) -> str | None:
        """Give this process's umask in octal; asking the kernel to set it would race."""
        return self._tree.first("/proc/self/status", r"^Umask:\s*([0-7]+)")


def _real(text: str | None) -> float | None:
    match = re.match(r"\d{1,12}(?:\.\d+)?(?=\s|$)", text or "")
    return None if match is None else float(match.group(0))


Times = Mapping[tuple[int, float], tuple[str, float]]


def processor_times() -> Times:
    """Give the name and the processor time so far (seconds) of each process but this one.

    A process is its number and the time at which it began.
    """
    found: dict[tuple[int, float], tuple[str, float]] = {}
    for pid in set(psutil.pids()) - {os.getpid()}:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                used = process.cpu_times()
                key = (pid, process.create_time())
                found[key] = (process.name(), used.user + used.system)
        except (psutil.Error, OSError, ValueError, IndexError):
            continue  # it has ended meanwhile, or is not ours to read
    return found


def busiest(before: Times, after: Times, elapsed_s: float, most: int = 3) -> tuple[Busy, ...]:
    """Give the programs that used most processor time between two moments, `elapsed_s` apart.

    Processes of one name count together; one that has ended meanwhile is not seen.
    """
    used: dict[str, float] = {}
    for key, (name, seconds) in after.items():
        used[name] = used.get(name, 0.0) + seconds - before.get(key, (name, 0.0))[1]
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        Busy(name=name, share=seconds / elapsed_s)
        for name, seconds in ranked[:most]
        if seconds > 0 and elapsed_s > 0
    )


_SCRIPT = shipped("harness/host/gap_probe.py")
_START_S = 10.0  # more than an interpreter needs on a CPU that is shared with many


def look_for_gaps(
    cpus: tuple[int, ...] | None, seconds: float, *, priority: int = 0, nice: int = 0
) -> GapLook:
    """Look at CPUs for a while, at all of them at the same time."""
    if not cpus:
        return GapLook(problem="the targets are not pinned: there is no CPU to look at")
    numbers = (",".join(map(str, cpus)), str(round(seconds * 1e9)), str(priority), str(nice))
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(_SCRIPT), *numbers],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds + _START_S,
            process_group=0,  # a Ctrl-C of the terminal is for fairtrial
            check=True,
        )
        rows = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return GapLook(problem=f"the CPUs could not be looked at: {_why(error)}")
    refused = [row for row in rows if "refused" in row]
    if refused:
        first = refused[0]
        return GapLook(problem=f"nothing may be pinned to cpu{first['cpu']}: {first['refused']}")
    return GapLook(
        gaps=tuple(
            Gaps(
                cpu=row["cpu"],
                looked_s=row["looked"] / 1e9,
                lost_s=row["lost"] / 1e9,
                count=row["gaps"],
                longest_s=row["longest"] / 1e9,
            )
            for row in rows
        )
    )


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {error.timeout:.0f} s"
    if isinstance(error, subprocess.CalledProcessError):
        last = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        return last[-1] if last else f"the probe ended with {error.returncode}"
    return str(error)


# --- What the host did while one run lasted: its load, who waited for what, what a hypervisor took
# from each CPU.
#
# Two readings of five small files that stay open, outside the clocks. Sources: proc_loadavg(5),
# proc_stat(5), Documentation/accounting/psi.rst.


_FRESH_S = 0.005  # the kernel counts processor time in ticks of 10 ms
_PRESSED: tuple[Pressed, ...] = ("cpu", "memory", "io")


class _Before(NamedTuple):
    load_1min: float | None
    pressure_us: tuple[int | None, ...]
    time: ProcessorTime | None


class Surroundings:
    """Reads the host before and after each run of targets on `cpus` (empty: anywhere)."""

    def __init__(self, host: Host, cpus: tuple[int, ...]) -> None:
        self._host, self._cpus = host, cpus
        self._last: tuple[float, ProcessorTime | None] | None = None
        self._before = _Before(None, (), None)

    def begin(self) -> None:
        """Read it before a run; processor times that were read a moment ago will do."""
        last = self._last
        fresh = last is not None and time.monotonic() - last[0] < _FRESH_S
        now = last[1] if last is not None and fresh else self._host.processor_time()
        self._before = _Before(self._host.load_1min(), self._pressure(), now)

    def end(self, service_cpus: tuple[int, ...] = ()) -> dict[str, Any]:
        """Give the numbers of the run as its row has them; `service_cpus` are those of its services."""
        before, pressure = self._before, self._pressure()
        now = self._host.processor_time()
        self._last = (time.monotonic(), now)
        found: dict[str, Any] = {"load_1min": before.load_1min}
        for what, old, new in zip(_PRESSED, before.pressure_us, pressure, strict=True):
            found[f"pressure_{what}_s"] = _between(old, new, 1e-6)
        if before.time is None or now is None:
            return found
        tick_s, mine = now.tick_s, self._cpus
        found["steal_s"] = _between(before.time.stolen(mine), now.stolen(mine), tick_s)
        found["cpu_steal_s"] = _stolen(before.time, now)
        if service_cpus:
            busy = (before.time.busy(service_cpus), now.busy(service_cpus))
            found["service_cpus_busy_s"] = _between(*busy, tick_s)
        return found

    def _pressure(self) -> tuple[int | None, ...]:
        return tuple(self._host.pressure_us(what) for what in _PRESSED)


def _between(before: int | None, after: int | None, unit_s: float) -> float | None:
    return None if before is None or after is None else (after - before) * unit_s


def _stolen(before: ProcessorTime, after: ProcessorTime) -> dict[str, float] | None:
    """Give what was taken from each CPU that lost something; None where the kernel does not show it."""
    whole = _between(before.stolen(()), after.stolen(()), 1.0)
    if not whole:  # on most hosts and in most runs: so the lines of all CPUs need not be read
        return None if whole is None else {}
    old = before.stolen_by_cpu()
    parts = ((n, ticks - old[n]) for n, ticks in after.stolen_by_cpu().items() if n in old)
    return {str(number): ticks * after.tick_s for number, ticks in parts if ticks}
