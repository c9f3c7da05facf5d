"""The restricted likelihood of a model of crossed random effects, its slope and information.

References
----------
.. [1] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML: an efficient algorithm for
   variance parameter estimation in linear mixed models", Biometrics 51, 1995.
.. [2] H. V. Henderson, S. R. Searle, "On deriving the inverse of a sum of matrices", SIAM Review 23,
   1981 (the covariance by the levels of the effects instead of by the observations).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

__all__ = ["Likelihood"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_ROUNDING = 1e-13


class Likelihood:
    """The restricted likelihood of value = mean + effects + rest, all but the mean random.

    Parameters
    ----------
    values : array, shape (n,)
        Logarithms.
    effects : mapping of str to int array, shape (n,)
        The level of each value in each effect, from 0 on.
    """

    def __init__(self, values: Floats, effects: Mapping[str, Codes]) -> None:
        y = values - values.mean()
        rows = list(effects.values())
        sizes = [int(codes.max()) + 1 for codes in rows]
        ends = np.cumsum([0, *sizes]).tolist()
        self._parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self._cross = np.zeros((ends[-1], ends[-1]))
        self._ones, self._sums = np.zeros(ends[-1]), np.zeros(ends[-1])
        for one, row, m in zip(self._parts, rows, sizes, strict=True):
            self._ones[one] = np.bincount(row, minlength=m)
            self._sums[one] = np.bincount(row, weights=y, minlength=m)
            for other, column, k in zip(self._parts, rows, sizes, strict=True):
                counts = np.bincount(row * k + column, minlength=m * k)
                self._cross[one, other] = counts.reshape(m, k)
        self._n, self._total, self._square = y.size, float(y.sum()), float(y @ y)
        self.levels = np.array(
            [*sizes, y.size], dtype=np.float64
        )  # of each effect, and of the rest

    def deviance(self, variances: Floats) -> float:
        """Give minus twice the restricted log likelihood, constants included.

        It is infinite where the variances lie too far apart to compute it.

        Parameters
        ----------
        variances : array
            Of the effects in their order, at least 0, and last of the rest, above 0.
        """
        return _Whitened(self, variances).deviance

    def slopes(self, variances: Floats) -> tuple[float, Floats, Floats]:
        """Give the deviance, its gradient, and the average information as its second derivative.

        With P the projection of the likelihood and V the derivative of the covariance in a variance,
        the gradient is tr(P V) - y' P V P y, and the information y' P V P V' P y [1]_.
        """
        at = _Whitened(self, variances)
        block = at.half(at.scale[:, None] * self._cross)
        to_ones = self._ones - block.T @ at.ones
        pulled = (self._sums - block.T @ at.sums - at.mean * to_ones) / at.rest  # W' P y
        own = np.diag(self._cross) - np.einsum("ij,ij->j", block, block) - to_ones**2 / at.weight
        traces = np.array([own[part].sum() for part in self._parts]) / at.rest
        squares = np.array([pulled[part] @ pulled[part] for part in self._parts])
        inner = np.asarray(variances[:-1])
        trace = (self._n - 1 - float(inner @ traces)) / at.rest
        square = (at.spread / at.rest - float(inner @ squares)) / at.rest
        gradient = np.append(traces - squares, trace - square)
        return at.deviance, gradient, self._information(at, pulled, squares, square)

    def _information(self, at: _Whitened, pulled: Floats, squares: Floats, square: float) -> Floats:
        """Multiply the vectors V P y of all variances by P and each other."""
        count = len(self._parts)
        spread = np.zeros((pulled.size, count))  # Z' P y, each effect in its own column
        for k, part in enumerate(self._parts):
            spread[part, k] = pulled[part]
        levels = np.column_stack([self._cross @ spread, pulled])  # W' V P y
        totals = np.append(self._ones @ spread, 0.0)  # 1' V P y
        products = np.empty((count + 1, count + 1))
        products[:count, :count] = spread.T @ levels[:, :count]
        products[:count, count] = products[count, :count] = squares
        products[count, count] = square
        halves = at.half(at.scale[:, None] * levels)
        means = totals - at.ones @ halves
        found: Floats = (
            products - halves.T @ halves - np.outer(means, means) / at.weight
        ) / at.rest
        return found


class _Whitened:
    """The likelihood's parts at given variances.

    With H the covariance over the variance of the rest, W the effects' indicators, and u and v any
    vectors of observations, u' H^-1 v = u'v - half(scale * W'u)' half(scale * W'v) [2]_.
    """

    def __init__(self, model: Likelihood, variances: Floats) -> None:
        self.rest = float(variances[-1])
        sizes = [part.stop - part.start for part in model._parts]
        self.scale = np.sqrt(np.repeat(np.asarray(variances[:-1]) / self.rest, sizes))
        # levels of one effect share no value, so the largest effect's part of the core is a diagonal,
        # and only what is left without it needs a triangle
        most = int(np.argmax(sizes))
        self._large = model._parts[most]
        self._small = np.delete(np.arange(self.scale.size), self._large)
        ours, theirs = self.scale[self._large], self.scale[self._small]
        self._diagonal = 1 + ours**2 * model._ones[self._large]
        self._across = theirs[:, None] * model._cross[self._small, self._large] * ours
        core = theirs[:, None] * model._cross[np.ix_(self._small, self._small)] * theirs
        core[np.diag_indices_from(core)] += 1.0
        core -= (self._across / self._diagonal) @ self._across.T
        self.deviance = math.inf
        try:
            self._lower = cholesky(core, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return  # the variances lie too far apart: nothing is left but rounding
        self.ones = self.half(self.scale * model._ones)
        self.sums = self.half(self.scale * model._sums)
        self.weight = model._n - float(self.ones @ self.ones)
        if self.weight < _ROUNDING * model._n:
            return
        self.mean = (model._total - float(self.ones @ self.sums)) / self.weight
        self.spread = model._square - float(self.sums @ self.sums) - self.weight * self.mean**2
        self.deviance = (
            model._n * math.log(self.rest)
            + 2 * float(np.log(np.diag(self._lower)).sum())
            + float(np.log(self._diagonal).sum())
            + math.log(self.weight / self.rest)
            + self.spread / self.rest
            + (model._n - 1) * math.log(2 * math.pi)
        )

    def half(self, right: Floats) -> Floats:
        """Solve for the core's triangle: the product of two such is that by the core's inverse."""
        top = (right[self._large].T / self._diagonal).T
        left = right[self._small] - self._across @ top
        bottom = solve_triangular(self._lower, left, lower=True, check_finite=False)
        return np.concatenate([(top.T * np.sqrt(self._diagonal)).T, bottom])
