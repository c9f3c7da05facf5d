"""Runs by cluster, a panel for each two metrics, with the ellipses of their mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....errors import UsageError
from ....plots.axes import Axes, Key, quantity_axis
from ....plots.layout import arranged
from ....plots.palette import COLOURS
from ....plots.scale import Scale
from ....plots.sheet import Sheet
from ....stats.arguments import numbers
from ....words import shorten, shown
from .model import MixtureOfMetrics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ....plots.paper import Picture
    from ....stats.samples import Array, Indices

__all__ = ["ellipse", "plane_picture"]

_SHEET = Sheet(width=193.0)
_MARKS = ("circle", "square", "up", "diamond", "down", "left", "right", "fat-plus")


MOST_DRAWN = 4  # metrics; a picture has a panel for each two of them


def plane_picture(
    mixture: MixtureOfMetrics, values_xy: ArrayLike, *, units: Sequence[str] = ()
) -> Picture:
    """Draw the runs by cluster with an ellipse around half and around 95 % of each cluster.

    Colour, mark and dashes tell the clusters apart, so that the picture can be read in grey. More
    than two metrics have a panel for each two of them.
    """
    runs, d = numbers(values_xy, "the values", dimensions=None), len(mixture.names)
    if runs.ndim != 2 or runs.shape[1] != d or not len(runs):
        raise UsageError(f"a picture needs {d} values of each run, not the shape {runs.shape}")
    if d > MOST_DRAWN:
        raise UsageError(
            f"a picture shows at most {MOST_DRAWN} metrics, and there are {d}",
            fix="fit fewer, or read the table of correlations",
        )
    units = units or ("",) * d
    clusters = mixture.classify(runs)
    if d == 2:
        return arranged(_SHEET, [[_panel(mixture, runs, clusters, units, (0, 1))]], 142.0)
    rows = [
        [_panel(mixture, runs, clusters, units, (i, j)) if i < j else None for i in range(d - 1)]
        for j in range(1, d)
    ]
    return arranged(_SHEET, rows, 70.0 * (d - 1), title=_title(mixture))


def _panel(
    mixture: MixtureOfMetrics,
    runs: Array,
    clusters: Indices,
    units: Sequence[str],
    two: tuple[int, int],
) -> Axes:
    """Draw two of the metrics."""
    pairs = runs[:, list(two)]
    rings = [
        [ellipse(mixture, k, share, two) for share in (0.5, 0.95)]
        for k in range(mixture.components)
    ]
    every = np.vstack([pairs, *(ring for both in rings for ring in both)])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.05 * (high - low)
    names = [shorten(shown(mixture.names[j]), 40) for j in two]
    alone = len(mixture.names) == 2
    axes = Axes(x_label=names[0], y_label=names[1], title=_title(mixture) if alone else "")
    for k, side in enumerate("xy"):
        scale = Scale(float(low[k] - room[k]), float(high[k] + room[k]))
        quantity_axis(axes, side, scale, units[two[k]] or "1", most=7 if alone else 4)
    for k in range(mixture.components):
        place = k % len(COLOURS)
        css, shape = f"c{place} d{place}", _MARKS[k % len(_MARKS)]
        r = f", r = {mixture.correlations[k]:.2f}" if alone and _told(mixture, k) else ""
        if alone or two == (0, 1):
            axes.keys.append(Key(f"cluster {k}: {mixture.weights[k]:.0%}{r}", css, shape))
        x, y = pairs[clusters == k].T
        axes.spots(x, y, f"{css} dense edged", r=2.2, shape=shape)
        for ring, width in zip(rings[k], ("curve", "line"), strict=True):
            axes.curve(ring[:, 0], ring[:, 1], f"{css} {width}")
        across, up = mixture.means[k][list(two)].tolist()
        axes.spots(across, up, "ink rim", r=4.5, shape="plus")
    return axes


def _told(mixture: MixtureOfMetrics, k: int) -> bool:
    return mixture.correlated and not mixture.sparse[k]


def ellipse(
    mixture: MixtureOfMetrics, k: int, share: float, two: tuple[int, int] = (0, 1)
) -> Array:
    """Give the corners, shape (181, 2), of the ellipse that holds this share of two metrics."""
    radius = math.sqrt(-2 * math.log1p(-share))  # the squared distance is exponential in the plane
    angle = np.linspace(0, 2 * np.pi, 181)
    covariance = mixture.covariances[k][np.ix_(two, two)]
    spread = np.sqrt(np.diag(covariance))
    # of the correlation matrix: its factor does not suffer from unlike units
    lower = np.linalg.cholesky(covariance / spread[:, None] / spread)
    circle = np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(mixture.means[k][list(two)] + radius * (lower @ circle).T * spread)


def _title(mixture: MixtureOfMetrics) -> str:
    k = mixture.components
    said = f"{k} cluster{'s' * (k > 1)} ({mixture.model}); ellipses hold 50 % and 95 % of each"
    if isinstance(mixture.overall_correlation, float):
        said += f"; over all r = {mixture.overall_correlation:.2f}"
    return said
