"""Quantiles as weighted means of all ordered values.

References
----------
.. [1] F. E. Harrell, C. E. Davis, "A new distribution-free quantile estimator", Biometrika 69, 1982,
   section 2.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from ..errors import InsufficientDataError, UsageError
from .arrays import read_only

__all__ = ["harrell_davis"]

Floats = NDArray[np.float64]


def harrell_davis(values: Floats, shares: tuple[float, ...]) -> Floats:
    """Estimate quantiles ([1]_, section 2): smoother than single order statistics of few runs.

    Parameters
    ----------
    values : array of float, shape (n,)
        Finite values in any unit.
    shares : tuple of float, length k
        Which quantiles, each between 0 and 1, ends excluded.

    Returns
    -------
    array of float, shape (k,)
        In the values' unit.

    Raises
    ------
    UsageError
        If a share is not between 0 and 1.
    InsufficientDataError
        If there is no value.
    """
    if not all(0 < share < 1 for share in shares):
        raise UsageError(f"shares must lie between 0 and 1, not {shares}")
    if values.size == 0:
        raise InsufficientDataError("there is no value to take quantiles of", n=0, needed=1)
    ordered = np.sort(values)
    found = _weights(ordered.size, shares) @ ordered
    # rounding must not leave the range of the values
    return np.asarray(np.clip(found, ordered[0], ordered[-1]))


@functools.lru_cache(maxsize=256)
def _weights(n: int, shares: tuple[float, ...]) -> Floats:
    """Give the weight of each order statistic, shape (k, n): a beta law's steps."""
    p = np.array(shares)[:, None]
    steps = betainc((n + 1) * p, (n + 1) * (1 - p), np.arange(n + 1) / n)
    return read_only(np.diff(steps, axis=1))
