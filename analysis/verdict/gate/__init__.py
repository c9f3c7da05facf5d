"""The gate of a build: a regression is proven, ruled out, or undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .condition import Condition as Condition, parse_condition as parse_condition
    from .deciding import gate as gate
    from .outputs import (
        junit as junit,
        summary as summary,
        workflow_commands as workflow_commands,
    )
    from .result import (
        EXIT_CODES as EXIT_CODES,
        Gate as Gate,
        GatedCandidate as GatedCandidate,
        GateLine as GateLine,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "condition": "Condition parse_condition",
            "deciding": "gate",
            "outputs": "junit summary workflow_commands",
            "result": "EXIT_CODES Gate GateLine GatedCandidate",
        },
    )
