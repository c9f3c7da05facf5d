"""Pictures of mixtures: density over histogram, and distribution function over the steps of data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError, UsageError
from ....plots import COLOURS, DASHES, INK, PALE, Scale, density_axis, look, quantity_axis
from ....report import figures
from ....words import shown
from ..model.mixture import Mixture
from .result import MixtureCell, MixtureReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_density", "mixture_alt", "mixture_figure", "window_of"]

Array = NDArray[np.float64]
_MOST = 6  # variants drawn
_NAME = 44
_LINE = 70  # characters of a caution's line
_FEWEST_BINS, _MOST_BINS = 4, 60
_GRID = 800
_AROUND = np.linspace(-5, 5, 41)  # in standard deviations of each component
_TALL = 2.5  # times the highest bar: from there on a curve leaves the picture,
_HEADROOM = 1.7  # which then ends at so many times the bar
_BAR = "#d5dde4"
_RUGS = 2000  # values above which the rug would be a band


def mixture_figure(report: MixtureReport) -> Figure:
    """Draw each variant of a report of one benchmark in a row: density left, distribution right.

    The left side holds a histogram of the values (a rug below it marks each), the density of the
    mixture, and its components in dashes. The right side holds the share of runs up to each value,
    as steps, and the same of the mixture; the largest distance of both is marked. All rows share
    the axis of values. Up to six variants are drawn.

    Raises
    ------
    UsageError
        If the report holds several benchmarks.
    AnalysisError
        If no variant has a mixture.
    """
    from matplotlib.figure import Figure

    if not report.detailed:
        raise UsageError("a picture of mixtures shows one benchmark", fix="name one")
    benchmark = report.benchmarks[0]
    fitted = [cell for cell in benchmark.cells if cell.mixture is not None]
    if not fitted:
        raise AnalysisError("there is no mixture to draw", benchmark.benchmark)
    drawn = fitted[:_MOST]
    with look():
        figure = Figure(figsize=(9.6, 1.0 + 2.9 * len(drawn)), layout="constrained")
        axes = figure.subplots(len(drawn), 2, sharex=True, squeeze=False, width_ratios=[1.25, 1])
        window = window_of(drawn)
        for k, cell in enumerate(drawn):
            draw_density(axes[k, 0], cell, COLOURS[k], window, unit=report.unit)
            _distribution(axes[k, 1], cell, COLOURS[k], window)
            axes[k, 0].set_title(_said(cell))
            axes[k, 0].legend(loc="best", fontsize=8)
        quantity_axis(axes[0, 0], "x", Scale(*window), report.unit)  # the axis is shared
        for axis in axes[-1]:
            axis.set_xlabel(_axis(report))
        title = figures.shorten(shown(benchmark.benchmark), _NAME)
        if len(fitted) > len(drawn):
            title += f" (the first {len(drawn)} of {len(fitted)} variants)"
        figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def mixture_alt(report: MixtureReport) -> str:
    """Say in words what the picture of a report shows."""
    fitted = [cell for one in report.benchmarks for cell in one.cells if cell.mixture is not None]
    return "; ".join(_said(cell).replace("\n", ", ") for cell in fitted[:_MOST])


def _axis(report: MixtureReport) -> str:
    word = "smaller" if report.better == "lower" else "larger"
    return f"value of one run ({word} is better)"


def _said(cell: MixtureCell) -> str:
    """Say what is drawn, and below it what a reader should know before believing it."""
    k, modes = cell.fitted.components, cell.fitted.modes().size
    title = (
        f"{figures.shorten(shown(cell.variant), 30)}: {cell.values.size} runs, {k} component{'s' * (k > 1)}, "
        f"{modes} mode{'s' * (modes > 1)}"
    )
    told = [line for caution in cell.cautions for line in wrap(caution.text, _LINE)]
    return "\n".join([title, *told])


def window_of(cells: Sequence[MixtureCell]) -> tuple[float, float]:
    """Give the ends of the axis: all values, and a margin."""
    low = min(float(cell.values.min()) for cell in cells)
    high = max(float(cell.values.max()) for cell in cells)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def draw_density(
    axes: Axes, cell: MixtureCell, colour: str, window: tuple[float, float], *, unit: str
) -> None:
    """Draw the histogram of a cell's values, a rug below it, its mixture and the components."""
    mixture, x = cell.fitted, cell.values
    edges = _bins(x)
    heights = np.histogram(x, bins=edges)[0] / x.size / np.diff(edges)
    axes.stairs(heights, edges, fill=True, color=_BAR)
    grid = _places(mixture, window)
    curve = mixture.pdf(grid)
    parts = _parts(mixture, grid)
    if mixture.components > 1:
        for k, part in enumerate(parts):
            axes.plot(
                grid, part, color=INK, linestyle=DASHES[1], linewidth=0.8,
                label="components" if k == 0 else None,
            )  # fmt: skip
    axes.plot(grid, curve, color=colour, linewidth=1.8, label="mixture")
    bar, peak = float(heights.max()), float(curve.max())
    top = 1.08 * (_HEADROOM * bar if peak > _TALL * bar else max(peak, bar))
    axes.set_ylim(-0.06 * top, top)
    _rug(axes, x, top)
    _beyond(axes, grid, curve, top)
    density_axis(axes, Scale(*window), unit, top)


def _distribution(axes: Axes, cell: MixtureCell, colour: str, window: tuple[float, float]) -> None:
    mixture, x = cell.fitted, np.sort(cell.values)
    share = np.arange(1, x.size + 1) / x.size
    axes.stairs(
        np.concatenate(([0.0], share)),
        np.concatenate((window[:1], x, window[1:])),
        baseline=None, color=INK, linewidth=0.9, label="runs", zorder=3,
    )  # fmt: skip
    grid = _places(mixture, window)
    axes.plot(grid, mixture.cdf(grid), color=colour, linewidth=1.8, label="mixture")
    model = mixture.cdf(x)
    above, below = share - model, model - (share - 1 / x.size)
    at = int(np.argmax(np.maximum(above, below)))
    end = share[at] if above[at] >= below[at] else share[at] - 1 / x.size
    distance = float(max(above[at], below[at]))
    axes.plot(
        [x[at]] * 2, [model[at], end], color=COLOURS[1] if colour != COLOURS[1] else INK,
        linewidth=3, solid_capstyle="butt", label="largest distance", zorder=4,
    )  # fmt: skip
    axes.set_ylim(-0.02, 1.04)
    axes.set_ylabel("share of runs up to it")
    title = f"distance {distance:.3g}"
    test = cell.fit_test
    if test is not None:
        moved = ", ties spread" if test.ties == "jitter" else ""
        title += f"; fit test p {figures.pvalue(test.pvalue)}{moved}"
    axes.set_title(title)
    axes.legend(loc="best", fontsize=8)


def _bins(x: Array) -> Array:
    """Give the histogram's edges: width by Freedman and Diaconis, within sensible numbers of bins."""
    low, high = float(x.min()), float(x.max())
    if not high > low:
        room = abs(low) * 0.01 or 1.0
        return np.array([low - room, low + room])
    quarter = float(np.subtract(*np.quantile(x, [0.75, 0.25])))
    sturges = math.ceil(math.log2(x.size)) + 1
    count = sturges
    if quarter > 0:
        count = max(sturges, math.ceil((high - low) / (2 * quarter) * x.size ** (1 / 3)))
    most = min(_MOST_BINS, 2 * math.ceil(math.sqrt(x.size)))  # a small sample has no fine shape
    edges = np.linspace(low, high, max(min(count, most), _FEWEST_BINS) + 1)
    distinct = np.unique(edges)  # a spread at the limit of rounding
    return distinct if distinct.size > 1 else np.array([low, high])


def _places(mixture: Mixture, window: tuple[float, float]) -> Array:
    """Give where the curves are computed: evenly, and closely around each narrow component."""
    even = np.linspace(*window, _GRID)
    near = (mixture.means[:, None] + mixture.sds[:, None] * _AROUND).ravel()
    if mixture.scale == "log":
        with np.errstate(over="ignore"):
            near = np.exp(near)
    inside = near[(near >= even[0]) & (near <= even[-1])]
    places = np.unique(np.concatenate((even, inside)))
    return places[places > 0] if mixture.scale == "log" else places


def _parts(mixture: Mixture, grid: Array) -> list[Array]:
    """Give each component's share of the density."""
    return [
        float(w)
        * Mixture.from_parameters(weights=[1], means=[m], sds=[s], scale=mixture.scale).pdf(grid)
        for w, m, s in zip(mixture.weights, mixture.means, mixture.sds, strict=True)
    ]


def _rug(axes: Axes, x: Array, top: float) -> None:
    if x.size > _RUGS:
        return
    axes.vlines(
        x, -0.055 * top, -0.012 * top, color=INK, linewidth=0.7, alpha=0.75 if x.size < 200 else 0.2
    )
    axes.axhline(0, color=PALE, linewidth=0.6)


def _beyond(axes: Axes, grid: Array, curve: Array, top: float) -> None:
    """Mark where the density leaves the picture, and say in the legend how far it goes."""
    inner = np.concatenate(([-np.inf], curve, [-np.inf]))
    peaks = np.flatnonzero((curve > top) & (curve >= inner[:-2]) & (curve > inner[2:]))
    if peaks.size:
        most = "up to " if peaks.size > 1 else ""
        axes.plot(
            grid[peaks], np.full(peaks.size, top), linestyle="", marker="^", color=INK,
            markersize=5, clip_on=False, label=f"goes on to {most}{curve.max() / top:.2g}x the height",
        )  # fmt: skip
