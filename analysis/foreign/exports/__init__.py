"""What is written for other tools: one module a target, one row in the table of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .leaving import (
        Leaving as Leaving,
        Metric as Metric,
        Run as Run,
        Sample as Sample,
        leaving_matrices as leaving_matrices,
        leaving_trial as leaving_trial,
    )
    from .targets import TARGETS as TARGETS, Target as Target, target_for as target_for
    from .written import Written as Written
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "leaving": "Leaving Metric Run Sample leaving_matrices leaving_trial",
            "targets": "TARGETS Target target_for",
            "written": "Written",
        },
    )
