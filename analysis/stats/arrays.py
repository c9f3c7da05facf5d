"""Arrays that nobody changes by accident, and their median at the ends of the range of numbers."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["median", "read_only"]

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Give the array itself, which can be written to no longer."""
    array.flags.writeable = False
    return array


def median(values: NDArray[np.float64], axis: int | None = None) -> Any:  # noqa: ANN401 - as numpy
    """Give `numpy.median` of finite values; two middle values whose sum overflows count by halves."""
    with np.errstate(over="ignore"):
        found = np.median(values, axis=axis)
    if np.isfinite(found).all():
        return found
    return np.where(np.isfinite(found), found, 2 * np.median(values / 2, axis=axis))
