"""What a reader needs to repeat a trial, and what changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .differences import compare_environments as compare_environments
    from .drift import diff as diff
    from .snapshot import capture as capture
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "snapshot": "capture",
            "differences": "compare_environments",
            "drift": "diff",
        },
    )
