"""Modes and densities of runs, and the components of a mixture where it fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import FairtrialError
from ...methods.mixture.fit import fit_mixture
from ...methods.mixture.goodness import ks_fit
from ...methods.mixture.modality import dip_test
from ...stats.arguments import stream
from ...stats.samples import bandwidth_of, kernel_density

if TYPE_CHECKING:
    from ...plots.scale import Scale
    from ..runs import Cell, Floats
    from .axes import Place

__all__ = ["Modes", "densities", "modes_of", "peak"]

_PLACES = 48
_FLAT = 0.004  # shares that no eye tells from 0
_LEAST = 5  # runs of which a density is drawn
_FIT = 30  # runs of which a mixture is fitted
_MOST = 2000  # and at most: the test fits 200 samples of as many values again
_FIRST, _RESAMPLES = 40, 200  # samples that are drawn for a test: most fits show with a few
_RISK = 0.05


class Modes(NamedTuple):
    """What is known of a cell's modes, by a mixture of several Gaussians that fits its logs, if any."""

    dip: float  # p of one mode, by the dip test
    at: tuple[float, ...] = ()  # the mixture's modes, in the values' unit
    parts: tuple[tuple[float, float, float], ...] = ()  # its components' weight, mean, sd, of logs


def modes_of(cell: Cell, seed: int, name: str) -> Modes | None:
    """Ask the dip test, and fit a mixture to the logs; None of few, many, equal or zero runs."""
    values = cell.values
    if not _FIT <= values.size <= _MOST or not cell.positive:
        return None
    try:
        dip = dip_test(np.log(values), rng=stream(seed, "parts-dip", name)).pvalue
        fitted = fit_mixture(values, scale="log")
        if fitted.weights.size < 2:  # a single Gaussian adds nothing to the density: no long test
            return Modes(dip)
        for count in (_FIRST, _RESAMPLES):  # of both the first draws are the same
            draws = stream(seed, "parts-fit", name)
            test = ks_fit(values, fitted, resamples=count, rng=draws, workers=1)
            farther = int((test.distances >= test.statistic).sum())
            if farther + 1 > _RISK * (_RESAMPLES + 1):  # so it fits, whatever the others are
                break
    except FairtrialError:  # equal values, or a clock too coarse: nothing to draw
        return None
    if test.rejected(_RISK):
        return Modes(dip)
    triples = zip(fitted.weights.tolist(), fitted.means.tolist(), fitted.sds.tolist(), strict=True)
    return Modes(dip, tuple(fitted.modes().tolist()), tuple(triples))


def densities(
    cells: Mapping[str, Cell], scales: Mapping[str, Scale], modes: Mapping[str, Modes]
) -> tuple[Mapping[str, list[Place]], Mapping[str, list[list[Place]]]]:
    """Give each variant's density on its axis, and beside it the components of its mixture.

    Across in shares of the highest density of all; empty of few runs, or equal ones. Components are
    drawn of variants whose modes were looked at, where there are several.
    """
    heights = {name: _density(cell, scales[name]) for name, cell in cells.items()}
    parts = {
        name: _components(modes[name], scales[name]) if name in modes else [] for name in cells
    }
    every = [*heights.values(), *(part for some in parts.values() for part in some)]
    top = max((float(height.max()) for height in every if height.size), default=0.0)
    return (
        {name: _seen(height, top) for name, height in heights.items()},
        {name: [_seen(part, top) for part in some] for name, some in parts.items()},
    )


def _density(cell: Cell, scale: Scale) -> Floats:
    """Give the heights of a density on an axis; none of few or equal runs."""
    values = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(values) if values.size >= _LEAST else 0.0
    if not width > 0:
        return np.empty(0)
    at = _grid(scale)
    # a curve narrower than the grid would vanish between its places
    return kernel_density(values, at, max(width, (at[-1] - at[0]) / _PLACES))


def _components(modes: Modes, scale: Scale) -> list[Floats]:
    """Give the heights of a mixture's components on a log axis, where there are several."""
    if len(modes.parts) < 2 or not scale.log:
        return []
    at = _grid(scale)
    narrow = (at[1] - at[0]) / 2  # what is narrower than the grid would vanish between its places
    return [
        weight
        * np.exp(-0.5 * ((at - mean) / (wide := max(sd, narrow))) ** 2)
        / (wide * math.sqrt(2 * math.pi))
        for weight, mean, sd in modes.parts
    ]


def _grid(scale: Scale) -> Floats:
    low, high = scale.low, scale.high
    if scale.log:
        low, high = math.log(low), math.log(high)
    return np.linspace(low, high, _PLACES)


def _seen(heights: Floats, top: float) -> list[Place]:
    """Give a curve without its flat ends."""
    high = np.flatnonzero(heights > _FLAT * top)
    if not high.size:
        return []
    first, last = max(0, int(high[0]) - 1), min(heights.size, int(high[-1]) + 2)
    ups = np.linspace(0, 1, heights.size)[first:last]
    return list(zip((heights[first:last] / top).tolist(), ups.tolist(), strict=True))


def peak(values: Floats) -> float | None:
    """Give the value near which most runs lie; None of few runs, or equal ones."""
    if values.size < _LEAST:
        return None
    log = bool((values > 0).all())
    of = np.log(values) if log else values
    width = bandwidth_of(of)
    if not width > 0:
        return float(values[0]) if values.min() == values.max() else None
    at = np.linspace(of.min(), of.max(), 4 * _PLACES)
    where = float(at[kernel_density(of, at, width).argmax()])
    return math.exp(where) if log else where
