"""What Monte Carlo studies say: rates with their Monte Carlo errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..report import Result, plain

__all__ = ["CoverageStudy", "Covered", "RejectionStudy", "Rejections", "monte_carlo_error"]

_REFERENCES = (
    "Irving et al., Computer comparisons in the presence of performance variation, 2018, sections "
    "6.1 and 6.2",
)


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
class RejectionStudy(Result):
    """Power, or type-I error, of tests on comparisons drawn from one population.

    `kind` is "power" (points differ in the number of shifted benchmarks) or "type1" (none is
    shifted; points differ in the number of runs). `shift` is the speedup of a shifted benchmark.
    """

    method: ClassVar[str] = "rejection-study"

    kind: Literal["power", "type1"]
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
    references: tuple[str, ...] = _REFERENCES

    def rate(self, test: str, *, shifted: int = 0, runs: int | None = None) -> float:
        """Give the rate of one test at one point; `runs` may be left out where it is unique."""
        (cell,) = (
            cell
            for cell in self.cells
            if (cell.test, cell.shifted) == (test, shifted) and runs in {None, cell.runs}
        )
        return cell.rate

    def body(self) -> dict[str, Any]:
        """Give the fields, and beside each count its rate with its Monte Carlo error."""
        return Result.body(self) | {"cells": [_with_rate(cell) for cell in self.cells]}


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
class CoverageStudy(Result):
    """Real coverage of intervals of the speedup, on comparisons drawn from one population."""

    method: ClassVar[str] = "coverage-study"

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
    references: tuple[str, ...] = _REFERENCES

    def body(self) -> dict[str, Any]:
        """Give the fields, and beside each count its rate with its Monte Carlo error."""
        return Result.body(self) | {"cells": [_with_rate(cell) for cell in self.cells]}


def _with_rate(cell: Rejections | Covered) -> dict[str, Any]:
    told: dict[str, Any] = plain(cell)
    return told | {"rate": cell.rate, "error": cell.error}
