"""Samples drawn again from measured runs: what studies of them ask, count and say alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.matrix import PerformanceMatrix
from ..data.pair import Mean
from ..errors import InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Table, cautions_of, table_of, value_of
from ..record.run_numbers import Better
from ..stats.arguments import chosen, counted, stream
from ..stats.classical import Alternative
from ..stats.workers import Progress, in_order
from .components import check_runs

Draws = Literal["run", "block"]
Pair = tuple[PerformanceMatrix, PerformanceMatrix]
Ends = tuple[float, float]
_Found = TypeVar("_Found")
_Point = TypeVar("_Point")
NAMES = {
    "hpt": "HPT",
    "t": "t",
    "welch": "t on logs",
    "randomization": "randomization",
    "t-scores": "t on scores",
    "interval": "interval technique",
    "bootstrap": "bootstrap",
}
_INTERVALS = {"paired-t": "paired t", "hpt": "HPT speedup"}


class Question(NamedTuple):
    """What a study asks of each comparison: tests or intervals by their names, and how."""

    names: tuple[str, ...]
    alternative: Alternative = "two-sided"
    levels: tuple[float, ...] = (0.05,)
    speedup: float = 1.0
    mean: Mean = "geometric"
    resamples: int = 999

    @property
    def confidence(self) -> float:
        """Of each interval."""
        return 1 - max(self.levels)


class DrawnPair(NamedTuple):
    """The values of one simulated comparison: all that its tests need, wherever they are made.

    `number` counts the comparisons of `root`, the seed of the streams of its tests, from 0. The values
    of the two sides have the shape (benchmarks, runs); `in_blocks` tells whether a column is a block.
    """

    number: int
    root: int
    benchmarks: tuple[str, ...]
    candidate: NDArray[np.float64]
    baseline: NDArray[np.float64]
    better: Better
    unit: str
    in_blocks: bool

    def stream(self, *labels: str) -> np.random.Generator:
        """Give the stream of a test or an interval on this comparison."""
        return stream(self.root, *labels, str(self.number))

    def sides(self) -> Pair:
        """Give them as candidate and baseline."""
        runs = self.candidate.shape[1]

        def side(name: str, values: NDArray[np.float64], first: int) -> PerformanceMatrix:
            rows = dict(zip(self.benchmarks, values, strict=True))
            ids = dict.fromkeys(self.benchmarks, np.arange(runs) + first)
            blocks = ids if self.in_blocks else None
            return PerformanceMatrix.from_samples(
                name, rows, better=self.better, unit=self.unit, blocks=blocks
            )

        return side("candidate", self.candidate, 0), side("baseline", self.baseline, runs)


class Drawing(NamedTuple):
    """How a study draws: how often, runs or whole blocks, again or not; and how its work is shared out.

    `replace`: Whether a value may be drawn again. Without, no value of a population is drawn twice
    for one pair, on whichever side. `progress` hears how many comparisons are done, of all.
    """

    simulations: int
    draws: Draws
    replace: bool = True
    workers: int | None = None
    progress: Progress | None = None

    def check(
        self, *sides: PerformanceMatrix, runs: Sequence[int], confidence: float, factor: float = 1.0
    ) -> None:
        """Raise UsageError or InsufficientDataError where an argument of a study is out of range."""
        if not 0.5 <= confidence < 1:
            what = "the confidence must lie between 0.5 and 1 (alpha between 0 and 0.5)"
            raise UsageError(f"{what}, not {confidence:g} (alpha {1 - confidence:g})")
        if not runs:
            raise UsageError("there must be a number of runs")
        for one in runs:
            counted("each number of runs", one, least=2, most=1_000_000)
        chosen("draws", self.draws, get_args(Draws))
        counted("simulations", self.simulations)
        if not (math.isfinite(factor) and factor > 0):
            shift = f"{factor!r} (a shift of {100 * (factor - 1):g} %)"
            raise UsageError(f"the shift must be a speedup above 0, not {shift}")
        check_runs(sides[0], sides[-1], 2)
        # from one population both sides are drawn together, so that they have no run in common: then the
        # difference of their means scatters as that of new runs does
        needed = max(runs) * (2 if len(sides) == 1 else 1)
        for population in () if self.replace else sides:
            sizes = [row.size for row in self._rows_of(population)]
            if (few := min(sizes)) < needed:
                bench = population.benchmarks[sizes.index(few)]
                how = "without replacement" + " for both sides together" * (len(sides) == 1)
                what = f"{needed} {self.draws}s would be drawn {how}, and there are {few}"
                where = population.name + (
                    "" if self.draws == "block" else f", benchmark {bench!r}"
                )
                fix = "draw fewer runs, or with replacement"
                raise InsufficientDataError(what, where, fix, n=few, needed=needed)

    def pairs(
        self,
        population: PerformanceMatrix,
        root: int,
        runs: int,
        *,
        factors: ArrayLike = 1.0,
        added: ArrayLike = 0.0,
        baseline: PerformanceMatrix | None = None,
    ) -> Iterator[DrawnPair]:
        """Draw pairs of sides, and shift them so that the candidate is better.

        `population`: What both sides are drawn from, or the candidate where there is a `baseline`,
        from which the other side is drawn then: the same benchmarks. `root`: Of the streams.
        `runs`: Of each benchmark and side. `factors`: Speedups by which the candidate's values are
        made better, of shape (simulations, benchmarks). `added`: What is added, of this shape and
        in their unit, to the values of the side that this shifts in the same direction: the
        baseline's where lower is better, else the candidate's.
        """
        names, higher = population.benchmarks, population.better == "higher"
        shape = self.simulations, len(names), 1
        speedups, more = (
            np.broadcast_to(np.asarray(each, dtype=np.float64), shape[:2]).reshape(shape)
            for each in (factors, added)
        )
        scales = speedups if higher else 1.0 / speedups
        labels = ["blocks"] * len(names) if self.draws == "block" else names

        def drawn(matrix: PerformanceMatrix, side: str, count: int) -> NDArray[np.float64]:
            """Draw the values of all pairs at once, of shape (simulations, benchmarks, count)."""
            found = []
            for label, row in zip(labels, self._rows_of(matrix), strict=True):
                rng = stream(root, "draw", side, label, str(runs))
                if self.replace:
                    places = rng.integers(row.size, size=(self.simulations, count))
                else:
                    each = range(self.simulations)
                    places = np.array([rng.choice(row.size, count, replace=False) for _ in each])
                found.append(row[places])
            return np.stack(found, axis=1)

        if self.replace or baseline is not None:
            ours = drawn(population, "candidate", runs)
            theirs = drawn(baseline or population, "baseline", runs)
        else:
            ours, theirs = np.split(drawn(population, "both", 2 * runs), 2, axis=2)
        ours = ours * scales + (more if higher else 0.0)
        theirs = theirs + (0.0 if higher else more)
        how = population.better, population.unit, self.draws == "block"
        for k, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield DrawnPair(k, root, names, one, other, *how)

    def answered(self, *sides: PerformanceMatrix) -> dict[str, Any]:
        """Give the fields that every study repeats from its question."""
        runs = [n for side in sides for n in side.runs]
        counts = {"benchmarks": len(sides[0].benchmarks), "values": (min(runs), max(runs))}
        return {**counts, "draws": self.draws, "replace": self.replace}

    def _rows_of(self, population: PerformanceMatrix) -> list[NDArray[np.float64]]:
        """Give each benchmark's values, whose places are drawn one at a time: of blocks by the same ones in all."""
        if self.draws != "block":
            return list(population.samples)
        name, fix = population.name, "draw runs instead"
        if population.blocks is None:
            raise UsageError("the population has no block ids", name, fix)
        common = sorted(set.intersection(*(set(ids.tolist()) for ids in population.blocks)))
        rows = []
        each = zip(population.benchmarks, population.samples, population.blocks, strict=True)
        for bench, values, ids in each:
            found = dict(zip(ids.tolist(), values.tolist(), strict=True))
            if len(found) != values.size:
                what = "a block holds more than one run of the benchmark"
                raise UsageError(what, f"{name}, benchmark {bench!r}", fix)
            rows.append(np.array([found[block] for block in common]))
        if len(common) < 2:
            what = "fewer than two blocks hold all benchmarks"
            raise InsufficientDataError(what, name, fix, n=len(common), needed=2)
        return rows

    def answers(
        self,
        ask: Callable[[DrawnPair, Progress], _Found],
        drawn: Callable[[_Point], Iterator[DrawnPair]],
        points: Sequence[_Point],
    ) -> list[list[_Found]]:
        """Ask of every simulated comparison, and give the answers of each point."""
        total, progress = len(points) * self.simulations, self.progress
        rows = in_order(
            ask,
            (pair for point in points for pair in drawn(point)),
            workers=self.workers,
            prefer="processes",
            look=lambda done: progress(done, total) if progress is not None and done else None,
            ready=lambda: ask(next(drawn(points[0])), lambda *_: None),
        )
        found = list(rows)
        return [found[k : k + self.simulations] for k in range(0, total, self.simulations)]


def rejects(pvalue: float, alpha: float) -> bool:
    """Tell whether a p-value is at most the level, or so close that only rounding parts them."""
    return bool(pvalue <= alpha * (1 + 1e-12))


def monte_carlo_error(count: int, trials: int) -> float:
    """Give the standard deviation of a rate given `count` of `trials`, under a flat prior.

    It is close to sqrt(p (1 - p) / trials), but not 0 when all or none were counted.
    """
    return math.sqrt((count + 1) * (trials - count + 1) / (trials + 3)) / (trials + 2)


@dataclass(frozen=True, slots=True)
class Covered:
    """How often one interval held the true ratio at one number of runs.

    `width`: Mean, relative to the truth; None of a bound, which is open. `low`: Mean of the lower ends.
    """

    derived: ClassVar[tuple[str, ...]] = ("rate", "error")

    interval: str
    runs: int
    held: int
    below: int
    above: int
    refused: int
    simulations: int
    width: float | None
    low: float | None

    @property
    def there(self) -> int:
        """How many intervals there are."""
        return self.simulations - self.refused

    @property
    def rate(self) -> float | None:
        """The share of intervals that held the truth; None when there was none."""
        return self.held / self.there if self.there else None

    @property
    def error(self) -> float | None:
        """The Monte Carlo error of the rate."""
        return monte_carlo_error(self.held, self.there) if self.there else None


def covered(name: str, runs: int, ends: Sequence[Ends | None], ratio: float) -> Covered:
    """Count intervals, None for those that do not exist, by where they lie to the true ratio."""
    there = np.array([end for end in ends if end is not None]).reshape(-1, 2)
    slack = 1e-12 * ratio  # a constant population gives intervals without width
    low, high = there.T
    below, above = int((high < ratio - slack).sum()), int((low > ratio + slack).sum())
    counts = (len(low) - below - above, below, above, len(ends) - len(low), len(ends))
    width = float(np.mean(high - low)) / ratio if len(low) else math.inf
    lowest = float(np.mean(low)) if len(low) else None
    return Covered(name, runs, *counts, width if math.isfinite(width) else None, lowest)


def covered_table(name: str, cells: Iterable[Covered], *first: tuple[str, str]) -> Table:
    """Say of each interval how often it held the truth, and how often it lay to either side."""

    def interval(cell: Covered) -> str:
        refused = f" ({cell.refused} do not exist)" if cell.refused else ""
        return f"{_INTERVALS.get(cell.interval, cell.interval)}{refused}"

    def share(name: str, cell: Covered) -> float | None:
        return getattr(cell, name) / cell.there if cell.there else None

    return table_of(
        name,
        cells,
        *first,
        ("<interval", interval),
        ("coverage", lambda cell: value_of(cell.rate, lambda x: f"{x:.3f} ± {cell.error:.3f}")),
        ("too low", partial(share, "below"), "{:.3f}".format),
        ("too high", partial(share, "above"), "{:.3f}".format),
        ("width", "width", figures.significant),
        ("mean low end", "low", partial(figures.significant, digits=4)),
    )


def population_cautions(
    population: PerformanceMatrix, draws: Draws, *, replace: bool = True
) -> tuple[Caution, ...]:
    """Say what draws from a population cannot show."""
    fewest = min(population.runs)
    repeated = "draws repeat them, which makes ties, and " if replace else ""
    table = {
        "drawn-independently": f"{draws}s are drawn independently: drift and differences between "
        "sessions are not in these rates, and real trials that have them err more often",
        "benchmarks-drawn-apart": draws == "run"
        and len(population.benchmarks) > 1
        and "benchmarks are drawn on their own: what correlates them in one round is gone",
        "small-population": fewest < 30  # below which draws repeat values often
        and f"the population has only {fewest} values of some benchmark: {repeated}tails that it has "
        "not shown are missing",
    }
    return (*(one.of(population.name) for one in population.cautions), *cautions_of(table))


def few_benchmarks_cautions(
    tests: Sequence[str], benchmarks: int, alternative: str, alphas: Sequence[float]
) -> tuple[Caution, ...]:
    """Say which tests have too few benchmarks to reject at all, and at which levels."""
    least = 0.5**benchmarks * (2 if alternative == "two-sided" else 1)
    beyond = [f"{alpha:g}" for alpha in sorted(alphas) if least > alpha]
    table = {
        "no-paired-t": "t" in tests
        and benchmarks < 2
        and "the paired t-test needs two benchmarks: here it never rejects",
        "level-out-of-reach": "hpt" in tests
        and beyond
        and f"HPT cannot reject at {' or '.join(beyond)} with "
        f"{figures.counted(benchmarks, 'benchmark')}: its smallest p is {least:g}",
    }
    return cautions_of(table)
