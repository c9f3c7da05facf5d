"""The values that a study of normality takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError, InsufficientDataError
from ...stats import numbers

__all__ = ["checked"]


def checked(values: ArrayLike, least: int, purpose: str) -> NDArray[np.float64]:
    """Give the values as an array; refuse too few, equal ones, and what is not finite."""
    x = numbers(values, "the values")
    if x.size < least:
        raise InsufficientDataError(
            f"{purpose} needs {least} values, not {x.size}", n=x.size, needed=least
        )
    if not np.isfinite(x).all():
        raise AnalysisError(f"{purpose} needs finite values")
    if np.ptp(x) <= 1e-12 * np.abs(x).max():
        raise AnalysisError(f"{purpose} needs values that differ")
    return x
