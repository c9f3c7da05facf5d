"""All variants against each other: every pair, their ranks, the chance to have the best run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .best_run import best_of as best_of
    from .pairs import RANKS_ALARM as RANKS_ALARM, rank_variants as rank_variants
    from .result import BestOf as BestOf, PairLine as PairLine, Place as Place, Ranking as Ranking
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "best_run": "best_of",
            "pairs": "RANKS_ALARM rank_variants",
            "result": "BestOf PairLine Place Ranking",
        },
    )
