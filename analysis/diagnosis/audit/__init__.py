"""The diagnosis of a whole trial: what its runs, its sessions and its host look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .examine import (
        diagnose_matrix as diagnose_matrix,
        diagnose_runs as diagnose_runs,
        diagnose_trial as diagnose_trial,
    )
    from .result import (
        CellLine as CellLine,
        Diagnosis as Diagnosis,
        FarRun as FarRun,
        Finding as Finding,
        TwoBinaries as TwoBinaries,
        Untested as Untested,
    )
    from .sentences import in_sessions as in_sessions, movers_text as movers_text
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "examine": "diagnose_matrix diagnose_runs diagnose_trial",
            "result": "CellLine Diagnosis FarRun Finding TwoBinaries Untested",
            "sentences": "in_sessions movers_text",
        },
    )
