"""Replicates of the fit test, compiled: draw from a mixture, sort, fit anew, measure the distance.

Each replicate has a seed of its own and a small generator in the kernel (SplitMix64 [1]_), so that
its numbers depend neither on the replicates before it nor on the thread that makes it. Nothing here
holds the interpreter's lock.

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
       OOPSLA 2014.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....stats import kernel
from ..fitting.kernel import FOUND, STATE, fit_sorted, work_size

__all__ = ["draw_sorted", "ks_distance", "replicate_distances"]

Array = NDArray[np.float64]
Seeds = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_SPARE = np.uint64(11)  # bits of 64 that a double's mantissa does not hold
_ULP = 2.0**-53
_ROOT_HALF = math.sqrt(0.5)


@kernel
def _uniform(state: Seeds) -> float:
    """Give a number from [0, 1) and move the state on."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _SHIFT_1)) * _MIX_1
    z = (z ^ (z >> _SHIFT_2)) * _MIX_2
    z ^= z >> _SHIFT_3
    return float(z >> _SPARE) * _ULP


@kernel
def _normal(state: Seeds) -> float:
    """Give a standard normal number by the polar method."""
    while True:
        u = 2.0 * _uniform(state) - 1.0
        v = 2.0 * _uniform(state) - 1.0
        square = u * u + v * v
        if 0.0 < square < 1.0:
            return u * math.sqrt(-2.0 * math.log(square) / square)


@kernel
def draw_sorted(state: Seeds, weights: Array, means: Array, sds: Array, x: Array) -> None:
    """Fill x with independent values of the mixture in ascending order.

    `state` is one number, the seed at first, and is moved on.
    """
    last = weights.size - 1
    for i in range(x.size):
        left = _uniform(state)
        k = 0
        while k < last and left >= weights[k]:
            left -= weights[k]
            k += 1
        x[i] = means[k] + sds[k] * _normal(state)
    _sort(x)


@kernel
def _sort(x: Array) -> None:
    """Put values in ascending order (Shell's sort; the library's own takes a second to compile)."""
    gap = x.size
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for i in range(gap, x.size):
            value, j = x[i], i
            while j >= gap and x[j - gap] > value:
                x[j] = x[j - gap]
                j -= gap
            x[j] = value


@kernel
def ks_distance(x: Array, weights: Array, means: Array, sds: Array) -> float:
    """Give the largest distance between the sorted values' step function and the mixture's CDF.

    Both ends of every step count, i/n and (i - 1)/n; of tied values the outer ones decide.
    """
    n = x.size
    distance = 0.0
    for i in range(n):
        below = 0.0
        for k in range(weights.size):
            below += weights[k] * 0.5 * math.erfc((means[k] - x[i]) / sds[k] * _ROOT_HALF)
        distance = max(distance, (i + 1) / n - below, below - i / n)
    return distance


@kernel
def replicate_distances(
    seeds: Seeds,
    weights: Array,
    means: Array,
    sds: Array,
    n: int,
    floor: float,
    starts: int,
    most: int,
    distances: Array,
) -> None:
    """Write the distance of each replicate from the mixture fitted to it.

    Parameters
    ----------
    seeds : uint64 array
        One for each replicate.
    weights, means, sds : float64 arrays
        The mixture to draw from.
    n : int
        Values of a replicate.
    floor, starts, most : float, int, int
        As in a fit: least variance (0: mclust's rule), starts of each candidate, largest K.
    distances : float64 array
        Output, as long as `seeds`; nan where no candidate fits.
    """
    x = np.empty(n)
    table = np.empty((2, most))
    state = np.empty((STATE, most))
    found = np.empty(FOUND)
    work = np.empty(work_size(n, most))
    draws = np.empty((starts - 1, most, most))
    random = np.empty(1, dtype=np.uint64)
    for i in range(seeds.size):
        random[0] = seeds[i]
        draw_sorted(random, weights, means, sds, x)
        for attempt in range(starts - 1):
            for k in range(most):
                for j in range(most):
                    draws[attempt, k, j] = _uniform(random)
        fit_sorted(x, floor, draws, table, state, found, work)
        k = int(found[0])
        distances[i] = np.nan
        if k > 0:
            distances[i] = ks_distance(x, state[0, :k], state[1, :k], state[2, :k])
