"""A campaign on this host: the CPUs that it gets, and what the checks have to look at."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..campaign import Campaign, Isolation
from ..checks import Situation
from ..host import CpuPlan, GapLook, Host, HostState, choose_cpus
from ..meters.counters import CounterLook
from ..store import cpus_in_use


def cpus_for(campaign: Campaign, state: HostState) -> CpuPlan:
    """Choose the CPUs of a campaign on this host, away from those of other trials.

    Raises
    ------
    HostError
        If the campaign names CPUs that cannot be used.
    """
    setting = campaign.isolation.cpus
    return choose_cpus(
        setting,
        state.topology,
        usable=_left_over(state.usable) if setting == "auto" else state.usable,
        isolated=state.isolated,
    )


def _left_over(usable: tuple[int, ...]) -> tuple[int, ...]:
    """Leave the CPUs of other trials alone, where enough others are left to choose from."""
    busy = cpus_in_use() or ()
    free = tuple(cpu for cpu in usable if cpu not in busy)
    return free if len(free) >= 2 else usable


def look_at_cpus(
    campaign: Campaign | None,
    host: Host,
    cpus: tuple[int, ...] | None,
    seconds: float,
    *,
    ours: tuple[int, ...] = (),
) -> GapLook:
    """Look how much of the CPUs others take, in the scheduling class of the campaign's targets.

    A CPU on which another trial measures is left alone.

    Parameters
    ----------
    campaign : Campaign or None
        Its scheduling counts; without one, what campaigns ask by default.
    host : Host
        What is looked at.
    cpus : tuple of int or None
        The CPUs of the targets; None when they are not pinned.
    seconds : float
        How long.
    ours : tuple of int, optional
        The CPUs that this process holds.
    """
    others = set(cpus_in_use() or ()) - set(ours)
    taken = [cpu for cpu in cpus or () if cpu in others]
    if taken:
        return GapLook(problem=f"another trial measures on cpu{taken[0]}: it is not disturbed")
    isolation = campaign.isolation if campaign else Isolation()
    fifo = isolation.scheduling == "fifo"
    return host.gaps(
        cpus, seconds, priority=isolation.priority if fifo else 0, nice=isolation.nice or 0
    )


def situation_of(
    campaign: Campaign | None,
    host: Host,
    cpus: tuple[int, ...],
    folder: Path,
    *,
    needed_bytes: int = 0,
    gaps: GapLook | None = None,
    groups: tuple[str, ...] | None = None,
    events: CounterLook | None = None,
) -> Situation:
    """Read the host as it is now, for a trial that would be stored below `folder`.

    Parameters
    ----------
    campaign : Campaign or None
        What it asks of the host counts; without one, what campaigns ask by default.
    host : Host
        What is read.
    cpus : tuple of int
        The CPUs that will be measured.
    folder : Path
        The folder of trials; the nearest one above it that exists is asked for its free space.
    needed_bytes : int, optional
        The space that the trial may need.
    gaps : GapLook, optional
        What a look at the CPUs saw.
    groups : tuple of str, optional
        The controllers of the cgroups that the runs have.
    events : CounterLook, optional
        Which events can be counted.
    """
    counters = host.counters(cpus)  # first: who compares counters waits for them, not for the rest
    isolation = campaign.isolation if campaign else Isolation()
    place = folder.absolute()
    # Path.is_dir() raises where nothing may be searched
    existing = next(path for path in (place, *place.parents) if os.path.isdir(path))  # noqa: PTH112
    return Situation(
        state=host.read(cpus),
        counters=counters,
        cpus=cpus,
        fifo=isolation.scheduling == "fifo",
        aslr=isolation.aslr,
        free_bytes=shutil.disk_usage(existing).free,
        needed_bytes=needed_bytes,
        runs_path=str(folder),
        gaps=gaps,
        groups=groups,
        ungrouped=isolation.containment == "none",
        limits=isolation.limits,
        events=events,
        energy=campaign is not None and campaign.energy,
        others_logged_in=host.others_logged_in(),
    )
