"""Two trials compared: campaign, plan, environment, results, and whether the conclusions agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .comparing import compare_trials as compare_trials
    from .conclusion import overall as overall
    from .effects import compare_answers as compare_answers
    from .result import (
        CampaignChange as CampaignChange,
        CandidateComparison as CandidateComparison,
        Effect as Effect,
        EffectComparison as EffectComparison,
        TrialComparison as TrialComparison,
        TrialSide as TrialSide,
    )
    from .wording import paragraph as paragraph
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "comparing": "compare_trials",
            "conclusion": "overall",
            "effects": "compare_answers",
            "result": "CampaignChange CandidateComparison Effect EffectComparison TrialComparison TrialSide",
            "wording": "paragraph",
        },
    )
