"""Runs that fail: whether the candidate fails more than the baseline, by whole sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .cautions import failing_cautions as failing_cautions
    from .dead import failed_lines as failed_lines
    from .judging import (
        Failing as Failing,
        Fails as Fails,
        failing_of as failing_of,
        failing_over_hosts as failing_over_hosts,
    )
    from .permutation import SidesCells as SidesCells, cell_pvalue as cell_pvalue
    from .shares import fisher as fisher
    from .wording import failed_text as failed_text
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cautions": "failing_cautions",
            "dead": "failed_lines",
            "shares": "fisher",
            "judging": "Failing Fails failing_of failing_over_hosts",
            "permutation": "SidesCells cell_pvalue",
            "wording": "failed_text",
        },
    )
