"""Two components of variance, between sessions and within them, by restricted likelihood.

References
----------
.. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are unequal",
   Biometrika 58, 1971.
.. [2] S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992, sections 3.8 and 6.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

__all__ = ["OneWay", "one_way"]

Floats = NDArray[np.float64]
_ROUNDING = 1e-12  # logs nearer to each other are one value
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


def one_way(values: Floats, groups: NDArray[np.int64]) -> OneWay:
    """Estimate the components of value = mean + session + rest.

    Parameters
    ----------
    values : array, shape (n,)
        Logarithms.
    groups : int array, shape (n,)
        The session of each; two or more.

    Notes
    -----
    Given the ratio r of the variances, with w = n / (1 + n r) for a session of n values, the mean is
    that of the sessions weighted by w and the variance within is Q / (N - 1), Q = sum of squares within
    + sum w (session mean - mean)^2. What is left is (N - 1) log Q + sum log(1 + n r) + log sum w, whose
    least value over r >= 0 is found on a grid and then at the root of its derivative [1]_. For sessions
    of one size that is the analysis of variance, cut at 0 [2]_.
    """
    _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
    sizes = counts.astype(np.float64)
    means = np.bincount(place, weights=values) / sizes
    rest = values - means[place]
    inside = float(rest @ rest)
    if inside < values.size * _ROUNDING**2:
        inside = 0.0
    shifts = means - means.mean()
    if float(np.abs(shifts).max()) < _ROUNDING:
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


def _root(best: int, sizes: Floats, shifts: Floats, inside: float) -> float:
    """Refine the grid's best ratio to where the derivative is 0; 0 where it rises from there."""
    low, high = float(_RATIOS[max(best - 1, 0)]), float(_RATIOS[min(best + 1, _RATIOS.size - 1)])
    if _slope(low, sizes, shifts, inside) >= 0:
        return low
    if _slope(high, sizes, shifts, inside) <= 0:
        return high
    found: float = brentq(_slope, low, high, args=(sizes, shifts, inside), xtol=1e-300, rtol=1e-15)
    return found


def _criterion(ratio: Floats, sizes: Floats, shifts: Floats, inside: float) -> Floats:
    """Give what is to be least, for each ratio."""
    grown = 1 + sizes * np.asarray(ratio)[..., None]
    weights = sizes / grown
    total = weights.sum(axis=-1)
    away = shifts - ((weights @ shifts) / total)[..., None]
    spread = inside + (weights * away**2).sum(axis=-1)
    found: Floats = (sizes.sum() - 1) * np.log(spread) + np.log(grown).sum(axis=-1) + np.log(total)
    return found


def _slope(ratio: float, sizes: Floats, shifts: Floats, inside: float) -> float:
    """Give the derivative of the criterion in the ratio."""
    weights = sizes / (1 + sizes * ratio)
    away = shifts - weights @ shifts / weights.sum()
    spread = inside + float(weights @ away**2)
    less = float((weights**2) @ away**2) * float(sizes.sum() - 1) / spread
    return float(weights.sum() - (weights @ weights) / weights.sum()) - less


def _deviance(sizes: Floats, shifts: Floats, inside: float, ratio: float) -> float:
    """Give minus twice the restricted log likelihood at a ratio, the variance at its best."""
    freedom = float(sizes.sum()) - 1
    least = float(_criterion(np.array(ratio), sizes, shifts, inside))
    return least + freedom * (1 + math.log(2 * math.pi / freedom))
