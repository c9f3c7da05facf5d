"""All ratios of two samples in order, without making them: counts, order statistics, windows.

The m x n ratios u_i / l_j of two sorted samples are a matrix with sorted rows and columns, also
after rounding. How many are at most g is then known from one search a row, and halving g's range
leads to any place among them in memory proportional to m + n. Halving goes over the floating-point
numbers themselves, so it ends at the very number that sorting all ratios would give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from .samples import Array, Integers

MADE = 1 << 18  # up to so many ratios making and sorting them is quicker than searching
_FEW = 1 << 14  # so many ratios are sorted rather than halved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Neighbouring ratios, distinct and ascending, and how often each occurs.

    `before` is how many smaller ratios there are, `under` the largest of them (0 without any), and
    `over` the smallest of the larger ones (infinite without any).
    """

    values: Array
    counts: Integers
    before: int
    under: float
    over: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratios:
    """The ratios of every value of one sample to every value of another; see `of`.

    `upper`, `lower` (arrays of shapes (m,) and (n,)): The distinct values, positive and ascending.
    `often` (shape (m,)): How often each upper value occurs. `rest` (shape (n + 1,)): How many lower
    values, repeated ones too, there are from each place on.
    """

    upper: Array
    lower: Array
    often: Integers
    rest: Integers

    @classmethod
    def of(cls, upper: Array, lower: Array) -> Self:
        """Take samples of one sign; their ratios must not leave the range of numbers."""
        over, often = np.unique(np.abs(upper), return_counts=True)
        under, counts = np.unique(np.abs(lower), return_counts=True)
        rest = np.concatenate((np.cumsum(counts[::-1])[::-1], [0]))
        return cls(upper=over, lower=under, often=often, rest=rest)

    @property
    def total(self) -> int:
        """How many ratios there are."""
        return int(self.often.sum() * self.rest[0])

    @property
    def least(self) -> float:
        """The smallest ratio."""
        return float(self.upper[0] / self.lower[-1])

    @property
    def most(self) -> float:
        """The largest ratio."""
        return float(self.upper[-1] / self.lower[0])

    def upto(self, g: float) -> int:
        """Count the ratios that are at most g."""
        return self._count(self._first(g))

    def below(self, g: float) -> int:
        """Count the ratios that are less than g."""
        return self.upto(float(np.nextafter(g, 0)))

    def smallest(self, k: int) -> float:
        """Give the k-th smallest ratio, counted from 0."""
        found = self.window(lambda _, upto: upto > k, few=_FEW)
        place = np.searchsorted(np.cumsum(found.counts), k - found.before, side="right")
        return float(found.values[place])

    def window(self, beyond: Callable[[float, int], bool], *, few: int) -> Window:
        """Narrow the range to few ratios, around the change of a condition from False to True.

        `beyond`: Takes g and the number of ratios up to it; True at the largest ratio. `few`: How
        many distinct pairs of values the window may hold; more only where their ratios are one
        number.
        """
        low = float(np.nextafter(self.least, 0))
        high = self.most
        at_low, at_high = self._first(low), self._first(high)
        while int((at_low - at_high).sum()) > few:
            ends = np.array([low, high]).view(np.int64)
            middle = float((ends[:1] + (ends[1:] - ends[:1]) // 2).view(np.float64)[0])
            if middle == low:
                break
            at_middle = self._first(middle)
            if beyond(middle, self._count(at_middle)):
                high, at_high = middle, at_middle
            else:
                low, at_low = middle, at_middle
        return self._between(low, high)

    def _between(self, low: float, high: float) -> Window:
        """List the ratios above `low`, up to `high`."""
        after, start = self._first(low), self._first(high)
        before = self._count(after)
        if np.nextafter(low, np.inf) == high:  # many pairs perhaps, but one number
            values, counts = np.array([high]), np.array([self._count(start) - before])
        else:
            width = after - start
            row = np.repeat(np.arange(self.upper.size), width)
            column = np.arange(row.size) + np.repeat(start - np.cumsum(width) + width, width)
            values, place = np.unique(self.upper[row] / self.lower[column], return_inverse=True)
            counts = np.zeros(values.size, dtype=np.int64)
            np.add.at(counts, place, self.often[row] * (self.rest[column] - self.rest[column + 1]))
        smaller, larger = after < self.lower.size, start > 0
        under = self.upper[smaller] / self.lower[after[smaller]]
        over = self.upper[larger] / self.lower[start[larger] - 1]
        return Window(
            values=values,
            counts=counts,
            before=before,
            under=float(under.max(initial=0)),
            over=float(over.min(initial=np.inf)),
        )

    def _count(self, first: Integers) -> int:
        return int((self.often * self.rest[first]).sum())

    def _first(self, g: float) -> Integers:
        """Give, for each upper value, the first lower value with a ratio of at most g."""
        with np.errstate(over="ignore", under="ignore"):
            first = np.searchsorted(self.lower, self.upper / g).astype(np.int64)
        last = self.lower.size - 1
        while True:  # the search divided by g, the ratios by the lower values: rounding differs
            early = (first <= last) & (self.upper / self.lower[np.minimum(first, last)] > g)
            late = (first > 0) & (self.upper / self.lower[np.maximum(first - 1, 0)] <= g)
            step = early.astype(np.int64) - late
            if not step.any():
                return first
            first += step
