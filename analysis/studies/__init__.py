"""Monte Carlo studies on one's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .coverage import coverage_study as coverage_study
    from .error_rates import power_study as power_study, type1_study as type1_study
    from .result import CoverageStudy as CoverageStudy, RejectionStudy as RejectionStudy
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "coverage": "coverage_study",
            "error_rates": "power_study type1_study",
            "result": "CoverageStudy RejectionStudy",
        },
    )
