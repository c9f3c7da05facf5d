"""What Monte Carlo studies say: rates with their Monte Carlo errors, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..report import as_text, figures

__all__ = ["CoverageStudy", "Covered", "RejectionStudy", "Rejections", "monte_carlo_error"]

_NAMES = {
    "hpt": "HPT",
    "t": "t",
    "welch": "t on logs",
    "randomization": "randomization",
}


def monte_carlo_error(count: int, trials: int) -> float:
    """Give the standard deviation of a rate given `count` of `trials`, under a flat prior.

    It is close to sqrt(p (1 - p) / trials), but not 0 when all or none were counted.
    """
    return math.sqrt((count + 1) * (trials - count + 1) / (trials + 3)) / (trials + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """How often one test rejected at one point: with `shifted` benchmarks and `runs` runs."""

    test: str
    shifted: int
    runs: int
    rejected: int
    simulations: int

    @property
    def rate(self) -> float:
        """The share of simulated comparisons that were rejected."""
        return self.rejected / self.simulations

    @property
    def error(self) -> float:
        """The Monte Carlo error of the rate."""
        return monte_carlo_error(self.rejected, self.simulations)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionStudy:
    """Power, or type-I error, of tests on comparisons drawn from one population.

    `kind` is "power" (points differ in the number of shifted benchmarks) or "type1" (none is
    shifted; points differ in the number of runs). `shift` is the speedup of a shifted benchmark.
    """

    kind: str
    population: str
    benchmarks: int
    values: tuple[int, int]
    shift: float
    alpha: float
    alternative: str
    draws: str
    resamples: int
    cells: tuple[Rejections, ...]
    seed: int | None
    cautions: tuple[str, ...]
    references: tuple[str, ...]

    def rate(self, test: str, *, shifted: int = 0, runs: int | None = None) -> float:
        """Give the rate of one test at one point; `runs` may be left out where it is unique."""
        (cell,) = (
            cell
            for cell in self.cells
            if (cell.test, cell.shifted) == (test, shifted) and runs in {None, cell.runs}
        )
        return cell.rate

    def to_dict(self) -> dict[str, Any]:
        """Give the study as JSON types."""
        data = _plain(self, skipped=("cells",))
        data["values"] = list(self.values)
        data["cells"] = [
            {
                "test": cell.test,
                "shifted": cell.shifted,
                "runs": cell.runs,
                "rejected": cell.rejected,
                "simulations": cell.simulations,
                "rate": cell.rate,
                "error": cell.error,
            }
            for cell in self.cells
        ]
        return data

    def __str__(self) -> str:
        tests = list(dict.fromkeys(cell.test for cell in self.cells))
        points = list(dict.fromkeys((cell.shifted, cell.runs) for cell in self.cells))
        found = {(cell.test, cell.shifted, cell.runs): cell for cell in self.cells}
        simulations = self.cells[0].simulations
        if self.kind == "power":
            what = (
                f"power to tell {self.shift:g}x on some of {self.benchmarks} benchmarks,"
                f" {points[0][1]} runs each"
            )
        else:
            what = f"type-I error on {self.benchmarks} benchmarks: both sides are the same"
        lines = as_text.wrapped(
            f"{self.population}: {what}; {self.alternative} at {self.alpha:g},"
            f" {simulations:,} simulated comparisons a line"
        )
        rows = [["shifted" if self.kind == "power" else "runs", *(_NAMES[t] for t in tests)]]
        for shifted, runs in points:
            cells = [found[test, shifted, runs] for test in tests]
            head = shifted if self.kind == "power" else runs
            rows.append([str(head), *(f"{c.rate:.3f} ± {c.error:.3f}" for c in cells)])
        lines += ["", *as_text.grid(rows, ">" * len(rows[0]), "  ")]
        return "\n".join([*lines, *_cautions(self.cautions)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """How often one interval held the true ratio at one number of runs.

    `below` and `above` count the intervals that lay wholly below or above it; `refused` those that
    do not exist on the data drawn. `width` is their mean width relative to the true ratio, None
    when all were refused.
    """

    interval: str
    runs: int
    held: int
    below: int
    above: int
    refused: int
    simulations: int
    width: float | None

    @property
    def rate(self) -> float | None:
        """The share of intervals that held the truth; None when there was none."""
        there = self.simulations - self.refused
        return self.held / there if there else None

    @property
    def error(self) -> float:
        """The Monte Carlo error of the rate."""
        return monte_carlo_error(self.held, self.simulations - self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageStudy:
    """Real coverage of intervals of the speedup, on comparisons drawn from one population."""

    population: str
    benchmarks: int
    values: tuple[int, int]
    ratio: float
    confidence: float
    mean: str
    draws: str
    resamples: int
    cells: tuple[Covered, ...]
    seed: int | None
    cautions: tuple[str, ...]
    references: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the study as JSON types."""
        data = _plain(self, skipped=("cells",))
        data["values"] = list(self.values)
        data["cells"] = [
            {
                "interval": cell.interval,
                "runs": cell.runs,
                "held": cell.held,
                "below": cell.below,
                "above": cell.above,
                "refused": cell.refused,
                "simulations": cell.simulations,
                "rate": cell.rate,
                "error": cell.error,
                "width": cell.width,
            }
            for cell in self.cells
        ]
        return data

    def __str__(self) -> str:
        simulations = self.cells[0].simulations
        lines = as_text.wrapped(
            f"{self.population}: how often {100 * self.confidence:g} % intervals of the ratio of"
            f" {self.mean} means over {self.benchmarks} benchmarks hold the true {self.ratio:g};"
            f" {simulations:,} simulated comparisons a line"
        )
        rows = [["runs", "interval", "coverage", "too low", "too high", "width"]]
        for cell in self.cells:
            there = cell.simulations - cell.refused
            rate = "-" if cell.rate is None else f"{cell.rate:.3f} ± {cell.error:.3f}"
            rows.append(
                [
                    str(cell.runs),
                    cell.interval + (f" ({cell.refused} do not exist)" if cell.refused else ""),
                    rate,
                    f"{cell.below / there:.3f}" if there else "-",
                    f"{cell.above / there:.3f}" if there else "-",
                    "-" if cell.width is None else figures.significant(cell.width),
                ]
            )
        lines += ["", *as_text.grid(rows, "><>>>>", "  ")]
        return "\n".join([*lines, *_cautions(self.cautions)])


def _plain(study: Any, *, skipped: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401 - any study
    data: dict[str, Any] = {}
    for name in study.__dataclass_fields__:
        if name not in skipped:
            value = getattr(study, name)
            data[name] = list(value) if name in {"cautions", "references"} else value
    return data


def _cautions(cautions: Sequence[str]) -> list[str]:
    lines = as_text.numbered(cautions)
    return ["", *lines] if lines else []
