"""Quantiles of a mixture of Gaussians: the root of F(x) = q, exact also on plateaus and in tails.

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

import numpy as np
from numpy.typing import NDArray

__all__ = ["quantiles"]

Array = NDArray[np.float64]
_STEPS = 4000  # few are needed, unless spreads differ by as much as numbers can
_STEEP = 1e12  # logarithms of this size leave their differences, and so the slope, no digits
_EPS = float(np.finfo(np.float64).eps)


def quantiles(q: Array, weights: Array, means: Array, sds: Array) -> Array:
    """Give the quantiles at the levels q in [0, 1]; 0 and 1 give infinities.

    Parameters
    ----------
    q : numpy.ndarray
        Levels, one-dimensional.
    weights, means, sds : numpy.ndarray
        One entry a component.
    """
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
    for step in range(_STEPS):
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
