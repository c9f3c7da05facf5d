"""HPT: hierarchical performance testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .compare import hpt as hpt
    from .context import hpt_context as hpt_context
    from .html_page import hpt_page as hpt_page
    from .page import hpt_pvalues as hpt_pvalues
    from .provenance import Fact as Fact, provenance_of as provenance_of
    from .reliability import (
        ReliabilitySteps as ReliabilitySteps,
        reliability_plot as reliability_plot,
        reliability_steps as reliability_steps,
    )
    from .report import hpt_report as hpt_report
    from .result import HptResult as HptResult
    from .speedup import HptSpeedup as HptSpeedup, hpt_speedup as hpt_speedup
    from .stages import (
        rank_sum_pvalue as rank_sum_pvalue,
        risk_of as risk_of,
        signed_rank_stage as signed_rank_stage,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "compare": "hpt",
            "context": "hpt_context",
            "html_page": "hpt_page",
            "page": "hpt_pvalues",
            "provenance": "Fact provenance_of",
            "reliability": "ReliabilitySteps reliability_plot reliability_steps",
            "report": "hpt_report",
            "result": "HptResult",
            "speedup": "HptSpeedup hpt_speedup",
            "stages": "rank_sum_pvalue risk_of signed_rank_stage",
        },
    )
