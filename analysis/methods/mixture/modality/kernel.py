"""The dip of a sample, compiled: how far its distribution is from every unimodal one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....stats import kernel

__all__ = ["sorted_dips"]

Array = NDArray[np.float64]


@kernel
def _minorant(x: Array, low: int, high: int, corner: NDArray[np.int64]) -> int:
    """Put the corners of the greatest convex function below F_n on [low, high] into `corner`.

    F_n rises at each x from i to i + 1 (in units of 1 / n): the lower ends are the points (x, i).
    """
    count = 0
    for i in range(low, high + 1):
        while count > 1:
            a, b = corner[count - 2], corner[count - 1]
            if (b - a) * (x[i] - x[a]) < (i - a) * (x[b] - x[a]):
                break
            count -= 1
        corner[count] = i
        count += 1
    return count


@kernel
def _majorant(x: Array, low: int, high: int, corner: NDArray[np.int64]) -> int:
    """Put the corners of the least concave function above F_n on [low, high] into `corner`."""
    count = 0
    for i in range(low, high + 1):
        while count > 1:
            a, b = corner[count - 2], corner[count - 1]
            if (b - a) * (x[i] - x[a]) > (i - a) * (x[b] - x[a]):
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
def _widest(
    x: Array, below: NDArray[np.int64], m: int, above: NDArray[np.int64], k: int
) -> tuple[float, int, int]:
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
def _dip(x: Array, below: NDArray[np.int64], above: NDArray[np.int64]) -> float:
    n = x.size
    low, high, worst = 0, n - 1, 1.0
    while True:
        m, k = _minorant(x, low, high, below), _majorant(x, low, high, above)
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
    """Give the dip of each row.

    Parameters
    ----------
    samples : numpy.ndarray
        Samples x values, each row ascending and without ties.
    """
    count, n = samples.shape
    below, above = np.empty(n, np.int64), np.empty(n, np.int64)
    dips = np.empty(count)
    for row in range(count):
        dips[row] = _dip(samples[row], below, above)
    return dips
