"""The whole answer of HPT: rank table, the program window's three conclusions, and the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...data import PerformanceMatrix
from ...report import as_text
from .compare import hpt
from .context import HptContext, hpt_context
from .result import HptResult, Ties
from .speedup import HptSpeedup, hpt_speedup
from .stages import Scores

__all__ = ["HptReport", "hpt_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HptReport:
    """All that HPT says about a candidate against a baseline.

    `plain` tests at speedup 1, `tested` at the speedup under test (the same when that is 1).
    """

    plain: HptResult
    tested: HptResult
    best: HptSpeedup
    context: HptContext

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The window's conclusions: who is better, the speedup under test, the r-Speedup."""
        tested = () if self.tested is self.plain else (self.tested.conclusion,)
        return (self.plain.conclusion, *tested, self.best.conclusion)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        known = dict.fromkeys(self.tested.cautions)
        return tuple(dict.fromkeys([*known, *self.best.cautions]))

    def to_dict(self) -> dict[str, Any]:
        """Give the test at the speedup under test as JSON types, and beside it all else."""
        plain = self.plain.to_dict()
        keys = ("confidence", "pvalue", "pvalue_baseline", "outcome")
        return {
            **self.tested.to_dict(),
            "cautions": list(self.cautions),
            "conclusions": list(self.conclusions),
            "without_speedup": {key: plain[key] for key in keys},
            "r_speedup": self.best.to_dict(),
            "context": self.context.to_dict(),
        }

    def __str__(self) -> str:
        lines = []
        for conclusion in self.conclusions:
            lines += as_text.wrapped(conclusion)
        lines += ["", *self.tested.table(), "", "compared with"]
        lines += [f"  {line}" for line in str(self.context).splitlines()]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


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
    plain = hpt(candidate, baseline, confidence=confidence, alpha=alpha, ties=ties, scores=scores)
    tested = plain
    if speedup != 1:
        tested = hpt(
            candidate,
            baseline,
            speedup=speedup,
            confidence=confidence,
            alpha=alpha,
            ties=ties,
            scores=scores,
        )
    return HptReport(
        plain=plain,
        tested=tested,
        best=hpt_speedup(
            candidate, baseline, confidence=confidence, alpha=alpha, ties=ties, scores=scores
        ),
        context=hpt_context(
            candidate,
            baseline,
            speedup=speedup,
            confidence=confidence,
            alpha=alpha,
            ties=ties,
            scores=scores,
        ),
    )
