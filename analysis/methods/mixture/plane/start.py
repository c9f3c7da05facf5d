"""Where the EM fits of points in the plane start: a hard clustering for each number of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["START_POINTS", "chosen", "start_classes", "whitened"]

Array = NDArray[np.float64]
START_POINTS = 2000  # mclust's limit; above it the clustering sees a subset


def whitened(x: Array, y: Array) -> tuple[Array, Array]:
    """Put points on their principal axes, as mclust does before it clusters (its option SVD).

    Both coordinates are standardised; of their principal components each is divided by the square
    root of its singular value. In the plane the axes are the sum and the difference, the longer one
    first: the clustering does not treat both alike.

    Parameters
    ----------
    x, y : array, shape (n,)
        Coordinates, neither constant, not on a line.
    """
    x, y = ((v - v.mean()) / v.std(ddof=1) for v in (x, y))
    axes = (x + y) * np.sqrt(0.5), (x - y) * np.sqrt(0.5)
    u, v = (axis / np.sqrt(np.sqrt(axis @ axis)) for axis in axes)
    return (u, v) if u @ u >= v @ v else (v, u)


def chosen(x: Array, y: Array) -> NDArray[np.intp]:
    """Choose the points that the clustering sees: all, or START_POINTS evenly spaced by x."""
    if x.size <= START_POINTS:
        return np.arange(x.size)
    ranks = np.linspace(0, x.size - 1, START_POINTS).round().astype(np.intp)
    return np.sort(np.lexsort((y, x))[ranks])


def start_classes(x: Array, y: Array, most: int) -> NDArray[np.int64]:
    """Cluster points into 1 to `most` classes, without randomness.

    Returns
    -------
    array, shape (most, n)
        Row k - 1 holds the class of each point, counted from 0, when there are k classes.
    """
    from .tree_kernel import partitions

    u, v = whitened(x, y)
    alpha = float(((u - u.mean()) ** 2).sum() + ((v - v.mean()) ** 2).sum()) / (2 * x.size)
    classes = np.empty((most, x.size), dtype=np.int64)
    partitions(u, v, max(alpha, np.finfo(np.float64).eps), classes)
    return classes
