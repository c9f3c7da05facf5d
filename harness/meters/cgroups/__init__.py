"""A cgroup of version 2 for each run: memory and CPU time of all its processes, limits, a sure kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .limits import (
        DELEGATED as DELEGATED,
        GROUP_LIMITS as GROUP_LIMITS,
        missing_for as missing_for,
    )
    from .run_groups import (
        NoGroupsError as NoGroupsError,
        RunGroups as RunGroups,
        remove_left as remove_left,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "limits": "DELEGATED GROUP_LIMITS missing_for",
            "run_groups": "NoGroupsError RunGroups remove_left",
        },
    )
