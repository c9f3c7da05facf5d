"""The M-steps of the fourteen covariance models in the plane, compiled.

A model says what the components share ([1]_). Its name has a letter for volume, one for shape and
one for orientation of the ellipses: E equal, V varying, I (shape) a circle or (orientation) along
the axes. Every M-step is a function of the components' scatter matrices alone. The tests for
vanishing variances are those of mclust 6.0.0, so that the same candidates are discarded.

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

from ....stats.compiled import kernel
from ....stats.samples import Array

XX, XY, YY, REST, SIZE = range(5)  # rows of `scatter`; REST is what y has left when x explains it
STATE = 6  # numbers that a model keeps from one iteration to the next, and 3 for each component
_EPS = 2.0**-52
ROOT = math.sqrt(_EPS)
_INNER = ROOT  # mclust's tolerance of the iterations inside an M-step
_MOST_INNER = 100_000  # mclust has no limit
# the places of the names in models.MODELS
_EII, _VII, _EEI, _VEI, _EVI, _VVI, _EEE, _VEE, _EVE, _VVE, _EEV, _VEV, _EVV, _VVV = range(14)


@kernel
def fresh(state: Array) -> None:
    """Set the state before the first iteration: unit scales and shapes, axes as they are."""
    state[:] = 1.0
    state[1], state[2], state[4] = 0.0, 0.0, 0.0  # orientation 1 0 0 1; state[4] counts iterations


@kernel
def _put(cov: Array, k: int, xx: float, slope: float, rest: float) -> None:
    """Keep a covariance matrix as variance of x, slope of y on x, variance of what is left."""
    cov[0, k], cov[1, k], cov[2, k] = xx, slope, rest


@kernel
def _put_ellipse(cov: Array, k: int, major: float, minor: float, c: float, s: float) -> None:
    xx = major * c * c + minor * s * s
    _put(cov, k, xx, (major - minor) * c * s / xx, major * minor / xx)


@kernel
def _grow(cov: Array, factor: float) -> None:
    """Multiply all covariances (by number: in-place operations on rows are slow to compile)."""
    for k in range(cov.shape[1]):
        cov[0, k] *= factor
        cov[2, k] *= factor


@kernel
def _axes(scatter: Array, k: int) -> tuple[float, float, float, float]:
    """Give the eigenvalues of a scatter matrix, the larger first, and the first's direction."""
    xx, xy, yy = scatter[XX, k], scatter[XY, k], scatter[YY, k]
    spread = math.hypot(xx - yy, 2 * xy)
    large = 0.5 * (xx + yy + spread)
    small = xx * scatter[REST, k] / large if large > 0 else 0.0
    angle = 0.5 * math.atan2(2 * xy, xx - yy)
    return large, small, math.cos(angle), math.sin(angle)


@kernel
def _spheres(code: int, scatter: Array, n: float, cov: Array) -> bool:
    """EII and VII."""
    total = 0.0
    for k in range(cov.shape[1]):
        trace = scatter[XX, k] + scatter[YY, k]
        total += trace
        _put(cov, k, trace / (2 * scatter[SIZE, k]), 0.0, trace / (2 * scatter[SIZE, k]))
    if code == _EII:
        cov[0], cov[1], cov[2] = total / (2 * n), 0.0, total / (2 * n)
    return bool(cov[0].min() > _EPS)


@kernel
def _diagonals(code: int, scatter: Array, n: float, cov: Array) -> bool:
    """EEI, EVI and VVI."""
    volume = 0.0
    if code == _EEI:
        a, b = scatter[XX].sum(), scatter[YY].sum()
        root = math.sqrt(a) * math.sqrt(b)
        cov[0], cov[1], cov[2] = a / n, 0.0, b / n
        return root > _EPS and root / n > _EPS and min(a, b) / root > _EPS
    for k in range(cov.shape[1]):
        a, b, size = scatter[XX, k], scatter[YY, k], scatter[SIZE, k]
        root = math.sqrt(a) * math.sqrt(b)
        if min(a, b) <= 0 or root <= _EPS or min(a, b) / root <= _EPS:
            return False
        if code == _VVI:
            if root / size <= _EPS or min(a, b) <= _EPS:
                return False
            _put(cov, k, a / size, 0.0, b / size)
        else:
            volume += root
            _put(cov, k, a / root, 0.0, b / root)
    if code == _EVI:
        _grow(cov, volume / n)
        return volume / n > _EPS
    return True


@kernel
def _scales_and_shape(a: Array, b: Array, size: Array, state: Array) -> bool:
    """Alternate between the components' scales and their common shape.

    a and b are the sums of squares along both axes. The shape is state[5] along the first, its
    inverse along the second; the scales follow from state[STATE] on.
    """
    components = a.size
    scale = state[STATE : STATE + components]
    first, second = state[5], 1 / state[5]
    for _ in range(_MOST_INNER):
        if min(first, second) <= _EPS:
            return False
        change, p, q = 0.0, 0.0, 0.0
        for k in range(components):
            new = (a[k] / first + b[k] / second) / (2 * size[k])
            if not new > _EPS:
                return False
            change = max(change, abs(new - scale[k]) / (1 + new))
            scale[k] = new
            p += a[k] / new
            q += b[k] / new
        if min(p, q) <= _EPS:
            return False
        root = math.sqrt(p) * math.sqrt(q)
        change = max(change, abs(p / root - first) / (1 + p / root))
        change = max(change, abs(q / root - second) / (1 + q / root))
        first, second = p / root, q / root
        if change <= _INNER:
            break
    state[5] = first
    return bool(min(first, second) > _EPS)


@kernel
def _vei(scatter: Array, cov: Array, state: Array) -> bool:
    if not _scales_and_shape(scatter[XX], scatter[YY], scatter[SIZE], state):
        return False
    for k in range(cov.shape[1]):
        scale = state[STATE + k]
        _put(cov, k, scale * state[5], 0.0, scale / state[5])
    return True


@kernel
def _eev(scatter: Array, n: float, cov: Array) -> bool:
    a = b = 0.0
    for k in range(cov.shape[1]):
        large, small, _, _ = _axes(scatter, k)
        a += large
        b += small
    root = math.sqrt(a) * math.sqrt(b)
    if root <= _EPS or b / root <= _EPS or root / n <= _EPS or math.sqrt(b / n) <= ROOT:
        return False
    for k in range(cov.shape[1]):
        _, _, c, s = _axes(scatter, k)
        _put_ellipse(cov, k, a / n, b / n, c, s)
    return True


@kernel
def _vev(scatter: Array, n: float, cov: Array, state: Array) -> bool:
    components = cov.shape[1]
    large, small = np.empty(components), np.empty(components)
    for k in range(components):
        large[k], small[k], _, _ = _axes(scatter, k)
    if state[4] == 0:
        root = math.sqrt(large.sum()) * math.sqrt(small.sum())
        if root <= _EPS:
            return False
        state[STATE : STATE + components] = root / n
        state[5] = large.sum() / root
    if not _scales_and_shape(large, small, scatter[SIZE], state):
        return False
    if math.sqrt(1 / state[5]) <= ROOT:
        return False
    for k in range(components):
        _, _, c, s = _axes(scatter, k)
        scale = state[STATE + k]
        _put_ellipse(cov, k, scale * state[5], scale / state[5], c, s)
    return True


@kernel
def _free(code: int, scatter: Array, n: float, cov: Array) -> bool:
    """EEE, EVV and VVV."""
    components = cov.shape[1]
    if code == _EEE:
        xx = scatter[XX].sum()
        slope = scatter[XY].sum() / xx if xx > 0 else 0.0
        rest = 0.0
        for k in range(components):
            if scatter[XX, k] > 0:
                own = scatter[XY, k] / scatter[XX, k]
                rest += (own - slope) ** 2 * scatter[XX, k]
            rest += scatter[REST, k]
        cov[0], cov[1], cov[2] = xx / n, slope, rest / n
    volume, least = 0.0, np.inf
    for k in range(components):
        xx, size = scatter[XX, k], scatter[SIZE, k]
        slope = scatter[XY, k] / xx if xx > 0 else 0.0
        if code == _VVV:
            _put(cov, k, xx / size, slope, scatter[REST, k] / size)
        elif code == _EVV:
            large, small, _, _ = _axes(scatter, k)
            root = math.sqrt(large) * math.sqrt(small)
            if root <= 0 or small / root <= ROOT:
                return False
            volume += root
            least = min(least, root if k > 0 else np.inf)
            _put(cov, k, xx / root, slope, scatter[REST, k] / root)
    if code == _EVV:
        _grow(cov, volume / n)
        return volume / n > ROOT and least > ROOT
    for k in range(components):
        small = math.sqrt(min(cov[0, k], cov[2, k]))
        if not small / (1 + math.sqrt(max(cov[0, k], cov[2, k]))) > ROOT:
            return False
    return True


@kernel
def _vee(scatter: Array, n: float, cov: Array) -> bool:
    components = cov.shape[1]
    scale = np.ones(components)
    for k in range(components):
        xx, xy, yy = scatter[XX, k], scatter[XY, k], scatter[YY, k]
        if not (xx > 0 and yy - (xy / math.sqrt(xx)) ** 2 > 0):
            return False
    before, c_xx, slope, rest = 2.0**1022, 0.0, 0.0, 0.0
    for _ in range(_MOST_INNER):
        c_xx = c_xy = rest = 0.0
        for k in range(components):
            c_xx += scatter[XX, k] / scale[k]
            c_xy += scatter[XY, k] / scale[k]
        slope = c_xy / c_xx
        for k in range(components):
            own = scatter[XY, k] / scatter[XX, k]
            rest += (scatter[REST, k] + (own - slope) ** 2 * scatter[XX, k]) / scale[k]
        root = math.sqrt(c_xx) * math.sqrt(rest)
        c_xx, rest = c_xx / root, rest / root
        target = 2 * n
        for k in range(components):
            own = scatter[XY, k] / scatter[XX, k]
            left = scatter[REST, k] + (own - slope) ** 2 * scatter[XX, k]
            scale[k] = (scatter[XX, k] / c_xx + left / rest) / (2 * scatter[SIZE, k])
            target += 2 * math.log(scale[k]) * scatter[SIZE, k]
        change = abs(target - before) / (1 + abs(target))
        before = target
        if not change > _INNER:
            break
    c_yy = rest + slope * slope * c_xx
    large = 0.5 * (c_xx + c_yy + math.hypot(c_xx - c_yy, 2 * slope * c_xx))
    if not (1 / large > ROOT and scale.min() > ROOT):
        return False
    for k in range(components):
        _put(cov, k, scale[k] * c_xx, slope, scale[k] * rest)
    return True


@kernel
def _orthogonal(a: float, b: float, c: float, d: float, o: Array) -> None:
    """Write the orthogonal factor of the polar decomposition of [[a, b], [c, d]] to `o`."""
    if a * d - b * c >= 0:
        p, q, sign = a + d, c - b, -1.0
    else:
        p, q, sign = a - d, b + c, 1.0
    length = math.hypot(p, q)
    if length == 0:
        p, q, length = 1.0, 0.0, 1.0
    o[0], o[2] = p / length, q / length  # the first column
    o[1], o[3] = sign * o[2], -sign * o[0]


@kernel
def _turn(scatter: Array, shape: Array, d: Array) -> None:
    """Improve the common orientation d (columns are the axes) by both steps of [2]_."""
    f = np.zeros(4)
    for k in range(shape.shape[1]):
        xx, xy, yy = scatter[XX, k], scatter[XY, k], scatter[YY, k]
        largest = 0.5 * (xx + yy + math.hypot(xx - yy, 2 * xy))
        for j in range(2):
            p, q = d[j] / shape[j, k], d[2 + j] / shape[j, k]
            f[2 * j] += p * xx + q * xy - largest * p
            f[2 * j + 1] += p * xy + q * yy - largest * q
    _orthogonal(f[0], f[2], f[1], f[3], d)  # the factor of the transpose
    f[:] = 0.0
    for k in range(shape.shape[1]):
        xx, xy, yy = scatter[XX, k], scatter[XY, k], scatter[YY, k]
        most = max(1 / shape[0, k], 1 / shape[1, k])
        for j in range(2):
            p, q = xx * d[j] + xy * d[2 + j], xy * d[j] + yy * d[2 + j]
            f[j] += p / shape[j, k] - most * p
            f[2 + j] += q / shape[j, k] - most * q
    _orthogonal(f[0], f[1], f[2], f[3], d)


@kernel
def _common_axes(code: int, scatter: Array, n: float, cov: Array, state: Array) -> bool:
    """EVE and VVE."""
    components = cov.shape[1]
    d = state[:4]
    shape = state[STATE : STATE + 2 * components].reshape((2, components))
    scale = state[STATE + 2 * components : STATE + 3 * components]
    for k in range(components):
        _, small, _, _ = _axes(scatter, k)
        if not small >= ROOT:
            return False
    before = 2.0**1022
    for _ in range(_MOST_INNER):
        _turn(scatter, shape, d)
        target = 0.0
        for k in range(components):
            xx, xy, yy = scatter[XX, k], scatter[XY, k], scatter[YY, k]
            a = d[0] * (xx * d[0] + xy * d[2]) + d[2] * (xy * d[0] + yy * d[2])
            b = d[1] * (xx * d[1] + xy * d[3]) + d[3] * (xy * d[1] + yy * d[3])
            if not min(a, b) > 0:
                return False
            root = math.sqrt(a) * math.sqrt(b)
            scale[k] = root / scatter[SIZE, k]
            shape[0, k], shape[1, k] = a / root, b / root
            if min(a, b) / root < ROOT or (code == _VVE and scale[k] < ROOT):
                return False
            target += 2 * root
        change = abs(target - before) / (1 + abs(target))
        before = target
        if not change > _INNER:
            break
    if code == _EVE:
        scale[:] = before / (2 * n)
    for k in range(components):
        _put_ellipse(cov, k, scale[k] * shape[0, k], scale[k] * shape[1, k], d[0], d[2])
    return True


@kernel
def covariances(code: int, scatter: Array, n: float, cov: Array, state: Array) -> bool:
    """Compute the components' covariances from their scatter; tell whether they exist."""
    if code <= _VII:
        done = _spheres(code, scatter, n, cov)
    elif code == _VEI:
        done = _vei(scatter, cov, state)
    elif code <= _VVI:
        done = _diagonals(code, scatter, n, cov)
    elif code == _VEE:
        done = _vee(scatter, n, cov)
    elif code in (_EVE, _VVE):
        done = _common_axes(code, scatter, n, cov, state)
    elif code == _EEV:
        done = _eev(scatter, n, cov)
    elif code == _VEV:
        done = _vev(scatter, n, cov, state)
    else:
        done = _free(code, scatter, n, cov)
    state[4] += 1
    return done
