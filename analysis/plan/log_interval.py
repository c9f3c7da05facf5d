"""Welch and Satterthwaite's t interval of a suite's geometric mean, on logarithms.

Every run counts as independent: each benchmark of each side is a stratum of its own, and the suite's
geometric mean is the mean of the strata on the log scale.

References
----------
.. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
.. [2] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
   Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..errors import AnalysisError

Floats = NDArray[np.float64]

APART = "look for values that are not measurements: they lie too far apart"
WIDEST = 300.0  # on the log scale: a factor of 1e130 to either side, whose exponential is finite


def log_error(variances: Floats, counts: NDArray[Any], benchmarks: int) -> tuple[Floats, Floats]:
    """Give the standard error of a suite's mean log (difference), and its degrees of freedom.

    Notes
    -----
    With u = variance / count, the standard error is sqrt(sum u) / benchmarks, and the degrees of
    freedom are (sum u)^2 / sum(u^2 / (count - 1)) ([1]_, [2]_).
    """
    share = np.asarray(variances, dtype=np.float64) / counts
    total = share.sum(axis=-1)
    some: NDArray[np.bool_] = np.asarray(total > 0)
    weights = share / np.expand_dims(np.where(some, total, 1.0), -1)
    spent = (weights**2 / (np.asarray(counts) - 1.0)).sum(axis=-1)
    return np.sqrt(total) / benchmarks, 1.0 / np.where(some, spent, 1.0)


def log_half_width(
    variances: Floats, counts: NDArray[Any], benchmarks: int, confidence: float
) -> Floats:
    """Give half the two-sided t interval on the log scale; arguments as in `log_error`."""
    error, freedom = log_error(variances, counts, benchmarks)
    return np.minimum(stdtrit(freedom, (1.0 + confidence) / 2.0) * error, WIDEST)


def relative_width(half: Any) -> Any:  # noqa: ANN401 - a number or an array of them
    """Give (high - low) / estimate of an interval that is estimate * exp(-+ `half`)."""
    return 2.0 * np.sinh(half)


def exponential(log: float) -> float:
    """Give e to the power of an end of an interval."""
    try:
        return math.exp(log)
    except OverflowError:
        raise AnalysisError(
            "the interval of the speedup leaves the range of numbers", fix=APART
        ) from None


def width_text(width: float | None, limit: float) -> str:
    """Write a width with as many digits as keep it on its side of the limit."""
    if width is None:
        return "unknown"
    for digits in range(3, 17):
        text = f"{width:.{digits}g}"
        if (float(text) <= limit) == (width <= limit):
            return text
    return repr(width)
