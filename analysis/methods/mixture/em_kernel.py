"""The EM iteration for one-dimensional Gaussian mixtures, and its start values, compiled.

Each step goes over the sample once, in tiles that stay in the processor's nearest cache: for every
component a loop that the compiler turns into vector code (the exponential is a polynomial, so that
no call stands in its way), then the sums of memberships, of first and of second moments. The order
of additions is written out; nothing is left to fast-math.

The quantile start is mclust's ("qclass"), down to its floating point: cut points are type-7
quantiles at equally spaced levels, as many levels as it takes to get enough distinct ones; the
narrowest gaps are closed. Everything here is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...stats.compiled import inner, kernel
from ...stats.samples import Array, Indices
from .model import FLOOR, LANES, LN2, LN2_HIGH, LN2_LOW, TILE, TINY, most_levels

Generated = tuple[Any, Callable[..., Any]]

# rows of the parameters of a fit: those of the mixture, those of the exponents, centres and moments
WEIGHT, MEAN, VARIANCE, SLOPE, HEIGHT, CENTRE, SUMS, ROWS = 0, 1, 2, 3, 4, 5, 6, 9

_LOG2E = 1 / math.log(2)
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest whole number in the lowest bits
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = (
    1 / math.factorial(k) for k in range(2, 13)
)
_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52


@intrinsic  # type: ignore[untyped-decorator]
def _bits(_context: Any, _x: Any) -> Generated:  # noqa: ANN401 - numba's types
    """Read a double's bits as an integer."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _double(_context: Any, _bits: Any) -> Generated:  # noqa: ANN401
    """Read an integer's bits as a double."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _multiply_add(_context: Any, _a: Any, _b: Any, _c: Any) -> Generated:  # noqa: ANN401
    """Give a * b + c, rounded once where the processor does that at no cost."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:  # noqa: ANN401
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        function = builder.module.declare_intrinsic("llvm.fmuladd", [double], kind)
        return builder.call(function, args)

    double = types.float64
    return double(double, double, double), generate


@intrinsic  # type: ignore[untyped-decorator]
def _moments(_context: Any, x: Any, e: Any, inverse: Any, _n: Any, _centre: Any) -> Generated:  # noqa: ANN401
    """Sum r, r d and r d d with r = e * inverse, d = x - centre, over n (whole LANES) values.

    Written as vector instructions because a compiler must not reorder additions by itself. Lane j
    adds up the values j, j + LANES, ...; the lanes are added in pairs at the end. The processor's
    own vectors may be shorter or longer: the result is the same.
    """
    vector = ir.VectorType(ir.DoubleType(), LANES)
    whole = ir.IntType(32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        start = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[:3], args[:3], strict=True)
        ]
        zero = ir.Constant(vector, [0.0] * LANES)
        centres = zero
        for lane in range(LANES):
            centres = builder.insert_element(centres, args[4], ir.Constant(whole, lane))
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(3)]
        count = args[3]
        first, step = (ir.Constant(count.type, number) for number in (0, LANES))
        with cgutils.for_range_slice(builder, first, count, step) as (i, _):
            values, densities, inverses = (
                builder.load(builder.bitcast(builder.gep(p, [i]), vector.as_pointer()), align=8)
                for p in start
            )
            term = builder.fmul(densities, inverses)
            d = builder.fsub(values, centres)
            for total in sums:
                builder.store(builder.fadd(builder.load(total), term), total)
                term = builder.fmul(term, d)
        done = []
        for total in sums:
            lanes = builder.load(total)
            parts = [builder.extract_element(lanes, ir.Constant(whole, j)) for j in range(LANES)]
            while len(parts) > 1:
                parts = [builder.fadd(*parts[j : j + 2]) for j in range(0, len(parts), 2)]
            done.append(parts[0])
        return context.make_tuple(builder, signature.return_type, done)

    result = types.UniTuple(types.float64, 3)
    return result(x, e, inverse, types.intp, types.float64), generate


@inner
def exponential(t: float) -> float:
    """Give exp(t), t from -700 to 700, to 5e-16 of itself."""
    shifted = _multiply_add(t, _LOG2E, _ROUND)
    power = shifted - _ROUND
    r = _multiply_add(power, -LN2_LOW, _multiply_add(power, -LN2_HIGH, t))
    r2 = r * r
    r4 = r2 * r2
    first = _multiply_add(_multiply_add(_C3, r, _C2), r2, 1.0 + r)
    second = _multiply_add(_multiply_add(_C7, r, _C6), r2, _multiply_add(_C5, r, _C4))
    third = _multiply_add(_multiply_add(_C11, r, _C10), r2, _multiply_add(_C9, r, _C8))
    third = _multiply_add(_C12, r4, third)
    p = _multiply_add(_multiply_add(third, r4, second), r4, first)
    scaled: float = _double(_bits(p) + (_bits(shifted) << 52))
    return scaled


@kernel
def _densities(x: Array, mean: float, slope: float, height: float, e: Array, total: Array) -> None:
    """Write exp(height + slope (x - mean)^2) to e and add it to `total`."""
    for i in range(x.size):
        d = x[i] - mean
        t = _multiply_add(slope, d * d, height)
        t = t if t > FLOOR else FLOOR
        density = exponential(t)
        e[i] = density
        total[i] += density


@kernel
def _relative(x: float, k: int, p: Array, e: Array, i: int) -> tuple[float, float]:
    """Take densities that would vanish relative to the largest: the sum, and the log of that."""
    largest = -np.inf
    for j in range(k):
        largest = max(largest, p[HEIGHT, j] + p[SLOPE, j] * (x - p[MEAN, j]) ** 2)
    total = 0.0
    for j in range(k):
        e[j, i] = math.exp(p[HEIGHT, j] + p[SLOPE, j] * (x - p[MEAN, j]) ** 2 - largest)
        total += e[j, i]
    return total, largest


@kernel
def _logs(total: Array, inverse: Array, mantissas: Array) -> tuple[float, int]:
    """Write 1 / total; give the sum of the logarithms of `total`, and how many vanish.

    The mantissas, their number a multiple of LANES, are multiplied in LANES chains. The sum is meaningless
    when a total vanishes.
    """
    exponents, vanishing = 0, 0
    for i in range(total.size):
        word = _bits(total[i])
        exponents += (word >> 52) - 1023
        mantissas[i] = _double((word & _MANTISSA) | _ONE)
        inverse[i] = 1.0 / total[i]
        vanishing += total[i] < TINY
    a = b = c = d = e = f = g = h = 1.0
    for i in range(0, total.size, LANES):
        a *= mantissas[i]
        b *= mantissas[i + 1]
        c *= mantissas[i + 2]
        d *= mantissas[i + 3]
        e *= mantissas[i + 4]
        f *= mantissas[i + 5]
        g *= mantissas[i + 6]
        h *= mantissas[i + 7]
    product = ((a * b) * (c * d)) * ((e * f) * (g * h))
    return math.log(product) + exponents * LN2, vanishing


@inner
def e_step(x: Array, n: int, k: int, p: Array, tiles: Array) -> float:
    """Compute memberships and give the log-likelihood.

    x holds n values and padding up to a multiple of LANES. Component j has the log density
    ``p[HEIGHT, j] + p[SLOPE, j] (x - p[MEAN, j])^2``, its weight included. ``p[SUMS:, j]`` become its
    sums of memberships r, of r d and of r d^2 with d = x - p[CENTRE, j]. `tiles` has a row of TILE
    numbers for each component behind three more.
    """
    likelihood = 0.0
    for j in range(k):
        p[SUMS, j] = p[SUMS + 1, j] = p[SUMS + 2, j] = 0.0
    e = tiles[3:]
    for low in range(0, x.size, TILE):
        size = min(TILE, x.size - low)
        real = min(size, n - low)
        tile = x[low : low + size]
        total, inverse, mantissas = tiles[0, :size], tiles[1, :size], tiles[2, :size]
        for i in range(size):
            total[i] = 0.0
        for j in range(k):
            _densities(tile, p[MEAN, j], p[SLOPE, j], p[HEIGHT, j], e[j, :size], total)
        for i in range(real, size):
            total[i] = 1.0
        logs, vanishing = 0.0, 1
        while vanishing > 0:
            logs, vanishing = _logs(total, inverse, mantissas)
            for i in range(real if vanishing > 0 else 0):
                if total[i] < TINY:
                    total[i], largest = _relative(tile[i], k, p, e, i)
                    likelihood += largest
        likelihood += logs
        for i in range(real, size):
            inverse[i] = 0.0
        for j in range(k):
            r, rd, rdd = _moments(tile, e[j, :size], inverse, size, p[CENTRE, j])
            p[SUMS, j] += r
            p[SUMS + 1, j] += rd
            p[SUMS + 2, j] += rdd
    return likelihood


levels_at_most = inner(most_levels)


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
def _cut_points(x: Array, levels: int, cuts: Array) -> int:
    """Write the distinct quantiles at `levels` levels; give their number.

    Levels inside a run of ties give its value; so only those next to a gap between different
    neighbours are computed: heavy ties need thousands of levels, and most lie inside a run.
    """
    steps, spread = levels - 1, x.size - 1
    count, done = 0, -1
    for j in range(spread):
        if x[j] == x[j + 1]:
            continue
        first = max(done + 1, j * steps // spread - 1)
        done = max(done, min(steps, (j + 1) * steps // spread + 2))
        for level in range(first, done + 1):
            q = _quantile(x, level, levels)
            if count == 0 or q != cuts[count - 1]:
                cuts[count] = q
                count += 1
    return count


@inner
def quantile_start(x: Array, k: int, levels: int, cuts: Array, bounds: Indices) -> int:
    """Divide the sorted values x into k classes at quantiles.

    `levels` is where the search may begin: what the call for k - 1 gave back, or 0. `cuts` is room
    for twice ``most_levels(n, k)`` numbers. Class i becomes ``x[bounds[i]:bounds[i + 1]]``; classes
    may be empty. Returns the levels used, or -1 when there are no k + 1 distinct cut points.
    """
    levels = max(levels, k + 1)
    most = levels_at_most(x.size, k)
    count = 0
    while levels <= most and count <= k:
        count = _cut_points(x, levels, cuts)
        levels += 1
    if count <= k:
        return -1
    if count > k + 1:
        _close_gaps(cuts, count, count - k - 1)
    bounds[0] = 0
    bounds[k] = x.size
    for i in range(1, k):  # the outer two cut points are beyond all values
        bounds[i] = first_at_least(x, x.size, cuts[i])
    return levels - 1


@kernel
def _close_gaps(cuts: Array, count: int, surplus: int) -> None:
    """Take out the left ends of the `surplus` narrowest gaps, the first of equals first."""
    gaps = count  # they stand behind the cuts
    for i in range(count - 1):
        cuts[gaps + i] = cuts[i + 1] - cuts[i]
    for _ in range(surplus):
        narrowest = gaps
        for i in range(gaps + 1, gaps + count - 1):
            if cuts[i] < cuts[narrowest]:
                narrowest = i
        cuts[narrowest] = np.inf
    kept = 0
    for i in range(count):
        if i == count - 1 or cuts[gaps + i] < np.inf:
            cuts[kept] = cuts[i]
            kept += 1


@inner
def first_at_least(x: Array, n: int, value: float) -> int:
    """Give the number of values below `value` among the n first, sorted ones of x."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if x[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def random_start(x: Array, n: int, k: int, draws: Array, centres: Array, bounds: Indices) -> bool:
    """Divide the n first, sorted values of x around k centres drawn as k-means++ draws them.

    The first centre is any value; each further one is drawn in proportion to the squared distance
    from the nearest centre so far. `draws` are k uniform numbers, `centres` is room for as many,
    `bounds` as in `quantile_start`. Returns False when there are fewer than k distinct values.
    """
    centres[0] = x[min(int(draws[0] * n), n - 1)]
    for j in range(1, k):
        total = 0.0
        for i in range(n):
            total += _distance(x[i], centres, j)
        if total <= 0.0:
            return False
        left = draws[j] * total
        chosen = x[n - 1]
        for i in range(n):
            here = _distance(x[i], centres, j)
            left -= here
            if left < 0.0 and here > 0.0:
                chosen = x[i]
                break
        place = j
        while place > 0 and centres[place - 1] > chosen:
            centres[place] = centres[place - 1]
            place -= 1
        centres[place] = chosen
    bounds[0] = 0
    bounds[k] = n
    for j in range(1, k):
        bounds[j] = first_at_least(x, n, centres[j - 1] / 2 + centres[j] / 2)
    return True


@kernel
def _distance(value: float, centres: Array, count: int) -> float:
    """Give the squared distance from the nearest of `count` centres."""
    best = np.inf
    for j in range(count):
        best = min(best, (value - centres[j]) ** 2)
    return best
