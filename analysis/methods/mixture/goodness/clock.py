"""Tied values spread by jitter, over the step of the clock behind them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError, UsageError
from ....stats import clock_step

__all__ = ["jittered"]

Array = NDArray[np.float64]


def jittered(
    values: Array, step: float | None, rng: np.random.Generator
) -> tuple[Array, float | None]:
    """Move every value by a uniform share of the clock's step, at most half a step either way.

    Returns
    -------
    numpy.ndarray
        The moved values.
    float or None
        The step: as given, or inferred; None when there is none and no values tie.

    Raises
    ------
    UsageError
        If the step is not a positive number.
    AnalysisError
        If values tie but have no common step.
    """
    if step is not None and not (math.isfinite(step) and step > 0):
        raise UsageError(f"resolution must be a positive number, not {step!r}")
    width = clock_step(values) if step is None else step
    if width is None:
        if np.unique(values).size < values.size:
            raise AnalysisError(
                "values tie, but their differences have no common step",
                fix="give the clock's step as resolution",
            )
        return values, None
    return values + width * (rng.random(values.size) - 0.5), width
