"""What predicts a response of many systems, as a picture; loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...plots.axes import Axes, Scale, quantity_scale, quantity_ticks, rows_down
from ...plots.chart import Sheet, arranged, stacked
from ...plots.paper import Picture
from ...words import shorten, shown

if TYPE_CHECKING:
    from ...stats.samples import Array
    from .across import Across, Agreement, Dependence


# --- A table of systems: the response, predictions, and what they rest on.

_SHEET = Sheet(width=233.7)
_HIGH = 68.0  # mm of a row
_BARS, _CURVES, _LEVELS = 10, 3, 8
_FEWEST_BINS, _MOST_BINS = 8, 40


def systems_picture(responses: Sequence[Across]) -> Picture:
    """Draw predictions, importance, a histogram and partial dependence of each response."""
    pictures = []
    for one in responses:
        upper = [
            _against(one.measured, one.predicted_random, one.random, "rows held out at random")
        ]
        if one.grouped is not None and one.predicted_grouped is not None:
            held = one.predicted_grouped
            upper.append(_against(one.measured, held, one.grouped, "families held out"))
        title = f"{shorten(shown(one.response), 70)} · {one.rows:,} systems"
        pictures.append(arranged(_SHEET, [[*upper, _bars(one)]], _HIGH + 6, title=title))
        lower = [histogram_of(one), *map(_curve, one.dependence[:_CURVES])]
        pictures.append(arranged(_SHEET, [lower], _HIGH))
    return stacked(pictures)


def _against(measured: Array, predicted: Array, agreement: Agreement, title: str) -> Axes:
    out = ~np.isnan(predicted)
    measured, predicted = measured[out], predicted[out]
    both = np.concatenate([measured, predicted])
    low, high = float(both.min()), float(both.max())
    scale = quantity_scale((low, high), log=False)
    r = "unknown" if agreement.correlation is None else f"{agreement.correlation:.3f}"
    ticks = quantity_ticks(scale, "1", 5)
    axes = Axes(
        x=scale, y=scale, x_ticks=ticks, y_ticks=ticks, small=True, title=f"{title}: r = {r}",
        x_label="measured", y_label="predicted",
    )  # fmt: skip
    axes.line(low, low, high, high, "one line")
    axes.spots(measured, predicted, "c0 pale", r=1.2)
    return axes


def histogram_of(found: Across) -> Axes:
    """Draw how many systems have which response; a variation as sd / mean in %, on a log axis."""
    values = found.measured
    low, high, quarter = float(values.min()), float(values.max()), np.quantile(values, [0.25, 0.75])
    width = 2 * float(np.diff(quarter)[0]) / len(values) ** (1 / 3)  # Freedman and Diaconis
    bins = min((high - low) / width, _MOST_BINS) if width > 0 else _MOST_BINS
    counts, edges = np.histogram(values, np.linspace(low, high, max(_FEWEST_BINS, round(bins)) + 1))
    relative = found.kind == "variation"
    if relative:
        edges = 100 * np.exp(edges)
    scale = quantity_scale(edges.tolist(), log=relative, room=0.03)
    y = Scale(0.0, 1.06 * float(counts.max()))
    axes = Axes(
        x=scale, y=y, x_ticks=quantity_ticks(scale, "1", 4), y_ticks=quantity_ticks(y, "1", 5),
        x_label="standard deviation, % of the mean" if relative else "measured",
        y_label="systems", small=True, title="the systems",
    )  # fmt: skip
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(counts, 2), 0], "bars", closed=True)
    return axes


def _bars(found: Across) -> Axes:
    top = found.importance[:_BARS]
    bars = [(100 * max(one.mean, 0.0), 100 * one.sd) for one in top]
    axes = rows_down([shorten(shown(one.factor), 22) for one in top], small=True)
    axes.x = Scale(0.0, 1.05 * (max(mean + sd for mean, sd in bars) or 1.0))
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    for y, (mean, sd) in enumerate(bars):
        axes.band(0.0, mean, y - 0.35, y + 0.35, "c5")
        axes.line(max(0.0, mean - sd), y, mean + sd, y, "ink")
    axes.x_label = "importance, % of the variance"
    axes.title = "what predictions rest on (no causes)"
    return axes


def _curve(one: Dependence) -> Axes:
    """Draw the mean prediction over a covariate: a line with a band, or a dot for each level."""
    points = one.points if one.kind == "numeric" else one.points[:_LEVELS]
    means, sds = np.array([p.mean for p in points]), np.array([p.sd or 0.0 for p in points])
    low, high, title = means - sds, means + sds, shorten(shown(one.factor), 32)
    across = quantity_scale([*low, *high], log=False)
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in points])
        x = quantity_scale(at.tolist(), log=False)
        axes = Axes(
            x=x, y=across, x_ticks=quantity_ticks(x, "1", 5), y_ticks=quantity_ticks(across, "1", 5),
            y_label="mean prediction", small=True, title=title,
        )  # fmt: skip
        axes.curve([*at, *at[::-1]], [*low, *high[::-1]], "c0 veil", closed=True)
        axes.curve(at, means, "c0 curve")
        axes.spots(at, means, "c0", r=1.4)
        return axes
    names = [shorten(shown(str(point.at)), 16) for point in points]
    axes = rows_down(names, x=across, small=True, title=title, x_label="mean prediction")
    axes.x_ticks = quantity_ticks(across, "1", 4)
    for y in range(len(names)):
        axes.line(low[y], y, high[y], y, "c0")
        axes.spots(means[y], y, "c0", r=2)
    return axes
