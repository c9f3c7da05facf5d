"""Power of the t test by integration over chi, and the smallest shift that it tells.

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

__all__ = ["least_shift", "t_power"]

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_FAR = 9.0  # standard deviations of a normal beyond which less than 1e-18 of it lies
_TAIL = 1e-18  # of chi that is left out at either end
_STEPS = 48  # halvings of a bracket: 1e-13 of it
_LARGEST = 1e6  # a shift in standard errors that any test tells


def t_power(shift: ArrayLike, freedom: ArrayLike, alpha: float, *, sides: int = 2) -> Floats:
    """Give the chance that a t test rejects.

    Parameters
    ----------
    shift : array_like
        The true difference divided by the standard error of its estimate (the noncentrality).
    freedom : array_like
        Degrees of freedom of the standard error, at least 1; shapes are broadcast.
    alpha : float
        Risk of the test, between 0 and 1.
    sides : {1, 2}
        2: both tails count, as R's ``power.t.test(strict = TRUE)``; 1: the upper tail at `alpha`.

    Returns
    -------
    array
        In the shape of both, right to 1e-9 for whole freedoms.

    Raises
    ------
    UsageError
        If `alpha`, `sides` or a freedom is out of range.

    Notes
    -----
    T = (Z + shift) / U with U^2 a chi square over its freedom, so P(T > c) is the mean over U of
    the normal probability of (shift - c U) [1]_. The integral is cut into panels where the normal
    steps, and each is done by Gauss and Legendre.
    """
    where, degrees, quantile = _asked(shift, freedom, alpha, sides)
    upper = _beyond(where, degrees, quantile)
    return upper if sides == 1 else upper + _beyond(-where, degrees, quantile)


def least_shift(power: float, freedom: ArrayLike, alpha: float, *, sides: int = 2) -> Floats:
    """Give the smallest shift, in standard errors, that a t test tells with this power.

    Parameters
    ----------
    power : float
        Between `alpha` and 1.
    freedom, alpha, sides
        As for `t_power`.

    Raises
    ------
    UsageError
        If an argument is out of range.
    """
    _, degrees, quantile = _asked(0.0, freedom, alpha, sides)
    if not alpha < power < 1:
        raise UsageError(f"power must lie between alpha, {alpha!r}, and 1, and is {power!r}")
    low = np.zeros_like(degrees)
    high = np.full_like(degrees, _FAR) + quantile * np.sqrt(chdtri(degrees, 1 - power) / degrees)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        reached = _beyond(middle, degrees, quantile)
        if sides == 2:
            reached = reached + _beyond(-middle, degrees, quantile)
        enough = reached >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return (low + high) / 2


def _asked(
    shift: ArrayLike, freedom: ArrayLike, alpha: float, sides: int
) -> tuple[Floats, Floats, Floats]:
    """Give shifts, freedoms in their shape, and the test's critical values."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, and is {alpha!r}")
    if sides not in (1, 2):
        raise UsageError(f"sides must be 1 or 2, and is {sides!r}")
    where, degrees = np.broadcast_arrays(
        np.asarray(shift, dtype=np.float64), np.asarray(freedom, dtype=np.float64)
    )
    if not (np.isfinite(where).all() and (degrees >= 1).all() and np.isfinite(degrees).all()):
        raise UsageError("shifts must be finite, and degrees of freedom finite and at least 1")
    quantile: Floats = np.asarray(stdtrit(degrees, 1 - alpha / sides))
    return np.clip(where, -_LARGEST, _LARGEST), degrees, quantile


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
