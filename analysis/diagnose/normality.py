"""Whether values look normal: tests, curves, and means of samples.

Lilliefors' and Shapiro's tests per benchmark and over the suite, the fitted normal against a kernel
density, the normal probability plot, and how large a sample must be before its mean looks normal ([5]_).
A test that does not reject shows no normality: with few runs it can hardly reject.

References
----------
.. [1] H. W. Lilliefors, "On the Kolmogorov-Smirnov test for normality with mean and variance
   unknown", Journal of the American Statistical Association 62, 1967.
.. [2] G. E. Dallal, L. Wilkinson, "An analytic approximation to the distribution of Lilliefors's
   test statistic for normality", The American Statistician 40, 1986.
.. [3] M. A. Stephens, "EDF statistics for goodness of fit and some comparisons", Journal of the
   American Statistical Association 69, 1974.
.. [4] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality", Biometrika 52, 1965.

.. [5] T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012, section 3.
.. [6] B. W. Silverman, "Using kernel density estimates to investigate multimodality", Journal of the
   Royal Statistical Society B 43, 1981.
.. [7] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix C.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..data.matrix import PerformanceMatrix
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, Value, cautions_of, page, section, table_of
from ..pages.result import Result
from ..stats.arguments import between, checks_arguments, counted, numbers, stream
from ..stats.samples import Array, bandwidth_of, kernel_density, median, read_only


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Give the sizes of samples in rising order, each once."""
    chosen = tuple(sorted(set(sizes)))
    if not chosen:
        raise UsageError("sizes must be whole numbers from 2 on, and there is none")
    return tuple(counted("each of the sizes", size, least=2) for size in chosen)


def checked(values: ArrayLike, least: int, purpose: str) -> Array:
    """Give the values as an array; refuse too few, equal ones, and what is not finite."""
    x = numbers(values, "the values")
    if x.size < least:
        what = f"{purpose} needs {least} values, not {x.size}"
        raise InsufficientDataError(what, n=x.size, needed=least)
    if not np.isfinite(x).all():
        raise AnalysisError(f"{purpose} needs finite values")
    if np.ptp(x) <= 1e-12 * np.abs(x).max():
        raise AnalysisError(f"{purpose} needs values that differ")
    return x


_LILLIEFORS_LEAST = 5
_SHAPIRO_LEAST, _SHAPIRO_MOST = 3, 5000

# Stephens' polynomials in the modified distance, as R's nortest has them: for p above 0.1 only.
_POLYNOMIALS = (
    (0.302, (1.0,)),
    (0.5, (2.76773, -19.828315, 80.709644, -138.55152, 81.218052)),
    (0.9, (-4.901232, 40.662806, -97.490286, 94.029866, -32.355711)),
    (1.31, (6.198765, -19.558097, 23.186922, -12.234627, 2.423045)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityTest:
    """A test of normality; `pvalue` is small when the values do not look normal."""

    method: str
    n: int
    statistic: float
    pvalue: float


def lilliefors(values: ArrayLike) -> NormalityTest:
    """Test normality with mean and variance estimated, by the Kolmogorov-Smirnov distance.

    The p-value is Dallal's and Wilkinson's [2]_ up to 0.1 and a polynomial in Stephens' [3]_
    modified distance above, as R's ``nortest::lillie.test`` has it.
    """
    from scipy.special import ndtr

    x = np.sort(checked(values, _LILLIEFORS_LEAST, "Lilliefors' test"))
    n = x.size
    x = np.ldexp(x, -np.frexp(np.abs(x).max())[1])  # exact, and no square overflows
    p = ndtr((x - x.mean()) / x.std(ddof=1))
    steps = np.arange(1, n + 1)
    distance = float(max((steps / n - p).max(), (p - (steps - 1) / n).max()))
    pvalue = _lilliefors_pvalue(distance, n)
    return NormalityTest(method="Lilliefors", n=n, statistic=distance, pvalue=pvalue)


def _lilliefors_pvalue(distance: float, n: int) -> float:
    d, m = (distance, n) if n <= 100 else (distance * (n / 100) ** 0.49, 100)
    p = math.exp(
        -7.01256 * d**2 * (m + 2.78019)
        + 2.99587 * d * math.sqrt(m + 2.78019)
        - 0.122119
        + 0.974598 / math.sqrt(m)
        + 1.67997 / m
    )
    if p <= 0.1:
        return p
    modified = (math.sqrt(n) - 0.01 + 0.85 / math.sqrt(n)) * distance
    for end, coefficients in _POLYNOMIALS:
        if modified <= end:
            return float(sum(c * modified**k for k, c in enumerate(coefficients)))
    return 0.0


def shapiro(values: ArrayLike) -> NormalityTest:
    """Test normality by Shapiro's and Wilk's W."""
    from scipy.stats import shapiro as wilk

    x = checked(values, _SHAPIRO_LEAST, "Shapiro's test")
    if x.size > _SHAPIRO_MOST:
        fix = f"take at most {_SHAPIRO_MOST}, or Lilliefors' test"
        raise AnalysisError(f"Shapiro's p is not known for {x.size} values", fix=fix)
    statistic, pvalue = map(float, wilk(x / np.abs(x).max()))
    return NormalityTest(method="Shapiro-Wilk", n=x.size, statistic=statistic, pvalue=pvalue)


_SMALLEST = 1e-140  # spread, and one over the largest value: their squares must be numbers


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Plot data: a fitted normal against a kernel density, and the normal probability plot.

    `normal` and `kernel` are densities at `grid` (Gaussian kernel of `bandwidth`, Silverman's
    rule); `ordered` are the values against `quantiles` of the standard normal; `straightness` is
    the correlation of these two, 1 for a straight line.
    """

    mean: float
    sd: float
    bandwidth: float
    grid: Array
    normal: Array
    kernel: Array
    quantiles: Array
    ordered: Array
    straightness: float


def normal_curves(values: ArrayLike, *, points: int = 128) -> Curves:
    """Set a fitted normal against a kernel density, and the values against normal quantiles."""
    from scipy.special import ndtri

    x = np.sort(checked(values, 3, "a density"))
    if not _SMALLEST < np.ptp(x) <= np.abs(x).max() < 1 / _SMALLEST:
        what = f"a density needs values of a usual size, not {x[0]:.3g} to {x[-1]:.3g}"
        raise AnalysisError(what, fix="look for a wrong value, or give the values in another unit")
    mean, sd = float(x.mean()), float(x.std(ddof=1))
    bandwidth = bandwidth_of(x)
    reach = 3 * max(bandwidth, sd / 3)
    grid = np.linspace(x[0] - reach, x[-1] + reach, points)
    kernel = np.zeros(points)
    for chunk in np.array_split(x, max(1, x.size // 4096)):
        kernel += np.exp(-0.5 * ((grid[:, None] - chunk) / bandwidth) ** 2).sum(axis=1)
    kernel /= x.size * bandwidth * math.sqrt(2 * math.pi)
    normal = np.exp(-0.5 * ((grid - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
    quantiles = ndtri((np.arange(1, x.size + 1) - 0.375) / (x.size + 0.25))
    straightness = float(np.corrcoef(quantiles, x)[0, 1])
    for array in (grid, normal, kernel, quantiles, x):
        read_only(array)
    return Curves(mean, sd, bandwidth, grid, normal, kernel, quantiles, x, straightness)


@dataclass(frozen=True, slots=True)
class MeanTrial:
    """Means of samples of one size, drawn from the values with replacement, and their test."""

    size: int
    means: int
    statistic: float
    pvalue: float


MEAN_SIZES = (10, *range(20, 281, 20))  # [5]: fifteen trials, each of 150 means
_MEANS = 150


def mean_sample_size(values: ArrayLike, *, rng: np.random.Generator) -> tuple[MeanTrial, ...]:
    """Draw samples of growing size and test whether their means look normal."""
    tests = ((size, lilliefors(drawn)) for size, drawn in sample_means(values, rng=rng))
    return tuple(MeanTrial(size, _MEANS, test.statistic, test.pvalue) for size, test in tests)


def sample_means(values: ArrayLike, *, rng: np.random.Generator) -> Iterator[tuple[int, Array]]:
    """Draw means of samples of growing size, as multiples of a power of two: a size, its means."""
    x = checked(values, _LILLIEFORS_LEAST, "a study of means")
    x = np.ldexp(x, -np.frexp(np.abs(x).max())[1])  # exact, and no sum overflows
    for size in MEAN_SIZES:
        yield size, x[rng.integers(0, x.size, (_MEANS, size))].mean(axis=1)


def runs_of(matrix: PerformanceMatrix) -> Array:
    """Give all runs of a matrix, each divided by its benchmark's median."""
    return np.concatenate([values / median(values) for values in matrix.samples])


def grown_bandwidth(values: Array) -> float:
    """Give the smallest window whose density has one peak, to 2 % ([5]_, section 3.2).

    The window "is increased until the distribution curve becomes smooth enough", from a small one on;
    smooth is one peak here. A wider window has never more peaks ([6]_), and one of half the range has
    one: so it is found by halving. `values` (shape (n,)): Not all equal. Gives float: In their unit.
    """
    reach = float(np.ptp(values))
    grid = np.linspace(values.min() - reach / 4, values.max() + reach / 4, 256)
    windows = np.multiply.accumulate([reach / 100] + [1.02] * 200)

    def smooth(place: int) -> int:
        slope = np.sign(np.diff(kernel_density(values, grid, windows[place])))
        return int(np.count_nonzero(np.diff(slope[slope != 0])) <= 1)

    return float(windows[bisect_left(range(200), 1, key=smooth)])


_DRAWS = 11  # of a study of means: one alone gives sizes from 10 to none for the same values
_REFERENCES = (
    "H. W. Lilliefors, JASA 62, 1967; G. E. Dallal and L. Wilkinson, Am. Statistician 40, 1986",
    "T. Chen et al., Statistical performance comparisons of computers, HPCA 2012, section 3",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormalityRow:
    """One benchmark's runs, or the medians of all: what is None could not be done (`why`)."""

    name: str
    n: int
    lilliefors: NormalityTest | None
    shapiro: NormalityTest | None
    curves: Curves | None
    why: str | None

    def departs(self, risk: float) -> bool | None:
        """Tell whether Lilliefors' test rejects normality at a risk; None where it was not possible."""
        return None if self.lilliefors is None else self.lilliefors.pvalue <= risk


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityStudy(Result):
    """The studies on one matrix.

    `mean_trials` are those of the first of the `draws`. `enough` is the median over the draws of the size from
    which on means look normal, `enough_low` and `enough_high` the least and the largest; None: beyond the sizes.
    """

    method: ClassVar[str] = "normality"

    name: str
    risk: float
    benchmarks: tuple[NormalityRow, ...]
    suite: NormalityRow
    mean_trials: tuple[MeanTrial, ...]
    enough: int | None
    enough_low: int | None
    enough_high: int | None
    seed: int | None
    draws: int = _DRAWS
    references: tuple[str, ...] = _REFERENCES

    def screen(self) -> Page:
        """Set how many benchmarks depart from a normal law, and a line for each."""

        def look(row: NormalityRow) -> str:
            departs = row.departs(self.risk)
            if departs is None:
                return row.why or "not tested"
            return "not normal" if departs else "no departure seen"

        looks = [row.departs(self.risk) for row in self.benchmarks if row.lilliefors is not None]
        answer = f"{sum(map(bool, looks))} of {len(looks)} benchmarks of {self.name} do not look"
        answer += f" normal; the medians over the suite: {look(self.suite)}"
        write = figures.bare_pvalue
        table = table_of(
            "normality",
            (*self.benchmarks, self.suite),
            ("@", "name"),
            ("n", "n"),
            ("Lilliefors p", lambda row: getattr(row.lilliefors, "pvalue", None), write),
            ("Shapiro p", lambda row: getattr(row.shapiro, "pvalue", None), write),
            ("line", lambda row: getattr(row.curves, "straightness", None), "{:.3f}".format),
            (f"<at {self.risk:g}", look),
        )
        line = "line: correlation of the normal probability plot, 1 when straight"
        means = []
        if self.mean_trials:
            found = from_on(self.enough_low, self.enough, self.enough_high)
            seed = "" if self.seed is None else f", seed {self.seed}"
            trial = f"{self.mean_trials[0].means} means a trial{seed}"
            means = [f"means of runs (relative to their benchmark's median, {trial}) {found}"]
        return page(
            self, f"Normality of {self.name}", answer, section(table, line), section(*means)
        )


FEW_RUNS = 20  # of a benchmark: below, a study says little


@checks_arguments
def normality(
    matrix: PerformanceMatrix,
    *,
    risk: float = 0.05,
    rng: np.random.Generator,
    seed: int | None = None,
) -> NormalityStudy:
    """Study whether the values of a matrix look normal.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    risk : float
        Of calling normal values not normal; in a study of means the trials of a draw share it.
    rng : numpy.random.Generator
        Where the draws of the study of means come from.
    seed : int, optional
        Where `rng` comes from, for the record.

    Raises
    ------
    UsageError
        If the risk does not lie between 0 and 1.
    """
    between("risk", risk)
    rows = tuple(map(_row, matrix.benchmarks, matrix.samples))
    trials: tuple[MeanTrial, ...] = ()
    low = enough = high = missing = None
    try:
        trials, (low, enough, high) = sizes_enough(runs_of(matrix), risk=risk, rng=rng)
    except AnalysisError as error:
        missing = f"no study of means: {error.what}"
    few = tuple(row.name for row in rows if row.n < FEW_RUNS)
    text = f"{len(few)} of {len(rows)} benchmarks have fewer than {FEW_RUNS} runs: tests that do"
    text += " not reject there say little"
    found = {"no-study-of-means": missing, "few-runs": few and (text, *few)}
    return NormalityStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=rows,
        suite=_row("medians", matrix.medians()),
        mean_trials=trials,
        enough=enough,
        enough_low=low,
        enough_high=high,
        seed=seed,
        cautions=(*matrix.cautions, *cautions_of(found)),
    )


def _row(name: str, values: Array) -> NormalityRow:
    found: dict[str, Any] = {"why": None}
    studies: tuple[tuple[str, Callable[[Array], Any]], ...] = (
        ("curves", normal_curves),
        ("shapiro", shapiro),
        ("lilliefors", lilliefors),
    )
    for key, study in studies:
        found[key] = None
        try:
            found[key] = study(values)
        except AnalysisError as error:  # it is not possible
            found["why"] = found["why"] or error.what
    return NormalityRow(name=name, n=values.size, **found)


def sizes_enough(
    values: ArrayLike, *, risk: float, rng: np.random.Generator
) -> tuple[tuple[MeanTrial, ...], tuple[int | None, int | None, int | None]]:
    """Give the trials of the first of 11 draws, and the least, median and largest size from which on means look normal.

    In a draw that is the size after the last whose p is at most risk / 15; None is beyond the sizes.
    """
    draws = [mean_sample_size(values, rng=rng) for _ in range(_DRAWS)]
    found: list[int | None] = []
    for trials in draws:
        low = [k for k, one in enumerate(trials, 1) if one.pvalue <= risk / len(trials)]
        rest = trials[max(low, default=0) :]
        found.append(rest[0].size if rest else None)
    found.sort(key=lambda size: size or math.inf)
    return draws[0], (found[0], found[_DRAWS // 2], found[-1])


def from_on(low: int | None, enough: int | None, high: int | None) -> str:
    """Say from which size on means look normal, and what single draws say."""
    last = MEAN_SIZES[-1]
    head = f"look normal from samples of {enough} on"
    head = f"do not look normal within samples of {last}" if enough is None else head
    ends = (f"more than {last}" if size is None else f"{size}" for size in (low, high))
    return head if low == high else f"{head} ({' to '.join(ends)} in nine of ten draws)"


# --- How many runs a mean needs until its distribution is normal.
#
# The protocol calls a sample large above 30 runs, and its authors looked at where the central limit
# theorem shows in measured programs [7]_. This is their study on any matrix: samples of growing size n, the
# mean and the median of each, and Shapiro's test on the N means and on the N medians.


Draws = Literal["disjoint", "with replacement"]
Estimates = Literal["means", "medians"]
DRAWS: tuple[Draws, ...] = ("disjoint", "with replacement")
ESTIMATES: tuple[Estimates, ...] = ("means", "medians")
_LIMIT_REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report, 2010, appendix C",
    "S. S. Shapiro and M. B. Wilk, Biometrika 52, 1965",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCell:
    """One benchmark at one size: Shapiro's test on the means and on the medians of N samples."""

    size: int
    samples: int
    draws: Draws
    mean: NormalityTest | None
    median: NormalityTest | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitRow:
    """One benchmark; without cells where it has fewer than 5 runs."""

    name: str
    runs: int
    cells: tuple[CentralLimitCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCount:
    """On how many benchmarks means and medians of n runs do not look normal, of how many tested.

    Samples drawn in different ways are never counted together. `by_chance` is the most rejections that
    tests of normal values would show, with a chance of 95 %; the first is for the means.
    """

    size: int
    draws: Draws
    benchmarks: int
    samples_least: int
    samples_most: int
    means_tested: int
    means_not_normal: int
    means_by_chance: int
    medians_tested: int
    medians_not_normal: int
    medians_by_chance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitStudy(Result):
    """The study on one matrix: each benchmark's tests, and their counts by size and drawing.

    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    method: ClassVar[str] = "central-limit-study"

    name: str
    risk: float
    benchmarks: tuple[CentralLimitRow, ...]
    counts: tuple[CentralLimitCount, ...]
    seed: int
    references: tuple[str, ...] = _LIMIT_REFERENCES

    def enough(self, draws: Draws, of: Estimates) -> int | None:
        """Give the smallest size from which on no count exceeds what chance gives; None if none is.

        `draws` says which samples count, `of` which estimates.
        """
        found = None
        for count in reversed([count for count in self.counts if count.draws == draws]):
            if getattr(count, f"{of}_not_normal") > getattr(count, f"{of}_by_chance"):
                break
            if getattr(count, f"{of}_tested"):
                found = count.size
        return found

    def body(self) -> dict[str, Any]:
        """Add the answer: by drawing and estimate, from which size on chance is enough."""
        tried = [draws for draws in DRAWS if any(count.draws == draws for count in self.counts)]
        return Result.body(self) | {
            "enough": {draws: {of: self.enough(draws, of) for of in ESTIMATES} for draws in tried},
        }

    def screen(self) -> Page:
        """Set from which n on samples look normal, and a table for each way to draw them."""

        def samples(one: CentralLimitCount) -> str:
            return figures.span((one.samples_least, one.samples_most)).replace(" to ", "-")

        def not_normal(of: str, one: CentralLimitCount) -> Value:
            found = getattr(one, f"{of}_not_normal")
            return Value(f"{found} of {getattr(one, f'{of}_tested')}", found)

        answers, sections = [], []
        texts: tuple[tuple[Draws, str, str], ...] = (
            (DRAWS[0], "", "disjoint samples"),
            (DRAWS[1], " drawn with replacement", "drawn WITH REPLACEMENT, for want of runs"),
        )
        for draws, kind, where in texts:
            counts = [count for count in self.counts if count.draws == draws]
            if not counts:
                continue
            last, looks = counts[-1].size, []
            for of in ESTIMATES:
                enough = self.enough(draws, of)
                no, yes = f"{of} do not, up to n = {last}", f"{of} do from n = {enough} on"
                looks.append(no if enough is None else yes)
            tried = f"n = {figures.span((counts[0].size, last))}"
            asked = f"do samples of n runs{kind} ({tried}) look normal?"
            answers.append(f"{self.name}: {asked} {', '.join(looks)}")
            table = table_of(
                draws.replace(" ", "-"),
                counts,
                ("n", "size"),
                ("N", samples),
                ("means", partial(not_normal, "means")),
                ("chance", "means_by_chance"),
                ("medians", partial(not_normal, "medians")),
                ("chance", "medians_by_chance"),
            )
            title = f"{where}: where they do not look normal at {self.risk:g}"
            sections.append(section(table, title=title))
        chance = (
            f"as many among normal means at most, 19 times in 20, by the risk {self.risk:g} alone"
        )
        title = f"Central limit theorem on {self.name}"
        return page(self, title, section(*answers), *sections, f"chance: {chance}")


SIZES = tuple(range(5, 101, 5))  # [7] appendix C, as the numbers below
_SAMPLES_LEAST, _SAMPLES_MOST = 10, 500
_RUNS_LEAST = 5


@checks_arguments
def central_limit_study(
    matrix: PerformanceMatrix,
    *,
    sizes: Sequence[int] = SIZES,
    risk: float = 0.05,
    rng: np.random.Generator,
) -> CentralLimitStudy:
    """Test whether means and medians of n runs look normal, for growing n ([7]_, appendix C).

    Where a benchmark has 10 n runs or more, N = min(500, runs // n) disjoint samples of n consecutive
    runs are taken, in the order in which the matrix holds them. With fewer, samples of n runs are drawn
    with replacement, as many as the published limit n N = 1000 allows; they are marked and counted
    apart, because they show how means of these very runs behave, not means of new ones.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    sizes : sequence of int
        The sample sizes n; by default 5, 10, 15 ... 100.
    risk : float
        At or below which p a test rejects.
    rng : numpy.random.Generator
        Where the draws with replacement come from. Each benchmark and size has a stream of its own.

    Raises
    ------
    UsageError
        If the sizes are not whole numbers from 2 on, or the risk does not lie between 0 and 1.
    InsufficientDataError
        If no benchmark has 5 runs.
    """
    between("risk", risk)
    chosen = checked_sizes(sizes)
    if max(matrix.runs) < _RUNS_LEAST:
        what = f"no benchmark has the {_RUNS_LEAST} runs that a study of means needs"
        fix = f"measure {_RUNS_LEAST} runs or more; {_SAMPLES_LEAST * chosen[0]} allow disjoint samples"
        most = max(matrix.runs)
        raise InsufficientDataError(what, matrix.name, fix, n=most, needed=_RUNS_LEAST)
    root = int(rng.integers(2**53))  # so that JSON holds it exactly
    rows = []
    for name, values in zip(matrix.benchmarks, matrix.samples, strict=True):
        sizes = chosen if values.size >= _RUNS_LEAST else ()
        cells = tuple(_cell(values, size, stream(root, name, str(size))) for size in sizes)
        rows.append(CentralLimitRow(name=name, runs=values.size, cells=cells))
    each: dict[tuple[int, Draws], list[CentralLimitCell]]
    each = {(size, draws): [] for size in chosen for draws in DRAWS}
    for cell in (cell for row in rows for cell in row.cells):
        each[cell.size, cell.draws].append(cell)
    counts = tuple(_count(cells, risk) for cells in each.values() if cells)
    return CentralLimitStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=tuple(rows),
        counts=counts,
        seed=root,
        cautions=(*matrix.cautions, *_limit_cautions(rows, counts, chosen)),
    )


def _cell(values: Array, size: int, rng: np.random.Generator) -> CentralLimitCell:
    values = values / values.max()  # so that no sum overflows
    samples, draws = min(_SAMPLES_MOST, values.size // size), DRAWS[0]
    drawn = values[: samples * size].reshape(samples, size)
    if samples < _SAMPLES_LEAST:
        draws = DRAWS[1]
        samples = min(_SAMPLES_MOST, max(_SAMPLES_LEAST, 1000 // size))  # n N as published
        drawn = values[rng.integers(0, values.size, (samples, size))]
    tests: dict[str, Any] = {"mean": None, "median": None, "why": None}
    for name, estimates in (("mean", drawn.mean(axis=1)), ("median", np.median(drawn, axis=1))):
        try:
            tests[name] = shapiro(estimates)
        except AnalysisError as error:
            tests["why"] = tests["why"] or f"{name}s: {error.what}"
    return CentralLimitCell(size=size, samples=samples, draws=draws, **tests)


def _count(here: Sequence[CentralLimitCell], risk: float) -> CentralLimitCount:
    """Sum up the cells of one size that were drawn in one way."""
    samples = [cell.samples for cell in here]
    counts = {"samples_least": min(samples), "samples_most": max(samples)}
    for of in ("mean", "median"):
        ps = [test.pvalue for cell in here if (test := getattr(cell, of)) is not None]
        counts[f"{of}s_tested"] = len(ps)
        counts[f"{of}s_not_normal"] = sum(p <= risk for p in ps)
        counts[f"{of}s_by_chance"] = _by_chance(len(ps), risk)
    return CentralLimitCount(size=here[0].size, draws=here[0].draws, benchmarks=len(here), **counts)


def _by_chance(tested: int, risk: float) -> int:
    from scipy.special import bdtr

    # The allowance keeps one benchmark at 0.05, where P(0) is 0.95 itself, at 0.
    upto = bdtr(np.arange(tested + 1), tested, risk)
    return int(np.searchsorted(upto, 0.95 - 1e-9)) if tested else 0


def _limit_cautions(
    rows: Sequence[CentralLimitRow], counts: Sequence[CentralLimitCount], sizes: Sequence[int]
) -> tuple[Caution, ...]:
    left = tuple(row.name for row in rows if not row.cells)
    again = [count for count in counts if count.draws == "with replacement"]
    disjoint = [count for count in counts if count.draws == "disjoint"]
    untested = sum(cell.why is not None for row in rows for cell in row.cells)
    text = f"left out with fewer than {_RUNS_LEAST} runs: {len(left)} of {len(rows)}"
    table = {
        "few-runs-left-out": left and (text, *left),
        "drawn-with-replacement": again != []
        and f"too few runs for {_SAMPLES_LEAST} disjoint samples of n from n = {again[0].size} on "
        f"({_SAMPLES_LEAST * sizes[-1]} runs allow all sizes): drawn with replacement there. Such samples "
        "share the same few runs, and many medians are the same run: they show how means of these runs "
        "behave, not means of new ones",
        "power-falls": len(disjoint) > 1
        and disjoint[0].samples_most > disjoint[-1].samples_least
        and f"N falls from {disjoint[0].samples_most} to {disjoint[-1].samples_least} as n grows, and "
        "fewer means show less: part of the fall of the counts is lost power, not normality",
        "consecutive-runs": disjoint != []
        and "disjoint samples are consecutive runs: drift and sessions count as departures too",
        "equal-estimates": untested > 0
        and f"{untested} times a test could not be done, as means or medians are equal; these do not count",
    }
    return cautions_of(table)
