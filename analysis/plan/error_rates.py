"""Studies of how often tests reject, and of how often intervals hold the truth.

[1]_, section 6.1: draw two sides from the runs of one computer, shift some benchmarks of one side, and
count how often each test rejects; section 8 does so at several numbers of runs. By default the runs
are drawn with replacement, and a shift is a percentage, so that the unit does not matter; as published
it is an amount that is added, and runs are drawn without replacement. Section 6.2 makes one side better
by a known ratio, and counts how often an interval holds it; the same for the speedup that HPT claims,
which is a lower bound. Every rate carries its Monte Carlo error. Curves of power are figure 6 (over the
number of shifted benchmarks) and figure 12 a (over the runs, with one number of them).

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.1, 6.2 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace as changed
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..data.pair import Mean, check_means
from ..errors import AnalysisError, UsageError
from ..methods.hpt.compare import hpt
from ..methods.hpt.speedup import hpt_speedup
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..methods.resampling.randomization import randomization_test
from ..pages import number_format as figures
from ..pages.model import Page, Value, page, table_of
from ..pages.result import Result
from ..plots.axes import Axes, Key, Picture, Scale, Sheet, quantity_scale, quantity_ticks
from ..plots.chart import arranged
from ..stats.arguments import checks_arguments, chosen, named, stream
from ..stats.classical import Alternative, paired_interval, paired_pvalue, student_pvalue
from ..stats.workers import Progress
from ..words import Name
from . import study as shared
from .components import check_positive, sign_of
from .runs import t_interval
from .stop_rule import exponential, log_error
from .study import Covered, Drawing, DrawnPair, Draws, Ends, Pair, Question

TESTS = ("hpt", "t", "welch", "randomization")
_ABREAST = 3  # panels in a row
_SHAPES = ("circle", "square", "up", "diamond")
_REFERENCES = (
    "Irving et al., Computer comparisons in the presence of performance variation, 2018, sections "
    "6.1 and 6.2",
)
INTERVALS = ("percentile", "corrected", "bca", "studentized", "t", "paired-t", "hpt")
OVER_BENCHMARKS = ("paired-t", "hpt")  # that speak of benchmarks like these
_OF_RATIOS = ("t", *OVER_BENCHMARKS)  # they know no other mean than the geometric one


@dataclass(frozen=True, slots=True)
class Rejections:
    """How often one test rejected at one point: with `shifted` benchmarks and `runs` runs."""

    derived: ClassVar[tuple[str, ...]] = ("rate", "error")

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
        return shared.monte_carlo_error(self.rejected, self.simulations)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionStudy(Result):
    """Power, or type-I error, of tests on comparisons drawn from one population."""

    method: ClassVar[str] = "rejection-study"

    kind: Literal["power", "type1"]
    population: str
    benchmarks: int
    values: tuple[int, int]
    shift: float | None
    shift_by: float | None
    unit: str
    alpha: float
    alternative: str
    draws: str
    replace: bool
    resamples: int
    cells: tuple[Rejections, ...]
    seed: int | None
    references: tuple[str, ...] = _REFERENCES

    def rate(self, test: str, *, shifted: int = 0, runs: int | None = None) -> float:
        """Give the rate of one test at one point; `runs` may be left out where there is one."""
        wanted = test, shifted
        here = [one for one in self.cells if (one.test, one.shifted) == wanted]
        (cell,) = (one for one in here if runs in {None, one.runs})
        return cell.rate

    @property
    def shifted_by(self) -> str:
        """By how much a benchmark is shifted: ``1.01x``, or ``1 s more``."""
        if self.shift_by is None:
            return f"{self.shift:g}x"
        return f"{f'{self.shift_by:g} {figures.unit_text(self.unit)}'.strip()} more"

    def picture(self) -> Picture:
        """Draw how often each test rejects: a panel for each number of runs, or one over the runs."""
        cells, tests = self.cells, list(dict.fromkeys(cell.test for cell in self.cells))
        shifted = sorted({cell.shifted for cell in cells})
        each = sorted({cell.runs for cell in cells})
        if len(shifted) == 1 and len(each) > 1:
            text = f"{shifted[0]} of {self.benchmarks} benchmarks shifted"
            panels = [_panel(self, "runs", text)]
        else:
            panels = [_panel(self, "shifted", f"{n} runs", n) for n in each]
        names = shared.NAMES
        panels[0].keys = [Key(names[x], f"c{k}", _SHAPES[k % 4]) for k, x in enumerate(tests)]
        abreast = min(_ABREAST, len(panels))
        for first in panels[::abreast]:
            first.y_label = "share of comparisons rejected"
        padded: list[Axes | None] = [*panels, *[None] * (-len(panels) % abreast)]
        rows = [padded[k : k + abreast] for k in range(0, len(padded), abreast)]
        what = f"power to tell {self.shifted_by}" if self.kind == "power" else "type-I error"
        note = (
            f"strokes: one Monte Carlo error of {cells[0].simulations:,} comparisons to either side; "
            f"dashed: the level {self.alpha:g}"
        )
        title = f"{Name(self.population):.60}: {what}, {self.alternative} at {self.alpha:g}"
        high, widths = 62.0 * len(rows) + 6, [1.0] * abreast
        return arranged(Sheet(width=178.0), rows, high, widths=widths, title=title, notes=[note])

    def screen(self) -> Page:
        """Set how often each test rejects, a line for each number of runs."""
        found = {(cell.test, cell.shifted, cell.runs): cell for cell in self.cells}
        points = dict.fromkeys((shifted, runs) for _, shifted, runs in found)
        each = dict.fromkeys(f"{runs}" for _, runs in points)
        title = "Type-I error"
        what = f"type-I error on {self.benchmarks} benchmarks: both sides are the same"
        if self.kind == "power":
            some = f"some of {self.benchmarks} benchmarks, {', '.join(each)} runs each"
            what, title = f"power to tell {self.shifted_by} on {some}", "Power"
        text = (
            f"{self.population}: {what}; {self.alternative} at {self.alpha:g}, "
            f"{self.cells[0].simulations:,} simulated comparisons a line"
        )

        def rate(test: str, point: tuple[int, int]) -> Value:
            cell = found[test, *point]
            return Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate)

        tests = dict.fromkeys(test for test, _, _ in found)
        rates = table_of(
            "rates",
            points,
            ("runs", lambda point: point[1]) if self.kind == "type1" or len(each) > 1 else None,
            ("shifted", lambda point: point[0]) if self.kind == "power" else None,
            *((shared.NAMES[test], partial(rate, test)) for test in tests),
        )
        return page(self, f"{title} on {self.population}", text, rates)


def _panel(study: RejectionStudy, over: str, title: str, runs: int | None = None) -> Axes:
    cells = [cell for cell in study.cells if runs in (None, cell.runs)]
    places = [float(getattr(cell, over)) for cell in cells]
    logs = over == "runs" and max(places) > 4 * min(places)
    axes = Axes(x=quantity_scale(places, log=logs), y=Scale(-0.03, 1.06), title=title)
    axes.level(study.alpha, "one thin dashed")
    for k, test in enumerate(dict.fromkeys(cell.test for cell in study.cells)):
        each = [(getattr(c, over), c.rate, c.error) for c in cells if c.test == test]
        x, rates, errors = np.array(each, dtype=np.float64).T
        low, high = np.maximum(rates - errors, 0), np.minimum(rates + errors, 1)
        axes.segments(x, low, x, high, f"c{k} thin")
        axes.curve(x, rates, f"c{k} d{k} curve")
        axes.spots(x, rates, f"c{k}", r=1.8, shape=_SHAPES[k % 4])
    axes.x_label = "shifted benchmarks" if over == "shifted" else "runs of each benchmark and side"
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    axes.y_ticks = quantity_ticks(Scale(0.0, 1.0), "1", 6)
    return axes


def pvalue_of(
    pair: Pair, test: str, alternative: Alternative, resamples: int, rng: np.random.Generator
) -> float:
    """Give the p-value of one of `TESTS` on one pair."""
    ours, theirs = pair
    if test == "randomization":
        found = randomization_test(*pair, alternative=alternative, resamples=resamples, rng=rng)
        return found.pvalue
    if test == "hpt":
        result = hpt(ours, theirs)
        return result.pvalue if alternative == "candidate" else result.pvalue_two_sided
    if test == "t":  # over the benchmarks: as many values as there are benchmarks
        return paired_pvalue(log_ratios(pair), alternative)
    both = [np.log(row) for matrix in pair for row in matrix.samples]
    variances = np.array([row.var(ddof=1) for row in both])
    counts = np.array([row.size for row in both])
    error, freedom = (float(x) for x in log_error(variances, counts, len(ours.benchmarks)))
    return student_pvalue(float(log_ratios(pair).mean()), error, freedom, alternative)


def log_ratios(pair: Pair) -> NDArray[np.float64]:
    """Give each benchmark's mean log of the candidate less the baseline's, above 0 if it is better."""
    ours, theirs = pair
    each = zip(ours.samples, theirs.samples, strict=True)
    return np.array([sign_of(ours) * (np.log(a).mean() - np.log(b).mean()) for a, b in each])


def paired_ends(pair: Pair, confidence: float) -> Ends | None:
    """Give the paired t interval of the benchmarks' mean logs, as ratios; None over one benchmark."""
    logs = paired_interval(log_ratios(pair), confidence)
    return None if logs is None else (exponential(logs[0]), exponential(logs[1]))


@checks_arguments
def power_study(
    population: PerformanceMatrix,
    *,
    shift: float = 1.01,
    shift_by: float | None = None,
    shifted: Sequence[int] | None = None,
    runs: int | Sequence[int] = 5,
    tests: Sequence[str] = TESTS,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    draws: Draws = "run",
    replace: bool = True,
    simulations: int = 200,
    resamples: int = 999,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> RejectionStudy:
    """Estimate each test's power as more and more benchmarks are shifted.

    Parameters
    ----------
    population : PerformanceMatrix
        What both sides are drawn from, benchmark by benchmark.
    shift : float
        The candidate's speedup on a shifted benchmark, such as 1.01.
    shift_by : float, optional
        Instead of it, as published: what is added to each value of a shifted benchmark, in the
        unit of the values; to the baseline's where lower is better, else to the candidate's.
    shifted : sequence of int, optional
        Numbers of shifted benchmarks; 0 (the type-I error) to all by default. Which ones is
        drawn anew for each simulated comparison.
    runs : int or sequence of int
        Runs of each benchmark and side; several are tried one after the other, each with all numbers
        of shifted benchmarks (section 8 of [1]_: 3 to 100 runs and one shifted benchmark).
    tests : sequence of {"hpt", "t", "welch", "randomization"}
        HPT; the paired t-test over the benchmarks' log ratios; Welch's t on the logs of all runs
        of these benchmarks; the randomization test.
    alternative : {"two-sided", "candidate"}
        Two-sided as published (HPT: twice its smaller p), or that the candidate is better.
    alpha : float
        The level of every test.
    draws : {"run", "block"}
        What is drawn: runs of each benchmark on its own, or whole blocks of the population, which
        keeps the correlation between benchmarks; the randomization test then permutes blocks.
    replace : bool
        Whether runs are drawn with replacement. Without, as published, both sides of a comparison
        have no run in common, so twice as many as are drawn must be there.
    simulations, resamples : int
        Simulated comparisons for each point; resamples of each randomization test.
    rng : numpy.random.Generator
        Each point gets streams of its own from it.
    seed : int, optional
        What `rng` was made from; stands in the result.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.
    progress : callable, optional
        Called with (done, all) after each simulated comparison.

    Returns
    -------
    RejectionStudy
        A rate with its Monte Carlo error for each test and point.

    Raises
    ------
    UsageError
        If an argument is out of range.
    """
    n = len(population.benchmarks)
    some = tuple(range(n + 1)) if shifted is None else tuple(shifted)
    if not some or min(some) < 0 or max(some) > n:
        raise UsageError(f"the numbers of shifted benchmarks must lie between 0 and {n}")
    if shift_by is not None:
        check_positive("shift_by", shift_by)
    each = list(runs) if isinstance(runs, Sequence | np.ndarray) else [runs]
    points = [(k, m) for m in dict.fromkeys(each) for k in some]
    drawing = Drawing(simulations, draws, replace, workers, progress)
    drawing.check(population, runs=each, confidence=1 - alpha, factor=shift)
    names = named("test", tests, TESTS)
    chosen("alternative", alternative, ("two-sided", "candidate"))
    root = int(rng.integers(2**63))

    def drawn(point: tuple[int, int]) -> Iterator[DrawnPair]:
        labels = [str(one) for one in point]
        which = stream(root, "shifted", *labels)
        chosen = np.zeros((simulations, n), dtype=bool)
        for row in chosen:
            row[which.permutation(n)[: point[0]]] = True
        factors = np.where(chosen, shift, 1.0) if shift_by is None else 1.0
        added = np.where(chosen, shift_by or 0.0, 0.0)
        own = int(stream(root, "point", *labels).integers(2**63))
        return drawing.pairs(population, own, point[1], factors=factors, added=added)

    asked = Question(names, alternative, (alpha,), resamples=resamples)
    rows = drawing.answers(partial(_rejected, asked), drawn, points)
    cells = [
        Rejections(name, k, m, count, simulations)
        for (k, m), answers in zip(points, rows, strict=True)
        for name, count in zip(names, np.sum(answers, axis=0).tolist(), strict=True)
    ]
    return RejectionStudy(
        kind="power",
        population=population.name,
        **drawing.answered(population),
        shift=shift if shift_by is None else None,
        shift_by=shift_by,
        unit=population.unit,
        alpha=alpha,
        alternative=alternative,
        resamples=resamples,
        cells=tuple(cells),
        seed=seed,
        cautions=(
            *shared.population_cautions(population, draws, replace=replace),
            *shared.few_benchmarks_cautions(names, n, alternative, (alpha,)),
        ),
    )


@checks_arguments
def type1_study(
    population: PerformanceMatrix,
    *,
    runs: Sequence[int] = (3, 5, 10),
    tests: Sequence[str] = TESTS,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    draws: Draws = "run",
    replace: bool = True,
    simulations: int = 500,
    resamples: int = 999,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> RejectionStudy:
    """Estimate how often each test rejects when both sides are drawn from one population.

    The arguments are those of `power_study`; `runs` are the numbers of runs that are tried.
    """
    found = power_study(
        population, shift=1.0, shifted=(0,), runs=runs, tests=tests, alternative=alternative,
        alpha=alpha, draws=draws, replace=replace, simulations=simulations, resamples=resamples,
        rng=rng, seed=seed, workers=workers, progress=progress,
    )  # fmt: skip
    return changed(found, kind="type1")


def _rejected(asked: Question, drawn: DrawnPair, _going_on: Progress) -> list[bool]:
    pair, how = drawn.sides(), (asked.alternative, asked.resamples)
    each = (pvalue_of(pair, test, *how, drawn.stream("test", test)) for test in asked.names)
    return [shared.rejects(p, *asked.levels) for p in each]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageStudy(Result):
    """Real coverage of intervals of the speedup, on comparisons drawn from one population.

    `cells` are those of the mean of these benchmarks; `over_benchmarks` those that are made over the
    benchmarks, the paired t interval and HPT's speedup.
    """

    method: ClassVar[str] = "coverage-study"

    population: str
    benchmarks: int
    values: tuple[int, int]
    ratio: float
    confidence: float
    mean: str
    draws: str
    replace: bool
    resamples: int
    cells: tuple[Covered, ...]
    over_benchmarks: tuple[Covered, ...] = ()
    seed: int | None
    references: tuple[str, ...] = _REFERENCES

    @property
    def every(self) -> tuple[Covered, ...]:
        """All of them, number of runs by number of runs."""
        both = (*self.cells, *self.over_benchmarks)
        each = dict.fromkeys(cell.runs for cell in both)
        return tuple(cell for runs in each for cell in both if cell.runs == runs)

    def screen(self) -> Page:
        """Set how often intervals hold the true ratio."""
        text = (
            f"{self.population}: how often {100 * self.confidence:g} % intervals of the ratio of "
            f"{self.mean} means over {figures.counted(self.benchmarks, 'benchmark')} hold the true "
            f"{self.ratio:g}; {self.every[0].simulations:,} simulated comparisons a line"
        )
        held = shared.covered_table("coverage", self.every, ("runs", "runs"))
        return page(self, f"Coverage on {self.population}", text, held)


@checks_arguments
def coverage_study(
    population: PerformanceMatrix,
    *,
    runs: Sequence[int] = (3, 5, 10, 30),
    intervals: Sequence[str] = INTERVALS,
    ratio: float = 2.0,
    confidence: float = 0.95,
    mean: Mean = "geometric",
    draws: Draws = "run",
    replace: bool = True,
    simulations: int = 200,
    resamples: int = 999,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CoverageStudy:
    """Estimate how often intervals of the speedup hold the true one.

    Parameters
    ----------
    population : PerformanceMatrix
        What both sides are drawn from; the candidate's values are then made better by `ratio`.
    runs : sequence of int
        Numbers of runs that are tried.
    intervals : sequence of {"percentile", "corrected", "bca", "studentized", "t", "paired-t", "hpt"}
        Those of `bootstrap_speedup`; the t interval on the logs of all runs; the paired t interval of
        the benchmarks' log ratios; the largest speedup that HPT claims with `confidence`, which holds
        the truth where it is not above it. The last three for the geometric mean only.
    ratio : float
        The true speedup; 2 as published.
    confidence : float
        Nominal, two-sided.
    mean : {"geometric", "harmonic", "arithmetic"}
        Of the values as they are.
    draws, replace, simulations, resamples, rng, seed, workers, progress
        As in `power_study`; bootstraps draw blocks where blocks are drawn.

    Returns
    -------
    CoverageStudy
        Coverage with its Monte Carlo error, and the misses on either side.

    Raises
    ------
    UsageError
        If an argument is out of range.
    """
    check_means(mean, "runs")
    drawing = Drawing(simulations, draws, replace, workers, progress)
    drawing.check(population, runs=runs, confidence=confidence, factor=ratio)
    names = named("interval", intervals, INTERVALS)
    if mean != "geometric":
        names = named("interval", [one for one in names if one not in _OF_RATIOS], INTERVALS)
    root = int(rng.integers(2**63))

    def drawn(m: int) -> Iterator[DrawnPair]:
        return drawing.pairs(population, root, m, factors=ratio)

    asked = Question(names, levels=(1 - confidence,), mean=mean, resamples=resamples)
    rows = drawing.answers(partial(_intervals, asked), drawn, runs)
    cells = [
        shared.covered(name, m, [ends[k] for ends in answers], ratio)
        for m, answers in zip(runs, rows, strict=True)
        for k, name in enumerate(names)
    ]
    return CoverageStudy(
        population=population.name,
        **drawing.answered(population),
        ratio=ratio,
        confidence=confidence,
        mean=mean,
        resamples=resamples,
        cells=tuple(cell for cell in cells if cell.interval not in OVER_BENCHMARKS),
        over_benchmarks=tuple(cell for cell in cells if cell.interval in OVER_BENCHMARKS),
        seed=seed,
        cautions=shared.population_cautions(population, draws, replace=replace),
    )


def _intervals(asked: Question, drawn: DrawnPair, _going_on: Progress) -> list[Ends | None]:
    """Give all intervals on one comparison; None where one does not exist there."""
    pair, runs = drawn.sides(), str(drawn.candidate.shape[1])
    how: dict[str, Any] = {"confidence": asked.confidence}

    def ends(name: str) -> Ends | None:
        if name == "t":
            return t_interval(*pair, **how)[1:]
        if name == "paired-t":
            return paired_ends(pair, asked.confidence)
        if name == "hpt":
            claimed = hpt_speedup(*pair, **how).value
            return None if claimed is None else (claimed, math.inf)
        rng = drawn.stream("interval", name, runs)
        more: dict[str, Any] = {"mean": asked.mean, "interval": name, "resamples": asked.resamples}
        try:
            found = bootstrap_speedup(*pair, **(how | more), rng=rng)
        except AnalysisError:
            return None
        return found.low, found.high

    return [ends(name) for name in asked.names]
