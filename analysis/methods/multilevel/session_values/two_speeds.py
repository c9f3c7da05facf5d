"""Cells that lie at one of two speeds, further apart than their runs explain.

A memory layout, or a page's colour, may make every run of a session fast or slow. With S sessions of which
each cell is fast or slow by chance, all differences have one sign and size with chance 2 * 4^-S: with two
or three sessions t then finds a difference that is none, and no interval of finite width helps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from ..design import Layout, Side
from ..estimates import FLAT

__all__ = ["TwoSpeeds", "speeds_of", "two_speeds"]

Floats = NDArray[np.float64]

DISTANCE = 20.0  # of the groups, in standard errors of a cell
RISK = 0.01  # of the test that cells of a group differ by more than their runs explain
_TELLING = 8  # cells from which on chance does not put all of one side at one speed


class TwoSpeeds(NamedTuple):
    """Two speeds at which a benchmark's cells lie.

    `distance` is that of the groups' means of logs; `by_side` tells whether the groups are the sides.
    """

    distance: float
    by_side: bool


def two_speeds(ours: Floats, theirs: Floats, within: float, freedom: int) -> TwoSpeeds | None:
    """Tell whether a benchmark's cells lie at two speeds; None where they do not.

    The cells are sorted and split in two groups of at least two where that leaves the least sum of
    squares. They lie at two speeds where the groups are 20 standard errors of a cell apart, and vary
    within themselves by no more than runs do: F test above .01.

    From eight cells on, groups that are the two sides are the difference that is looked for, and no
    chance of sessions; below that nothing tells them apart.

    Parameters
    ----------
    ours, theirs : array
        The mean log of each session of both sides, without nan.
    within : float
        The variance of a cell's mean by the scatter of its runs.
    freedom : int
        The degrees of freedom of that.

    Returns
    -------
    TwoSpeeds or None
        None also where runs do not scatter, or each cell has one.
    """
    cells = np.concatenate([ours, theirs])
    if cells.size < 4 or freedom < 1 or not within > FLAT**2:
        return None
    order = np.argsort(cells, kind="stable")
    place = _split(cells[order])
    low, high = cells[order[:place]], cells[order[place:]]
    distance = float(high.mean() - low.mean())
    if distance < DISTANCE * math.sqrt(within):
        return None
    left = (((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum()) / (cells.size - 2)
    if fdtrc(cells.size - 2, freedom, left / within) <= RISK:
        return None
    sides = {frozenset(range(ours.size)), frozenset(range(ours.size, cells.size))}
    by_side = frozenset(order[:place].tolist()) in sides
    return None if by_side and cells.size >= _TELLING else TwoSpeeds(distance, by_side)


def _split(cells: Floats) -> int:
    """Give the size of the lower group of the best split of sorted cells."""
    n = cells.size
    sizes = np.arange(2, n - 1)
    centred = cells - cells.mean()  # so that squares do not cancel
    sums, total = np.cumsum(centred)[sizes - 1], centred.sum()
    between = sums**2 / sizes + (total - sums) ** 2 / (n - sizes)
    return int(sizes[int(between.argmax())])


def speeds_of(layout: Layout, zeroed: NDArray[np.bool_]) -> dict[int, TwoSpeeds]:
    """Look at every benchmark of a design by sessions: benchmark -> its two speeds, if it has them.

    Parameters
    ----------
    layout : Layout
        The runs; where sides are paired only sessions of both count.
    zeroed : bool array, shape (benchmarks,)
        Benchmarks that have runs of 0, which have no logarithm.
    """
    if layout.outermost != "session" or layout.design not in ("paired", "separate"):
        return {}
    ours, theirs = (_Cells.of(layout, side) for side in (layout.ours, layout.theirs))
    both = (ours.runs > 0) & (theirs.runs > 0)
    used = [both, both] if layout.design == "paired" else [ours.runs > 0, theirs.runs > 0]
    found = {}
    for k in np.flatnonzero(~zeroed).tolist():
        rows = [there[:, k] for there in used]
        sides = (ours, theirs)
        freedom = sum(int((s.runs[r, k] - 1).sum()) for s, r in zip(sides, rows, strict=True))
        cells = [s.mean[r, k] for s, r in zip(sides, rows, strict=True)]
        if min(len(one) for one in cells) < 2 or freedom < 1:
            continue
        squares = sum(float(s.squares[r, k].sum()) for s, r in zip(sides, rows, strict=True))
        each = np.concatenate([1 / s.runs[r, k] for s, r in zip(sides, rows, strict=True)]).mean()
        speeds = two_speeds(cells[0], cells[1], squares / freedom * float(each), freedom)
        if speeds is not None:
            found[k] = speeds
    return found


class _Cells(NamedTuple):
    """Runs, mean logs and sums of squares about them, each of the shape (sessions, benchmarks)."""

    runs: NDArray[np.int64]
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, layout: Layout, side: Side) -> _Cells:
        shape = len(layout.labels), layout.benchmarks
        cell = side.session * layout.benchmarks + side.benchmark
        logs = np.log(np.where(side.values > 0, side.values, 1.0))
        runs = np.bincount(cell, minlength=shape[0] * shape[1]).astype(np.int64)
        mean = np.bincount(cell, logs, minlength=runs.size) / np.maximum(runs, 1)
        squares: Floats = np.asarray(
            np.bincount(cell, (logs - mean[cell]) ** 2, minlength=runs.size), dtype=np.float64
        )
        return cls(runs.reshape(shape), mean.reshape(shape), squares.reshape(shape))
