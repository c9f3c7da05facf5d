"""Arrays that nobody changes by accident."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_only"]

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Give the array itself, which can be written to no longer."""
    array.flags.writeable = False
    return array
