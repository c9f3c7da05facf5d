"""Ranks and quantiles: Wilcoxon's rank-sum and signed-rank tests, Friedman's test, shifts of quantiles.

The *table* functions take the law of the statistic without ties ([1]_, [2]_), whatever the data were; the
*tied* functions take the exact law given the ties that were observed. A statistic that is no
whole number (midranks make half-integers) is read against the table in the tail's own direction:
``P(W >= w)`` counts from the next whole number upwards, ``P(V <= r)`` from the next one downwards.

Two conventions of Friedman's test are published, and both are given: the plain statistic ([3]_; [4]_ prints
it), and the one corrected for ties within benchmarks ([5]_; R's ``friedman.test``).

Quantiles are smoother than single order statistics of few runs ([6]_), and the shift function ([7]_, [8]_)
compares them by t over sessions ([9]_), of separate sides by Welch's ([10]_).

References
----------
.. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
.. [2] M. Hollander, D. A. Wolfe, E. Chicken, "Nonparametric Statistical Methods", 3rd ed., 2013.
.. [3] M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis
   of variance", Journal of the American Statistical Association 32, 1937.
.. [4] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
   Machine Learning Research 7, 2006, section 3.2.2.
.. [5] M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", 1973, section 7.1.
.. [6] F. E. Harrell, C. E. Davis, "A new distribution-free quantile estimator", Biometrika 69, 1982,
   section 2.
.. [7] K. A. Doksum, "Empirical probability plots and statistical inference for nonlinear models in
   the two-sample case", Annals of Statistics 2, 1974, section 2.
.. [8] G. A. Rousselet, C. R. Pernet, R. R. Wilcox, "Beyond differences in means: robust graphical
   methods to compare two groups in neuroscience", European Journal of Neuroscience 46, 2017.
.. [9] R. Ibragimov, U. K. Mueller, "t-statistic based correlation and heterogeneity robust
   inference", Journal of Business & Economic Statistics 28, 2010, section 2.
.. [10] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, chdtrc, fdtrc, stdtrit

from ..errors import InsufficientDataError, UsageError
from .arguments import between, checks_arguments, counted, numbers
from .samples import Array, read_only

TIE_TOLERANCE = 1e-10
# Half-integers are exact in floating point; this only forgives a caller's own summation.
_STEP = 1e-6
_LARGEST_SIGNED_RANK = 1000  # 2 ** -n must not underflow


def midranks(values: ArrayLike, *, tolerance: float = TIE_TOLERANCE) -> Array:
    """Rank the values from 1; equal values share the mean of their ranks.

    `values`: Finite numbers. `tolerance`: Neighbours in order are equal when they differ by at most
    this share of the larger one: rounding in the last digits must not break a tie. Gives
    numpy.ndarray: The ranks, in the order of the values.
    """
    x = np.asarray(values, dtype=np.float64)
    order = np.argsort(x, kind="stable")
    x = x[order]
    larger = np.maximum(np.abs(x[1:]), np.abs(x[:-1]))
    starts = np.concatenate(([True], np.diff(x) > tolerance * larger))[: x.size]
    group = np.cumsum(starts) - 1
    ends = np.cumsum(np.bincount(group))
    mean_rank = ends - (np.bincount(group) - 1) / 2
    ranks = np.empty(x.size)
    ranks[order] = mean_rank[group]
    return ranks


# ---- rank sum


@lru_cache(maxsize=64)
def _rank_sum_cumulative(m: int, n: int) -> tuple[int, ...]:
    """Count the arrangements with U <= u for u = 0, 1, ... up to the middle of the law."""
    if m > n:
        return _rank_sum_cumulative(n, m)
    size = m * n // 2 + 1
    count = np.zeros(size, dtype=object)
    count[0] = 1
    for i in range(1, m + 1):
        if n + i < size:
            count[n + i :] -= count[: size - n - i].copy()
        # Division by 1 - q^i is a running sum in steps of i.
        padded = np.zeros(-(-size // i) * i, dtype=object)
        padded[:size] = count
        count = np.add.accumulate(padded.reshape(-1, i), axis=0).reshape(-1)[:size]
    return tuple(accumulate(int(c) for c in count))


def rank_sum_table(w: float, m: int, n: int) -> float:
    """Give P(W >= w), W the rank sum of m of m + n untied values, under equal distributions.

    A half-integer counts from the next whole number upwards.
    """
    if m < 1 or n < 1:
        raise UsageError(f"the rank-sum law needs values on both sides, not {m} and {n}")
    u = math.ceil(w - _STEP) - m * (m + 1) // 2  # P(U >= u); U lies in 0..mn, symmetric
    if u <= 0:
        return 1.0
    if u > m * n:
        return 0.0
    cumulative = _rank_sum_cumulative(m, n)
    total = math.comb(m + n, m)
    mirrored = m * n - u  # P(U >= u) = P(U <= mn - u)
    tail = cumulative[mirrored] if mirrored < len(cumulative) else total - cumulative[u - 1]
    return tail / total


def rank_sum_normal(
    w: float, m: int, n: int, *, tied_ranks: ArrayLike | None = None, continuity: float = 0.0
) -> float:
    """Give the normal approximation of P(W >= w).

    `w`, `m`, `n`: As in `rank_sum_table`. `tied_ranks`: The midranks of all m + n values: then the
    variance is the one given these ties. `continuity`: Taken off w; 0 as published for HPT, 0.5 for
    the usual correction.
    """
    total = m + n
    variance = m * n * (total + 1) / 12
    if tied_ranks is not None:
        ranks = np.asarray(tied_ranks, dtype=np.float64)
        variance = m * n / (total * (total - 1)) * float(np.sum((ranks - (total + 1) / 2) ** 2))
    return _upper_tail(w - continuity - m * (total + 1) / 2, variance)


def rank_sum_tied(w: float, ranks: ArrayLike, m: int) -> float:
    """Give P(W >= w) exactly, W the sum of m of these midranks drawn without replacement.

    The work grows with m (m + n)^3: meant for samples of up to some dozens.
    """
    doubled = np.rint(2 * np.asarray(ranks, dtype=np.float64)).astype(np.int64)
    smallest = np.sort(doubled)
    low, high = int(smallest[:m].sum()), int(smallest[-m:].sum())
    start = math.ceil(2 * w - _STEP)
    if start <= low:
        return 1.0
    if start > high:
        return 0.0
    # ways[k][s]: in how many ways k of the values so far sum to s; only what can still become m
    # values, and only the sums that the values so far can reach.
    ways = np.zeros((m + 1, high + 1))
    ways[0, 0] = 1.0
    for seen, rank in enumerate(smallest.tolist(), 1):
        most = min(seen, m)
        least = max(1, m - (smallest.size - seen))
        reach = int(smallest[seen - most : seen].sum()) + 1
        ways[least : most + 1, rank:reach] += ways[least - 1 : most, : reach - rank].copy()
    return float(min(1.0, ways[m, start:].sum() / ways[m].sum()))


def smallest_rank_sum_pvalue(m: int, n: int) -> float:
    """Give the smallest p that the rank-sum test can reach with m and n untied values."""
    return 1 / math.comb(m + n, m)


# ---- signed rank


@lru_cache(maxsize=64)
def _signed_rank_cumulative(n: int) -> Array:
    """Give P(V <= r) for r = 0, 1, ..., n (n + 1) / 2."""
    law = np.zeros(n * (n + 1) // 2 + 1)
    law[0] = 1.0
    for rank in range(1, n + 1):
        # Each rank goes to either side with chance one half: nothing grows, nothing cancels.
        law[rank:] += law[: law.size - rank].copy()
        law /= 2
    return read_only(np.cumsum(law))


def signed_rank_table(r: float, n: int) -> float:
    """Give P(V <= r), V the signed-rank sum of n untied differences, under symmetry about 0.

    A half-integer counts from the next whole number downwards.
    """
    if not 1 <= n <= _LARGEST_SIGNED_RANK:
        raise UsageError(f"the signed-rank table serves 1 to {_LARGEST_SIGNED_RANK}, not {n}")
    k = math.floor(r + _STEP)
    if k < 0:
        return 0.0
    cumulative = _signed_rank_cumulative(n)
    return float(cumulative[k]) if k < cumulative.size - 1 else 1.0


def signed_rank_normal(r: float, n: int, *, continuity: float = 0.5) -> float:
    """Give the normal approximation of P(V <= r).

    `r`, `n`: As in `signed_rank_table`. `continuity`: Added to r; 0.5 by default, 0 as printed in the HPT paper.
    """
    variance = n * (n + 1) * (2 * n + 1) / 24
    return _upper_tail(n * (n + 1) / 4 - r - continuity, variance)


def signed_rank_tied(r: float, ranks: ArrayLike) -> float:
    """Give P(V <= r) exactly, V the sum of these midranks, each taken with chance one half."""
    doubled = np.rint(2 * np.asarray(ranks, dtype=np.float64)).astype(np.int64)
    end = math.floor(2 * r + _STEP)
    if end < 0:
        return 0.0
    law = np.zeros(int(doubled.sum()) + 1)
    law[0] = 1.0
    for rank in doubled:
        law[rank:] += law[: law.size - rank].copy()
        law /= 2
    return float(min(1.0, law[: end + 1].sum())) if end < law.size - 1 else 1.0


def _upper_tail(distance: float, variance: float) -> float:
    if variance <= 0:  # a law without spread: all values tie
        return 1.0 if distance <= 0 else 0.0
    return 0.5 * math.erfc(distance / math.sqrt(2 * variance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Friedman:
    """Both statistics, their p-values by chi-square, and Iman and Davenport's F of the plain one.

    `ranks` are the systems' mean ranks, 1 for the smallest value. A p-value or a statistic is None
    where every benchmark ties all systems; `f` is None where the ranks agree fully.
    """

    ranks: tuple[float, ...]
    benchmarks: int
    statistic: float
    statistic_tied: float | None
    pvalue: float
    pvalue_tied: float | None
    f: float | None
    f_pvalue: float | None


@checks_arguments
def friedman(values: ArrayLike) -> Friedman:
    """Test whether systems differ over benchmarks.

    `values` (shape (benchmarks, systems)): One number for each benchmark and system; smaller is
    ranked first. Gives Friedman: Hypothesis: on each benchmark every order of the systems is
    equally likely, independently of other benchmarks. Benchmarks of one machine and occasion share
    its state, and then it does not hold even where all systems are the same.
    """
    table = numbers(values, "the values", dimensions=2)
    if table.ndim != 2 or min(table.shape) < 2:
        raise InsufficientDataError(
            "Friedman's test needs two benchmarks and two systems", n=min(table.shape), needed=2
        )
    ranks = np.array([midranks(row) for row in table])
    n, k = ranks.shape
    ties = sum(
        float(count**3 - count)
        for row in ranks
        for count in np.unique(row, return_counts=True)[1].tolist()
    )
    return _friedman(ranks.mean(axis=0), n, 1 - ties / (n * k * (k * k - 1)))


def _friedman(ranks: np.ndarray, n: int, untied: float | None) -> Friedman:
    """Give the statistics of mean ranks; of those that a paper prints ties are unknown."""
    k = ranks.size
    plain = 12 * n / (k * (k + 1)) * float(np.sum((ranks - (k + 1) / 2) ** 2))
    tied = plain / untied if untied else None  # every benchmark ties all systems: nothing to say
    left = n * (k - 1) - plain
    f = (n - 1) * plain / left if left > 1e-12 * n * k else None
    return Friedman(
        ranks=tuple(ranks.tolist()),
        benchmarks=n,
        statistic=plain,
        statistic_tied=tied,
        pvalue=float(chdtrc(k - 1, plain)),
        pvalue_tied=None if tied is None else float(chdtrc(k - 1, tied)),
        f=f,
        f_pvalue=None if f is None else float(fdtrc(k - 1, (k - 1) * (n - 1), f)),
    )


@checks_arguments
def nemenyi_difference(systems: int, benchmarks: int, *, alpha: float = 0.05) -> float:
    """Give the difference of mean ranks beyond which Nemenyi's test tells two systems apart.

    `systems`, `benchmarks`: At least 2 each. `alpha`: The risk over all pairs, between 0 and 1.
    Gives float: In ranks: the studentized range's quantile over sqrt(2), times sqrt(k (k + 1) / (6
    N)).
    """
    from scipy import stats

    k, n = counted("systems", systems, 2), counted("benchmarks", benchmarks, 2)
    between("alpha", alpha)
    q = float(stats.studentized_range.isf(alpha, k, math.inf)) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n))


# --- Quantiles, and by how much those of two sides differ, session by session.


def harrell_davis(values: Array, shares: tuple[float, ...]) -> Array:
    """Estimate quantiles ([6]_, section 2): smoother than single order statistics of few runs.

    `values` (shape (n,)): Finite values in any unit. `shares`: Which quantiles, each between 0 and
    1, ends excluded. Gives array of float, shape (k,): In the values' unit.
    """
    if not all(0 < share < 1 for share in shares):
        raise UsageError(f"shares must lie between 0 and 1, not {shares}")
    if values.size == 0:
        raise InsufficientDataError("there is no value to take quantiles of", n=0, needed=1)
    ordered = np.sort(values)
    found = _weights(ordered.size, shares) @ ordered
    # rounding must not leave the range of the values
    return np.asarray(np.clip(found, ordered[0], ordered[-1]))


@lru_cache(maxsize=256)
def _weights(n: int, shares: tuple[float, ...]) -> Array:
    """Give the weight of each order statistic, shape (k, n): a beta law's steps."""
    p = np.array(shares)[:, None]
    steps = betainc((n + 1) * p, (n + 1) * (1 - p), np.arange(n + 1) / n)
    return read_only(np.diff(steps, axis=1))


_DECILES = tuple(k / 10 for k in range(1, 10))
_QUARTILES = (0.25, 0.5, 0.75)
_FOR_DECILES, _FOR_QUARTILES = 5, 3  # runs of a session
_ROUNDING = 1e-12  # logs that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shift:
    """Log ratios of quantiles, positive where the first side's values are larger.

    `shares`: Deciles, or quartiles of few runs. `logs` (shape (k,)): Mean over sessions of the log
    ratio of both sides' quantiles. `half` (shape (k,)): Half the width of the interval; nan with
    one session. `sessions`: Sessions that they rest on; of separate sides those of both together.
    `left_out`: Sessions with too few runs.
    """

    shares: tuple[float, ...]
    logs: Array
    half: Array
    sessions: int
    left_out: int


def shift_of(
    ours: Sequence[Array], theirs: Sequence[Array], *, paired: bool, confidence: float
) -> Shift | None:
    """Give the shift function: Harrell-Davis quantiles per session and side, t over the sessions.

    A session is one draw of what a session gives, as in the verdict ([9]_), so that runs which
    depend on their session's state do not count as independent. Separate sides are compared by
    Welch's t ([10]_).

    `ours`, `theirs`: The positive runs of each session; with `paired` entry k of both is the same
    session. `paired`: Whether both sides ran in the same sessions. `confidence`: Of each interval
    by itself, between 0 and 1. Gives Shift or None: Deciles if every session has at least 5 runs of
    either side, quartiles of at least 3; sessions with fewer are left out. None where none is left,
    or a value is not positive.
    """
    if any((runs <= 0).any() for runs in (*ours, *theirs)):
        return None
    if paired:
        kept = [
            (a, b) for a, b in zip(ours, theirs, strict=True) if _least((a, b)) >= _FOR_QUARTILES
        ]
        left_out = len(ours) - len(kept)
        first, second = [a for a, _ in kept], [b for _, b in kept]
    else:
        first, second = ([a for a in side if a.size >= _FOR_QUARTILES] for side in (ours, theirs))
        left_out = len(ours) + len(theirs) - len(first) - len(second)
    if not first or not second:
        return None
    shares = _DECILES if _least((*first, *second)) >= _FOR_DECILES else _QUARTILES
    tables = [
        np.log(np.stack([harrell_davis(runs, shares) for runs in side])) for side in (first, second)
    ]
    if paired:
        logs, half = mean_shift(tables[0] - tables[1], confidence)
        count = len(first)
    else:
        logs, half = _welch(tables[0], tables[1], confidence)
        count = len(first) + len(second)
    return Shift(shares=shares, logs=logs, half=half, sessions=count, left_out=left_out)


def mean_shift(table: Array, confidence: float) -> tuple[Array, Array]:
    """Give the mean over sessions of each column, and half its t interval (nan of one session).

    `table` (shape (sessions, k)): Log ratios. `confidence`: Of each interval by itself.
    """
    n = table.shape[0]
    centre = table.mean(axis=0)
    if n < 2:
        return centre, np.full(centre.shape, math.nan)
    error = table.std(axis=0, ddof=1) / math.sqrt(n)
    return centre, _half(error, np.full(centre.shape, n - 1.0), confidence)


def _welch(ours: Array, theirs: Array, confidence: float) -> tuple[Array, Array]:
    centre = ours.mean(axis=0) - theirs.mean(axis=0)
    sizes = np.array([ours.shape[0], theirs.shape[0]], dtype=np.float64)
    if sizes.min() < 2:
        return centre, np.full(centre.shape, math.nan)
    parts = np.stack([side.var(axis=0, ddof=1) / len(side) for side in (ours, theirs)])
    total = parts.sum(axis=0)
    below = (parts**2 / (sizes - 1)[:, None]).sum(axis=0)
    freedom = np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), sizes.sum() - 2)
    return centre, _half(np.sqrt(total), freedom, confidence)


def _half(error: Array, freedom: Array, confidence: float) -> Array:
    error = np.where(error < _ROUNDING, 0.0, error)
    return np.asarray(stdtrit(freedom, (1 + confidence) / 2) * error)


def _least(runs: Sequence[Array]) -> int:
    return min(one.size for one in runs)
