"""The real coverage of intervals, on comparisons drawn from a known population.

[1]_, section 6.2: draw two sides from the runs of one computer, make one better by a known ratio, and
count how often the interval holds that ratio.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 6.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Literal, cast, get_args

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..data.pair import Mean, check_means
from ..errors import AnalysisError
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..stats.arguments import door, stream
from ..stats.workers import in_order
from .study import (
    CoverageStudy,
    Covered,
    DrawnPair,
    Draws,
    Progress,
    check_names,
    check_study,
    drawn_pairs,
    population_cautions,
    teller,
)
from .width import t_interval

Interval = Literal["percentile", "corrected", "bca", "studentized", "t"]

INTERVALS: tuple[str, ...] = get_args(Interval)


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
    intervals : sequence of {"percentile", "corrected", "bca", "studentized", "t"}
        Those of `bootstrap_speedup`, and the t interval on logs (geometric mean only).
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
        intervals = tuple(name for name in intervals if name != "t")
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
                _covered(name, m, [ends[k] for ends in here], ratio) for k, name in enumerate(known)
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
        cells=tuple(cells),
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
    ends: list[tuple[float, float] | None] = []
    for name in names:
        if name == "t":
            _, low, high = t_interval(*pair, confidence=confidence)
            ends.append((low, high))
            continue
        try:
            found = bootstrap_speedup(
                *pair,
                mean=mean,
                interval=name,
                confidence=confidence,
                resamples=resamples,
                rng=stream(drawn.root, "interval", name, runs, number),
            )
            ends.append((found.low, found.high))
        except AnalysisError:
            ends.append(None)
    return ends


def _covered(name: str, runs: int, ends: list[tuple[float, float] | None], ratio: float) -> Covered:
    there = [end for end in ends if end is not None]
    slack = 1e-12 * ratio  # a constant population gives intervals without width
    below = sum(high < ratio - slack for _, high in there)
    above = sum(low > ratio + slack for low, _ in there)
    return Covered(
        interval=name,
        runs=runs,
        held=len(there) - below - above,
        below=below,
        above=above,
        refused=len(ends) - len(there),
        simulations=len(ends),
        width=float(np.mean([high - low for low, high in there])) / ratio if there else None,
    )
