"""One number for a whole suite: the mean over benchmarks of each benchmark's centre.

[1]_ compares systems by the geometric mean of all scores and names the harmonic and the arithmetic
mean as other choices. Nothing here can overflow: logarithms are taken for the geometric mean, and
the others are scaled before they are summed.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 3 and 4.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError, UsageError
from ..record import Better
from .matrix import PerformanceMatrix

__all__ = ["CENTRES", "MEANS", "Centre", "Mean", "check_means", "speedup_of", "suite_mean"]

Mean = Literal["geometric", "harmonic", "arithmetic"]
Centre = Literal["runs", "mean", "median"]
MEANS: tuple[Mean, ...] = get_args(Mean)
CENTRES: tuple[Centre, ...] = get_args(Centre)


def check_means(mean: str, centre: str) -> None:
    """Refuse an unknown kind of mean or centre.

    Raises
    ------
    UsageError
        If `mean` or `centre` is none of ``MEANS`` or ``CENTRES``.
    """
    for name, value, known in (("mean", mean, MEANS), ("centre", centre, CENTRES)):
        if value not in known:
            raise UsageError(
                f"{name} must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}, not {value!r}"
            )


def suite_mean(matrix: PerformanceMatrix, *, mean: Mean, centre: Centre) -> float:
    """Give the mean over benchmarks of each benchmark's centre, in the unit of the values.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs, ragged or not.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as they are stored.
    centre : {"runs", "mean", "median"}
        What stands for one benchmark: "runs" is the same kind of mean over its runs, so that all
        runs count and benchmarks weigh equally when some have more runs; "mean" is the arithmetic
        mean of its runs, "median" their median.

    Raises
    ------
    UsageError
        If `mean` or `centre` is unknown.
    """
    check_means(mean, centre)
    centres = np.array([_centre(values, mean, centre) for values in matrix.samples])
    return _mean(centres, mean)


def speedup_of(candidate_mean: float, baseline_mean: float, better: Better) -> float:
    """Give the ratio of two suite means that is above 1 when the candidate is better.

    Raises
    ------
    AnalysisError
        If the ratio leaves the range of numbers.
    """
    over, under = (
        (baseline_mean, candidate_mean) if better == "lower" else (candidate_mean, baseline_mean)
    )
    value = over / under
    if not 0 < value < math.inf:
        raise AnalysisError(
            f"the ratio of {over:g} to {under:g} leaves the range of numbers",
            fix="give both sides in one unit, and look for values that are no measurements",
        )
    return value


def _centre(values: NDArray[np.float64], mean: Mean, centre: Centre) -> float:
    if centre == "median":
        ordered = np.sort(values)
        # the halves are taken first: the sum of two huge values would overflow
        low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        return float(low if low == high else low / 2 + high / 2)
    return _mean(values, mean if centre == "runs" else "arithmetic")


def _mean(values: NDArray[np.float64], mean: Mean) -> float:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low  # equal values have this mean exactly
    if mean == "geometric":
        found = math.exp(float(np.log(values).mean()))
    elif mean == "harmonic":
        found = low / float((low / values).mean())
    else:
        found = high * float((values / high).mean())
    return min(max(found, low), high)
