"""Trials drawn from a pilot: what any number of runs of each benchmark would bring."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import PerformanceMatrix
from ..errors import AnalysisError
from ..stats import stream
from .log_interval import APART, log_half_width, relative_width
from .pair import sign_of
from .result import PlannedWidth

__all__ = ["LEAST_RUNS", "Simulation", "least_runs", "residuals"]

_LARGEST = 1e150  # whose square is a number

Floats = NDArray[np.float64]

LEAST_RUNS = 3  # fewer tell nothing of the spread of a benchmark
_CHUNK = 2_000_000  # simulated values held at a time


class Simulation:
    """Trials drawn from a pilot; what was simulated for a number of runs is kept."""

    def __init__(
        self,
        ours: PerformanceMatrix,
        theirs: PerformanceMatrix,
        *,
        confidence: float,
        simulations: int,
        root: int,
    ) -> None:
        self._confidence = confidence
        self._count = simulations
        self._root = root
        self._benchmarks = len(ours.benchmarks)
        self._strata: list[tuple[str, Floats]] = []
        means = []
        for side, matrix in (("candidate", ours), ("baseline", theirs)):
            for k, bench in enumerate(matrix.benchmarks):
                logs = np.log(matrix.samples[k])
                means.append(logs.mean())
                sessions = None if matrix.sessions is None else matrix.sessions[k]
                self._strata.append((f"{side}/{bench}", residuals(logs, sessions)))
        half = len(means) // 2
        log = sign_of(ours) * float(np.mean(means[:half]) - np.mean(means[half:]))
        self.speedup = math.exp(log)
        self._known: dict[int, tuple[Floats, Floats]] = {}

    def trials(self, runs: int) -> tuple[Floats, Floats]:
        """Give the error of the log speedup and half the interval of each simulated trial."""
        if runs not in self._known:
            means = np.empty((self._count, len(self._strata)))
            variances = np.empty_like(means)
            chunk = max(1, _CHUNK // runs)
            for k, (label, residuals) in enumerate(self._strata):
                rng = stream(self._root, "plan", label, str(runs))
                for first in range(0, self._count, chunk):
                    last = min(first + chunk, self._count)
                    drawn = residuals[rng.integers(residuals.size, size=(last - first, runs))]
                    means[first:last, k] = drawn.mean(axis=1)
                    variances[first:last, k] = drawn.var(axis=1, ddof=1)
            n = self._benchmarks
            errors = means[:, :n].mean(axis=1) - means[:, n:].mean(axis=1)
            counts = np.full(2 * n, runs)
            half = log_half_width(variances, counts, n, self._confidence)
            self._known[runs] = errors, half
        return self._known[runs]

    def chance(self, runs: int, width: float) -> float:
        """Estimate the chance that the interval is at most so wide."""
        return float((relative_width(self.trials(runs)[1]) <= width).mean())

    def power(self, runs: int, effect: float) -> float:
        """Estimate the chance that the interval lies on the effect's side of 1."""
        errors, half = self.trials(runs)
        return float((abs(math.log(effect)) + errors > half).mean())

    def detectable(self, runs: int, power: float) -> float:
        """Estimate the speedup that is told from 1 with this power."""
        errors, half = self.trials(runs)
        return math.exp(min(float(np.quantile(half - errors, power)), 700.0))

    def row(
        self, runs: int, width: float | None, effect: float | None, power: float
    ) -> PlannedWidth:
        """Sum up what a number of runs would bring."""
        errors, half = self.trials(runs)
        widths = relative_width(half)
        with np.errstate(over="ignore"):
            squares = (self.speedup * np.expm1(errors)) ** 2
        if not float(squares.max()) < _LARGEST:
            raise AnalysisError("the simulated speedups leave the range of numbers", fix=APART)
        return PlannedWidth(
            runs=runs,
            width=float(widths.mean()),
            width_sd=float(widths.std(ddof=1)),
            chance=None if width is None else self.chance(runs, width),
            detectable=self.detectable(runs, power),
            power=None if effect is None else self.power(runs, effect),
            mse=float(squares.mean()),
            mse_error=float(squares.std(ddof=1) / math.sqrt(self._count)),
            coverage=float((np.abs(errors) <= half).mean()),
        )


def residuals(logs: Floats, sessions: NDArray[Any] | None) -> Floats:
    """Give the logs around the means of their sessions, as wide as those of a population."""
    names = np.zeros(logs.size, dtype=np.int64) if sessions is None else sessions
    found, index, counts = np.unique(names, return_inverse=True, return_counts=True)
    if logs.size - found.size < 2:  # a run or two a session: their spread is all there is
        found, index, counts = (
            np.zeros(1),
            np.zeros(logs.size, dtype=np.int64),
            np.array([logs.size]),
        )
    means = np.bincount(index, weights=logs) / counts
    left = logs - means[index]
    left[np.abs(left) < 1e-14 * np.maximum(1.0, np.abs(logs))] = 0.0  # a constant has no spread
    return left * math.sqrt(logs.size / (logs.size - found.size))


def least_runs(goal: Callable[[int], float], enough: float, most: int) -> int | None:
    """Find the least number of runs that reaches the goal; None when `most` does not.

    From 400 runs on it is found to half a percent: a simulated chance is no more exact.
    """
    low, high = LEAST_RUNS - 1, LEAST_RUNS
    while goal(min(high, most)) < enough:
        if high >= most:
            return None
        low, high = min(high, most), high * 2
    high = min(high, most)
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if goal(middle) >= enough else (middle, high)
    return high
