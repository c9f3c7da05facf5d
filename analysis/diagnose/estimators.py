"""How much the minimum, the median and the mean vary from sample to sample.

The report warns against the fastest run as a figure for a program: of normal values the minimum still
varies much when the mean has long settled, and nothing makes a rare fast run come again. Whether that
holds for given runs is looked up here, by resampling them.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix A (table 1, there
   by simulation).
.. [2] W. Hoeffding, "A class of statistics with asymptotically normal distribution", Annals of
   Mathematical Statistics 19, 1948.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import median
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..errors import AnalysisError, InsufficientDataError
from ..pages import model as pages, number_format as figures
from ..pages.result import Result
from ..stats.arguments import checks_arguments, counted, stream
from ..stats.samples import Array, median as array_median
from .normality import FEW_RUNS, checked_sizes


@dataclass(frozen=True, slots=True)
class NormalSpread:
    """Standard deviations of the estimators of n values of the standard normal, by quadrature."""

    size: int
    minimum: float
    median: float
    mean: float


@checks_arguments
@lru_cache(maxsize=256)
def normal_spread(size: int) -> NormalSpread:
    """Give the standard deviations of minimum, median and mean of `size` standard normal values.

    Trapezoid sums over the densities of order statistics, which decay fast on both sides: exact to about
    12 digits. The middle two values of an even size are integrated jointly, over their mid-point and half gap.

    Parameters
    ----------
    size : int
        How many values, at least 1.

    Raises
    ------
    UsageError
        If `size` is below 1.
    """
    from scipy.special import log_ndtr

    counted("size", size)

    def sd(x: Array, log_density: Array) -> float:
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        at = float((weight * x).sum())
        return float(np.sqrt((weight * (x - at) ** 2).sum()))

    x = np.linspace(-12.0, 12.0, 8001)
    minimum = sd(x, (size - 1) * log_ndtr(-x) - x**2 / 2)
    middle = np.linspace(-15.0, 15.0, 501) / np.sqrt(size)
    half = (size - 1) // 2  # values below the middle one, or below the middle two
    if size % 2:
        log_density = half * (log_ndtr(middle) + log_ndtr(-middle)) - middle**2 / 2
        median = sd(middle, log_density)
    else:
        nodes, weights = np.polynomial.legendre.leggauss(96)
        reach = min(9.0, 60.0 / size)  # the gap falls like exp(-0.8 size gap), or faster
        gap, centre = (nodes + 1) / 2 * reach, middle[:, None]
        low, high = centre - gap, centre + gap
        log_density = half * (log_ndtr(low) + log_ndtr(-high)) - (low**2 + high**2) / 2
        median = sd(np.broadcast_to(centre, log_density.shape), log_density + np.log(weights))
    return NormalSpread(size, minimum, median, size**-0.5)


Estimator = Literal["minimum", "median", "mean"]
ESTIMATORS: tuple[Estimator, ...] = ("minimum", "median", "mean")
_REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report, 2010, appendix A",
    "W. Hoeffding, Annals of Mathematical Statistics 19, 1948 (means over subsamples)",
)


@dataclass(frozen=True, slots=True)
class Spread:
    """How one estimator of n runs varies around its value on all runs, in the unit of the runs."""

    estimator: Estimator
    sd: float
    bias: float
    relative_sd: float
    relative_bias: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSpread:
    """The three estimators at one subsample size."""

    size: int
    subsamples: int
    minimum: Spread
    median: Spread
    mean: Spread

    def of(self, estimator: Estimator) -> Spread:
        """Give one of the three."""
        found: Spread = getattr(self, estimator)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorRow:
    """One benchmark: its estimates from all runs, the sd of a run, and the spread by size.

    `steadiest` has the least relative sd at the size `judged`; None when two are level or nothing
    varies. `why` says why there are no sizes, or that nothing varies.
    """

    name: str
    runs: int
    minimum: float
    median: float
    mean: float
    run_sd: float | None
    sizes: tuple[SizeSpread, ...]
    judged: int | None
    steadiest: Estimator | None
    why: str | None

    def at(self, size: int | None) -> SizeSpread | None:
        """Give the spread at a size, None where the benchmark has no such size."""
        return next((spread for spread in self.sizes if spread.size == size), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorSpread(Result):
    """The spread of minimum, median and mean over the benchmarks of one matrix.

    `steadiest` is what is the steadiest on more than half of the benchmarks, None when no one estimator
    is; `counts` says on how many. `normal` holds the reference at every size that was used and at those published.
    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    method: ClassVar[str] = "estimator-spread"

    name: str
    unit: str
    benchmarks: tuple[EstimatorRow, ...]
    steadiest: Estimator | None
    counts: Mapping[Estimator, int]
    normal: tuple[NormalSpread, ...]
    seed: int
    references: tuple[str, ...] = _REFERENCES

    @property
    def varying(self) -> list[tuple[EstimatorRow, SizeSpread]]:
        """The benchmarks whose estimates vary at the size at which they are judged, with their spread there."""
        each = ((row, row.at(row.judged)) for row in self.benchmarks)
        return [(row, at) for row, at in each if at is not None and at.mean.sd > 0]

    def screen(self) -> pages.Page:
        """Set the steadiest estimators, then a line for each benchmark and each number of runs."""
        by_benchmark = (
            "sd of the estimate from n runs, and its bias, relative to its value on all runs"
        )
        by_size = "sd in sds of one run, median over the benchmarks; in brackets of normal values"

        def part(heading: str, name: Estimator, figure: str) -> tuple[Any, ...]:
            def share(row: EstimatorRow) -> float | None:
                at = row.at(row.judged)
                return None if at is None else getattr(at.of(name), figure)

            return heading, share, lambda value: f"{figures.significant(100 * value)} %"

        def steadiest(row: EstimatorRow) -> str:
            if row.judged is None:
                return row.why or ""
            return row.steadiest or ("all equal" if row.why else "none")

        # at sizes that a third of the varying benchmarks have, or that none has
        varying = [row for row, _ in self.varying]
        by_n = []
        for normal in self.normal:
            each = ((row.at(normal.size), row.run_sd or 1.0) for row in varying)
            here = [(at, sd) for at, sd in each if at is not None]
            if not here or 3 * len(here) >= len(varying):
                by_n.append((normal, here))

        def growth(name: Estimator, row: tuple[NormalSpread, list[Any]]) -> pages.Value:
            normal, here = row
            sd = median(at.of(name).sd / of_run for at, of_run in here) if here else None
            text = pages.value_of(sd, "{:.3f}".format).text
            return pages.Value(f"{text} ({getattr(normal, name):.3f})", sd)

        benchmarks = pages.table_of(
            "benchmarks",
            self.benchmarks,
            ("@", "name"),
            ("runs", "runs"),
            ("n", lambda row: getattr(row.at(row.judged), "size", None)),
            *(part(name, name, "relative_sd") for name in ESTIMATORS),
            part("bias: min.", "minimum", "relative_bias"),
            part("median", "median", "relative_bias"),
            ("<steadiest", steadiest),
        )
        sizes = pages.table_of(
            "growth",
            by_n,
            ("n", lambda row: row[0].size),
            ("benchmarks", lambda row: len(row[1]), lambda count: str(count or "-")),
            *((name, partial(growth, name)) for name in ESTIMATORS),
        )
        parts = (
            pages.section(*_steadiest(self)),
            pages.section(benchmarks, by_benchmark),
            pages.section(sizes, by_size),
        )
        return pages.page(self, f"Estimators of {self.name}", *parts)


SUBSAMPLES = 4000
_CHUNK = 1 << 20  # values shuffled at a time


def subsample_spread(
    values: Array, sizes: Sequence[int], *, subsamples: int = SUBSAMPLES, rng: np.random.Generator
) -> tuple[SizeSpread, ...]:
    """Spread the three estimators over subsamples of each size, drawn without replacement.

    The values are shuffled and cut into disjoint subsamples; the variance between these, averaged over
    many shuffles, has the variance of the estimator at that size as its expected value [2]_. That
    needs two disjoint subsamples. Draws with replacement, or larger ones, would not do: they meet the
    same few lowest values again and again, which makes the minimum look steady.
    """
    base, top = float(values.min()), float(values.max())
    if base < top / 1e300:  # a relative spread may be no number
        what = f"these runs lie too far apart to be compared: {base:.3g} and {top:.3g}"
        raise AnalysisError(what, fix="look for a wrong value")
    scale = float(np.ptp(values)) or 1.0
    # Deviations from the minimum: equal values give exactly 0, and no unit is too large or too small.
    deviations = (values - base) / scale
    whole = _estimates(deviations[None, :])[:, 0]
    done = []
    for size in (size for size in sizes if 2 * size <= values.size):
        total, sds, means = _over_shuffles(deviations, size, subsamples, rng)
        rows = {}
        for name, sd, mean, at in zip(ESTIMATORS, sds * scale, means, whole, strict=True):
            bias, value = float(mean - at) * scale, base + float(at) * scale
            rows[name] = Spread(name, float(sd), bias, float(sd) / value, bias / value)
        done.append(SizeSpread(size=size, subsamples=total, **rows))
    return tuple(done)


def _over_shuffles(
    values: Array, size: int, subsamples: int, rng: np.random.Generator
) -> tuple[int, Array, Array]:
    """Give how many subsamples were drawn, and the sds and means of the estimates over them."""
    blocks = values.size // size
    shuffles = max(1, -(-subsamples // blocks))
    at_once = max(1, _CHUNK // values.size)
    variance, mean = np.zeros(3), np.zeros(3)
    for start in range(0, shuffles, at_once):
        some = min(at_once, shuffles - start)
        drawn = rng.permuted(np.tile(values, (some, 1)), axis=1)[:, : blocks * size]
        estimates = _estimates(drawn.reshape(some, blocks, size))
        variance += estimates.var(axis=2, ddof=1).sum(axis=1)
        mean += estimates.mean(axis=2).sum(axis=1)
    return shuffles * blocks, np.sqrt(variance / shuffles), mean / shuffles


def _estimates(samples: Array) -> Array:
    return np.stack([samples.min(axis=-1), np.median(samples, axis=-1), samples.mean(axis=-1)])


_SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PUBLISHED_SIZES = (20, 50, 100, 1000, 10_000)  # [1] table 1
_MARGIN = 0.05  # sds closer than this are level: about twice the error of 4000 subsamples


@checks_arguments
def estimator_spread(
    matrix: PerformanceMatrix,
    *,
    sizes: Sequence[int] | None = None,
    subsamples: int = SUBSAMPLES,
    rng: np.random.Generator,
) -> EstimatorSpread:
    """Compare minimum, median and mean as estimators, on the runs of each benchmark ([1]_, appendix A).

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    sizes : sequence of int, optional
        How many runs a subsample has; by default 2, 5, 10, 20, 50 ... 10,000 and a quarter of the
        runs. A benchmark takes part with the sizes up to half of its runs, and is judged at the
        largest up to a quarter: above, the spread rests on too few low values.
    subsamples : int
        How many subsamples at each size, at least.
    rng : numpy.random.Generator
        Where the draws come from. Each benchmark has a stream of its own, so leaving one out does not
        change the others.

    Raises
    ------
    UsageError
        If the sizes are not whole numbers from 2 on, or `subsamples` is below 2.
    InsufficientDataError
        If no benchmark has enough runs for two disjoint subsamples of the smallest size.
    AnalysisError
        If two runs of a benchmark lie more than a factor of 1e300 apart.
    """
    counted("subsamples", subsamples, least=2)
    given = None if sizes is None else checked_sizes(sizes)
    least, most = 2 * (given or _SIZES)[0], max(matrix.runs)
    if most < least:
        what = f"no benchmark has the {least} runs that two disjoint subsamples need"
        fix = f"measure {least} runs or more; 40 tell much more"
        raise InsufficientDataError(what, matrix.name, fix, n=most, needed=least)
    root = int(rng.integers(2**53))  # so that JSON holds it exactly

    def row_of(name: str, values: Array) -> EstimatorRow:
        quarter = max(values.size // 4, 2)
        sizes = given or sorted({*_SIZES, min(quarter, _SIZES[-1])})
        own = stream(root, name)
        spreads = subsample_spread(values, sizes, subsamples=subsamples, rng=own)
        judged = [s for s in spreads if s.size <= quarter][-1:] or spreads[:1]
        steadiest: Estimator | None = None
        why = None if judged else f"needs {2 * sizes[0]} runs"
        if judged and np.ptp(values) == 0:
            why = "all runs are equal"
        elif judged:
            each = sorted(map(judged[0].of, ESTIMATORS), key=lambda spread: spread.relative_sd)
            if each[0].relative_sd < (1 - _MARGIN) * each[1].relative_sd:
                steadiest = each[0].estimator
        base, reach = float(values.min()), float(np.ptp(values)) or 1.0
        deviations = (values - base) / reach  # as in `subsample_spread`
        return EstimatorRow(
            name=name,
            runs=values.size,
            minimum=base,
            median=float(array_median(values)),
            mean=base + reach * float(deviations.mean()),
            run_sd=reach * float(deviations.std(ddof=1)) if values.size > 1 else None,
            sizes=spreads,
            judged=judged[0].size if judged else None,
            steadiest=steadiest,
            why=why,
        )

    rows = tuple(map(row_of, matrix.benchmarks, matrix.samples))
    counts = {name: sum(row.steadiest == name for row in rows) for name in ESTIMATORS}
    leading = [name for name in ESTIMATORS if 2 * counts[name] > len(rows)]
    used = {size.size for row in rows for size in row.sizes}
    return EstimatorSpread(
        name=matrix.name,
        unit=matrix.unit,
        benchmarks=rows,
        steadiest=leading[0] if leading else None,
        counts=counts,
        normal=tuple(normal_spread(size) for size in sorted(used | set(PUBLISHED_SIZES))),
        seed=root,
        cautions=(*matrix.cautions, *_cautions(matrix, rows, counts)),
    )


def _cautions(
    matrix: PerformanceMatrix, rows: Sequence[EstimatorRow], counts: Mapping[Estimator, int]
) -> tuple[pages.Caution, ...]:
    few = tuple(row.name for row in rows if row.runs < FEW_RUNS)
    lowest = tuple(row.name for row in rows if row.steadiest == "minimum")
    text = (
        f"{len(few)} of {len(rows)} benchmarks have fewer than {FEW_RUNS} runs: their figures rest"
    )
    steady = (
        "a steady minimum says that low runs come often here; it does not make the minimum what"
    )
    table = {
        "few-runs": few
        and (f"{text} on few values, those of the minimum on the lowest two or three", *few),
        "steady-minimum": counts["minimum"] > 0
        and (f"{steady} a user meets, nor the run with the least noise", *lowest),
        "sessions-mixed": any(np.unique(ids).size > 1 for ids in matrix.sessions or ())
        and "subsamples mix the runs of all sessions: n runs of one single session spread otherwise",
        "minimum-is-worst": matrix.better == "higher"
        and "larger values are better here, so the minimum is the worst run, not the best",
    }
    return pages.cautions_of(table)


def _steadiest(study: EstimatorSpread) -> Iterator[str]:
    total = len(study.benchmarks)
    rest = total - sum(study.counts.values())
    on = [f"the {name} on {n}" for name, n in study.counts.items() if n]
    on += [f"none on {rest}"] if rest else []
    start = f"no one estimator is the steadiest on {study.name}"
    if study.steadiest is not None:
        start = f"the {study.steadiest} is the steadiest estimator on {study.name}"
    yield f"{start}: {', '.join(on)} of {figures.counted(total, 'benchmark')}"
    if spreads := [at for _, at in study.varying]:
        compared = [
            f"the {name} varies {figures.significant(ratio)} times as much"
            for name in ESTIMATORS[:2]
            for ratio in (median(at.of(name).relative_sd / at.mean.relative_sd for at in spreads),)
        ]
        over = "(relative; median over the benchmarks)"
        yield f"compared with the mean, {' and '.join(compared)} {over}"
