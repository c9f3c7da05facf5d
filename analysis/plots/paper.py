"""Pictures for papers: marks in absolute places, in the colours of print, as SVG that we write.

Lengths are points. Roles are words; later ones win: ``faster interval`` is a stroke in the
colour of faster and as thick as an interval. `analysis.plots.converter` makes PDF and PNG of the same
outlines, spots and letters; nothing here needs a library, unless a sheet names another font.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import UsageError
from ..words import shown
from .marks import COLOURS, DASHES, PRINT
from .texts import OWN, Box, wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .axes import Axes


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
