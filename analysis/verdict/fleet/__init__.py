"""The verdict on a fleet: one campaign on several hosts, host as the outermost level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .judging import judge_fleet as judge_fleet
    from .refusing import refuse_of_fleet as refuse_of_fleet
    from .screen import (
        disagreeing_sentences as disagreeing_sentences,
        fleet_section as fleet_section,
        standing_sentences as standing_sentences,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "judging": "judge_fleet",
            "refusing": "refuse_of_fleet",
            "screen": "disagreeing_sentences fleet_section standing_sentences",
        },
    )
