"""Whether the launcher may keep its CPU between two runs: only where it takes it from nobody."""

from __future__ import annotations

from ..campaign import Campaign
from ..host import CpuPlan, HostState


def stays(campaign: Campaign, cpus: CpuPlan, state: HostState) -> bool:
    """Tell whether a session's launcher stays awake for the next run.

    It is the same for all runs of a session, so that no variant is measured another way than the
    others. Not where fairtrial itself may run on the targets' CPUs or beside them on their cores,
    nor where that is unknown: it would wait for the launcher. Not in the real-time class: a busy
    launcher would use up the share of time that the kernel leaves to it. Not where something is
    executed or waited for between the runs, on battery, or under a quota of processor time.
    """
    if cpus.targets is None or set(cpus.reserved) & set(cpus.housekeeping):
        return False
    if any(cpu.siblings is None for cpu in state.topology.only(cpus.targets)):
        return False
    if campaign.isolation.scheduling == "fifo" or campaign.protocol.cooldown_s > 0:
        return False
    if any(cell.before or cell.after for cell in campaign.cells):
        return False
    return not state.draining and state.quota_cpus is None
