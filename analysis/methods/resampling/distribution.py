"""The empirical distribution of the suite mean, and its five-number summary.

[1]_, section 5: draw one run of each benchmark at random, take the mean over the benchmarks, and
repeat. The result describes what a single pass over the suite gives on this system: not how well
its mean is known (that is the bootstrap's question), but how consistent it is.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 5 and 6.5.
.. [2] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician
   50(4), 1996.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...data.pair import Mean, check_means, match, suite_mean
from ...errors import AnalysisError, InsufficientDataError
from ...pages import model as pages, number_format as figures
from ...pages.number_format import outcome_word
from ...pages.result import Result, plain
from ...record.run_numbers import Better
from ...stats.arguments import checks_arguments, counted, stream
from ...stats.samples import Array, read_only
from ...words import apart


def with_spread(values: Sequence[float], spread: float) -> list[str]:
    """Write values so that two digits of their spread are seen, all with as many decimals."""
    largest = max(abs(v) for v in values)
    top = math.floor(math.log10(largest))
    low = math.floor(math.log10(spread)) if spread > 0 else top - 3
    if -4 <= top < 7:
        decimals = min(max(0, 1 - low), 9)
        return [f"{v:.{decimals}f}" for v in values]
    return [f"{v:.{min(max(2, top - low + 1), 6)}e}" for v in values]


def percent(share: float) -> str:
    """Write a share; 0 and 100 % stand only where no pair is otherwise."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"


DISTRIBUTION_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 5 and 6.5",
)
_THINNEST = 1e-304  # a width whose density is a number
_REACH = 4.0  # bandwidths that the grid goes beyond the values


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A kernel density estimate: `density` (per unit of the values) at the points `grid`."""

    grid: Array
    density: Array
    bandwidth: float


@dataclass(frozen=True, slots=True)
class BoxPlot:
    """A box from `q1` to `q3`, and two kinds of whiskers.

    As published the whiskers end at `minimum` and `maximum`. `whisker_low` and `whisker_high` are
    the outermost values within 1.5 interquartile ranges of the box; `outliers_low` and
    `outliers_high` count what lies beyond.
    """

    minimum: float
    whisker_low: float
    q1: float
    median: float
    q3: float
    whisker_high: float
    maximum: float
    outliers_low: int
    outliers_high: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmpiricalDistribution(Result):
    """The suite means of passes drawn at random, in the unit of the values.

    `values`: The means, in the order drawn; read-only, of shape (resamples,). `minimum`, `q1`,
    `median`, `q3`, `maximum`: Their five-number summary (quartiles of type 7). `observed`: The
    suite mean over all runs. `lowest`, `highest`: The means of the pass of all smallest and of all
    largest runs: no pass lies outside. `combinations`: How many different passes there are; None
    when there are more than 2^53. `runs`: Those of each benchmark.
    """

    method: ClassVar[str] = "empirical-distribution"
    unlisted: ClassVar[frozenset[str]] = frozenset({"values"})

    name: str
    unit: str
    better: Better
    mean: Mean
    observed: float
    values: Array
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    lowest: float
    highest: float
    combinations: int | None
    resamples: int
    benchmarks: tuple[str, ...]
    runs: tuple[int, ...]
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES

    @property
    def five(self) -> tuple[float, float, float, float, float]:
        """Minimum, first quartile, median, third quartile, maximum."""
        return self.minimum, self.q1, self.median, self.q3, self.maximum

    @property
    def consistency(self) -> float:
        """The interquartile range over the median: the smaller, the more consistent."""
        return (self.q3 - self.q1) / self.median

    @property
    def conclusion(self) -> str:
        """Median and middle half, in one sentence."""
        median, q1, q3 = with_spread((self.median, self.q1, self.q3), self.q3 - self.q1)
        unit = f" {figures.unit_text(self.unit)}".rstrip()
        each = f"one run of each of {figures.counted(len(self.benchmarks), 'benchmark')}"
        return (
            f"{self.name:.32}: the {self.mean} mean of one pass ({each}) has the "
            f"median {median}{unit}, and lies between {q1} and {q3}{unit} in half of all passes"
        )

    def density(self, points: int = 512) -> Density | None:
        """Give a Gaussian kernel density estimate; None when the values do not vary.

        The bandwidth is 0.9 min(sd, IQR / 1.34) N^(-1/5) (Silverman 1986, equation 3.31; only sd
        where the interquartile range is 0), but at least 2 / `points` of the range, which is what
        the grid can show. The values are shared out linearly between the points of the grid, so the
        cost does not grow with N times the points.
        """
        low, high = self.minimum, self.maximum
        scale = high - low
        if not scale > max(1e-12 * high, _THINNEST):
            return None
        x = (self.values - low) / scale
        spread, middle = float(x.std(ddof=1)), (self.q3 - self.q1) / scale / 1.34
        width = 0.9 * (min(spread, middle) if middle > 0 else spread) * x.size**-0.2
        width = max(width, 2 / points)
        start, stop = -_REACH * width, 1 + _REACH * width
        step = (stop - start) / (points - 1)
        place = (x - start) / step
        left = np.minimum(place.astype(np.intp), points - 2)
        share = place - left
        mass = np.bincount(left, weights=1 - share, minlength=points)
        mass += np.bincount(left + 1, weights=share, minlength=points)
        offsets = np.arange(-(points - 1), points) * step / width
        curve = np.convolve(mass, np.exp(-(offsets**2) / 2), mode="valid")
        curve /= curve.sum() * step
        grid = low + scale * np.linspace(start, stop, points)
        return Density(read_only(grid), read_only(curve / scale), width * scale)

    def boxplot(self) -> BoxPlot:
        """Give what a boxplot shows."""
        reach = 1.5 * (self.q3 - self.q1)
        below, above = self.values < self.q1 - reach, self.values > self.q3 + reach
        inside = self.values[~(below | above)]
        # between few values a quartile is interpolated: a whisker never ends inside the box
        ends = min(float(inside.min()), self.q1), max(float(inside.max()), self.q3)
        counts = int(below.sum()), int(above.sum())
        middle = self.q1, self.median, self.q3
        return BoxPlot(self.minimum, ends[0], *middle, ends[1], self.maximum, *counts)

    def body(self) -> dict[str, Any]:
        """Give the fields, and the values as density and boxplot."""
        pictures = {"density": plain(self.density()), "boxplot": plain(self.boxplot())}
        return {**Result.body(self), **pictures}

    def screen(self) -> pages.Page:
        """Set the conclusion and the five numbers."""
        title = f"one pass over the suite: {self.name}"
        return pages.page(self, title, self.conclusion, _five_numbers((self,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionComparison(Result):
    """Empirical distributions of several systems over the same benchmarks.

    `wins`: ``wins[i][j]``: the share of pairs of passes in which system i is better than system j,
    equal ones counting half.
    """

    method: ClassVar[str] = "compare-distributions"

    systems: tuple[EmpiricalDistribution, ...]
    wins: tuple[tuple[float, ...], ...]
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES

    @property
    def conclusion(self) -> str:
        """How often a pass of the first system beats one of each other."""
        if len(self.systems) == 1:
            return self.systems[0].conclusion
        first, *others = apart([system.name for system in self.systems], 32)
        word = outcome_word("faster", timed=figures.timed(self.systems[0].unit))
        beaten = zip(others[:3], self.wins[0][1:4], strict=True)
        shares = (f"{percent(share)} of pairs against {name}" for name, share in beaten)
        return f"one pass over the suite with {first} is {word} in {', '.join(shares)}"

    def body(self) -> dict[str, Any]:
        """Give the fields and the conclusion."""
        return {**Result.body(self), "conclusion": self.conclusion}

    def screen(self) -> pages.Page:
        """Set the conclusion, five numbers of each system, and who beats whom."""
        title = f"one pass over the suite: {figures.listed([one.name for one in self.systems])}"
        return pages.page(self, title, self.conclusion, *summaries(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesReport(Result):
    """What one pass over the suite gives on one system, or on several."""

    method: ClassVar[str] = "resample"

    distributions: DistributionComparison
    seed: int
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES

    def screen(self) -> pages.Page:
        """Set the comparison, with the cautions of all, and the seed below it."""
        found = self.distributions.screen()
        sections = (*found.sections, pages.section(f"seed {self.seed}"))
        return replace(found, sections=sections, cautions=self.cautions)


_SHOWN = 12  # systems in the table of shares


def summaries(comparison: DistributionComparison) -> Iterator[pages.Section]:
    """Give the five-number summaries; of several systems also who beats whom."""
    yield _five_numbers(comparison.systems)
    count = range(len(comparison.systems))
    if not 2 < len(count) <= _SHOWN:
        return

    def share(i: int, k: int) -> pages.Cell:
        found = comparison.wins[k][i]
        return "-" if i == k else pages.Value(percent(found), found)

    wins = pages.table_of(
        "wins",
        count,
        ("", lambda k: str(k + 1)),
        ("@", lambda k: comparison.systems[k].name),
        *((str(i + 1), partial(share, i)) for i in count),
    )
    yield pages.section(wins, title="share of pairs of passes in which the row beats the column")


def _five_numbers(systems: Sequence[EmpiricalDistribution]) -> pages.Section:
    first = systems[0]
    unit = figures.unit_text(first.unit)
    # as many digits for all as the most consistent system needs
    finest = min((s.q3 - s.q1 for s in systems if s.q3 > s.q1), default=0.0)
    written = {id(s): with_spread((*s.five, s.observed), finest) for s in systems}
    heads = ("minimum", "Q1", "median", "Q3", "maximum", "mean")

    def number(k: int, s: EmpiricalDistribution) -> pages.Value:
        return pages.Value(written[id(s)][k], (*s.five, s.observed)[k])

    table = pages.table_of(
        "five-numbers",
        systems,
        ("@", "name"),
        *((head, partial(number, k)) for k, head in enumerate(heads)),
        ("IQR", "consistency", lambda share: f"{figures.significant(100 * share, 2)} %"),
    )
    count = figures.counted(len(first.benchmarks), "benchmark")
    title = f"{first.mean} means of passes over {count}"
    return pages.section(table, title=f"{title}, in {unit}" if unit else title)


_SMALLEST, _LARGEST = 1e-300, 1e305
_COUNTABLE = 2**53  # larger numbers of combinations are not shown


@checks_arguments
def empirical_distribution(
    matrix: PerformanceMatrix,
    *,
    mean: Mean = "geometric",
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> EmpiricalDistribution:
    """Draw the distribution of the suite mean of one pass: one run of each benchmark.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one system, ragged or not.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as stored.
    resamples : int
        How many passes to draw, 1 to 10,000,000.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it, from which every benchmark's stream
        is derived.

    Returns
    -------
    EmpiricalDistribution
        ``.values`` holds the means in the order drawn; the summary's quartiles interpolate linearly
        between order statistics (type 7 of [2]_).

    Raises
    ------
    UsageError
        If an argument is unknown or out of range.
    AnalysisError
        If a value lies beyond 1e-300 to 1e305, or two lie more than a factor of 1e305 apart.

    Notes
    -----
    The benchmarks are drawn independently of each other, as published. A state of the machine that
    slows all benchmarks of a round is lost by that; where rounds are known and whole rounds vary
    more than the draws, a caution says by how much.
    """
    check_means(mean, "runs")
    counted("resamples", resamples)
    _check_range(matrix)
    values = _draws(matrix, mean, resamples, int(rng.integers(2**63)))
    lowest, highest = _reach(matrix, mean)
    np.clip(values, lowest, highest, out=values)  # rounding in the last digit only
    quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    names = ("minimum", "q1", "median", "q3", "maximum")
    five: dict[str, Any] = dict(zip(names, quantiles, strict=True))
    combinations = math.prod(np.unique(runs).size for runs in matrix.samples)
    return EmpiricalDistribution(
        name=matrix.name,
        unit=matrix.unit,
        better=matrix.better,
        mean=mean,
        observed=suite_mean(matrix, mean=mean, centre="runs"),
        values=read_only(values),
        **five,
        lowest=lowest,
        highest=highest,
        combinations=combinations if combinations <= _COUNTABLE else None,
        resamples=resamples,
        benchmarks=matrix.benchmarks,
        runs=matrix.runs,
        cautions=(
            *matrix.cautions,
            *pass_cautions(matrix.runs, combinations, _round_spread(matrix, mean, values)),
        ),
    )


@checks_arguments
def compare_distributions(
    matrices: Sequence[PerformanceMatrix],
    *,
    mean: Mean = "geometric",
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> DistributionComparison:
    """Set the empirical distributions of several systems side by side.

    Parameters
    ----------
    matrices : sequence of PerformanceMatrix
        One for each system. Benchmarks that one of them lacks are left out and named.
    mean, resamples, rng
        As for `empirical_distribution`; each system has a stream of its own.

    Returns
    -------
    DistributionComparison
        The distributions, and for each pair the share of passes in which one beats the other.

    Raises
    ------
    UsageError
        If an argument is unknown or out of range.
    InsufficientDataError
        If there is no matrix.
    AnalysisError
        If they differ in unit or direction, or share no benchmark; as `empirical_distribution`.
    """
    if not matrices:
        raise InsufficientDataError("there is no system to describe", n=0, needed=1)
    first = matrices[0]
    left_out: list[pages.Caution] = []
    for other in matrices[1:]:
        pair = match(first, other)
        first = pair.candidate
        # systems are described side by side here: one may well stand there twice
        left_out += (text for text in pair.cautions if text.code != "one-variant-twice")
    root = int(rng.integers(2**63))
    systems = tuple(
        empirical_distribution(
            matrix if matrix.benchmarks == first.benchmarks else matrix.select(first.benchmarks),
            mean=mean,
            resamples=resamples,
            rng=stream(root, "distribution", str(k)),
        )
        for k, matrix in enumerate(matrices)
    )
    ordered, lower = [np.sort(system.values) for system in systems], first.better == "lower"

    def share(one: Array, other: Array) -> float:
        if one is other:
            return 0.5
        below, upto = np.searchsorted(other, one, "left"), np.searchsorted(other, one, "right")
        smaller = float((below / 2 + upto / 2).mean()) / other.size  # others below this one
        return 1 - smaller if lower else smaller

    return DistributionComparison(
        systems=systems,
        wins=tuple(tuple(share(one, other) for other in ordered) for one in ordered),
        cautions=pages.merged(system_cautions(systems, left_out)),
    )


def _check_range(matrix: PerformanceMatrix) -> None:
    """Refuse values whose means, densities or their logarithms are no numbers."""
    low, high = (pick(float(pick(runs)) for runs in matrix.samples) for pick in (min, max))
    if low < high / _LARGEST:
        what = f"the values lie too far apart for a mean: {low:.3g} and {high:.3g}"
        raise AnalysisError(what, matrix.name, "look for a wrong value")
    for bench, runs in zip(matrix.benchmarks, matrix.samples, strict=True):
        if not (runs.min() >= _SMALLEST and runs.max() <= _LARGEST):
            what = f"values beyond {_SMALLEST:g} to {_LARGEST:g} leave the range of numbers"
            where = f"{matrix.name}, benchmark {bench!r}"
            raise AnalysisError(what, where, "give the values in another unit")


def _draws(matrix: PerformanceMatrix, mean: Mean, resamples: int, root: int) -> Array:
    """Give the means of the passes; memory is that of a few arrays of `resamples` numbers."""
    total = np.zeros(resamples)
    forms, scale = _forms(matrix, mean)
    for bench, form in zip(matrix.benchmarks, forms, strict=True):
        drawn = stream(root, "pass", bench).integers(form.size, size=resamples)
        if len(forms) == 1:
            # the runs themselves: no way there and back through logarithms
            return np.asarray(matrix.samples[0][drawn])
        total += form[drawn]
    return _mean_of(total / len(forms), mean, scale)


def _forms(matrix: PerformanceMatrix, mean: Mean) -> tuple[list[Array], float]:
    """Give the runs as they are averaged, and the scale on which no sum can overflow."""
    if mean == "geometric":
        return [np.log(runs) for runs in matrix.samples], 1.0
    if mean == "harmonic":
        scale = min(float(runs.min()) for runs in matrix.samples)
        return [scale / runs for runs in matrix.samples], scale
    scale = max(float(runs.max()) for runs in matrix.samples)
    return [runs / scale for runs in matrix.samples], scale


def _mean_of(averaged: Array, mean: Mean, scale: float) -> Array:
    if mean == "geometric":
        return np.asarray(np.exp(averaged))
    return np.asarray(scale / averaged if mean == "harmonic" else scale * averaged)


def _reach(matrix: PerformanceMatrix, mean: Mean) -> tuple[float, float]:
    """Give the smallest and the largest mean that any pass can have."""

    def end(pick: Callable[[Array], Any]) -> float:
        rows = zip(matrix.benchmarks, matrix.samples, strict=True)
        only = {bench: [float(pick(runs))] for bench, runs in rows}
        one = PerformanceMatrix.from_samples(matrix.name, only, better=matrix.better)
        return suite_mean(one, mean=mean, centre="runs")

    return end(np.min), end(np.max)


def _round_spread(matrix: PerformanceMatrix, mean: Mean, values: Array) -> float | None:
    """Give the spread of whole rounds over that of the draws; None where it is not known."""
    if matrix.blocks is None or len(matrix.benchmarks) == 1:
        return None
    sessions = matrix.sessions or [np.zeros(len(row), dtype=np.int64) for row in matrix.blocks]
    forms, scale = _forms(matrix, mean)
    rounds = [
        dict(zip(zip(session.tolist(), row.tolist(), strict=True), form.tolist(), strict=True))
        for session, row, form in zip(sessions, matrix.blocks, forms, strict=True)
    ]
    whole = [key for key in rounds[0] if all(key in row for row in rounds[1:])]
    if len(whole) < 5:  # the fewest whole rounds whose spread is compared with that of the draws
        return None
    averaged = np.array([[row[key] for key in whole] for row in rounds]).mean(axis=0)
    drawn = float(np.log(values).std())
    if drawn == 0:
        return None
    return float(np.log(_mean_of(averaged, mean, scale)).std(ddof=1)) / drawn


_FEW = 100  # passes, below which a density curve shows what is not there
_WIDER = 1.2  # how much more whole rounds must vary to be worth a caution
_OF_PASSES = {"passes-equal", "few-passes", "rounds-vary-more"}


def pass_cautions(
    runs: Sequence[int], combinations: int, rounds: float | None
) -> tuple[pages.Caution, ...]:
    """Say what the passes of one system cannot show."""
    single = all(m == 1 for m in runs)
    why = "there is one run of each benchmark" if single else "the runs of each are all equal"
    texts = {
        "passes-equal": combinations == 1
        and f"every pass gives the same mean, because {why}: nothing is known of spread",
        "few-passes": 1 < combinations < _FEW
        and f"there are only {combinations} different passes: read the steps of the summary, not "
        "the shape of the density curve",
        "rounds-vary-more": rounds is not None
        and rounds > _WIDER
        and f"whole rounds as they were measured vary {rounds:.1f} times as much as these passes, "
        "which draw every benchmark on its own: the benchmarks of a round move together",
    }
    return pages.cautions_of(texts)


def system_cautions(
    systems: Sequence[EmpiricalDistribution], left_out: Iterable[pages.Caution]
) -> Iterator[pages.Caution]:
    """Say what holds for systems side by side, with their names."""
    yield from left_out
    names = [system.name for system in systems]
    for k, system in enumerate(systems):
        for caution in system.cautions:
            found = caution.of(system.name)
            if caution.code in _OF_PASSES and system.name in names[:k]:
                found = replace(found, about=(*found.about, f"system {k + 1}"))
            yield found
    if any(system.maximum > system.minimum for system in systems):
        more = "more passes widen them, up to the pass of all extreme runs"
        drawn = f"minimum and maximum are those of {systems[0].resamples:,} drawn passes"
        yield pages.Caution("extremes-grow", f"{drawn}: {more}")
