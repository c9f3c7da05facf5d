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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import UsageError
from ....stats import MOST_WORKERS, Progress, at_once, counted, door, in_order, read_only
from ..counts import MOST_COMPONENTS, MOST_STARTS
from ..fitting.fit import fit_mixture
from ..fitting.sample import Sample, prepared
from ..model.mixture import Mixture
from .cautions import ks_cautions
from .clock import jittered
from .result import FitTest, TiesHandling

__all__ = ["MOST_RESAMPLES", "RISKS", "compile_kernels", "ks_fit"]

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
        Portions of the samples at the same time, as in `fit_corpus`: threads unless a
        ``joblib.parallel_config`` around the call says otherwise.
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
    if workers is not None:
        counted("workers", workers, most=MOST_WORKERS)
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
        workers=workers,
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
    workers: int | None,
    progress: Progress | None,
) -> Array:
    """Give the replicates' distances in the order of their seeds."""
    n, total = sample.values.size, seeds.size
    rows = max(1, min(math.ceil(total / (4 * at_once(workers, "threads"))), _CHUNK // n))
    say = progress if progress is not None else lambda _done, _total: None
    portions = in_order(
        partial(_portion, mixture=mixture, n=n, floor=sample.floor, starts=starts, most=most),
        (seeds[low : low + rows] for low in range(0, total, rows)),
        workers=workers,
        prefer="threads",
        ready=compile_kernels,
    )
    found, done = np.empty(total), 0
    with closing(portions):  # what stops the progress stops the workers at once
        for portion in portions:
            found[done : done + portion.size] = portion
            done += portion.size
            say(done, total)
    return found


def _portion(
    seeds: NDArray[np.uint64],
    _going_on: Progress,
    *,
    mixture: Mixture,
    n: int,
    floor: float,
    starts: int,
    most: int,
) -> Array:
    """Give the distances of some replicates."""
    from .kernel import replicate_distances

    found = np.empty(seeds.size)
    parameters = (mixture.weights, mixture.means, mixture.sds)
    replicate_distances(seeds, *parameters, n, floor, starts, most, found)
    return found


def compile_kernels() -> None:
    """Compile what fits and their tests need, or load it where that is done."""
    values = np.array([1.0, 1.1, 1.2, 1.4, 2.0, 2.1])
    mixture = fit_mixture(values, max_components=2)
    ks_fit(
        values,
        mixture,
        resamples=1,
        max_components=2,
        rng=np.random.default_rng(0),
        workers=1,
    )


def _ordered(distances: Array, risk: float) -> float:
    """Give the [N (1 - risk)]-th of the ordered distances, counted from 1."""
    place = math.floor(distances.size * (1 - risk) + _ROUNDING)
    return float(distances[place - 1]) if place > 0 else math.nan
