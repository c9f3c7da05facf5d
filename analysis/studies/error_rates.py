"""Monte Carlo studies on a population that is known: any matrix of runs.

[1]_, sections 6.1 and 6.2: draw two sides from the runs of one computer, shift some benchmarks of one
side, and count how often each test rejects, or each interval holds the truth. Here the runs are drawn
with replacement, a shift is a percentage and not a second (so that the unit does not matter), and
every rate carries its Monte Carlo error.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.1 and 6.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from ..data import PerformanceMatrix
from ..errors import UsageError
from ..stats import door, in_order, stream
from .cautions import hpt_cautions, population_cautions
from .draws import DrawnPair, Draws, Progress, check_names, check_study, drawn_pairs, teller
from .pvalues import TESTS, Alternative, pvalue_of
from .result import Rejections, RejectionStudy

__all__ = ["power_study", "type1_study"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Question:
    """What a study of error rates is asked.

    `points` are numbers of shifted benchmarks and of runs.
    """

    kind: Literal["power", "type1"]
    population: PerformanceMatrix
    points: tuple[tuple[int, int], ...]
    shift: float
    tests: Sequence[str]
    alternative: Alternative
    alpha: float
    draws: Draws
    simulations: int
    resamples: int
    seed: int | None

    def check(self) -> None:
        """Raise UsageError or InsufficientDataError where it cannot be asked."""
        check_study(
            self.population,
            [runs for _, runs in self.points],
            1 - self.alpha,
            self.draws,
            simulations=self.simulations,
            factor=self.shift,
        )
        check_names("test", self.tests, TESTS)
        if self.alternative not in get_args(Alternative):
            raise UsageError(
                f"alternative must be 'two-sided' or 'candidate', not {self.alternative!r}"
            )


@door
def power_study(
    population: PerformanceMatrix,
    *,
    shift: float = 1.01,
    shifted: Sequence[int] | None = None,
    runs: int = 5,
    tests: Sequence[str] = TESTS,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    draws: Draws = "run",
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
        What both sides are drawn from, benchmark by benchmark, with replacement.
    shift : float
        The candidate's speedup on a shifted benchmark, such as 1.01.
    shifted : sequence of int, optional
        Numbers of shifted benchmarks; 0 (the type-I error) to all by default. Which ones is
        drawn anew for each simulated comparison.
    runs : int
        Runs of each benchmark and side.
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
    asked = _Question(
        kind="power",
        population=population,
        points=tuple((k, runs) for k in points),
        shift=shift,
        tests=tests,
        alternative=alternative,
        alpha=alpha,
        draws=draws,
        simulations=simulations,
        resamples=resamples,
        seed=seed,
    )
    return _answer(asked, rng, workers, progress)


@door
def type1_study(
    population: PerformanceMatrix,
    *,
    runs: Sequence[int] = (3, 5, 10),
    tests: Sequence[str] = TESTS,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    draws: Draws = "run",
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
    asked = _Question(
        kind="type1",
        population=population,
        points=tuple((0, m) for m in runs),
        shift=1.0,
        tests=tests,
        alternative=alternative,
        alpha=alpha,
        draws=draws,
        simulations=simulations,
        resamples=resamples,
        seed=seed,
    )
    return _answer(asked, rng, workers, progress)


def _answer(
    asked: _Question, rng: np.random.Generator, workers: int | None, progress: Progress | None
) -> RejectionStudy:
    asked.check()
    root = int(rng.integers(2**63))
    test = partial(
        _rejected,
        tests=tuple(dict.fromkeys(asked.tests)),
        alternative=asked.alternative,
        alpha=asked.alpha,
        resamples=asked.resamples,
    )
    rows = in_order(
        test,
        (pair for point in asked.points for pair in _drawn_at(point, asked, root)),
        workers=workers,
        prefer="processes",
        look=teller(progress, len(asked.points) * asked.simulations),
        ready=lambda: test(next(_drawn_at(asked.points[0], asked, root)), lambda *_: None),
    )
    with closing(rows):
        cells = [
            cell
            for point in asked.points
            for cell in _counted(point, asked, itertools.islice(rows, asked.simulations))
        ]
    cautions = list(population_cautions(asked.population, asked.draws))
    n = len(asked.population.benchmarks)
    if "hpt" in asked.tests:
        cautions += hpt_cautions(n, asked.alternative, asked.alpha)
    return RejectionStudy(
        kind=asked.kind,
        population=asked.population.name,
        benchmarks=n,
        values=(min(asked.population.runs), max(asked.population.runs)),
        shift=asked.shift,
        alpha=asked.alpha,
        alternative=asked.alternative,
        draws=asked.draws,
        resamples=asked.resamples,
        cells=tuple(cells),
        seed=asked.seed,
        cautions=tuple(cautions),
    )


def _drawn_at(point: tuple[int, int], asked: _Question, root: int) -> Iterator[DrawnPair]:
    """Draw the comparisons of one point."""
    shifted, runs = point
    n = len(asked.population.benchmarks)
    which = stream(root, "shifted", str(shifted), str(runs))
    factors = np.ones((asked.simulations, n))
    for row in factors:
        row[which.permutation(n)[:shifted]] = asked.shift
    root_here = int(stream(root, "point", str(shifted), str(runs)).integers(2**63))
    return drawn_pairs(
        asked.population, root_here, runs, asked.simulations, asked.draws, factors=factors
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


def _counted(
    point: tuple[int, int], asked: _Question, rows: Iterable[list[bool]]
) -> list[Rejections]:
    """Count how often each test rejects at one point."""
    shifted, runs = point
    counts = np.sum(list(rows), axis=0).tolist()
    return [
        Rejections(
            test=test, shifted=shifted, runs=runs, rejected=count, simulations=asked.simulations
        )
        for test, count in zip(dict.fromkeys(asked.tests), counts, strict=True)
    ]
