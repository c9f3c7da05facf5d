"""Puts trials of one campaign together: as the sessions of one trial, or as the hosts of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .assembly import Merged as Merged, merge_trials as merge_trials
    from .fleet import (
        MergedFleet as MergedFleet,
        MergedHost as MergedHost,
        Named as Named,
        merge_hosts as merge_hosts,
        named_trials as named_trials,
        way_of as way_of,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "assembly": "Merged merge_trials",
            "fleet": "MergedFleet MergedHost Named merge_hosts named_trials way_of",
        },
    )
