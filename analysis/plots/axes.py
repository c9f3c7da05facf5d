"""Areas with two scales, and what is written around them.

What an area holds is given in the units of its scales, as marks; `analysis.plots.layout` gives it its
place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .labels import Box
from .marks import Area, Curve, Dots, Line, Mark, Rect, Segments, Text
from .scale import Scale, Tick, quantity_ticks, ratio_ticks, unit_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


__all__ = [
    "Axes",
    "Key",
    "density_axis",
    "quantity_axis",
    "ratio_axis",
    "rows_down",
]

_WHOLE = Area(0.0, 1.0)


class Key(NamedTuple):
    """What a look stands for: a text with a sample of it; the shape of a spot, or "" for a line."""

    text: str
    css: str
    shape: str = ""


@dataclass(kw_only=True, eq=False)
class Axes:
    """An area, and what is written around it.

    Attributes
    ----------
    x, y : Scale
        Its ends; `y` may go from high to low.
    x_ticks, y_ticks : sequence of Tick
        What is written below (`top`: above) and at the left.
    x_label, y_label, title : str
        May have several lines.
    sides : str
        Which of its sides are drawn: l(eft), b(ottom), t(op).
    x_texts, y_texts : bool
        Whether the ticks have their texts, which neighbours may share.
    rows : bool
        Whether the texts at the left are names, which are set in ink.
    beside : list of (float, str, str)
        Texts at the right: their y, what they say, their role.
    keys : list of Key
        Above the area.
    square : bool
        Whether it is as wide as high.
    then : callable, optional
        Called with the area's place, before it is drawn: what needs to know lengths.
    """

    x: Scale = field(default_factory=lambda: Scale(0.0, 1.0))
    y: Scale = field(default_factory=lambda: Scale(0.0, 1.0))
    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    x_label: str = ""
    y_label: str = ""
    title: str = ""
    title_css: str = "ink"
    sides: str = "lb"
    x_texts: bool = True
    y_texts: bool = True
    rows: bool = False
    top: bool = False
    small: bool = False
    square: bool = False
    beside: list[tuple[float, str, str]] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    then: Callable[[Axes, Box], None] | None = None
    marks: list[Mark] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self.marks.append(Line(x1, y1, x2, y2, css))

    def upright(self, x: float, css: str) -> None:
        """Draw a line from the bottom to the top."""
        self.marks.append(Line(x, -math.inf, x, math.inf, css))

    def level(self, y: float, css: str) -> None:
        """Draw a line from the left to the right."""
        self.marks.append(Line(-math.inf, y, math.inf, y, css))

    def band(
        self, x1: float | None, x2: float | None, y1: float | None, y2: float | None, css: str
    ) -> None:
        """Fill a rectangle; None is the edge."""
        ends = (
            -math.inf if x1 is None else x1, math.inf if x2 is None else x2,
            -math.inf if y1 is None else y1, math.inf if y2 is None else y2,
        )  # fmt: skip
        self.marks.append(Rect(*ends, css))

    def curve(
        self, x: ArrayLike, y: ArrayLike, css: str, *, steps: bool = False, closed: bool = False
    ) -> None:
        """Draw a line through points, cut at the area's edges; see `marks.curve`."""
        self.marks.append(Curve(np.column_stack((x, y)), css, _WHOLE, steps, closed))  # type: ignore[arg-type]

    def segments(
        self, x1: ArrayLike, y1: ArrayLike, x2: ArrayLike, y2: ArrayLike, css: str
    ) -> None:
        """Draw many straight lines."""
        ends = np.column_stack(np.broadcast_arrays(x1, y1, x2, y2))
        self.marks.append(Segments(ends, css, _WHOLE))  # type: ignore[arg-type]

    def spots(
        self, x: ArrayLike, y: ArrayLike, css: str, *, r: float = 1.3, shape: str = "circle"
    ) -> None:
        """Draw the same small mark at many points."""
        points = np.column_stack(np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y)))
        self.marks.append(Dots(points, css, _WHOLE, r, shape))  # type: ignore[arg-type]

    def text(
        self, x: float, y: float, text: str, css: str = "ink", *, anchor: str = "start",
        dx: float = 0.0, dy: float = 0.0,
    ) -> None:  # fmt: skip
        """Write a text: the middle of its line at the height y, moved by points."""
        self.marks.append(Text(x, y, text, css, anchor, dx, "", "", dy))

    def interval(
        self, y: float, middle: float, ends: tuple[float, float] | None, css: str,
        *, hollow: bool = False, suite: bool = False,
    ) -> None:  # fmt: skip
        """Draw an estimate with its interval on a row; open at an end that leaves the axis.

        `hollow` is undecided; `suite` draws a diamond.
        """
        if ends is not None:
            low, high = max(ends[0], self.x.low), min(ends[1], self.x.high)
            self.line(low, y, high, y, f"{css} interval")
            if ends[0] < self.x.low:
                self.spots(self.x.low, y, f"{css} rim hollow", r=2, shape="left")
            if ends[1] > self.x.high:
                self.spots(self.x.high, y, f"{css} rim hollow", r=2, shape="right")
        shape = "diamond" if suite else "circle"
        look = f"{css} rim hollow" if hollow else css
        self.spots(middle, y, look, r=2.2 if hollow else 2.7, shape=shape)

    def margin(self, margin: float, side: str = "x") -> None:
        """Shade what counts as equivalent: from 1 / (1 + margin) to 1 + margin."""
        if margin > 0:
            low, high = 1 / (1 + margin), 1 + margin
            if side == "x":
                self.band(low, high, None, None, "margin")
            else:
                self.band(None, None, low, high, "margin")


def quantity_axis(axes: Axes, side: str, scale: Scale, unit: str, most: int = 5) -> None:
    """Set an axis of measured values: round ticks, the unit at the last one, such as ``30 ms``."""
    _set(axes, side, scale, quantity_ticks(scale, unit, most))


def ratio_axis(axes: Axes, side: str, scale: Scale, most: int = 4) -> None:
    """Set a log axis of speedups, with 1× and its line of no difference."""
    _set(axes, side, scale, ratio_ticks(scale, most))
    if scale.holds(1.0):
        (axes.upright if side == "x" else axes.level)(1.0, "one thin")


def density_axis(axes: Axes, across: Scale, unit: str, top: float, *, of: str = "runs") -> None:
    """Set ticks and label of a density over an axis of values: ``share of runs per ms``.

    `top` is the highest density that is shown, in 1 / `unit`; `across` decides the unit.
    """
    factor, name = unit_of(across, unit)
    ticks = quantity_ticks(Scale(0.0, top * factor), "1", 4)
    axes.y_ticks = [Tick(tick.value / factor, tick.text) for tick in ticks if tick.value >= 0]
    axes.y_label = f"share of {of} per {name or 'unit'}"


def rows_down(names: Sequence[str], around: tuple[float, float] = (0.6, 0.4), **more: Any) -> Axes:  # noqa: ANN401 - of any kind
    """Give an area of rows: a name at each, from above, with room above the first and below the last."""
    ticks = [Tick(float(k), name) for k, name in enumerate(names)]
    ends = Scale(len(names) - 1 + around[1], -around[0])
    return Axes(y=ends, y_ticks=ticks, rows=True, sides="b", **more)


def _set(axes: Axes, side: str, scale: Scale, ticks: Sequence[Tick]) -> None:
    setattr(axes, side, scale)
    setattr(axes, f"{side}_ticks", ticks)
