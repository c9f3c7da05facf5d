"""The verdict on a fleet: one campaign on several hosts, host as the outermost level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .judging import judge_fleet as judge_fleet
    from .screen import (
        fleet_section as fleet_section,
        standing_sentences as standing_sentences,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "judging": "judge_fleet",
            "screen": "fleet_section standing_sentences",
        },
    )
