"""Estimates, standard errors and degrees of freedom, from tables of session values.

Everything is on the log scale and works along the last axes, so that many trials can be judged at
once. A table has a row for each session (or block, or run) and a column for each benchmark; nan
where a benchmark has no value.

References
----------
.. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
.. [2] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
   Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLAT", "Estimates", "of_differences", "of_means", "satterthwaite"]

Floats = NDArray[np.float64]

FLAT = 1e-12  # logs that differ by less from their mean do not vary


class Estimates(NamedTuple):
    """An estimate with its standard error and degrees of freedom, arrays of one shape.

    `error` and `freedom` are nan where fewer than two values leave them unknown; `error` is 0 where
    the values do not vary. `values` is how many there are, on both sides together.
    """

    estimate: Floats
    error: Floats
    freedom: Floats
    values: NDArray[np.int64]

    def changed(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Estimates:
        """Give what a function makes of each of the arrays."""
        return Estimates(*(change(part) for part in self))

    def as_rows(self) -> Estimates:
        """Give a single estimate as arrays of one entry."""
        return Estimates(
            np.atleast_1d(self.estimate),
            np.atleast_1d(self.error),
            np.atleast_1d(self.freedom),
            np.atleast_1d(self.values),
        )


def of_differences(values: Floats) -> Estimates:
    """Give the mean of the columns of differences: t with as many degrees of freedom as values less 1.

    Parameters
    ----------
    values : array, shape (..., rows, benchmarks)
        Differences of logs; nan where a row has none.

    Returns
    -------
    Estimates
        Arrays of shape (..., benchmarks).
    """
    there = ~np.isnan(values)
    count = there.sum(axis=-2)
    total = np.where(there, values, 0.0).sum(axis=-2)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    apart = np.where(there, values - mean[..., None, :], 0.0)
    varies = (np.abs(apart) >= FLAT).any(axis=-2)
    square = (apart**2).sum(axis=-2) / np.maximum(count - 1, 1) / np.maximum(count, 1)
    enough = count >= 2
    return Estimates(
        estimate=mean,
        error=np.where(enough, np.where(varies, np.sqrt(square), 0.0), np.nan),
        freedom=np.where(enough, count - 1.0, np.nan),
        values=count,
    )


def of_means(ours: Floats, theirs: Floats) -> Estimates:
    """Give the difference of two sides' means: Welch's t with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    ours, theirs : array, shape (..., rows, benchmarks)
        Logs of the candidate's and the baseline's rows, which need not be as many.

    Returns
    -------
    Estimates
        Arrays of shape (..., benchmarks); the degrees of freedom where nothing varies are those of
        all values less 2.
    """
    a, b = of_differences(ours), of_differences(theirs)
    return Estimates(
        estimate=a.estimate - b.estimate,
        error=np.hypot(a.error, b.error),
        freedom=satterthwaite(
            np.stack([a.error, b.error], axis=-1), np.stack([a.freedom, b.freedom], axis=-1)
        ),
        values=a.values + b.values,
    )


def satterthwaite(errors: Floats, freedoms: Floats) -> Floats:
    """Give the degrees of freedom of the root of the sum of squares of errors ([1]_, [2]_).

    Parameters
    ----------
    errors, freedoms : array, shape (..., parts)
        Independent standard errors and the degrees of freedom of each; nan in any part gives nan.

    Returns
    -------
    array, shape (...)
        (sum e^2)^2 / sum(e^4 / freedom); where all errors are 0, the sum of the freedoms.
    """
    largest = errors.max(axis=-1, keepdims=True)
    varies = np.asarray(largest[..., 0] > 0)
    with np.errstate(invalid="ignore"):
        share = (errors / np.where(largest > 0, largest, 1.0)) ** 2
        spent = (share**2 / freedoms).sum(axis=-1)
        found = share.sum(axis=-1) ** 2 / np.where(varies, spent, 1.0)
    flat = np.where(np.isnan(largest[..., 0]), np.nan, freedoms.sum(axis=-1))
    return np.asarray(np.where(varies, found, flat))
