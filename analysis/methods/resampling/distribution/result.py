"""What the empirical distribution says: five numbers, a density, a boxplot; systems side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....data import Mean
from ....record import Better
from ....report import Result, figures, plain, said
from ....stats import read_only
from .digits import percent, with_spread

__all__ = ["BoxPlot", "Density", "DistributionComparison", "EmpiricalDistribution"]

Array = NDArray[np.float64]

REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 5 and 6.5",
)
_POINTS = 512
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
    references: tuple[str, ...] = REFERENCES

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
            f"{figures.shorten(self.name, _NAME)}: the {self.mean} mean of one pass (one run of "
            f"each of {n} benchmark{'s' * (n > 1)}) has the median {median}{unit}, and lies "
            f"between {q1} and {q3}{unit} in half of all passes"
        )

    def density(self, points: int = _POINTS) -> Density | None:
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

    Attributes
    ----------
    systems : tuple of EmpiricalDistribution
    wins : tuple of tuple of float
        ``wins[i][j]``: the share of pairs of passes in which system i is better than system j,
        equal ones counting half.
    """

    method: ClassVar[str] = "compare-distributions"

    systems: tuple[EmpiricalDistribution, ...]
    wins: tuple[tuple[float, ...], ...]
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """How often a pass of the first system beats one of each other."""
        if len(self.systems) == 1:
            return self.systems[0].conclusion
        first, *others = (figures.shorten(system.name, _NAME) for system in self.systems)
        word = said("faster", timed=figures.timed(self.systems[0].unit))
        shares = ", ".join(
            f"{percent(share)} of pairs against {name}"
            for name, share in zip(others[:3], self.wins[0][1:4], strict=True)
        )
        return f"one pass over the suite with {first} is {word} in {shares}"

    def body(self) -> dict[str, Any]:
        """Give the fields and the conclusion."""
        return {**Result.body(self), "conclusion": self.conclusion}
