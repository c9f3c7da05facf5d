"""The host checks: each a pure function of what `harness.host.activity.Host` read -> `Finding`.

A check stands with its reason in a table at the end of its file. Here are the questions that a session asks:
what is found before, what happened in between, and what of that must stop the trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from analysis.record.trial_files import CheckStatus, Finding
from analysis.words import command_line

from ..errors import counted, size
from . import cpu_checks as cpu
from .activity import KERNEL_LOG, VMSTAT
from .facts import DELEGATED, MEMINFO, missing_for
from .state import (
    PARANOID,
    Check,
    CountedEvent,
    HostCounters,
    Interval,
    MissingEvent,
    Situation,
    check,
    found,
    path_of,
    read,
)

# --- Checks of the kernel's memory, clock and log, and of the disk that takes the results.


_FAST_CLOCKS = frozenset(
    {
        "tsc",
        "kvm-clock",
        "arch_sys_counter",
        "hyperv_clocksource_tsc_page",
        "timebase",
        "tod",
        "riscv_clocksource",
    }
)
_LOW_MEMORY = 0.1
_LITTLE_DISK = 1_000_000_000
_LONGEST = 100


@check(
    "one fixed address layout can favour one variant by some percent; random places of stack, heap and "
    "mappings average that out, but not how the code inside the binary was linked"
)
def aslr(situation: Situation) -> Finding:
    """Check that stack, heap and mappings of each run lie elsewhere: what their places change averages out."""
    value = situation.state.aslr
    if value is None:
        return found("unknown", "the kernel does not show it", f"no {path_of('aslr')}")
    where = read(path_of("aslr"), value)
    if not situation.aslr:
        return found("ok", "the campaign turns it off for its runs", where)
    if value == 2:
        return found("ok", "on: each run gets a new address layout", where)
    how = "partly on: the heap keeps its place" if value == 1 else "off"
    what = f"{how}, so every run repeats one address layout, lucky or not"
    return found("warn", what, where, "sudo sysctl kernel.randomize_va_space=2")


@check(
    "whether a program gets large pages changes its speed, and depends on the state of "
    "memory, not on the program"
)
def thp(situation: Situation) -> Finding:
    """Check that the kernel gives no large pages to programs that did not ask for them."""
    value = situation.state.thp
    if value is None:
        return found("unknown", "the kernel does not show transparent huge pages", path_of("thp"))
    where = read(path_of("thp"), value)
    if value in {"madvise", "never"}:
        return found("ok", f"'{value}': no large pages unless a program asks for them", where)
    what = f"'{value}': whether a program gets large pages depends on how free memory happens to be arranged"
    return found("warn", what, where, f"echo madvise | sudo tee {path_of('thp')}")


@check("a page that comes back from the disk costs as much as a million instructions")
def swap(situation: Situation) -> Finding:
    """Check that memory suffices."""
    state, counters = situation.state, situation.counters
    free, total = counters.memory_available_bytes, state.memory_total_bytes
    if free is None or not total or state.swap_total_bytes is None:
        return found("unknown", "the memory cannot be read", f"no {MEMINFO}")
    what = f"{size(free)} of {size(total)} memory available"
    where = read(MEMINFO, f"SwapTotal {state.swap_total_bytes // 1024} kB")
    if state.swap_total_bytes == 0:
        what += ", no swap"
    elif state.swappiness is not None:
        what += (
            f", swap {size(state.swap_total_bytes)} ({path_of('swappiness')} = {state.swappiness})"
        )
    if free < _LOW_MEMORY * total:
        fix = "stop what uses the memory: ps -eo pid,rss,args --sort=-rss | head"
        return found("warn", f"only {what}", where, fix)
    return found("ok", what, where)


@swap.during
def swap_between(interval: Interval) -> Finding:
    """Tell whether pages were swapped during the interval."""
    before, after = interval.before, interval.after
    came = cpu.rise(before.swapped_in_pages, after.swapped_in_pages)
    went = cpu.rise(before.swapped_out_pages, after.swapped_out_pages)
    if came is None or went is None:
        return found("unknown", "swap activity cannot be read", f"no {VMSTAT}")
    if came or went:
        what = f"{counted(came, 'page')} swapped in and {went:,} out"
        fix = "free memory, or sudo swapoff -a; then repeat the session"
        where = read(VMSTAT, f"pswpin {after.swapped_in_pages}, pswpout {after.swapped_out_pages}")
        return found("fail", what, where, fix)
    return found("ok", "nothing was swapped", VMSTAT)


@check("a profiler that samples the whole host interrupts the measured program too")
def perf_rate(situation: Situation) -> Finding:
    """Check that a profiler on the host cannot interrupt the runs often."""
    rate = situation.state.perf_rate
    if rate is None:
        return found("unknown", "the kernel does not show it", f"no {path_of('perf_rate')}")
    where = read(path_of("perf_rate"), rate)
    if rate <= 1:
        return found("ok", "profilers may sample once a second at most", where)
    what = f"a profiler may interrupt the runs up to {counted(rate, 'time')} a second"
    return found("warn", what, where, "sudo sysctl kernel.perf_event_max_sample_rate=1")


@check("a slow clock adds its own cost to every short run, and steps are coarser")
def clock(situation: Situation) -> Finding:
    """Check that reading the clock costs nanoseconds, not a trip to a slow device."""
    source, offered = situation.state.clocksource, situation.state.clocksources
    if source is None:
        return found("unknown", "the clock source cannot be read", f"no {path_of('clocksource')}")
    where = read(path_of("clocksource"), source)
    if source in _FAST_CLOCKS:
        return found("ok", f"{source}: read without a system call", where)
    better = [name for name in offered if name in _FAST_CLOCKS]
    if source not in {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen"}:
        return found("unknown", f"'{source}': its cost is not known to fairtrial", where)
    what = f"'{source}' is slow to read: every timestamp costs a microsecond or more"
    fix = (
        f"echo {better[0]} | sudo tee {path_of('clocksource')}"
        if better
        else "see why the kernel gave up the TSC: sudo dmesg | grep -i -e tsc -e clocksource"
    )
    return found("fail" if "jiffies" in source else "warn", what, where, fix)


@check(
    "after a hardware error, a hang or a kill for lack of memory, the timings around it "
    "are in doubt"
)
def kernel_log(situation: Situation) -> Finding:
    """Check that the kernel reported no hardware error, throttling, hang or lack of memory."""
    alarms = situation.counters.kernel_alarms
    if alarms is None:
        return _log_unreadable(situation.counters)
    if not alarms:
        return found("ok", "no alarming message since boot", KERNEL_LOG)
    what = f"{counted(len(alarms), 'alarming message')} since boot, last: {_short(alarms[-1])}"
    return found("warn", what, KERNEL_LOG, "sudo dmesg --level=emerg,alert,crit,err,warn")


@kernel_log.during
def kernel_log_between(interval: Interval) -> Finding:
    """Tell whether the kernel reported anything alarming during the interval."""
    before, after = interval.before.kernel_alarms, interval.after.kernel_alarms
    if after is None or before is None:
        return _log_unreadable(interval.after)
    fresh = tuple((Counter(after) - Counter(before)).elements())
    if not fresh:
        return found("ok", "no alarming message", KERNEL_LOG)
    what = f"{counted(len(fresh), 'alarming message')}, last: {_short(fresh[-1])}"
    fix = "fix the cause and repeat the session: sudo dmesg | tail -n 30"
    return found("fail", what, KERNEL_LOG, fix)


def _log_unreadable(counters: HostCounters) -> Finding:
    what, where = "the kernel log cannot be read", KERNEL_LOG
    fix = "sudo sysctl kernel.dmesg_restrict=0"
    if not counters.has_log:
        where = f"no {KERNEL_LOG}"
        fix = "give the container the log: docker run --device /dev/kmsg --cap-add SYSLOG"
    return found("unknown", what, where, fix)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@check(
    "without one, the memory and processor time of programs with several processes are "
    "known in part, and nothing can limit them together"
)
def cgroup(situation: Situation) -> Finding:
    """Check that each run can have a cgroup: it tells of all processes of a run, and holds them.

    A limit of the campaign that no group here can hold is fatal to its trials.
    """
    finding = _grouped(situation)
    own = situation.state.cgroup
    there = situation.groups
    if there is None and own is not None and own.writable:
        there = own.handed_down if own.others and not own.top else own.controllers
    limit = missing_for(situation.limits, there or ())
    if limit is not None:
        what = f"the limit '{limit}' cannot be held, and no trial begins without it: {finding.what}"
        return found("fail", what, finding.where, f"{DELEGATED}; or drop the limit")
    if situation.ungrouped and not situation.limits:
        what = "no run gets a cgroup, because the campaign does not want one: the sums over all processes of a run are unknown"
        return found("unknown", what, "isolation.containment = none")
    return finding


def _grouped(situation: Situation) -> Finding:
    own, groups = situation.state.cgroup, situation.groups
    if groups is not None and "memory" in groups:
        where = None if own is None else own.path
        what = "each run has a cgroup: memory and processor time of all its processes are known"
        return found("ok", what, where)
    if own is None:
        what = "no cgroup of version 2 is visible: the sums over all processes of a run are unknown"
        return found("unknown", what, "/proc/self/cgroup")
    if not own.writable:
        what = f"this process may not make groups below {own.path}"
        return found("unknown", what, own.path, DELEGATED)
    offered = read(f"{own.path}/cgroup.controllers", " ".join(own.controllers) or "(none)")
    if "memory" not in own.controllers:
        what = "each run has a cgroup, but memory of all its processes together is not known: no "
        return found("unknown", f"{what}controller 'memory' is handed down", offered)
    if own.others and not own.top and "memory" not in own.handed_down:
        what = f"{own.path} cannot hand down its controllers: it contains other processes"
        return found("unknown", what, offered, DELEGATED)
    what = "each run can have a cgroup: memory and processor time of all its processes are known"
    return found("ok", what, offered)


@check("a full disk ends the trial, and a nearly full one slows down writing")
def disk(situation: Situation) -> Finding:
    """Check that the disk has room for the results."""
    free, needed = situation.free_bytes, situation.needed_bytes
    place = situation.runs_path or "runs"
    if free is None:
        return found("unknown", "the free space cannot be read", place)
    where = read(place, f"{free} bytes free")
    room = command_line(("df", "-h", place))
    fix = f"make room: {room}; or use another folder for the trial"
    if free < needed:
        what = f"{size(free)} free, but the trial may need {size(needed)}"
        return found("fail", what, where, fix)
    if free < max(_LITTLE_DISK, 2 * needed):
        return found("warn", f"only {size(free)} free", where, fix)
    return found("ok", f"{size(free)} free", where)


KERNEL_CHECKS = (aslr, thp, swap, perf_rate, clock, kernel_log, cgroup, disk)


# --- The questions that a session asks.


@check(
    "what the processor counts tells why a run took its time; a machine may not show it, and a kernel "
    "may not permit it"
)
def counters(situation: Situation) -> Finding:
    """Check that the events that are wanted can be counted."""
    look = situation.events
    assert look is not None, "it is left out where nobody looked"
    if not look.missing:
        where = None if look.paranoid is None else read(PARANOID, look.paranoid)
        return found("ok", _counted(look.counted), where)
    # what is missing, for each reason once; a campaign that wants it cannot have it
    reasons: dict[str, list[MissingEvent]] = {}
    for one in look.missing:
        reasons.setdefault(one.what, []).append(one)
    texts = [f"{_names(group)}: {what}" for what, group in reasons.items()]
    if look.counted:
        texts.append(_counted(look.counted))
    fixes = dict.fromkeys(group[0].fix for group in reasons.values() if group[0].fix)
    status: CheckStatus = "fail" if look.wanted else "unknown"
    return found(status, "; ".join(texts), look.missing[0].where, "; ".join(fixes) or None)


def _counted(events: Iterable[CountedEvent]) -> str:
    whole = [one for one in events if not one.user_only]
    part = [one for one in events if one.user_only]
    kinds = (("counted", whole), ("counted without what the kernel does", part))
    return "; ".join(f"{how}: {_names(some)}" for how, some in kinds if some)


def _names(events: Iterable[CountedEvent | MissingEvent]) -> str:
    return ", ".join(one.name for one in events)


CHECKS: tuple[Check, ...] = (*cpu.POWER_CHECKS, *cpu.CHECKS, counters, *KERNEL_CHECKS)
CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in CHECKS)
# Fails only where nothing can hold a limit of the campaign, and a limit is never ignored.
_LIMITS = "cgroup"


def check_before(situation: Situation) -> tuple[Finding, ...]:
    """Check a host that is about to measure, or that `fairtrial doctor` looks at.

    Nothing is said of gaps and of events where nobody looked: no session begins, or no campaign asks for any.
    """
    seen = {"gaps": situation.gaps, "counters": situation.events}
    there = (one for one in CHECKS if seen.get(one.name, one) is not None)
    return tuple(_named(one, one.before(situation)) for one in there)


def check_between(
    before: HostCounters, after: HostCounters, elapsed_s: float, *, cpus: tuple[int, ...]
) -> tuple[Finding, ...]:
    """Check what happened on the host from `before` to `after`, `elapsed_s` seconds later.

    Both must have been read for `cpus`. Only checks of what can happen take part.
    """
    interval = Interval(before=before, after=after, elapsed_s=elapsed_s, cpus=cpus)
    return tuple(
        _named(check, check.between(interval)) for check in CHECKS if check.between is not None
    )


def _named(check: Check, found: Finding) -> Finding:
    return replace(found, check=check.name, reason=check.reason)


def fatal_findings(
    findings: tuple[Finding, ...], required: Collection[str] | None, *, strict: bool
) -> tuple[Finding, ...]:
    """Give the findings that must stop the trial.

    A "fail" of a required check stops always, and so does one of the check `cgroup`: a limit that
    nothing here can hold. With `strict`, a "warn" of a required check stops
    too, and so does an "unknown": who requires a check strictly cannot go on without its answer.
    When `required` is None (``doctor`` without a campaign) every check counts as required for
    "fail" and "warn", and "unknown" never stops.
    """
    stopping = {"fail", "warn"} if strict else {"fail"}
    if strict and required is not None:
        stopping.add("unknown")
    names = CHECK_NAMES if required is None else required
    return tuple(
        f
        for f in findings
        if (f.check in names and f.status in stopping)
        or (f.check == _LIMITS and f.status == "fail")
    )
