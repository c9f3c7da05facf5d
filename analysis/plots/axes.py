"""Areas with two scales, what is written around them, and the sheet on which they get a place in print.

What an area holds is given in the units of its scales, as marks; `analysis.plots.chart` gives it its
place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import UsageError
from ..pages.number_format import SCALES
from ..words import shown
from .marks import (
    COLOURS,
    DASHES,
    OWN,
    PRINT,
    Area,
    Box,
    Curve,
    Dots,
    Line,
    Mark,
    Rect,
    Segments,
    Text,
    wide,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# --- Scales: where a value lies on an axis, as a share of its length, and the axis's ticks.


_EACH = 0.06  # of the axis's length, that one more tick is worth
_GRIDS: tuple[tuple[float, ...], ...] = (  # in addition to 1
    (),
    (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0),
    (0.01, 100.0),
    (0.1, 10.0),
    (0.0625, 0.125, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0),
    (0.0625, 0.25, 4.0, 16.0),
    (0.02, 0.05, 0.2, 0.5, 2.0, 5.0, 20.0, 50.0),
    (0.2, 5.0),
    (0.5, 2.0),
    (0.5, 0.7, 1.5, 2.0, 3.0),
    (0.6, 0.8, 1.2, 1.4),
    (0.7, 0.8, 0.9, 1.1, 1.2, 1.5),
    (0.8, 0.9, 1.1, 1.2),
    (0.8, 1.2),
    (0.9, 1.1),
    (0.9, 0.95, 1.05, 1.1),
    (0.96, 0.98, 1.02, 1.04),
    (0.98, 0.99, 1.01, 1.02),
    (0.99, 0.995, 1.005, 1.01),
)
_LEAST = 1e-9  # relative width below which a range is a point
_FARTHEST = 690.0  # of a logarithm: e to that, and a round value above it, are still numbers


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, linear or logarithmic; ``low < high``."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Give the value's place: 0 at `low`, 1 at `high`; what lies outside leaves that range."""
        low, high = self._of(self.low), self._of(self.high)
        return (self._of(value) - low) / (high - low)

    def clipped(self, value: float) -> float:
        """Give the value's place, or the nearer edge."""
        return min(1.0, max(0.0, self.at(value)))

    def holds(self, value: float) -> bool:
        """Whether the value lies on the axis."""
        return self.low <= value <= self.high

    def _of(self, value: float) -> float:
        return math.log(value) if self.log else value


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    value: float
    text: str


def ratio_scale(values: Iterable[float], margin: float = 0.0, room: float = 0.06) -> Scale:
    """Give the log scale of speedups: all values, 1 and its margin, with room at both ends.

    What is not finite or not positive is left out. The band ``1 ± margin`` (1 / (1 + margin) below)
    is on the scale; `room` is the share of the length that stays free at each end.
    """
    logs = [math.log(v) for v in values if math.isfinite(v) and v > 0]
    band = math.log1p(max(margin, 0.005))
    low, high = min([*logs, -band]), max([*logs, band])
    free = (high - low) * room
    return _log_scale(low - free, high + free)


def ratio_ticks(scale: Scale, most: int = 4) -> tuple[Tick, ...]:
    """Give ticks of speedups, such as ``2×``; 1 is always there if the scale holds it.

    At most `most` of them, from the grid that reaches over most of the axis with most ticks.
    """
    long = math.log(scale.high) - math.log(scale.low)
    best: tuple[float, list[float]] = (-1.0, [])
    for grid in _GRIDS:
        inside = sorted({g for g in (1.0, *grid) if scale.holds(g)})
        if inside and len(inside) <= max(1, most):
            score = math.log(inside[-1] / inside[0]) / long + _EACH * len(inside)
            best = max(best, (score, inside), key=lambda found: found[0])
    return tuple(Tick(value, f"{value:g}×") for value in best[1])


def quantity_scale(values: Iterable[float], *, log: bool = True, room: float = 0.06) -> Scale:
    """Give the scale of measured values, with room at both ends.

    Logarithmic only where all values are positive. A single value has 5 % of itself around it.
    """
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return Scale(0.0, 1.0)
    if len({*known}) > 1:  # what is nearer to 0 than any logarithm of an axis is drawn there
        known = [v if abs(v) > math.exp(-_FARTHEST) else 0.0 for v in known]
    low, high = min(known), max(known)
    if log and low > 0:
        a, b = math.log(low), math.log(high)
        free = max((b - a) * room, 0.05 if b - a < _LEAST else 0.0)
        return _log_scale(a - free, b + free)
    free = (high - low) * room or abs(high) * 0.05 or 0.5
    return Scale(low - free, high + free)


def quantity_ticks(scale: Scale, unit: str, most: int = 5) -> tuple[Tick, ...]:
    """Give ticks of measured values; the unit stands once, at the last one.

    Times and sizes are written in the unit that gives the axis's middle a sensible size.
    """
    factor, name = unit_of(scale, unit)
    low, high = scale.low / factor, scale.high / factor
    found = _round_values(low, high, most, log=scale.log)
    texts = _distinct(found)
    if texts and name:
        texts[-1] = f"{texts[-1]} {name}"
    return tuple(Tick(v * factor, text) for v, text in zip(found, texts, strict=True))


def read_out(scale: Scale, unit: str) -> str:
    """Describe an axis for the page's script: ends in the unit of its ticks, 1 if log, the unit."""
    factor, name = unit_of(scale, unit)
    return f"{scale.low / factor:.6g} {scale.high / factor:.6g} {scale.log:d} {name}".rstrip()


def unit_of(scale: Scale, unit: str) -> tuple[float, str]:
    """Give the unit in which an axis of measured values is written: its size, and its name."""
    middle = (
        math.sqrt(scale.low) * math.sqrt(scale.high) if scale.log else (scale.low + scale.high) / 2
    )
    known = SCALES.get(unit)
    if known is None:
        return 1.0, "" if unit == "1" else unit
    return next(((f, name) for f, name in known if float(f"{abs(middle) / f:.2e}") >= 1), known[-1])


def _log_scale(low: float, high: float) -> Scale:
    low, high = min(max(low, -_FARTHEST), _FARTHEST - 1), max(min(high, _FARTHEST), 1 - _FARTHEST)
    return Scale(math.exp(low), math.exp(high), log=True)


def _distinct(values: Iterable[float]) -> list[str]:
    """Write round numbers with as many digits as tell them apart: a narrow axis needs more."""
    known = list(values)
    texts: list[str] = []
    for digits in (6, 9, 12, 15, 17):
        texts = [f"{value:.{digits}g}" for value in known]
        if len(set(texts)) == len(known):
            break
    return texts


def _round_values(low: float, high: float, most: int, *, log: bool) -> list[float]:
    """Give round values from `low` to `high`: as many as fit, at most `most`, at least two."""
    best: list[float] = []
    if log and high / low > 3:
        for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            inside = [
                value
                for k in range(first, last + 1)
                for digit in digits
                if low <= (value := digit * 10.0**k) <= high
            ]
            if len(best) < len(inside) <= most:
                best = inside
        if not best:  # the powers of ten are many, and some must do
            powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
            nth = -(-len(powers) // most)
            round_ones = [k for k in powers if k % nth == 0]
            best = [10.0**k for k in (round_ones if len(round_ones) > 1 else powers[::nth])]
    if len(best) >= 2:
        return best
    wide = high - low
    for k in range(math.floor(math.log10(wide)) - 2, math.floor(math.log10(wide)) + 1):
        for digit in (1, 2, 5):
            step = digit * 10.0**k
            first = math.ceil(low / step - 1e-9)
            last = math.floor(high / step + 1e-9)
            if last - first > most:
                continue
            inside = [float(f"{n * step:.15g}") for n in range(first, last + 1) if n or not log]
            if len(best) < len(inside) <= most:
                best = inside
    return best


_WHOLE = Area(0.0, 1.0)


class Key(NamedTuple):
    """What a look stands for: a text with a sample of it; the shape of a spot, or "" for a line."""

    text: str
    css: str
    shape: str = ""


@dataclass(kw_only=True, eq=False)
class Axes:
    """An area, and what is written around it.

    `x`, `y`: Its ends; `y` may go from high to low. Ticks are written below (`top`: above) and at
    the left, with their texts (`x_texts`, `y_texts`) or without, where neighbours share them;
    labels and title may have several lines. `sides`: Which are drawn: l(eft), b(ottom), t(op).
    `rows`: Whether the texts at the left are names, which are set in ink. `beside`: Texts at the
    right: their y, what they say, their role. `keys`: Above the area. `square`: Whether it is as
    wide as high. `then`: Called with the area's place, before it is drawn: what needs to know
    lengths.
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
        self,
        x1: float = -math.inf,
        x2: float = math.inf,
        y1: float = -math.inf,
        y2: float = math.inf,
        css: str = "one",
    ) -> None:
        """Fill a rectangle, by default up to the edges."""
        self.marks.append(Rect(x1, x2, y1, y2, css))

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
        self.marks.append(Text(x, y, text, css, anchor, dx, dy))

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
            ends = {f"{side}1": 1 / (1 + margin), f"{side}2": 1 + margin}
            self.band(**ends, css="margin")


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


# --- Pictures for papers: marks in absolute places, in the colours of print, as SVG that we write.
#
# Lengths are points. Roles are words; later ones win: ``faster interval`` is a stroke in the
# colour of faster and as thick as an interval. `analysis.plots.converter` makes PDF and PNG of the same
# outlines, spots and letters; nothing here needs a library, unless a sheet names another font.


SMALL = 0.833  # of the sheet's letters
_ASCENT, _DESCENT = 0.76, 0.24  # of a letter's size
_FALLBACK = "Verdana, sans-serif"  # as wide as DejaVu Sans, where that is not installed

_COLOURS = {
    **{name: getattr(PRINT, name) for name in ("ink", "second", "page", "one", "margin", "grid")},
    **{name: getattr(PRINT, name) for name in ("faster", "slower", "baseline")},
    "neither": PRINT.ink,
    "bars": "#d5dde4",
    "arrows": "#a84300",  # of their names: dark enough to be read
    "faintest": "#f0c9b3",
    **{f"c{k}": colour for k, colour in enumerate(COLOURS)},
}
_WIDTHS = {
    "hair": 0.5, "thin": 0.7, "line": 0.9, "curve": 1.3, "rim": 1.1, "interval": 1.5, "thick": 1.8, "bar": 2.6,
    "broad": 4.5,
}  # fmt: skip
_DASHES: dict[str, tuple[float, ...]] = {
    **{f"d{k}": dash for k, dash in enumerate(DASHES)},
    "dashed": (4, 2),
    "dotted": (1, 1.65),
}
_OPACITIES = {"faint": 0.55, "pale": 0.3, "veil": 0.12, "dense": 0.75}


class Style(NamedTuple):
    """How a mark looks."""

    colour: str = PRINT.ink
    width: float = 0.9
    dash: tuple[float, ...] = ()  # in widths
    opacity: float = 1.0
    hollow: bool = False  # filled with the page
    ring: bool = False  # not filled
    edged: bool = False  # with a line of the page around
    bold: bool = False
    small: bool = False


class Outline(NamedTuple):
    """Lines through points; filled if closed. `clip` is left, top, right, bottom."""

    parts: Sequence[NDArray[np.float64]]
    style: Style
    closed: bool = False
    clip: Box | None = None


class Spots(NamedTuple):
    """The same small mark at many points: a circle, or the polygon or strokes of `shape`."""

    points: NDArray[np.float64]
    style: Style
    r: float
    shape: str = "circle"


class Letters(NamedTuple):
    """A text; `upward` is turned to the left."""

    x: float
    y: float
    text: str
    size: float
    anchor: str
    style: Style
    upward: bool = False

    def box(self, family: str) -> Box:
        """Give the rectangle that it fills."""
        length = wide(self.text, self.size, family, bold=self.style.bold)
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * length
        up, down = _ASCENT * self.size, _DESCENT * self.size
        if self.upward:
            return Box(self.x - up, self.y - length + before, self.x + down, self.y + before)
        return Box(self.x - before, self.y - up, self.x - before + length, self.y + down)


SHAPES: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "square": (((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),),
    "diamond": (((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),),
    "up": (((0, -1.1), (1.1, 1), (-1.1, 1)),),
    "down": (((0, 1.1), (1.1, -1), (-1.1, -1)),),
    "left": (((-1.1, 0), (1, -1.1), (1, 1.1)),),
    "right": (((1.1, 0), (-1, -1.1), (-1, 1.1)),),
    "fat-plus": (((-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4),
                  (0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4)),),
    "cross": (((-1, -1), (1, 1)), ((-1, 1), (1, -1))),
    "plus": (((-1, 0), (1, 0)), ((0, -1), (0, 1))),
    "upright": (((0, -1), (0, 1)),),
}  # fmt: skip
OPEN = ("cross", "plus", "upright")  # shapes of strokes, which are never filled


@lru_cache(maxsize=512)
def style_of_roles(roles: str) -> Style:
    """Give the look that roles have in print."""
    found = Style()
    for word in roles.split():
        if word in _COLOURS:
            found = found._replace(colour=_COLOURS[word])
        elif word in _WIDTHS:
            found = found._replace(width=_WIDTHS[word])
        elif word in _DASHES:
            found = found._replace(dash=_DASHES[word])
        elif word in _OPACITIES:
            found = found._replace(opacity=_OPACITIES[word])
        elif word in ("hollow", "ring", "edged", "bold", "small"):
            found = found._replace(**{word: True})  # type: ignore[arg-type]
        else:
            raise ValueError(f"no role is called {word!r}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """How wide a picture is, and how it is lettered.

    `width`: In mm; a column of a paper has about 85, two have 178. `font_size`: Of names and
    numbers, in points; nothing is smaller than 0.8 of it. `font_family`: One that is installed; the
    default is the same everywhere.
    """

    width: float = 178.0
    font_size: float = 9.0
    font_family: str = OWN

    def check(self) -> None:
        """Refuse sizes out of their range, and a font that is not there."""
        if not 40 <= self.width <= 1000:
            what = f"a picture is 40 to 1000 mm wide, not {self.width:g}"
            raise UsageError(what, fix="write --width 85mm")
        if not 4 <= self.font_size <= 40:
            raise UsageError(f"letters have 4 to 40 points, not {self.font_size:g}")
        if self.font_family == OWN:
            return
        from matplotlib.font_manager import FontProperties, findfont

        try:
            findfont(FontProperties(family=[self.font_family]), fallback_to_default=False)
        except ValueError:
            what = f"there is no font {self.font_family!r} here"
            known = "'DejaVu Sans', 'DejaVu Serif' or 'STIXGeneral'"
            raise UsageError(what, fix=f"name one that is installed, such as {known}") from None


class Picture(NamedTuple):
    """A picture in points: what is drawn, from the back to the front."""

    width: float
    height: float
    items: tuple[Outline | Spots | Letters, ...]
    sheet: Sheet
    axes: tuple[Axes, ...] = ()  # what it was made from: they hold values in their own units

    def texts(self) -> list[tuple[str, Box]]:
        """Give all texts with the rectangles that they fill."""
        family = self.sheet.font_family
        return [(one.text, one.box(family)) for one in self.items if isinstance(one, Letters)]

    def svg(self, title: str = "", alt: str = "") -> str:
        """Write it as SVG: letters stay letters, with a title and a description for all readers."""
        size = f'width="{self.width:.6f}pt" height="{self.height:.6f}pt"'
        frame = f'viewBox="0 0 {_n(self.width)} {_n(self.height)}"'
        family = f"'{self.sheet.font_family}', {_FALLBACK}"
        letters = f"font-size: {self.sheet.font_size:g}px; font-family: {family}"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {frame} style="{letters}">'
        )
        texts = [f"<title>{escape(title, quote=False)}</title>"] if title else []
        texts += [f"<desc>{escape(alt, quote=False)}</desc>"] if alt else []
        back = f'<rect width="100%" height="100%" fill="{PRINT.page}"/>'
        clips: dict[Box, str] = {}
        drawn = [_svg_of(one, self.sheet.font_size, clips) for one in self.items]
        cuts = [
            f'<clipPath id="{name}"><rect x="{_n(box.left)}" y="{_n(box.top)}" '
            f'width="{_n(box.right - box.left)}" height="{_n(box.bottom - box.top)}"/></clipPath>'
            for box, name in clips.items()
        ]
        return "\n".join([head, *texts, back, *cuts, *drawn, "</svg>\n"])


def _svg_of(item: Outline | Spots | Letters, size: float, clips: dict[Box, str]) -> str:
    style = item.style
    if isinstance(item, Letters):
        place = f'x="{_n(item.x)}" y="{_n(item.y)}"'
        if item.upward:
            place = f'transform="translate({_n(item.x)} {_n(item.y)}) rotate(-90)"'
        more = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
        more += "" if item.size == size else f' font-size="{_n(item.size)}"'
        more += ' font-weight="bold"' if style.bold else ""
        found = escape(shown(item.text), quote=False)
        return f'<text {place}{more} fill="{style.colour}" xml:space="preserve">{found}</text>'
    if isinstance(item, Spots):
        return _spots(item)
    d = "".join(_path(part) + ("Z" if item.closed else "") for part in item.parts)
    more = ""
    if item.clip is not None:
        more = f' clip-path="url(#{clips.setdefault(item.clip, f"clip{len(clips)}")})"'
    look = _filled(style) if item.closed else _stroked(style)
    return f'<path d="{d}" {look}{more}/>'


def _spots(item: Spots) -> str:
    style, r = item.style, item.r
    look = _filled(style)
    if style.hollow or style.ring:
        inner = "none" if style.ring else PRINT.page
        look = f'fill="{inner}" stroke="{style.colour}" stroke-width="{_n(style.width)}"'
    elif style.edged:
        look += f' stroke="{PRINT.page}" stroke-width="0.5"'
    places = item.points.round(2).tolist()
    if item.shape == "circle":
        circles = (f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}"/>' for x, y in places)
        return f"<g {look}>{''.join(circles)}</g>"
    lines = [np.array(line) * r for line in SHAPES[item.shape]]
    end = "" if item.shape in OPEN else "Z"
    d = "".join(_path(line + point) + end for point in item.points for line in lines)
    return f'<path d="{d}" {_stroked(style) if item.shape in OPEN else look}/>'


def _filled(style: Style) -> str:
    seen = "" if style.opacity == 1 else f' fill-opacity="{style.opacity:g}"'
    return f'fill="{style.colour}"{seen}'


def _stroked(style: Style) -> str:
    more = "" if style.opacity == 1 else f' stroke-opacity="{style.opacity:g}"'
    if style.dash:
        more += f' stroke-dasharray="{" ".join(_n(part * style.width) for part in style.dash)}"'
    return f'fill="none" stroke="{style.colour}" stroke-width="{_n(style.width)}"{more}'


def _path(points: NDArray[np.float64]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points.round(2).tolist())


def _n(value: float) -> str:
    return re.sub(r"\.?0+$", "", f"{value:.2f}") if value else "0"
