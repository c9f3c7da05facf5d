"""The smallest shift that a t test tells with a given power, by integration over chi.

The noncentral t distribution of a library is not used: scipy's gives nan in its lower tail at a
quarter of the freedoms and shifts that a plan meets, and breaks root searches there.

References
----------
.. [1] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2,
   2nd ed., 1995, chapter 31 (noncentral t as a normal over an independent chi).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, gammaln, ndtr, stdtrit

from ..errors import UsageError

__all__ = ["least_shift"]

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_FAR = 9.0  # standard deviations of a normal beyond which less than 1e-18 of it lies
_TAIL = 1e-18  # of chi that is left out at either end
_STEPS = 48  # halvings of a bracket: 1e-13 of it


def least_shift(power: float, freedom: ArrayLike, alpha: float) -> Floats:
    """Give the smallest shift, in standard errors, that a two-sided t test tells with this power.

    Parameters
    ----------
    power : float
        The chance that the test rejects, in either tail; between `alpha` and 1.
    freedom : array_like
        Degrees of freedom of the standard error, at least 1.
    alpha : float
        Risk of the test, between 0 and 1.

    Returns
    -------
    array
        In the shape of `freedom`: the noncentrality, right to 1e-9 for whole freedoms.

    Raises
    ------
    UsageError
        If an argument is out of range.

    Notes
    -----
    T = (Z + shift) / U with U^2 a chi square over its freedom, so P(T > c) is the mean over U of
    the normal probability of (shift - c U) [1]_. The integral is cut into panels where the normal
    steps, and each is done by Gauss and Legendre. The shift is found by halving.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, and is {alpha!r}")
    if not alpha < power < 1:
        raise UsageError(f"power must lie between alpha, {alpha!r}, and 1, and is {power!r}")
    degrees = np.asarray(freedom, dtype=np.float64)
    if not ((degrees >= 1).all() and np.isfinite(degrees).all()):
        raise UsageError("degrees of freedom must be finite and at least 1")
    quantile: Floats = np.asarray(stdtrit(degrees, 1 - alpha / 2))
    low = np.zeros_like(degrees)
    high = np.full_like(degrees, _FAR) + quantile * np.sqrt(chdtri(degrees, 1 - power) / degrees)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        reached = _beyond(middle, degrees, quantile) + _beyond(-middle, degrees, quantile)
        enough = reached >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return (low + high) / 2


def _beyond(shift: Floats, freedom: Floats, quantile: Floats) -> Floats:
    """Integrate P(Z + shift > quantile * u) over the density of u = chi / sqrt(freedom)."""
    ends = (np.sqrt(chdtri(freedom, tail) / freedom) for tail in (1 - 1e-16, _TAIL))
    least, most = (np.asarray(end) for end in ends)
    least = np.where(freedom < 50, 0.0, least)
    steps = [(shift + far) / quantile for far in (-_FAR, -_FAR / 3, 0.0, _FAR / 3, _FAR)]
    edges = [least, *(least + share * (most - least) for share in (0.25, 0.5, 0.75)), most]
    cuts = np.sort(np.clip(np.stack([*edges, *steps], axis=-1), least[..., None], most[..., None]))
    half = np.diff(cuts, axis=-1)[..., None] / 2
    u = cuts[..., :-1, None] + half * (1 + _NODES)
    shape = (..., None, None)
    degrees = freedom[shape]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(degrees == 1, 0.0, (degrees - 1) * np.log(u)) - degrees * u * u / 2
    constant = math.log(2) + freedom / 2 * np.log(freedom / 2) - gammaln(freedom / 2)
    density = np.exp(logs + constant[shape])
    inside = ndtr(shift[shape] - quantile[shape] * u) * density
    total: Floats = (inside * half * _WEIGHTS).sum(axis=(-2, -1))
    return np.clip(total, 0.0, 1.0)
