"""Checks of frequency, heat and power: how fast the processor is allowed to be, and for how long."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..errors import counted
from .facts import SUPPLIES
from .processors import CPU, POWERCAP, cpufreq
from .state import Interval, Situation, check, found, ghz, named, path_of, read
from .tree import format_cpus

if TYPE_CHECKING:
    from analysis.record.trial_files import CheckStatus, Finding

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
        cpu = changed[0]
        return found(
            "fail",
            f"the governor of {named(tuple(changed))} changed from '{before.get(cpu)}' to "
            f"'{after[cpu]}'",
            read(cpufreq(cpu, "scaling_governor"), after[cpu]),
            "stop what changes it (tuned, power-profiles-daemon, tlp), then "
            f"sudo cpupower -c {format_cpus(tuple(changed))} frequency-set -g performance",
        )
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
    known = [cpu for cpu in situation.measured if cpu.highest and cpu.lowest]
    if not known or len(known) < len(situation.measured):
        path = cpufreq((situation.cpus or (0,))[0], "scaling_max_freq")
        return found("unknown", "the kernel shows no frequency limits", f"no {path}")
    for cpu in known:
        assert cpu.highest is not None
        assert cpu.lowest is not None
        top = cpu.hardware_highest
        fixed = cpu.lowest >= cpu.highest * (1 - _TOLERANCE)
        if top is not None and not fixed and cpu.highest < top * (1 - _TOLERANCE):
            return found(
                "warn",
                f"cpu{cpu.number} is held below {ghz(cpu.highest)} of {ghz(top)}, and may vary "
                "below that",
                read(cpufreq(cpu.number, "scaling_max_freq"), cpu.highest),
                f"sudo cpupower -c {cpu.number} frequency-set -u {top}kHz",
            )
    spans = {(cpu.lowest, cpu.highest) for cpu in known}
    first = known[0]
    assert first.highest is not None
    assert first.lowest is not None
    where = read(cpufreq(first.number, "scaling_max_freq"), first.highest)
    if len(spans) > 1:
        what = "the measured CPUs have different frequency limits: " + ", ".join(
            f"cpu{cpu.number} up to {ghz(cpu.highest or 0)}" for cpu in known[:4]
        )
        fix = "measure on CPUs that are alike: isolation: {cpus: [...]} in the campaign"
        return found("warn", what, where, fix)
    if first.lowest >= first.highest * (1 - _TOLERANCE):
        return found("ok", f"fixed at {ghz(first.highest)}", where)
    what = f"may vary between {ghz(first.lowest)} and {ghz(first.highest)}, the full range of the hardware"
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
        return found(
            "warn",
            f"the processor was slowed down for heat {counted(counters.throttled, 'time')} since "
            "boot",
            path,
            "improve the cooling, or lower the frequency: sudo cpupower frequency-set -u 2GHz",
        )
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
    heat = _rise(before.throttled, after.throttled)
    quota = _rise(before.quota_throttled, after.quota_throttled)
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


def _rise(before: int | None, after: int | None) -> int | None:
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
    mains = [s for s in state.supplies if s.kind in {"Mains", "USB"} and s.online is not None]
    if state.draining:
        supply = state.draining[0]
        left = "" if supply.capacity is None else f", {supply.capacity} % left"
        where = read(f"{SUPPLIES}/{supply.name}/status", supply.status)
        fix = "plug the machine in: firmware saves power on battery"
        return found("warn", f"runs on its battery{left}", where, fix)
    if any(s.online for s in mains):
        online = next(s for s in mains if s.online)
        return found("ok", "on mains", read(f"{SUPPLIES}/{online.name}/online", 1))
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


CHECKS = (governor, turbo, frequency, throttle, temperature, battery, energy)
