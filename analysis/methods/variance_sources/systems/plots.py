"""The picture of predictions across systems: how good they are, and what they follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....plots import COLOURS, PALE, look
from ....report import figures
from ....words import shown
from .result import Across, Agreement, Dependence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["systems_figure"]

Array = NDArray[np.float64]

_BARS, _CURVES = 10, 3
_NAME, _LEVEL, _LEVELS = 22, 16, 8
_MANY = 1500  # points, from which they are drawn as one image
_WIDE, _HIGH = 9.2, 5.6  # inches of a response


def systems_figure(responses: Sequence[Across]) -> Figure:
    """Draw predictions against measurements, importance and partial dependence of each response."""
    from matplotlib.figure import Figure

    with look():
        size = (_WIDE, _HIGH * len(responses))
        figure = Figure(figsize=size, layout="constrained")
        parts = figure.subfigures(len(responses), 1, squeeze=False)[:, 0]
        for part, one in zip(parts, responses, strict=True):
            _response(part, one)
    return figure


def _response(part: SubFigure, found: Across) -> None:
    rows = 2 if found.dependence else 1
    upper, *lower = part.subfigures(rows, 1, squeeze=False)[:, 0]
    part.suptitle(
        f"{figures.shorten(shown(found.response), 70)} · {found.rows:,} systems",
        fontsize=10,
        x=0.01,
        ha="left",
    )
    drawn: list[tuple[str, Agreement, Array]] = [
        ("rows held out at random", found.random, found.predicted_random)
    ]
    if found.grouped is not None and found.predicted_grouped is not None:
        drawn.append(("families held out", found.grouped, found.predicted_grouped))
    axes = upper.subplots(1, len(drawn) + 1, squeeze=False)[0]
    for place, (title, agreement, predicted) in zip(axes, drawn, strict=False):
        _against(place, found.measured, predicted, agreement, title)
    _bars(axes[-1], found)
    if lower:
        curves = found.dependence[:_CURVES]
        for place, one in zip(
            lower[0].subplots(1, len(curves), squeeze=False)[0], curves, strict=True
        ):
            _curve(place, one)


def _against(
    axes: Axes, measured: Array, predicted: Array, agreement: Agreement, title: str
) -> None:
    ends = [
        float(min(measured.min(), predicted.min())),
        float(max(measured.max(), predicted.max())),
    ]
    axes.plot(ends, ends, color=PALE, linewidth=0.8, zorder=1)
    axes.scatter(
        measured,
        predicted,
        s=6,
        color=COLOURS[0],
        alpha=0.35,
        linewidth=0,
        zorder=2,
        rasterized=len(measured) > _MANY,
    )
    r = "unknown" if agreement.correlation is None else f"{agreement.correlation:.3f}"
    axes.set_title(f"{title}: r = {r}", fontsize="small")
    axes.set_xlabel("measured", fontsize="small")
    axes.set_ylabel("predicted", fontsize="small")
    axes.tick_params(labelsize="small")
    axes.locator_params(nbins=5)


def _bars(axes: Axes, found: Across) -> None:
    top = found.importance[:_BARS][::-1]
    places = np.arange(len(top))
    axes.barh(
        places,
        [100 * max(one.mean, 0.0) for one in top],
        xerr=[100 * one.sd for one in top],
        color=COLOURS[5],
        height=0.7,
        error_kw={"elinewidth": 0.8},
    )
    axes.set_yticks(places, [figures.shorten(shown(one.factor), _NAME) for one in top])
    axes.tick_params(labelsize="small")
    axes.set_xlim(left=0)
    axes.set_xlabel("importance, % of the variance", fontsize="small")
    axes.set_title("what predictions rest on (no causes)", fontsize="small")


def _curve(axes: Axes, one: Dependence) -> None:
    means = np.array([point.mean for point in one.points])
    sds = np.array([point.sd for point in one.points])
    axes.set_title(figures.shorten(shown(one.factor), 32), fontsize="small")
    axes.tick_params(labelsize="small")
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in one.points])
        axes.fill_between(at, means - sds, means + sds, color=COLOURS[0], alpha=0.2, linewidth=0)
        axes.plot(at, means, color=COLOURS[0], linewidth=1.2, marker=".", markersize=4)
        axes.set_ylabel("mean prediction", fontsize="small")
        axes.locator_params(nbins=5)
        return
    means, sds = means[:_LEVELS][::-1], sds[:_LEVELS][::-1]
    names = [figures.shorten(shown(str(p.at)), _LEVEL) for p in one.points[:_LEVELS]][::-1]
    places = np.arange(len(names))
    axes.errorbar(means, places, xerr=sds, fmt="o", markersize=4, color=COLOURS[0], elinewidth=0.8)
    axes.set_yticks(places, names)
    axes.set_xlabel("mean prediction", fontsize="small")
    axes.locator_params(axis="x", nbins=4)
