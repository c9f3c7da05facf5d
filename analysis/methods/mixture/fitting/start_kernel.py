"""Where EM begins: classes of a sorted sample, as index ranges.

The quantile start is mclust's ("qclass"), down to its floating point: cut points are type-7
quantiles at equally spaced levels, as many levels as it takes to get enough distinct ones; the
narrowest gaps are closed. Everything here is compiled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....stats import kernel

__all__ = ["first_at_least", "most_levels", "quantile_start", "random_start"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@kernel
def most_levels(n: int, k: int) -> int:
    """Give the number of levels at which n values, two of them different, have k + 1 cut points.

    One gap between neighbours then holds k levels itself; where even that is not enough, the gap
    is too narrow to be divided in floating point and no number of levels will do.
    """
    return (n - 1) * (k + 1) + 2


@kernel
def _quantile(x: Array, level: int, levels: int) -> float:
    """Give the type-7 quantile at one of `levels` equally spaced levels, as R computes it."""
    n = x.size
    share = 1.0 if level == levels - 1 else level * (1.0 / (levels - 1))
    index = (n - 1) * share + 1.0
    low = int(np.floor(index))
    below: float = x[low - 1]
    if index > low:
        above: float = x[low]
        if above != below:
            h = index - low
            return (1.0 - h) * below + h * above
    return below


@kernel
def _distinct(x: Array, levels: int) -> int:
    """Count the distinct quantiles at so many levels.

    Levels inside a run of ties give its value; so only those next to a gap between different
    neighbours are computed: heavy ties need thousands of levels, and most lie inside a run.
    """
    steps, spread = levels - 1, x.size - 1
    count, done, last = 0, -1, 0.0
    for j in range(spread):
        if x[j] == x[j + 1]:
            continue
        first = max(done + 1, j * steps // spread - 1)
        done = max(done, min(steps, (j + 1) * steps // spread + 2))
        for level in range(first, done + 1):
            q = _quantile(x, level, levels)
            if count == 0 or q != last:
                last = q
                count += 1
    return count


@kernel
def quantile_start(x: Array, k: int, levels: int, cuts: Array, bounds: Index) -> int:
    """Divide the sorted values x into k classes at quantiles.

    `levels` is where the search may begin: what the call for k - 1 gave back, or 0. `cuts` is room
    for twice ``most_levels(n, k)`` numbers. Class i becomes ``x[bounds[i]:bounds[i + 1]]``; classes
    may be empty. Returns the levels used, or -1 when there are no k + 1 distinct cut points.
    """
    levels = max(levels, k + 1)
    most = most_levels(x.size, k)
    while levels <= most and _distinct(x, levels) <= k:
        levels += 1
    if levels > most:
        return -1
    count = _cut_points(x, levels, cuts)
    if count > k + 1:
        _close_gaps(cuts, count, count - k - 1)
    bounds[0] = 0
    bounds[k] = x.size
    for i in range(1, k):  # the outer two cut points are beyond all values
        bounds[i] = first_at_least(x, cuts[i])
    return levels


@kernel
def _cut_points(x: Array, levels: int, cuts: Array) -> int:
    """Write the distinct quantiles at so many levels; give their number."""
    count = 0
    for level in range(levels):
        q = _quantile(x, level, levels)
        if count == 0 or q != cuts[count - 1]:
            cuts[count] = q
            count += 1
    return count


@kernel
def _close_gaps(cuts: Array, count: int, surplus: int) -> None:
    """Take out the left ends of the `surplus` narrowest gaps, the first of equals first."""
    gaps = cuts[count : 2 * count - 1]
    for i in range(count - 1):
        gaps[i] = cuts[i + 1] - cuts[i]
    for _ in range(surplus):
        narrowest = 0
        for i in range(1, count - 1):
            if gaps[i] < gaps[narrowest]:
                narrowest = i
        gaps[narrowest] = np.inf
    kept = 0
    for i in range(count):
        if i == count - 1 or gaps[i] < np.inf:
            cuts[kept] = cuts[i]
            kept += 1


@kernel
def first_at_least(x: Array, value: float) -> int:
    """Give the number of sorted values below `value`."""
    low, high = 0, x.size
    while low < high:
        middle = (low + high) // 2
        if x[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def random_start(x: Array, k: int, draws: Array, bounds: Index) -> bool:
    """Divide the sorted values x around k centres drawn as k-means++ draws them.

    The first centre is any value; each further one is drawn in proportion to the squared distance
    from the nearest centre so far. `draws` are k uniform numbers, `bounds` as in `quantile_start`.
    Returns False when there are fewer than k distinct values.
    """
    n = x.size
    centres = np.empty(k)
    centres[0] = x[min(int(draws[0] * n), n - 1)]
    for j in range(1, k):
        total = 0.0
        for value in x:
            total += _distance(value, centres[:j])
        if total <= 0.0:
            return False
        left = draws[j] * total
        chosen = x[n - 1]
        for value in x:
            here = _distance(value, centres[:j])
            left -= here
            if left < 0.0 and here > 0.0:
                chosen = value
                break
        place = j
        while place > 0 and centres[place - 1] > chosen:
            centres[place] = centres[place - 1]
            place -= 1
        centres[place] = chosen
    bounds[0] = 0
    bounds[k] = n
    for j in range(1, k):
        bounds[j] = first_at_least(x, centres[j - 1] / 2 + centres[j] / 2)
    return True


@kernel
def _distance(value: float, centres: Array) -> float:
    """Give the squared distance from the nearest centre."""
    best = np.inf
    for centre in centres:
        best = min(best, (value - centre) ** 2)
    return best
