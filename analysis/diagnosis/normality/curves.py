"""A fitted normal against a kernel density, and the normal probability plot: plot data.

References
----------
.. [1] T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012, section 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError
from .values import checked

__all__ = ["Curves", "normal_curves"]

Array = NDArray[np.float64]
LEAST = 3
_SMALLEST = 1e-140  # spread, and one over the largest value: their squares must be numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    """Set a fitted normal against a kernel density, and the values against normal quantiles.

    Raises
    ------
    InsufficientDataError
        With fewer than 3 values.
    AnalysisError
        If all values are equal, or one is not finite.
    """
    from scipy.special import ndtri

    x = np.sort(checked(values, LEAST, "a density"))
    if not _SMALLEST < np.ptp(x) <= np.abs(x).max() < 1 / _SMALLEST:
        raise AnalysisError(
            f"a density needs values of a usual size, not {x[0]:.3g} to {x[-1]:.3g}",
            fix="look for a wrong value, or give the values in another unit",
        )
    mean, sd = float(x.mean()), float(x.std(ddof=1))
    low, high = np.quantile(x, [0.25, 0.75])
    spread = min(sd, float(high - low) / 1.34) or sd
    bandwidth = 0.9 * spread * x.size**-0.2
    reach = 3 * max(bandwidth, sd / 3)
    grid = np.linspace(x[0] - reach, x[-1] + reach, points)
    kernel = np.zeros(points)
    for chunk in np.array_split(x, max(1, x.size // 4096)):
        kernel += np.exp(-0.5 * ((grid[:, None] - chunk) / bandwidth) ** 2).sum(axis=1)
    kernel /= x.size * bandwidth * math.sqrt(2 * math.pi)
    normal = np.exp(-0.5 * ((grid - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
    quantiles = ndtri((np.arange(1, x.size + 1) - 0.375) / (x.size + 0.25))
    for array in (grid, normal, kernel, quantiles, x):
        array.flags.writeable = False
    return Curves(
        mean=mean,
        sd=sd,
        bandwidth=bandwidth,
        grid=grid,
        normal=normal,
        kernel=kernel,
        quantiles=quantiles,
        ordered=x,
        straightness=float(np.corrcoef(quantiles, x)[0, 1]),
    )
