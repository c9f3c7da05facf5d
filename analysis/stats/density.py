"""The density of a sample as a sum of normal curves.

References
----------
.. [1] B. W. Silverman, "Density estimation for statistics and data analysis", 1986, sections 2.4
   and 3.4.2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["bandwidth_of", "kernel_density"]

Floats = NDArray[np.float64]
_QUARTILES = 1.34  # interquartile range of a normal law, in standard deviations
_REACH = 40.0  # standard deviations beyond which a normal curve is 0 in doubles


def bandwidth_of(values: Floats) -> float:
    """Give the width of each normal curve: 0.9 min(sd, IQR / 1.34) n^(-1/5) ([1]_, equation 3.31).

    Parameters
    ----------
    values : array of float, shape (n,)
        In the unit in which the density is drawn: logs of times, for example.

    Returns
    -------
    float
        0 where all values are equal, or there are fewer than two; the standard deviation alone
        counts where half of the values are equal.
    """
    if values.size < 2:
        return 0.0
    sd = float(values.std(ddof=1))
    low, high = np.quantile(values, [0.25, 0.75])
    spread = float(high - low) / _QUARTILES
    narrow = min(sd, spread) if spread > 0 else sd
    return 0.9 * narrow * math.pow(values.size, -1 / 5)


def kernel_density(values: Floats, at: Floats, bandwidth: float) -> Floats:
    """Give the density at some places ([1]_, section 2.4).

    Parameters
    ----------
    values : array of float, shape (n,)
        The sample.
    at : array of float, shape (k,)
        Where, in the values' unit.
    bandwidth : float
        The standard deviation of each normal curve, above 0.

    Returns
    -------
    array of float, shape (k,)
        Per unit of the values; its integral is 1.
    """
    apart = np.clip((at[:, None] - values[None, :]) / bandwidth, -_REACH, _REACH)
    height = np.exp(-0.5 * apart**2).mean(axis=1) / (bandwidth * math.sqrt(2 * math.pi))
    return np.asarray(height)
