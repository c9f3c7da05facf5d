"""What is known of a host, as plain values: what was read, what a check may look at, and what it found."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from analysis.record.trial_files import CheckStatus, Finding

# --- Small files under one root, as the kernel shows them: missing, empty or odd is ``None``.


# What kernels and firmware write where they have no value.
_NO_VALUE = frozenset(
    {"", "unknown", "<unknown>", "<unsupported>", "unsupported", "n/a", "(null)", "<not supported>"}
)
_POLL_BYTES = 64 * 1024


def parse_cpus(text: str) -> tuple[int, ...]:
    """Read a kernel CPU list such as ``0-2,5`` (also ``0-8:2/4``) into sorted numbers."""
    numbers: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.strip().split(","))):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6})/([0-9]{1,6}))?)?", part)
        if match is None:
            raise ValueError(f"{part!r} is no CPU number and no range of CPU numbers")
        first, last, used, group = (None if item is None else int(item) for item in match.groups())
        assert first is not None
        last = first if last is None else last
        if last < first or group == 0:
            raise ValueError(f"{part!r} is an empty range")
        span = range(first, last + 1)
        numbers.update(n for n in span if group is None or (n - first) % group < (used or 0))
    return tuple(sorted(numbers))


def format_cpus(cpus: tuple[int, ...]) -> str:
    """Write CPU numbers as the kernel does: ``(0, 1, 2, 5)`` becomes ``0-2,5``."""
    parts: list[str] = []
    ordered = sorted(set(cpus))
    start = 0
    for index, cpu in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == cpu + 1:
            continue
        first = ordered[start]
        parts.append(str(cpu) if first == cpu else f"{first}-{cpu}")
        start = index + 1
    return ",".join(parts)


def _unless_no_more_files(error: Exception) -> None:
    """Pass an error on that says nothing of the file: that this process may open no more."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        raise error


class Tree:
    """Reads small files below `root`; every path is written as it is below ``/``.

    Files asked for with `poll` stay open, and one that could not be opened is not tried again:
    a missing file then costs nothing between two runs.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._open: dict[str, int | None] = {}

    def path(self, path: str) -> Path:
        """Give the real place of `path`."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """Give the file's text without the white space around it, or None."""
        try:
            data = self.path(path).read_bytes()
        except (OSError, ValueError) as error:
            _unless_no_more_files(error)
            return None
        text = data.decode("utf-8", "replace").strip().strip("\0")
        return None if text.lower() in _NO_VALUE else text

    def number(self, path: str) -> int | None:
        """Give the file's one whole number, or None."""
        return whole(self.text(path))

    def cpus(self, path: str) -> tuple[int, ...] | None:
        """Give the file's CPU list, or None; a file that is there but empty is the empty list."""
        try:
            return parse_cpus(self.path(path).read_bytes().decode("ascii"))
        except (OSError, ValueError) as error:
            _unless_no_more_files(error)
            return None

    def chosen(self, path: str) -> str | None:
        """Give the bracketed word of a choice such as ``always [madvise] never``, or None."""
        return self.first(path, r"\[([^\]\s]+)\]")

    def first(self, path: str, pattern: str) -> str | None:
        """Give the group of what a pattern finds first in the file's text, line by line; or None."""
        match = re.search(pattern, self.text(path) or "", re.MULTILINE)
        return None if match is None else match[1]

    def names(self, path: str) -> tuple[str, ...] | None:
        """Give the sorted names in a directory, or None when it cannot be listed."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))  # noqa: PTH208 - names, not paths
        except OSError as error:
            _unless_no_more_files(error)
            return None

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self.path(path).exists()

    def poll(self, path: str, size: int = _POLL_BYTES) -> bytes | None:
        """Read the first `size` bytes of a file that is read again and again."""
        if path not in self._open:
            try:
                self._open[path] = os.open(self.path(path), os.O_RDONLY)
            except OSError:
                self._open[path] = None
        descriptor = self._open[path]
        if descriptor is None:
            return None
        try:
            return os.pread(descriptor, size, 0)
        except OSError:
            return None

    def poll_number(self, path: str) -> int | None:
        """Read one whole number from a file that is read again and again."""
        data = self.poll(path, 64)
        return None if data is None else whole(data.decode("ascii", "replace"))

    def close(self) -> None:
        """Close the files that `poll` keeps open."""
        for descriptor in self._open.values():
            if descriptor is not None:
                os.close(descriptor)
        self._open.clear()


def whole(text: str | None) -> int | None:
    """Read a whole number of at most 20 digits, or give None."""
    if text is None or not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", text):
        return None
    return int(text)


# --- What was read of a host, as plain values.


_CPU = "/sys/devices/system/cpu"
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"

PARANOID = "/proc/sys/kernel/perf_event_paranoid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A program that used the processors while they were looked at; `share` is of one CPU."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """What one CPU lost while it was looked at for `looked_s` seconds.

    `lost_s` is the sum of all gaps, `count` their number, `longest_s` the longest one.
    """

    cpu: int
    looked_s: float
    lost_s: float
    count: int
    longest_s: float

    @property
    def share(self) -> float:
        """The part of the time that was lost, from 0 to 1."""
        return self.lost_s / self.looked_s if self.looked_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GapLook:
    """A look at the measured CPUs; without `gaps`, `problem` says why nothing is known.

    `busiest` are the programs that used most processor time meanwhile, on whatever CPU.
    """

    gaps: tuple[Gaps, ...] = ()
    problem: str | None = None
    busiest: tuple[Busy, ...] = ()

    @property
    def worst(self) -> Gaps | None:
        """The CPU that lost the largest part of its time."""
        return max(self.gaps, key=lambda one: one.share, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnGroup:
    """The cgroup of version 2 in which this process is."""

    path: str  # its folder, as below ``/``
    # whether it is the root of all groups, which alone may hold processes and hand down controllers
    # at once
    top: bool
    controllers: tuple[str, ...]  # those that it may hand down to groups below it
    handed_down: tuple[str, ...]  # those that it does hand down
    others: int | None  # how many other processes are in it; None when that cannot be read
    writable: bool  # whether this process may make groups below it and move itself there


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """An event that is counted; with `user_only` without what kernel and hypervisor do for it."""

    name: str
    unit: str
    user_only: bool


@dataclass(frozen=True, slots=True)
class MissingEvent:
    """An event that is not counted, and why: it is not there, not permitted, or has no place."""

    name: str
    what: str
    where: str | None = None
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterLook:
    """What became of the events that were wanted, in their order.

    `wanted` is whether a campaign wants them, and not only the doctor; `paranoid` the kernel's setting.
    """

    counted: tuple[CountedEvent, ...]
    missing: tuple[MissingEvent, ...]
    wanted: bool = True
    paranoid: int | None = None

    @property
    def metrics(self) -> dict[str, dict[str, str]]:
        """The metrics that rows will have, as a manifest declares them."""
        return {
            one.name: {"unit": one.unit, "better": "lower", "source": "counters"}
            for one in self.counted
        }

    def to_dict(self) -> dict[str, str]:
        """Give of each event in a word what becomes of it, as an environment record has it."""
        texts = {one.name: "user" if one.user_only else "all" for one in self.counted}
        return texts | {one.name: f"none: {one.what}" for one in self.missing}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """One online logical CPU. `siblings` are the threads of its core, itself included.

    Frequencies are in kHz: `lowest` and `highest` are the limits in force, `hardware_lowest` and
    `hardware_highest` those of the hardware. `capacity` is the kernel's relative speed (1024 is
    the fastest core); `performance` tells the fast cores of a hybrid processor from the others.
    """

    number: int
    siblings: tuple[int, ...] | None = None
    core: int | None = None
    package: int | None = None
    node: int | None = None
    capacity: int | None = None
    performance: bool | None = None
    governor: str | None = None
    driver: str | None = None
    preference: str | None = None
    lowest: int | None = None
    highest: int | None = None
    hardware_lowest: int | None = None
    hardware_highest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The online CPUs, in order."""

    cpus: tuple[Cpu, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the online CPUs."""
        return tuple(cpu.number for cpu in self.cpus)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The NUMA nodes that have online CPUs; empty when the kernel shows none."""
        return tuple(sorted({cpu.node for cpu in self.cpus if cpu.node is not None}))

    @property
    def cores(self) -> int | None:
        """How many physical cores are online, or None when one CPU's core is not known."""
        groups = {cpu.siblings for cpu in self.cpus}
        return None if None in groups or not groups else len(groups)

    def cpu(self, number: int) -> Cpu | None:
        """Give the online CPU with that number."""
        return next((cpu for cpu in self.cpus if cpu.number == number), None)

    def only(self, numbers: tuple[int, ...]) -> tuple[Cpu, ...]:
        """Give the online CPUs among `numbers`; all of them when `numbers` is empty."""
        wanted = set(numbers) or set(self.numbers)
        return tuple(cpu for cpu in self.cpus if cpu.number in wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSwitch:
    """A setting that is on, off or unknown, and the file and value that say so."""

    on: bool | None
    path: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """One entry of /sys/class/power_supply."""

    name: str
    kind: str | None
    online: int | None
    status: str | None
    capacity: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyZone:
    """The counter of one package's energy, and whether this process may read it.

    It begins again at 0 behind `range_uj` microjoules; None when the kernel does not say where.
    """

    path: str
    name: str | None
    readable: bool
    range_uj: int | None = None


def _in_file(path: str, how: str) -> Any:  # noqa: ANN401 - what a dataclass takes for a default
    """Declare a value that one small file holds: `Host` reads it by that method of `Tree`."""
    return field(default=None, metadata={"path": path, "how": how})


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """Everything about a host that stands still during a session, and a few values of the moment.

    `cpus` are the CPUs that will be measured. `virtual` is the hypervisor's name, "none" on bare
    metal, None when nothing shows it; `container` likewise. `device_irqs` maps each device
    interrupt to the CPUs that may serve it. `quota_cpus` is the cgroup's CPU quota, and
    ``inf`` never appears: no quota is None with `quota_known`. `cgroup` is that of version 2 in which
    this process is, None where there is none.

    A value that one small file holds is declared with that file, here and nowhere else; `path_of`
    gives it to whoever says where the value was read.
    """

    cpus: tuple[int, ...]
    hostname: str | None = _in_file("/proc/sys/kernel/hostname", "text")
    kernel: str | None = _in_file("/proc/sys/kernel/osrelease", "text")
    kernel_build: str | None = _in_file("/proc/sys/kernel/version", "text")
    architecture: str | None = None
    distribution: str | None = None
    boot_arguments: str | None = _in_file("/proc/cmdline", "text")
    cpu_model: str | None = None
    microcode: str | None = None
    flags_sha256: str | None = None
    topology: Topology
    usable: tuple[int, ...]
    isolated: tuple[int, ...] | None = None
    nohz_full: tuple[int, ...] | None = _in_file(f"{_CPU}/nohz_full", "cpus")
    turbo: KernelSwitch = field(default_factory=lambda: KernelSwitch(on=None))
    smt: str | None = _in_file(f"{_CPU}/smt/control", "text")
    smt_active: bool | None = None
    aslr: int | None = _in_file("/proc/sys/kernel/randomize_va_space", "number")
    thp: str | None = _in_file(f"{_HUGE_PAGES}/enabled", "chosen")
    thp_defrag: str | None = _in_file(f"{_HUGE_PAGES}/defrag", "chosen")
    numa_balancing: int | None = _in_file("/proc/sys/kernel/numa_balancing", "number")
    clocksource: str | None = _in_file(f"{_CLOCK}/current_clocksource", "text")
    clocksources: tuple[str, ...] = ()
    perf_rate: int | None = _in_file("/proc/sys/kernel/perf_event_max_sample_rate", "number")
    rt_runtime_us: int | None = _in_file("/proc/sys/kernel/sched_rt_runtime_us", "number")
    rt_period_us: int | None = _in_file("/proc/sys/kernel/sched_rt_period_us", "number")
    virtual: str | None = None
    virtual_path: str | None = None
    container: str | None = None
    container_path: str | None = None
    quota_cpus: float | None = None
    quota_known: bool = False
    quota_path: str | None = None
    cgroup: OwnGroup | None = None
    memory_total_bytes: int | None = None
    swap_total_bytes: int | None = None
    swappiness: int | None = _in_file("/proc/sys/vm/swappiness", "number")
    temperature_path: str | None = None
    temperature_limit_c: float | None = None
    throttle_path: str | None = None
    supplies: tuple[Supply, ...] | None = None
    platform_profile: str | None = _in_file("/sys/firmware/acpi/platform_profile", "text")
    energy: tuple[EnergyZone, ...] | None = None
    device_irqs: Mapping[str, tuple[int, ...]] | None = None
    vulnerabilities: Mapping[str, str] = field(default_factory=dict)

    @property
    def draining(self) -> tuple[Supply, ...]:
        """The batteries that the machine runs on at this moment, as far as the kernel shows."""
        return tuple(
            supply
            for supply in self.supplies or ()
            if (supply.status or "").lower() == "discharging"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the state as JSON types."""
        return {name: _plain(value) for name, value in asdict(self).items()}


# name -> path, method of `Tree`
IN_FILES: Mapping[str, tuple[str, str]] = {
    entry.name: (entry.metadata["path"], entry.metadata["how"])
    for entry in fields(HostState)
    if entry.metadata
}


def path_of(name: str) -> str:
    """Give the file that holds a value of `HostState`."""
    return IN_FILES[name][0]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCounters:
    """What moves: counts since boot and values of the moment, for the CPUs `cpus`.

    Counters are compared by `harness.host.checks.check_between`. `busy_s` and `steal_s` belong to
    `cpus`, `busy_all_s` to every CPU, and `fairtrial_s` is this process's own. `irqs` counts device
    interrupts that `cpus` served, by source. `throttled` counts thermal events, `quota_throttled` those of the cgroup's CPU quota.
    `kernel_alarms` are the alarming lines of the kernel log so far, None when it is unreadable; `has_log` whether there is one.
    """

    cpus: tuple[int, ...]
    uptime_s: float | None = None
    load_1min: float | None = None
    runnable: int | None = None
    steal_s: float | None = None
    busy_s: float | None = None
    busy_all_s: float | None = None
    fairtrial_s: float = 0.0
    irqs: Mapping[str, int] | None = None
    swapped_in_pages: int | None = None
    swapped_out_pages: int | None = None
    memory_available_bytes: int | None = None
    throttled: int | None = None
    cooling: tuple[str, ...] | None = None
    quota_throttled: int | None = None
    temperature_c: float | None = None
    frequency_khz: Mapping[int, int] = field(default_factory=dict)
    governors: Mapping[int, str] = field(default_factory=dict)
    turbo: bool | None = None
    kernel_alarms: tuple[str, ...] | None = None
    has_log: bool = True


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of the dataclasses above
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The host before a session, and what the trial is going to ask of it.

    `state` and `counters` were read for `cpus`, those that will be measured (all when empty);
    `free_bytes` is the room where the trial goes (None: unknown), `runs_path` that folder; `gaps` is
    what a look at the measured CPUs saw, `events` which events can be counted; None when nobody
    looked. `energy` says that energy is going to be recorded. `groups` are the controllers of the
    cgroups that the trial's runs have, None when they have none, or before a trial; `ungrouped` that
    the campaign asks for none, `limits` what it limits. `others_logged_in` counts users besides the
    caller, None where nobody can tell.
    """

    state: HostState
    counters: HostCounters
    cpus: tuple[int, ...]
    fifo: bool = False
    aslr: bool = True
    free_bytes: int | None = None
    needed_bytes: int = 0
    runs_path: str | None = None
    gaps: GapLook | None = None
    groups: tuple[str, ...] | None = None
    ungrouped: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    events: CounterLook | None = None
    energy: bool = False
    others_logged_in: int | None = None

    @property
    def measured(self) -> tuple[Cpu, ...]:
        """The online CPUs that are measured."""
        return self.state.topology.only(self.cpus)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the measured CPUs, as asked for where the kernel shows none."""
        return tuple(cpu.number for cpu in self.measured) or self.cpus

    @property
    def others(self) -> tuple[int, ...]:
        """The online CPUs that share no core with a measured one: where other work may go."""
        taken = {n for cpu in self.measured for n in (cpu.number, *(cpu.siblings or ()))}
        return tuple(n for n in self.state.topology.numbers if n not in taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The counters at two moments, `elapsed_s` apart, of the measured `cpus`."""

    before: HostCounters
    after: HostCounters
    elapsed_s: float
    cpus: tuple[int, ...]


@dataclass(slots=True)
class Check:
    """One host check: it judges a host that is about to measure, and why that matters to a timing.

    `between` judges what happened from one moment to another (None where nothing can happen).
    """

    before: Callable[[Situation], Finding]
    reason: str
    between: Callable[[Interval], Finding] | None = None

    def during(self, between: Callable[[Interval], Finding]) -> Callable[[Interval], Finding]:
        """Take a function for `between`: a decorator."""
        self.between = between
        return between

    @property
    def name(self) -> str:
        """The check's name, that of its function."""
        return self.before.__name__


def check(reason: str) -> Callable[[Callable[[Situation], Finding]], Check]:
    """Make a check of a function: a decorator; `reason` says why it matters."""
    return lambda before: Check(before, reason)


def found(
    status: CheckStatus, what: str, where: str | None = None, fix: str | None = None
) -> Finding:
    """Make a finding; `harness.host.checks` adds the check's name and reason."""
    return Finding(check="", status=status, what=what, where=where, fix=fix)


def read(path: str, value: object) -> str:
    """Write where a value was read: the path and the value itself."""
    return f"{path} = {value}"


def named(cpus: tuple[int, ...]) -> str:
    """Name CPUs in a sentence: ``cpu3``, or ``cpus 2-3``."""
    return f"cpu{cpus[0]}" if len(cpus) == 1 else f"cpus {format_cpus(cpus)}"


def ghz(khz: int) -> str:
    """Write a frequency in GHz."""
    return f"{khz / 1e6:.2f} GHz"
