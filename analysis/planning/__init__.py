"""How much to measure, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .plan import (
        RunningSuite as RunningSuite,
        decide as decide,
        plan_runs as plan_runs,
        width_loop as width_loop,
    )
    from .stopping import log_error as log_error
    from .width import check_runs as check_runs, t_interval as t_interval
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "plan": "RunningSuite decide plan_runs width_loop",
            "stopping": "log_error",
            "width": "check_runs t_interval",
        },
    )
