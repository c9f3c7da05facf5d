"""How large a sample must be before its mean looks normal.

References
----------
.. [1] T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .departure import LILLIEFORS_LEAST, lilliefors
from .values import checked

__all__ = ["MEAN_SIZES", "MeanTrial", "mean_sample_size"]

MEAN_SIZES = (10, *range(20, 281, 20))  # [1]: fifteen trials
MEANS = 150  # means in each trial, as there


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanTrial:
    """Means of samples of one size, drawn from the values with replacement, and their test."""

    size: int
    means: int
    statistic: float
    pvalue: float


def mean_sample_size(
    values: ArrayLike,
    *,
    sizes: Sequence[int] = MEAN_SIZES,
    means: int = MEANS,
    rng: np.random.Generator,
) -> tuple[MeanTrial, ...]:
    """Draw samples of growing size and test whether their means look normal.

    Parameters
    ----------
    values : array_like
        What is drawn from, with replacement.
    sizes : sequence of int
        The sizes of the samples, one trial each.
    means : int
        How many means each trial tests: more of them see smaller departures.
    rng : numpy.random.Generator
        Where the draws come from.

    Raises
    ------
    InsufficientDataError
        With fewer than 5 values or means.
    AnalysisError
        If all values are equal, or one is not finite.
    """
    x = checked(values, LILLIEFORS_LEAST, "a study of means")
    x = np.ldexp(x, -np.frexp(np.abs(x).max())[1])  # exact, and no sum overflows
    trials = []
    for size in sizes:
        drawn = x[rng.integers(0, x.size, (means, size))].mean(axis=1)
        test = lilliefors(drawn)
        trials.append(
            MeanTrial(size=size, means=means, statistic=test.statistic, pvalue=test.pvalue)
        )
    return tuple(trials)
