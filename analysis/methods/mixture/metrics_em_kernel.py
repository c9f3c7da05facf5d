"""EM for d metrics, and the hierarchical clustering that it starts from, compiled.

Clusters are merged one pair at a time; a merge costs what it takes from the classification
likelihood of Gaussians with free covariances ([1]_), in the form of mclust 6.0.0 ([2]_):
a cluster of m points with scatter matrix W contributes ``m log(det(W / m) + (tr W + a) / m)``,
with a = half the mean squared distance of all points from their mean.

Two things are as in mclust 6.0.0 although the formula asks for something else; its clusterings
cannot be had without them. It stores the triangular factor of a merged cluster's scatter wrongly:
every row that it reads back is the end of the first row. A cluster is therefore treated, from the
merge after its own on, as if it knew of its scatter only what the first coordinate explains, once
for each row. And costs stay as they were computed while a
cluster was the newest, when its true factor was still at hand.

References
----------
.. [1] C. Fraley, "Algorithms for model-based Gaussian hierarchical clustering", SIAM J. Scientific
       Computing 20(1), 1998.
.. [2] L. Scrucca, A. E. Raftery, "Improved initialisation of model-based clustering using Gaussian
       hierarchical partitions", Advances in Data Analysis and Classification 9(4), 2015.

Conventions are those of mclust 6.0.0: the first step is an M-step on the memberships given; the
iteration ends when the log-likelihood changes by at most 1e-5 of itself; a candidate fails when a
variance vanishes by its model's test, or a component's total membership.
"""

from __future__ import annotations

import math

import numpy as np

from ...stats.compiled import kernel
from ...stats.samples import Array, Integers
from .covariance_kernel import ROOT, VVI, covariances
from .em_kernel import exponential
from .model import FLOOR, LOG_2PI, MOST_ITERATIONS, TOLERANCE

SIZE, TERM, TRACE, SUMS = range(4)  # columns of the table of clusters: from SUMS on d sums over the
# square root of the size, then the upper triangle of the scatter matrix, row by row


@kernel
def _determinant(table: Array, row: int, d: int, left: Array) -> float:
    """Give the determinant of a cluster's scatter over its size, 0 when it is not positive."""
    size, at = table[row, SIZE], SUMS + d
    if d == 2:
        uu, uv, vv = table[row, at], table[row, at + 1], table[row, at + 2]
        return float(max(uu * vv - uv * uv, 0.0) / (size * size))
    for i in range(d):
        for j in range(i, d):
            left[i, j] = table[row, at]
            at += 1
    product = 1.0
    for i in range(d):
        pivot = left[i, i]
        if not pivot > 0:
            return 0.0
        product *= pivot / size
        for m in range(i + 1, d):
            slope = left[i, m] / pivot
            for j in range(m, d):
                left[m, j] -= slope * left[i, j]
    return product


@kernel
def _joined(table: Array, a: int, b: int, joint: int, d: int, alpha: float, left: Array) -> float:
    """Write what two merged rows would be to the row `joint`; give the cost of the merge."""
    size = table[a, SIZE] + table[b, SIZE]
    share, other = math.sqrt(table[a, SIZE] / size), math.sqrt(table[b, SIZE] / size)
    table[joint, SIZE] = size
    for i in range(SUMS, SUMS + d):
        u, v = table[a, i], table[b, i]
        left[0, i - SUMS] = other * u - share * v
        table[joint, i] = share * u + other * v
    at, trace = SUMS + d, 0.0
    for i in range(d):
        trace += left[0, i] * left[0, i]
        for j in range(i, d):
            table[joint, at] = table[a, at] + table[b, at] + left[0, i] * left[0, j]
            at += 1
    trace += table[a, TRACE] + table[b, TRACE]
    table[joint, TRACE] = trace
    inside = (trace + alpha) / size
    if size > d:
        inside += _determinant(table, joint, d, left)
    table[joint, TERM] = size * math.log(inside)
    return float(table[joint, TERM] - (table[a, TERM] + table[b, TERM]))


@kernel
def _scan(costs: Array, row: int, least: Array, place: Integers) -> None:
    """Find the least cost in a row left of the diagonal, the last of equal ones."""
    found, where = costs[row, 0], 0
    for i in range(1, row):
        if costs[row, i] <= found:
            found, where = costs[row, i], i
    least[row], place[row] = found, where


@kernel
def _changed(costs: Array, row: int, column: int, least: Array, place: Integers) -> None:
    """Bring a row's least cost up to date after the cost in `column` has changed."""
    cost = costs[row, column]
    if cost < least[row] or (cost == least[row] and column > place[row]):
        least[row], place[row] = cost, column
    elif place[row] == column and cost > least[row]:
        _scan(costs, row, least, place)


@kernel
def _copy(table: Array, source: int, target: int) -> None:
    """Copy number by number: an assignment would take two seconds to compile its error message."""
    for i in range(table.shape[1]):
        table[target, i] = table[source, i]


@kernel
def _move(table: Array, costs: Array, ids: Integers, target: int, last: int) -> None:
    """Put the last cluster in the place of one that is gone."""
    if target == last:
        return
    _copy(table, last, target)
    ids[target] = ids[last]
    for i in range(target):
        costs[target, i] = costs[last, i]
    for i in range(target + 1, last):
        costs[i, target] = costs[last, i]


@kernel
def _store(table: Array, place: int, d: int) -> None:
    """Keep the newest cluster as it will be read back (see the module's text)."""
    truth, first = table.shape[0] - 1, SUMS + d
    _copy(table, truth, place)
    rows = min(table[truth, SIZE] - 1, d)
    at = first + d
    for i in range(1, d):
        for j in range(i, d):
            both = table[truth, first + i] * table[truth, first + j]
            lead = table[truth, first]
            table[place, at] = min(rows, i + 1) * both / lead if lead > 0 else 0.0
            at += 1


@kernel
def _snapshot(owner: Integers, classes: Integers, numbers: Integers) -> None:
    """Write class numbers, counted in the order of the classes' first points."""
    numbers[:] = -1
    count = 0
    for i in range(owner.size):
        if numbers[owner[i]] < 0:
            numbers[owner[i]] = count
            count += 1
        classes[i] = numbers[owner[i]]


@kernel
def _costs(
    table: Array, d: int, alpha: float, costs: Array, least: Array, place: Integers, left: Array
) -> None:
    """Compute what every merge of two points costs."""
    n = costs.shape[0]
    for j in range(1, n):
        for i in range(j):
            costs[j, i] = _joined(table, i, j, n, d, alpha, left)
        _scan(costs, j, least, place)


@kernel
def _renew(
    table: Array,
    i: int,
    clusters: int,
    d: int,
    alpha: float,
    costs: Array,
    least: Array,
    place: Integers,
    left: Array,
) -> None:
    """Compute what merges with the new cluster i cost."""
    scratch, truth = costs.shape[0], costs.shape[0] + 1
    for k in range(i):
        costs[i, k] = _joined(table, k, truth, scratch, d, alpha, left)
    if i > 0:
        _scan(costs, i, least, place)
    for k in range(i + 1, clusters):
        costs[k, i] = _joined(table, truth, k, scratch, d, alpha, left)
        _changed(costs, k, i, least, place)


@kernel
def partitions(points: Array, alpha: float, classes: Integers) -> None:
    """Cluster points, shape (d, n); row k - 1 of `classes` becomes the partition into k classes."""
    d, n = points.shape
    most = classes.shape[0]
    scratch, truth = n, n + 1  # rows behind the clusters; the newest as it is, before it is stored
    table = np.zeros((n + 2, SUMS + d + d * (d + 1) // 2))
    table[:, SIZE], table[:, TERM] = 1.0, math.log(alpha)
    for i in range(n):
        for j in range(d):
            table[i, SUMS + j] = points[j, i]
    ids, owner, numbers = np.arange(n), np.arange(n), np.empty(n, dtype=np.int64)
    costs, least, place = np.empty((n, n)), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    left = np.empty((d, d))
    _costs(table, d, alpha, costs, least, place, left)
    newest = -1  # the cluster whose true scatter is still at hand
    for clusters in range(n, 1, -1):
        if clusters <= most:
            _snapshot(owner, classes[clusters - 1], numbers)
        j, last = 1, clusters - 1
        for row in range(2, clusters):  # of equal ones the last
            if least[row] <= least[j]:
                j = row
        i = place[j]
        first = truth if i == newest else i
        second = truth if j == newest else j
        _joined(table, first, second, scratch, d, alpha, left)
        if newest not in (i, j):  # the cost may date from when one of them was the newest
            table[scratch, TERM] = least[j] + (table[first, TERM] + table[second, TERM])
        for point in range(n):
            if owner[point] == ids[j]:
                owner[point] = ids[i]
        _move(table, costs, ids, j, last)
        if j < last:
            _scan(costs, j, least, place)
            for row in range(j + 1, last):
                _changed(costs, row, j, least, place)
        _copy(table, scratch, truth)
        newest = i
        _store(table, i, d)
        _renew(table, i, last, d, alpha, costs, least, place, left)
    _snapshot(owner, classes[0], numbers)


@kernel
def _sums(x: Array, z: Array, sums: Array) -> float:
    """Add up z, and z x for every metric, one by one.

    The order is that of mclust: where a component holds hardly more than one point, the direction
    of its scatter is rounding error, and EEV gives every component a direction.
    """
    d, size = x.shape[0], 0.0
    for j in range(0, d, 2):  # two at a time: one chain of additions alone would wait for itself
        first, second = x[j], x[min(j + 1, d - 1)]
        size = a = b = 0.0
        for i in range(z.size):
            size += z[i]
            a += z[i] * first[i]
            b += z[i] * second[i]
        sums[min(j + 1, d - 1)] = b
        sums[j] = a
    return size


# rows of two-dimensional arrays are handed on: only loops over one-dimensional ones become vectors


@kernel
def _centred(x: Array, mean: float, rest: Array) -> None:
    for i in range(x.size):
        rest[i] = x[i] - mean


@kernel
def _times(a: Array, b: Array, product: Array) -> None:
    for i in range(a.size):
        product[i] = a[i] * b[i]


@kernel
def _less(rest: Array, slope: float, known: Array) -> None:
    for i in range(rest.size):
        rest[i] -= slope * known[i]


@kernel
def _less_squares(q: Array, half: float, rest: Array) -> None:
    for i in range(q.size):
        q[i] -= half * rest[i] * rest[i]


@kernel
def _product(a: Array, b: Array) -> float:
    """Add up a b in four chains."""
    p = q = r = s = 0.0
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        p += a[i] * b[i]
        q += a[i + 1] * b[i + 1]
        r += a[i + 2] * b[i + 2]
        s += a[i + 3] * b[i + 3]
    for i in range(whole, a.size):
        p += a[i] * b[i]
    return (p + q) + (r + s)


@kernel
def _factor(z: Array, rest: Array, weighted: Array, factor: Array) -> None:
    """Write the factor of the scatter of `rest` (d, n), which is used up, with weights z.

    Each metric is rid of what those before it explain: a difference of products would lose what is
    left to rounding.
    """
    d = rest.shape[0]
    for k in range(d):
        _times(z, rest[k], weighted)
        factor[k, k] = _product(weighted, rest[k])
        for j in range(k + 1, d):
            slope = _product(weighted, rest[j]) / factor[k, k] if factor[k, k] > 0 else 0.0
            factor[k, j] = slope
            _less(rest[j], slope, rest[k])


@kernel
def maximise(
    code: int, x: Array, z: Array, weights: Array, means: Array, cov: Array, state: Array
) -> bool:
    """Do one M-step; tell whether the candidate lives on.

    z holds memberships, shape (K, n); `weights` (K), `means` (K, d) and `cov` (K, d, d, see
    `covariances`) are written.
    """
    d, n = x.shape
    components = z.shape[0]
    scatter, squares = np.zeros((components, d, d)), np.empty((components, d))
    sizes, rest, weighted = np.empty(components), np.empty((d, n)), np.empty(n)
    for k in range(components):
        size = _sums(x, z[k], means[k])
        if not size > ROOT:
            return False
        sizes[k], weights[k] = size, size / n
        for j in range(d):
            means[k, j] *= 1 / size
            _centred(x[j], means[k, j], rest[j])
            _times(z[k], rest[j], weighted)
            squares[k, j] = _product(weighted, rest[j])
        if code > VVI:  # its axes are not the coordinates' own
            _factor(z[k], rest, weighted, scatter[k])
    return covariances(code, squares, scatter, sizes, float(n), cov, state)


@kernel
def _log_densities(x: Array, mean: Array, cov: Array, weight: float, rest: Array, q: Array) -> None:
    """Write the logarithm of weight times density of one component."""
    d, n = x.shape
    top = math.log(weight)
    for j in range(d):
        top -= 0.5 * (LOG_2PI + math.log(cov[j, j]))
    for i in range(n):
        q[i] = top
    for j in range(d):
        _centred(x[j], mean[j], rest[j])
        for k in range(j):
            slope = cov[k, j]
            if slope != 0.0:
                _less(rest[j], slope, rest[k])
        _less_squares(q, 0.5 / cov[j, j], rest[j])


@kernel
def _larger(q: Array, largest: Array) -> None:
    for i in range(q.size):
        largest[i] = q[i] if q[i] > largest[i] else largest[i]


@kernel
def _shares(q: Array, largest: Array, total: Array) -> None:
    for i in range(q.size):
        t = q[i] - largest[i]
        share = exponential(t if t > FLOOR else FLOOR)
        q[i] = share if t > FLOOR else 0.0
        total[i] += q[i]


@kernel
def expectation(x: Array, weights: Array, means: Array, cov: Array, z: Array, room: Array) -> float:
    """Do one E-step: write memberships to z, shape (K, n), and give the log-likelihood.

    `room` is scratch, shape (2 + d, n).
    """
    components, n = z.shape
    largest, total = room[0], room[1]
    largest[:] = -np.inf
    total[:] = 0.0
    for k in range(components):
        _log_densities(x, means[k], cov[k], weights[k], room[2:], z[k])
        _larger(z[k], largest)
    for k in range(components):
        _shares(z[k], largest, total)
    likelihood = 0.0
    for i in range(n):
        likelihood += math.log(total[i]) + largest[i]
        total[i] = 1.0 / total[i]
    for k in range(components):
        _times(z[k], total, z[k])
    return likelihood


@kernel
def fit(
    code: int,
    x: Array,
    z: Array,
    weights: Array,
    means: Array,
    cov: Array,
    state: Array,
    room: Array,
) -> tuple[float, int]:
    """Fit one candidate by EM from the memberships in z, which are then those of the end.

    The parameters written are those that the log-likelihood belongs to, which is given with the number of
    iterations: nan for a candidate that failed. `state` is as `state_of` gives it, `room` as in `expectation`.
    """
    before = 2.0**1022
    for step in range(1, MOST_ITERATIONS):
        if not maximise(code, x, z, weights, means, cov, state):
            break
        likelihood = expectation(x, weights, means, cov, z, room)
        if not math.isfinite(likelihood):
            break
        if abs(before - likelihood) / (1 + abs(likelihood)) <= TOLERANCE:
            return likelihood, step
        before = likelihood
    return np.nan, 0
