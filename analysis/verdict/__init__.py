"""The default answer about a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .fleet import judge_fleet as judge_fleet
    from .host_standing import (
        FleetHostStanding as FleetHostStanding,
        HostDifference as HostDifference,
    )
    from .judging import judge as judge, judge_alone as judge_alone, judge_sides as judge_sides
    from .looking import looks_at as looks_at
    from .result import CandidateVerdict as CandidateVerdict, Verdict as Verdict
    from .sides import (
        Side as Side,
        all_failed as all_failed,
        comparable as comparable,
        sides_of as sides_of,
        without as without,
    )
    from .sourced import Sourced as Sourced, judge_sources as judge_sources
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fleet": "judge_fleet",
            "host_standing": "FleetHostStanding HostDifference",
            "judging": "judge judge_alone judge_sides",
            "looking": "looks_at",
            "result": "CandidateVerdict Verdict",
            "sides": "Side all_failed comparable sides_of without",
            "sourced": "Sourced judge_sources",
        },
    )
