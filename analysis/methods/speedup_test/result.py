"""What the Speedup-Test says: the decision path of each benchmark, and the figures of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from ...report import Result, Word
from .proportion import Proportion

__all__ = [
    "CENTRES",
    "F_TEST",
    "KOLMOGOROV",
    "LARGE",
    "REFERENCES",
    "SHAPIRO",
    "STUDENT",
    "SURE",
    "WELCH",
    "WILCOXON",
    "Centre",
    "Decision",
    "Outcome",
    "Proportion",
    "Side",
    "SpeedupSuite",
    "SpeedupTest",
    "Step",
    "Swapped",
    "Weighting",
]

Side = Literal["baseline", "candidate"]
Outcome = Literal["rejected", "not rejected", "not tested"]
Centre = Literal["min", "mean", "median"]
Weighting = Literal["equal", "fraction", "custom"]

CENTRES: tuple[Centre, ...] = ("min", "mean", "median")
SURE = 0.95  # from where on a level that was searched is an answer
LARGE = 30  # a sample is large when it has more runs (section 4.1 and appendix C of the report)

# The names of the tests in `Step.test`.
SHAPIRO = "Shapiro-Wilk"
F_TEST = "F"
STUDENT = "Student t"
WELCH = "Welch t"
KOLMOGOROV = "Kolmogorov-Smirnov"
WILCOXON = "Wilcoxon-Mann-Whitney"

REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report inria-00443839v2, 2010, "
    "sections 3 to 6",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One test on the way to a decision.

    `test` is one of the names above, `hypothesis` what the test can reject, `sample` the side that
    it looks at (None: both), `risk` the one that its p is held against. `statistic` and `pvalue` are
    None where the outcome is "not tested"; `consequence` says what follows, or why there is no test.
    """

    test: str
    hypothesis: str
    sample: Side | None
    statistic: float | None
    pvalue: float | None
    risk: float
    outcome: Outcome
    consequence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """The same protocol with the sides swapped: whether the candidate is significantly slower.

    `significant`, `confidence` and `pvalue` are as in `Decision`, of the opposite claim.
    """

    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)
    pvalue_of: ClassVar[str] = "baseline better"

    significant: bool | None
    confidence: float | None
    pvalue: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether the speedup of the mean, or of the median, is significant.

    Attributes
    ----------
    significant : bool or None
        None: the protocol cannot conclude. A search that finds no level gives False.
    confidence : float or None
        The level asked for, or the highest that the search accepts; None when it accepts none.
    pvalue : float or None
        Of the last test of the protocol; None when the hypothesis checks did not let it be done.
        After a search without a level it is the one at the lowest level whose checks pass.
    steps : tuple of Step
        The way to the decision, at `confidence`; after a search without a level, at 0.51.
    needed_runs : int or None
        How many runs the side(s) with a failed check must have for a conclusion.
    searched : bool
        Whether the level was searched instead of asked for.
    swapped : Swapped
        What the same protocol says with the sides swapped.
    """

    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of")
    pvalue_of: ClassVar[str] = "candidate better"

    significant: bool | None
    confidence: float | None
    pvalue: float | None
    steps: tuple[Step, ...]
    needed_runs: int | None
    searched: bool
    swapped: Swapped

    @property
    def word(self) -> Word:
        """What the candidate is. A level that was searched counts from 0.95 on.

        Below it a search finds one for about half of all benchmarks when nothing differs.
        """
        ours, theirs = (
            one.significant is True and (not self.searched or (one.confidence or 0) >= SURE)
            for one in (self, self.swapped)
        )
        if ours == theirs:
            return "undecided"
        return "faster" if ours else "slower"

    @property
    def answer(self) -> str:
        """Significant, not significant or cannot conclude."""
        if self.significant is None:
            return "cannot conclude"
        return "significant" if self.significant else "not significant"

    @property
    def stopped(self) -> bool:
        """Whether a failed check is what stands against a conclusion.

        After a search without a level that is so only where p itself would allow one.
        """
        if self.significant is None:
            return True
        if self.needed_runs is None:
            return False
        return self.pvalue is None or self.pvalue <= self.steps[0].risk


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupTest(Result):
    """What the Speedup-Test says about one benchmark.

    Speedups are baseline time / candidate time, of the minimum, the mean and the median; the first
    is a description only, no test belongs to it. `required` is the confidence asked for, None
    when the highest was searched.
    """

    method: ClassVar[str] = "speedup-test"
    derived: ClassVar[tuple[str, ...]] = ("word",)

    name: str | None
    runs_baseline: int
    runs_candidate: int
    minimum_baseline: float
    minimum_candidate: float
    mean_baseline: float
    mean_candidate: float
    median_baseline: float
    median_candidate: float
    speedup_min: float
    speedup_mean: float
    speedup_median: float
    mean: Decision
    median: Decision
    required: float | None
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """What the candidate is, by mean or median; undecided where the two contradict each other."""
        words = {self.mean.word, self.median.word} - {"undecided"}
        return words.pop() if len(words) == 1 else "undecided"

    @property
    def accelerated(self) -> bool:
        """Whether the speedup of the mean or of the median is significant (section 6.3.2)."""
        return self.mean.significant is True or self.median.significant is True

    def times(self, centre: Centre) -> tuple[float, float]:
        """Give the baseline's and the candidate's time, as minimum, mean or median."""
        if centre == "min":
            return self.minimum_baseline, self.minimum_candidate
        if centre == "mean":
            return self.mean_baseline, self.mean_candidate
        return self.median_baseline, self.median_candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupSuite(Result):
    """What the Speedup-Test says about a suite.

    Attributes
    ----------
    baseline, candidate : str
        The variants' names.
    benchmarks : tuple of SpeedupTest
        One for each benchmark that both sides have.
    weighting : {"equal", "fraction", "custom"}
        How the benchmarks were weighted.
    coefficients, weights : dict of dict
        ``[centre][benchmark]``, centre "min", "mean" or "median": the coefficient (1 when equal, the
        share of the baseline's time when by fraction, else as given), and normalised to sum to 1.
    gain, speedup : dict
        Overall gain G (equation 2) and speedup S (equation 3) of "min", "mean", "median", over all
        benchmarks.
    gain_accelerated, speedup_accelerated : dict
        The same over the accelerated ones only: "mean" over those whose mean, "median" over those
        whose median is significantly better, "min" over those of either; None when there is none.
    proportion_mean, proportion_median : Proportion
        The share of benchmarks with a significant speedup of the mean, of the median.
    """

    method: ClassVar[str] = "speedup-test-suite"
    derived: ClassVar[tuple[str, ...]] = ("word", "slower")

    baseline: str
    candidate: str
    benchmarks: tuple[SpeedupTest, ...]
    weighting: Weighting
    coefficients: Mapping[Centre, Mapping[str, float]]
    weights: Mapping[Centre, Mapping[str, float]]
    gain: Mapping[Centre, float]
    speedup: Mapping[Centre, float]
    gain_accelerated: Mapping[Centre, float | None]
    speedup_accelerated: Mapping[Centre, float | None]
    proportion_mean: Proportion
    proportion_median: Proportion
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """What the candidate is on every single benchmark; undecided where they differ.

        That all are faster needs no correction for their number: each must be significant.
        """
        words = {test.word for test in self.benchmarks}
        return words.pop() if len(words) == 1 else "undecided"

    @property
    def slower(self) -> dict[Centre, int]:
        """On how many benchmarks the candidate's mean, median is significantly slower."""
        tests = self.benchmarks
        return {
            "mean": sum(test.mean.word == "slower" for test in tests),
            "median": sum(test.median.word == "slower" for test in tests),
        }
