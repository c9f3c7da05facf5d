"""Shapiro's and Wilk's test of normality for many samples of one size at once, as R computes it.

scipy's ``shapiro`` agrees with R to about 1e-8, but takes one sample at a time; this form computes
the weights once for a size and tests all rows together.

References
----------
.. [1] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality (complete samples)",
   Biometrika 52, 1965.
.. [2] P. Royston, "Remark AS R94: a remark on algorithm AS 181, the W-test for normality", Applied
   Statistics 44, 1995.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError

__all__ = ["LEAST", "MOST", "shapiro_wilk"]

Array = NDArray[np.float64]
LEAST, MOST = 3, 5000  # the sizes that Royston's approximation serves

# Royston's polynomials, lowest power first: the two outer weights in n^-1/2 ...
_OUTER = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
_NEXT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
# ... the location and log scale of the transformed 1 - W in n (up to 11) and in log n (from 12) ...
_SMALL_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
_SMALL_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
_LOG_SD = (-0.4803, -0.082676, 0.0030302)
# ... and the bound of log(1 - W) in n (up to 11).
_BOUND = (-2.273, 0.459)
_SMALL = 11
_BEYOND_BOUND = 1e-99  # the p that Royston gives there


def shapiro_wilk(rows: Array) -> tuple[Array, Array]:
    """Test the normality of each row.

    Parameters
    ----------
    rows : array of shape (samples, n)
        Finite values.

    Returns
    -------
    statistic, pvalue : arrays of shape (samples,)
        W and its p; nan where all values of a row are equal.

    Raises
    ------
    UsageError
        If n is not in 3..5000.
    """
    n = rows.shape[1]
    if not LEAST <= n <= MOST:
        raise UsageError(f"Shapiro's p is known for {LEAST} to {MOST} values, not for {n}")
    x = np.sort(rows, axis=1)
    spread = x[:, -1] - x[:, 0]
    usable = spread > 0
    x = (x - x[:, :1]) / np.where(usable, spread, 1.0)[:, None]
    x -= x.mean(axis=1, keepdims=True)
    norm = np.sqrt(np.sum(x**2, axis=1, keepdims=True))
    x /= np.where(norm > 0, norm, 1.0)
    weights = _weights(n)
    # A sum over each row, not a matrix product: its last digits do not depend on the other rows.
    cosine = np.sum(x * weights, axis=1)
    # 1 - cos^2 by way of the distance keeps its digits when W is near 1.
    rest = np.sum((x - weights) ** 2, axis=1) / 2 * (1 + cosine)
    rest = np.where(usable, np.clip(rest, np.finfo(float).tiny, 1.0), np.nan)
    return 1 - rest, _pvalue(rest, n)


@lru_cache(maxsize=128)
def _weights(n: int) -> Array:
    """Give the weights of the order statistics, as a unit vector."""
    from scipy.special import ndtri

    half = n // 2
    if n == LEAST:
        upper = np.array([math.sqrt(0.5)])
    else:
        m = -ndtri((np.arange(1, half + 1) - 0.375) / (n + 0.25))  # largest first
        total = 2 * float(np.sum(m**2))
        outer = [_polynomial(_OUTER, n**-0.5) + m[0] / math.sqrt(total)]
        if n > 5:
            outer.append(_polynomial(_NEXT, n**-0.5) + m[1] / math.sqrt(total))
        k = len(outer)
        inner = total - 2 * float(np.sum(m[:k] ** 2))
        share = 1 - 2 * sum(a**2 for a in outer)
        upper = np.concatenate([outer, m[k:] / math.sqrt(inner / share)])
    weights = np.concatenate([-upper, np.zeros(n % 2), upper[::-1]])
    weights /= math.sqrt(float(np.sum(weights**2)))
    weights.flags.writeable = False
    return weights


def _pvalue(rest: Array, n: int) -> Array:
    from scipy.special import ndtr

    if n == LEAST:  # exact: W lies in 3/4..1
        angle = np.arcsin(np.sqrt(1 - rest)) - math.asin(math.sqrt(0.75))
        return np.maximum(0.0, 6 / math.pi * angle)
    y = np.log(rest)
    if n <= _SMALL:
        bound = _polynomial(_BOUND, n)
        beyond = y >= bound
        y = -np.log(np.where(beyond, 1.0, bound - y))
        centre, sd = _polynomial(_SMALL_MEAN, n), math.exp(_polynomial(_SMALL_LOG_SD, n))
        return np.where(beyond, _BEYOND_BOUND, ndtr((centre - y) / sd))
    log_n = math.log(n)
    centre, sd = _polynomial(_MEAN, log_n), math.exp(_polynomial(_LOG_SD, log_n))
    return np.asarray(ndtr((centre - y) / sd))


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return float(sum(c * x**k for k, c in enumerate(coefficients)))
