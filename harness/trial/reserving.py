"""The CPUs of a trial, chosen and locked: before anything of the host is looked at."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..campaign import Campaign
from ..errors import HostError
from ..host import CpuPlan, Host
from ..launch import Interrupts
from ..store import CpuLock
from .situation import cpus_for

_CHOICES = 10  # of "auto", where other trials begin at the same time
_LOOK_S = 1.0


def reserve(
    campaign: Campaign, interrupts: Interrupts, say: Callable[[str], None], wait_s: float = 0.0
) -> tuple[CpuPlan, CpuLock]:
    """Choose the CPUs of a campaign and lock them.

    Where ``cpus: auto`` meets a trial that began at the same time it chooses again, as long as
    there are others. Waiting comes before the checks: while another trial measures they would
    find its load.

    Parameters
    ----------
    campaign : Campaign
        Its CPUs are locked, with the other threads of their cores.
    interrupts : Interrupts
        End the waiting.
    say : callable
        Is told, once, what is waited for.
    wait_s : float
        For how many seconds another trial is waited for; ``math.inf`` has no end.

    Raises
    ------
    HostError
        If a CPU cannot be used, or if another trial holds it and the time is up.
    Interrupted
        If a signal came while it waited.
    """
    end = time.monotonic() + wait_s
    choices, told = _CHOICES, False
    plan = _chosen(campaign)
    while True:
        try:
            return plan, CpuLock(plan.reserved)
        except HostError as held:
            before, plan = plan, _chosen(campaign)
            choices -= 1
            if plan.reserved != before.reserved and choices > 0:
                continue
            left = end - time.monotonic()
            if left <= 0:
                raise
            if not told:
                limit = "" if math.isinf(wait_s) else f", for at most {wait_s:g} s"
                say(f"waiting {held.what}{limit}")
                told = True
            interrupts.sleep(min(_LOOK_S, left))


def _chosen(campaign: Campaign) -> CpuPlan:
    with Host() as host:
        return cpus_for(campaign, host.read())
