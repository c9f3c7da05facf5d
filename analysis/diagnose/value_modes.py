"""The modes of runs by their values alone: two speeds, or more.

A mixture often has more modes than the runs have speeds. So neighbours are joined until a test rejects
that they are one mode, and what holds few runs is joined with its neighbour, or left aside if it lies
far from all.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.4.
.. [2] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13, 1985.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError
from ..methods.mixture.fit import fit_mixture
from ..methods.mixture.modality import bandwidth_test, dip_test

if TYPE_CHECKING:
    from ..methods.mixture.model import Mixture

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
LEAST = 10  # runs of a mode
_FEWEST = 2 * LEAST
_COMPONENTS = 6
_RISK = 0.05
_RESAMPLES, _SMOOTHED = 999, 199
_PLACES = 256  # between two modes, where the valley is looked for
_HINT = 0.5  # a dip's p-value without any hint of two modes
_MOST = 2000  # values that are tested; of more, this number of evenly spaced ones
_FAR = 4.0  # widths of the next mode: what lies further belongs to none


def modes_by_values(values: Floats, rng: np.random.Generator) -> Labels | None:
    """Tell of each run to which mode it belongs."""
    if values.size < _FEWEST or values.min() == values.max():
        return None
    x = np.log(values) if values.min() > 0 else values
    try:
        mixture = fit_mixture(x, max_components=_COMPONENTS)
    except AnalysisError:  # too coarse a clock for any mixture
        return None
    groups = [one for one in np.split(np.sort(x), _valleys(x, mixture)) if one.size]
    groups = _joined(_without_few(groups), rng)
    if len(groups) < 2:
        return None
    labels = np.full(values.size, -1, dtype=np.int8)
    for k, group in enumerate(groups):
        labels[(x >= group[0]) & (x <= group[-1])] = k
    return labels


def _valleys(x: Floats, mixture: Mixture) -> list[int]:
    """Give how many values lie below each valley of the density."""
    ordered, modes = np.sort(x), mixture.modes()
    found = []
    for left, right in itertools.pairwise(modes):
        places = np.linspace(left, right, _PLACES)
        found.append(int(np.searchsorted(ordered, places[int(mixture.pdf(places).argmin())])))
    return found


def _without_few(groups: list[Floats]) -> list[Floats]:
    """Join what holds few runs with its neighbour, or leave it out where that is far."""
    kept = list(groups)
    while len(kept) > 1 and min(one.size for one in kept) < LEAST:
        at = min(range(len(kept)), key=lambda k: kept[k].size)
        neighbours = (k for k in (at - 1, at + 1) if 0 <= k < len(kept))
        near = min(neighbours, key=lambda k: _gap(kept, at, k))
        low, high = np.quantile(kept[near], (0.1, 0.9)).tolist()
        if _gap(kept, at, near) <= _FAR * (high - low) or kept[near].size < LEAST:
            both = slice(min(at, near), max(at, near) + 1)
            kept[both] = [np.concatenate(kept[both])]
        else:
            del kept[at]
    return kept


def _gap(groups: list[Floats], one: int, other: int) -> float:
    low, high = sorted((one, other))
    return float(groups[high][0] - groups[low][-1])


def _joined(groups: list[Floats], rng: np.random.Generator) -> list[Floats]:
    """Join the neighbours that are most likely one mode, until all differ."""
    kept = list(groups)
    chances = [_one_mode(left, right, rng) for left, right in itertools.pairwise(kept)]
    while chances and max(chances) > _RISK:
        at = int(np.argmax(chances))
        kept[at : at + 2] = [np.concatenate(kept[at : at + 2])]
        del chances[at]
        for k in (at - 1, at):
            if 0 <= k < len(chances):
                chances[k] = _one_mode(kept[k], kept[k + 1], rng)
    return kept


def _one_mode(left: Floats, right: Floats, rng: np.random.Generator) -> float:
    """Give the p-value of "these two are one mode", by the dip; where it sees few, by the bandwidth.

    Either test may reject at half the risk.
    """
    both = np.concatenate((left, right))
    if both[0] == both[-1]:
        return 1.0
    if both.size > _MOST:
        both = both[np.linspace(0, both.size - 1, _MOST).round().astype(np.intp)]
    dip = dip_test(both, resamples=_RESAMPLES, rng=rng).pvalue
    if 2 * dip <= _RISK or dip > _HINT:
        return min(1.0, 2 * dip)
    return min(1.0, 2 * min(dip, bandwidth_test(both, resamples=_SMOOTHED, rng=rng).pvalue))
