"""What the empirical distribution says: five numbers, a density, a boxplot; systems side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data import Mean
from ....record import Better
from ....report import as_text, figures

__all__ = ["BoxPlot", "Density", "DistributionComparison", "EmpiricalDistribution"]

Array = NDArray[np.float64]

REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 5 and 6.5",
)
_POINTS = 512
_REACH = 4.0  # bandwidths that the grid goes beyond the values
_NAME = 32
_SHOWN = 12  # systems in the table of shares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Density:
    """A kernel density estimate: `density` (per unit of the values) at the points `grid`."""

    grid: Array
    density: Array
    bandwidth: float

    def to_dict(self) -> dict[str, Any]:
        """Give the curve as JSON types."""
        return {
            "grid": self.grid.tolist(),
            "density": self.density.tolist(),
            "bandwidth": self.bandwidth,
        }


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

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as JSON types."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmpiricalDistribution:
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
    cautions: tuple[str, ...]
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
        median, q1, q3 = _numbers((self.median, self.q1, self.q3), self.q3 - self.q1)
        n = len(self.benchmarks)
        return (
            f"{figures.shorten(self.name, _NAME)}: the {self.mean} mean of one pass (one run of "
            f"each of {n} benchmark{'s' * (n > 1)}) has the median {median} {self.unit}, and lies "
            f"between {q1} and {q3} {self.unit} in half of all passes"
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
        if not scale > 1e-12 * high:
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
            grid=_frozen(low + scale * np.linspace(start, stop, points)),
            density=_frozen(curve / scale),
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

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types; the values as their summary, density and boxplot."""
        data = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "values"}
        for name in ("benchmarks", "runs", "cautions", "references"):
            data[name] = list(data[name])
        density = self.density()
        data["density"] = None if density is None else density.to_dict()
        data["boxplot"] = self.boxplot().to_dict()
        return data

    def __str__(self) -> str:
        lines = [*as_text.wrapped(self.conclusion), "", *_table((self,))]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionComparison:
    """Empirical distributions of several systems over the same benchmarks.

    Attributes
    ----------
    systems : tuple of EmpiricalDistribution
    wins : tuple of tuple of float
        ``wins[i][j]``: the share of pairs of passes in which system i is better than system j,
        equal ones counting half.
    left_out : tuple of str
        Which benchmarks are not common to all, in words.
    """

    systems: tuple[EmpiricalDistribution, ...]
    wins: tuple[tuple[float, ...], ...]
    left_out: tuple[str, ...]

    @property
    def conclusion(self) -> str:
        """How often a pass of the first system beats one of each other."""
        if len(self.systems) == 1:
            return self.systems[0].conclusion
        first, *others = (figures.shorten(system.name, _NAME) for system in self.systems)
        word = "faster" if self._faster else "better"
        shares = ", ".join(
            f"{_percent(share)} of pairs against {name}"
            for name, share in zip(others[:3], self.wins[0][1:4], strict=True)
        )
        return f"one pass over the suite with {first} is {word} in {shares}"

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader should know, each once, with the system's name."""
        own = [f"{system.name}: {text}" for system in self.systems for text in system.cautions]
        if any(system.maximum > system.minimum for system in self.systems):
            own.append(
                f"minimum and maximum are those of {self.systems[0].resamples:,} drawn passes: more "
                "passes widen them, up to the pass of all extreme runs"
            )
        return tuple(dict.fromkeys([*self.left_out, *own]))

    @property
    def _faster(self) -> bool:
        first = self.systems[0]
        return first.better == "higher" or figures.is_time(first.unit)

    def table(self) -> list[str]:
        """Give the five-number summaries as lines; of several systems also who beats whom."""
        lines = _table(self.systems)
        if 2 < len(self.systems) <= _SHOWN:
            lines += [
                "",
                "share of pairs of passes in which the row beats the column",
                *self._wins(),
            ]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Give the comparison as JSON types."""
        return {
            "systems": [system.to_dict() for system in self.systems],
            "wins": [list(row) for row in self.wins],
            "conclusion": self.conclusion,
            "cautions": list(self.cautions),
        }

    def __str__(self) -> str:
        lines = [*as_text.wrapped(self.conclusion), "", *self.table()]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])

    def _wins(self) -> list[str]:
        marks = [str(k) for k in range(1, len(self.systems) + 1)]
        rows = [["", "", *marks]]
        for k, (system, shares) in enumerate(zip(self.systems, self.wins, strict=True)):
            cells = ["-" if i == k else _percent(share) for i, share in enumerate(shares)]
            rows.append([marks[k], figures.shorten(system.name, 24), *cells])
        return as_text.grid(rows, "><" + ">" * len(marks), "  ")


def _table(systems: tuple[EmpiricalDistribution, ...]) -> list[str]:
    heads = ["minimum", "Q1", "median", "Q3", "maximum", "mean", "IQR"]
    rows = [["", *heads]]
    # as many digits for all as the most consistent system needs
    finest = min((s.q3 - s.q1 for s in systems if s.q3 > s.q1), default=0.0)
    for system in systems:
        cells = _numbers((*system.five, system.observed), finest)
        iqr = f"{figures.significant(100 * system.consistency, 2)} %"
        rows.append([figures.shorten(system.name, 20), *cells, iqr])
    unit = systems[0].unit
    n = len(systems[0].benchmarks)
    return [
        f"{systems[0].mean} means of passes over {n} benchmark{'s' * (n > 1)}"
        + (f", in {unit}" if unit else ""),
        *as_text.grid(rows, "<" + ">" * len(heads), "  "),
    ]


def _numbers(values: tuple[float, ...], spread: float) -> list[str]:
    """Write values so that two digits of their spread are seen, all with as many decimals."""
    largest = max(abs(v) for v in values)
    top = math.floor(math.log10(largest))
    low = math.floor(math.log10(spread)) if spread > 0 else top - 3
    if -4 <= top < 7:
        decimals = min(max(0, 1 - low), 9)
        return [f"{v:.{decimals}f}" for v in values]
    return [f"{v:.{min(max(2, top - low + 1), 6)}e}" for v in values]


def _percent(share: float) -> str:
    """Write a share; 0 and 100 % stand only where no pair is otherwise."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
