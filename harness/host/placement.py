"""Chooses the CPUs of a trial: a pure function of the setting and what the host showed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..errors import HostError
from .state import Cpu, Topology, format_cpus

_FIX = "name CPUs out of {}, or auto, under isolation.cpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuPlan:
    """Which CPUs the targets, and which fairtrial itself, run on.

    `targets` is None when targets are not pinned. `reserved` are the targets' CPUs with the other
    threads of their cores: no other trial may use them meanwhile. `housekeeping` is for fairtrial
    itself; it overlaps `reserved` only where there is no other CPU, and a caution says so. `services` are
    the CPUs of each service by its label; those that nobody shares with them are `reserved` too.
    """

    targets: tuple[int, ...] | None
    reserved: tuple[int, ...]
    housekeeping: tuple[int, ...]
    cautions: tuple[str, ...]
    text: str
    services: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def choose_cpus(
    setting: Literal["auto", "none"] | tuple[int, ...],
    topology: Topology,
    *,
    usable: tuple[int, ...],
    isolated: tuple[int, ...] | None = None,
) -> CpuPlan:
    """Choose the CPUs of a trial."""
    allowed = tuple(number for number in topology.numbers if number in set(usable))
    if not allowed:
        what = "the kernel shows no CPU that this process may use"
        fix = "mount /sys and /proc where fairtrial runs"
        raise HostError(what, "/sys/devices/system/cpu/online", fix)
    quiet = tuple(number for number in allowed if number in set(isolated or ()))
    if setting == "none":
        caution = "targets are not pinned: the scheduler may move them between CPUs in mid-run"
        text = f"targets on any of {format_cpus(allowed)}, fairtrial too"
        return CpuPlan(
            targets=None, reserved=(), housekeeping=allowed, cautions=(caution,), text=text
        )
    cautions: list[str] = []
    if setting == "auto":
        targets: tuple[int, ...] = (_automatic(topology, allowed, quiet, cautions),)
    else:
        targets = _explicit(setting, topology, allowed, cautions)
        _mixed(topology.only(targets), quiet, cautions)
    return _plan(topology, targets, allowed, quiet, cautions)


def _group(cpu: Cpu) -> tuple[int, ...]:
    return cpu.siblings or (cpu.number,)


def _automatic(
    topology: Topology, allowed: tuple[int, ...], quiet: tuple[int, ...], cautions: list[str]
) -> int:
    if len(allowed) == 1:
        cautions.append(f"only cpu{allowed[0]} is usable: fairtrial itself runs there too")
        return allowed[0]
    first = topology.cpu(0)
    beside_zero = {0, *(_group(first) if first else ())}
    candidates = topology.only(allowed)
    away = tuple(cpu for cpu in candidates if cpu.number not in beside_zero)
    if not away:
        chosen = max(allowed)
        cautions.append(
            f"there is no usable core away from CPU 0, where the kernel does its own work: "
            f"targets run on cpu{chosen}"
        )
        return chosen
    if any(cpu.siblings is None for cpu in away):
        cautions.append("the kernel does not show which CPUs share a core: threads may share one")
    # Isolated first, then the fastest cores, then the core whose every thread can be kept free.
    best = max(
        away,
        key=lambda cpu: (
            cpu.number in quiet,
            _speed(cpu),
            all(number in quiet for number in _group(cpu)),
            all(number in allowed for number in _group(cpu)),
            min(_group(cpu)),  # the last core: first cores get most interrupts
            -cpu.number,  # of that core, its first thread
        ),
    )
    return best.number


def _speed(cpu: Cpu) -> int:
    if cpu.performance is not None:
        return 1024 if cpu.performance else 0
    return cpu.capacity or 0


def _explicit(
    setting: tuple[int, ...], topology: Topology, allowed: tuple[int, ...], cautions: list[str]
) -> tuple[int, ...]:
    targets = tuple(sorted(set(setting)))
    fix = _FIX.format(format_cpus(allowed))
    offline = tuple(number for number in targets if number not in set(topology.numbers))
    if not targets or offline:
        what = "no CPU is named" if not targets else f"CPU {format_cpus(offline)} is not online"
        online = format_cpus(topology.numbers)
        raise HostError(what, f"isolation.cpus; /sys/devices/system/cpu/online = {online}", fix)
    outside = tuple(number for number in targets if number not in set(allowed))
    if outside:
        raise HostError(
            f"this process may not use CPU {format_cpus(outside)}: its affinity is "
            f"{format_cpus(allowed)}",
            f"isolation.cpus; /proc/self/status: Cpus_allowed_list = {format_cpus(allowed)}",
            f"{fix}; or start fairtrial with a wider affinity: taskset -c "
            f"{format_cpus((*allowed, *outside))} fairtrial ...",
        )
    if 0 in targets and len(allowed) > 1:
        cautions.append("targets run on CPU 0, where the kernel does much of its own work")
    return targets


def _mixed(targets: tuple[Cpu, ...], quiet: tuple[int, ...], cautions: list[str]) -> None:
    numbers = {cpu.number for cpu in targets}
    nodes = {cpu.node for cpu in targets if cpu.node is not None}
    if len(nodes) > 1:
        listed = format_cpus(tuple(nodes))
        cautions.append(f"the CPUs are on nodes {listed}: memory is nearer to some of them")
    shared = next((cpu for cpu in targets if len(numbers & set(_group(cpu))) > 1), None)
    if shared is not None:
        both = format_cpus(tuple(numbers & set(_group(shared))))
        cautions.append(f"CPUs {both} are threads of one core: work on one slows the others")
    if len({_speed(cpu) for cpu in targets}) > 1:
        cautions.append("the CPUs are fast and slow ones: times depend on which one is used")
    if len(targets) > 1 and numbers & set(quiet):
        cautions.append(
            "the scheduler does not spread threads over isolated CPUs: a target with threads may "
            "stay on one of them"
        )


def _plan(
    topology: Topology,
    targets: tuple[int, ...],
    allowed: tuple[int, ...],
    quiet: tuple[int, ...],
    cautions: list[str],
) -> CpuPlan:
    chosen = topology.only(targets)
    reserved = tuple(sorted({number for cpu in chosen for number in _group(cpu)}))
    free = tuple(number for number in allowed if number not in reserved)
    # Isolated CPUs are for targets: fairtrial stays off them where it can.
    housekeeping = tuple(number for number in free if number not in quiet) or free
    if not housekeeping:
        housekeeping = tuple(number for number in allowed if number not in targets) or allowed
        if len(allowed) > 1:
            where = format_cpus(housekeeping)
            cautions.append(
                f"no core is left for fairtrial itself: it runs on CPU {where}, on a measured core"
            )
    nodes = tuple(sorted({cpu.node for cpu in chosen if cpu.node is not None}))
    notes = []
    if any(cpu.siblings is not None and len(cpu.siblings) > 1 for cpu in chosen):
        notes.append("whole core" if len({_group(cpu) for cpu in chosen}) == 1 else "whole cores")
    if nodes:
        notes.append(f"node{'s' if len(nodes) > 1 else ''} {format_cpus(nodes)}")
    note = f" ({', '.join(notes)})" if notes else ""
    return CpuPlan(
        targets=targets,
        reserved=reserved,
        housekeeping=housekeeping,
        cautions=tuple(cautions),
        text=f"targets on {format_cpus(targets)}{note}, fairtrial on {format_cpus(housekeeping)}",
    )


# --- The CPUs of services: apart from the measured ones and from fairtrial's, as far as there are enough.


# ``auto`` or CPUs, and whether these may be those of the runs or of fairtrial too
CpuWish = tuple[Literal["auto"] | tuple[int, ...], bool]


def with_services(
    plan: CpuPlan, wishes: Mapping[str, CpuWish], topology: Topology, usable: tuple[int, ...]
) -> CpuPlan:
    """Give the plan with the CPUs of services, by their names; fairtrial keeps what they leave.

    All that say ``auto`` have the same CPUs: those of other variants wait meanwhile, and no variant has a
    better place. fairtrial keeps one core. With two usable CPUs they share fairtrial's, with a caution.
    """
    if not wishes:
        return plan
    for name, (cpus, share) in wishes.items():
        if cpus != "auto":
            _refuse_cpus(plan, name, cpus, usable, share=share)
    asks = [name for name, (cpus, _) in wishes.items() if cpus == "auto"]
    housekeeping, cautions = plan.housekeeping, plan.cautions
    if plan.targets is None:
        automatic = tuple(number for number in topology.numbers if number in set(usable))
        text = plan.text
        if asks:
            what = "services are not pinned, as the targets are not: they may take each other's CPU"
            cautions = (*cautions, what)
    else:
        named = {name: set(cpus) for name, (cpus, _) in wishes.items() if cpus != "auto"}
        alone = {n for name, cpus in named.items() if not wishes[name][1] for n in cpus}
        kept = tuple(n for n in plan.housekeeping if n not in set(plan.reserved) | alone)
        if alone and not kept:
            what = f"the services on CPU {format_cpus(tuple(alone))} ({', '.join(named)}) leave none to fairtrial itself"
            fix = f"write 'share_cpus: on' there, or name fewer of CPUs {format_cpus(usable)}"
            raise HostError(what, f"services.*.cpus; targets on {format_cpus(plan.targets)}", fix)
        housekeeping = automatic = kept or plan.housekeeping
        if asks and not all(wishes[name][1] for name in asks):
            ours, others = _apart(kept, set().union(*named.values()), topology)
            if others:
                housekeeping, automatic = ours, others
            else:
                met = set(automatic) & set(plan.targets)
                whom = "fairtrial and the measured programs" if met else "fairtrial itself"
                what = f"no CPU is left for services ({', '.join(asks)}): they share CPU {format_cpus(automatic)} with {whom}"
                cautions = (*cautions, what)
        before = f"fairtrial on {format_cpus(plan.housekeeping)}"
        text = plan.text.replace(before, f"fairtrial on {format_cpus(housekeeping)}")
    chosen = {name: automatic if cpus == "auto" else cpus for name, (cpus, _) in wishes.items()}
    own = {number for cpus in chosen.values() for number in cpus} - set(housekeeping)
    places = sorted({format_cpus(cpus) for cpus in chosen.values()})
    return dataclasses.replace(
        plan,
        reserved=() if plan.targets is None else tuple(sorted({*plan.reserved, *own})),
        housekeeping=housekeeping,
        services=chosen,
        cautions=cautions,
        text=f"{text}, services on {' and '.join(places)}",
    )


def _refuse_cpus(
    plan: CpuPlan, name: str, cpus: tuple[int, ...], usable: tuple[int, ...], *, share: bool
) -> None:
    where, outside = f"services.{name.partition('/')[0]}.cpus", tuple(set(cpus) - set(usable))
    if outside:
        what = f"the service '{name}' is to run on CPU {format_cpus(outside)}, which this process may not use"
        fix = f"name CPUs out of {format_cpus(usable)}, or leave 'cpus' out"
        raise HostError(what, where, fix)
    taken = tuple(set(cpus) & set(plan.reserved))
    if taken and not share:
        what = f"the service '{name}' is to run on CPU {format_cpus(taken)}, on a core that is measured"
        fix = "name others, or write 'share_cpus: on' where that is meant"
        raise HostError(what, f"{where}; targets on {format_cpus(plan.targets or ())}", fix)


def _apart(
    free: tuple[int, ...], named: set[int], topology: Topology
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split the free CPUs: one core for fairtrial, the others for services; none for them where there is one alone."""
    first = next((number for number in free if number not in named), None)
    cpu = None if first is None else topology.cpu(first)
    core = {first} if cpu is None or cpu.siblings is None else {first, *cpu.siblings}
    ours = tuple(number for number in free if number in core)
    others = tuple(number for number in free if number not in core)
    if not others and len(ours) > 1:  # one core with two threads: better than one thread for both
        return ours[:1], ours[1:]
    return ours, others
