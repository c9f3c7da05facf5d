"""How many hosts, of how many sessions of how many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .plan import HostPilot as HostPilot, plan_hosts as plan_hosts
    from .result import HostLine as HostLine, HostPlan as HostPlan, PlannedHosts as PlannedHosts
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {"plan": "HostPilot plan_hosts", "result": "HostLine HostPlan PlannedHosts"},
    )
