"""How estimators spread over disjoint subsamples of the runs at hand.

References
----------
.. [1] W. Hoeffding, "A class of statistics with asymptotically normal distribution", Annals of
   Mathematical Statistics 19, 1948.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from .result import ESTIMATORS, SizeSpread, Spread

__all__ = ["SUBSAMPLES", "subsample_spread"]

Array = NDArray[np.float64]
SUBSAMPLES = 4000
_CHUNK = 1 << 20  # values shuffled at a time
_APART = 1e300  # a factor between two runs beyond which a relative spread may be no number


def subsample_spread(
    values: Array, sizes: Sequence[int], *, subsamples: int = SUBSAMPLES, rng: np.random.Generator
) -> tuple[SizeSpread, ...]:
    """Spread the three estimators over subsamples of each size, drawn without replacement.

    The values are shuffled and cut into disjoint subsamples; the variance between these, averaged over
    many shuffles, has the variance of the estimator at that size as its expected value [1]_. That
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
