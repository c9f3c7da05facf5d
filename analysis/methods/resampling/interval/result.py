"""What the bootstrap says: the interval in words, how it was made, and the cautions."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Match, Mean
from ....report import as_text, figures
from ..units import Unit, Units, exchangeable_units
from .coverage import KnownCoverage, not_covered
from .draws import Comparison, compare, standard_error, strata_sizes

__all__ = [
    "INTERVALS",
    "SIDES",
    "BootstrapInterval",
    "Interval",
    "Sides",
    "cautions_of",
    "larger_units",
]

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
_TAIL = 10  # replicates in a tail, below which its end is rough
_KINDS = {
    "percentile": "percentile",
    "corrected": "percentile, widened by sqrt(m / (m - 1))",
    "bca": "BCa",
    "studentized": "studentized",
}
_CENTRES = {
    "runs": "mean of all runs",
    "mean": "mean of the benchmarks' arithmetic means",
    "median": "mean of the benchmarks' medians",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapInterval:
    """A bootstrap interval of the ratio of two suite means; above 1 the candidate is better.

    Attributes
    ----------
    ratio : float
        The observed ratio.
    low, high : float
        The ends; an open end is 0 or inf (null in JSON).
    confidence : float
        The nominal confidence, and `known_coverage` what such intervals held in simulation, in the
        nearest cell of the table; None where the table does not say.
    unit : {"run", "block", "session"}
        What was drawn; `units` says it in words, `unit_counts` which variants the units hold.
    replicates : read-only array, shape (resamples,)
        H, the ratios of the resamples; for "corrected" after the widening. Their quantiles are the
        ends of "percentile" and "corrected".
    """

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
    faster: bool
    replicates: NDArray[np.float64]
    cautions: tuple[str, ...]
    references: tuple[str, ...] = REFERENCES

    @property
    def runs(self) -> tuple[int, int]:
        """The least and the most runs of a benchmark on a side."""
        counts = (*self.runs_candidate, *self.runs_baseline)
        return min(counts), max(counts)

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
        if self.low <= 1 <= self.high:
            head = f"undecided {over} whether {ours} is {self._word(better=True)} than {theirs}"
            tail = f"; the {'interval holds' if self.sides == 'two' else 'bound leaves room for'} 1"
        else:
            head = f"{ours} is {self._word(better=self.low > 1)} than {theirs} {over}"
            tail = ""
        return f"{head}: {value}x, {self.confidence * 100:g} % {bounds}{self._known()}{tail}"

    def _known(self) -> str:
        if self.known_coverage is None:
            return " (its real coverage is not known)"
        return f" (held the truth in {self.known_coverage * 100:.1f} % of simulated suites)"

    def _word(self, *, better: bool) -> str:
        return (
            ("faster" if better else "slower") if self.faster else ("better" if better else "worse")
        )

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

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types; the replicates as their count, range and quantiles."""
        data = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "replicates"}
        for name, value in data.items():
            if isinstance(value, tuple):
                data[name] = list(value)
        data["low"] = None if self.sides == "upper" else self.low
        data["high"] = None if self.sides == "lower" else self.high
        levels = np.quantile(self.replicates, _LEVELS)
        data["replicates"] = {
            "count": int(self.replicates.size),
            "minimum": float(self.replicates.min()),
            "maximum": float(self.replicates.max()),
            "quantiles": {f"{level:g}": float(q) for level, q in zip(_LEVELS, levels, strict=True)},
        }
        return data

    def __str__(self) -> str:
        n = len(self.benchmarks)
        least, most = self.runs
        count = f"{least}" if least == most else f"{least} to {most}"
        rows = [
            ["interval", f"{_KINDS[self.interval]}, {self.resamples:,} resamples"],
            ["ratio of", f"{self.mean} means; {_CENTRES[self.centre]}"],
            ["resampled", self.units],
            *([["", self.unit_counts]] if self.unit_counts else []),
            [
                "data",
                f"{n} benchmark{'s' * (n > 1)} x {count} run{'s' * (most > 1)} on each side",
            ],
        ]
        lines = [*as_text.wrapped(self.conclusion), "", *as_text.grid(rows, "<<")]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


def cautions_of(
    comparison: Comparison,
    known: KnownCoverage | None,
    *,
    interval: Interval,
    confidence: float,
    tail: float,
    resamples: int,
    redrawn: int,
    flat: bool,
) -> list[str]:
    """Say what a reader of the interval should know.

    `tail` is the risk on one side, `flat` that all replicates are equal.
    """
    units = comparison.units
    sizes = strata_sizes(comparison)
    sessions, benchmarks = not_covered()
    said = []
    if known is None:
        said.append(
            f"the real coverage of this interval at confidence {confidence:g} is not in the table "
            "of simulated ones"
        )
    else:
        said.append(known.words)
    single = int(sum((size < 2).sum() for size in sizes))
    if single and units.unit == "run":
        said.append(
            f"{single} of {2 * len(comparison.benchmarks)} samples hold one run: they add no width, "
            "as if they had no noise, so the interval is too narrow"
        )
    elif single:
        said.append(f"one side has one {units.noun}: it adds no width, the interval is too narrow")
    if flat:
        said.append("all replicates are equal: the values do not vary, the interval has no width")
    if interval == "corrected" and comparison.candidate.medians:
        said.append(
            "the widening belongs to means: percentile intervals of medians are wide without it"
        )
    if (resamples + 1) * tail < _TAIL:
        said.append(
            f"{resamples:,} resamples leave fewer than {_TAIL} beyond an end: the ends are rough; "
            f"take {math.ceil(_TAIL / tail):,} or more"
        )
    if redrawn:
        said.append(
            f"{redrawn:,} resamples were drawn anew, because a benchmark had no run in them"
        )
    said += units.cautions
    if units.unit != "session":
        said.append(sessions)
    return [*said, benchmarks]


def larger_units(pair: Match, units: Units, mean: Mean, centre: Centre) -> list[str]:
    """Say where the standard error grows when larger units are taken."""
    a, b = pair.candidate, pair.baseline
    if centre == "median" or units.unit == "session":
        return []
    said = []

    def error(of: Units) -> float | None:
        comparison = compare(a, b, of, mean=mean, centre=centre)
        if min(size.min() for size in strata_sizes(comparison)) < 2:
            return None
        return standard_error(comparison)

    own = error(units)
    larger: list[Unit] = ["session"]
    if units.unit == "run":
        larger = ["block", "session"]
    for unit in larger:
        kind = f"{unit}s"
        if getattr(a, kind) is None or getattr(b, kind) is None:
            continue
        other = exchangeable_units(a, b, unit)
        found = error(other)
        if own and found is not None and found > own:
            said.append(
                f"this interval draws {units.noun}s; drawn by whole {other.noun}s, the standard "
                f"error of the log ratio is {figures.significant(found / own, 2)} times as large "
                f"(unit '{unit}')"
            )
    return said
