"""How much to measure, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .components import (
        VarianceComponents as VarianceComponents,
        variance_components as variance_components,
    )
    from .hosts import HostPilot as HostPilot, HostPlan as HostPlan, plan_hosts as plan_hosts
    from .log_interval import log_error as log_error
    from .pair import check_runs as check_runs
    from .plan import plan_runs as plan_runs
    from .result import RunPlan as RunPlan, WidthLoop as WidthLoop
    from .sessions import (
        SessionPlan as SessionPlan,
        TrialCosts as TrialCosts,
        plan_sessions as plan_sessions,
        trial_costs as trial_costs,
    )
    from .stop_rule import RunningSuite as RunningSuite, decide as decide
    from .width import t_interval as t_interval, width_loop as width_loop
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "components": "VarianceComponents variance_components",
            "hosts": "HostPilot HostPlan plan_hosts",
            "log_interval": "log_error",
            "pair": "check_runs",
            "plan": "plan_runs",
            "result": "RunPlan WidthLoop",
            "sessions": "SessionPlan TrialCosts plan_sessions trial_costs",
            "stop_rule": "RunningSuite decide",
            "width": "t_interval width_loop",
        },
    )
