"""The local maxima of a sum of Gaussians.

Write f for the sum, r_k for the share of component k in f, and u_k = (m_k - x) / s_k^2 for the
slope of its logarithm. Then s = f' / f is the mean of u under r, and its derivatives are moments:

    s'  = E[-1 / s_k^2] + Var[u]
    s'' = E[(u - s)^3] - 3 Cov[u, 1 / s_k^2]

A maximum of f is a place where s falls through 0. Where f'' < 0 some component has |x - m_k| < s_k,
so every mode lies within one standard deviation of a mean: a grid around the means that follows
each component's own standard deviation misses none, however different they are. Between two
neighbours of the grid s may still touch 0 and turn back (modes about to merge). So the zeros of
s'' join the grid, then those of s'; between its points s is then monotone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["local_maxima"]

Array = NDArray[np.float64]
# in standard deviations of each component: fine where modes can be, coarse as far as it reaches
_AROUND = np.unique(np.concatenate((np.linspace(-3, 3, 61), np.linspace(-12, 12, 49))))
_NOISE = 64 * 2.0**-52  # rounding of s, relative to the slopes in it
_EPS = float(np.finfo(np.float64).eps)
_HALVINGS = {2: 16, 1: 24}  # of a bracket around a zero of s'' and s'
_STEPS = 64


def local_maxima(log_weights: Array, means: Array, sds: Array) -> Array:
    """Give the places of the local maxima of the sum of exp(log_weight) N(mean, sd), ascending.

    Parameters
    ----------
    log_weights, means, sds : numpy.ndarray
        One entry a component; the weights need not sum to 1.
    """
    origin = means[np.argmax(log_weights)]  # differences of means are exact, or nearly
    if means.size == 1:
        return means.copy()
    unit = sds.max()
    slope = _Slope(log_weights - np.log(sds), (means - origin) / unit, sds / unit)
    # slopes of components without a share may overflow: they count for nothing
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found: Array = origin + unit * _maxima(slope)
    return found


def _maxima(slope: _Slope) -> Array:
    places = (slope.means[:, None] + slope.sds[:, None] * _AROUND).ravel()
    # a component narrower than the spacing of numbers still has a left and a right
    sides = [np.nextafter(slope.means, -np.inf), np.nextafter(slope.means, np.inf)]
    grid = np.unique(np.concatenate([places, *sides]))
    for derivative in (2, 1):
        curve = slope.derivative(derivative)
        left, right = _crossings(grid, curve(grid), falling=False)
        if left.size:
            grid = np.unique(
                np.concatenate((grid, _halved(curve, left, right, _HALVINGS[derivative])))
            )
    curve = slope.derivative(0)
    left, right = _crossings(grid, curve(grid), falling=True)
    return _refined(slope, left, right)


class _Slope:
    """The slope s of the logarithm of the sum, and its derivatives."""

    def __init__(self, log_heights: Array, means: Array, sds: Array) -> None:
        self.log_heights, self.means, self.sds = log_heights, means, sds

    def derivative(self, order: int) -> Callable[[Array], Array]:
        """Give s (0), s' (1) or s'' (2) as a function; what is only rounding becomes 0."""

        def curve(x: Array) -> Array:
            z = (self.means - x[:, None]) / self.sds
            share = self.log_heights - 0.5 * z * z
            share = np.exp(share - share.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            u, steep = z / self.sds, 1 / self.sds**2
            mean = _weighted(share, u)
            if order == 0:
                return _denoised(mean, _weighted(share, np.abs(u)))
            apart = u - mean[:, None]
            moment = apart * apart - steep if order == 1 else apart**3 - 3 * apart * steep
            return _weighted(share, moment)

        return curve


def _weighted(share: Array, values: Array) -> Array:
    """Sum over the components, leaving out those without a share."""
    summed: Array = np.where(share > 0, share * values, 0.0).sum(axis=1)
    return summed


def _denoised(values: Array, size: Array) -> Array:
    return np.where(np.abs(values) <= _NOISE * size, 0.0, values)


def _crossings(grid: Array, values: Array, *, falling: bool) -> tuple[Array, Array]:
    """Give brackets around the changes of sign; zeros have no sign and are passed over."""
    kept = values != 0
    grid, sign = grid[kept], np.sign(values[kept])
    change = sign[1:] < sign[:-1] if falling else sign[1:] != sign[:-1]
    at = np.flatnonzero(change)
    return grid[at], grid[at + 1]


def _halved(curve: Callable[[Array], Array], left: Array, right: Array, steps: int) -> Array:
    """Narrow brackets around changes of sign by bisection."""
    start = np.sign(curve(left))
    for _ in range(steps):
        middle = 0.5 * (left + right)
        sign = np.sign(curve(middle))
        # a zero closes the bracket from both sides
        left = np.where((sign == start) | (sign == 0), middle, left)
        right = np.where(sign != start, middle, right)
        if (left == right).all():
            break
    return left + 0.5 * (right - left)


def _refined(slope: _Slope, left: Array, right: Array) -> Array:
    """Find the modes in brackets where s falls through 0: Newton's steps, else halvings."""
    curve, steepness = slope.derivative(0), slope.derivative(1)
    x = 0.5 * (left + right)
    for _ in range(_STEPS if left.size else 0):
        value, fall = curve(x), steepness(x)
        left, right = np.where(value >= 0, x, left), np.where(value <= 0, x, right)
        step = x - value / np.where(fall < 0, fall, -np.inf)
        inside = (fall < 0) & (step >= left) & (step <= right)
        before, x = x, np.where(inside, step, 0.5 * (left + right))
        if (np.abs(x - before) <= _EPS * (np.abs(x) + slope.sds.min())).all():
            break
    return x
