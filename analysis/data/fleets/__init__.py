"""Fleets read: the trials of several hosts, one at a time, or their sessions as those of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .apart import trials_apart as trials_apart
    from .joined import joined_trial as joined_trial, nothing_to_judge as nothing_to_judge
    from .notes import host_cautions as host_cautions, standing as standing
    from .opened import HostTrial as HostTrial, OpenedFleet as OpenedFleet, open_fleet as open_fleet
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "apart": "trials_apart",
            "joined": "joined_trial nothing_to_judge",
            "notes": "host_cautions standing",
            "opened": "HostTrial OpenedFleet open_fleet",
        },
    )
