"""Classical tests of many samples at once, as R 4 computes them; the power of the t test.

scipy's ``shapiro`` agrees with R to about 1e-8, but takes one sample at a time; the form here ([3]_, [4]_)
computes the weights once for a size and tests all rows together.

Every function takes `x` of shape (pairs, n) and `y` of shape (pairs, m), or one flat sample each, and
tests the pairs row by row. One-sided tests ask whether x tends to be larger ([5]_, [7]_).

Where scipy 1.17 agrees with R, its special functions are used, and what is here only takes all pairs
together: `f_test` (scipy has no such test), `student` and `welch` (``ttest_ind`` agrees).
Where it does not agree, the law is our own:

- ``ks_2samp`` takes no account of ties: its exact p is the one without them, and its asymptotic p
  uses another approximation than R's limit law. See `ks_centred`.
- ``mannwhitneyu`` agrees with R in its exact form without ties and in its normal form, but its
  ``method="auto"`` goes by other sizes (8 runs instead of 50). See `rank_sum`.

The noncentral t distribution of a library is not used: scipy's gives nan in its lower tail at a
quarter of the freedoms and shifts that a plan meets, and breaks root searches there.

References
----------
.. [1] G. Blom, "Statistical estimates and transformed beta-variables", 1958, section 6.9.
.. [2] R Core Team, "R: a language and environment for statistical computing", ``ppoints``, ``qqnorm``.
.. [3] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality (complete samples)",
   Biometrika 52, 1965.
.. [4] P. Royston, "Remark AS R94: a remark on algorithm AS 181, the W-test for normality", Applied
   Statistics 44, 1995.
.. [5] W. J. Conover, "Practical Nonparametric Statistics", 3rd ed., 1999, chapters 5 and 6.
.. [6] G. Schröer, D. Trenkler, "Exact and randomization distributions of Kolmogorov-Smirnov tests for
   two or three samples", Computational Statistics & Data Analysis 20, 1995.
.. [7] M. Hollander, D. A. Wolfe, E. Chicken, "Nonparametric Statistical Methods", 3rd ed., 2013.
.. [8] B. L. Welch, "The generalization of Student's problem when several different population
   variances are involved", Biometrika 34, 1947.
.. [9] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2,
   2nd ed., 1995, chapter 31 (noncentral t as a normal over an independent chi).
.. [10] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, chdtri, fdtr, fdtrc, fdtri, gammaln, ndtr, ndtri, stdtr, stdtrit

from ..errors import AnalysisError, InsufficientDataError, UsageError
from .ranks import rank_sum_table
from .samples import Array, Flags, Indices, Integers, read_only

_FEW = 10


def normal_positions(n: int) -> Array:
    """Give the standard normal quantiles of n ordered values, ascending, shape (n,).

    Their shares are (k - a) / (n + 1 - 2a) with a = 3/8 ([1]_), and with a = 1/2 above 10 values, as
    R's ``ppoints`` has it ([2]_).
    """
    a = 3 / 8 if n <= _FEW else 1 / 2
    shares = (np.arange(1, n + 1) - a) / (n + 1 - 2 * a)
    return np.asarray(ndtri(shares))


LEAST, MOST = 3, 5000  # the sizes that Royston's approximation serves

# Royston's polynomials, lowest power first: the two outer weights in n^-1/2 ...
_OUTER = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
_NEXT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
# ... the location and log scale of the transformed 1 - W in n (up to 11) and in log n (from 12) ...
_SMALL_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
_SMALL_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
_LOG_SD = (-0.4803, -0.082676, 0.0030302)
# ... and the bound of log(1 - W) in n (up to 11).
_BOUND = (-2.273, 0.459)


def shapiro_wilk(rows: Array) -> PairTests:
    """Test the normality of each row.

    `rows` (shape (samples, n)): Finite values. Gives `statistic`, `pvalue` (shape (samples,)): W
    and its p; nan where all values of a row are equal.
    """
    n = rows.shape[1]
    if not LEAST <= n <= MOST:
        raise UsageError(f"Shapiro's p is known for {LEAST} to {MOST} values, not for {n}")
    x = np.sort(rows, axis=1)
    spread = x[:, -1] - x[:, 0]
    usable = spread > 0
    x = (x - x[:, :1]) / np.where(usable, spread, 1.0)[:, None]
    x -= x.mean(axis=1, keepdims=True)
    norm = np.sqrt(np.sum(x**2, axis=1, keepdims=True))
    x /= np.where(norm > 0, norm, 1.0)
    weights = _weights(n)
    # A sum over each row, not a matrix product: its last digits do not depend on the other rows.
    cosine = np.sum(x * weights, axis=1)
    # 1 - cos^2 by way of the distance keeps its digits when W is near 1.
    rest = np.sum((x - weights) ** 2, axis=1) / 2 * (1 + cosine)
    rest = np.where(usable, np.clip(rest, np.finfo(float).tiny, 1.0), np.nan)
    return PairTests(1 - rest, _pvalue(rest, n))


@lru_cache(maxsize=128)
def _weights(n: int) -> Array:
    """Give the weights of the order statistics, as a unit vector."""
    half = n // 2
    if n == LEAST:
        upper = np.array([math.sqrt(0.5)])
    else:
        m = -ndtri((np.arange(1, half + 1) - 0.375) / (n + 0.25))  # largest first
        total = 2 * float(np.sum(m**2))
        outer = [_polynomial(_OUTER, n**-0.5) + m[0] / math.sqrt(total)]
        if n > 5:
            outer.append(_polynomial(_NEXT, n**-0.5) + m[1] / math.sqrt(total))
        k = len(outer)
        inner = total - 2 * float(np.sum(m[:k] ** 2))
        share = 1 - 2 * sum(a**2 for a in outer)
        upper = np.concatenate([outer, m[k:] / math.sqrt(inner / share)])
    weights = np.concatenate([-upper, np.zeros(n % 2), upper[::-1]])
    return read_only(weights / math.sqrt(float(np.sum(weights**2))))


def _pvalue(rest: Array, n: int) -> Array:
    if n == LEAST:  # exact: W lies in 3/4..1
        angle = np.arcsin(np.sqrt(1 - rest)) - math.asin(math.sqrt(0.75))
        return np.maximum(0.0, 6 / math.pi * angle)
    y = np.log(rest)
    if n <= 11:
        bound = _polynomial(_BOUND, n)
        beyond = y >= bound
        y = -np.log(np.where(beyond, 1.0, bound - y))
        centre, sd = _polynomial(_SMALL_MEAN, n), math.exp(_polynomial(_SMALL_LOG_SD, n))
        return np.where(beyond, 1e-99, ndtr((centre - y) / sd))  # the p that Royston gives there
    log_n = math.log(n)
    centre, sd = _polynomial(_MEAN, log_n), math.exp(_polynomial(_LOG_SD, log_n))
    return np.asarray(ndtr((centre - y) / sd))


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return float(sum(c * x**k for k, c in enumerate(coefficients)))


# R: the size up to which ks.test is exact.
_KS_EXACT_BELOW = 10_000  # n m
# R: t.test refuses when the standard error is below this number of units of rounding of the means.
_CONSTANT = 10 * np.finfo(np.float64).eps
_CENTRING_NOISE = 1e-10  # of the largest deviation from the median
_STRADDLING = 0.1  # of that unit
_RESOLUTION = 4 * np.finfo(np.float64).eps  # of a difference of two deviations, per largest value
_CHUNK = 1 << 20  # cells of one array of paths


class PairTests(NamedTuple):
    """A statistic and its p for each pair; nan where the data leave the statistic undefined."""

    statistic: Array
    pvalue: Array


def f_test(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two variances, two-sided, as R's ``var.test``.

    H0: the two normal distributions have the same variance. F = s_x^2 / s_y^2. R gives p = 0 where one
    sample is constant and no p where both are; here both give nan.
    """
    a, b = _pairs(x, y, least=2)
    var_a, var_b = _variance(a), _variance(b)
    usable = (var_a > 0) & (var_b > 0)
    ratio = np.where(usable, var_a, np.nan) / np.where(usable, var_b, 1.0)
    dfs = a.shape[1] - 1, b.shape[1] - 1
    tails = np.minimum(fdtr(*dfs, ratio), fdtrc(*dfs, ratio))
    return PairTests(statistic=ratio, pvalue=np.minimum(1.0, 2 * tails))


def variance_ratio(
    statistic: float, df: tuple[int, int], *, confidence: float
) -> tuple[float, float]:
    """Bound the ratio of two variances by their F, as R's ``var.test``.

    `statistic` is s_x^2 / s_y^2 and `df` the degrees of freedom of both. Both samples are normal.
    """
    tail = (1 - confidence) / 2
    return statistic / float(fdtri(*df, 1 - tail)), statistic / float(fdtri(*df, tail))


def student(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two means by the pooled t, as R's ``t.test(var.equal=TRUE)``.

    H0: mean(x) <= mean(y), for normal samples with one variance. nan where the values are constant up
    to rounding, by R's rule.
    """
    a, b = _pairs(x, y, least=2)
    n, m = a.shape[1], b.shape[1]
    df = n + m - 2
    pooled = ((n - 1) * _variance(a) + (m - 1) * _variance(b)) / df
    return _t_test(a, b, pooled * (1 / n + 1 / m), np.full(len(a), float(df)))


def welch(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Test the equality of two means by Welch's t [8]_, as R's ``t.test``.

    H0: mean(x) <= mean(y), for normal samples of any variances. nan where the values are constant up
    to rounding, by R's rule.
    """
    a, b = _pairs(x, y, least=2)
    n, m = a.shape[1], b.shape[1]
    of_a, of_b = _variance(a) / n, _variance(b) / m
    total = of_a + of_b
    safe = np.where(total > 0, total, 1.0)  # shares, because the squares of variances may underflow
    df = 1 / np.maximum((of_a / safe) ** 2 / (n - 1) + (of_b / safe) ** 2 / (m - 1), 1e-300)
    return _t_test(a, b, total, df)


def _t_test(a: Array, b: Array, variance: Array, df: Array) -> PairTests:
    mean_a, mean_b = _mean(a), _mean(b)
    error = np.sqrt(variance)
    usable = error >= _CONSTANT * np.maximum(np.abs(mean_a), np.abs(mean_b))
    usable &= error > 0
    t = np.where(usable, mean_a - mean_b, np.nan) / np.where(usable, error, 1.0)
    tail = betainc(df / 2, 0.5, df / (df + t**2)) / 2
    return PairTests(statistic=t, pvalue=np.where(t > 0, tail, 1 - tail))


def ks_centred(x: ArrayLike, y: ArrayLike) -> PairTests:
    """Compare two shapes by the Kolmogorov-Smirnov distance of the samples less their medians.

    H0: x - median(x) and y - median(y) have the same distribution. Medians are estimated, so that p is
    approximate whatever its law. Centring makes ties (both sides hold a 0 when their sizes are odd) and
    rounding noise, so deviations are rounded to 1e-10 of the largest one of the pair. They also tie where
    only a limit of rounding separates them, by less than a tenth of that unit, or less than what binary
    numbers of the samples' size resolve (100 s with deviations of 0.1 ms carry noise of some such units).
    D is compared in whole numbers: D n m = max abs(m #{x <= t} - n #{y <= t}).

    p is exact given the ties where n m < 10,000, as R's ``ks.test`` from 4.1 on (``psmirnov`` with
    ``z``) [6]_; beyond, it is the limit law as R sums it: only the first term of the series for small
    arguments (up to 4e-5 below the full series), and no regard to ties. ``scipy.stats.ks_2samp``
    agrees with neither in the presence of ties, and differs from the limit law without them.
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
        keys = np.concatenate([crossed[:, None].view(np.uint8), np.packbits(ends, axis=1)], axis=1)
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        each = max(1, _CHUNK // (min(n, m) + 1))
        laws = [
            _paths(crossed[part], ends[part], min(n, m), max(n, m))
            for part in np.split(first, range(each, first.size, each))
        ]
        pvalue = np.where(crossed > 0, np.concatenate(laws)[which.ravel()], 1.0)
    else:
        pvalue = _kolmogorov(math.sqrt(n * m / (n + m)) * crossed / (n * m))
    return PairTests(statistic=crossed / (n * m), pvalue=pvalue)


def _paths(crossed: Integers, ends: Flags, a: int, b: int) -> Array:
    """Follow the chances of all orders of a + b values, and collect those that go as far."""
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
    terms = range(1, int(math.sqrt(2 - math.log(1e-6))), 2)  # R's tolerance
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
    """
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
    exact = (ties == 0) & (max(n, m) < 50)  # as R
    variance = n * m / 12 * ((total + 1) - ties / (total * (total - 1)))
    sd = np.sqrt(np.maximum(variance, 0.0))
    spread = size[:, 0] < total
    z = (w - n * m / 2 - 0.5) / np.where(spread, sd, 1.0)
    pvalue = np.where(spread, ndtr(-z), 1.0)
    if exact.any():
        shift = n * (n + 1) // 2
        table = {u: rank_sum_table(u + shift, n, m) for u in set(w[exact].tolist())}
        pvalue[exact] = [table[u] for u in w[exact].tolist()]
    return PairTests(statistic=w, pvalue=pvalue)


def _sorted(rows: Array) -> tuple[Indices, Array]:
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


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_FAR = 9.0  # standard deviations of a normal beyond which less than 1e-18 of it lies
_TAIL = 1e-18  # of chi that is left out at either end


def least_shift(power: float, freedom: ArrayLike, alpha: float) -> Array:
    """Give the smallest shift, in standard errors, that a two-sided t test tells with this power.

    `power`: The chance that the test rejects, in either tail; between `alpha` and 1. `freedom`:
    Degrees of freedom of the standard error, at least 1. `alpha`: Risk of the test, between 0 and
    1. Gives array: In the shape of `freedom`: the noncentrality, right to 1e-9 for whole freedoms.

    T = (Z + shift) / U with U^2 a chi square over its freedom, so P(T > c) is the mean over U of
    the normal probability of (shift - c U) [9]_. The integral is cut into panels where the normal
    steps, and each is done by Gauss and Legendre. The shift is found by halving.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, and is {alpha!r}")
    if not alpha < power < 1:
        raise UsageError(f"power must lie between alpha, {alpha!r}, and 1, and is {power!r}")
    degrees = np.asarray(freedom, dtype=np.float64)
    if not ((degrees >= 1).all() and np.isfinite(degrees).all()):
        raise UsageError("degrees of freedom must be finite and at least 1")
    quantile: Array = np.asarray(stdtrit(degrees, 1 - alpha / 2))
    low = np.zeros_like(degrees)
    high = np.full_like(degrees, _FAR) + quantile * np.sqrt(chdtri(degrees, 1 - power) / degrees)
    for _ in range(48):  # halvings of a bracket: 1e-13 of it
        middle = (low + high) / 2
        reached = _beyond(middle, degrees, quantile) + _beyond(-middle, degrees, quantile)
        enough = reached >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return (low + high) / 2


def _beyond(shift: Array, freedom: Array, quantile: Array) -> Array:
    """Integrate P(Z + shift > quantile * u) over the density of u = chi / sqrt(freedom)."""
    ends = (np.sqrt(chdtri(freedom, tail) / freedom) for tail in (1 - 1e-16, _TAIL))
    least, most = (np.asarray(end) for end in ends)
    least = np.where(freedom < 50, 0.0, least)
    steps = [(shift + far) / quantile for far in (-_FAR, -_FAR / 3, 0.0, _FAR / 3, _FAR)]
    edges = [least, *(least + share * (most - least) for share in (0.25, 0.5, 0.75)), most]
    cuts = np.sort(np.clip(np.stack([*edges, *steps], axis=-1), least[..., None], most[..., None]))
    half = np.diff(cuts, axis=-1)[..., None] / 2
    u = cuts[..., :-1, None] + half * (1 + _NODES)
    shape = (..., None, None)
    degrees = freedom[shape]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(degrees == 1, 0.0, (degrees - 1) * np.log(u)) - degrees * u * u / 2
    constant = math.log(2) + freedom / 2 * np.log(freedom / 2) - gammaln(freedom / 2)
    density = np.exp(logs + constant[shape])
    inside = ndtr(shift[shape] - quantile[shape] * u) * density
    total: Array = (inside * half * _WEIGHTS).sum(axis=(-2, -1))
    return np.clip(total, 0.0, 1.0)


# --- Student's t on differences over benchmarks, and the confidence interval technique,
# which is made of it.
#
# The paired t-test asks whether the mean of the n differences is above 0. The "confidence interval
# technique" that [10]_, section 5.2, compares it with takes the two-sided interval of that mean: it claims
# with confidence C what the interval of confidence C excludes. So a claim that the one-sided test makes
# with confidence c has 2 c - 1 there. The paper does not print the formula; its Table 3 does by its
# numbers: t confidences 0.91, 0.95, 0.96, 0.94, 0.89, 0.87 stand above 0.82, 0.90, 0.91, 0.89, 0.79, 0.73,
# which is 2 c - 1 within rounding. Pair G (0.52 above 0.12) is none; nothing printed explains it.


Alternative = Literal["candidate", "two-sided"]


def student_pvalue(mean: float, error: float, freedom: float, alternative: Alternative) -> float:
    """Give the p of Student's t for a mean with its standard error.

    Without any spread it is 1 where the mean does not speak for the alternative, else 0.
    """
    if error == 0:
        return 1.0 if mean == 0 or (alternative == "candidate" and mean < 0) else 0.0
    if alternative == "candidate":
        return float(stdtr(freedom, -mean / error))
    return float(2 * stdtr(freedom, -abs(mean) / error))


def paired_pvalue(differences: Array, alternative: Alternative) -> float:
    """Give the p of the paired t-test over benchmarks; 1 with one benchmark, which has no spread.

    Parameters
    ----------
    differences : array of n
        Above 0 where the candidate is better.
    alternative : {"candidate", "two-sided"}
    """
    n = differences.size
    if n < 2:
        return 1.0
    error = math.sqrt(differences.var(ddof=1) / n)
    return student_pvalue(float(differences.mean()), error, n - 1.0, alternative)


def paired_interval(differences: Array, confidence: float) -> tuple[float, float] | None:
    """Give the two-sided t interval of the mean over benchmarks; None with one benchmark."""
    n = differences.size
    if n < 2:
        return None
    mean = float(differences.mean())
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * math.sqrt(differences.var(ddof=1) / n)
    return mean - reach, mean + reach


def interval_confidence(one_sided: float) -> float:
    """Give the confidence of the interval technique in what the one-sided paired t claims with this one.

    It is that of the widest two-sided interval which excludes 0, and 0 where none does on that side.
    """
    return max(0.0, 2 * one_sided - 1)
