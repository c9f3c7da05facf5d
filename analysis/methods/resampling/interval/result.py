"""What the bootstrap says: the ratio, the interval, and the replicates behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean
from ....report import Result, Word, figures, said
from ..units import Unit

__all__ = ["INTERVALS", "SIDES", "BootstrapInterval", "Interval", "Sides"]

Interval = Literal["percentile", "corrected", "bca", "studentized"]
Sides = Literal["two", "lower", "upper"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
SIDES: tuple[Sides, ...] = get_args(Sides)
REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 4",
    "B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 12 to 14",
)
_NAME = 40  # columns for a variant's name in a sentence
_LEVELS = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapInterval(Result):
    """A bootstrap interval of the ratio of two suite means; above 1 the candidate is better.

    Attributes
    ----------
    ratio : float
        The observed ratio.
    low, high : float
        The ends; an open end is 0 or inf (null in JSON).
    confidence : float
        The nominal confidence, and `known_coverage` what such intervals held in simulation, in the
        largest cell of the table with no more runs; None where the table does not say, or where
        units smaller than sessions stem from several.
    unit : {"run", "block", "session"}
        What was drawn; `units` says it in words, `unit_counts` which variants the units hold.
    replicates : read-only array, shape (resamples,)
        H, the ratios of the resamples; for "corrected" after the widening. Their quantiles are the
        ends of "percentile" and "corrected".
    """

    method: ClassVar[str] = "bootstrap-speedup"
    unlisted: ClassVar[frozenset[str]] = frozenset({"replicates", "timed"})
    derived: ClassVar[tuple[str, ...]] = ("word",)

    candidate: str
    baseline: str
    ratio: float
    low: float
    high: float
    confidence: float
    known_coverage: float | None
    interval: Interval
    sides: Sides
    mean: Mean
    centre: Centre
    unit: Unit
    units: str
    unit_counts: str
    resamples: int
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    timed: bool
    replicates: NDArray[np.float64]
    references: tuple[str, ...] = REFERENCES

    @property
    def runs(self) -> tuple[int, int]:
        """The least and the most runs of a benchmark on a side."""
        counts = (*self.runs_candidate, *self.runs_baseline)
        return min(counts), max(counts)

    @property
    def word(self) -> Word:
        """What the candidate is: undecided where the interval holds 1."""
        if self.low <= 1 <= self.high:
            return "undecided"
        return "faster" if self.low > 1 else "slower"

    @property
    def conclusion(self) -> str:
        """The interval, in one sentence."""
        ours, theirs = (figures.shorten(name, _NAME) for name in (self.candidate, self.baseline))
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this benchmark'}"
        value, low, high = self._numbers()
        bounds = {
            "two": f"interval [{low}, {high}]",
            "lower": f"lower bound {low}x",
            "upper": f"upper bound {high}x",
        }[self.sides]
        if self.word == "undecided":
            better = said("faster", timed=self.timed)
            head = f"undecided {over} whether {ours} is {better} than {theirs}"
            tail = f"; the {'interval holds' if self.sides == 'two' else 'bound leaves room for'} 1"
        else:
            head = f"{ours} is {said(self.word, timed=self.timed)} than {theirs} {over}"
            tail = ""
        return f"{head}: {value}x, {self.confidence * 100:g} % {bounds}{self._known()}{tail}"

    def _known(self) -> str:
        if self.known_coverage is None:
            return " (its real coverage is not known)"
        return f" (held the truth in {self.known_coverage * 100:.1f} % of simulated suites)"

    def _numbers(self) -> tuple[str, str, str]:
        """Write the ratio and both ends with two digits of the interval's width."""
        ends = [end for end in (self.low, self.high) if 0 < end < math.inf]
        width = max(abs(end - self.ratio) for end in ends)
        numbers = (self.ratio, self.low, self.high)
        if not 0.01 <= self.ratio < 1000:
            value, low, high = (f"{number:.5g}" for number in numbers)
            return value, low, high
        digits = 4 if width == 0 else min(9, max(2, 1 - math.floor(math.log10(width))))
        value, low, high = (f"{number:.{digits}f}" for number in numbers)
        return value, low, high

    def body(self) -> dict[str, Any]:
        """Give the fields, open ends as None, and the replicates by count, range and quantiles."""
        levels = np.quantile(self.replicates, _LEVELS)
        return {
            **Result.body(self),
            "low": None if self.sides == "upper" else self.low,
            "high": None if self.sides == "lower" else self.high,
            "replicates": {
                "count": int(self.replicates.size),
                "minimum": float(self.replicates.min()),
                "maximum": float(self.replicates.max()),
                "quantiles": {
                    f"{level:g}": float(q) for level, q in zip(_LEVELS, levels, strict=True)
                },
            },
        }
