"""The real coverage of intervals, on comparisons drawn from a known population.

[1]_, section 6.2: draw two sides from the runs of one computer, make one better by a known ratio, and
count how often the interval holds that ratio; the same for the speedup that HPT claims, which is a lower
bound.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 6.2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Literal, cast, get_args

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..data.pair import Mean, check_means
from ..errors import AnalysisError
from ..methods.hpt.speedup import hpt_speedup
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..stats.arguments import door, stream
from ..stats.paired_t import paired_interval
from ..stats.workers import in_order
from .error_rates import log_ratios
from .log_interval import exponential
from .study import (
    CoverageStudy,
    Covered,
    DrawnPair,
    Draws,
    Pair,
    Progress,
    check_names,
    check_study,
    drawn_pairs,
    population_cautions,
    teller,
)
from .width import t_interval

Bootstrapped = Literal["percentile", "corrected", "bca", "studentized"]
Interval = Literal[Bootstrapped, "t", "paired-t", "hpt"]

INTERVALS: tuple[str, ...] = get_args(Interval)
OVER_BENCHMARKS = ("paired-t", "hpt")  # that speak of benchmarks like these
_OF_RATIOS = ("t", *OVER_BENCHMARKS)  # they know no other mean than the geometric one


@door
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
        population,
        runs,
        confidence,
        draws,
        simulations=simulations,
        factor=ratio,
        replace=replace,
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

    def bootstrapped(name: Bootstrapped) -> tuple[float, float] | None:
        try:
            found = bootstrap_speedup(
                *pair,
                mean=mean,
                interval=name,
                confidence=confidence,
                resamples=resamples,
                rng=stream(drawn.root, "interval", name, runs, number),
            )
        except AnalysisError:
            return None
        return found.low, found.high

    ends: list[tuple[float, float] | None] = []
    for name in names:
        match name:
            case "t":
                ends.append(t_interval(*pair, confidence=confidence)[1:])
            case "paired-t":
                ends.append(paired_t_interval(pair, confidence))
            case "hpt":
                claimed = hpt_speedup(*pair, confidence=confidence).value
                ends.append(None if claimed is None else (claimed, math.inf))
            case _:
                ends.append(bootstrapped(name))
    return ends


def paired_t_interval(pair: Pair, confidence: float) -> tuple[float, float] | None:
    """Give the t interval of the speedup over the benchmarks; None where there is one benchmark."""
    logs = paired_interval(log_ratios(pair), confidence)
    return None if logs is None else (exponential(logs[0]), exponential(logs[1]))


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
