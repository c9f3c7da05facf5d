"""All candidate mixtures of a sample, fitted by mclust's rules. Compiled; called from any thread.

`fit_sorted` fits one sorted sample. It writes into arrays that the caller provides and allocates next to
nothing, so one thread can go through thousands of samples without the interpreter's lock.

Layout of the outputs for K up to `most`:

- ``table[2, most]``: BIC of equal (row 0) and varying (row 1) variances for K = 1, 2, ...; nan
  where a candidate is discarded or not tried.
- ``state[6, most]``: weights, means and standard deviations of the best candidate, then the same
  before the closing M-step (the state to which likelihood and BIC belong); nan beyond K.
- ``found[6]``: K (0 when no candidate fits), 1 for varying variances else 0, log-likelihood, BIC,
  iterations (0 for K = 1), components whose variance was lifted to the floor.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...stats.compiled import kernel
from ...stats.samples import Array, Indices, Integers
from .em_kernel import e_step, levels_at_most, quantile_start, random_start
from .model import (
    CANCELLED,
    CLOSING,
    FOUND,
    LANES,
    LEAST_MEMBERSHIP,
    LEAST_SCALED,
    LEAST_VARIANCE,
    LOG_2PI,
    MOST_ITERATIONS,
    START_VALUES,
    STATE,
    TILE,
    TOLERANCE,
    most_levels,
)

# rows of the parameters in work: those of the mixture, those of the exponents, centres and moments
_WEIGHT, _MEAN, _VARIANCE, _SLOPE, _HEIGHT, _CENTRE, _SUMS, _ROWS = 0, 1, 2, 3, 4, 5, 6, 9


def work_size(n: int, most: int) -> int:
    """Give the length of the work space for n values and up to `most` components."""
    cuts = 2 * most_levels(min(n, START_VALUES), most)
    return (n + LANES) + START_VALUES + cuts + (most + 3) * TILE + _ROWS * most


@kernel
def fit_sorted(
    values: Array, floor: float, draws: Array, table: Array, state: Array, found: Array, work: Array
) -> None:
    """Fit all candidates to one sample."""
    n = values.size
    table[:] = np.nan
    state[:] = np.nan
    found[:] = 0.0
    # A unit of a power of 2 keeps the arithmetic exact, and densities away from the limits.
    power = math.frexp(values[n - 1] / 2 - values[0] / 2)[1]
    power = max(-1000, min(1000, power))
    unit = math.ldexp(1.0, power)
    padded = (n + LANES - 1) // LANES * LANES
    x, rest = work[:padded], work[padded:]
    for i in range(n):
        x[i] = values[i] / unit
    x[n:] = x[n - 1]
    start = x[:n]
    if n > START_VALUES:
        start, rest = rest[:START_VALUES], rest[START_VALUES:]
        for i in range(START_VALUES):
            start[i] = x[(i * (n - 1) + (START_VALUES - 1) // 2) // (START_VALUES - 1)]
    lowest = floor / unit / unit
    least = 0.0 if floor > 0.0 else max(LEAST_VARIANCE / unit / unit, LEAST_SCALED)
    shift = n * (power * math.log(2.0))
    _fit_candidates(x, n, start, (least, lowest, shift), draws, table, state, found, rest)
    for k in range(int(found[0])):
        for row in (1, 2, 4, 5):
            state[row, k] *= unit


@kernel
def _fit_candidates(
    x: Array,
    n: int,
    start: Array,
    limits: tuple[float, float, float],
    draws: Array,
    table: Array,
    state: Array,
    found: Array,
    room: Array,
) -> None:
    """Go through K = 1, 2, ... and keep the best candidate; `found` has K = 0 at first."""
    most = table.shape[1]
    cuts_size = 2 * levels_at_most(start.size, most)
    cuts, room = room[:cuts_size], room[cuts_size:]
    p = room[: _ROWS * most].reshape((_ROWS, most))
    tiles = room[_ROWS * most :][: (most + 3) * TILE].reshape((most + 3, TILE))
    bounds = np.empty(most + 1, dtype=np.intp)
    levels = 0 if x[0] < x[n - 1] else -1  # no cut points in a constant sample
    for k in range(1, min(most, n) + 1):
        if k == 1:
            bounds[0], bounds[1] = 0, n
            _moments_of_classes(x[:n], k, bounds, p)
            _fit_one(n, limits, p, table, state, found)
            continue
        if levels >= 0:
            levels = quantile_start(start, k, levels, cuts, bounds)
        for attempt in range(draws.shape[0] + 1):
            if attempt == 0:
                ready, sample = levels >= 0, start
            else:
                ready, sample = random_start(x[:n], k, draws[attempt - 1, k - 1], bounds), x[:n]
            if not ready:
                continue
            for varying in range(2):
                _moments_of_classes(sample, k, bounds, p)
                likelihood, iterations = _em(x, n, sample.size, k, varying, limits, tiles, p)
                bic = 2.0 * likelihood - (3 * k - 1 if varying else 2 * k) * math.log(n)
                if not (bic > -np.inf and bic < np.inf):
                    continue
                if not bic <= table[varying, k - 1]:
                    table[varying, k - 1] = bic
                if found[0] == 0.0 or bic > found[3]:
                    found[0], found[1], found[2], found[3] = k, varying, likelihood, bic
                    found[4] = iterations
                    _keep(p, n, k, varying, limits[1], sample.size != n, state, found)


@kernel
def _fit_one(
    n: int, limits: tuple[float, float, float], p: Array, table: Array, state: Array, found: Array
) -> None:
    """Fit one Gaussian in closed form from the sums in p; mclust's limit does not apply to it."""
    lowest, shift = limits[1], limits[2]
    d = p[_SUMS + 1, 0] / n
    raw = (p[_SUMS + 2, 0] - p[_SUMS + 1, 0] * d) / n
    variance = max(raw, lowest)
    if not variance > 0.0:
        return
    likelihood = -0.5 * n * (LOG_2PI + math.log(variance) + raw / variance) - shift
    bic = 2.0 * likelihood - 2.0 * math.log(n)
    table[:, 0] = bic
    found[0], found[2], found[3] = 1.0, likelihood, bic
    found[5] = 1.0 if lowest > 0.0 and variance <= lowest else 0.0
    for row in (0, 3):
        state[row, 0], state[row + 1, 0] = 1.0, p[_CENTRE, 0] + d
        state[row + 2, 0] = math.sqrt(variance)


@kernel
def _moments_of_classes(sample: Array, k: int, bounds: Indices, p: Array) -> None:
    """Take each class's size and its sums of d and d^2, d from its mean."""
    for j in range(k):
        members = sample[bounds[j] : bounds[j + 1]]
        p[_SUMS : _SUMS + 3, j] = 0.0
        p[_CENTRE, j] = 0.0
        if members.size == 0:
            continue
        first, total = members[0], 0.0
        for value in members:
            total += value - first
        centre = first + total / members.size
        p[_SUMS, j] = members.size
        p[_CENTRE, j] = centre
        for value in members:
            p[_SUMS + 1, j] += value - centre
            p[_SUMS + 2, j] += (value - centre) ** 2


@kernel
def _m_step(p: Array, n: int, k: int, varying: int, least: float, lowest: float) -> bool:
    """Turn sums into weights, means and variances; False when the candidate is discarded.

    Without a floor (`lowest` 0) a variance must exceed `least`.
    """
    pooled = 0.0
    for j in range(k):
        members = p[_SUMS, j]
        if not members > LEAST_MEMBERSHIP:
            return False
        d = p[_SUMS + 1, j] / members
        squares = p[_SUMS + 2, j] - p[_SUMS + 1, j] * d
        p[_WEIGHT, j] = members / n
        p[_MEAN, j] = p[_CENTRE, j] + d
        p[_VARIANCE, j] = squares / members
        pooled += squares
    for j in range(k):
        variance = p[_VARIANCE, j] if varying else pooled / n
        if lowest > 0.0:
            variance = variance if variance > lowest else lowest
        elif not variance > least:
            return False
        p[_VARIANCE, j] = variance
    return True


@kernel
def _expect(x: Array, n: int, k: int, tiles: Array, p: Array) -> float:
    """Take one E-step with the parameters in p: sums and log-likelihood."""
    for j in range(k):
        p[_SLOPE, j] = -0.5 / p[_VARIANCE, j]
        p[_HEIGHT, j] = 0.5 * (math.log(p[_WEIGHT, j] ** 2 / p[_VARIANCE, j]) - LOG_2PI)
        p[_CENTRE, j] = p[_MEAN, j]
    mu, slope, height, centre = p[_MEAN, :k], p[_SLOPE, :k], p[_HEIGHT, :k], p[_CENTRE, :k]
    sums = p[_SUMS : _SUMS + 3]
    e, room = tiles[3:], tiles[:3]
    likelihood = e_step(x, n, mu, slope, height, centre, sums, e, room)
    again = False
    for j in range(k):
        if sums[0, j] > 0.0:
            d = sums[1, j] / sums[0, j]
            if d * d > CANCELLED * (sums[2, j] / sums[0, j] - d * d):
                # The mean moved far: d^2 would cancel, so the moments are taken around its new place.
                centre[j] += d
                again = True
    if again:
        likelihood = e_step(x, n, mu, slope, height, centre, sums, e, room)
    return likelihood


@kernel
def _em(
    x: Array,
    n: int,
    size: int,
    k: int,
    varying: int,
    limits: tuple[float, float, float],
    tiles: Array,
    p: Array,
) -> tuple[float, int]:
    """Iterate from the classes' sums in p; the log-likelihood is nan for a discarded candidate.

    When the classes are those of `size` < n values, memberships of all follow from them first.
    """
    least, lowest, shift = limits
    if size < n:
        if not _m_step(p, size, k, varying, 0.0, lowest):
            return np.nan, 0
        _expect(x, n, k, tiles, p)
    before = np.inf
    for iteration in range(1, MOST_ITERATIONS):
        if not _m_step(p, n, k, varying, least, lowest):
            return np.nan, iteration
        likelihood = _expect(x, n, k, tiles, p) - shift
        if not abs(before - likelihood) / (1.0 + abs(likelihood)) > TOLERANCE:
            return likelihood, iteration
        before = likelihood
    return np.nan, MOST_ITERATIONS


@kernel
def _keep(
    p: Array,
    n: int,
    k: int,
    varying: int,
    lowest: float,
    always: bool,  # noqa: FBT001 - a kernel's arguments are positional
    state: Array,
    found: Array,
) -> None:
    """Write the candidate's state before and after mclust's closing M-step.

    The step is taken when weights and mean memberships are far apart, or `always`.
    """
    state[:] = np.nan
    distance, floored = 0.0, 0
    for j in range(k):
        distance += (p[_WEIGHT, j] - p[_SUMS, j] / n) ** 2
        floored += lowest > 0.0 and p[_VARIANCE, j] <= lowest
        for row in (0, 3):
            state[row, j], state[row + 1, j] = p[_WEIGHT, j], p[_MEAN, j]
            state[row + 2, j] = math.sqrt(p[_VARIANCE, j])
    found[5] = floored
    if (always or distance > CLOSING) and _m_step(p, n, k, varying, 0.0, lowest):
        for j in range(k):
            state[0, j], state[1, j] = p[_WEIGHT, j], p[_MEAN, j]
            state[2, j] = math.sqrt(p[_VARIANCE, j])


# --- The compiled parts of the tests: replicates of the fit test, and the dip of a sample.
#
# Each replicate has a seed of its own and a small generator in the kernel (SplitMix64 [1]_), so that
# its numbers depend neither on the replicates before it nor on the thread that makes it. Nothing here
# holds the interpreter's lock.
#
# References
# ----------
# .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
#        OOPSLA 2014.


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
