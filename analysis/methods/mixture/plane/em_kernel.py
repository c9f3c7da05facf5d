"""EM in the plane, and the hierarchical clustering that it starts from, compiled.

Clusters are merged one pair at a time; a merge costs what it takes from the classification
likelihood of Gaussians with free covariances ([1]_), in the form of mclust 6.0.0 ([2]_):
a cluster of m points with scatter matrix W contributes ``m log(det(W / m) + (tr W + a) / m)``,
with a = half the mean squared distance of all points from their mean.

Two things are as in mclust 6.0.0 although the formula asks for something else; its clusterings
cannot be had without them. It stores the triangular factor of a merged cluster's scatter wrongly:
what it reads back has the first row's last entry where the second row's belongs. A cluster of three
or more points is therefore treated, from the merge after its own on, as if the scatter of its
second coordinate were twice what the first explains. And costs stay as they were computed while a
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

from ....stats.compiled import kernel
from ....stats.samples import Array, Integers
from ..em_kernel import exponential
from .covariance_kernel import ROOT, STATE, covariances, fresh

SIZE, U, V, TERM, TRACE, UU, UV, VV = range(8)  # rows of the table of clusters; U, V are sums
FIELDS = 8  # over the square root of the size


@kernel
def _term(size: float, trace: float, uu: float, uv: float, vv: float, alpha: float) -> float:
    """Give the contribution of a cluster of at least two points."""
    inside = (trace + alpha) / size
    if size > 2:
        inside += max(uu * vv - uv * uv, 0.0) / (size * size)
    return size * math.log(inside)


@kernel
def _joined(a: Array, b: Array, alpha: float, joint: Array) -> float:
    """Write what the merged cluster would be to `joint`; give the cost of the merge."""
    size = a[SIZE] + b[SIZE]
    share, other = math.sqrt(a[SIZE] / size), math.sqrt(b[SIZE] / size)
    du, dv = other * a[U] - share * b[U], other * a[V] - share * b[V]
    joint[SIZE] = size
    joint[U], joint[V] = share * a[U] + other * b[U], share * a[V] + other * b[V]
    joint[TRACE] = (a[TRACE] + b[TRACE]) + (du * du + dv * dv)
    joint[UU] = a[UU] + b[UU] + du * du
    joint[UV] = a[UV] + b[UV] + du * dv
    joint[VV] = a[VV] + b[VV] + dv * dv
    joint[TERM] = _term(size, joint[TRACE], joint[UU], joint[UV], joint[VV], alpha)
    return float(joint[TERM] - (a[TERM] + b[TERM]))


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
def _copy(source: Array, target: Array) -> None:
    """Copy number by number: an assignment would take two seconds to compile its error message."""
    for i in range(source.size):
        target[i] = source[i]


@kernel
def _move(table: Array, costs: Array, ids: Integers, target: int, last: int) -> None:
    """Put the last cluster in the place of one that is gone."""
    if target == last:
        return
    _copy(table[last], table[target])
    ids[target] = ids[last]
    for i in range(target):
        costs[target, i] = costs[last, i]
    for i in range(target + 1, last):
        costs[i, target] = costs[last, i]


@kernel
def _store(table: Array, place: int, joint: Array) -> None:
    """Keep a merged cluster as it will be read back (see the module's text)."""
    _copy(joint, table[place])
    if joint[SIZE] > 2:
        table[place, VV] = 2 * joint[UV] * joint[UV] / joint[UU] if joint[UU] > 0 else 0.0


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
def _costs(table: Array, alpha: float, costs: Array, least: Array, place: Integers) -> None:
    """Compute what every merge of two points costs."""
    scratch = np.empty(FIELDS)
    for j in range(1, table.shape[0]):
        for i in range(j):
            costs[j, i] = _joined(table[i], table[j], alpha, scratch)
        _scan(costs, j, least, place)


@kernel
def _cheapest(least: Array, clusters: int) -> int:
    """Give the row with the least cost, the last of equal ones."""
    best = 1
    for j in range(2, clusters):
        if least[j] <= least[best]:
            best = j
    return best


@kernel
def _renew(
    table: Array,
    truth: Array,
    i: int,
    clusters: int,
    alpha: float,
    costs: Array,
    least: Array,
    place: Integers,
) -> None:
    """Compute what merges with the new cluster i cost."""
    scratch = np.empty(FIELDS)
    for k in range(i):
        costs[i, k] = _joined(table[k], truth, alpha, scratch)
    if i > 0:
        _scan(costs, i, least, place)
    for k in range(i + 1, clusters):
        costs[k, i] = _joined(truth, table[k], alpha, scratch)
        _changed(costs, k, i, least, place)


@kernel
def partitions(u: Array, v: Array, alpha: float, classes: Integers) -> None:
    """Cluster n points; row k - 1 of `classes` becomes the partition into k classes."""
    n, most = u.size, classes.shape[0]
    table = np.zeros((n, FIELDS))
    table[:, SIZE], table[:, TERM] = 1.0, math.log(alpha)
    for i in range(n):
        table[i, U], table[i, V] = u[i], v[i]
    ids, owner, numbers = np.arange(n), np.arange(n), np.empty(n, dtype=np.int64)
    costs, least, place = np.empty((n, n)), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    _costs(table, alpha, costs, least, place)
    truth, joint = np.empty(FIELDS), np.empty(FIELDS)
    newest = -1  # the cluster whose true scatter is still at hand
    for clusters in range(n, 1, -1):
        if clusters <= most:
            _snapshot(owner, classes[clusters - 1], numbers)
        j, last = _cheapest(least, clusters), clusters - 1
        i = place[j]
        first = truth if i == newest else table[i]
        second = truth if j == newest else table[j]
        _joined(first, second, alpha, joint)
        if newest not in (i, j):  # the cost may date from when one of them was the newest
            joint[TERM] = least[j] + (first[TERM] + second[TERM])
        for point in range(n):
            if owner[point] == ids[j]:
                owner[point] = ids[i]
        _move(table, costs, ids, j, last)
        if j < last:
            _scan(costs, j, least, place)
            for row in range(j + 1, last):
                _changed(costs, row, j, least, place)
        _copy(joint, truth)
        newest = i
        _store(table, i, joint)
        _renew(table, truth, i, last, alpha, costs, least, place)
    _snapshot(owner, classes[0], numbers)


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
