"""The EM iteration for mixtures of Gaussians in the plane, compiled.

Conventions are those of mclust 6.0.0: the first step is an M-step on the memberships given; the
iteration ends when the log-likelihood changes by at most 1e-5 of itself; a candidate fails when a
variance vanishes by its model's test, or a component's total membership.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....stats import kernel
from ..fitting.em_kernel import exponential
from .model_kernel import ROOT, STATE, covariances, fresh

__all__ = ["OUTCOME", "expectation", "fit", "maximise"]

Array = NDArray[np.float64]

OUTCOME = 2  # numbers that `fit` reports: log-likelihood (nan: failed), iterations
_TOLERANCE = 1e-5
_MOST_STEPS = 1_000_000  # mclust has no limit; the likelihood rises, so none is reached
_LOG_2PI = math.log(2 * math.pi)
_FLOOR = -700.0  # where a membership counts as nothing


@kernel
def _sums(x: Array, y: Array, z: Array) -> tuple[float, float, float]:
    """Add up z, z x and z y one by one.

    The order is that of mclust: where a component holds hardly more than one point, the direction
    of its scatter is rounding error, and EEV gives every component a direction.
    """
    size = sum_x = sum_y = 0.0
    for i in range(x.size):
        size += z[i]
        sum_x += z[i] * x[i]
        sum_y += z[i] * y[i]
    return size, sum_x, sum_y


@kernel
def _products(x: Array, y: Array, z: Array, mx: float, my: float) -> tuple[float, float, float]:
    """Add up z dx dx, z dx dy and z dy dy, in two chains each."""
    a = b = c = d = e = f = 0.0
    whole = x.size - x.size % 2
    for i in range(0, whole, 2):
        dx, dy, ex, ey = x[i] - mx, y[i] - my, x[i + 1] - mx, y[i + 1] - my
        a += z[i] * dx * dx
        b += z[i] * dx * dy
        c += z[i] * dy * dy
        d += z[i + 1] * ex * ex
        e += z[i + 1] * ex * ey
        f += z[i + 1] * ey * ey
    for i in range(whole, x.size):
        dx, dy = x[i] - mx, y[i] - my
        a += z[i] * dx * dx
        b += z[i] * dx * dy
        c += z[i] * dy * dy
    return a + d, b + e, c + f


@kernel
def _rest(x: Array, y: Array, z: Array, mx: float, my: float, slope: float) -> float:
    """Add up z (dy - slope dx)^2: what a difference of products would lose to rounding."""
    a = b = 0.0
    whole = x.size - x.size % 2
    for i in range(0, whole, 2):
        d = (y[i] - my) - slope * (x[i] - mx)
        e = (y[i + 1] - my) - slope * (x[i + 1] - mx)
        a += z[i] * d * d
        b += z[i + 1] * e * e
    for i in range(whole, x.size):
        d = (y[i] - my) - slope * (x[i] - mx)
        a += z[i] * d * d
    return a + b


@kernel
def maximise(
    code: int, x: Array, y: Array, z: Array, weights: Array, means: Array, cov: Array, state: Array
) -> bool:
    """Do one M-step; tell whether the candidate lives on.

    z holds memberships, shape (K, n); `weights` (K), `means` (2, K) and `cov` (3, K, see
    `covariances`) are written.
    """
    components, n = z.shape
    scatter = np.empty((5, components))
    for k in range(components):
        size, sum_x, sum_y = _sums(x, y, z[k])
        if not size > ROOT:
            return False
        weights[k] = size / n
        mx, my = sum_x * (1 / size), sum_y * (1 / size)
        means[0, k], means[1, k] = mx, my
        xx, xy, yy = _products(x, y, z[k], mx, my)
        scatter[0, k], scatter[1, k], scatter[2, k], scatter[4, k] = xx, xy, yy, size
        scatter[3, k] = _rest(x, y, z[k], mx, my, xy / xx if xx > 0 else 0.0)
    return covariances(code, scatter, float(n), cov, state)


@kernel
def _log_densities(
    x: Array,
    y: Array,
    mx: float,
    my: float,
    one: float,
    slope: float,
    two: float,
    top: float,
    q: Array,
) -> None:
    for i in range(x.size):
        dx = x[i] - mx
        rest = (y[i] - my) - slope * dx
        q[i] = top - one * dx * dx - two * rest * rest


@kernel
def _shares(q: Array, largest: Array, total: Array) -> None:
    for i in range(q.size):
        t = q[i] - largest[i]
        share = exponential(t if t > _FLOOR else _FLOOR)
        q[i] = share if t > _FLOOR else 0.0
        total[i] += q[i]


@kernel
def expectation(
    x: Array, y: Array, weights: Array, means: Array, cov: Array, z: Array, room: Array
) -> float:
    """Do one E-step: write memberships to z, shape (K, n), and give the log-likelihood."""
    components, n = z.shape
    largest, total = room[0], room[1]
    largest[:] = -np.inf
    total[:] = 0.0
    for k in range(components):
        top = math.log(weights[k]) - _LOG_2PI - 0.5 * (math.log(cov[0, k]) + math.log(cov[2, k]))
        one, two = 0.5 / cov[0, k], 0.5 / cov[2, k]
        _log_densities(x, y, means[0, k], means[1, k], one, cov[1, k], two, top, z[k])
        for i in range(n):
            largest[i] = z[k, i] if z[k, i] > largest[i] else largest[i]
    for k in range(components):
        _shares(z[k], largest, total)
    likelihood = 0.0
    for i in range(n):
        likelihood += math.log(total[i]) + largest[i]
        total[i] = 1.0 / total[i]
    for k in range(components):
        for i in range(n):
            z[k, i] *= total[i]
    return likelihood


@kernel
def fit(
    code: int,
    x: Array,
    y: Array,
    z: Array,
    weights: Array,
    means: Array,
    cov: Array,
    outcome: Array,
) -> None:
    """Fit one candidate by EM from the memberships in z, which are then those of the end.

    The parameters written are those that the log-likelihood belongs to.
    """
    components, n = z.shape
    state = np.empty(STATE + 3 * components)
    fresh(state)
    room = np.empty((2, n))
    before = 2.0**1022
    outcome[0] = np.nan
    for step in range(1, _MOST_STEPS + 1):
        outcome[1] = step
        if not maximise(code, x, y, z, weights, means, cov, state):
            return
        likelihood = expectation(x, y, weights, means, cov, z, room)
        if not math.isfinite(likelihood):
            return
        change = abs(before - likelihood) / (1 + abs(likelihood))
        before = likelihood
        if change <= _TOLERANCE:
            break
    outcome[0] = before
