"""How far the minimum, the median and the mean of n runs spread: appendix A of the Speedup-Test.

The report warns against the fastest run as a figure for a program: of normal values the minimum still
varies much when the mean has long settled, and nothing makes a rare fast run come again. Whether that
holds for given runs is looked up here, by resampling them.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix A.
.. [2] W. Hoeffding, "A class of statistics with asymptotically normal distribution", Annals of
   Mathematical Statistics 19, 1948.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...stats import stream
from .normal import normal_spread
from .result import ESTIMATORS, Estimator, EstimatorRow, EstimatorSpread, SizeSpread, Spread

__all__ = ["checked_sizes", "estimator_spread", "subsample_spread"]

Array = NDArray[np.float64]
SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PUBLISHED_SIZES = (20, 50, 100, 1000, 10_000)  # [1] table 1
SUBSAMPLES = 4000
MARGIN = 0.05  # sds closer than this are level: about twice the error of 4000 subsamples
FEW = 20
_CHUNK = 1 << 20  # values shuffled at a time
_APART = 1e300  # a factor between two runs beyond which a relative spread may be no number


def subsample_spread(
    values: Array, sizes: Sequence[int], *, subsamples: int = SUBSAMPLES, rng: np.random.Generator
) -> tuple[SizeSpread, ...]:
    """Spread the three estimators over subsamples of each size, drawn without replacement.

    The values are shuffled and cut into disjoint subsamples; the variance between these, averaged over
    many shuffles, has the variance of the estimator at that size as its expected value [2]_. That
    needs two disjoint subsamples. Draws with replacement, or larger ones, would not do: they meet the
    same few lowest values again and again, which makes the minimum look steady.

    Parameters
    ----------
    values : ndarray, shape (runs,)
        The runs of one benchmark, as a matrix holds them: positive and finite. They count as
        independent.
    sizes : sequence of int
        The sizes; those above half of the runs are left out.
    subsamples : int
        How many at each size, at least.
    rng : numpy.random.Generator
        Where the draws come from.

    Returns
    -------
    tuple of SizeSpread
        One for each size that fits twice.

    Raises
    ------
    AnalysisError
        If two runs lie more than a factor of 1e300 apart.
    """
    base, top = float(values.min()), float(values.max())
    if base < top / _APART:
        raise AnalysisError(
            f"these runs lie too far apart to be compared: {base:.3g} and {top:.3g}",
            fix="look for a wrong value",
        )
    scale = float(np.ptp(values)) or 1.0
    # Deviations from the minimum: equal values give exactly 0, and no unit is too large or too small.
    deviations = (values - base) / scale
    whole = _estimates(deviations[None, :])[:, 0]
    done = []
    for size in sizes:
        if 2 * size > values.size:
            continue
        total, sds, means = _over_shuffles(deviations, size, subsamples, rng)
        rows = {}
        for name, sd, mean, at in zip(ESTIMATORS, sds * scale, means, whole, strict=True):
            bias, value = float(mean - at) * scale, base + float(at) * scale
            rows[name] = Spread(
                estimator=name,
                sd=float(sd),
                bias=bias,
                relative_sd=float(sd) / value,
                relative_bias=bias / value,
            )
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
    """Give minimum, median and mean along the last axis, stacked in this order."""
    return np.stack([samples.min(axis=-1), np.median(samples, axis=-1), samples.mean(axis=-1)])


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
    if subsamples < 2:
        raise UsageError(f"there must be 2 subsamples at least, not {subsamples}")
    given = None if sizes is None else checked_sizes(sizes)
    least = 2 * (SIZES if given is None else given)[0]
    if max(matrix.runs) < least:
        raise InsufficientDataError(
            f"no benchmark has the {least} runs that two disjoint subsamples need",
            matrix.name,
            f"measure {least} runs or more; 40 tell much more",
            n=max(matrix.runs),
            needed=least,
        )
    root = int(rng.integers(2**53))  # so that JSON holds it exactly
    rows = tuple(
        _row(name, values, given, subsamples, stream(root, name))
        for name, values in zip(matrix.benchmarks, matrix.samples, strict=True)
    )
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
        cautions=_cautions(matrix, rows, counts),
    )


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Give the sizes of samples in rising order, each once.

    Raises
    ------
    UsageError
        If there is none, or one is no whole number or below 2.
    """
    chosen = tuple(sorted(set(sizes)))
    if not chosen or chosen[0] < 2 or any(size != int(size) for size in chosen):
        raise UsageError(f"sizes must be whole numbers from 2 on, not {list(sizes)}")
    return tuple(int(size) for size in chosen)


def _row(
    name: str,
    values: Array,
    given: tuple[int, ...] | None,
    subsamples: int,
    rng: np.random.Generator,
) -> EstimatorRow:
    quarter = max(values.size // 4, 2)
    sizes = given or tuple(sorted({*SIZES, min(quarter, SIZES[-1])}))
    spreads = subsample_spread(values, sizes, subsamples=subsamples, rng=rng)
    judged = next(
        (s for s in reversed(spreads) if s.size <= quarter), spreads[0] if spreads else None
    )
    steadiest: Estimator | None = None
    why = None
    if judged is None:
        why = f"needs {2 * sizes[0]} runs"
    elif np.ptp(values) == 0:
        why = "all runs are equal"
    else:
        first, second = sorted(
            (getattr(judged, key) for key in ESTIMATORS), key=lambda s: s.relative_sd
        )[:2]
        if first.relative_sd < (1 - MARGIN) * second.relative_sd:
            steadiest = first.estimator
    base, reach = float(values.min()), float(np.ptp(values)) or 1.0
    deviations = (values - base) / reach  # as in `subsample_spread`
    return EstimatorRow(
        name=name,
        runs=values.size,
        minimum=base,
        median=float(np.median(values)),
        mean=base + reach * float(deviations.mean()),
        run_sd=reach * float(deviations.std(ddof=1)) if values.size > 1 else None,
        sizes=spreads,
        judged=None if judged is None else judged.size,
        steadiest=steadiest,
        why=why,
    )


def _cautions(
    matrix: PerformanceMatrix, rows: Sequence[EstimatorRow], counts: dict[Estimator, int]
) -> tuple[str, ...]:
    cautions = list(matrix.cautions)
    few = sum(row.runs < FEW for row in rows)
    if few:
        cautions.append(
            f"{few} of {len(rows)} benchmarks have fewer than {FEW} runs: their figures rest on few "
            "values, those of the minimum on the lowest two or three"
        )
    if counts["minimum"]:
        cautions.append(
            "a steady minimum says that low runs come often here; it does not make the minimum what "
            "a user meets, nor the run with the least noise"
        )
    if matrix.sessions is not None and any(np.unique(ids).size > 1 for ids in matrix.sessions):
        cautions.append(
            "subsamples mix the runs of all sessions: n runs of one single session spread otherwise"
        )
    if matrix.better == "higher":
        cautions.append(
            "larger values are better here, so the minimum is the worst run, not the best"
        )
    return tuple(cautions)
