"""Which rows are held out together: at random, or whole families of sister systems.

A random split leaves near copies of a held-out system in what is learned from, so that a model can
look them up. A grouped split never shares a family between both sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["grouped_folds", "grouped_part", "random_folds", "random_part"]

_Whole = NDArray[np.intp]
_Flags = NDArray[np.bool_]


def random_folds(rows: int, folds: int, rng: np.random.Generator) -> _Whole:
    """Give each row its fold; the sizes differ by one row at most."""
    found = np.empty(rows, np.intp)
    found[rng.permutation(rows)] = np.arange(rows) % folds
    return found


def grouped_folds(families: _Whole, folds: int, rng: np.random.Generator) -> _Whole:
    """Give each row the fold of its family.

    The largest family goes first, each to the fold that has the fewest rows so far; equally large
    ones come in random order. No fold is empty when there are as many families as folds.

    Parameters
    ----------
    families : array of int, shape (rows,)
        The number of each row's family, counted from 0 without gaps.
    folds : int
        At most as many as families.
    rng : numpy.random.Generator
    """
    sizes = np.bincount(families)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(folds, np.intp)
    fold_of = np.empty(len(sizes), np.intp)
    for family in order:
        fold = int(filled.argmin())
        fold_of[family] = fold
        filled[fold] += sizes[family]
    return np.asarray(fold_of[families])


def random_part(rows: int, share: float, rng: np.random.Generator) -> _Flags:
    """Choose this share of the rows, at least one."""
    chosen = np.zeros(rows, np.bool_)
    chosen[rng.permutation(rows)[: max(1, round(rows * share))]] = True
    return chosen


def grouped_part(families: _Whole, share: float, rng: np.random.Generator) -> _Flags:
    """Choose whole families with this share of the rows or a little more, never all of them.

    A family that would take more than half of the rows is passed over as long as another one is
    left.
    """
    names, places = np.unique(families, return_inverse=True)
    sizes = np.bincount(places)
    order = rng.permutation(len(names))
    order = order[np.argsort(sizes[order] > len(families) / 2, kind="stable")]
    wanted = share * len(families)
    taken = np.zeros(len(names), np.bool_)
    held = 0
    for family in order[:-1]:
        taken[family] = True
        held += int(sizes[family])
        if held >= wanted:
            break
    return np.asarray(taken[places])
