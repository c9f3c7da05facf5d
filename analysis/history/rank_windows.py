"""Windows of ranks along a series: the nights before a place against those from it on, by Mann-Whitney.

All rank sums come from one cumulative sum of the signs of differences. A window's p-value does not know the
values outside of it, so that windows without a change have jointly one law, whatever happens elsewhere ([1]_);
and since ranks are taken, that law is the same for all continuous laws of the values.

References
----------
.. [1] P. Fryzlewicz, "Narrowest significance pursuit: inference for multiple change-points in linear
   models", Journal of the American Statistical Association 119, 2024.
.. [2] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically
   larger than the other", Annals of Mathematical Statistics 18, 1947.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..stats.samples import Array

GRID = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 40, 52, 64, 80, 104, 128)
EXACT = 16  # values on either side, up to which the law of the rank sum is enumerated

_Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows:
    """All windows of a series, a row each; `behind` of `before` + `behind` values begins at `place`.

    The values are those numbered `place` - `before` to `place` + `behind` - 1, from 0; `pvalue` is two-sided.
    """

    place: _Whole
    before: _Whole
    behind: _Whole
    pvalue: Array

    def only(self, some: NDArray[np.bool_]) -> Windows:
        """Give some of them."""
        return Windows(
            place=self.place[some],
            before=self.before[some],
            behind=self.behind[some],
            pvalue=self.pvalue[some],
        )

    @property
    def first(self) -> _Whole:
        """The first of the places at which a change that a window shows may lie."""
        return self.place - self.before + 1

    @property
    def last(self) -> _Whole:
        """The last of them."""
        return self.place + self.behind - 1


def windows_of(values: Array, inflation: float = 1.0) -> Windows:
    """Compare the two sides of each window of lengths in `GRID`.

    Parameters
    ----------
    values : array, shape (n,)
        In their order; finite.
    inflation : float
        By which the normal quantile of each p-value is divided first, for values that resemble their
        neighbours.

    Returns
    -------
    Windows
        Empty where there are fewer than 4 values.
    """
    signs = np.sign(values[None, :] - values[:, None]).astype(np.int32)
    sums = np.zeros((values.size + 1, values.size + 1), dtype=np.int32)
    sums[1:, 1:] = signs.cumsum(axis=0).cumsum(axis=1)
    found = []
    edge = functools.cache(lambda offset: np.ascontiguousarray(sums.diagonal(offset)))
    for a in (one for one in GRID if one < values.size):
        for b in (one for one in GRID if a + one <= values.size):
            # sums over the rectangle of values before (rows) and behind (columns), a row a place
            places = values.size - a - b + 1
            total = edge(b)[a : a + places] - edge(a + b)[:places]
            total += edge(a)[:places] - edge(0)[a : a + places]
            found.append((a, b, pvalues(total, a, b)))
    if not found:
        none = np.empty(0, dtype=np.int64)
        return Windows(place=none, before=none, behind=none, pvalue=np.empty(0))
    counts = [len(one) for *_, one in found]
    place = np.concatenate([np.arange(a, a + n) for (a, *_), n in zip(found, counts, strict=True)])
    before, behind = (np.repeat([one[k] for one in found], counts) for k in (0, 1))
    p = np.concatenate([one for *_, one in found])
    if inflation != 1.0:
        p = 2.0 * ndtr(ndtri(p / 2.0) / inflation)
    return Windows(place=place, before=before, behind=behind, pvalue=p)


def pvalues(total: NDArray[np.integer], a: int, b: int) -> Array:
    """Give the two-sided p of so many pairs in order less those that are not, of `a` x `b` pairs.

    Exact where neither side has more than 16 values, with ties the larger p of the two neighbours; else
    normal with a continuity correction of 1/2.
    """
    far = np.abs(np.asarray(total, dtype=np.int64))  # twice the distance of U from its middle
    if a <= EXACT and b <= EXACT:
        # an odd distance is that of a whole number of pairs where a * b is odd; others are ties
        step = (far - a * b) % 2
        return np.asarray(tails(a, b)[(far - step + a * b) // 2])
    sd = np.sqrt(a * b * (a + b + 1) / 12.0)
    z = np.maximum(far / 2.0 - 0.5, 0.0) / sd
    return np.asarray(2.0 * ndtr(-z), dtype=np.float64)


@functools.cache
def tails(a: int, b: int) -> Array:
    """Give the two-sided p of each U from 0 to a * b, at most 1, by enumeration of all orders of no ties."""
    counts = _counts(min(a, b), max(a, b))
    below = np.cumsum(counts) / counts.sum()
    one_sided = np.minimum(below, below[::-1])
    # of U in the middle both tails hold it
    return np.asarray(np.minimum(2.0 * one_sided, 1.0))


@functools.cache
def _counts(a: int, b: int) -> Array:
    """Count the orders of a and b values by U: the coefficients of the Gaussian binomial."""
    found = np.zeros(a * b + 1)
    found[0] = 1.0
    for i in range(1, a + 1):
        # times (1 - q^(b+i)), then divided by (1 - q^i); whole numbers below 2^53 throughout
        power = b + i
        if power <= a * b:
            found[power:] -= found[: a * b + 1 - power].copy()
        for k in range(i, a * b + 1):
            found[k] += found[k - i]
    return found
