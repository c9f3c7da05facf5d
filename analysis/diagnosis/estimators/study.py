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

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import InsufficientDataError
from ...report import Caution
from ...stats import counted, door, median, stream
from ..sizes import checked_sizes
from .normal import normal_spread
from .result import ESTIMATORS, Estimator, EstimatorRow, EstimatorSpread
from .subsamples import SUBSAMPLES, subsample_spread

__all__ = ["estimator_spread"]

Array = NDArray[np.float64]
SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PUBLISHED_SIZES = (20, 50, 100, 1000, 10_000)  # [1] table 1
MARGIN = 0.05  # sds closer than this are level: about twice the error of 4000 subsamples
FEW = 20


@door
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
        cautions=(*matrix.cautions, *_cautions(matrix, rows, counts)),
    )


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
        median=float(median(values)),
        mean=base + reach * float(deviations.mean()),
        run_sd=reach * float(deviations.std(ddof=1)) if values.size > 1 else None,
        sizes=spreads,
        judged=None if judged is None else judged.size,
        steadiest=steadiest,
        why=why,
    )


def _cautions(
    matrix: PerformanceMatrix, rows: Sequence[EstimatorRow], counts: Mapping[Estimator, int]
) -> Iterator[Caution]:
    few = tuple(row.name for row in rows if row.runs < FEW)
    if few:
        yield Caution(
            "few-runs",
            f"{len(few)} of {len(rows)} benchmarks have fewer than {FEW} runs: their figures rest on "
            "few values, those of the minimum on the lowest two or three",
            few,
        )
    if counts["minimum"]:
        yield Caution(
            "steady-minimum",
            "a steady minimum says that low runs come often here; it does not make the minimum what "
            "a user meets, nor the run with the least noise",
            tuple(row.name for row in rows if row.steadiest == "minimum"),
        )
    if matrix.sessions is not None and any(np.unique(ids).size > 1 for ids in matrix.sessions):
        yield Caution(
            "sessions-mixed",
            "subsamples mix the runs of all sessions: n runs of one single session spread otherwise",
        )
    if matrix.better == "higher":
        yield Caution(
            "minimum-is-worst",
            "larger values are better here, so the minimum is the worst run, not the best",
        )
