"""Pairs of values by cluster, with the ellipses of a mixture in the plane."""

from __future__ import annotations

import math
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
from .model import Mixture2d

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ....plots.paper import Picture
    from ....stats.samples import Array

__all__ = ["ellipse", "plane_picture"]

_SHEET = Sheet(width=193.0)
_MARKS = ("circle", "square", "up", "diamond", "down", "left", "right", "fat-plus")


def plane_picture(
    mixture: Mixture2d, values_xy: ArrayLike, *, units: tuple[str, str] = ("", "")
) -> Picture:
    """Draw the pairs by cluster with an ellipse around half and around 95 % of each cluster.

    Colour, mark and dashes tell the clusters apart, so that the picture can be read in grey.
    """
    pairs = numbers(values_xy, "the values", dimensions=None)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise UsageError(f"a picture needs pairs of values, not the shape {pairs.shape}")
    clusters = mixture.classify(pairs)
    rings = [
        [ellipse(mixture, k, share) for share in (0.5, 0.95)] for k in range(mixture.components)
    ]
    every = np.vstack([pairs, *(ring for both in rings for ring in both)])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.05 * (high - low)
    names = [shorten(shown(name), 40) for name in mixture.names]
    axes = Axes(x_label=names[0], y_label=names[1], title=_title(mixture))
    for k, side in enumerate("xy"):
        scale = Scale(float(low[k] - room[k]), float(high[k] + room[k]))
        quantity_axis(axes, side, scale, units[k] or "1", most=7)
    for k in range(mixture.components):
        place = k % len(COLOURS)
        css, shape = f"c{place} d{place}", _MARKS[k % len(_MARKS)]
        r = f", r = {mixture.correlations[k]:.2f}" if mixture.correlated else ""
        axes.keys.append(Key(f"cluster {k}: {mixture.weights[k]:.0%}{r}", css, shape))
        x, y = pairs[clusters == k].T
        axes.spots(x, y, f"{css} dense edged", r=2.2, shape=shape)
        for ring, width in zip(rings[k], ("curve", "line"), strict=True):
            axes.curve(ring[:, 0], ring[:, 1], f"{css} {width}")
        axes.spots(mixture.means[k, 0], mixture.means[k, 1], "ink rim", r=4.5, shape="plus")
    return arranged(_SHEET, [[axes]], 142.0)


def ellipse(mixture: Mixture2d, k: int, share: float) -> Array:
    """Give the corners, shape (181, 2), of the ellipse that holds this share of a component."""
    radius = math.sqrt(-2 * math.log1p(-share))  # the squared distance is exponential in the plane
    angle = np.linspace(0, 2 * np.pi, 181)
    covariance = mixture.covariances[k]
    spread = np.sqrt(np.diag(covariance))
    # of the correlation matrix: its factor does not suffer from unlike units
    lower = np.linalg.cholesky(covariance / spread[:, None] / spread)
    circle = np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(mixture.means[k] + radius * (lower @ circle).T * spread)


def _title(mixture: Mixture2d) -> str:
    k = mixture.components
    said = f"{k} cluster{'s' * (k > 1)} ({mixture.model}); ellipses hold 50 % and 95 % of each"
    if mixture.overall_correlation is not None:
        said += f"; over all r = {mixture.overall_correlation:.2f}"
    return said
