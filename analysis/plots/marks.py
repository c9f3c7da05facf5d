"""Marks: what a picture is made of, as small objects that know no colour; and pictures of the page as inline SVG.

Places in x are shares of the picture's width (0 to 1), places in y are pixels (on paper: points) from
its top. Marks of many points lie in an `Area`: their places are shares of it, from its left and from
its **bottom**. Roles (``faster``, ``slower``, ``baseline line``, ...) say how a mark looks: on the
page as classes of the style sheet, on paper by `analysis.plots.paper`.

On the page what stretches does so in x only, and text never: shares of the width are percentages,
curves and clouds of dots lie in a nested ``svg`` without a fixed ratio, with strokes that do not scale.
So one markup serves a telephone, a projector and paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from markupsafe import Markup

Point: TypeAlias = tuple[float, float]
_GRAIN = 1000  # units of a nested drawing's width and height


def _whole(share: float) -> int:
    return round(share * _GRAIN)


def _p(share: float) -> str:
    return f"{_n(100 * share)}%"


def _n(value: float) -> str:
    """Write a number as briefly as two decimals allow."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class Area(NamedTuple):
    """Where marks of many points lie: y in pixels, x in shares of the picture's width."""

    top: float
    height: float
    left: float = 0.0
    width: float = 1.0
    axis: str = ""  # what `read_out` gives of the upright axis, for the page's script

    def opened(self) -> str:
        """Begin its drawing."""
        place = f'x="{_p(self.left)}" ' if self.left else ""
        place += f'y="{_n(self.top)}" ' if self.top else ""
        place += f'width="{_p(self.width)}" ' if self.width != 1 else ""
        place += f'height="{_n(self.height)}"'
        place += f' data-axis="{escape(self.axis)}"' if self.axis else ""
        return f'<svg {place} viewBox="0 0 {_GRAIN} {_GRAIN}" preserveAspectRatio="none">'


class Line(NamedTuple):
    """A straight line; without an end in y it goes from the top to the bottom."""

    x1: float
    y1: float
    x2: float
    y2: float | None
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        bottom = "100%" if self.y2 is None else _n(self.y2)
        ends = f'x1="{_p(self.x1)}" y1="{_n(self.y1)}" x2="{_p(self.x2)}" y2="{bottom}"'
        return f'<line class="{self.css}" {ends}/>'


class Rect(NamedTuple):
    """A filled rectangle; without an end in y it goes from the top to the bottom."""

    x1: float
    x2: float
    y1: float
    y2: float | None
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        height = "100%" if self.y2 is None else _n(self.y2 - self.y1)
        size = f'width="{_p(max(0.0, self.x2 - self.x1))}" height="{height}"'
        return f'<rect class="{self.css}" x="{_p(self.x1)}" y="{_n(self.y1)}" {size}/>'


class Shape(NamedTuple):
    """Lines through points around a place, in pixels from it: they do not stretch."""

    x: float
    y: float
    lines: tuple[tuple[Point, ...], ...]
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        d = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in one) for one in self.lines)
        place = f'x="{100 * self.x:.2f}%" y="{self.y:.1f}"'
        return f'<svg class="at" {place}><path class="{self.css}" d="{d}"/></svg>'


class Text(NamedTuple):
    """A text at a place of its baseline."""

    x: float
    y: float
    text: str
    css: str
    anchor: str = "middle"  # or start, end
    dx: float = 0.0
    dy: float = 0.0

    def svg(self) -> str:
        """Write it for the page."""
        more = f' class="{self.css}"' if self.css else ""
        more += (f' x="{_p(self.x)}"' if self.x else "") + f' y="{_n(self.y)}"'
        more += f' dx="{_n(self.dx)}"' if self.dx else ""
        more += f' text-anchor="{self.anchor}"' if self.anchor != "start" else ""
        return f"<text{more}>{escape(self.text)}</text>"


class Dots(NamedTuple):
    """Many dots; on paper they have a radius, and a shape of `paper.SHAPES`."""

    points: Sequence[Point]
    css: str
    area: Area
    r: float = 1.3
    shape: str = "circle"

    def path(self) -> str:
        """Write the way from each to the next: steps have fewer digits than places, and there may be 100,000."""
        places = np.array(self.points, dtype=float).reshape(-1, 2)
        places[:, 1] = 1 - places[:, 1]
        steps = np.rint(places * _GRAIN).astype(np.int64)
        steps[1:] -= steps[:-1].copy()
        return ("m%d %dh0" * len(steps) % tuple(steps.ravel().tolist())).replace(" -", "-")


class Curve(NamedTuple):
    """A line through points, in steps or straight, or the area that they enclose."""

    points: Sequence[Point]
    css: str
    area: Area
    steps: bool
    closed: bool


class Segments(NamedTuple):
    """Many straight lines."""

    lines: Sequence[tuple[float, float, float, float]]
    css: str
    area: Area

    def path(self) -> str:
        """Write all of them."""
        found = []
        for x1, y1, x2, y2 in self.lines:
            a, b, c, d = _whole(x1), _whole(1 - y1), _whole(x2), _whole(1 - y2)
            end = f"H{c}" if b == d else f"V{d}" if a == c else f"L{c} {d}"
            found.append(f"M{a} {b}{end}")
        return "".join(found)


class Boxes(NamedTuple):
    """Many upright boxes of full height."""

    spans: Sequence[Point]
    css: str
    area: Area

    def path(self) -> str:
        """Write all of them."""
        spans = ((_whole(a), _whole(b)) for a, b in self.spans)
        return "".join(f"M{a} 0H{b}V{_GRAIN}H{a}Z" for a, b in spans)


Mark: TypeAlias = "Line | Rect | Shape | Text | Dots | Curve | Segments | Boxes"


line, band, label = Line, Rect, Text


def stroke(x: float, y1: float, y2: float, css: str) -> Mark:
    """Give an upright line, such as a tick."""
    return Line(x, y1, x, y2, css)


def cross(x: float, y: float, css: str, *, r: float = 3.5) -> Mark:
    """Give a cross, such as that of a failed run."""
    return Shape(x, y, (((-r, -r), (r, r)), ((-r, r), (r, -r))), css)


def dots(points: Sequence[Point], css: str, *, axis: str = "", **area: float) -> Mark:
    """Give many dots as one path in an `area` (its top, height, left and width).

    The style's ``stroke-width`` is their diameter. `axis` is what `read_out` gives of the upright
    axis: where scripts are on, the value of the dot under the pointer is shown.
    """
    return Dots(points, css, Area(axis=axis, **area))


def segments(lines: Iterable[tuple[float, float, float, float]], css: str, **area: float) -> Mark:
    """Give straight lines ``(x1, y1, x2, y2)`` as one path; `area` is as for `dots`."""
    return Segments(tuple(lines), css, Area(axis="", **area))


def boxes(spans: Sequence[Point], css: str, *, top: float, height: float) -> Mark:
    """Give upright boxes of full height, from one share of the width to another, as one path."""
    return Boxes(spans, css, Area(top, height))


# --- The colours of all pictures: blue is faster than the baseline, orange slower, ink neither.
#
# Colour says one thing only, and never alone: the word stands next to it. Text has a contrast of at
# least 4.5 with the page, marks 3; simulated protan, deutan and tritan sight keeps blue and orange
# apart, and either from ink and from the baseline's grey.


# Okabe and Ito's, for several curves in one picture: readers with any common colour blindness tell
# them apart, and the dashes do so in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1, 1.3), (6, 2, 1, 2), (3, 1), (8, 3))

Style = Literal["faster", "slower", "neither", "baseline"]


@dataclass(frozen=True, slots=True)
class Palette:
    """What each role looks like on one kind of page, as ``#rrggbb``; `one` is the line of no difference."""

    page: str
    panel: str
    ink: str
    second: str
    faster: str
    slower: str
    baseline: str
    one: str
    margin: str
    grid: str

    def css(self) -> str:
        """Give the colours as custom properties, such as ``--faster:#0a5c9e``."""
        return ";".join(f"--{field.name}:{getattr(self, field.name)}" for field in fields(self))


_ROLES = {  # on a light page, on a dark one, in print
    "page": ("#fffefb", "#16181b", "#ffffff"),
    "panel": ("#f6f4ee", "#1e2125", "#f4f4f4"),
    "ink": ("#1a1a18", "#ebe9e3", "#000000"),
    "second": ("#5b5a55", "#aaa89f", "#444444"),
    "faster": ("#0a5c9e", "#72b8f5", "#0a4f8a"),
    "slower": ("#b0430a", "#f59b61", "#9c3a06"),
    "baseline": ("#6f6c64", "#98968f", "#666666"),
    "one": ("#8f8b80", "#7d8087", "#777777"),
    "margin": ("#e6e1d3", "#353a40", "#dddddd"),
    "grid": ("#dedbd3", "#33363b", "#cccccc"),
}
LIGHT, DARK, PRINT = (
    Palette(**{role: each[page] for role, each in _ROLES.items()}) for page in range(3)
)


def style_of(word: str | None) -> Style:
    """Give the role that a word is drawn in; None is the baseline's own.

    Both ``faster`` and its sister ``better`` of metrics that are no time are blue.
    """
    if word is None:
        return "baseline"
    if word in ("faster", "better"):
        return "faster"
    return "slower" if word in ("slower", "worse") else "neither"


def plot(height: float, marks: Iterable[Mark], alt: str, *, css: str = "") -> Markup:
    """Give a picture as wide as its place, and `height` CSS pixels high.

    `alt`: What it shows: its result, in words; "" for one that repeats the text next to it. `css`:
    More classes.
    """
    text = f'role="img" aria-label="{escape(alt)}"' if alt else 'aria-hidden="true"'
    head = f'class="{f"plot {css}".strip()}" {text} width="100%" height="{_n(height)}"'
    return Markup(f"<svg {head}>{_joined(marks)}</svg>")  # noqa: S704 - each mark escapes its texts


def _joined(marks: Iterable[Mark]) -> str:
    """Write marks one after the other; neighbours of many points in one area share a drawing."""
    found: list[str] = []
    last: Area | None = None
    for mark in marks:
        if isinstance(mark, Curve):
            raise TypeError("curves are drawn on paper only")
        area = None
        if isinstance(mark, Dots | Segments | Boxes):
            if not (d := mark.path()):
                continue
            area, dots = mark.area, "dots " if isinstance(mark, Dots) else ""
            drawn = f'<path class="{dots}{mark.css}" d="{d}"/>'
        else:
            drawn = mark.svg()
        if last not in (None, area):
            found.append("</svg>")
        if area is not None and area != last:
            found.append(area.opened())
        found.append(drawn)
        last = area
    return "".join([*found, *(["</svg>"] if last else [])])
