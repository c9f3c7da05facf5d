"""What resampling says: the randomization test, the bootstrap interval, the distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from ...pages import number_format as figures
from ...pages.number_format import Word, outcome_word
from ...pages.result import Result, plain
from ...stats.samples import Array, read_only
from ...words import apart, shorten

if TYPE_CHECKING:
    from ...data.pair import Centre, Mean
    from ...record.run_numbers import Better
    from .assignments import Unit

Alternative = Literal["candidate", "baseline", "two-sided"]

RANDOMIZATION_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 3",
    "B. Phipson, G. K. Smyth, Permutation p-values should never be zero, Statistical Applications "
    "in Genetics and Molecular Biology 9(1), 2010",
)

_RANDOMIZATION_NAME = 32  # columns for a variant's name in a sentence
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
    null: Array
    timed: bool
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    references: tuple[str, ...] = RANDOMIZATION_REFERENCES

    @property
    def conclusion(self) -> str:
        """What the test says, in one sentence."""
        ours, theirs = apart((self.candidate, self.baseline), _RANDOMIZATION_NAME)
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


Interval = Literal["percentile", "corrected", "bca", "studentized"]
Sides = Literal["two", "lower", "upper"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
SIDES: tuple[Sides, ...] = get_args(Sides)
INTERVAL_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 4",
    "B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 12 to 14",
)
_INTERVAL_NAME = 40  # columns for a variant's name in a sentence
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
    replicates: Array
    references: tuple[str, ...] = INTERVAL_REFERENCES

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
        ours, theirs = apart((self.candidate, self.baseline), _INTERVAL_NAME)
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this benchmark'}"
        value, low, high = self._numbers()
        bounds = {
            "two": f"interval [{low}, {high}]",
            "lower": f"lower bound {low}x",
            "upper": f"upper bound {high}x",
        }[self.sides]
        if self.word == "undecided":
            better = outcome_word("faster", timed=self.timed)
            head = f"undecided {over} whether {ours} is {better} than {theirs}"
            tail = f"; the {'interval holds' if self.sides == 'two' else 'bound leaves room for'} 1"
        else:
            head = f"{ours} is {outcome_word(self.word, timed=self.timed)} than {theirs} {over}"
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


def with_spread(values: Sequence[float], spread: float) -> list[str]:
    """Write values so that two digits of their spread are seen, all with as many decimals."""
    largest = max(abs(v) for v in values)
    top = math.floor(math.log10(largest))
    low = math.floor(math.log10(spread)) if spread > 0 else top - 3
    if -4 <= top < 7:
        decimals = min(max(0, 1 - low), 9)
        return [f"{v:.{decimals}f}" for v in values]
    return [f"{v:.{min(max(2, top - low + 1), 6)}e}" for v in values]


def percent(share: float) -> str:
    """Write a share; 0 and 100 % stand only where no pair is otherwise."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


DISTRIBUTION_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 5 and 6.5",
)
_THINNEST = 1e-304  # a width whose density is a number
_REACH = 4.0  # bandwidths that the grid goes beyond the values
_NAME = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Density:
    """A kernel density estimate: `density` (per unit of the values) at the points `grid`."""

    grid: Array
    density: Array
    bandwidth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxPlot:
    """A box from `q1` to `q3`, and two kinds of whiskers.

    As published the whiskers end at `minimum` and `maximum`. `whisker_low` and `whisker_high` are
    the outermost values within 1.5 interquartile ranges of the box; `outliers_low` and
    `outliers_high` count what lies beyond.
    """

    minimum: float
    whisker_low: float
    q1: float
    median: float
    q3: float
    whisker_high: float
    maximum: float
    outliers_low: int
    outliers_high: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmpiricalDistribution(Result):
    """The suite means of passes drawn at random, in the unit of the values.

    Attributes
    ----------
    values : read-only array, shape (resamples,)
        The means, in the order drawn.
    minimum, q1, median, q3, maximum : float
        The five-number summary of `values` (quartiles of type 7).
    observed : float
        The suite mean over all runs.
    lowest, highest : float
        The means of the pass of all smallest and of all largest runs: no pass lies outside.
    combinations : int or None
        How many different passes there are; None when there are more than 2^53.
    runs : tuple of int
        The runs of each benchmark.
    """

    method: ClassVar[str] = "empirical-distribution"
    unlisted: ClassVar[frozenset[str]] = frozenset({"values"})

    name: str
    unit: str
    better: Better
    mean: Mean
    observed: float
    values: Array
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    lowest: float
    highest: float
    combinations: int | None
    resamples: int
    benchmarks: tuple[str, ...]
    runs: tuple[int, ...]
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES

    @property
    def five(self) -> tuple[float, float, float, float, float]:
        """Minimum, first quartile, median, third quartile, maximum."""
        return self.minimum, self.q1, self.median, self.q3, self.maximum

    @property
    def consistency(self) -> float:
        """The interquartile range over the median: the smaller, the more consistent."""
        return (self.q3 - self.q1) / self.median

    @property
    def conclusion(self) -> str:
        """Median and middle half, in one sentence."""
        median, q1, q3 = with_spread((self.median, self.q1, self.q3), self.q3 - self.q1)
        n = len(self.benchmarks)
        unit = f" {figures.unit_text(self.unit)}".rstrip()
        return (
            f"{shorten(self.name, _NAME)}: the {self.mean} mean of one pass (one run of "
            f"each of {n} benchmark{'s' * (n > 1)}) has the median {median}{unit}, and lies "
            f"between {q1} and {q3}{unit} in half of all passes"
        )

    def density(self, points: int = 512) -> Density | None:
        """Give a Gaussian kernel density estimate; None when the values do not vary.

        The bandwidth is 0.9 min(sd, IQR / 1.34) N^(-1/5) (Silverman 1986, equation 3.31; only sd
        where the interquartile range is 0), but at least 2 / `points` of the range, which is what
        the grid can show. The values are shared out linearly between the points of the grid, so the
        cost does not grow with N times the points.
        """
        low, high = self.minimum, self.maximum
        scale = high - low
        if not scale > max(1e-12 * high, _THINNEST):
            return None
        x = (self.values - low) / scale
        spread, middle = float(x.std(ddof=1)), (self.q3 - self.q1) / scale / 1.34
        width = 0.9 * (min(spread, middle) if middle > 0 else spread) * x.size**-0.2
        width = max(width, 2 / points)
        start, stop = -_REACH * width, 1 + _REACH * width
        step = (stop - start) / (points - 1)
        place = (x - start) / step
        left = np.minimum(place.astype(np.intp), points - 2)
        share = place - left
        mass = np.bincount(left, weights=1 - share, minlength=points)
        mass += np.bincount(left + 1, weights=share, minlength=points)
        offsets = np.arange(-(points - 1), points) * step / width
        curve = np.convolve(mass, np.exp(-(offsets**2) / 2), mode="valid")
        curve /= curve.sum() * step
        return Density(
            grid=read_only(low + scale * np.linspace(start, stop, points)),
            density=read_only(curve / scale),
            bandwidth=width * scale,
        )

    def boxplot(self) -> BoxPlot:
        """Give what a boxplot shows."""
        reach = 1.5 * (self.q3 - self.q1)
        below, above = self.values < self.q1 - reach, self.values > self.q3 + reach
        inside = self.values[~(below | above)]
        # between few values a quartile is interpolated: a whisker never ends inside the box
        return BoxPlot(
            minimum=self.minimum,
            whisker_low=min(float(inside.min()), self.q1),
            q1=self.q1,
            median=self.median,
            q3=self.q3,
            whisker_high=max(float(inside.max()), self.q3),
            maximum=self.maximum,
            outliers_low=int(below.sum()),
            outliers_high=int(above.sum()),
        )

    def body(self) -> dict[str, Any]:
        """Give the fields, and the values as density and boxplot."""
        return {
            **Result.body(self),
            "density": plain(self.density()),
            "boxplot": plain(self.boxplot()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionComparison(Result):
    """Empirical distributions of several systems over the same benchmarks.

    `wins`: ``wins[i][j]``: the share of pairs of passes in which system i is better than system j,
    equal ones counting half.
    """

    method: ClassVar[str] = "compare-distributions"

    systems: tuple[EmpiricalDistribution, ...]
    wins: tuple[tuple[float, ...], ...]
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES

    @property
    def conclusion(self) -> str:
        """How often a pass of the first system beats one of each other."""
        if len(self.systems) == 1:
            return self.systems[0].conclusion
        first, *others = apart([system.name for system in self.systems], _NAME)
        word = outcome_word("faster", timed=figures.timed(self.systems[0].unit))
        shares = ", ".join(
            f"{percent(share)} of pairs against {name}"
            for name, share in zip(others[:3], self.wins[0][1:4], strict=True)
        )
        return f"one pass over the suite with {first} is {word} in {shares}"

    def body(self) -> dict[str, Any]:
        """Give the fields and the conclusion."""
        return {**Result.body(self), "conclusion": self.conclusion}
