"""What a mixture can be fitted to: checked values on the scale of the fit, and the least variance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....stats import numbers
from ..model.mixture import Scale

__all__ = ["Sample", "prepared"]

Array = NDArray[np.float64]

LEAST_VALUES = 2
_LARGEST = 1e150  # squares must stay finite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Checked values on the scale of the fit: `values` sorted, `floor` the least variance."""

    values: Array
    floor: float


def prepared(
    values: ArrayLike,
    *,
    variance_floor: float = 0.0,
    resolution: float | None = None,
    scale: Scale = "linear",
) -> Sample:
    """Check a sample and put it on the scale of the fit, as `fit_mixture` does first.

    Raises
    ------
    UsageError, InsufficientDataError, AnalysisError
        As `fit_mixture`.
    """
    _check_options(variance_floor, resolution, scale)
    x = _sorted_values(values)
    floor = variance_floor
    if scale == "log" and x[0] <= 0:
        raise AnalysisError(
            f"the log scale needs positive values, and the smallest is {x[0]:.6g}",
            fix='take scale="linear"',
        )
    if resolution is not None:
        step = resolution / float(np.median(x)) if scale == "log" else resolution
        floor = step * step / 12
    if scale == "log":
        x = np.log(x)
    if max(abs(x[0]), abs(x[-1])) > _LARGEST:
        raise _too_large()
    if x[0] == x[-1] and floor == 0:
        raise AnalysisError(
            f"all {x.size} values are equal: no Gaussian has so little spread",
            fix="measure with a finer clock, or give the clock's step as resolution",
        )
    return Sample(values=x, floor=floor)


def _check_options(variance_floor: float, resolution: float | None, scale: str) -> None:
    if scale not in ("linear", "log"):
        raise UsageError(f"scale must be 'linear' or 'log', not {scale!r}")
    if not (math.isfinite(variance_floor) and variance_floor >= 0):
        raise UsageError(f"variance_floor must be a number from 0 on, not {variance_floor!r}")
    if resolution is not None and not (math.isfinite(resolution) and resolution > 0):
        raise UsageError(f"resolution must be a positive number, not {resolution!r}")
    if resolution is not None and variance_floor:
        raise UsageError("variance_floor and resolution both set the floor", fix="give one of them")


def _sorted_values(values: ArrayLike) -> Array:
    x = numbers(values, "the values to be fitted")
    if x.size < LEAST_VALUES:
        raise InsufficientDataError(
            f"a mixture needs at least {LEAST_VALUES} values, and there are {x.size}",
            n=x.size,
            needed=LEAST_VALUES,
        )
    if not np.isfinite(x).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    x.sort()
    return x


def _too_large() -> AnalysisError:
    return AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
