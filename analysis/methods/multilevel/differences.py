"""The test of the difference of two independent effects, each with an error and a freedom of its own.

Samples of equally many sessions: Welch's t with Satterthwaite's degrees of freedom ([1]_). Its far tail,
which a correction for many benchmarks needs, is wrong where one sample is much shorter: with 10 and 2
sessions it rejects at level .05 / 8 up to 10 times too often. There Banerjee's bound ([2]_) takes its
place: the half-width sqrt(t1^2 e1^2 + t2^2 e2^2), with each sample's own quantile of t, which holds
its level whatever the variances are.

References
----------
.. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
.. [2] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations
   when the population variances are not equal", Sankhya 22, 1960.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from ...stats import adjusted
from .estimates import FLAT, satterthwaite

__all__ = ["Differences", "Shift", "differences_of"]

Shift = Literal["larger", "smaller", "equivalent", "undecided"]

Floats = NDArray[np.float64]

_LEAST = sys.float_info.min  # a p-value is never 0
_STEPS = 60  # halvings of the logarithm of a p-value: to its last digit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differences:
    """Differences of logs with what is known of them; arrays over the effects, nan where unknown.

    `welch` tells which are tested by Welch's t, `freedom` is Satterthwaite's there, `pvalue_welch` his p
    everywhere. `shift` is what each is after Holm's correction, None where there is no test.
    """

    estimate: Floats
    error: Floats
    freedom: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    pvalue_welch: Floats
    pvalue_adjusted: Floats
    welch: NDArray[np.bool_]
    shift: tuple[Shift | None, ...]


def differences_of(
    estimates: Floats, errors: Floats, freedoms: Floats, *, alpha: float, margin: float
) -> Differences:
    """Test one family of differences.

    As in the verdict: proven to lie within the margin wins over larger and smaller (each side at
    alpha / 2); a difference without spread has no p, and takes part in Holm's steps as the p that it
    tends to.

    Parameters
    ----------
    estimates, errors, freedoms : array, shape (effects, 2)
        Log of the speedup in both samples, its standard error and degrees of freedom. Where an error
        or a freedom is nan there is no test.
    alpha : float
        Risk of the family.
    margin : float
        Of the log ratio.
    """
    unknown: NDArray[np.bool_] = np.asarray(np.isnan(errors + freedoms).any(axis=1))
    errors = np.where(unknown[:, None], np.nan, errors)
    freedoms = np.where(unknown[:, None], np.nan, freedoms)
    found = estimates[:, 1] - estimates[:, 0]
    error = np.hypot(errors[:, 0], errors[:, 1])
    freedom = satterthwaite(errors, freedoms)
    welch = ~unknown & (np.abs(freedoms[:, 0] - freedoms[:, 1]) < FLAT)
    law = _Law(errors=errors, freedoms=freedoms, error=error, freedom=freedom, welch=welch)
    half = law.half(np.full(found.shape, alpha))
    pvalue = law.pvalue(np.abs(found))
    equivalent = np.maximum(law.one_sided(found + margin), law.one_sided(margin - found))
    flat, size = error == 0, np.abs(found)
    ours = adjusted(np.where(flat, np.where(size >= FLAT, 0.0, 1.0), pvalue), "holm")
    theirs = adjusted(np.where(flat, np.where(size < margin, 0.0, 1.0), equivalent), "holm")
    return Differences(
        estimate=found,
        error=error,
        freedom=np.where(welch, freedom, np.nan),
        low=found - half,
        high=found + half,
        pvalue=pvalue,
        pvalue_welch=law.by_welch(np.abs(found)),
        pvalue_adjusted=np.where(flat, np.nan, ours),
        welch=welch,
        shift=tuple(
            None
            if known
            else "equivalent"
            if q <= alpha / 2
            else ("larger" if d > 0 else "smaller")
            if p <= alpha
            else "undecided"
            for known, d, p, q in zip(
                unknown.tolist(), found.tolist(), ours.tolist(), theirs.tolist(), strict=True
            )
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    errors: Floats
    freedoms: Floats
    error: Floats
    freedom: Floats
    welch: NDArray[np.bool_]

    def half(self, alpha: Floats) -> Floats:
        """Give the half-widths at these two-sided levels; 0 without spread, nan where unknown."""
        with np.errstate(invalid="ignore", over="ignore"):
            each = -stdtrit(self.freedoms, alpha[:, None] / 2) * self.errors
            bound = np.hypot(each[:, 0], each[:, 1])
            welch = -stdtrit(self.freedom, alpha / 2) * self.error
        found = np.where(self.error == 0, 0.0, np.where(self.welch, welch, bound))
        return np.asarray(np.where(np.isfinite(found), found, np.nan))

    def pvalue(self, distance: Floats) -> Floats:
        """Give the two-sided p of a distance of at least 0; nan without spread."""
        found = self.by_welch(distance)
        if not self.welch.all():
            found = np.where(self.welch, found, self._by_bound(distance))
        return found

    def by_welch(self, distance: Floats) -> Floats:
        """Give Welch's p."""
        some = self.error > 0
        t = distance / np.where(some, self.error, 1.0)
        return np.where(some, np.maximum(2.0 * stdtr(self.freedom, -t), _LEAST), np.nan)

    def one_sided(self, inside: Floats) -> Floats:
        """Give the p of H0: the truth is on the far side; `inside` is how far it is from there."""
        p = self.pvalue(np.abs(inside))
        return np.where(inside > 0, p / 2, 1 - p / 2)

    def _by_bound(self, distance: Floats) -> Floats:
        """Find by halving the level at which the bound's half-width is the distance."""
        low, high = np.full(distance.shape, np.log(_LEAST)), np.zeros(distance.shape)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            with np.errstate(invalid="ignore", over="ignore"):
                each = -stdtrit(self.freedoms, np.exp(middle)[:, None] / 2) * self.errors
            wider = np.hypot(each[:, 0], each[:, 1]) > distance
            low, high = np.where(wider, middle, low), np.where(wider, high, middle)
        return np.where(self.error > 0, np.exp(high), np.nan)
