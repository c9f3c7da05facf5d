"""Relabellings: which sessions swap the labels of two identical variants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .pairs import Pairs

__all__ = ["MOST", "Signs", "sides", "signs"]

Array = NDArray[np.float64]
Signs = NDArray[np.int64]  # relabellings x groups: 1 as measured, -1 swapped
MOST = 128  # relabellings; more say nothing new: what varies are sessions and benchmarks


def signs(groups: int, rng: np.random.Generator) -> Signs:
    """Give relabellings, the labels as measured first: all of them, or `MOST` at random.

    Swapping everything turns each answer round, and all that is counted looks at both directions;
    so the first group keeps its labels.

    Parameters
    ----------
    groups : int
        Sessions, or blocks of the one session.
    rng : numpy.random.Generator
        Draws where there are too many to list.
    """
    if 2 ** (groups - 1) <= MOST:
        numbers = np.arange(2 ** (groups - 1))[:, None]
        bits = numbers >> np.arange(groups - 1)[None, :] & 1
    else:
        bits = rng.integers(0, 2, (MOST, groups - 1))
        bits[0] = 0
    return np.concatenate([np.ones((len(bits), 1), dtype=np.int64), 1 - 2 * bits], axis=1)


def sides(pairs: Pairs, bench: int, table: Signs) -> tuple[Array, Array]:
    """Give the values of both sides of a benchmark under each relabelling (relabellings x blocks)."""
    swapped = table[:, pairs.group[bench]] < 0
    x, y = pairs.ours[bench], pairs.theirs[bench]
    return np.where(swapped, y, x), np.where(swapped, x, y)
