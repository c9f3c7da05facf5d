"""Checks of the measured CPUs: how fast they may be, and who else uses them: threads, tasks, interrupts, hypervisors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from analysis.record.trial_files import CheckStatus, Finding

from ..errors import counted, duration
from .activity import INTERRUPTS, LOADAVG, STAT
from .facts import CPU, CPUINFO, ISOLATED, LOGINS, POWERCAP, SUPPLIES, cpufreq
from .state import Interval, Situation, check, format_cpus, found, ghz, named, path_of, read

_STEAL_WARN = 0.001  # of the time
_STEAL_FAIL = 0.05
_STEAL_FLOOR_S = 0.03  # the kernel counts in ticks of 10 ms: fewer than three say little
_IRQS_A_SECOND = 100.0
_LOST_WARN = 0.01  # of the time: the timer's own ticks take less
_LOST_FAIL = 0.10


@check(
    "two threads of one core share its caches and execution units; a neighbour can cost "
    "tens of percent"
)
def smt(situation: Situation) -> Finding:
    """Check that no other hardware thread shares the core of a measured CPU."""
    state = situation.state
    measured = {cpu.number for cpu in situation.measured}
    shared = {
        cpu.number: tuple(n for n in cpu.siblings if n != cpu.number)
        for cpu in situation.measured
        if cpu.siblings is not None and len(cpu.siblings) > 1
    }
    if shared:
        number, siblings = next(iter(shared.items()))
        quiet = set(state.isolated or ()) - measured
        if all(sibling in quiet for group in shared.values() for sibling in group):
            what = f"SMT is on, but {named(siblings)} on the core of cpu{number} is isolated"
            return found("ok", what, read(ISOLATED, format_cpus(state.isolated or ())))
        what = f"cpu{number} shares its core with {named(siblings)}: work there slows this CPU"
        if len(shared) > 1:
            what += f" (so do {len(shared) - 1} more measured CPUs)"
        fix = f"echo off | sudo tee {path_of('smt')}"
        if state.smt != "on":  # the kernel has no such switch here
            away = sorted({n for m in shared for n in shared[m] if n > m or n not in measured})
            fix = f"echo 0 | sudo tee {' '.join(f'{CPU}/cpu{n}/online' for n in away)}"
        return found("warn", what, read(path_of("smt"), state.smt or "absent"), fix)
    if not measured or any(cpu.siblings is None for cpu in situation.measured):
        return found("unknown", "the kernel does not show which CPUs share a core")
    if state.virtual not in {None, "none"}:
        what = "this virtual machine sees no SMT, but its CPUs may be threads of shared cores"
        return found("unknown", what, read(path_of("smt"), state.smt or "absent"))
    what = "no other thread shares the measured core" + ("s" if len(measured) > 1 else "")
    return found("ok", what, read(path_of("smt"), state.smt or "absent"))


@check("other programs take processor time, cache and memory bandwidth from the run")
def load(situation: Situation) -> Finding:
    """Check that nothing else wants a CPU."""
    value, runnable = situation.counters.load_1min, situation.counters.runnable
    if value is None:
        return found("unknown", "the load average cannot be read", f"no {LOADAVG}")
    total = max(1, len(situation.state.topology.numbers))
    now = "" if runnable is None else f", {counted(runnable, 'other thread')} runnable now"
    what = f"{value:.2f} over 1 min on {counted(total, 'CPU')}{now}"
    where = read(LOADAVG, f"{value:.2f}")
    if value < max(0.5, 0.1 * total) and (runnable is None or runnable < total):
        return found("ok", what, where)
    what += _busiest(situation)
    fix = "stop what runs: top -b -n 1 -o %CPU | head -n 12"
    return found("fail" if value >= total else "warn", what, where, fix)


def _busiest(situation: Situation) -> str:
    """Name the programs that were seen to use the processors, in the words that follow a finding."""
    look = situation.gaps
    if look is None or not look.busiest:
        return ""
    named = (f"{one.name} {100 * one.share:.0f} %" for one in look.busiest)
    return f"; busiest meanwhile, in % of a CPU: {', '.join(named)}"


@check("someone else's program may start in the middle of a session")
def users(situation: Situation) -> Finding:
    """Check that nobody else is logged in: people start programs when they like."""
    others = situation.others_logged_in
    if others is None:
        return found("unknown", "the system does not list who is logged in")
    if not others:
        return found("ok", "nobody else is logged in", LOGINS)
    what = f"{counted(others, 'other user')} logged in: they may start something at any time"
    return found("warn", what, LOGINS, "who  # then agree on when the machine is yours")


@load.during
def load_between(interval: Interval) -> Finding:
    """Tell how busy the other CPUs were: the load average would count the measured program too."""
    before, after = interval.before, interval.after
    times = (before.busy_all_s, before.busy_s, after.busy_all_s, after.busy_s)
    if None in times or interval.elapsed_s <= 0:
        return found("unknown", "the processor times cannot be read", f"no {STAT}")
    all_before, own_before, all_after, own_after = (value or 0.0 for value in times)
    total = all_after - all_before
    if total > 0 and own_after - own_before >= total:
        return found("unknown", "every CPU is measured: other work cannot be distinguished")
    ours = after.fairtrial_s - before.fairtrial_s
    busy = max(0.0, total - (own_after - own_before) - ours) / interval.elapsed_s
    what = f"the other CPUs did work for {busy:.2f} CPUs on average, without fairtrial's own"
    if busy < 0.5:
        return found("ok", what, read(STAT, f"{busy:.2f}"))
    fix = "stop what runs: top -b -n 1 -o %CPU | head -n 12"
    return found("warn", what, read(STAT, f"{busy:.2f}"), fix)


@check(
    "time taken by a hypervisor is part of the wall time, and nothing in the program explains it"
)
def steal(situation: Situation) -> Finding:
    """Check that no hypervisor takes the measured CPUs away."""
    stolen, uptime = situation.counters.steal_s, situation.counters.uptime_s
    if stolen is None or not uptime:
        return found("unknown", "the kernel does not show steal time", STAT)
    if situation.state.virtual == "none":
        return found("ok", "none: there is no hypervisor", read(CPUINFO, "no hypervisor"))
    if not stolen:
        what = "none was counted since boot: none was taken, or this hypervisor does not tell"
        return found("unknown", what, read(STAT, "0.00 s"))
    return _steal(stolen, uptime, situation.counters.cpus, "since boot")


@steal.during
def steal_between(interval: Interval) -> Finding:
    """Tell how much of the interval a hypervisor took from the measured CPUs."""
    before, after = interval.before.steal_s, interval.after.steal_s
    if before is None or after is None or interval.elapsed_s <= 0:
        return found("unknown", "the kernel does not show steal time", STAT)
    stolen = max(0.0, after - before)
    return _steal(stolen, interval.elapsed_s, interval.cpus, "during the session")


def _steal(stolen: float, elapsed: float, cpus: tuple[int, ...], when: str) -> Finding:
    share = stolen / (elapsed * max(1, len(cpus)))
    where = read(STAT, f"{stolen:.2f} s")
    of = named(cpus) if cpus else "the CPUs"
    if not stolen:  # where no hypervisor tells, it is 0 for ever
        return found("ok", f"the kernel counted no steal on {of} {when}", where)
    what = f"the hypervisor took {100 * share:.2g} % of {of} {when}"
    if share < _STEAL_WARN or stolen < _STEAL_FLOOR_S:
        return found("ok", what, where)
    fix = "use a dedicated or bare-metal host, or measure when the neighbours are idle"
    return found("fail" if share >= _STEAL_FAIL else "warn", what, where, fix)


@check(
    "what takes the CPU from a program, be it a program, an interrupt, a hypervisor or the "
    "firmware, lengthens its run"
)
def gaps(situation: Situation) -> Finding:
    """Check that nothing takes the measured CPUs away, whoever it is: a look at the clock tells."""
    look = situation.gaps
    assert look is not None, "it is left out where nobody looked"
    worst = look.worst
    if worst is None:
        return found("unknown", look.problem or "the clock was not read")
    percent = f"{100 * worst.share:.2f}"
    what = f"cpu{worst.cpu} lost {percent} % of {duration(worst.looked_s)} to others"
    if worst.count:
        what += f": {counted(worst.count, 'gap')}, the longest {duration(worst.longest_s)}"
    if len(look.gaps) > 1:
        what += f"; the worst of {named(tuple(one.cpu for one in look.gaps))}"
    where = read(f"the clock on cpu{worst.cpu}, time lost", f"{percent} %")
    if worst.share < _LOST_WARN:
        return found("ok", what, where)
    what += _busiest(situation)
    fix = "stop what runs there (see load, irq and steal), or keep it off: sudo fairtrial tune"
    return found("fail" if worst.share >= _LOST_FAIL else "warn", what, where, fix)


@check("each interrupt stops the program and replaces part of its cache")
def irq(situation: Situation) -> Finding:
    """Check that devices do not interrupt the measured CPUs."""
    seen, uptime = situation.counters.irqs, situation.counters.uptime_s
    routes = situation.state.device_irqs
    if seen is None or not uptime or not situation.numbers:
        return found("unknown", "the interrupt counts cannot be read", INTERRUPTS)
    cpus = situation.numbers
    rate = sum(seen.values()) / uptime
    what = f"{_plain(rate)} device interrupts a second on {named(cpus)} since boot"
    if routes is not None:
        here = sum(1 for targets in routes.values() if set(targets) & set(cpus))
        what += f"; {here} of {counted(len(routes), 'interrupt')} may come here"
    return _irq(seen, rate, what, situation.others)


@irq.during
def irq_between(interval: Interval) -> Finding:
    """Tell how often devices interrupted the measured CPUs during the interval."""
    before, after = interval.before.irqs, interval.after.irqs
    if before is None or after is None or interval.elapsed_s <= 0 or not interval.cpus:
        return found("unknown", "the interrupt counts cannot be read", INTERRUPTS)
    rises = {name: max(0, count - before.get(name, 0)) for name, count in after.items()}
    rate = sum(rises.values()) / interval.elapsed_s
    what = f"{_plain(rate)} device interrupts a second on {named(interval.cpus)}"
    return _irq(rises, rate, what, ())


def _plain(rate: float) -> str:
    """Write a rate with three digits, and never with a power of ten."""
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


def _irq(counts: Mapping[str, int], rate: float, what: str, others: tuple[int, ...]) -> Finding:
    if rate < _IRQS_A_SECOND:
        return found("ok", what, INTERRUPTS)
    busiest = max(counts, key=lambda name: counts[name])
    what += f", most from {busiest}"
    place = f"/proc/irq/{busiest.split()[0]}/smp_affinity_list"
    fix = f"let a CPU that is not measured serve it: {place}"
    if others:
        fix = f"echo {format_cpus(others)} | sudo tee {place}"
    return found("warn", what, read(INTERRUPTS, f"{busiest}: {counts[busiest]}"), fix)


@check("on a CPU of its own a program is not descheduled for others")
def isolation(situation: Situation) -> Finding:
    """Check that the scheduler places nothing else on the measured CPUs."""
    isolated, nohz = situation.state.isolated, situation.state.nohz_full
    cpus = situation.numbers
    if isolated is None or not cpus:
        return found("unknown", "the kernel does not show isolated CPUs", ISOLATED)
    listed = format_cpus(cpus)
    open_cpus = tuple(number for number in cpus if number not in isolated)
    fix = f"add to the boot arguments: isolcpus={listed} nohz_full={listed} rcu_nocbs={listed}"
    where = read(ISOLATED, format_cpus(isolated) or "(none)")
    if open_cpus:
        verb = "is" if len(open_cpus) == 1 else "are"
        what = f"{named(open_cpus)} {verb} not isolated: the scheduler may place other tasks there"
        return found("warn", what, where, fix)
    if nohz is None or not set(cpus) <= set(nohz):
        what = f"{named(cpus)} isolated, but the timer still ticks there (no nohz_full)"
        return found("ok", what, where)
    where = f"{where}; {read(path_of('nohz_full'), format_cpus(nohz))}"
    return found("ok", f"{named(cpus)} isolated and without timer ticks", where)


@check("memory on another node is slower, and moving it there costs faults during the run")
def numa(situation: Situation) -> Finding:
    """Check that the measured CPUs share a node, and that memory is not moved between nodes."""
    state = situation.state
    nodes = {cpu.node for cpu in situation.measured}
    if len(nodes - {None}) > 1:
        listed = format_cpus(tuple(node for node in nodes if node is not None))
        what = f"the measured CPUs are on nodes {listed}: memory is nearer to some of them"
        fix = "measure on one node: isolation: {cpus: [...]} in the campaign"
        return found("warn", what, "/sys/devices/system/node", fix)
    if len(state.topology.nodes) == 1:
        return found("ok", "one node: all memory is equally near", "/sys/devices/system/node")
    if state.numa_balancing is None:
        what = "the kernel does not show whether it moves memory between nodes"
        return found("unknown", what, f"no {path_of('numa_balancing')}")
    where = read(path_of("numa_balancing"), state.numa_balancing)
    if state.numa_balancing == 0:
        return found("ok", "the kernel moves no memory between nodes", where)
    what = "the kernel moves memory between nodes while programs run"
    return found("warn", what, where, "sudo sysctl kernel.numa_balancing=0")


@check(
    "inside a virtual machine or under a quota the processor is shared with others that "
    "cannot be seen"
)
def virtual(situation: Situation) -> Finding:
    """Check whether this is bare metal: a virtual machine hides what happens below it."""
    state = situation.state
    if state.quota_cpus is not None and state.quota_path is not None:
        what = f"a cgroup quota of {state.quota_cpus:.3g} CPUs stops programs in mid-run"
        fix = "give whole CPUs (docker run --cpuset-cpus) instead of a quota (--cpus)"
        return found("warn", what, read(state.quota_path, state.quota_cpus), fix)
    boxed = f"container ({state.container})" if state.container not in {None, "none"} else None
    if state.virtual not in {None, "none"}:
        what = f"virtual machine ({state.virtual})" + (f", in a {boxed}" if boxed else "")
        what += ": neighbours share the processor, and its frequency and SMT are hidden"
        fix = "measure on bare metal, or on a dedicated host; if that cannot be, plan more sessions"
        return found("warn", what, state.virtual_path, fix)
    if state.virtual is None:
        return found("unknown", "the kernel does not show whether this is virtual")
    if boxed:
        what = f"{boxed} on bare metal, without a CPU quota"
        if not state.quota_known:
            return found("unknown", f"{boxed}; its CPU quota cannot be read")
        return found("ok", what, state.container_path)
    return found("ok", "bare metal, no container", state.virtual_path)


@check("the kernel stops real-time work that uses up its share of a period, in mid-run")
def rt_throttle(situation: Situation) -> Finding:
    """Check that the kernel's limit on real-time work cannot stop a FIFO target in mid-run."""
    runtime, period = situation.state.rt_runtime_us, situation.state.rt_period_us
    if not situation.fifo:
        return found("ok", "not applicable: the scheduling class is not FIFO")
    if runtime is None:
        what = "the kernel does not show its limit on real-time work"
        return found("unknown", what, f"no {path_of('rt_runtime_us')}")
    where = read(path_of("rt_runtime_us"), runtime)
    if runtime < 0 or (period is not None and runtime >= period):
        return found("ok", "real-time work is not limited", where)
    fix = "sudo sysctl kernel.sched_rt_runtime_us=-1  # a target that never ends then keeps its CPU"
    if runtime == 0:
        return found("fail", "real-time work is forbidden", where, fix)
    each = f"{runtime / 1000:g} ms" + (f" in {period / 1000:g} ms" if period else "")
    beyond = f"; {path_of('rt_period_us')} = {period}" if period else ""
    what = f"a FIFO target is stopped when it uses more than {each}"
    return found("warn", what, where + beyond, fix)


CHECKS = (smt, numa, load, users, steal, gaps, irq, isolation, virtual, rt_throttle)


# --- Checks of frequency, heat and power: how fast the processor is allowed to be, and for how long.


_HOT_C = 85.0  # without a limit from the sensor: where most processors begin to slow down
_MARGIN_C = 10.0
_RISE_C = 10.0
_TOLERANCE = 0.01  # of a frequency: drivers round


@check(
    "any other governor changes the frequency with the load, so a run's time depends on "
    "what ran before it"
)
def governor(situation: Situation) -> Finding:
    """Check that every measured CPU runs the governor 'performance'."""
    groups: dict[str, list[int]] = defaultdict(list)
    silent = [cpu.number for cpu in situation.measured if cpu.governor is None]
    for cpu in situation.measured:
        if cpu.governor is not None:
            groups[cpu.governor].append(cpu.number)
    drivers = sorted({cpu.driver for cpu in situation.measured if cpu.driver})
    driver = f" (driver {', '.join(drivers)})" if drivers else ""
    wrong = {name: numbers for name, numbers in groups.items() if name != "performance"}
    if wrong:
        parts = [
            f"{named(tuple(numbers))} {'run' if len(numbers) > 1 else 'runs'} '{name}'"
            for name, numbers in wrong.items()
        ]
        first_name, numbers = next(iter(wrong.items()))
        every = tuple(number for group in wrong.values() for number in group)
        what = " and ".join(parts) + driver
        fix = f"sudo cpupower -c {format_cpus(every)} frequency-set -g performance"
        return found("warn", what, read(cpufreq(numbers[0], "scaling_governor"), first_name), fix)
    if silent or not groups:
        what = "the kernel shows no frequency governor"
        if situation.state.virtual not in {None, "none"}:
            what += ": the host of this virtual machine decides, which cannot be seen from here"
        first = (silent or [0])[0]
        return found("unknown", what, f"no {cpufreq(first, 'scaling_governor')}")
    chosen = tuple(groups["performance"])
    verb = "run" if len(chosen) > 1 else "runs"
    where = read(cpufreq(chosen[0], "scaling_governor"), "performance")
    return found("ok", f"{named(chosen)} {verb} 'performance'{driver}", where)


@governor.during
def governor_between(interval: Interval) -> Finding:
    """Tell whether a power daemon changed the governor under a session."""
    before, after = interval.before.governors, interval.after.governors
    if not after:
        return found("unknown", "the kernel shows no frequency governor")
    changed = [cpu for cpu in after if before.get(cpu) != after[cpu]]
    if changed:
        cpu, all_of_them = changed[0], tuple(changed)
        what = f"the governor of {named(all_of_them)} changed from '{before.get(cpu)}' to '{after[cpu]}'"
        back = f"sudo cpupower -c {format_cpus(all_of_them)} frequency-set -g performance"
        fix = f"stop what changes it (tuned, power-profiles-daemon, tlp), then {back}"
        return found("fail", what, read(cpufreq(cpu, "scaling_governor"), after[cpu]), fix)
    return found("ok", "the governor stayed the same")


@check(
    "a boosted frequency lasts as long as heat and neighbours allow: the same work takes "
    "different times"
)
def turbo(situation: Situation) -> Finding:
    """Check that turbo (boost) is off: it depends on heat and on what other cores do."""
    switch = situation.state.turbo
    if switch.on is None or switch.path is None:
        where = "no intel_pstate/no_turbo and no cpufreq/boost in /sys/devices/system/cpu"
        return found("unknown", "the kernel shows no switch for turbo or boost", where)
    where = read(switch.path, switch.value)
    if not switch.on:
        return found("ok", "turbo is off", where)
    value = {"0": "1", "1": "0"}.get(switch.value or "", "0")
    fix = f"echo {value} | sudo tee {switch.path}"
    what = "turbo is on: the frequency depends on temperature and on the other cores"
    return found("warn", what, where, fix)


@turbo.during
def turbo_between(interval: Interval) -> Finding:
    """Tell whether turbo was switched under a session."""
    before, after = interval.before.turbo, interval.after.turbo
    if after is None or before is None:
        return found("unknown", "the kernel shows no switch for turbo or boost")
    if before != after:
        what = f"turbo was switched {'on' if after else 'off'}"
        return found("fail", what, fix="stop what switches it, and repeat the session")
    return found("ok", f"turbo stayed {'on' if after else 'off'}")


@check(
    "a limit below the hardware's is usually a power profile, and may be lifted in the "
    "middle of a trial"
)
def frequency(situation: Situation) -> Finding:
    """Check that the limits in force are the hardware's, or fix one frequency; all CPUs alike."""
    known = [
        (cpu.number, cpu.lowest, cpu.highest, cpu.hardware_highest)
        for cpu in situation.measured
        if cpu.highest and cpu.lowest
    ]
    if not known or len(known) < len(situation.measured):
        path = cpufreq((situation.cpus or (0,))[0], "scaling_max_freq")
        return found("unknown", "the kernel shows no frequency limits", f"no {path}")
    for number, lowest, highest, top in known:
        fixed = lowest >= highest * (1 - _TOLERANCE)
        if top is not None and not fixed and highest < top * (1 - _TOLERANCE):
            what = (
                f"cpu{number} is held below {ghz(highest)} of {ghz(top)}, and may vary below that"
            )
            where = read(cpufreq(number, "scaling_max_freq"), highest)
            fix = f"sudo cpupower -c {number} frequency-set -u {top}kHz"
            return found("warn", what, where, fix)
    spans = {(lowest, highest) for _, lowest, highest, _ in known}
    number, lowest, highest, _ = known[0]
    where = read(cpufreq(number, "scaling_max_freq"), highest)
    if len(spans) > 1:
        what = "the measured CPUs have different frequency limits: " + ", ".join(
            f"cpu{one} up to {ghz(up_to)}" for one, _, up_to, _ in known[:4]
        )
        fix = "measure on CPUs that are alike: isolation: {cpus: [...]} in the campaign"
        return found("warn", what, where, fix)
    if lowest >= highest * (1 - _TOLERANCE):
        return found("ok", f"fixed at {ghz(highest)}", where)
    what = f"may vary between {ghz(lowest)} and {ghz(highest)}, the full range of the hardware"
    return found("ok", what, where)


@check(
    "a processor that is slowed down for heat or by a quota measures its cooling, not the program"
)
def throttle(situation: Situation) -> Finding:
    """Check that the processor was not slowed down for heat, nor the group for its quota."""
    counters = situation.counters
    if counters.cooling:
        what = "a cooling device is slowing the processor down right now"
        where = counters.cooling[0]
        return found("fail", what, where, "let the machine cool down; clean or improve its cooling")
    path = situation.state.throttle_path
    if counters.throttled:
        what = f"the processor was slowed down for heat {counted(counters.throttled, 'time')} since boot"
        fix = "improve the cooling, or lower the frequency: sudo cpupower frequency-set -u 2GHz"
        return found("warn", what, path, fix)
    if counters.quota_throttled:
        what = f"the CPU quota stopped this cgroup {counted(counters.quota_throttled, 'time')}"
        fix = "lift the quota: give whole CPUs (docker run --cpuset-cpus) instead of --cpus"
        return found("warn", what, situation.state.quota_path or "cpu.stat", fix)
    if counters.throttled is None and counters.cooling is None:
        what = "the kernel does not count how often heat slowed the processor down"
        return found("unknown", what, f"no {CPU}/cpu*/thermal_throttle")
    what = "never slowed down since boot" if counters.throttled == 0 else "not slowed down now"
    return found("ok", what, path or "/sys/class/thermal/cooling_device*")


@throttle.during
def throttle_between(interval: Interval) -> Finding:
    """Tell whether the processor was slowed down during the interval."""
    before, after = interval.before, interval.after
    heat = rise(before.throttled, after.throttled)
    quota = rise(before.quota_throttled, after.quota_throttled)
    if after.cooling and not heat:
        heat = 1
    if heat:
        what = f"the processor was slowed down for heat ({counted(heat, 'event')})"
        fix = "improve the cooling, or lower the frequency: sudo cpupower frequency-set -u 2GHz"
        return found("fail", what, fix=fix)
    if quota:
        what = f"the CPU quota stopped this cgroup {counted(quota, 'time')}"
        fix = "give whole CPUs (docker run --cpuset-cpus) instead of a quota (--cpus)"
        return found("fail", what, fix=fix)
    if heat is None and after.cooling is None:
        what = "the kernel does not count how often heat slowed the processor down"
        return found("unknown", what)
    return found("ok", "not slowed down")


def rise(before: int | None, after: int | None) -> int | None:
    """Say by how much a counter rose; one that began again, by nothing."""
    return None if before is None or after is None else max(0, after - before)


@check("a processor near its limit slows down, and later runs suffer more than early ones")
def temperature(situation: Situation) -> Finding:
    """Check that the processor is well below the temperature at which it slows down."""
    value = situation.counters.temperature_c
    path, limit = situation.state.temperature_path, situation.state.temperature_limit_c
    if value is None or path is None:
        place = path or "no processor sensor in /sys/class/hwmon or /sys/class/thermal"
        return found("unknown", "no processor temperature can be read", place)
    where = read(path, f"{value * 1000:.0f}")
    edge = limit - _MARGIN_C if limit is not None else _HOT_C
    against = f", its limit is {limit:.0f} °C" if limit is not None else ""
    if value >= edge:
        what = f"{value:.0f} °C{against}: it will slow down soon"
        fix = "let the machine cool down, and give the campaign a cooldown between runs"
        return found("warn", what, where, fix)
    return found("ok", f"{value:.0f} °C{against}", where)


@temperature.during
def temperature_between(interval: Interval) -> Finding:
    """Tell whether the processor became much hotter or cooler during the interval."""
    before, after = interval.before.temperature_c, interval.after.temperature_c
    if before is None or after is None:
        return found("unknown", "no processor temperature can be read")
    what = f"{before:.0f} °C before, {after:.0f} °C after"
    if abs(after - before) >= _RISE_C:
        fix = "warm up longer (protocol: warmup), or allow a cooldown between runs"
        return found("warn", what, fix=fix)
    return found("ok", what)


@check("on battery or in a saving profile, firmware holds the processor back")
def battery(situation: Situation) -> Finding:
    """Check that the machine is on mains, with no power-saving profile."""
    state = situation.state
    if state.platform_profile in {"low-power", "quiet", "cool"}:
        what = f"the power profile is '{state.platform_profile}'"
        fix = f"echo performance | sudo tee {path_of('platform_profile')}"
        return found("warn", what, read(path_of("platform_profile"), state.platform_profile), fix)
    if state.supplies is None:
        return found("unknown", "the kernel shows no power supplies", f"no {SUPPLIES}")
    mains = [s for s in state.supplies if s.kind in {"Mains", "USB"} and s.online]
    if state.draining:
        supply = state.draining[0]
        left = "" if supply.capacity is None else f", {supply.capacity} % left"
        where = read(f"{SUPPLIES}/{supply.name}/status", supply.status)
        fix = "plug the machine in: firmware saves power on battery"
        return found("warn", f"runs on its battery{left}", where, fix)
    if mains:
        return found("ok", "on mains", read(f"{SUPPLIES}/{mains[0].name}/online", 1))
    if not any(s.kind == "Battery" for s in state.supplies):
        return found("ok", "there is no battery", SUPPLIES)
    return found("unknown", "neither mains power nor a discharging battery is shown", SUPPLIES)


@check("it tells whether energy can be recorded: no timing depends on it")
def energy(situation: Situation) -> Finding:
    """Tell whether the energy of every package can be read; who asks for it is failed otherwise."""
    zones = situation.state.energy or ()
    closed = [zone for zone in zones if not zone.readable]
    lost: CheckStatus = "fail" if situation.energy else "unknown"
    if zones and not closed:
        names = ", ".join(zone.name or "a package" for zone in zones)
        return found("ok", f"the energy of {names} can be read", zones[0].path)
    if closed:
        files = " ".join(zone.path for zone in closed)
        what = "the energy counters are closed to this user: energy will not be recorded"
        return found(lost, what, closed[0].path, f"sudo chmod a+r {files}")
    where = f"no {POWERCAP}" if situation.state.energy is None else f"no package in {POWERCAP}"
    what = f"{where}: energy will not be recorded"
    fix = "load the driver: sudo modprobe intel_rapl_msr"
    if situation.state.virtual not in {None, "none"}:
        what += "; this is a virtual machine, and the counters belong to its host"
        fix = "measure on the machine itself"
    elif situation.state.container not in {None, "none"}:
        what += "; this is a container, which may hide them"
        fix = "measure outside of the container"
    fix += ", or leave 'energy' off in the campaign"
    return found(lost, what, where, fix if situation.energy else None)


POWER_CHECKS = (governor, turbo, frequency, throttle, temperature, battery, energy)
