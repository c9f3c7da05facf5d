"""What is asked of a launcher: the events of this host, and how each may be opened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...host import Tree
from ..perf import MACHINES, EventAttributes
from .events import SOFTWARE
from .pmu import DEVICES, Pmus
from .resolving import Refused, Resolved, resolve_event

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
WATCHDOG = "/proc/sys/kernel/nmi_watchdog"
# Counts nothing, and stays with the launcher; anybody who may count at all may open it.
_OURS = EventAttributes(kind=SOFTWARE, config=9, disabled=True, user_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterPlan:
    """The events that are wanted, in order, and what the host shows that explains a refusal.

    `paranoid` is the kernel's setting, `watchdog` whether one counter is taken by the kernel's own;
    `has_processor` whether the processor's counters are shown at all, `virtual` the hypervisor.
    With `share` events may take turns on too few counters. `machine` is what uname calls it.
    """

    events: tuple[Resolved | Refused, ...]
    share: bool = False
    paranoid: int | None = None
    watchdog: bool = False
    has_processor: bool = False
    virtual: str | None = None
    machine: str

    @property
    def resolved(self) -> tuple[Resolved, ...]:
        """The events that the kernel is asked for."""
        return tuple(one for one in self.events if isinstance(one, Resolved))

    @property
    def message(self) -> dict[str, Any] | None:
        """What the launcher is told; None where there is nothing that it could open.

        `ours` is an event that no run inherits. Each other one has a list of ways to open it, the best first: with the kernel's part, and without
        where that counts rightly. Of each way: how runs are counted, and how it is tried whether
        events fit on the processor beside each other, as the first of a group and as another.
        """
        machine = MACHINES.get(self.machine)
        if machine is None or not self.resolved:
            return None
        return {
            "call": machine.call,
            "enable": machine.enable,
            "share": self.share,
            "ours": _OURS.packed(),
            "events": [
                {"on_processor": one.on_processor, "ways": [*map(_bytes, _ways(one))]}
                for one in self.resolved
            ],
        }


def plan_of(
    events: Iterable[tuple[str, str | None]],
    tree: Tree,
    cpus: tuple[int, ...] | None,
    *,
    share: bool = False,
    virtual: str | None = None,
) -> CounterPlan:
    """Find events on a host.

    Parameters
    ----------
    events : iterable of (str, str or None)
        Each one's name, and its text if it is a raw one.
    tree : Tree
        The host.
    cpus : tuple of int or None
        Where the targets are pinned; None where they are not.
    share : bool
        Whether events may take turns on the processor's counters.
    virtual : str or None
        The hypervisor, or "none".
    """
    pmus = Pmus(tree, cpus)
    return CounterPlan(
        events=tuple(resolve_event(name, raw, pmus) for name, raw in events),
        share=share,
        paranoid=tree.number(PARANOID),
        watchdog=tree.number(WATCHDOG) == 1,
        # a tree that shows no PMUs at all tells nothing of them: the kernel is asked
        has_processor=bool(pmus.cores) or not tree.exists(DEVICES),
        virtual=virtual,
        machine=os.uname().machine,
    )


def _ways(event: Resolved) -> list[tuple[Resolved, bool]]:
    return [(event, False)] if event.needs_kernel else [(event, False), (event, True)]


def _bytes(way: tuple[Resolved, bool]) -> dict[str, bytes]:
    event, user_only = way
    return {
        "count": event.attributes(counting=True, user_only=user_only).packed(),
        "first": event.attributes(counting=False, user_only=user_only, pinned=True).packed(),
        "other": event.attributes(counting=False, user_only=user_only).packed(),
    }
