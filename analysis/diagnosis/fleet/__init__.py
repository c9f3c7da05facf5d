"""What the runs of a fleet look like: each host by itself, and what many of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .examine import diagnose_fleet as diagnose_fleet
    from .result import (
        DiagnosedHost as DiagnosedHost,
        FleetDiagnosis as FleetDiagnosis,
        SharedFinding as SharedFinding,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "examine": "diagnose_fleet",
            "result": "DiagnosedHost FleetDiagnosis SharedFinding",
        },
    )
