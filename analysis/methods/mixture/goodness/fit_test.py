"""Does a mixture of Gaussians fit? The Kolmogorov-Smirnov distance, calibrated by bootstrap.

The distance between the values and a mixture fitted to them is smaller than to the law that they
come from, so the usual table never rejects. Here samples are drawn from the fitted mixture, and each
goes through the whole procedure again: number of components and variances are chosen anew, and its
distance taken ([1]_, section 5.1).

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 5.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import UsageError
from ....stats import counted, door, read_only
from ..counts import MOST_COMPONENTS, MOST_STARTS, MOST_WORKERS
from ..fitting.fit import fit_mixture
from ..fitting.sample import Sample, prepared
from ..model.mixture import Mixture
from ..parallel import Progress, available_cores, in_order
from .cautions import ks_cautions
from .clock import jittered
from .result import FitTest, TiesHandling

__all__ = ["MOST_RESAMPLES", "RISKS", "ks_fit"]

Array = NDArray[np.float64]

RISKS = (0.1, 0.05, 0.01)
MOST_RESAMPLES = 10_000_000
_FAILED = 1.0  # the distance of a replicate that no candidate fits: the largest there is
_ROUNDING = 1e-9
_CHUNK = 8000  # values drawn in one go; between two goes a run can be interrupted


@door
def ks_fit(
    values: ArrayLike,
    mixture: Mixture,
    *,
    resamples: int = 500,
    max_components: int = 9,
    rng: np.random.Generator,
    workers: int | None = None,
    ties: TiesHandling = "as-measured",
    resolution: float | None = None,
    starts: int = 1,
    variance_floor: float = 0.0,
    progress: Progress | None = None,
) -> FitTest:
    """Test whether values come from a mixture of Gaussians (section 5.1).

    Hypothesis: the values are a sample of some mixture of at most `max_components` Gaussians,
    against everything else. N samples of the same size are drawn from `mixture`, fitted by
    `fit_mixture` with K and variances chosen anew, and their distances taken.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least 2 finite values, those to which the mixture was fitted, in the same unit.
    mixture : Mixture
        The fit. One of logarithms is tested on logarithms.
    resamples : int
        N, the number of samples drawn. The paper asks for 200 at least.
    max_components, starts, variance_floor : int, int, float
        As in the fit: each drawn sample must be fitted as the values were.
    rng : numpy.random.Generator
        Where the samples come from. The result depends on it alone, not on `workers`.
    workers : int, optional
        Threads; as many as there are processors for this process unless given.
    ties : {"as-measured", "jitter"}
        The test is one for continuous values, and rejects too often when many tie. "jitter" moves
        every value by a uniform share of the clock's step (half a step at most), fits the moved
        values anew, and tests that fit.
    resolution : float, optional
        The clock's step for "jitter", in the values' unit; unless given, the greatest step of which
        all differences are multiples.
    progress : callable, optional
        Called now and then, in the caller's thread, with the replicates done and N. What it raises
        ends the test.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    InsufficientDataError, AnalysisError
        As `fit_mixture`; also if values tie without a common step and none is given.
    """
    from .kernel import ks_distance

    count = counted("resamples", resamples, most=MOST_RESAMPLES)
    most = counted("max_components", max_components, most=MOST_COMPONENTS)
    further = counted("starts", starts, most=MOST_STARTS)
    threads = (
        available_cores() if workers is None else counted("workers", workers, most=MOST_WORKERS)
    )
    if ties not in ("as-measured", "jitter"):
        raise UsageError(f"ties must be 'as-measured' or 'jitter', not {ties!r}")
    if resolution is not None and ties != "jitter":
        raise UsageError("resolution is the step of jitter", fix='take ties="jitter"')
    # any floor: whether equal values are an error is decided after the jitter
    measured = prepared(values, variance_floor=1.0).values
    repeats = np.unique(measured, return_counts=True)[1]
    moved, tested, step = measured, mixture, None
    options: dict[str, Any] = {"variance_floor": variance_floor, "scale": mixture.scale}
    if ties == "jitter":
        moved, step = jittered(measured, resolution, rng)
        tested = fit_mixture(moved, max_components=most, starts=further, rng=rng, **options)
    sample = prepared(moved, **options)
    seeds = rng.integers(0, 2**64, size=count, dtype=np.uint64)
    found = _distances(
        tested,
        sample,
        seeds,
        starts=further,
        most=most,
        threads=threads,
        progress=progress,
    )
    failed = int(np.isnan(found).sum())
    found = read_only(np.sort(np.where(np.isnan(found), _FAILED, found)))
    statistic = float(ks_distance(sample.values, tested.weights, tested.means, tested.sds))
    result = FitTest(
        statistic=statistic,
        pvalue=(count - int(np.searchsorted(found, statistic)) + 1) / (count + 1),
        pvalue_published=(count - int(np.searchsorted(found, statistic, "right"))) / count,
        critical={risk: _ordered(found, risk) for risk in RISKS},
        failed_fits=failed,
        resamples=count,
        max_components=most,
        n=measured.size,
        mixture=tested,
        distances=found,
        ties=ties,
        resolution=step,
        distinct=repeats.size,
        largest_tie=int(repeats.max()),
    )
    return replace(result, cautions=tuple(ks_cautions(result, mixture)))


def _distances(
    mixture: Mixture,
    sample: Sample,
    seeds: NDArray[np.uint64],
    *,
    starts: int,
    most: int,
    threads: int,
    progress: Progress | None,
) -> Array:
    """Give the replicates' distances in the order of their seeds."""
    from .kernel import replicate_distances

    n, total = sample.values.size, seeds.size
    found = np.empty(total)
    rows = max(1, min(math.ceil(total / (4 * threads)), _CHUNK // n))
    parameters = (mixture.weights, mixture.means, mixture.sds)
    say = progress if progress is not None else lambda _done, _total: None

    def run(low: int, _progress: Progress) -> int:
        part = slice(low, low + rows)
        replicate_distances(seeds[part], *parameters, n, sample.floor, starts, most, found[part])
        return min(low + rows, total)

    portions = range(0, total, rows)
    if threads == 1:  # as one of many samples at work at the same time
        done = (run(low, say) for low in portions)
    else:
        done = in_order(run, portions, threads=threads)
    with closing(done):  # what stops the progress stops the threads at once
        for count in done:
            say(count, total)
    return found


def _ordered(distances: Array, risk: float) -> float:
    """Give the [N (1 - risk)]-th of the ordered distances, counted from 1."""
    place = math.floor(distances.size * (1 - risk) + _ROUNDING)
    return float(distances[place - 1]) if place > 0 else math.nan
