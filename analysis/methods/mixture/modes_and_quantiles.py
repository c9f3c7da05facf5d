"""Modes and quantiles of a sum of Gaussians: where its slope, or what is missing, is zero.

Write f for the sum, r_k for the share of component k in f, and u_k = (m_k - x) / s_k^2 for the
slope of its logarithm. Then s = f' / f is the mean of u under r, and its derivatives are moments:

    s'  = E[-1 / s_k^2] + Var[u]
    s'' = E[(u - s)^3] - 3 Cov[u, 1 / s_k^2]

A maximum of f is a place where s falls through 0. Where f'' < 0 some component has |x - m_k| < s_k,
so every mode lies within one standard deviation of a mean: a grid around the means that follows
each component's own standard deviation misses none, however different they are. Between two
neighbours of the grid s may still touch 0 and turn back (modes about to merge). So the zeros of
s'' join the grid, then those of s'; between its points s is then monotone.

Components below x (m_k <= x) are counted by what lies above x, the others by what lies below it:

    F(x) - q = A - B + c,   A = sum of w_k Phi(z_k) over m_k > x,
                            B = sum of w_k Phi(-z_k) over m_k <= x,
                            c = sum of w_k over m_k <= x, less q

A and B keep their relative accuracy, and c is one subtraction. The root is that of
log(A + max(c, 0)) - log(B + max(-c, 0)), which increases: between components that lie far apart F
is flat to the last digit of 1, while A and B are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...stats.samples import Array

# in standard deviations of each component: fine where modes can be, coarse as far as it reaches
_AROUND = np.unique(np.concatenate((np.linspace(-3, 3, 61), np.linspace(-12, 12, 49))))
_NOISE = 64 * 2.0**-52  # rounding of s, relative to the slopes in it
_EPS = float(np.finfo(np.float64).eps)
_HALVINGS = {2: 16, 1: 24}  # of a bracket around a zero of s'' and s'


def local_maxima(log_weights: Array, means: Array, sds: Array) -> Array:
    """Give the places of the local maxima of the sum of exp(log_weight) N(mean, sd), ascending."""
    origin = means[np.argmax(log_weights)]  # differences of means are exact, or nearly
    if means.size == 1:
        return means.copy()
    unit = sds.max()
    slope = _Slope(log_weights - np.log(sds), (means - origin) / unit, sds / unit)
    # slopes of components without a share may overflow: they count for nothing
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        places = (slope.means[:, None] + slope.sds[:, None] * _AROUND).ravel()
        # a component narrower than the spacing of numbers still has a left and a right
        sides = [np.nextafter(slope.means, -np.inf), np.nextafter(slope.means, np.inf)]
        grid = np.unique(np.concatenate([places, *sides]))
        for derivative in (2, 1):
            curve = slope.derivative(derivative)
            left, right = _crossings(grid, curve(grid), falling=False)
            if left.size:
                zeros = _halved(curve, left, right, _HALVINGS[derivative])
                grid = np.unique(np.concatenate((grid, zeros)))
        curve = slope.derivative(0)
        left, right = _crossings(grid, curve(grid), falling=True)
        found: Array = origin + unit * _refined(slope, left, right)
    return found


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
                size = _weighted(share, np.abs(u))
                return np.where(np.abs(mean) <= _NOISE * size, 0.0, mean)
            apart = u - mean[:, None]
            moment = apart * apart - steep if order == 1 else apart**3 - 3 * apart * steep
            return _weighted(share, moment)

        return curve


def _weighted(share: Array, values: Array) -> Array:
    """Sum over the components, leaving out those without a share."""
    return np.asarray(np.where(share > 0, share * values, 0.0).sum(axis=1))


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
    for _ in range(64 if left.size else 0):
        value, fall = curve(x), steepness(x)
        left, right = np.where(value >= 0, x, left), np.where(value <= 0, x, right)
        step = x - value / np.where(fall < 0, fall, -np.inf)
        inside = (fall < 0) & (step >= left) & (step <= right)
        before, x = x, np.where(inside, step, 0.5 * (left + right))
        if (np.abs(x - before) <= _EPS * (np.abs(x) + slope.sds.min())).all():
            break
    return x


_STEEP = 1e12  # logarithms of this size leave their differences, and so the slope, no digits


def quantiles(q: Array, weights: Array, means: Array, sds: Array) -> Array:
    """Give the quantiles at the levels q in [0, 1]; 0 and 1 give infinities."""
    from scipy.special import ndtri

    found = np.where(q >= 1, np.inf, -np.inf)
    inside = (q > 0) & (q < 1)
    if not inside.any():
        return found
    levels = q[inside]
    order = np.argsort(means, kind="stable")
    balance = _Balance(weights[order], means[order], sds[order], levels)
    # the quantile of the mixture lies between those of its components
    parts = means + sds * ndtri(levels)[:, None]
    slack = 4 * _EPS * np.abs(parts).max(axis=1)
    low, high = parts.min(axis=1) - slack, parts.max(axis=1) + slack
    with np.errstate(over="ignore"):  # far out in narrow components
        found[inside] = _root(balance, low, high, float(sds.min()))
    return found


class _Balance:
    """log(A + max(c, 0)) - log(B + max(-c, 0)) and its derivative, at one x for each level."""

    def __init__(self, weights: Array, means: Array, sds: Array, levels: Array) -> None:
        self.log_weights, self.means, self.sds, self.levels = np.log(weights), means, sds, levels
        sums = [math.fsum(weights[:k]) for k in range(weights.size)]
        rests = [math.fsum([*weights[:k], -total]) for k, total in enumerate(sums)]
        self.sums, self.rests = np.array([*sums, 1.0]), np.array([*rests, 0.0])

    def __call__(self, x: Array) -> tuple[Array, Array]:
        from scipy.special import log_ndtr

        z = (x[:, None] - self.means) / self.sds
        below = z >= 0
        count = below.sum(axis=1)
        c = (self.sums[count] - self.levels) + self.rests[count]
        log_part = self.log_weights + log_ndtr(-np.abs(z))
        log_slope = self.log_weights - np.log(self.sds) - 0.5 * (z * z + math.log(2 * math.pi))
        up = _log_sum(np.where(below, -np.inf, log_part), np.maximum(c, 0))
        down = _log_sum(np.where(below, log_part, -np.inf), np.maximum(-c, 0))
        # The terms of A and B grow and shrink at the component's density; the two sums are the
        # logarithms of what grows and of what shrinks.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.where(below, 0, np.exp(log_slope - up[:, None])).sum(axis=1)
            slope += np.where(below, np.exp(log_slope - down[:, None]), 0).sum(axis=1)
            return up - down, slope


def _log_sum(logs: Array, extra: Array) -> Array:
    """Give log(sum of exp(logs) + extra), row by row."""
    with np.errstate(divide="ignore"):
        every = np.concatenate((logs, np.log(extra)[:, None]), axis=1)
        top = every.max(axis=1)
        shift = np.where(np.isfinite(top), top, 0)
        summed: Array = shift + np.log(np.exp(every - shift[:, None]).sum(axis=1))
    return summed


def _root(balance: _Balance, low: Array, high: Array, unit: float) -> Array:
    """Find the roots by Newton's steps inside brackets that at least halve every second step."""
    x = 0.5 * (low + high)
    for step in range(4000):  # few are needed, unless spreads differ by as much as numbers can
        value, slope = balance(x)
        low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
        middle = 0.5 * (low + high)
        close = high - low <= 2 * _EPS * np.maximum(np.abs(low), np.abs(high)) + _EPS / 64 * unit
        if close.all():
            return middle
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = x - value / slope
        inside = (newton > low) & (newton < high) & ~close & (np.abs(value) < _STEEP)
        settled = inside & (np.abs(newton - x) <= 2 * _EPS * np.abs(x) + _EPS / 64 * unit)
        if (settled | close).all():
            return np.where(close, middle, newton)
        x = np.where(inside & (step % 3 < 2), newton, middle)
    return middle
