"""The CPUs of services: apart from the measured ones and from fairtrial's, as far as there are so many."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import HostError
from .tree import format_cpus

if TYPE_CHECKING:
    from .placement import CpuPlan
    from .state import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuWish:
    """What a service asks for: ``auto`` or CPUs, and whether these may be the runs' or fairtrial's too."""

    cpus: Literal["auto"] | tuple[int, ...]
    share: bool = False


def with_services(
    plan: CpuPlan, wishes: Mapping[str, CpuWish], topology: Topology, usable: tuple[int, ...]
) -> CpuPlan:
    """Give the plan with the CPUs of services, by their names; fairtrial keeps what they leave.

    All that say ``auto`` have the same CPUs: those of other variants wait meanwhile, and no variant has a
    better place. fairtrial keeps one core. With two usable CPUs they share fairtrial's, with a caution.
    """
    if not wishes:
        return plan
    named = {number for wish in wishes.values() if wish.cpus != "auto" for number in wish.cpus}
    _refuse_unusable(wishes, usable)
    if plan.targets is None:
        everywhere = tuple(number for number in topology.numbers if number in set(usable))
        chosen = {
            name: everywhere if wish.cpus == "auto" else wish.cpus for name, wish in wishes.items()
        }
        cautions: tuple[str, ...] = ()
        if any(wish.cpus == "auto" for wish in wishes.values()):
            cautions = (
                "services are not pinned, as the targets are not: they may take each other's CPU",
            )
        return _planned(plan, chosen, plan.housekeeping, (), cautions)
    alone = {
        number
        for wish in wishes.values()
        if not wish.share and wish.cpus != "auto"
        for number in wish.cpus
    }
    _refuse_measured(plan, wishes)
    free = tuple(number for number in plan.housekeeping if number not in set(plan.reserved))
    kept = tuple(number for number in free if number not in alone)
    if alone and not kept:
        names = ", ".join(name for name, wish in wishes.items() if wish.cpus != "auto")
        what = f"the services on CPU {format_cpus(tuple(alone))} ({names}) leave none to fairtrial itself"
        fix = f"write 'share_cpus: on' there, or name fewer of CPUs {format_cpus(usable)}"
        raise HostError(what, f"services.*.cpus; targets on {format_cpus(plan.targets)}", fix)
    cautions = ()
    housekeeping, automatic = kept or plan.housekeeping, kept or plan.housekeeping
    asks = [name for name, wish in wishes.items() if wish.cpus == "auto"]
    if asks and not all(wishes[name].share for name in asks):
        housekeeping, automatic = _apart(kept, named, topology)
        if not automatic:
            housekeeping = automatic = kept or plan.housekeeping
            where = format_cpus(automatic)
            met = set(automatic) & set(plan.targets)
            beside = "fairtrial and the measured programs" if met else "fairtrial itself"
            cautions = (
                f"no CPU is left for services ({', '.join(asks)}): they run on {where}, beside {beside}",
            )
    chosen = {
        name: automatic if wish.cpus == "auto" else wish.cpus for name, wish in wishes.items()
    }
    own = {number for cpus in chosen.values() for number in cpus} - set(housekeeping)
    return _planned(plan, chosen, housekeeping, tuple(own), cautions)


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


def _refuse_unusable(wishes: Mapping[str, CpuWish], usable: tuple[int, ...]) -> None:
    for name, wish in wishes.items():
        outside = () if wish.cpus == "auto" else tuple(set(wish.cpus) - set(usable))
        if outside:
            what = f"the service '{name}' is to run on CPU {format_cpus(outside)}, which this process may not use"
            fix = f"name CPUs out of {format_cpus(usable)}, or leave 'cpus' out"
            raise HostError(what, f"services.{name.partition('/')[0]}.cpus", fix)


def _refuse_measured(plan: CpuPlan, wishes: Mapping[str, CpuWish]) -> None:
    for name, wish in wishes.items():
        taken = () if wish.cpus == "auto" else tuple(set(wish.cpus) & set(plan.reserved))
        if taken and not wish.share:
            what = f"the service '{name}' is to run on CPU {format_cpus(taken)}, on a core that is measured"
            fix = "name others, or write 'share_cpus: on' where that is meant"
            where = f"services.{name.partition('/')[0]}.cpus; targets on {format_cpus(plan.targets or ())}"
            raise HostError(what, where, fix)


def _planned(
    plan: CpuPlan,
    chosen: Mapping[str, tuple[int, ...]],
    housekeeping: tuple[int, ...],
    own: tuple[int, ...],
    cautions: tuple[str, ...],
) -> CpuPlan:
    places = sorted({format_cpus(cpus) for cpus in chosen.values()})
    text = plan.text
    if plan.targets is not None:
        before = f"fairtrial on {format_cpus(plan.housekeeping)}"
        text = text.replace(before, f"fairtrial on {format_cpus(housekeeping)}")
    return dataclasses.replace(
        plan,
        reserved=tuple(sorted({*plan.reserved, *own})) if plan.targets is not None else (),
        housekeeping=housekeeping,
        services=chosen,
        cautions=(*plan.cautions, *cautions),
        text=f"{text}, services on {' and '.join(places)}",
    )
