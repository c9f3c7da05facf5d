"""The compiled parts of the tests: replicates of the fit test, and the dip of a sample.

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

from ...stats.compiled import kernel
from ...stats.samples import Array, Integers
from .conventions import FOUND, STATE
from .fit_kernel import fit_sorted

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
    work: Array,
    distances: Array,
) -> None:
    """Write the distance of each replicate from the mixture fitted to it; `work` is that of the fit."""
    x = np.empty(n)
    table = np.empty((2, most))
    state = np.empty((STATE, most))
    found = np.empty(FOUND)
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


@kernel
def _corners(x: Array, low: int, high: int, corner: Integers, side: int) -> int:
    """Put the corners of the convex function below F_n (side 1), or the concave above (-1), into `corner`.

    F_n rises at each x from i to i + 1 (in units of 1 / n): the lower ends are the points (x, i).
    """
    count = 0
    for i in range(low, high + 1):
        while count > 1:
            a, b = corner[count - 2], corner[count - 1]
            rise, chord = (b - a) * (x[i] - x[a]), (i - a) * (x[b] - x[a])
            if side * rise < side * chord:
                break
            count -= 1
        corner[count] = i
        count += 1
    return count


@kernel
def _line(x: Array, a: int, b: int, at: float) -> float:
    """Give the height at `at` of the line through (x_a, a) and (x_b, b)."""
    if b == a or x[b] == x[a]:
        return float(a)
    height: float = a + (b - a) * (at - x[a]) / (x[b] - x[a])
    return height


@kernel
def _widest(x: Array, below: Integers, m: int, above: Integers, k: int) -> tuple[float, int, int]:
    """Give the largest gap between the two curves, and the corners to both sides of it."""
    best, left, right = -1.0, below[0], above[k - 1]
    j = 0
    for i in range(m):  # corners of the lower curve
        while j < k - 1 and above[j] < below[i]:
            j += 1
        other = float(above[j]) if j == 0 else _line(x, above[j - 1], above[j], x[below[i]])
        gap = other - below[i] + 1
        if gap > best:
            best, left, right = gap, below[i], above[j]
    j = 0
    for i in range(k):  # corners of the upper curve
        while j < m - 1 and below[j + 1] <= above[i]:
            j += 1
        other = float(below[j]) if j == m - 1 else _line(x, below[j], below[j + 1], x[above[i]])
        gap = above[i] - other + 1
        if gap > best:
            best, left, right = gap, below[j], above[i]
    return best, left, right


@kernel
def _dip(x: Array, below: Integers, above: Integers) -> float:
    n = x.size
    low, high, worst = 0, n - 1, 1.0
    while True:
        m, k = _corners(x, low, high, below, 1), _corners(x, low, high, above, -1)
        gap, left, right = _widest(x, below, m, above, k)
        if gap <= worst:
            break
        for i in range(m - 1):  # the convex part, up to the modal interval
            if below[i + 1] > left:
                break
            for j in range(below[i], below[i + 1] + 1):
                worst = max(worst, j + 1 - _line(x, below[i], below[i + 1], x[j]))
        for i in range(k - 1):  # the concave part, from there on
            if above[i] < right:
                continue
            for j in range(above[i], above[i + 1] + 1):
                worst = max(worst, _line(x, above[i], above[i + 1], x[j]) - j + 1)
        if left == low and right == high:
            break
        low, high = left, right
    return worst / (2 * n)


@kernel
def sorted_dips(samples: Array) -> Array:
    """Give the dip of each row."""
    count, n = samples.shape
    below, above = np.empty(n, np.int64), np.empty(n, np.int64)
    dips = np.empty(count)
    for row in range(count):
        dips[row] = _dip(samples[row], below, above)
    return dips
