"""What a reader needs to repeat a trial, and what changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .changes import diff as diff
    from .differences import compare_environments as compare_environments
    from .snapshot import capture as capture
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "changes": "diff",
            "differences": "compare_environments",
            "snapshot": "capture",
        },
    )
