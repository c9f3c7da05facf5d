"""Small matrices for the covariance models, compiled: factors, eigenvalues, orthogonal parts.

A symmetric matrix is kept as a factor, shape (d, d): on the diagonal what each coordinate has left
when those before it explain it, above it the slopes on what those had left. Small variances do not
drown in products of large ones then. Eigenvalues come from Jacobi's rotations of columns, which
keep the digits of small ones, too.

References
----------
.. [1] W. M. Gentleman, "Least squares computations by Givens transformations without square roots",
       J. Inst. Maths Applics 12, 1973.
"""

from __future__ import annotations

import math

from ...stats.compiled import kernel
from ...stats.samples import Array

_EPS = 2.0**-52
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
