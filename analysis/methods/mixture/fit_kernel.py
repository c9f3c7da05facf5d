"""All candidate mixtures of a sample, fitted by mclust's rules. Compiled; called from any thread.

`fit_sorted` is the one way in. It works in room that the caller provides and allocates nothing,
so one thread can go through thousands of samples without the interpreter's lock.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...stats.compiled import inner, kernel
from ...stats.samples import Array, Indices, Integers
from .em_kernel import (
    CENTRE,
    HEIGHT,
    MEAN,
    ROWS,
    SLOPE,
    SUMS,
    VARIANCE,
    WEIGHT,
    e_step,
    quantile_start,
    random_start,
)
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


class Room(NamedTuple):
    """Where a fit works, and what it gives: see `room_for`."""

    values: Array
    random: NDArray[np.uint64]
    draws: Array
    x: Array
    start: Array
    cuts: Array
    centres: Array
    bounds: Indices
    p: Array
    tiles: Array
    table: Array
    state: Array
    found: Array


def room_for(n: int, most: int, starts: int = 1) -> Room:
    """Make room for fits of n values and up to `most` components, one at a time.

    `values`, `random`, `draws`: a replicate, its generator, its further starts. `x`: values in their unit, padded.
    `start`: those that quantiles are of. `p`: a candidate's rows (`em_kernel`). `table`, `state`, `found`: outputs.
    """
    count = min(n, START_VALUES)
    return Room(
        values=np.empty(n),
        random=np.empty(1, dtype=np.uint64),
        draws=np.empty((starts - 1, most, most)),
        x=np.empty((n + LANES - 1) // LANES * LANES),
        start=np.empty(count),
        cuts=np.empty(2 * most_levels(count, most)),
        centres=np.empty(most),
        bounds=np.empty(most + 1, dtype=np.intp),
        p=np.empty((ROWS, most)),
        tiles=np.empty((most + 3, TILE)),
        table=np.empty((2, most)),
        state=np.empty((STATE, most)),
        found=np.empty(FOUND),
    )


@kernel
def _fit(floor: float, room: Room) -> None:
    """Fit all candidates to the values in `room`: go through K = 1, 2, ... and keep the best one."""
    values, draws, table, state, found = room.values, room.draws, room.table, room.state, room.found
    n, most = values.size, table.shape[1]
    x, start, bounds, p = room.x, room.start, room.bounds, room.p
    _blank(table)
    _blank(state)
    unit, limits = _scaled(values, floor, x, start)
    bounds[0], bounds[1] = 0, n
    _moments_of_classes(x, min(n, 1), bounds, p)
    _fit_one(n, limits, p, table, state, found)
    levels = 0 if x[0] < x[n - 1] else -1  # no cut points in a constant sample
    for k in range(2, min(most, n) + 1):
        if levels >= 0:
            levels = quantile_start(start, k, levels, room.cuts, bounds)
        for attempt in range(draws.shape[0] + 1):
            sample, size, ready = start, start.size, levels >= 0
            if attempt > 0:
                sample, size = x, n
                ready = random_start(x, n, k, draws[attempt - 1, k - 1], room.centres, bounds)
            if not ready:
                continue
            for varying in range(2):
                _moments_of_classes(sample, k, bounds, p)
                likelihood, iterations = _em(x, n, size, k, varying, limits, room.tiles, p)
                bic = 2.0 * likelihood - (3 * k - 1 if varying else 2 * k) * math.log(n)
                if not (bic > -np.inf and bic < np.inf):
                    continue
                if not bic <= table[varying, k - 1]:
                    table[varying, k - 1] = bic
                if found[0] == 0.0 or bic > found[3]:
                    found[0], found[1], found[2], found[3] = k, varying, likelihood, bic
                    found[4] = iterations
                    _keep(p, n, k, varying, limits[1], size != n, state, found)
    for k in range(int(found[0])):
        for row in (1, 2, 4, 5):
            state[row, k] *= unit


@kernel
def _scaled(
    values: Array, floor: float, x: Array, start: Array
) -> tuple[float, tuple[float, float, float]]:
    """Bring the values to their unit; give that, the limits of variances in it and what it adds to a likelihood."""
    n = values.size
    # A unit of a power of 2 keeps the arithmetic exact, and densities away from the limits.
    power = math.frexp(values[n - 1] / 2 - values[0] / 2)[1]
    power = max(-1000, min(1000, power))
    unit = math.ldexp(1.0, power)
    for i in range(x.size):
        x[i] = values[min(i, n - 1)] / unit
    for i in range(start.size):
        start[i] = x[i]
        if n > START_VALUES:
            start[i] = x[(i * (n - 1) + (START_VALUES - 1) // 2) // (START_VALUES - 1)]
    lowest = floor / unit / unit
    least = 0.0 if floor > 0.0 else max(LEAST_VARIANCE / unit / unit, LEAST_SCALED)
    return unit, (least, lowest, n * (power * math.log(2.0)))


@kernel
def _blank(rows: Array) -> None:
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = np.nan


@kernel
def _fit_one(
    n: int, limits: tuple[float, float, float], p: Array, table: Array, state: Array, found: Array
) -> None:
    """Begin with one Gaussian, in closed form from the sums in p; mclust's limit does not apply to it."""
    for k in range(FOUND):
        found[k] = 0.0
    lowest, shift = limits[1], limits[2]
    d = p[SUMS + 1, 0] / n
    raw = (p[SUMS + 2, 0] - p[SUMS + 1, 0] * d) / n
    variance = max(raw, lowest)
    if not variance > 0.0:
        return
    likelihood = -0.5 * n * (LOG_2PI + math.log(variance) + raw / variance) - shift
    bic = 2.0 * likelihood - 2.0 * math.log(n)
    table[0, 0] = table[1, 0] = bic
    found[0], found[2], found[3] = 1.0, likelihood, bic
    found[5] = 1.0 if lowest > 0.0 and variance <= lowest else 0.0
    for row in (0, 3):
        state[row, 0], state[row + 1, 0] = 1.0, p[CENTRE, 0] + d
        state[row + 2, 0] = math.sqrt(variance)


@kernel
def _moments_of_classes(sample: Array, k: int, bounds: Indices, p: Array) -> None:
    """Take each class's size and its sums of d and d^2, d from its mean."""
    for j in range(k):
        low, high = bounds[j], bounds[j + 1]
        for row in range(CENTRE, ROWS):
            p[row, j] = 0.0
        if low >= high:
            continue
        first, total = sample[low], 0.0
        for i in range(low, high):
            total += sample[i] - first
        centre = first + total / (high - low)
        p[SUMS, j] = high - low
        p[CENTRE, j] = centre
        for i in range(low, high):
            p[SUMS + 1, j] += sample[i] - centre
            p[SUMS + 2, j] += (sample[i] - centre) ** 2


@kernel
def _m_step(p: Array, n: int, k: int, varying: int, least: float, lowest: float) -> bool:
    """Turn sums into weights, means and variances; False when the candidate is discarded.

    Without a floor (`lowest` 0) a variance must exceed `least`.
    """
    pooled = 0.0
    for j in range(k):
        members = p[SUMS, j]
        if not members > LEAST_MEMBERSHIP:
            return False
        d = p[SUMS + 1, j] / members
        squares = p[SUMS + 2, j] - p[SUMS + 1, j] * d
        p[WEIGHT, j] = members / n
        p[MEAN, j] = p[CENTRE, j] + d
        p[VARIANCE, j] = squares / members
        pooled += squares
    for j in range(k):
        variance = p[VARIANCE, j] if varying else pooled / n
        if lowest > 0.0:
            variance = variance if variance > lowest else lowest
        elif not variance > least:
            return False
        p[VARIANCE, j] = variance
    return True


@kernel
def _expect(x: Array, n: int, k: int, tiles: Array, p: Array) -> float:
    """Take one E-step with the parameters in p: sums and log-likelihood."""
    for j in range(k):
        p[SLOPE, j] = -0.5 / p[VARIANCE, j]
        p[HEIGHT, j] = 0.5 * (math.log(p[WEIGHT, j] ** 2 / p[VARIANCE, j]) - LOG_2PI)
        p[CENTRE, j] = p[MEAN, j]
    likelihood, last = 0.0, False
    while True:
        likelihood = e_step(x, n, k, p, tiles)
        again = False
        for j in range(k):
            if p[SUMS, j] > 0.0 and not last:
                d = p[SUMS + 1, j] / p[SUMS, j]
                if d * d > CANCELLED * (p[SUMS + 2, j] / p[SUMS, j] - d * d):
                    # The mean moved far: d^2 would cancel, so the moments are taken around its new place.
                    p[CENTRE, j] += d
                    again = True
        if not again:
            return likelihood
        last = True


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
    before = np.inf
    for iteration in range(0 if size < n else 1, MOST_ITERATIONS):
        members, limit = (n, least) if iteration else (size, 0.0)
        if not _m_step(p, members, k, varying, limit, lowest):
            return np.nan, iteration
        likelihood = _expect(x, n, k, tiles, p) - shift
        if iteration:
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
    _blank(state)
    distance, floored = 0.0, 0
    for j in range(k):
        distance += (p[WEIGHT, j] - p[SUMS, j] / n) ** 2
        floored += lowest > 0.0 and p[VARIANCE, j] <= lowest
        for row in (0, 3):
            state[row, j], state[row + 1, j] = p[WEIGHT, j], p[MEAN, j]
            state[row + 2, j] = math.sqrt(p[VARIANCE, j])
    found[5] = floored
    if (always or distance > CLOSING) and _m_step(p, n, k, varying, 0.0, lowest):
        for j in range(k):
            state[0, j], state[1, j] = p[WEIGHT, j], p[MEAN, j]
            state[2, j] = math.sqrt(p[VARIANCE, j])


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


@inner
def draw_sorted(state: Seeds, rows: Array, x: Array) -> None:
    """Fill x with independent values in ascending order of a mixture: rows of weights, means and sds.

    `state` is one number, the seed at first, and is moved on.
    """
    last = rows.shape[1] - 1
    for i in range(x.size):
        left = _uniform(state)
        k = 0
        while k < last and left >= rows[0, k]:
            left -= rows[0, k]
            k += 1
        x[i] = rows[1, k] + rows[2, k] * _normal(state)
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


@inner
def ks_distance(x: Array, rows: Array, components: int) -> float:
    """Give the largest distance between the sorted values' step function and the mixture's CDF.

    Both ends of every step count, i/n and (i - 1)/n; of tied values the outer ones decide.
    """
    n = x.size
    distance = 0.0
    for i in range(n):
        below = 0.0
        for k in range(components):
            below += rows[0, k] * 0.5 * math.erfc((rows[1, k] - x[i]) / rows[2, k] * _ROOT_HALF)
        distance = max(distance, (i + 1) / n - below, below - i / n)
    return distance


@kernel
def fit_sorted(seeds: Seeds, rows: Array, floor: float, room: Room, distances: Array) -> None:
    """Write the distance of each replicate of a mixture (`draw_sorted`) from the one fitted to it.

    Without seeds the values in `room` are fitted, as `fitted` does; or, where `distances` has a place for it,
    their distance from the mixture is written.
    """
    draws = room.draws
    if seeds.size == 0 and distances.size == 0:
        _fit(floor, room)
    elif seeds.size == 0:
        distances[0] = ks_distance(room.values, rows, rows.shape[1])
    for i in range(seeds.size):
        room.random[0] = seeds[i]
        draw_sorted(room.random, rows, room.values)
        for attempt in range(draws.shape[0]):
            for k in range(draws.shape[1]):
                for j in range(draws.shape[1]):
                    draws[attempt, k, j] = _uniform(room.random)
        _fit(floor, room)
        k = int(room.found[0])
        distances[i] = ks_distance(room.values, room.state, k) if k > 0 else np.nan


_NO_SEEDS, _NO_ROWS = np.empty(0, dtype=np.uint64), np.empty((3, 0))


def fitted(values: Array, floor: float, most: int, draws: Array) -> Room:
    """Fit all candidates to sorted values, with a further start for each of `draws` (starts, most, most)."""
    room = room_for(values.size, most, len(draws) + 1)
    room.values[:], room.draws[:] = values, draws
    fit_sorted(_NO_SEEDS, _NO_ROWS, float(floor), room, np.empty(0))
    return room


def distance(values: Array, rows: Array) -> float:
    """Give the distance of sorted values from a mixture: rows of weights, means and sds."""
    room, found = room_for(values.size, 1), np.empty(1)
    room.values[:] = values
    fit_sorted(_NO_SEEDS, rows, 0.0, room, found)
    return float(found[0])


@kernel
def _corners(x: Array, low: int, high: int, corner: Integers, side: float) -> int:
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
    low, high, worst = min(n, 0), n - 1, 1.0  # each literal would be a kernel of its own
    while True:
        m, k = _corners(x, low, high, below, 1.0), _corners(x, low, high, above, -1.0)
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
