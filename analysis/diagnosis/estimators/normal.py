"""How far minimum, median and mean of n normal values spread: the reference for real runs.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix A, table 1
   (there by simulation).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...stats import counted, door

__all__ = ["NormalSpread", "normal_spread"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalSpread:
    """Standard deviations of the estimators of n values of the standard normal, by quadrature."""

    size: int
    minimum: float
    median: float
    mean: float


@door
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
    return NormalSpread(size=size, minimum=minimum, median=median, mean=size**-0.5)
