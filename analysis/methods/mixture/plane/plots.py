"""Pictures of mixtures in the plane: runs coloured by cluster, and the clusters' ellipses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import UsageError
from ....plots import COLOURS, DASHES, INK, Scale, look, quantity_axis
from ....report import figures
from ....stats import numbers
from ....words import shown
from .model import Mixture2d

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ellipse", "plane_figure"]

_MARKS = "os^Dv<>Ph*Xd"
_CORNERS = 181
_LEVELS = (0.5, 0.95)  # share of a cluster's runs inside its ellipses
_NAME = 40


def plane_figure(
    mixture: Mixture2d, values_xy: ArrayLike, *, units: tuple[str, str] = ("", "")
) -> Figure:
    """Draw the pairs by cluster with an ellipse around half and around 95 % of each cluster.

    Colour, mark and dashes tell the clusters apart, so that the picture can be read in grey.

    Parameters
    ----------
    mixture : Mixture2d
    values_xy : array_like, shape (n, 2)
        The pairs, in the units of the fit.
    units : tuple of two str
        For the axes' labels.

    Raises
    ------
    UsageError
        If the values are not pairs.
    """
    from matplotlib.figure import Figure

    pairs = numbers(values_xy, "the values", dimensions=None)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise UsageError(f"a picture needs pairs of values, not the shape {pairs.shape}")
    clusters = mixture.classify(pairs)
    with look():
        figure = Figure(figsize=(7.6, 5.6), layout="constrained")
        axes = figure.subplots()
        for k in range(mixture.components):
            _draw_cluster(axes, mixture, k, pairs[clusters == k])
        axes.set_xlabel(figures.shorten(shown(mixture.names[0]), _NAME))
        axes.set_ylabel(figures.shorten(shown(mixture.names[1]), _NAME))
        quantity_axis(axes, "x", Scale(*axes.get_xlim()), units[0] or "1")
        quantity_axis(axes, "y", Scale(*axes.get_ylim()), units[1] or "1")
        axes.set_title(_title(mixture))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def ellipse(mixture: Mixture2d, k: int, share: float) -> NDArray[np.float64]:
    """Give the corners, shape (181, 2), of the ellipse that holds this share of a component."""
    radius = math.sqrt(-2 * math.log1p(-share))  # the squared distance is exponential in the plane
    angle = np.linspace(0, 2 * np.pi, _CORNERS)
    lower = np.linalg.cholesky(_scaled(mixture.covariances[k]))
    spread = np.sqrt(np.diag(mixture.covariances[k]))
    circle = np.array([np.cos(angle), np.sin(angle)])
    corners: NDArray[np.float64] = mixture.means[k] + radius * (lower @ circle).T * spread
    return corners


def _scaled(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the correlation matrix: its factor does not suffer from unlike units."""
    spread = np.sqrt(np.diag(covariance))
    scaled: NDArray[np.float64] = covariance / spread[:, None] / spread
    return scaled


def _draw_cluster(axes: Axes, mixture: Mixture2d, k: int, pairs: NDArray[np.float64]) -> None:
    colour, dash = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
    r = f", r = {mixture.correlations[k]:.2f}" if mixture.correlated else ""
    axes.plot(
        *pairs.T,
        linestyle="none",
        marker=_MARKS[k % len(_MARKS)],
        markersize=4.5,
        markerfacecolor=colour,
        markeredgecolor="white",
        markeredgewidth=0.4,
        alpha=0.75,
        label=f"cluster {k}: {mixture.weights[k]:.0%}{r}",
    )
    for share, width in zip(_LEVELS, (1.4, 0.9), strict=True):
        axes.plot(*ellipse(mixture, k, share).T, color=colour, linestyle=dash, linewidth=width)
    axes.plot(*mixture.means[k], marker="+", markersize=9, color=INK, linestyle="none")


def _title(mixture: Mixture2d) -> str:
    k = mixture.components
    said = f"{k} cluster{'s' * (k > 1)} ({mixture.model}); ellipses hold 50 % and 95 % of each"
    if mixture.overall_correlation is not None:
        said += f"; over all r = {mixture.overall_correlation:.2f}"
    return said
