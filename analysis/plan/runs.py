"""Planning runs: how many give an interval of the width asked for.

[1]_ asks how many runs m of each benchmark a comparison needs: in simulations on known data, power
rises and mean squared error and interval width fall with m; on real ones, m is raised until the
interval is narrow enough. Here the pilot's own runs are the population of the simulation, and the
interval of the loop is a t interval on logarithms by default: the percentile bootstrap of [1]_ is
too narrow at small m, and a loop that stops by its width picks its narrowest moments.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 8.
.. [2] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..errors import AnalysisError
from ..stats.arguments import checks_arguments, counted, stream
from .components import check_runs, check_share, check_wanted, matched, sign_of
from .result import Interval, PlannedWidth, RunPlan
from .stop_rule import APART, Floats, log_half_width, relative_width
from .width import plan_cautions, width_loop

_LARGEST = 1e150  # whose square is a number


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
            mse_sd=float(squares.std(ddof=1)),
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


MOST_RUNS = 10_000
GRID = (3, 5, 7, 10, 15, 20, 30, 50, 100)  # the numbers of runs in section 8 of [1]


@checks_arguments
def plan_runs(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    max_runs: int = 1000,
    grid: Sequence[int] = GRID,
    interval: Interval = "t",
    simulations: int = 1000,
    rng: np.random.Generator,
    seed: int | None = None,
) -> RunPlan:
    """Say how many runs of each benchmark and side a trial needs, from pilot runs.

    Trials of m runs are drawn with replacement from the pilot's logarithms, each around the mean of
    its session and widened by sqrt(n / (n - sessions)), without which resampling would understate
    the spread of n runs. Every simulated trial gets the t interval of `t_interval`.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The pilot: at least three runs of each benchmark.
    width : float, optional
        Largest relative width of the interval, (high - low) / speedup.
    effect : float, optional
        Speedup that is to be told from 1, above or below it.
    power : float
        Probability with which width and effect are to be reached.
    confidence : float
        Of the two-sided interval.
    max_runs : int
        The cap of the search, at most 10,000.
    grid : sequence of int
        Numbers of runs that the table shows; those above `max_runs` are left out.
    interval : {"t", "studentized", "percentile"}
        Of the loop on the pilot's own runs.
    simulations : int
        Simulated trials for each number of runs.
    rng : numpy.random.Generator
        Each benchmark, side and number of runs gets a stream of its own from it.
    seed : int, optional
        What `rng` was made from; stands in the result.

    Returns
    -------
    RunPlan
        The answers, the table, the loop on the pilot's runs, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of range.
    InsufficientDataError
        If a benchmark has fewer than three runs.
    """
    check_share("confidence", confidence)
    check_share("power", power)
    check_wanted(width, effect)
    for one in (max_runs, *grid):
        counted("each number of runs", one, least=LEAST_RUNS, most=MOST_RUNS)
    counted("simulations", simulations, least=100)
    ours, theirs, known = matched(candidate, baseline)
    check_runs(ours, theirs, LEAST_RUNS)
    loop = None
    if width is not None:
        start = min(5, *ours.runs, *theirs.runs)
        loop = width_loop(
            ours,
            theirs,
            width=width,
            interval=interval,
            confidence=confidence,
            start=start,
            rng=np.random.default_rng(rng.integers(2**63)),
        )
    simulation = Simulation(
        ours,
        theirs,
        confidence=confidence,
        simulations=simulations,
        root=int(rng.integers(2**63)),
    )
    found: dict[str, int | None] = {"width": None, "effect": None}
    if width is not None:
        found["width"] = least_runs(lambda m: simulation.chance(m, width), power, max_runs)
    if effect is not None:
        found["effect"] = least_runs(lambda m: simulation.power(m, effect), power, max_runs)
    asked = {"width": width, "effect": effect}
    capped = tuple(name for name, goal in asked.items() if goal is not None and not found[name])
    shown = sorted({m for m in grid if m <= max_runs} | {m for m in found.values() if m})
    table = tuple(simulation.row(m, width, effect, power) for m in shown)
    low, high = min(*ours.runs, *theirs.runs), max(*ours.runs, *theirs.runs)
    return RunPlan(
        candidate=ours.name,
        baseline=theirs.name,
        benchmarks=len(ours.benchmarks),
        pilot_runs=(low, high),
        speedup=simulation.speedup,
        confidence=confidence,
        power=power,
        width=width,
        effect=effect,
        max_runs=max_runs,
        simulations=simulations,
        runs_for_width=found["width"],
        runs_for_effect=found["effect"],
        capped=capped,
        table=table,
        loop=loop,
        seed=seed,
        cautions=(*known, *plan_cautions(ours, theirs)),
    )
