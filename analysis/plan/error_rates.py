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

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..errors import UsageError
from ..methods.hpt.compare import hpt
from ..methods.resampling.randomization import randomization_test
from ..stats.arguments import door, stream
from ..stats.paired_t import Alternative, paired_pvalue, student_pvalue
from ..stats.workers import in_order
from .goal import check_positive
from .log_interval import log_error
from .study import (
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


@door
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
    points = tuple(range(n + 1)) if shifted is None else tuple(shifted)
    if not points or min(points) < 0 or max(points) > n:
        raise UsageError(f"the numbers of shifted benchmarks must lie between 0 and {n}")
    if shift_by is not None:
        check_positive("shift_by", shift_by)
    each = list(runs) if isinstance(runs, Sequence | np.ndarray) else [runs]
    return _study(
        "power",
        population,
        [(k, m) for m in dict.fromkeys(each) for k in points],
        shift=shift,
        shift_by=shift_by,
        tests=tests,
        alternative=alternative,
        alpha=alpha,
        draws=draws,
        replace=replace,
        simulations=simulations,
        resamples=resamples,
        rng=rng,
        seed=seed,
        workers=workers,
        progress=progress,
    )


@door
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
    return _study(
        "type1",
        population,
        [(0, m) for m in runs],
        shift=1.0,
        tests=tests,
        alternative=alternative,
        alpha=alpha,
        draws=draws,
        replace=replace,
        simulations=simulations,
        resamples=resamples,
        rng=rng,
        seed=seed,
        workers=workers,
        progress=progress,
    )


def _study(
    kind: Literal["power", "type1"],
    population: PerformanceMatrix,
    points: Sequence[tuple[int, int]],
    *,
    shift: float,
    shift_by: float | None = None,
    tests: Sequence[str],
    alternative: Alternative,
    alpha: float,
    draws: Draws,
    replace: bool,
    simulations: int,
    resamples: int,
    rng: np.random.Generator,
    seed: int | None,
    workers: int | None,
    progress: Progress | None,
) -> RejectionStudy:
    """Count rejections at points, which are numbers of shifted benchmarks and of runs."""
    n = len(population.benchmarks)
    each = [runs for _, runs in points]
    check_study(
        population, each, 1 - alpha, draws, simulations=simulations, factor=shift, replace=replace
    )
    check_names("test", tests, TESTS)
    if alternative not in get_args(Alternative):
        raise UsageError(f"alternative must be 'two-sided' or 'candidate', not {alternative!r}")
    root = int(rng.integers(2**63))
    names = tuple(dict.fromkeys(tests))
    test = partial(
        _rejected, tests=names, alternative=alternative, alpha=alpha, resamples=resamples
    )
    drawn = partial(
        _drawn_at,
        population=population,
        root=root,
        shift=shift,
        shift_by=shift_by,
        draws=draws,
        replace=replace,
        simulations=simulations,
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
        for shifted, runs in points:
            counts = np.sum(list(itertools.islice(rows, simulations)), axis=0).tolist()
            point = {"shifted": shifted, "runs": runs, "simulations": simulations}
            for name, count in zip(names, counts, strict=True):
                cells.append(Rejections(test=name, rejected=count, **point))
    cautions = list(population_cautions(population, draws, replace=replace))
    cautions += few_benchmarks_cautions(names, n, alternative, (alpha,))
    return RejectionStudy(
        kind=kind,
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
        cautions=tuple(cautions),
    )


def _drawn_at(
    shifted: int,
    runs: int,
    *,
    population: PerformanceMatrix,
    root: int,
    shift: float,
    shift_by: float | None,
    draws: Draws,
    replace: bool,
    simulations: int,
) -> Iterator[DrawnPair]:
    """Draw the comparisons of one point."""
    n = len(population.benchmarks)
    which = stream(root, "shifted", str(shifted), str(runs))
    chosen = np.zeros((simulations, n), dtype=bool)
    for row in chosen:
        row[which.permutation(n)[:shifted]] = True
    root_here = int(stream(root, "point", str(shifted), str(runs)).integers(2**63))
    return drawn_pairs(
        population,
        root_here,
        runs,
        simulations,
        draws,
        factors=np.where(chosen, shift, 1.0) if shift_by is None else 1.0,
        added=None if shift_by is None else np.where(chosen, shift_by, 0.0),
        replace=replace,
    )


def _rejected(
    drawn: DrawnPair,
    _going_on: Progress,
    *,
    tests: tuple[str, ...],
    alternative: Alternative,
    alpha: float,
    resamples: int,
) -> list[bool]:
    """Tell which tests reject on one comparison."""
    pair = drawn.sides()
    found = []
    for test in tests:
        rng = stream(drawn.root, "test", test, str(drawn.number))
        p = pvalue_of(pair, test, alternative, resamples, rng)
        found.append(bool(p <= alpha * (1 + 1e-12)))
    return found
