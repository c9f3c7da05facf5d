"""Runs against the run before, as a lag plot shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["lag_pairs"]

Floats = NDArray[np.float64]


def lag_pairs(values: Floats, groups: NDArray[Any]) -> Floats:
    """Pair each run with the one before it in the same group.

    Parameters
    ----------
    values : array of float, shape (n,)
        In the order of execution.
    groups : array, shape (n,)
        The session of each run; runs of two sessions are no neighbours.

    Returns
    -------
    array of float, shape (m, 2)
        The earlier and the later value; runs of a group need not stand together.
    """
    order = np.argsort(groups, kind="stable")
    ordered, labels = values[order], groups[order]
    same = labels[1:] == labels[:-1]
    return np.column_stack((ordered[:-1][same], ordered[1:][same]))
