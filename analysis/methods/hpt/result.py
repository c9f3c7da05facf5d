"""What HPT says: the rank table and the conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...report import Result, Word, figures, said, word_of

__all__ = [
    "P_TOLERANCE",
    "REFERENCES",
    "HptBenchmark",
    "HptResult",
    "Outcome",
    "Ties",
    "Winner",
]

Winner = Literal["candidate", "baseline", "tie"]
Outcome = Literal["candidate", "baseline", "undecided"]
Ties = Literal["table", "exact"]

P_TOLERANCE = 1e-12
_NAME = 40  # columns for a variant's name in a sentence
REFERENCES = (
    "T. Chen et al., Statistical performance comparisons of computers, HPCA 2012, section 4.1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptBenchmark:
    """Stage one on one benchmark, and the place of its difference in stage two.

    Medians are those of the scores, larger is better, the candidate's after the speedup under
    test. `pvalue_candidate` belongs to "the candidate is better"; both p-values and `alpha` are
    None where stage one was skipped because each side has one run.
    """

    derived: ClassVar[tuple[str, ...]] = ("word",)

    name: str
    runs_candidate: int
    runs_baseline: int
    median_candidate: float
    median_baseline: float
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue_candidate: float | None
    pvalue_baseline: float | None
    alpha: float | None
    winner: Winner
    difference: float
    rank: float

    @property
    def word(self) -> Word:
        """What the candidate is here."""
        return word_of(self.winner)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptResult(Result):
    """What HPT says about a candidate against a baseline.

    `pvalue` and `confidence` (1 - p, called reliability by the authors) always belong to "the
    candidate is better"; `pvalue_baseline` to its opposite. `outcome` is "baseline" when that one
    reaches `required`, the confidence asked for. `most` is the largest confidence that so many
    benchmarks can give. `stage_two` names the law that gave p. `timed` says whether a screen calls
    the better side faster.
    """

    method: ClassVar[str] = "hpt"
    unlisted: ClassVar[frozenset[str]] = frozenset({"timed"})
    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of", "medians_of")
    pvalue_of: ClassVar[str] = "candidate better"
    medians_of: ClassVar[str] = "scores"  # what `median_candidate` and `median_baseline` are of

    candidate: str
    baseline: str
    speedup_under_test: float
    required: float
    alpha: float | None
    ties: Ties
    scores: Literal["raw", "ratio", "log-ratio"]
    timed: bool
    benchmarks: tuple[HptBenchmark, ...]
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue: float
    pvalue_baseline: float
    confidence: float
    outcome: Outcome
    most: float
    stage_two: Literal["table", "normal", "exact"]
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """What the candidate is, against `speedup_under_test` times the baseline."""
        return word_of(self.outcome)

    @property
    def claim(self) -> str:
        """The proposition under test, in words."""
        return self._proposition("more", said("faster", timed=self.timed))

    @property
    def opposite(self) -> str:
        """The opposite proposition, in words."""
        return self._proposition("less", said("slower", timed=self.timed))

    def _proposition(self, than: str, comparative: str) -> str:
        ours, theirs = (figures.shorten(name, _NAME) for name in (self.candidate, self.baseline))
        if self.speedup_under_test == 1:
            return f"{ours} is {comparative} than {theirs}"
        good = "fast" if self.timed else "good"
        return f"{ours} is {than} than {self.speedup_under_test:g} times as {good} as {theirs}"

    @property
    def conclusion(self) -> str:
        """What the test says over the suite, in one sentence."""
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this 1 benchmark'}"
        ours = figures.reliability(self.confidence, self.required)
        theirs = figures.reliability(1 - self.pvalue_baseline, self.required)
        meaning = "(1 - p, not the chance of being right)"
        if self.outcome == "candidate":
            return f"{self.claim} {over}: HPT reliability {ours} {meaning}"
        if self.outcome == "baseline":
            return f"{self.opposite} {over}: HPT reliability {theirs} {meaning}"
        return (
            f"undecided {over} at {self.required:g}: that {self.claim} has HPT reliability {ours}, "
            f"the opposite {theirs} {meaning}"
        )
