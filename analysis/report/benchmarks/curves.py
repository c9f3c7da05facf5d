"""The curves beside the runs: density, and the components of a mixture where it fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import FairtrialError
from ...methods.mixture.fit import fit_mixture
from ...methods.mixture.goodness import ks_fit
from ...methods.mixture.modality import dip_test
from ...stats.arguments import stream
from ...stats.samples import bandwidth_of, kernel_density

if TYPE_CHECKING:
    from ...plots.scale import Scale
    from .cells import Cell
    from .drawings import Place

__all__ = ["Modes", "densities", "modes_of", "peak"]

Floats = NDArray[np.float64]
_PLACES = 48
_FLAT = 0.004  # shares that no eye tells from 0
_LEAST = 5  # runs of which a density is drawn
_FIT = 30  # runs of which a mixture is fitted
_MOST = 2000  # and at most: the test fits 200 samples of as many values again
_RESAMPLES = 200
_RISK = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Modes:
    """What is known of a cell's modes.

    Attributes
    ----------
    dip : float
        p of one mode, by the dip test.
    at : tuple of float
        The modes of a mixture of several Gaussians that was fitted to logs and not rejected, in the
        values' unit; none where there is no such mixture.
    parts : tuple of (weight, mean, sd)
        Its components, of logs.
    """

    dip: float
    at: tuple[float, ...]
    parts: tuple[tuple[float, float, float], ...]


def densities(
    cells: Mapping[str, Cell], scales: Mapping[str, Scale], modes: Mapping[str, Modes]
) -> tuple[Mapping[str, tuple[Place, ...]], Mapping[str, tuple[tuple[Place, ...], ...]]]:
    """Give each variant's density on its axis, and beside it the components of its mixture.

    Parameters
    ----------
    cells, scales : mapping
        The runs of each variant, and their axis.
    modes : mapping of str to Modes
        Of those of which they were looked at; components are drawn where there are several.

    Returns
    -------
    mapping of str to places, mapping of str to tuple of places
        Across in shares of the highest density of all; empty of few runs, or equal ones.
    """
    heights = {name: _density(cell.values, scales[name]) for name, cell in cells.items()}
    parts = {
        name: _components(modes[name], scales[name]) if name in modes else () for name in cells
    }
    every = [h for h in heights.values() if h is not None]
    every += [part for some in parts.values() for part in some]
    top = max((float(height.max()) for height in every), default=0.0)
    if not top > 0:
        return dict.fromkeys(cells, ()), dict.fromkeys(cells, ())
    return (
        {name: () if height is None else _seen(height / top) for name, height in heights.items()},
        {name: tuple(_seen(part / top) for part in some) for name, some in parts.items()},
    )


def _components(modes: Modes, scale: Scale) -> tuple[Floats, ...]:
    """Give the heights of a mixture's components on a log axis, where there are several."""
    if len(modes.parts) < 2 or not scale.log:
        return ()
    at = np.linspace(math.log(scale.low), math.log(scale.high), _PLACES)
    narrow = (at[1] - at[0]) / 2  # what is narrower than the grid would vanish between its places
    return tuple(
        weight
        * np.exp(-0.5 * ((at - mean) / (wide := max(sd, narrow))) ** 2)
        / (wide * math.sqrt(2 * math.pi))
        for weight, mean, sd in modes.parts
    )


def _seen(shares: Floats) -> tuple[Place, ...]:
    """Give a curve without its flat ends."""
    high = np.flatnonzero(shares > _FLAT)
    if not high.size:
        return ()
    first, last = max(0, int(high[0]) - 1), min(shares.size, int(high[-1]) + 2)
    ups = np.linspace(0, 1, shares.size)
    return tuple(zip(shares[first:last].tolist(), ups[first:last].tolist(), strict=True))


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


def modes_of(cell: Cell, seed: int, name: str) -> Modes | None:
    """Ask the dip test, and fit a mixture to the logs; None of few, many, equal or zero runs."""
    values = cell.values
    if not _FIT <= values.size <= _MOST or (values <= 0).any():
        return None
    try:
        dip = dip_test(np.log(values), rng=stream(seed, "parts-dip", name)).pvalue
        fitted = fit_mixture(values, scale="log")
        if fitted.weights.size < 2:  # a single Gaussian adds nothing to the density: no long test
            return Modes(dip=dip, at=(), parts=())
        test = ks_fit(
            values,
            fitted,
            resamples=_RESAMPLES,
            rng=stream(seed, "parts-fit", name),
            workers=1,
        )
    except FairtrialError:  # equal values, or a clock too coarse: nothing to draw
        return None
    if test.rejected(_RISK):
        return Modes(dip=dip, at=(), parts=())
    triples = zip(fitted.weights.tolist(), fitted.means.tolist(), fitted.sds.tolist(), strict=True)
    return Modes(dip=dip, at=tuple(fitted.modes().tolist()), parts=tuple(triples))


def _density(values: Floats, scale: Scale) -> Floats | None:
    if values.size < _LEAST:
        return None
    of = np.log(values) if scale.log else values
    width = bandwidth_of(of)
    if not width > 0:
        return None
    low, high = (
        (math.log(scale.low), math.log(scale.high)) if scale.log else (scale.low, scale.high)
    )
    # a curve narrower than the grid would vanish between its places
    width = max(width, (high - low) / _PLACES)
    return kernel_density(of, np.linspace(low, high, _PLACES), width)
