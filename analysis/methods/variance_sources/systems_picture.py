"""Variation across systems as a picture: the response, predictions, and what they rest on and follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...plots.axes import Axes, rows_down
from ...plots.layout import arranged, stacked
from ...plots.scale import Scale, quantity_scale, quantity_ticks
from ...plots.sheet import Sheet
from ...words import shorten, shown

if TYPE_CHECKING:
    from ...plots.paper import Picture
    from ...stats.samples import Array
    from .result import Across, Agreement, Dependence

__all__ = ["histogram_of", "systems_picture"]

_SHEET = Sheet(width=233.7)
_BARS, _CURVES, _LEVELS = 10, 3, 8
_HIGH = 68.0  # mm of a row
_FEWEST_BINS, _MOST_BINS = 8, 40


def systems_picture(responses: Sequence[Across]) -> Picture:
    """Draw predictions, importance, a histogram and partial dependence of each response."""
    return stacked([picture for one in responses for picture in _response(one)])


def _response(found: Across) -> list[Picture]:
    drawn: list[tuple[str, Agreement, Array]] = [
        ("rows held out at random", found.random, found.predicted_random)
    ]
    if found.grouped is not None and found.predicted_grouped is not None:
        drawn.append(("families held out", found.grouped, found.predicted_grouped))
    upper = [_against(found.measured, predicted, one, title) for title, one, predicted in drawn]
    title = f"{shorten(shown(found.response), 70)} · {found.rows:,} systems"
    pictures = [arranged(_SHEET, [[*upper, _bars(found)]], _HIGH + 6, title=title)]
    lower = [histogram_of(found), *(_curve(one) for one in found.dependence[:_CURVES])]
    return [*pictures, arranged(_SHEET, [lower], _HIGH)]


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
    axes = Axes(x=scale, y=Scale(0.0, 1.06 * float(counts.max())), small=True, title="the systems")
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(counts, 2), 0], "bars", closed=True)
    axes.x_ticks = quantity_ticks(scale, "1", 4)
    axes.y_ticks = quantity_ticks(axes.y, "1", 5)
    axes.x_label = "standard deviation, % of the mean" if relative else "measured"
    axes.y_label = "systems"
    return axes


def _bars(found: Across) -> Axes:
    top = found.importance[:_BARS]
    means, sds = ([100 * part for part in parts] for parts in ([max(one.mean, 0.0) for one in top], [one.sd for one in top]))  # fmt: skip
    axes = rows_down([shorten(shown(one.factor), 22) for one in top], small=True)
    axes.x = Scale(0.0, 1.05 * (max(m + sd for m, sd in zip(means, sds, strict=True)) or 1.0))
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    for y, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        axes.band(0.0, mean, y - 0.35, y + 0.35, "c5")
        axes.line(max(0.0, mean - sd), y, mean + sd, y, "ink")
    axes.x_label = "importance, % of the variance"
    axes.title = "what predictions rest on (no causes)"
    return axes


def _curve(one: Dependence) -> Axes:
    """Draw the mean prediction over a covariate: a line with a band, or a dot for each level."""
    points = one.points if one.kind == "numeric" else one.points[:_LEVELS]
    means, sds = np.array([p.mean for p in points]), np.array([p.sd or 0.0 for p in points])
    across = quantity_scale([*(means - sds), *(means + sds)], log=False)
    title = shorten(shown(one.factor), 32)
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in points])
        axes = Axes(x=quantity_scale(at.tolist(), log=False), y=across, small=True, title=title)
        axes.curve([*at, *at[::-1]], [*(means - sds), *(means + sds)[::-1]], "c0 veil", closed=True)
        axes.curve(at, means, "c0 curve")
        axes.spots(at, means, "c0", r=1.4)
        axes.x_ticks = quantity_ticks(axes.x, "1", 5)
        axes.y_ticks = quantity_ticks(across, "1", 5)
        axes.y_label = "mean prediction"
        return axes
    names = [shorten(shown(str(point.at)), 16) for point in points]
    axes = rows_down(names, x=across, small=True, title=title, x_label="mean prediction")
    axes.x_ticks = quantity_ticks(across, "1", 4)
    for y in range(len(names)):
        axes.line(means[y] - sds[y], y, means[y] + sds[y], y, "c0")
        axes.spots(means[y], y, "c0", r=2)
    return axes
