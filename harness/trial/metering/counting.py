"""A campaign's events on this host: what a launcher is asked for, and which of them can be had."""

from __future__ import annotations

from pathlib import Path

from ...campaign import Campaign, Isolation
from ...host import Host, HostState, Tree
from ...launch import Execution, Interrupts, LauncherClient
from ...meters.counters import CounterLook, CounterPlan, CounterTally, look_of, plan_of

# What the doctor tries when no campaign says what is wanted.
_USUAL = ("instructions", "cycles", "task-clock", "page-faults")


def counter_plan(
    campaign: Campaign | None, host: Host, state: HostState, cpus: tuple[int, ...] | None
) -> CounterPlan | None:
    """Find the events of a campaign on a host.

    Parameters
    ----------
    campaign : Campaign or None
        What it counts; without a campaign, what is counted most.
    host : Host
        What is read.
    state : HostState
        What was read of it already.
    cpus : tuple of int or None
        Where the targets are pinned; None where they are not.

    Returns
    -------
    CounterPlan or None
        None for a campaign that counts nothing.
    """
    counting = campaign.counters if campaign else None
    if campaign is not None and counting is None:
        return None
    events = [(name, None) for name in _USUAL]
    wanted = events if counting is None else [(one.name, one.raw) for one in counting.events]
    share = counting is not None and counting.multiplex == "allow"
    return plan_of(wanted, Tree(host.root), cpus, share=share, virtual=state.virtual)


def look_at_counters(
    campaign: Campaign | None, host: Host, state: HostState, cpus: tuple[int, ...] | None
) -> CounterLook | None:
    """See which events could be counted here, through a launcher that executes nothing.

    Parameters
    ----------
    campaign, host, state, cpus
        As of `counter_plan`.

    Returns
    -------
    CounterLook or None
        None for a campaign that counts nothing, and of a recorded host, which opens no events.

    Raises
    ------
    HostError
        If the CPUs cannot be used.
    LaunchError
        If the launcher cannot be started.
    """
    if host.root != Path("/"):
        return None
    plan = counter_plan(campaign, host, state, cpus)
    if plan is None or plan.message is None:
        return None if plan is None else look_of(plan, None, asked=campaign is not None)
    launcher = LauncherClient(
        Isolation(containment="none"), cpus, Interrupts(), counters=plan.message
    )
    launcher.close()
    return look_of(plan, launcher.counters, asked=campaign is not None)


def counters_of(
    tally: CounterTally, done: Execution, *, wanted: bool
) -> dict[str, tuple[float, ...]]:
    """Give the metrics that the counters of one run are, if it was `wanted` that it is counted."""
    if done.counters is None:
        if wanted:
            tally.unread()
        return {}
    numbers = done.numbers
    spent = numbers["user_s"] + numbers["system_s"]
    return tally.metrics(done.counters, cpu_s=spent, spawn_ns=numbers["spawn_ns"])
