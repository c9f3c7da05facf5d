"""Planning runs: how many give an interval of the width asked for.

[1]_ asks how many runs m of each benchmark a comparison needs: in simulations on known data, power
rises and mean squared error and interval width fall with m; on real ones, m is raised until the
bootstrap interval is narrow enough. Here the pilot's own runs are the population of the simulation, and
the interval of the loop is a t interval on logarithms by default: the percentile bootstrap is too
narrow at few runs, and a loop that stops by its width picks its narrowest moments.

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
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..data.pair import match
from ..errors import AnalysisError, UsageError
from ..pages import model as pages, number_format as figures
from ..pages.result import Result
from ..stats.arguments import between, checks_arguments, counted, stream
from . import components
from .stop_rule import APART, Floats, exponential, log_half_width, relative_width, width_text

Interval = Literal["t", "studentized", "percentile"]
Scale = Literal["relative", "absolute"]
_INTERVALS: dict[Interval, str] = {
    "t": "t intervals on logs",
    "studentized": "studentized bootstrap intervals",
    "percentile": "percentile bootstrap intervals",
}
_REFERENCES = (
    "Irving et al., Computer comparisons in the presence of performance variation, 2018, section 8",
    "Welch 1947 and Satterthwaite 1946 (degrees of freedom of the t interval)",
)


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One look of the loop: the interval of the speedup after `runs` runs, and its width."""

    runs: int
    speedup: float
    low: float
    high: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthLoop(Result):
    """The published loop on one pair: more runs until the interval is narrow enough."""

    method: ClassVar[str] = "width-loop"

    candidate: str
    baseline: str
    interval: Interval
    scale: Scale
    confidence: float
    limit: float
    runs: int
    why: Literal["width", "max_runs", "data"]
    steps: tuple[LoopStep, ...]
    references: tuple[str, ...] = _REFERENCES

    @property
    def conclusion(self) -> str:
        """Where the loop stopped, and why, in one sentence."""
        width = width_text(self.steps[-1].width, self.limit)
        if self.why == "width":
            end = f"stops after {self.runs} runs: width {width} <= {self.limit:g}"
        else:
            cause = "the cap" if self.why == "max_runs" else "no more were measured"
            end = f"ends after {self.runs} runs ({cause}) with width {width}, not {self.limit:g}"
        return f"the loop with {100 * self.confidence:g} % {_INTERVALS[self.interval]} {end}"

    def screen(self) -> pages.Page:
        """Set the conclusion and each look at the interval."""
        head = components.against(self.candidate, self.baseline)
        looks = pages.table_of(
            "looks",
            self.steps,
            ("runs", "runs"),
            ("speedup", "speedup", "{:.4g}x".format),
            ("interval", lambda step: f"[{step.low:.4g}, {step.high:.4g}]"),
            ("width", "width", partial(width_text, limit=self.limit)),
        )
        return pages.page(
            self,
            f"Runs until the interval is narrow enough: {head}",
            f"{head}: {self.conclusion}",
            looks,
        )


@dataclass(frozen=True, slots=True)
class PlannedWidth:
    """What `runs` runs of each benchmark and side would bring, by simulation from the pilot.

    `mse`: Mean squared error of the speedup. `mse_sd`: Standard deviation of the squared error over
    trials (figure 12 b). `mse_error`: Monte Carlo error of the mean.
    """

    runs: int
    width: float
    width_sd: float
    chance: float | None
    detectable: float
    power: float | None
    mse: float
    mse_sd: float
    mse_error: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan(Result):
    """How many runs of each benchmark and side a session needs."""

    method: ClassVar[str] = "plan"

    candidate: str
    baseline: str
    benchmarks: int
    pilot_runs: tuple[int, int]
    speedup: float
    confidence: float
    power: float
    width: float | None
    effect: float | None
    max_runs: int
    simulations: int
    runs_for_width: int | None
    runs_for_effect: int | None
    capped: tuple[str, ...]
    table: tuple[PlannedWidth, ...]
    loop: WidthLoop | None
    seed: int | None
    references: tuple[str, ...] = _REFERENCES

    def screen(self) -> pages.Page:
        """Set how many runs suffice, and what each number of runs brings."""
        head, answers = components.against(self.candidate, self.baseline), []
        loops = () if self.loop is None else (self.loop,)
        for goal, asked, runs in (
            (f"a {100 * self.confidence:g} % interval of width {self.width or 0:g} or less", self.width, self.runs_for_width),
            (f"to tell a speedup of {self.effect or 0:g}x from none", self.effect, self.runs_for_effect),
        ):  # fmt: skip
            if asked is not None:
                most = f"more than {self.max_runs} runs, the cap"
                needed = f"{runs} runs of each benchmark and side" if runs else most
                answers.append(f"{head}: {goal} needs {needed} (probability {self.power:g})")

        def width(row: PlannedWidth) -> pages.Value:
            spread = figures.significant(row.width_sd, 2)
            return pages.Value(f"{figures.significant(row.width)} ± {spread}", row.width)

        three = "{:.3f}".format
        rows = pages.table_of(
            "runs",
            self.table,
            ("runs", "runs"),
            ("width", width),
            (f"chance <= {self.width:g}", "chance", three) if self.width is not None else None,
            components.DETECTABLE,
            (f"power at {self.effect:g}x", "power", three) if self.effect is not None else None,
            ("RMSE", lambda row: math.sqrt(row.mse), figures.significant),
            ("MSE sd", "mse_sd", partial(figures.significant, digits=2)),
            ("coverage", "coverage", three),
        )
        basis = (
            f"by {self.simulations:,} simulated trials for each number of runs, from "
            f"{figures.span(self.pilot_runs)} pilot runs of {figures.counted(self.benchmarks, 'benchmark')} a side; speedup "
            f"{self.speedup:.4g}x"
        )
        own = (pages.section(f"on the pilot's own runs, {one.conclusion}") for one in loops)
        answers = answers or [f"{head}: what a number of runs would bring"]
        return pages.Page(
            title=f"How many runs: {head}",
            sections=(pages.section(*answers), pages.section(rows, basis), *own),
            cautions=pages.merged(self.cautions, *(one.cautions for one in loops)),
        )


_COST: dict[Interval, str] = {
    "t": "stopping by the width of the same runs keeps the t interval near its confidence: .94 "
    "(width .025) and .96 (.035) of a nominal .95 in simulation",
    "studentized": "stopping by the width of the same runs costs some confidence; plan the number "
    "beforehand, or measure afresh, where the level must hold",
    "percentile": "the percentile interval is the published one: it is too narrow at few runs, and "
    "stopped by its width it covers about 87 % (width .025) to 89 % (.035) where 95 % is nominal; "
    "use the t interval",
}
Estimate = tuple[float, float, float]  # a speedup, and the ends of its interval
_EARLY = 5  # a loop that starts at fewer runs may meet a small spread by chance
_SMALL = 10  # a pilot with fewer runs has hardly shown what is rare
LEAST_RUNS = 3  # fewer tell nothing of the spread of a benchmark
_CHUNK = 2_000_000  # simulated values held at a time
MOST_RUNS = 10_000
GRID = (3, 5, 7, 10, 15, 20, 30, 50, 100)  # the numbers of runs in section 8 of [1]


def plan_cautions(ours: PerformanceMatrix, theirs: PerformanceMatrix) -> tuple[pages.Caution, ...]:
    """Say what a plan rests on."""
    fewest = min(*ours.runs, *theirs.runs)
    table = {
        "within-session": "the widths are those within one session: what differs from session to "
        "session is not in them, and no number of runs averages it out; plan several sessions",
        "sessions-unknown": (ours.sessions is None or theirs.sessions is None)
        and "the pilot does not say which runs share a session: all count as one",
        "small-pilot": fewest < _SMALL
        and f"the pilot has only {fewest} runs of some benchmark: what it has not shown, such as "
        "rare slow runs, is not in the plan",
    }
    return pages.cautions_of(table)


@checks_arguments
def t_interval(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, *, confidence: float = 0.95
) -> Estimate:
    """Give the speedup of the suite's geometric mean with its t interval on logarithms.

    Where cells have unequal numbers of runs, those of equally many are a part of the half-width each,
    with a quantile of t of its own: Welch's t is too narrow where one side is much shorter.
    """
    between("confidence", confidence)
    pair = match(candidate, baseline)
    for caution in pair.cautions:
        if caution.code == "benchmarks-of-one-side":
            where = f"{candidate.name} against {baseline.name}"
            raise AnalysisError(caution.text, where, "select the common ones")
    ours, theirs = pair.candidate, pair.baseline
    components.check_runs(ours, theirs, 2)
    rows = [np.log(values) for values in (*ours.samples, *theirs.samples)]
    many = len(ours.benchmarks)
    means = [float(row.mean()) for row in rows]
    variances = np.array([0.0 if row.min() == row.max() else row.var(ddof=1) for row in rows])
    counts = np.array([row.size for row in rows])
    log = components.sign_of(ours) * (math.fsum(means[:many]) - math.fsum(means[many:])) / many
    # cells of equally many runs share a freedom; a shorter one has a quantile of its own (Banerjee 1960)
    parts = [
        float(log_half_width(variances[counts == n], counts[counts == n], many, confidence))
        for n in np.unique(counts)
    ]
    half = math.hypot(*parts)
    return exponential(log), exponential(log - half), exponential(log + half)


@checks_arguments
def width_loop(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float,
    interval: Interval = "t",
    scale: Scale = "relative",
    confidence: float = 0.95,
    start: int = 5,
    step: int = 1,
    max_runs: int | None = None,
    resamples: int = 1000,
    rng: np.random.Generator | None = None,
) -> WidthLoop:
    """Raise the number of runs until the interval of the speedup is narrow enough.

    The loop of section 8, figure 13 of [1]_: the first `start` runs of each benchmark and side are
    looked at, then `step` more at a time, in the order in which they were measured.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Runs in their order; the loop ends where the shortest benchmark does.
    width : float
        The largest width that is narrow enough.
    interval : {"t", "studentized", "percentile"}
        "t" is Welch and Satterthwaite's on logarithms; the others are `bootstrap_speedup`'s, and
        "percentile" is the published one.
    scale : {"relative", "absolute"}
        Whether `width` is that of (high - low) / speedup, or of high - low as published.
    confidence : float
        Nominal confidence of each interval.
    start, step : int
        First number of runs (3 as published, 5 by default) and increase.
    max_runs : int, optional
        The cap; as many as there are by default.
    resamples : int
        Of each bootstrap interval.
    rng : numpy.random.Generator, optional
        For bootstrap intervals only.

    Returns
    -------
    WidthLoop
        Every look, where it stopped, and why.

    Raises
    ------
    UsageError
        If an argument is out of range, or `rng` is missing.
    InsufficientDataError
        If a benchmark has fewer than `start` runs.

    Notes
    -----
    Widths need not fall from look to look (0.0153 at 13 runs and 0.0155 at 15 in table 13 of
    [1]_), so stopping at the first one below the limit favours lucky moments.
    """
    between("confidence", confidence)
    components.check_positive("width", width)
    if interval not in get_args(Interval) or scale not in get_args(Scale):
        raise UsageError(f"unknown interval {interval!r} or scale {scale!r}")
    counted("start", start, least=2)
    counted("step", step)
    if max_runs is not None:
        counted("max_runs", max_runs, least=start)
    ours, theirs, known = components.matched(candidate, baseline)
    components.check_runs(ours, theirs, start)
    there = min(*ours.runs, *theirs.runs)
    most = there if max_runs is None else min(max_runs, there)
    if interval != "t" and rng is None:
        what, fix = f"the {interval} interval is random", "give rng, a numpy.random.Generator"
        raise UsageError(what, fix=fix)
    logs = np.log([values[:most] for values in (*ours.samples, *theirs.samples)])
    sign = components.sign_of(ours)
    how: dict[str, Any] = {"interval": interval, "confidence": confidence, "resamples": resamples}

    def find(runs: int) -> Estimate:
        if rng is None or interval == "t":
            many, seen = len(ours.benchmarks), logs[:, :runs]
            varies, means = np.ptp(seen, axis=1) != 0, seen.mean(axis=1)
            variances = np.where(varies, seen.var(axis=1, ddof=1), 0.0)
            log = sign * float(means[:many].mean() - means[many:].mean())
            half = float(log_half_width(variances, np.full(2 * many, runs), many, confidence))
            return exponential(log), exponential(log - half), exponential(log + half)
        from ..methods.resampling.bootstrap import bootstrap_speedup

        found = bootstrap_speedup(_first(ours, runs), _first(theirs, runs), **how, rng=rng)
        return found.ratio, found.low, found.high

    steps: list[LoopStep] = []
    for runs in (*range(start, most, step), most):
        speedup, low, high = find(runs)
        found = high - low if scale == "absolute" else (high - low) / speedup
        steps.append(LoopStep(runs, speedup, low, high, found))
        if found <= width:
            break
    early = f"a loop that starts at {start} runs may stop on a spread seen by chance"
    texts = {"stopped-by-width": _COST[interval], "early-start": start < _EARLY and early}
    capped = max_runs is not None and max_runs <= there
    return WidthLoop(
        candidate=ours.name,
        baseline=theirs.name,
        interval=interval,
        scale=scale,
        confidence=confidence,
        limit=width,
        runs=steps[-1].runs,
        why="width" if steps[-1].width <= width else "max_runs" if capped else "data",
        steps=tuple(steps),
        cautions=(*known, *pages.cautions_of(texts)),
    )


def _first(matrix: PerformanceMatrix, runs: int) -> PerformanceMatrix:
    """Give the first runs of each benchmark, without identities: runs are what is drawn."""
    rows = {b: row[:runs] for b, row in zip(matrix.benchmarks, matrix.samples, strict=True)}
    return PerformanceMatrix.from_samples(matrix.name, rows, better=matrix.better, unit=matrix.unit)


class Simulation:
    """Trials drawn from a pilot; what was simulated for a number of runs is kept."""

    def __init__(
        self,
        ours: PerformanceMatrix,
        theirs: PerformanceMatrix,
        confidence: float,
        simulations: int,
        root: int,
    ) -> None:
        self._confidence, self._count, self._root = confidence, simulations, root
        self._benchmarks = half = len(ours.benchmarks)
        self._strata: list[tuple[str, Floats]] = []
        means = []
        for side, matrix in (("candidate", ours), ("baseline", theirs)):
            for k, bench in enumerate(matrix.benchmarks):
                logs = np.log(matrix.samples[k])
                means.append(logs.mean())
                sessions = None if matrix.sessions is None else matrix.sessions[k]
                self._strata.append(("/".join((side, bench)), residuals(logs, sessions)))
        log = components.sign_of(ours) * float(np.mean(means[:half]) - np.mean(means[half:]))
        self.speedup = exponential(log)
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
        """Estimate the speedup that is separated from 1 with this power."""
        errors, half = self.trials(runs)
        return math.exp(min(float(np.quantile(half - errors, power)), 700.0))

    def row(self, m: int, width: float | None, effect: float | None, power: float) -> PlannedWidth:
        """Sum up what a number of m would bring."""
        errors, half = self.trials(m)
        widths = relative_width(half)
        with np.errstate(over="ignore"):
            squares = (self.speedup * np.expm1(errors)) ** 2
        if not float(squares.max()) < 1e150:  # whose square is a number
            raise AnalysisError("the simulated speedups leave the range of numbers", fix=APART)
        chance = None if width is None else self.chance(m, width)
        found = None if effect is None else self.power(m, effect)
        spread, covered = squares.std(ddof=1), float((np.abs(errors) <= half).mean())
        mse = float(squares.mean()), float(spread), float(spread / math.sqrt(self._count))
        both = float(widths.mean()), float(widths.std(ddof=1))
        return PlannedWidth(m, *both, chance, self.detectable(m, power), found, *mse, covered)


def residuals(logs: Floats, sessions: NDArray[Any] | None) -> Floats:
    """Give the logs around the means of their sessions, as wide as those of a population."""
    names = np.zeros(logs.size, dtype=np.int64) if sessions is None else sessions
    found, index, counts = np.unique(names, return_inverse=True, return_counts=True)
    if logs.size - found.size < 2:  # a run or two a session: their spread is all there is
        found, index = np.zeros(1), np.zeros(logs.size, dtype=np.int64)
        counts = np.array([logs.size])
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
        Speedup that is to be separated from 1, above or below it.
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
    between("confidence", confidence)
    between("power", power)
    components.check_wanted(width, effect)
    for one in (max_runs, *grid):
        counted("each number of runs", one, least=LEAST_RUNS, most=MOST_RUNS)
    counted("simulations", simulations, least=100)
    ours, theirs, known = components.matched(candidate, baseline)
    components.check_runs(ours, theirs, LEAST_RUNS)
    low, high = min(*ours.runs, *theirs.runs), max(*ours.runs, *theirs.runs)
    loop, narrow, found = None, None, None
    if width is not None:
        own = np.random.default_rng(rng.integers(2**63))
        how: dict[str, Any] = {"interval": interval, "confidence": confidence}
        loop = width_loop(ours, theirs, width=width, start=min(5, low), rng=own, **how)
    root = int(rng.integers(2**63))
    simulation = Simulation(ours, theirs, confidence, simulations, root)
    if width is not None:
        narrow = least_runs(lambda m: simulation.chance(m, width), power, max_runs)
    if effect is not None:
        found = least_runs(lambda m: simulation.power(m, effect), power, max_runs)
    asked = (("width", width, narrow), ("effect", effect, found))
    shown = {m for m in grid if m <= max_runs} | {m for m in (narrow, found) if m}
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
        runs_for_width=narrow,
        runs_for_effect=found,
        capped=tuple(name for name, goal, runs in asked if goal is not None and not runs),
        table=tuple(simulation.row(m, width, effect, power) for m in sorted(shown)),
        loop=loop,
        seed=seed,
        cautions=(*known, *plan_cautions(ours, theirs)),
    )
