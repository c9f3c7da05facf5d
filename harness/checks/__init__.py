"""Checks of the host: pure functions of what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .registry import (
        CHECK_NAMES as CHECK_NAMES,
        check_before as check_before,
        check_between as check_between,
        fatal_findings as fatal_findings,
    )
    from .situation import Situation as Situation
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "registry": "CHECK_NAMES check_before check_between fatal_findings",
            "situation": "Situation",
        },
    )
