"""What a person watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .checkup import check_up as check_up
    from .dry_run import preview as preview
    from .progress import read_progress as read_progress
    from .view import View as View, scale as scale
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "checkup": "check_up",
            "dry_run": "preview",
            "progress": "read_progress",
            "view": "View scale",
        },
    )
