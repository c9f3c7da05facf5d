"""What the randomization test says: the ratio, its p-values, and what was reassigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean
from ....report import Result, figures
from ..units import Unit

__all__ = ["Alternative", "RandomizationTest"]

Alternative = Literal["candidate", "baseline", "two-sided"]

REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 3",
    "B. Phipson, G. K. Smyth, Permutation p-values should never be zero, Statistical Applications "
    "in Genetics and Molecular Biology 9(1), 2010",
)

_NAME = 32  # columns for a variant's name in a sentence
_QUANTILES = {"q025": 0.025, "q25": 0.25, "median": 0.5, "q75": 0.75, "q975": 0.975}
_EXTREME = {"candidate": "so high", "baseline": "so low", "two-sided": "so far from 1"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomizationTest(Result):
    """What the randomization test says about a candidate against a baseline.

    Attributes
    ----------
    ratio : float
        Ratio of the suite means; above 1 the candidate is better.
    pvalue : float
        Of `alternative`. (k + 1) / (N + 1) for N random assignments, k / N for all N of them, where
        k of them are at least as extreme as the observed one; two-sided twice the smaller tail, at
        most 1.
    pvalue_candidate, pvalue_baseline : float
        Of the two one-sided alternatives.
    pvalue_error : float
        Standard error of `pvalue` from drawing at random; 0 when `exact`.
    smallest_pvalue : float
        The smallest `pvalue` that so many assignments can give.
    null : read-only float array
        The ratio, oriented as `ratio`, under each assignment; JSON gives its quantiles.
    exact : bool
        Whether `null` holds every assignment.
    resamples : int
        How many assignments `null` holds.
    assignments : int or None
        How many there are; None when there are more than 2^53.
    log10_assignments : float
        Their decimal logarithm.
    unit, unit_words, unit_counts
        What was reassigned together: "run", "block" or "session"; in words; and how many of them
        hold which variants (empty for runs).
    runs_candidate, runs_baseline : tuple of int
        The runs of each benchmark.
    """

    method: ClassVar[str] = "randomization-test"
    unlisted: ClassVar[frozenset[str]] = frozenset({"null", "timed"})
    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)

    candidate: str
    baseline: str
    ratio: float
    pvalue: float
    pvalue_candidate: float
    pvalue_baseline: float
    pvalue_error: float
    smallest_pvalue: float
    alternative: Alternative
    mean: Mean
    centre: Centre
    unit: Unit
    unit_words: str
    unit_counts: str
    exact: bool
    resamples: int
    assignments: int | None
    log10_assignments: float
    null: NDArray[np.float64]
    timed: bool
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """What the test says, in one sentence."""
        ours, theirs = (figures.shorten(x, _NAME) for x in (self.candidate, self.baseline))
        n = len(self.benchmarks)
        over = f"these {n} benchmarks" if n > 1 else "this benchmark"
        good = "fast" if self.timed else "good"
        sure = "" if self.exact else f" (± {figures.significant(self.pvalue_error, 1)})"
        return (
            f"{ours} is {figures.significant(self.ratio, 4)} times as {good} as {theirs} over "
            f"{over}, by {self.mean} means; chance alone gives a ratio {_EXTREME[self.alternative]} "
            f"with p {figures.pvalue(self.pvalue)}{sure}, {self.alternative_words}"
        )

    @property
    def pvalue_of(self) -> str:
        """What `pvalue` belongs to."""
        return "two-sided" if self.alternative == "two-sided" else f"{self.alternative} better"

    @property
    def alternative_words(self) -> str:
        """Whether p is of one side or of both."""
        return "two-sided" if self.alternative == "two-sided" else "one-sided"

    def body(self) -> dict[str, Any]:
        """Give the fields, and `null` by its count and quantiles."""
        quantiles = np.quantile(self.null, list(_QUANTILES.values())).tolist()
        return {
            **Result.body(self),
            "null": {
                "count": len(self.null),
                "minimum": float(self.null.min()),
                **dict(zip(_QUANTILES, quantiles, strict=True)),
                "maximum": float(self.null.max()),
            },
        }
