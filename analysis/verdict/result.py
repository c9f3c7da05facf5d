"""What a verdict holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..methods.hpt import HptResult
from ..report import Result, Word

__all__ = ["BenchmarkVerdict", "CandidateVerdict", "Spread", "Verdict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkVerdict:
    """One candidate on one benchmark.

    `speedup` is the ratio of the medians, above 1 when the candidate is better; None when one side
    has no runs that count. `word` follows the rank-sum test of HPT's stage one, and is "undecided"
    where that test was not possible; `outcome` is how a screen says it, such as "better". `floored` names the sides ("candidate",
    "baseline") whose median is only an upper bound, the launcher's floor: then there is no speedup.
    """

    benchmark: str
    runs_candidate: int
    runs_baseline: int
    median_candidate: float | None
    median_baseline: float | None
    speedup: float | None
    word: Word
    outcome: str
    floored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """One candidate over the suite; `hpt` is None when nothing could be compared.

    `speedup` is the geometric mean of the benchmarks' speedups: a summary of these medians without
    an interval, not what HPT tests. `word` is HPT's; of a single benchmark, which HPT cannot
    compare as a suite, that benchmark's.
    """

    derived: ClassVar[tuple[str, ...]] = ("word",)

    variant: str
    benchmarks: tuple[BenchmarkVerdict, ...]
    speedup: float | None
    hpt: HptResult | None

    @property
    def word(self) -> Word:
        """What the candidate is over the suite."""
        if len(self.benchmarks) == 1:
            return self.benchmarks[0].word
        return "undecided" if self.hpt is None else self.hpt.word


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
class Verdict(Result):
    """The first verdict on a trial. `spreads` is filled only when there is nothing to compare."""

    method: ClassVar[str] = "verdict"

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
    finished: bool
    candidates: tuple[CandidateVerdict, ...]
    spreads: tuple[Spread, ...]
