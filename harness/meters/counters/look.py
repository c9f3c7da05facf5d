"""Which events a launcher could open, and in words why it could not open the others."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from .plan import PARANOID, WATCHDOG, CounterPlan
from .pmu import DEVICES
from .resolving import Refused, Resolved

Why = Literal["absent", "permission", "full"]

_NOT_THERE = (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.EINVAL)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
_USER_LEVEL, _KERNEL_LEVEL = 2, 1  # the highest level that lets anybody count so much


class Answer(NamedTuple):
    """What a launcher says of one event: the errno, the way that worked, whether it found a place."""

    number: int
    way: int
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedEvent:
    """An event that is counted; with `user_only` without what kernel and hypervisor do for it."""

    name: str
    unit: str
    user_only: bool
    may_be_still: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEvent:
    """An event that is not counted, and why: it is not there, not permitted, or has no place."""

    name: str
    why: Why
    what: str
    where: str | None = None
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterLook:
    """What became of the events that were wanted, in their order.

    `places` says where in the launcher's list each counted one stands. `asked` is whether a campaign
    wants them, and not only the doctor; `paranoid` the kernel's setting.
    """

    counted: tuple[CountedEvent, ...]
    missing: tuple[MissingEvent, ...]
    asked: bool = True
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
        told = {one.name: "user" if one.user_only else "all" for one in self.counted}
        return told | {one.name: f"none: {one.what}" for one in self.missing}


def look_of(
    plan: CounterPlan, answers: Sequence[Answer] | None, *, asked: bool = True
) -> CounterLook:
    """Say of each event of a plan what became of it.

    Parameters
    ----------
    plan : CounterPlan
        What was wanted.
    answers : sequence of Answer or None
        What the launcher says of the plan's resolved events, in their order; None where it was not
        asked, because it has nothing that it could open.
    asked : bool
        Whether a campaign wants them.
    """
    counted: list[CountedEvent] = []
    missing: list[MissingEvent] = []
    said = iter(answers or ())
    placed: list[str] = []
    for one in plan.events:
        if isinstance(one, Refused):
            missing.append(
                MissingEvent(
                    name=one.name, why="absent", what=one.what, where=one.where, fix=one.fix
                )
            )
            continue
        answer = next(said, None)
        if answer is None:
            missing.append(_unknown_machine(one, plan))
        elif answer.number or not answer.fits:
            missing.append(_missing(one, answer, plan, placed))
        else:
            placed += [one.name] if one.on_processor else []
            counted.append(
                CountedEvent(
                    name=one.name,
                    unit=one.unit,
                    user_only=answer.way > 0,
                    may_be_still=one.may_be_still,
                )
            )
    return CounterLook(
        counted=tuple(counted), missing=tuple(missing), asked=asked, paranoid=plan.paranoid
    )


def _unknown_machine(event: Resolved, plan: CounterPlan) -> MissingEvent:
    what = f"how events are opened on a machine of the kind '{plan.machine}' is not known here"
    return MissingEvent(name=event.name, why="absent", what=what)


def _missing(event: Resolved, answer: Answer, plan: CounterPlan, before: list[str]) -> MissingEvent:
    if not answer.number:
        return _no_place(event, plan, before)
    if answer.number in _NOT_ALLOWED:
        return _not_allowed(event, plan)
    if answer.number == errno.ENOSYS:
        what = "the kernel counts no events (it was built without CONFIG_PERF_EVENTS)"
        return MissingEvent(name=event.name, why="absent", what=what)
    if answer.number in _NOT_THERE:
        return _not_there(event, answer, plan)
    what = f"the kernel does not open it: {os.strerror(answer.number)}"
    fix = "raise the limit on open files: ulimit -n 1024" if answer.number == errno.EMFILE else None
    return MissingEvent(name=event.name, why="absent", what=what, fix=fix)


def _not_there(event: Resolved, answer: Answer, plan: CounterPlan) -> MissingEvent:
    said = f"perf_event_open: {errno.errorcode[answer.number]}"
    if not event.on_processor:
        what = "the kernel does not count it for a program"
        return MissingEvent(name=event.name, why="absent", what=what, where=said)
    if plan.has_processor:
        what = "this processor does not count it"
        fix = "'perf list' shows what it counts; others can be written as {raw: cpu/event=.../, name: ...}"
        return MissingEvent(name=event.name, why="absent", what=what, where=said, fix=fix)
    inside = plan.virtual not in {None, "none"}
    what = "this machine shows no hardware counters"
    what += f": it is a virtual machine ({plan.virtual})" if inside else " (a virtual machine?)"
    return MissingEvent(
        name=event.name,
        why="absent",
        what=what,
        where=f"{said}; no processor in {DEVICES}",
        fix="measure on the machine itself, or have the hypervisor pass its counters on (a vPMU)",
    )


def _not_allowed(event: Resolved, plan: CounterPlan) -> MissingEvent:
    level = plan.paranoid
    where = f"{PARANOID} = {'not readable' if level is None else level}"
    enough = _KERNEL_LEVEL if event.needs_kernel else _USER_LEVEL
    capability = f"sudo setcap cap_perfmon=ep {Path(sys.executable).resolve()}"
    if level is not None and level <= enough:
        what = (
            "counting is not permitted, although the kernel would permit it: a container's rules?"
        )
        fix = "docker run --cap-add PERFMON, with a seccomp profile that allows perf_event_open"
    elif event.needs_kernel:
        what = "it needs the right to count in the kernel; without that it would falsely read 0"
        fix = f"sudo sysctl kernel.perf_event_paranoid={enough}, or: {capability}"
    else:
        what = "counting is not permitted to you"
        fix = f"sudo sysctl kernel.perf_event_paranoid={enough}, or: {capability}"
    return MissingEvent(name=event.name, why="permission", what=what, where=where, fix=fix)


def _no_place(event: Resolved, plan: CounterPlan, before: list[str]) -> MissingEvent:
    beside = f" beside {', '.join(before)}" if before else ""
    taken = "; the kernel's watchdog takes one" if plan.watchdog else ""
    fix = "count fewer events at a time, or let them take turns with 'multiplex: allow'"
    if plan.watchdog:
        fix += "; sudo sysctl kernel.nmi_watchdog=0 frees one"
    return MissingEvent(
        name=event.name,
        why="full",
        what=f"the processor has no counter left for it{beside}{taken}",
        where=f"{WATCHDOG} = 1" if plan.watchdog else "counters.multiplex = refuse",
        fix=fix,
    )
