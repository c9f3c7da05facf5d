"""Friedman's test of several systems over benchmarks, and Nemenyi's critical difference.

Two conventions are published, and both are given: the plain statistic ([1]_; [2]_ prints it), and
the one corrected for ties within benchmarks ([3]_; R's ``friedman.test``).

References
----------
.. [1] M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis
   of variance", Journal of the American Statistical Association 32, 1937.
.. [2] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
   Machine Learning Research 7, 2006, section 3.2.2.
.. [3] M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", 1973, section 7.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InsufficientDataError, UsageError
from .doors import counted, door, numbers
from .ranks import midranks

__all__ = ["Friedman", "friedman", "friedman_of_ranks", "nemenyi_difference"]


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


@door
def friedman(values: ArrayLike) -> Friedman:
    """Test whether systems differ over benchmarks.

    Parameters
    ----------
    values : array_like of shape (benchmarks, systems)
        One number for each benchmark and system; smaller is ranked first.

    Returns
    -------
    Friedman
        Hypothesis: on each benchmark every order of the systems is equally likely, independently
        of other benchmarks. Benchmarks of one machine and occasion share its state, and then it
        does not hold even where all systems are the same.

    Raises
    ------
    UsageError
        If the values are no table of numbers.
    InsufficientDataError
        Below two benchmarks or two systems.
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


@door
def friedman_of_ranks(ranks: ArrayLike, benchmarks: int) -> Friedman:
    """Give the statistics of mean ranks as a paper prints them; ties are then unknown.

    Parameters
    ----------
    ranks : array_like of shape (systems,)
        The mean ranks.
    benchmarks : int
        Over how many benchmarks, at least 2.

    Raises
    ------
    UsageError
        If the ranks are no list of numbers, or `benchmarks` is too small.
    """
    return _friedman(numbers(ranks, "the ranks"), counted("benchmarks", benchmarks, 2), None)


def _friedman(ranks: np.ndarray, n: int, untied: float | None) -> Friedman:
    from scipy import stats

    k = ranks.size
    plain = 12 * n / (k * (k + 1)) * float(np.sum((ranks - (k + 1) / 2) ** 2))
    tied = plain / untied if untied else None  # every benchmark ties all systems: nothing to say
    f = _davenport(plain, n, k)
    return Friedman(
        ranks=tuple(ranks.tolist()),
        benchmarks=n,
        statistic=plain,
        statistic_tied=tied,
        pvalue=float(stats.chi2.sf(plain, k - 1)),
        pvalue_tied=None if tied is None else float(stats.chi2.sf(tied, k - 1)),
        f=f,
        f_pvalue=None if f is None else float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


def _davenport(plain: float, n: int, k: int) -> float | None:
    left = n * (k - 1) - plain
    return (n - 1) * plain / left if left > 1e-12 * n * k else None


@door
def nemenyi_difference(systems: int, benchmarks: int, *, alpha: float = 0.05) -> float:
    """Give the difference of mean ranks beyond which Nemenyi's test tells two systems apart.

    Parameters
    ----------
    systems, benchmarks : int
        At least 2 each.
    alpha : float
        The risk over all pairs, between 0 and 1.

    Returns
    -------
    float
        In ranks: the studentized range's quantile over sqrt(2), times sqrt(k (k + 1) / (6 N)).

    Raises
    ------
    UsageError
        If an argument is out of its range.
    """
    from scipy import stats

    k, n = counted("systems", systems, 2), counted("benchmarks", benchmarks, 2)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, and is {alpha}")
    q = float(stats.studentized_range.isf(alpha, k, math.inf)) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n))
