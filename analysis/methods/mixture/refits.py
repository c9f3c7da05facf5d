"""Mixtures refitted to random halves of a sample, once for evidence and intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError
from ...stats import counted, door, read_only
from .fitting.fit import fit_mixture
from .model.mixture import Mixture
from .values import checked

__all__ = ["Fit", "FittedSample", "fitted_sample"]

Array = NDArray[np.float64]
Fit = Callable[[Array], Mixture]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSample:
    """Values, their mixture, and the mixtures of the resamples; `failed` could not be fitted."""

    values: Array
    mixture: Mixture
    replicates: tuple[Mixture, ...]
    failed: int


@door
def fitted_sample(
    values: ArrayLike,
    mixture: Mixture,
    *,
    fit: Fit | None = None,
    resamples: int = 500,
    rng: np.random.Generator,
) -> FittedSample:
    """Fit mixtures to resamples of the values, once, for any number of intervals.

    Parameters
    ----------
    values : array_like
        At least 4 values, not all equal: those that `mixture` was fitted to.
    mixture : Mixture
        Their fit.
    fit : callable, optional
        From an array of values to a `Mixture`; it may raise `AnalysisError`. By default
        `fit_mixture` on the scale of `mixture`, with up to 9 components.
    resamples : int
        How many.
    rng : numpy.random.Generator
        Where the resamples come from.

    Raises
    ------
    UsageError
        If `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        If there are too few values, one is not finite, all are equal, or no resample can be fitted.
    """
    counted("resamples", resamples)
    x = read_only(checked(values))
    refit = fit if fit is not None else _default_fit(mixture)
    replicates = []
    for _ in range(resamples):
        try:
            replicates.append(refit(_half(x, rng)))
        except AnalysisError:  # counted and reported
            continue
    if not replicates:
        raise AnalysisError(
            f"none of {resamples} resamples of these {x.size} values can be fitted",
            fix="measure more runs, or with a finer clock",
        )
    return FittedSample(
        values=x,
        mixture=mixture,
        replicates=tuple(replicates),
        failed=resamples - len(replicates),
    )


def _default_fit(mixture: Mixture) -> Fit:
    scale = mixture.scale
    return lambda values: fit_mixture(values, scale=scale)


def _half(x: Array, rng: np.random.Generator) -> Array:
    """Draw half of the values (rounded up), none twice."""
    half: Array = x[rng.permutation(x.size)[: (x.size + 1) // 2]]
    return half
