"""What a verdict holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..methods.hpt import HptResult
from .page import verdict_text

__all__ = ["BenchmarkVerdict", "CandidateVerdict", "Outcome", "Spread", "Verdict"]

Outcome = Literal["faster", "slower", "better", "worse", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkVerdict:
    """One candidate on one benchmark.

    `speedup` is the ratio of the medians, above 1 when the candidate is better; None when one side
    has no runs that count. `outcome` follows the rank-sum test of HPT's stage one, and is
    "undecided" where that test was not possible. `floored` names the sides ("candidate",
    "baseline") whose median is only an upper bound, the launcher's floor: then there is no speedup.
    """

    benchmark: str
    runs_candidate: int
    runs_baseline: int
    median_candidate: float | None
    median_baseline: float | None
    speedup: float | None
    outcome: Outcome
    floored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """One candidate over the suite; `hpt` is None when nothing could be compared.

    `speedup` is the geometric mean of the benchmarks' speedups: a summary of these medians without
    an interval, not what HPT tests.
    """

    variant: str
    benchmarks: tuple[BenchmarkVerdict, ...]
    speedup: float | None
    hpt: HptResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One variant on one benchmark, by itself: median, quartiles and range."""

    variant: str
    benchmark: str
    runs: int
    median: float
    low_quartile: float
    high_quartile: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first verdict on a trial. `spreads` is filled only when there is nothing to compare."""

    trial: str
    path: str
    campaign: str
    campaign_path: str
    host: str
    metric: str
    unit: str
    better: str
    baseline: str
    sessions: int
    runs: int
    warmups: int
    failed: int
    confidence: float
    candidates: tuple[CandidateVerdict, ...]
    spreads: tuple[Spread, ...]
    cautions: tuple[str, ...]
    finished: bool

    def to_dict(self) -> dict[str, Any]:
        """Give the verdict as JSON types."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "candidates": [
                {
                    "variant": one.variant,
                    "benchmarks": [
                        asdict(row) | {"floored": list(row.floored)} for row in one.benchmarks
                    ],
                    "speedup": one.speedup,
                    "hpt": None if one.hpt is None else one.hpt.to_dict(),
                }
                for one in self.candidates
            ],
            "spreads": [asdict(row) for row in self.spreads],
            "cautions": list(self.cautions),
        }

    def __str__(self) -> str:
        return "\n".join(verdict_text(self))


_PLAIN = (
    *("trial", "path", "campaign", "campaign_path", "host", "metric", "unit", "better"),
    *("baseline", "sessions", "runs", "warmups", "failed", "confidence", "finished"),
)
