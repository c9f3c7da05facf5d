"""Variances of crossed random effects, by average-information REML.

The model of a value is mean + effects + rest, all but the mean random and independent.

References
----------
.. [1] A. R. Gilmour, R. Thompson, B. R. Cullis, "Average Information REML: an efficient algorithm for
   variance parameter estimation in linear mixed models", Biometrics 51, 1995.
.. [2] D. A. Harville, "Maximum likelihood approaches to variance component estimation and to related
   problems", Journal of the American Statistical Association 72, 1977.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .likelihood import Likelihood

__all__ = ["RandomEffects", "random_effects"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_STEPS = 100
_HALVINGS = 12
_SETTLED = 1e-14  # of the deviance that a further step would gain
_LEAST = 1e-9  # of the whole variance: the rest is not taken to be less
_NO_SPREAD = 1e-24  # variance of logs that is rounding
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


def random_effects(values: Floats, effects: Mapping[str, Codes]) -> RandomEffects | None:
    """Fit the model; None where it cannot be told, or nothing is left over.

    Parameters
    ----------
    values : array, shape (n,)
        Logarithms.
    effects : mapping of str to int array, shape (n,)
        The level of each value in each effect, from 0 on; one effect at least, and each one that the
        values can tell from the others and from the rest.
    """
    levels = sum(int(codes.max()) + 1 for codes in effects.values())
    spread = float(values.var())
    if spread < _NO_SPREAD or levels > _MOST_LEVELS:
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


def _start(values: Floats, effects: Mapping[str, Codes]) -> Floats:
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


def _climbed(likelihood: Likelihood, start: Floats, least: float) -> tuple[Floats, int] | None:
    """Go down the deviance to where it is least; None where that does not settle.

    Steps are those of the average information; a variance that would fall below 0 stays there
    while the slope holds it. A step that does not help is halved, and at last replaced by one
    of the expectation-maximization, which never rises [2]_.
    """
    floor = np.append(np.zeros(start.size - 1), least)
    at = np.maximum(start, floor)
    if not math.isfinite(likelihood.deviance(at)):
        return None
    for step in range(1, _MOST_STEPS + 1):
        deviance, slope, information = likelihood.slopes(at)
        free = (at > floor) | (slope < 0)
        move = np.zeros_like(at)
        inner = information[np.ix_(free, free)]
        move[free] = -np.linalg.lstsq(inner, slope[free], rcond=None)[0]
        if float(np.abs(slope[free] @ move[free])) < _SETTLED * abs(deviance) + _SETTLED:
            return np.maximum(at + move, floor), step  # it gains nothing, and is nearer
        share = 1.0
        for _ in range(_HALVINGS):
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
