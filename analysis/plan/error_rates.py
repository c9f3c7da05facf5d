"""Study: how often tests reject.

[1]_, section 6.1: draw two sides from the runs of one computer, shift some benchmarks of one side, and
count how often each test rejects; section 8 does so at several numbers of runs. By default the runs
are drawn with replacement, and a shift is a percentage, so that the unit does not matter; as published
it is an amount that is added, and runs are drawn without replacement. Every rate carries its Monte
Carlo error.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.1 and 6.2.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..data.pair import Mean, check_means
from ..errors import AnalysisError, UsageError
from ..methods.hpt.compare import hpt
from ..methods.hpt.speedup import hpt_speedup
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..methods.resampling.randomization import randomization_test
from ..stats.arguments import checks_arguments, stream
from ..stats.classical import Alternative, paired_interval, paired_pvalue, student_pvalue
from ..stats.workers import in_order
from .components import check_positive
from .stop_rule import exponential, log_error
from .study import (
    CoverageStudy,
    Covered,
    DrawnPair,
    Draws,
    Pair,
    Progress,
    Rejections,
    RejectionStudy,
    check_names,
    check_study,
    drawn_pairs,
    few_benchmarks_cautions,
    population_cautions,
    teller,
)
from .width import t_interval

TESTS = ("hpt", "t", "welch", "randomization")


def pvalue_of(
    pair: Pair, test: str, alternative: Alternative, resamples: int, rng: np.random.Generator
) -> float:
    """Give the p-value of one of `TESTS` on one pair."""
    ours, theirs = pair
    if test == "randomization":
        return randomization_test(
            ours, theirs, alternative=alternative, resamples=resamples, rng=rng
        ).pvalue
    if test == "hpt":
        result = hpt(ours, theirs)
        if alternative == "candidate":
            return result.pvalue
        return min(1.0, 2 * min(result.pvalue, result.pvalue_baseline))
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
    sign = 1 if ours.better == "higher" else -1
    return np.array(
        [
            sign * (np.log(a).mean() - np.log(b).mean())
            for a, b in zip(ours.samples, theirs.samples, strict=True)
        ]
    )


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
    check_study(
        population, each, 1 - alpha, draws, simulations=simulations, factor=shift, replace=replace
    )
    check_names("test", tests, TESTS)
    if alternative not in get_args(Alternative):
        raise UsageError(f"alternative must be 'two-sided' or 'candidate', not {alternative!r}")
    root = int(rng.integers(2**63))
    names = tuple(dict.fromkeys(tests))

    def drawn(shifted: int, runs: int) -> Iterator[DrawnPair]:
        labels = (str(shifted), str(runs))
        which = stream(root, "shifted", *labels)
        chosen = np.zeros((simulations, n), dtype=bool)
        for row in chosen:
            row[which.permutation(n)[:shifted]] = True
        return drawn_pairs(
            population,
            int(stream(root, "point", *labels).integers(2**63)),
            runs,
            simulations,
            draws,
            factors=np.where(chosen, shift, 1.0) if shift_by is None else 1.0,
            added=None if shift_by is None else np.where(chosen, shift_by, 0.0),
            replace=replace,
        )

    test = partial(
        _rejected, tests=names, alternative=alternative, alpha=alpha, resamples=resamples
    )
    rows = in_order(
        test,
        (pair for point in points for pair in drawn(*point)),
        workers=workers,
        prefer="processes",
        look=teller(progress, len(points) * simulations),
        ready=lambda: test(next(drawn(*points[0])), lambda *_: None),
    )
    cells: list[Rejections] = []
    with closing(rows):
        for k, m in points:
            counts = np.sum(list(itertools.islice(rows, simulations)), axis=0).tolist()
            point = {"shifted": k, "runs": m, "simulations": simulations}
            for name, count in zip(names, counts, strict=True):
                cells.append(Rejections(test=name, rejected=count, **point))
    return RejectionStudy(
        kind="power",
        population=population.name,
        benchmarks=n,
        values=(min(population.runs), max(population.runs)),
        shift=shift if shift_by is None else None,
        shift_by=shift_by,
        unit=population.unit,
        alpha=alpha,
        alternative=alternative,
        draws=draws,
        replace=replace,
        resamples=resamples,
        cells=tuple(cells),
        seed=seed,
        cautions=(
            *population_cautions(population, draws, replace=replace),
            *few_benchmarks_cautions(names, n, alternative, (alpha,)),
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
    return dataclasses.replace(found, kind="type1")


def _rejected(
    drawn: DrawnPair,
    _going_on: Progress,
    *,
    tests: tuple[str, ...],
    alternative: Alternative,
    alpha: float,
    resamples: int,
) -> list[bool]:
    pair = drawn.sides()
    found = []
    for test in tests:
        rng = stream(drawn.root, "test", test, str(drawn.number))
        p = pvalue_of(pair, test, alternative, resamples, rng)
        found.append(bool(p <= alpha * (1 + 1e-12)))
    return found


# --- The real coverage of intervals, on comparisons drawn from a known population.
#
# [1]_, section 6.2: draw two sides from the runs of one computer, make one better by a known ratio, and
# count how often the interval holds that ratio; the same for the speedup that HPT claims, which is a lower
# bound.
#
# References
# ----------
# .. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
#    of performance variation", Frontiers of Computer Science, 2018, section 6.2.


Bootstrapped = Literal["percentile", "corrected", "bca", "studentized"]
Interval = Literal[Bootstrapped, "t", "paired-t", "hpt"]

INTERVALS: tuple[str, ...] = get_args(Interval)
OVER_BENCHMARKS = ("paired-t", "hpt")  # that speak of benchmarks like these
_OF_RATIOS = ("t", *OVER_BENCHMARKS)  # they know no other mean than the geometric one


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
    check_study(
        population, runs, confidence, draws, simulations=simulations, factor=ratio, replace=replace
    )
    check_names("interval", intervals, INTERVALS)
    if mean != "geometric":
        intervals = tuple(name for name in intervals if name not in _OF_RATIOS)
        check_names("interval", intervals, INTERVALS)
    known = cast("tuple[Interval, ...]", tuple(dict.fromkeys(intervals)))
    root = int(rng.integers(2**63))

    def drawn(m: int) -> Iterator[DrawnPair]:
        return drawn_pairs(population, root, m, simulations, draws, factors=ratio, replace=replace)

    ask = partial(_intervals, names=known, confidence=confidence, mean=mean, resamples=resamples)
    rows = in_order(
        ask,
        (pair for m in runs for pair in drawn(m)),
        workers=workers,
        prefer="processes",
        look=teller(progress, len(runs) * simulations),
        ready=lambda: ask(next(drawn(runs[0])), lambda *_: None),
    )
    cells = []
    with closing(rows):
        for m in runs:
            here = list(itertools.islice(rows, simulations))
            cells += [
                covered(name, m, [ends[k] for ends in here], ratio) for k, name in enumerate(known)
            ]
    return CoverageStudy(
        population=population.name,
        benchmarks=len(population.benchmarks),
        values=(min(population.runs), max(population.runs)),
        ratio=ratio,
        confidence=confidence,
        mean=mean,
        draws=draws,
        replace=replace,
        resamples=resamples,
        cells=tuple(cell for cell in cells if cell.interval not in OVER_BENCHMARKS),
        over_benchmarks=tuple(cell for cell in cells if cell.interval in OVER_BENCHMARKS),
        seed=seed,
        cautions=tuple(population_cautions(population, draws, replace=replace)),
    )


def _intervals(
    drawn: DrawnPair,
    _going_on: Progress,
    *,
    names: tuple[Interval, ...],
    confidence: float,
    mean: Mean,
    resamples: int,
) -> list[tuple[float, float] | None]:
    """Give all intervals on one comparison; None where one does not exist there."""
    pair = drawn.sides()
    runs, number = str(drawn.candidate.shape[1]), str(drawn.number)

    def ends(name: Interval) -> tuple[float, float] | None:
        if name == "t":
            return t_interval(*pair, confidence=confidence)[1:]
        if name == "paired-t":  # over the benchmarks; there is none over one
            logs = paired_interval(log_ratios(pair), confidence)
            return None if logs is None else (exponential(logs[0]), exponential(logs[1]))
        if name == "hpt":
            claimed = hpt_speedup(*pair, confidence=confidence).value
            return None if claimed is None else (claimed, math.inf)
        draws = stream(drawn.root, "interval", name, runs, number)
        try:
            found = bootstrap_speedup(
                *pair,
                mean=mean,
                interval=name,
                confidence=confidence,
                resamples=resamples,
                rng=draws,
            )
        except AnalysisError:
            return None
        return found.low, found.high

    return [ends(name) for name in names]


def covered(name: str, runs: int, ends: list[tuple[float, float] | None], ratio: float) -> Covered:
    """Count intervals, None for those that do not exist, by where they lie to the true ratio."""
    there = [end for end in ends if end is not None]
    slack = 1e-12 * ratio  # a constant population gives intervals without width
    below = sum(high < ratio - slack for _, high in there)
    above = sum(low > ratio + slack for low, _ in there)
    width = float(np.mean([high - low for low, high in there])) / ratio if there else math.inf
    return Covered(
        interval=name,
        runs=runs,
        held=len(there) - below - above,
        below=below,
        above=above,
        refused=len(ends) - len(there),
        simulations=len(ends),
        width=None if math.isinf(width) else width,
        low=float(np.mean([low for low, _ in there])) if there else None,
    )
