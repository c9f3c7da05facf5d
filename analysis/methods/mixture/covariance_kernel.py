"""The M-steps of the fourteen covariance models for d metrics, compiled.

A model says what the components share ([1]_). Its name has a letter for volume, one for shape and
one for orientation of the ellipsoids: E equal, V varying, I (shape) a sphere or (orientation) along
the axes. Every M-step is a function of the components' scatter matrices alone. The tests for
vanishing variances are those of mclust 6.0.0, so that the same candidates are discarded.

Scatter and covariance matrices are kept as factors (see `factor_kernel`).

References
----------
.. [1] G. Celeux, G. Govaert, "Gaussian parsimonious clustering models", Pattern Recognition 28(5),
       1995.
.. [2] R. P. Browne, P. D. McNicholas, "Estimating common principal components in high dimensions",
       Advances in Data Analysis and Classification 8(2), 2014 (EVE and VVE).
"""

from __future__ import annotations

import math

import numpy as np

from ...stats.compiled import kernel
from ...stats.samples import Array

_EPS = 2.0**-52
ROOT = math.sqrt(_EPS)
_INNER = ROOT  # mclust's tolerance of the iterations inside an M-step
_MOST_INNER = 100_000  # mclust has no limit
# the places of the names in models.MODELS; the axes of those up to VVI are the coordinates' own
_EII, _VII, _EEI, _VEI, _EVI, VVI, _EEE, _VEE, _EVE, _VVE, _EEV, _VEV, _EVV, _VVV = range(14)


def state_of(d: int, components: int) -> Array:
    """Give what a model keeps from one iteration to the next, before the first one.

    A count of iterations, the common shape, the axes (d, d), then of each component its shape
    (components, d) and its scale.
    """
    ones = np.ones((components, d + 1))
    return np.concatenate(([0.0], np.ones(d), np.eye(d).ravel(), ones.ravel()))


@kernel
def _put_diagonal(a: Array, factor: float, cov: Array) -> None:
    """Write a covariance matrix with these variances, times a factor."""
    for i in range(a.size):
        for j in range(a.size):
            cov[i, j] = 0.0
        cov[i, i] = a[i] * factor


@kernel
def _put_scaled(source: Array, factor: float, cov: Array) -> None:
    """Copy a factor, its matrix multiplied by a number."""
    for i in range(source.shape[0]):
        for j in range(source.shape[0]):
            cov[i, j] = source[i, j]
        cov[i, i] = source[i, i] * factor


@kernel
def _put_ellipsoid(lengths: Array, factor: float, axes: Array, row: Array, cov: Array) -> None:
    """Write the factor of the covariance matrix with these eigenvalues along columns of `axes`."""
    d = lengths.size
    cov[:] = 0.0
    for k in range(d):
        for j in range(d):
            row[j] = axes[j, k]
        fold(row, lengths[k] * factor, cov)


@kernel
def _spheres(code: int, squares: Array, sizes: Array, n: float, cov: Array) -> bool:
    """EII and VII."""
    components, d = squares.shape
    whole, least = 0.0, np.inf
    one = np.ones(d)
    for k in range(components):
        trace = 0.0
        for j in range(d):
            trace += squares[k, j]
        whole += trace
        least = min(least, trace / (d * sizes[k]))
        _put_diagonal(one, trace / (d * sizes[k]), cov[k])
    if code == _EII:
        least = whole / (d * n)
        for k in range(components):
            _put_diagonal(one, least, cov[k])
    return bool(least > _EPS)


@kernel
def _diagonals(code: int, squares: Array, sizes: Array, n: float, cov: Array) -> bool:
    """EEI, EVI and VVI."""
    components, d = squares.shape
    if code == _EEI:
        total = np.zeros(d)
        for k in range(components):
            for j in range(d):
                total[j] += squares[k, j]
        for k in range(components):
            _put_diagonal(total, 1 / n, cov[k])
        root = mean_of_logs(total)
        return root > _EPS and root / n > _EPS and total.min() / root > _EPS
    volume = 0.0
    for k in range(components):
        root, least = mean_of_logs(squares[k]), squares[k].min()
        if root <= _EPS or least / root <= _EPS:
            return False
        if code == VVI:
            if root / sizes[k] <= _EPS or least <= _EPS:
                return False
            _put_diagonal(squares[k], 1 / sizes[k], cov[k])
        volume += root
    if code == _EVI:
        for k in range(components):
            _put_diagonal(squares[k], volume / n / mean_of_logs(squares[k]), cov[k])
        return volume / n > _EPS
    return True


@kernel
def _scales_and_shape(squares: Array, sizes: Array, shape: Array, scale: Array) -> bool:
    """Alternate between the components' scales and their common shape.

    `squares` are the sums of squares along the axes, shape (K, d).
    """
    components, d = squares.shape
    total = np.empty(d)
    for _ in range(_MOST_INNER):
        if shape.min() <= _EPS:
            return False
        change = 0.0
        total[:] = 0.0
        for k in range(components):
            new = 0.0
            for j in range(d):
                new += squares[k, j] / shape[j]
            new /= d * sizes[k]
            if not new > _EPS:
                return False
            change = max(change, abs(new - scale[k]) / (1 + new))
            scale[k] = new
            for j in range(d):
                total[j] += squares[k, j] / new
        if total.min() <= _EPS:
            return False
        root = mean_of_logs(total)
        for j in range(d):
            new = total[j] / root
            change = max(change, abs(new - shape[j]) / (1 + new))
            shape[j] = new
        if change <= _INNER:
            break
    return bool(shape.min() > _EPS)


@kernel
def _one_shape(
    code: int, squares: Array, scatter: Array, sizes: Array, n: float, cov: Array, state: Array
) -> bool:
    """VEI, EEV and VEV."""
    components, d = squares.shape
    shape, scale = state[1 : 1 + d], state[state.size - components :]
    if code == _VEI:
        if not _scales_and_shape(squares, sizes, shape, scale):
            return False
        for k in range(components):
            _put_diagonal(shape, scale[k], cov[k])
        return True
    values, total, row = np.empty((components, d)), np.zeros(d), np.empty(d)
    axes = np.empty((components, d, d))
    for k in range(components):
        eigen(scatter[k], values[k], axes[k])
        for j in range(d):
            total[j] += values[k, j]
    if code == _EEV or state[0] == 0:
        root = mean_of_logs(total)
        if root <= _EPS:
            return False
        shape[:] = total / root
        scale[:] = root / n
    if code == _EEV:
        least = shape.min()
        if least <= _EPS or scale[0] <= _EPS or math.sqrt(least * scale[0]) <= ROOT:
            return False
    elif not _scales_and_shape(values, sizes, shape, scale) or math.sqrt(shape.min()) <= ROOT:
        return False
    for k in range(components):
        _put_ellipsoid(shape, scale[k], axes[k], row, cov[k])
    return True


@kernel
def _widths(cov: Array) -> bool:
    """Tell whether the smallest entry of Cholesky's factor is no rounding error of the largest."""
    least, most = np.inf, 0.0
    for j in range(cov.shape[0]):
        least, most = min(least, cov[j, j]), max(most, cov[j, j])
    return math.sqrt(least) / (1 + math.sqrt(most)) > ROOT


@kernel
def _free(code: int, scatter: Array, sizes: Array, n: float, cov: Array) -> bool:
    """EEE, EVV and VVV."""
    components, d = scatter.shape[0], scatter.shape[1]
    if code == _VVV:
        sound = True
        for k in range(components):
            _put_scaled(scatter[k], 1 / sizes[k], cov[k])
            sound = sound and _widths(cov[k])
        return sound
    row, common = np.empty(d), np.zeros((d, d))
    if code == _EEE:
        for k in range(components):
            add_factor(scatter[k], 1.0, row, common)
        for k in range(components):
            _put_scaled(common, 1 / n, cov[k])
        return _widths(cov[0])
    roots = np.empty(components)
    for k in range(components):
        eigen(scatter[k], row, common)
        roots[k] = mean_of_logs(row)
        if roots[k] <= 0 or row[d - 1] / roots[k] <= ROOT or (k > 0 and roots[k] <= ROOT):
            return False
    volume = roots.sum() / n
    for k in range(components):
        _put_scaled(scatter[k], volume / roots[k], cov[k])
    return bool(volume > ROOT)


@kernel
def _explained(scatter: Array, common: Array, row: Array) -> float:
    """Give the trace of one matrix times the inverse of another, both kept as factors."""
    d, total = row.size, 0.0
    for k in range(d):
        if scatter[k, k] == 0.0:
            continue
        part = 0.0
        for j in range(k, d):
            left = scatter[k, j] if j > k else 1.0
            for i in range(k, j):
                left -= row[i] * common[i, j]
            row[j] = left
            part += left * left / common[j, j]
        total += part * scatter[k, k]
    return total


@kernel
def _vee(scatter: Array, sizes: Array, n: float, cov: Array) -> bool:
    components, d = scatter.shape[0], scatter.shape[1]
    scale, row, left = np.ones(components), np.empty(d), np.empty((d, d))
    common = np.empty((d, d))
    for k in range(components):
        square(scatter[k], common)
        if not definite(common, left):
            return False
    before = 2.0**1022
    for _ in range(_MOST_INNER):
        common[:] = 0.0
        for k in range(components):
            add_factor(scatter[k], 1 / scale[k], row, common)
        logs = 0.0
        for j in range(d):
            logs += math.log(common[j, j])
        root = math.exp(logs / d)
        for j in range(d):
            common[j, j] /= root
        target = d * n
        for k in range(components):
            scale[k] = _explained(scatter[k], common, row) / (d * sizes[k])
            target += d * math.log(scale[k]) * sizes[k]
        change = abs(target - before) / (1 + abs(target))
        before = target
        if not change > _INNER:
            break
    eigen(common, row, left)
    if not (row[d - 1] > ROOT and scale.min() > ROOT):
        return False
    for k in range(components):
        _put_scaled(common, scale[k], cov[k])
    return True


@kernel
def _turn(w: Array, largest: Array, shape: Array, axes: Array, room: Array, lengths: Array) -> None:
    """Improve the common orientation (columns are the axes) by both steps of [2]_."""
    components, d = shape.shape
    f, turns = room[0], room[1]
    f[:] = 0.0
    for k in range(components):
        for j in range(d):
            for i in range(d):
                total = 0.0
                for m in range(d):
                    total += axes[m, j] / shape[k, j] * w[k, m, i]
                f[i, j] += total - largest[k] * (axes[i, j] / shape[k, j])
    orthogonal(f, turns, lengths, axes)
    f[:] = 0.0
    for k in range(components):
        most = 0.0
        for j in range(d):
            most = max(most, 1 / shape[k, j])
        for j in range(d):
            for i in range(d):
                total = 0.0
                for m in range(d):
                    total += w[k, i, m] * axes[m, j]
                f[i, j] += total / shape[k, j] - most * total
    orthogonal(f, turns, lengths, axes)


@kernel
def _along(w: Array, axes: Array, j: int) -> float:
    """Give the sum of squares of a scatter matrix along an axis."""
    d, total = axes.shape[0], 0.0
    for i in range(d):
        part = 0.0
        for m in range(d):
            part += w[i, m] * axes[m, j]
        total += axes[i, j] * part
    return total


@kernel
def _common_axes(
    code: int, scatter: Array, sizes: Array, n: float, cov: Array, state: Array
) -> bool:
    """EVE and VVE."""
    components, d = scatter.shape[0], scatter.shape[1]
    axes = state[1 + d : 1 + d + d * d].reshape((d, d))
    of_shapes = 1 + d + d * d
    shape = state[of_shapes : of_shapes + components * d].reshape((components, d))
    scale = state[state.size - components :]
    w, room = np.empty((components, d, d)), np.empty((2, d, d))
    largest, lengths = np.empty(components), np.empty(d)
    for k in range(components):
        eigen(scatter[k], lengths, room[0])
        if not lengths[d - 1] >= ROOT:
            return False
        largest[k] = lengths[0]
        square(scatter[k], w[k])
    before = 2.0**1022
    for _ in range(_MOST_INNER):
        _turn(w, largest, shape, axes, room, lengths)
        target = 0.0
        for k in range(components):
            for j in range(d):
                lengths[j] = _along(w[k], axes, j)
            root = mean_of_logs(lengths)
            if not root > 0:
                return False
            scale[k] = root / sizes[k]
            for j in range(d):
                shape[k, j] = lengths[j] / root
            if lengths.min() / root < ROOT or (code == _VVE and scale[k] < ROOT):
                return False
            target += d * root
        change = abs(target - before) / (1 + abs(target))
        before = target
        if not change > _INNER:
            break
    if code == _EVE:
        scale[:] = before / (d * n)
    for k in range(components):
        _put_ellipsoid(shape[k], scale[k], axes, lengths, cov[k])
    return True


@kernel
def covariances(
    code: int, squares: Array, scatter: Array, sizes: Array, n: float, cov: Array, state: Array
) -> bool:
    """Compute the components' covariances from their scatter; tell whether they exist.

    `squares` (K, d) are sums of squares of each coordinate, `scatter` (K, d, d) factors of the
    scatter matrices, which models up to VVI do not read; `cov` gets factors.
    """
    if code <= _VII:
        done = _spheres(code, squares, sizes, n, cov)
    elif code in (_VEI, _EEV, _VEV):
        done = _one_shape(code, squares, scatter, sizes, n, cov, state)
    elif code <= VVI:
        done = _diagonals(code, squares, sizes, n, cov)
    elif code == _VEE:
        done = _vee(scatter, sizes, n, cov)
    elif code in (_EVE, _VVE):
        done = _common_axes(code, scatter, sizes, n, cov, state)
    else:
        done = _free(code, scatter, sizes, n, cov)
    state[0] += 1
    return done


# --- Small matrices for the covariance models, compiled: factors, eigenvalues, orthogonal parts.

_ALIKE = 2.0**-26  # coordinates that are known as well as each other, but for rounding
_MOST_SWEEPS = 60  # of Jacobi's rotations; ten are many


@kernel
def mean_of_logs(a: Array) -> float:
    """Give the geometric mean of positive numbers, zero when one is not."""
    total = 0.0
    for j in range(a.size):
        if not a[j] > 0:
            return 0.0
        total += math.log(a[j])
    return math.exp(total / a.size)


@kernel
def fold(row: Array, weight: float, factor: Array) -> None:
    """Add weight times the outer square of a row to a matrix kept as a factor ([1]_)."""
    d = row.size
    for i in range(d):
        x = row[i]
        if weight == 0.0:
            return
        if x == 0.0:
            continue
        before = factor[i, i]
        now = before + weight * x * x
        keep, add = before / now, weight * x / now
        weight *= keep
        factor[i, i] = now
        for j in range(i + 1, d):
            y = row[j]
            row[j] = y - x * factor[i, j]
            factor[i, j] = keep * factor[i, j] + add * y


@kernel
def add_factor(source: Array, weight: float, row: Array, factor: Array) -> None:
    """Add weight times one matrix to another, both kept as factors."""
    d = row.size
    for i in range(d):
        for j in range(d):
            row[j] = source[i, j] if j > i else 0.0
        row[i] = 1.0
        fold(row, weight * source[i, i], factor)


@kernel
def _rotated(columns: Array, turns: Array) -> None:
    """Make columns orthogonal by Jacobi's rotations, done to `turns` as well, the longest first."""
    d, sides = columns.shape[1], turns.shape[0]
    for _ in range(_MOST_SWEEPS):
        done = True
        for p in range(d - 1):
            for q in range(p + 1, d):
                a = b = c = 0.0
                for i in range(d):
                    a += columns[i, p] * columns[i, p]
                    b += columns[i, q] * columns[i, q]
                    c += columns[i, p] * columns[i, q]
                if c == 0.0 or abs(c) <= _EPS * math.sqrt(a) * math.sqrt(b):
                    if b <= a:
                        continue
                    cosine, sine = 0.0, 1.0
                else:
                    done = False
                    ratio = (b - a) / (2 * c)
                    t = 1 / (abs(ratio) + math.sqrt(1 + ratio * ratio))
                    t = t if ratio >= 0 else -t
                    cosine = 1 / math.sqrt(1 + t * t)
                    sine = cosine * t
                for i in range(d):
                    x, y = columns[i, p], columns[i, q]
                    columns[i, p], columns[i, q] = cosine * x - sine * y, sine * x + cosine * y
                for i in range(sides):
                    x, y = turns[i, p], turns[i, q]
                    turns[i, p], turns[i, q] = cosine * x - sine * y, sine * x + cosine * y
        if done:
            return


@kernel
def _normalised(columns: Array, lengths: Array) -> None:
    """Divide orthogonal columns by their lengths; fill those of length zero up to a basis."""
    d = lengths.size
    for k in range(d):
        total = 0.0
        for i in range(d):
            total += columns[i, k] * columns[i, k]
        lengths[k] = math.sqrt(total)
        for i in range(d):
            columns[i, k] = columns[i, k] / lengths[k] if lengths[k] > 0 else 0.0
    for k in range(d):
        if not lengths[k] > 0:
            _fill(columns, k)


@kernel
def _fill(columns: Array, k: int) -> None:
    """Make a column of zeros a direction that is orthogonal to the other columns."""
    d = columns.shape[1]
    least, best = 2.0, 0  # the coordinate that the other columns know least of
    for j in range(d):
        known = 0.0
        for i in range(d):
            known += columns[j, i] * columns[j, i]
        if known < least - _ALIKE:
            least, best = known, j
    length = 0.0
    for j in range(d):
        left = 1.0 if j == best else 0.0
        for i in range(d):
            if i != k:
                left -= columns[best, i] * columns[j, i]
        length += left * left
        columns[j, k] = left
    for j in range(d):
        columns[j, k] /= math.sqrt(length)


@kernel
def eigen(factor: Array, values: Array, axes: Array) -> None:
    """Write eigenvalues of a matrix kept as a factor, the largest first, and its axes as columns."""
    d = values.size
    for k in range(d):
        root = math.sqrt(factor[k, k])
        for j in range(d):
            axes[j, k] = factor[k, j] * root if j > k else root if j == k else 0.0
    _rotated(axes, axes[:0])
    _normalised(axes, values)
    for k in range(d):
        values[k] *= values[k]


@kernel
def orthogonal(f: Array, turns: Array, lengths: Array, o: Array) -> None:
    """Write the orthogonal factor of the polar decomposition of f to `o`; f is used up."""
    d = lengths.size
    for i in range(d):
        for j in range(d):
            turns[i, j] = 1.0 if i == j else 0.0
    _rotated(f, turns)
    _normalised(f, lengths)
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += f[i, k] * turns[j, k]
            o[i, j] = total


@kernel
def square(factor: Array, w: Array) -> None:
    """Write the matrix that is kept as a factor."""
    d = factor.shape[0]
    for i in range(d):
        for j in range(i, d):
            total = factor[i, i] * (factor[i, j] if j > i else 1.0)
            for k in range(i):
                total += factor[k, k] * factor[k, i] * factor[k, j]
            w[i, j] = w[j, i] = total


@kernel
def definite(w: Array, left: Array) -> bool:
    """Tell whether a matrix, rounded as it is, has a Cholesky factor."""
    d = w.shape[0]
    for i in range(d):
        for j in range(i, d):
            total = w[i, j]
            for k in range(i):
                total -= left[k, i] * left[k, j]
            if j == i:
                if not total > 0:
                    return False
                left[i, i] = math.sqrt(total)
            else:
                left[i, j] = total / left[i, i]
    return True
