"""How many sessions of how many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .costs import TrialCosts as TrialCosts, trial_costs as trial_costs
    from .plan import plan_sessions as plan_sessions
    from .result import (
        PlannedBenchmark as PlannedBenchmark,
        PlannedSessions as PlannedSessions,
        SessionPlan as SessionPlan,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "costs": "TrialCosts trial_costs",
            "plan": "plan_sessions",
            "result": "PlannedBenchmark PlannedSessions SessionPlan",
        },
    )
