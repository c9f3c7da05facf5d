"""What a person watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .diagnosis import diagnose as diagnose
    from .dry_run import preview as preview
    from .progress import read_progress as read_progress
    from .view import View as View, scale as scale
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "diagnosis": "diagnose",
            "dry_run": "preview",
            "progress": "read_progress",
            "view": "View scale",
        },
    )
