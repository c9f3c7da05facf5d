"""Parts of drawn pictures: axes with our scales and ticks, intervals, the margin's band, ticks that do not touch.

They take matplotlib's axes; what is HTML has its parts in `analysis.plots.svg`. Both take the same
scales, ticks and colours, so that a figure of a paper and the page look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from .palette import PRINT, Style
from .scale import Scale, Tick, quantity_ticks, ratio_ticks, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "clear",
    "density_axis",
    "interval_row",
    "margin_band",
    "quantity_axis",
    "ratio_axis",
    "thin_ticks",
    "tone",
]

Side = Literal["x", "y"]


def tone(style: Style) -> str:
    """Give the colour of a role, as in print."""
    if style == "neither":
        return PRINT.ink
    found: str = getattr(PRINT, style)
    return found


def _set(axes: Axes, side: Side, scale: Scale, ticks: Sequence[Tick]) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis = axes.xaxis if side == "x" else axes.yaxis
    (axes.set_xscale if side == "x" else axes.set_yscale)("log" if scale.log else "linear")
    (axes.set_xlim if side == "x" else axes.set_ylim)(scale.low, scale.high)
    axis.set_major_locator(FixedLocator([tick.value for tick in ticks]))
    axis.set_major_formatter(FixedFormatter([tick.text for tick in ticks]))
    axis.set_minor_locator(NullLocator())


def quantity_axis(axes: Axes, side: Side, scale: Scale, unit: str, most: int = 5) -> None:
    """Set an axis of measured values: round ticks, the unit at the last one, such as ``30 ms``."""
    _set(axes, side, scale, quantity_ticks(scale, unit, most))


def ratio_axis(axes: Axes, side: Side, scale: Scale, most: int = 4) -> None:
    """Set a log axis of speedups, with 1× and its line of no difference."""
    _set(axes, side, scale, ratio_ticks(scale, most))
    if scale.holds(1.0):
        (axes.axvline if side == "x" else axes.axhline)(
            1.0, color=PRINT.one, linewidth=0.7, zorder=0.5
        )


def density_axis(axes: Axes, across: Scale, unit: str, top: float, *, of: str = "runs") -> None:
    """Set the y axis of a density over an axis of values: ``share of runs per ms``.

    Parameters
    ----------
    axes : Axes
    across : Scale
        The axis of values, which decides the unit.
    unit : str
        Of the values.
    top : float
        The highest density that is shown, in 1 / `unit`.
    of : str
        What is counted.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    factor, name = unit_of(across, unit)
    places = [value for value in MaxNLocator(nbins=3).tick_values(0.0, top * factor) if value >= 0]
    inside = [value for value in places if value <= top * factor * (1 + 1e-9)]
    axes.yaxis.set_major_locator(FixedLocator([value / factor for value in inside]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * factor:.6g}"))
    axes.set_ylabel(f"share of {of} per {name or 'unit'}")


def margin_band(axes: Axes, margin: float, side: Side = "x") -> None:
    """Shade what counts as equivalent: from 1 / (1 + margin) to 1 + margin."""
    if margin > 0:
        (axes.axvspan if side == "x" else axes.axhspan)(
            1 / (1 + margin), 1 + margin, color=PRINT.margin, linewidth=0, zorder=0
        )


def interval_row(
    axes: Axes,
    y: float,
    middle: float,
    ends: tuple[float, float] | None,
    style: Style,
    *,
    hollow: bool = False,
    suite: bool = False,
    size: float = 4.4,
) -> None:
    """Draw an estimate with its interval on a row; open at an end that leaves the axis.

    `hollow` is undecided; `suite` draws a diamond.
    """
    colour = tone(style)
    if ends is not None:
        left, right = axes.get_xlim()
        shown = max(ends[0], left), min(ends[1], right)
        axes.plot(shown, (y, y), color=colour, linewidth=1.5, solid_capstyle="butt", zorder=2)
        for end, edge, mark in ((ends[0], left, "<"), (ends[1], right, ">")):
            if (end < edge) if mark == "<" else (end > edge):
                axes.plot(
                    [edge], [y], marker=mark, color=colour, markersize=4,
                    markerfacecolor="white", clip_on=False, zorder=3,
                )  # fmt: skip
    axes.plot(
        [middle], [y], marker="D" if suite else "o", color=colour, linestyle="none",
        markersize=size, markerfacecolor="white" if hollow else colour, markeredgewidth=1.1,
        zorder=4,
    )  # fmt: skip


def clear(axes: Axes, *sides: str) -> None:
    """Take away the lines of some sides, and their ticks; the names beside them stay."""
    for side in sides:
        axes.spines[side].set_visible(False)
    if "left" in sides:
        axes.tick_params(axis="y", length=0)
    if "bottom" in sides:
        axes.tick_params(axis="x", length=0)


def thin_ticks(figure: Figure) -> None:
    """Leave out ticks of which the texts would touch, on all axes whose ticks we set.

    1× stays, then the last one, which bears the unit, then each that has room, from the low end. The
    figure must hold all else that takes room.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator

    figure.draw_without_rendering()
    seen: set[int] = set()
    for axes in figure.axes:
        for axis, ends, apart in ((axes.xaxis, (0, 2), 0.35), (axes.yaxis, (1, 3), 0.1)):
            place, text = axis.get_major_locator(), axis.get_major_formatter()
            if not (isinstance(place, FixedLocator) and isinstance(text, FixedFormatter)):
                continue
            values, texts = [float(v) for v in place.tick_values(0.0, 1.0)], list(text.seq)
            labels = [tick.label1 for tick in axis.get_major_ticks(len(values))]
            if len(values) < 2 or not labels[0].get_visible() or id(axis.major) in seen:
                continue
            seen.add(id(axis.major))  # axes that share it are thinned with it
            # the axis holds its ticks with these texts, in this order
            boxes = [label.get_window_extent().extents for label in labels]
            gap = apart * float(labels[0].get_fontsize()) * figure.dpi / 72
            order = sorted(
                range(len(values)), key=lambda k: (values[k] != 1.0, k != len(values) - 1, k)
            )
            kept: list[int] = []
            for k in order:
                low, high = boxes[k][ends[0]] - gap, boxes[k][ends[1]] + gap
                if all(high < boxes[j][ends[0]] or boxes[j][ends[1]] < low for j in kept):
                    kept.append(k)
            if len(kept) < len(values):
                kept.sort()
                axis.set_major_locator(FixedLocator([values[k] for k in kept]))
                axis.set_major_formatter(FixedFormatter([texts[k] for k in kept]))
