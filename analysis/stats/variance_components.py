"""Components of variance: of one grouping, and of crossed and nested random effects, by REML.

The model of a value is mean + effects + rest, all but the mean random and independent.

References
----------
.. [1] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML: an efficient algorithm for
   variance parameter estimation in linear mixed models", Biometrics 51, 1995.
.. [2] H. V. Henderson, S. R. Searle, "On deriving the inverse of a sum of matrices", SIAM Review 23,
   1981 (the covariance by the levels of the effects instead of by the observations).
.. [3] D. A. Harville, "Maximum likelihood approaches to variance component estimation and to related
   problems", Journal of the American Statistical Association 72, 1977.
.. [4] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are unequal",
   Biometrika 58, 1971.
.. [5] S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992, sections 3.8 and 6.6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .samples import Array, Integers


class Likelihood:
    """The restricted likelihood of value = mean + effects + rest, all but the mean random.

    Parameters
    ----------
    values : array, shape (n,)
        Logarithms.
    effects : mapping of str to int array, shape (n,)
        The level of each value in each effect, from 0 on.
    """

    def __init__(self, values: Array, effects: Mapping[str, Integers]) -> None:
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
        # of each effect, and of the rest
        self.levels = np.array([*sizes, y.size], dtype=np.float64)

    def deviance(self, variances: Array) -> float:
        """Give minus twice the restricted log likelihood, constants included.

        It is infinite where the variances lie too far apart to compute it.

        `variances`: Of the effects in their order, at least 0, and last of the rest, above 0.
        """
        return _Whitened(self, variances).deviance

    def slopes(self, variances: Array) -> tuple[float, Array, Array]:
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

    def _information(self, at: _Whitened, pulled: Array, squares: Array, square: float) -> Array:
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
        found: Array = (products - halves.T @ halves - np.outer(means, means) / at.weight) / at.rest
        return found


class _Whitened:
    """The likelihood's parts at given variances.

    With H the covariance over the variance of the rest, W the effects' indicators, and u and v any
    vectors of observations, u' H^-1 v = u'v - half(scale * W'u)' half(scale * W'v) [2]_.
    """

    def __init__(self, model: Likelihood, variances: Array) -> None:
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
        if self.weight < 1e-13 * model._n:
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

    def half(self, right: Array) -> Array:
        """Solve for the core's triangle: the product of two such is that by the core's inverse."""
        top = (right[self._large].T / self._diagonal).T
        left = right[self._small] - self._across @ top
        bottom = solve_triangular(self._lower, left, lower=True, check_finite=False)
        return np.concatenate([(top.T * np.sqrt(self._diagonal)).T, bottom])


_SETTLED = 1e-14  # of the deviance that a further step would gain
_LEAST = 1e-9  # of the whole variance: the rest is not taken to be less
_MOST_LEVELS = 4000  # of all effects: beyond, the matrices would fill the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomEffects:
    """Variances by effect, "rest" among them.

    `deviance` is minus twice the restricted log likelihood, constants included, and `steps` how many
    the search took.
    """

    variances: Mapping[str, float]
    deviance: float
    steps: int


def random_effects(values: Array, effects: Mapping[str, Integers]) -> RandomEffects | None:
    """Fit the model; None where it cannot be fitted, or nothing is left over.

    `values` (shape (n,)): Logarithms. `effects` (shape (n,)): The level of each value in each
    effect, from 0 on; one effect at least, and each one that the values can tell from the others
    and from the rest.
    """
    levels = sum(int(codes.max()) + 1 for codes in effects.values())
    spread = float(values.var())
    if spread < 1e-24 or levels > _MOST_LEVELS:  # variance of logs that is rounding
        return None
    likelihood = Likelihood(values, effects)
    found = _climbed(likelihood, _start(values, effects), spread * _LEAST)
    if found is None or found[0][-1] <= spread * _LEAST:
        return None
    variances, steps = found
    names = (*effects, "rest")
    return RandomEffects(
        variances=dict(zip(names, variances.tolist(), strict=True)),
        deviance=likelihood.deviance(variances),
        steps=steps,
    )


def _start(values: Array, effects: Mapping[str, Integers]) -> Array:
    """Share the variance out by the means of each effect's levels, as a place to begin."""
    left = values - values.mean()
    start = []
    for codes in effects.values():
        counts = np.bincount(codes)
        means = np.bincount(codes, weights=left) / counts
        left = left - means[codes]
        start.append(float(means.var()) * counts.size / max(counts.size - 1, 1))
    rest = max(float(left @ left) / max(left.size - 1, 1), float(values.var()) * 1e-4)
    sizes = [float(np.bincount(codes).mean()) for codes in effects.values()]
    shares = [max(v - rest / n, rest * 1e-3) for v, n in zip(start, sizes, strict=True)]
    return np.array([*shares, rest])


def _climbed(likelihood: Likelihood, start: Array, least: float) -> tuple[Array, int] | None:
    """Go down the deviance to where it is least; None where that does not settle.

    Steps are those of the average information; a variance that would fall below 0 stays there
    while the slope holds it. A step that does not help is halved, and at last replaced by one
    of the expectation-maximization, which never rises [3]_.
    """
    floor = np.append(np.zeros(start.size - 1), least)
    at = np.maximum(start, floor)
    if not math.isfinite(likelihood.deviance(at)):
        return None
    for step in range(1, 100 + 1):
        deviance, slope, information = likelihood.slopes(at)
        free = (at > floor) | (slope < 0)
        move = np.zeros_like(at)
        inner = information[np.ix_(free, free)]
        move[free] = -np.linalg.lstsq(inner, slope[free], rcond=None)[0]
        if float(np.abs(slope[free] @ move[free])) < _SETTLED * abs(deviance) + _SETTLED:
            return np.maximum(at + move, floor), step  # it gains nothing, and is nearer
        share = 1.0
        for _ in range(12):
            tried = np.maximum(at + share * move, floor)
            if likelihood.deviance(tried) < deviance:
                break
            share /= 2
        else:
            tried = np.maximum(at - at**2 * slope / likelihood.levels, floor)
            if not likelihood.deviance(tried) < deviance:
                return at, step  # rounding is all that is left
        at = tried
    return None


_GROUPED_ROUNDING = 1e-12  # logs nearer to each other are one value
_RATIOS = np.r_[0.0, np.geomspace(1e-8, 1e10, 91)]  # of the variances, where the root is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay:
    """Variances of logs between sessions and within them.

    `within` is None where no session has two values: then `between` is all that differs. `deviance`
    is minus twice the restricted log likelihood, constants included; None where a variance is 0 for
    want of any spread. `groups` and `values` count sessions and values.
    """

    mean: float
    between: float
    within: float | None
    deviance: float | None
    groups: int
    values: int


def one_way(values: Array, groups: Integers) -> OneWay:
    """Estimate the components of value = mean + session + rest.

    `values` (shape (n,)): Logarithms. `groups` (shape (n,)): The session of each; two or more.

    Given the ratio r of the variances, with w = n / (1 + n r) for a session of n values, the mean is
    that of the sessions weighted by w and the variance within is Q / (N - 1), Q = sum of squares within
    + sum w (session mean - mean)^2. What is left is (N - 1) log Q + sum log(1 + n r) + log sum w, whose
    least value over r >= 0 is found on a grid and then at the root of its derivative [4]_. For sessions
    of one size that is the analysis of variance, cut at 0 [5]_.
    """
    _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sizes = counts.astype(np.float64)
    means = np.bincount(place, weights=values) / sizes
    rest = values - means[place]
    inside = float(rest @ rest)
    if inside < values.size * _GROUPED_ROUNDING**2:
        inside = 0.0
    shifts = means - means.mean()
    if float(np.abs(shifts).max()) < _GROUPED_ROUNDING:
        shifts = np.zeros_like(shifts)
    mean = float(means.mean())
    if values.size == sizes.size or inside == 0:
        between = float(shifts @ shifts) / (sizes.size - 1)
        alone = values.size == sizes.size
        return OneWay(
            mean=mean,
            between=between,
            within=None if alone else 0.0,
            deviance=_deviance(np.ones_like(sizes), shifts, 0.0, 0.0)
            if alone and between
            else None,
            groups=sizes.size,
            values=values.size,
        )
    best = int(_criterion(_RATIOS, sizes, shifts, inside).argmin())
    ratio = _root(best, sizes, shifts, inside)
    weights = sizes / (1 + sizes * ratio)
    centre = float(weights @ shifts / weights.sum())
    within = (inside + float(weights @ (shifts - centre) ** 2)) / (values.size - 1)
    return OneWay(
        mean=mean + centre,
        between=ratio * within,
        within=within,
        deviance=_deviance(sizes, shifts, inside, ratio),
        groups=sizes.size,
        values=values.size,
    )


def _root(best: int, sizes: Array, shifts: Array, inside: float) -> float:
    """Refine the grid's best ratio to where the derivative is 0; 0 where it rises from there."""
    from scipy.optimize import brentq

    low, high = float(_RATIOS[max(best - 1, 0)]), float(_RATIOS[min(best + 1, _RATIOS.size - 1)])
    if _slope(low, sizes, shifts, inside) >= 0:
        return low
    if _slope(high, sizes, shifts, inside) <= 0:
        return high
    return float(brentq(_slope, low, high, (sizes, shifts, inside), xtol=1e-300, rtol=1e-15))


def _criterion(ratio: Array, sizes: Array, shifts: Array, inside: float) -> Array:
    """Give what is to be least, for each ratio."""
    grown = 1 + sizes * np.asarray(ratio)[..., None]
    weights = sizes / grown
    total = weights.sum(axis=-1)
    away = shifts - ((weights @ shifts) / total)[..., None]
    spread = inside + (weights * away**2).sum(axis=-1)
    found: Array = (sizes.sum() - 1) * np.log(spread) + np.log(grown).sum(axis=-1) + np.log(total)
    return found


def _slope(ratio: float, sizes: Array, shifts: Array, inside: float) -> float:
    """Give the derivative of the criterion in the ratio."""
    weights = sizes / (1 + sizes * ratio)
    away = shifts - weights @ shifts / weights.sum()
    spread = inside + float(weights @ away**2)
    less = float((weights**2) @ away**2) * float(sizes.sum() - 1) / spread
    return float(weights.sum() - (weights @ weights) / weights.sum()) - less


def _deviance(sizes: Array, shifts: Array, inside: float, ratio: float) -> float:
    """Give minus twice the restricted log likelihood at a ratio, the variance at its best."""
    freedom = float(sizes.sum()) - 1
    least = float(_criterion(np.array(ratio), sizes, shifts, inside))
    return least + freedom * (1 + math.log(2 * math.pi / freedom))
