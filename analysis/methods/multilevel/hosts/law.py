"""The law of an estimate for hosts like these: two parts, each with a quantile of t of its own.

The half-width is sqrt(t(H - 1)^2 s^2 / H + h^2), with s the standard deviation of the H hosts' estimates
and h the half-width on these hosts. So it holds the interval on these hosts always. A p-value is the
risk at which that interval ends at the value which H0 names.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..law import Law

__all__ = ["HostsLaw"]

Floats = NDArray[np.float64]

_LEAST = sys.float_info.min  # a p-value is never 0
_STEPS = 60  # halvings of the logarithm of a p-value: to its last digit


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsLaw(Law):
    """Intervals of estimates that hosts give, arrays over the lines.

    `errors` and `freedoms` have the shape (lines, 2): between the hosts, and on these hosts. Where
    these hosts give no error (nan, each has one value) the first part stands alone: it holds the
    scatter of the hosts' sessions already.
    """

    errors: Floats
    freedoms: Floats

    def half(self, error: Floats, freedom: Floats) -> Floats:
        """Give half the width of the intervals; nan where fewer than two hosts leave it unknown."""
        unknown = np.isnan(error) | np.isnan(freedom)
        half = self._half(np.full(unknown.shape, self.alpha))
        return np.where(unknown | ~np.isfinite(half), np.nan, half)

    def pvalue(self, estimate: Floats, error: Floats, freedom: Floats) -> Floats:
        """Give the two-sided p of H0: the true log ratio is 0; nan without spread or interval."""
        return np.where(np.isnan(freedom), np.nan, self._at(np.abs(estimate), error))

    def pvalue_equivalent(
        self, estimate: Floats, error: Floats, freedom: Floats, margin: float
    ) -> Floats:
        """Give the larger of the two one-sided p of H0: the true log ratio lies outside the margin."""
        sides = []
        for inside in (estimate + margin, margin - estimate):
            p = self.pvalue(inside, error, freedom)
            sides.append(np.where(inside > 0, p / 2, 1 - p / 2))
        return np.maximum(np.maximum(*sides), np.where(np.isnan(sides[0]), np.nan, _LEAST))

    def _half(self, alpha: Floats) -> Floats:
        known = ~np.isnan(self.errors) & ~np.isnan(self.freedoms)
        with np.errstate(invalid="ignore", over="ignore"):
            each = -stdtrit(np.where(known, self.freedoms, 1.0), alpha[:, None] / 2) * self.errors
        each = np.where(known & (self.errors > 0), each, 0.0)
        return np.hypot(each[:, 0], each[:, 1])

    def _at(self, distance: Floats, error: Floats) -> Floats:
        """Find by halving the risk at which the half-width is the distance."""
        low, high = np.full(distance.shape, np.log(_LEAST)), np.zeros(distance.shape)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            wider = self._half(np.exp(middle)) > distance
            low, high = np.where(wider, middle, low), np.where(wider, high, middle)
        return np.where(error > 0, np.exp(high), np.nan)
