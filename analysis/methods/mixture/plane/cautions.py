"""What a reader of a mixture in the plane must know."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....report import Caution
from .start import START_POINTS

__all__ = ["plane_cautions"]

_FEW_PAIRS = 30
_FEW_IN_CLUSTER = 10
_NO_DIRECTION = 3  # runs in a cluster below which its direction is rounding
_UNLIKE = 1e5  # ratio of spreads from which on mclust's limits bite
_TIED = 0.5


def plane_cautions(
    pairs: NDArray[np.float64],
    table: dict[str, list[float]],
    model: str,
    weights: NDArray[np.float64],
    *,
    asked: int,
    units: str,
) -> Iterator[Caution]:
    """Say what limits a fit.

    `table` holds the BIC of all candidates; `model` was chosen, with as many components as there are
    `weights`, of up to `asked`.
    """
    n, k = len(pairs), weights.size
    smallest = float(weights.min() * n)
    if n < _FEW_PAIRS:
        yield Caution("few-values", f"{n} pairs hardly determine clusters in the plane")
    elif k > 1 and smallest < _FEW_IN_CLUSTER:
        yield Caution(
            "small-cluster",
            f"the smallest cluster has about {smallest:.1f} runs: its spread and its "
            "correlation are hardly determined",
        )
    if k == asked < n:
        said = f"the best K is the largest that was tried, {asked}: try more"
        yield Caution("components-at-limit", said)
    yield from _repeats(pairs)
    yield from _discarded(pairs, table, units, most=min(asked, n))
    if model == "EEV" and k > 1 and smallest < _NO_DIRECTION:
        yield Caution(
            "direction-is-rounding",
            "EEV gives a cluster of one or two runs a direction that is rounding error: its BIC "
            "depends on the order of the rows",
        )
    if n > START_POINTS:
        yield Caution(
            "start-of-some",
            f"the start takes {START_POINTS} of {n} pairs, evenly spaced in the order of the first "
            "metric; mclust draws them at random, so its result may differ",
        )


def _repeats(pairs: NDArray[np.float64]) -> Iterator[Caution]:
    n, distinct = len(pairs), len(np.unique(pairs, axis=0))
    if distinct < n:
        clock = "; clusters may describe the steps of a clock" if distinct < n * _TIED else ""
        yield Caution(
            "many-ties",
            f"{n - distinct} of {n} pairs repeat others; ties among distances are broken by "
            f"rounding, and may be broken otherwise in mclust{clock}",
        )


def _discarded(
    pairs: NDArray[np.float64], table: dict[str, list[float]], units: str, *, most: int
) -> Iterator[Caution]:
    lost = sum(math.isnan(value) for row in table.values() for value in row)
    ratio = float(np.divide(*sorted(pairs.std(axis=0))[::-1]))
    if units == "given" and ratio > _UNLIKE:
        yield Caution(
            "spreads-unlike",
            f"the metrics' spreads differ by a factor of {ratio:.2g} as numbers: mclust's limits "
            'then discard candidates for their units alone; units="spread" does not',
        )
    if lost:
        yield Caution(
            "candidates-discarded",
            f"{lost} of {len(table) * most} candidates were discarded (an empty class or a "
            "vanishing variance)",
        )
