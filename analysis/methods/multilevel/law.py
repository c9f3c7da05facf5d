"""The law of an estimate and its standard error: Student's t, or a confidence sequence.

A `Law` turns errors into half-widths and estimates into p-values, element by element of arrays of
any shape. All of it is on the log scale. Where no single number of degrees of freedom fits an error,
its independent parts have a quantile each ([3]_): the half-width is the root of the sum of the squares
of theirs, and a p-value is the risk at which the interval ends at the value that H0 names.

References
----------
.. [1] T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976 (the t mixture).
.. [2] H. Wang, A. Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
   unknown variance", 2024, section 4 (right-Haar prior on the standard deviation).
.. [3] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations
   when the population variances are not equal", Sankhya 22, 1960.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from .estimates import Parts

if TYPE_CHECKING:
    from .result import Line

__all__ = ["C_SQUARED", "Law"]

Floats = NDArray[np.float64]

C_SQUARED = 10.0  # of the mixture; fixed before any data are seen, or the sequence would not hold
_LEAST = sys.float_info.min  # a p-value is never 0
_STEPS = 60  # halvings of the logarithm of a p-value: to its last digit


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Two-sided intervals of confidence 1 - `alpha`, and the p-values that belong to them.

    With `always_valid` they hold at all numbers of sessions at once: the t mixture of [1]_ and [2]_
    over S = freedom + 1 session values, with k = 1 + S c^2 and c^2 = 10. The half-width is
    error sqrt((S - 1) (A - 1) / (1 - A / k)) with A = (k / alpha^2)^(1 / S), and infinite unless
    A < k: at alpha = 0.05 from 3 sessions on.
    """

    alpha: float
    always_valid: bool = False

    def multiplier(self, freedom: Floats, division: Floats | float = 1.0) -> Floats:
        """Give half-width over standard error, at level alpha / `division`.

        Parameters
        ----------
        freedom : array
            Degrees of freedom; nan gives nan.
        division : array or float
            By what the level is divided.

        Returns
        -------
        array
            Infinite where no finite interval exists.
        """
        alpha = self.alpha / np.asarray(division, dtype=np.float64)
        if not self.always_valid:
            return np.asarray(-stdtrit(freedom, alpha / 2), dtype=np.float64)
        count = freedom + 1.0
        k = 1.0 + count * C_SQUARED
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            a = np.exp((np.log(k) - 2.0 * np.log(alpha)) / count)
            square = freedom * (a - 1.0) / (1.0 - a / k)
            return np.asarray(
                np.where(np.isnan(freedom), np.nan, np.where(a < k, np.sqrt(square), np.inf))
            )

    def half(self, error: Floats, freedom: Floats, parts: Parts | None = None) -> Floats:
        """Give half the width of the interval; nan where there is none, 0 where the error is 0.

        Parameters
        ----------
        error, freedom : array
            Standard errors and degrees of freedom.
        parts : Parts, optional
            Of the same errors: they count where an error is known and its freedom is nan.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            half = np.where(error == 0, 0.0, self.multiplier(freedom) * error)
        some = _in_parts(error, freedom, parts)
        if parts is not None and some.any():
            half[some] = _bound(_chosen(parts, some), np.full(int(some.sum()), self.alpha))
        return np.where(np.isfinite(half), half, np.nan)

    def pvalue(
        self, estimate: Floats, error: Floats, freedom: Floats, parts: Parts | None = None
    ) -> Floats:
        """Give the two-sided p of H0: the true log ratio is 0; nan without spread or interval."""
        return self._two_sided(estimate, error, freedom, parts)

    def pvalue_equivalent(
        self,
        estimate: Floats,
        error: Floats,
        freedom: Floats,
        margin: float | Floats,
        parts: Parts | None = None,
    ) -> Floats:
        """Give the larger of the two one-sided p of H0: the true log ratio lies outside the margin.

        It is to be held against alpha / 2. `margin` is that of the log ratio.
        """
        sides = []
        for inside in (estimate + margin, margin - estimate):
            p = self._two_sided(inside, error, freedom, parts)
            sides.append(np.where(inside > 0, p / 2, 1 - p / 2))
        return np.maximum(np.maximum(*sides), np.where(np.isnan(sides[0]), np.nan, _LEAST))

    def pvalue_of(self, line: Line, distance: float) -> float:
        """Give the two-sided p of H0: the log speedup of `line` is `distance` away from where it is.

        Parameters
        ----------
        line : Line
            One with an interval, whose error is not 0.
        distance : float
            On the log scale, of either sign.
        """
        error = np.array(line.error, dtype=np.float64)
        if not line.in_parts:
            found = self.pvalue(np.array(distance), error, np.array(line.freedom, dtype=np.float64))
        else:
            parts = Parts(np.array(line.errors), np.array(line.freedoms))
            found = self.pvalue(np.array(distance), error, np.array(np.nan), parts)
        return float(found)

    def _two_sided(
        self, distance: Floats, error: Floats, freedom: Floats, parts: Parts | None
    ) -> Floats:
        known = np.asarray(error > 0)
        # 1e150: far beyond any p of interest, and its square is a number
        t = np.minimum(np.abs(distance) / np.where(known, error, 1.0), 1e150)
        if self.always_valid:
            count = freedom + 1.0
            k = 1.0 + count * C_SQUARED
            r = t**2 / freedom
            # the interval's formula solved for alpha
            log_p = (np.log(k) + count * (np.log1p(r / k) - np.log1p(r))) / 2
            p = np.exp(np.minimum(log_p, 0.0))
        else:
            p = 2.0 * stdtr(freedom, -t)
        p = np.where(known & ~np.isnan(freedom), np.maximum(p, _LEAST), np.nan)
        some = _in_parts(error, freedom, parts)
        if parts is not None and some.any():
            far = np.abs(np.broadcast_to(distance, some.shape)[some])
            p[some] = _pvalue_by_bound(far, _chosen(parts, some))
        return p


def _in_parts(error: Floats, freedom: Floats, parts: Parts | None) -> NDArray[np.bool_]:
    """Tell which errors have parts with a quantile each."""
    return np.asarray((error > 0) & np.isnan(freedom) & (parts is not None))


def _chosen(parts: Parts, some: NDArray[np.bool_]) -> Parts:
    return Parts(*(part[some] for part in parts))


def _bound(parts: Parts, alpha: Floats) -> Floats:
    """Give the half-widths of Banerjee's bound at these two-sided levels, shape (n,)."""
    with np.errstate(invalid="ignore", over="ignore"):
        each = -stdtrit(parts.freedoms, alpha[:, None] / 2) * parts.errors
    return np.asarray(np.hypot.reduce(np.where(parts.errors > 0, each, 0.0), axis=-1))


def _pvalue_by_bound(distance: Floats, parts: Parts) -> Floats:
    """Find by halving the level at which the bound's half-width is the distance."""
    low, high = np.full(distance.shape, np.log(_LEAST)), np.zeros(distance.shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        wider = _bound(parts, np.exp(middle)) > distance
        low, high = np.where(wider, middle, low), np.where(wider, high, middle)
    return np.asarray(np.exp(high))
