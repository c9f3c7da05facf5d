"""Two-sample tests for many pairs of samples at once, each p as R 4 computes it.

Every function takes `x` of shape (pairs, n) and `y` of shape (pairs, m), or one flat sample each, and
tests the pairs row by row. One-sided tests ask whether x tends to be larger.

Where scipy 1.17 agrees with R, its special functions are used, and what is here only takes all pairs
together: `f_test` (scipy has no such test), `student` and `welch` (``ttest_ind`` agrees).
Where it does not agree, the law is our own:

- ``ks_2samp`` takes no account of ties: its exact p is the one without them, and its asymptotic p
  uses another approximation than R's limit law. See `ks_centred`.
- ``mannwhitneyu`` agrees with R in its exact form without ties and in its normal form, but its
  ``method="auto"`` goes by other sizes (8 runs instead of 50). See `rank_sum`.

References
----------
.. [1] W. J. Conover, "Practical Nonparametric Statistics", 3rd ed., 1999, chapters 5 and 6.
.. [2] G. Schröer, D. Trenkler, "Exact and randomization distributions of Kolmogorov-Smirnov tests for
   two or three samples", Computational Statistics & Data Analysis 20, 1995.
.. [3] M. Hollander, D. A. Wolfe, E. Chicken, "Nonparametric Statistical Methods", 3rd ed., 2013.
.. [4] B. L. Welch, "The generalization of Student's problem when several different population
   variances are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AnalysisError, InsufficientDataError, UsageError
from .ranks import rank_sum_table

__all__ = ["PairTests", "f_test", "ks_centred", "rank_sum", "student", "welch"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

# R: the sizes up to which ks.test and wilcox.test are exact.
_KS_EXACT_BELOW = 10_000  # n m
_RANK_SUM_EXACT_BELOW = 50  # n and m
# R: t.test refuses when the standard error is below so many units of rounding of the means.
_CONSTANT = 10 * np.finfo(np.float64).eps
_CENTRING_NOISE = 1e-10  # of the largest deviation from the median
_STRADDLING = 0.1  # of that unit
_RESOLUTION = 4 * np.finfo(np.float64).eps  # of a difference of two deviations, per largest value
_LIMIT_TOLERANCE = 1e-6  # of R's limit law
_CHUNK = 1 << 20  # cells of one array of paths


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTests:
    """A statistic and its p for each pair; nan where the data leave the statistic undefined.

    `df` are the degrees of freedom where the law has one kind of them, `exact` tells whether p is
    exact (given the ties) or from a limit law; None where that is no question.
    """

    statistic: Array
    pvalue: Array
    df: Array | None = None
    exact: Flags | None = None


def f_test(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two variances, two-sided, as R's ``var.test``.

    H0: the two normal distributions have the same variance. F = s_x^2 / s_y^2. R gives p = 0 where one
    sample is constant and no p where both are; here both give nan.

    Raises
    ------
    InsufficientDataError
        With fewer than 2 values on a side.
    """
    from scipy.special import fdtr, fdtrc

    a, b = _pairs(x, y, least=2)
    var_a, var_b = _variance(a), _variance(b)
    usable = (var_a > 0) & (var_b > 0)
    ratio = np.where(usable, var_a, np.nan) / np.where(usable, var_b, 1.0)
    dfs = a.shape[1] - 1, b.shape[1] - 1
    tails = np.minimum(fdtr(*dfs, ratio), fdtrc(*dfs, ratio))
    return PairTests(statistic=ratio, pvalue=np.minimum(1.0, 2 * tails))


def student(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two means by the pooled t, as R's ``t.test(var.equal=TRUE)``.

    H0: mean(x) <= mean(y), for normal samples with one variance. nan where the values are constant up
    to rounding, by R's rule.

    Raises
    ------
    InsufficientDataError
        With fewer than 2 values on a side.
    """
    a, b = _pairs(x, y, least=2)
    n, m = a.shape[1], b.shape[1]
    df = n + m - 2
    pooled = ((n - 1) * _variance(a) + (m - 1) * _variance(b)) / df
    return _t_test(a, b, pooled * (1 / n + 1 / m), np.full(len(a), float(df)))


def welch(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two means by Welch's t [4]_, as R's ``t.test``.

    H0: mean(x) <= mean(y), for normal samples of any variances. nan where the values are constant up
    to rounding, by R's rule.

    Raises
    ------
    InsufficientDataError
        With fewer than 2 values on a side.
    """
    a, b = _pairs(x, y, least=2)
    n, m = a.shape[1], b.shape[1]
    of_a, of_b = _variance(a) / n, _variance(b) / m
    total = of_a + of_b
    safe = np.where(total > 0, total, 1.0)  # shares, because the squares of variances may underflow
    df = 1 / np.maximum((of_a / safe) ** 2 / (n - 1) + (of_b / safe) ** 2 / (m - 1), 1e-300)
    return _t_test(a, b, total, df)


def _t_test(a: Array, b: Array, variance: Array, df: Array) -> PairTests:
    from scipy.special import betainc

    mean_a, mean_b = _mean(a), _mean(b)
    error = np.sqrt(variance)
    usable = error >= _CONSTANT * np.maximum(np.abs(mean_a), np.abs(mean_b))
    usable &= error > 0
    t = np.where(usable, mean_a - mean_b, np.nan) / np.where(usable, error, 1.0)
    df = np.where(usable, df, np.nan)
    tail = betainc(df / 2, 0.5, df / (df + t**2)) / 2
    return PairTests(statistic=t, pvalue=np.where(t > 0, tail, 1 - tail), df=df)


def ks_centred(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Compare two shapes by the Kolmogorov-Smirnov distance of the samples less their medians.

    H0: x - median(x) and y - median(y) have the same distribution. Medians are estimated, so that p is
    approximate whatever its law. Centring makes ties (both sides hold a 0 when their sizes are odd) and
    rounding noise, so deviations are rounded to 1e-10 of the largest one of the pair. They also tie where
    only a limit of rounding separates them, by less than a tenth of that unit, or less than what binary
    numbers of the samples' size resolve (100 s with deviations of 0.1 ms carry noise of some such units).
    D is compared in whole numbers: D n m = max abs(m #{x <= t} - n #{y <= t}).

    p is exact given the ties where n m < 10,000, as R's ``ks.test`` from 4.1 on (``psmirnov`` with
    ``z``) [2]_; beyond, it is the limit law as R sums it: only the first term of the series for small
    arguments (up to 4e-5 below the full series), and no regard to ties. ``scipy.stats.ks_2samp``
    agrees with neither in the presence of ties, and differs from the limit law without them.

    Raises
    ------
    InsufficientDataError
        If a sample is empty.
    """
    a, b = _pairs(x, y, least=1)
    n, m = a.shape[1], b.shape[1]
    a = a - np.median(a, axis=1, keepdims=True)
    b = b - np.median(b, axis=1, keepdims=True)
    both = np.concatenate([a, b], axis=1)
    largest = np.abs(both).max(axis=1, keepdims=True)
    unit = np.where(largest > 0, largest, 1.0) * _CENTRING_NOISE
    order, ordered = _sorted(both / unit)
    whole = np.rint(ordered)
    ends = np.ones(ordered.shape, dtype=np.bool_)
    # Noise may straddle a limit of rounding; the values are below 1 here, so its size is known.
    noise = np.maximum(_STRADDLING, _RESOLUTION / unit)
    ends[:, :-1] = (whole[:, 1:] != whole[:, :-1]) & (np.diff(ordered, axis=1) > noise)
    path = np.cumsum(np.where(order < n, m, -n), axis=1)
    crossed = np.where(ends, np.abs(path), 0).max(axis=1)
    if n * m < _KS_EXACT_BELOW:
        pvalue = _smirnov(crossed, ends, n, m)
    else:
        pvalue = _kolmogorov(math.sqrt(n * m / (n + m)) * crossed / (n * m))
    return PairTests(
        statistic=crossed / (n * m),
        pvalue=pvalue,
        exact=np.full(len(both), n * m < _KS_EXACT_BELOW),
    )


def _smirnov(crossed: Whole, ends: Flags, n: int, m: int) -> Array:
    """Give P(D n m >= crossed) given the ties: `ends` marks the last value of each tied group.

    The law depends on the two alone, so equal rows are computed once.
    """
    keys = np.concatenate([crossed[:, None].view(np.uint8), np.packbits(ends, axis=1)], axis=1)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    each = max(1, _CHUNK // (min(n, m) + 1))
    laws = [
        _paths(crossed[part], ends[part], min(n, m), max(n, m))
        for part in np.split(first, range(each, first.size, each))
    ]
    return np.where(crossed > 0, np.concatenate(laws)[which.ravel()], 1.0)


def _paths(crossed: Whole, ends: Flags, a: int, b: int) -> Array:
    """Follow the chances of all orders of a + b values, and collect those that go as far.

    The state is how many of the a smaller sample's values have come so far; each next value is one of
    the rest with equal chances. Only sums of positive terms: small p keep their digits.
    """
    total = a + b
    u = np.arange(a + 1)
    state = np.zeros((crossed.size, a + 1))
    state[:, 0] = 1.0
    far = np.zeros(crossed.size)
    for k in range(1, total + 1):
        rest = total - k + 1
        other = np.maximum(b - (k - 1 - u), 0) / rest  # where that is below 0 the state is 0
        following = state * other
        following[:, 1:] += state[:, :-1] * ((a - u[:-1]) / rest)
        distance = np.abs(u * b - (k - u) * a)
        beyond = (distance >= crossed[:, None]) & ends[:, k - 1, None]
        far += np.sum(following, axis=1, where=beyond)
        following[beyond] = 0.0
        state = following
    return np.minimum(far, 1.0)


def _kolmogorov(x: Array) -> Array:
    """Give 1 - K(x), K the limit law, summed as R does it."""
    small = np.where((x > 0) & (x < 1), x, 0.5)
    terms = range(1, int(math.sqrt(2 - math.log(_LIMIT_TOLERANCE))), 2)
    below = sum(np.exp(-(k**2) * math.pi**2 / (8 * small**2)) for k in terms)
    large = np.maximum(x, 1.0)
    above = sum(2 * (-1) ** (k - 1) * np.exp(-2 * (k * large) ** 2) for k in range(1, 6))
    pvalue = np.where(x < 1, 1 - math.sqrt(2 * math.pi) / small * below, above)
    return np.where(x > 0, np.minimum(1.0, pvalue), 1.0)


def rank_sum(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test whether x tends to be larger, by Wilcoxon's, Mann's and Whitney's W, as ``wilcox.test``.

    H0: F_x >= F_y. W counts the pairs with x_i > y_j, and half of those that tie. p is exact
    without ties when both sizes are below 50, else normal with tie and continuity correction; values
    tie only when they are equal. Where all values are equal p is 1.

    Raises
    ------
    InsufficientDataError
        If a sample is empty.
    """
    from scipy.special import ndtr

    a, b = _pairs(x, y, least=1)
    n, m = a.shape[1], b.shape[1]
    total = n + m
    order, ordered = _sorted(np.concatenate([a, b], axis=1))
    ends = np.ones(ordered.shape, dtype=np.bool_)
    ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(total)
    last = np.minimum.accumulate(np.where(ends, place, total)[:, ::-1], axis=1)[:, ::-1]
    starts = np.ones_like(ends)
    starts[:, 1:] = ends[:, :-1]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ranks = (first + last) / 2 + 1
    w = np.sum(ranks, axis=1, where=order < n) - n * (n + 1) / 2
    size = (last - first + 1).astype(np.float64)
    ties = np.sum(size**2 - 1, axis=1)  # the sum of t^3 - t over the groups
    exact = (ties == 0) & (max(n, m) < _RANK_SUM_EXACT_BELOW)
    variance = n * m / 12 * ((total + 1) - ties / (total * (total - 1)))
    sd = np.sqrt(np.maximum(variance, 0.0))
    spread = size[:, 0] < total
    z = (w - n * m / 2 - 0.5) / np.where(spread, sd, 1.0)
    pvalue = np.where(spread, ndtr(-z), 1.0)
    if exact.any():
        shift = n * (n + 1) // 2
        table = {u: rank_sum_table(u + shift, n, m) for u in set(w[exact].tolist())}
        pvalue[exact] = [table[u] for u in w[exact].tolist()]
    return PairTests(statistic=w, pvalue=pvalue, exact=exact)


def _sorted(rows: Array) -> tuple[NDArray[np.intp], Array]:
    """Give the order of each row, and the row in it."""
    order = np.argsort(rows, axis=1, kind="stable")
    return order, np.take_along_axis(rows, order, axis=1)


def _mean(rows: Array) -> Array:
    """Give the means, with a second pass over the deviations, as R does."""
    mean = rows.mean(axis=1)
    return np.asarray(mean + (rows - mean[:, None]).mean(axis=1))


def _variance(rows: Array) -> Array:
    return np.asarray(np.sum((rows - _mean(rows)[:, None]) ** 2, axis=1) / (rows.shape[1] - 1))


def _pairs(x: ArrayLike, y: ArrayLike, *, least: int) -> tuple[Array, Array]:
    """Give both sides as rows, scaled together by a power of two: exact, and nothing overflows."""
    a, b = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (x, y))
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b):
        raise UsageError(f"pairs of samples do not have the shapes {a.shape} and {b.shape}")
    for rows in (a, b):
        if rows.shape[1] < least:
            raise InsufficientDataError(
                f"the test needs {least} values on each side, not {rows.shape[1]}",
                n=rows.shape[1],
                needed=least,
            )
        if not np.isfinite(rows).all():
            raise AnalysisError("the test needs finite values")
    largest = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    exponent = -np.frexp(largest)[1][:, None]
    return np.ldexp(a, exponent), np.ldexp(b, exponent)
