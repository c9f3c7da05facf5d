"""The whole answer of HPT: rank table, the program window's three conclusions, and the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from ...data import PerformanceMatrix
from ...report import Result, cautions_to_dict, merged
from ...stats import door
from .compare import hpt
from .context import HptContext, hpt_context
from .result import HptResult, Ties
from .speedup import HptSpeedup, hpt_speedup
from .stages import Scores

__all__ = ["HptReport", "hpt_report"]


class _Question(TypedDict):
    """What every part of the answer is asked for."""

    confidence: float
    alpha: float | None
    ties: Ties
    scores: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class HptReport(Result):
    """All that HPT says about a candidate against a baseline.

    `plain` tests at speedup 1, `tested` at the speedup under test (the same when that is 1).
    """

    method: ClassVar[str] = "hpt"

    plain: HptResult
    tested: HptResult
    best: HptSpeedup
    context: HptContext

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The window's conclusions: who is better, the speedup under test, the r-Speedup."""
        tested = () if self.tested is self.plain else (self.tested.conclusion,)
        return (self.plain.conclusion, *tested, self.best.conclusion)

    def body(self) -> dict[str, Any]:
        """Give the test at the speedup under test, and beside it all else."""
        keys = ("confidence", "pvalue", "pvalue_baseline", "pvalue_of", "outcome", "word")
        return {
            **self.tested.body(),
            **cautions_to_dict(self.cautions),
            "conclusions": list(self.conclusions),
            "without_speedup": {key: getattr(self.plain, key) for key in keys},
            "r_speedup": self.best.body(),
            "context": self.context.body(),
        }


@door
def hpt_report(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
) -> HptReport:
    """Test without and with a speedup, find the r-Speedup, and compute the context.

    Parameters
    ----------
    candidate, baseline, speedup, confidence, alpha, ties, scores
        As for `hpt`.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.
    """
    asked: _Question = {"confidence": confidence, "alpha": alpha, "ties": ties, "scores": scores}
    plain = hpt(candidate, baseline, **asked)
    tested = plain if speedup == 1 else hpt(candidate, baseline, speedup=speedup, **asked)
    best = hpt_speedup(candidate, baseline, **asked)
    return HptReport(
        plain=plain,
        tested=tested,
        best=best,
        context=hpt_context(candidate, baseline, speedup=speedup, best=best, **asked),
        cautions=merged(tested.cautions, best.cautions),
        references=tested.references,
    )
