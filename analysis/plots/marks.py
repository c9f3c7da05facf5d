"""Marks: what a picture is made of, as small objects that know neither a file format nor a colour.

Places in x are shares of the picture's width (0 to 1), places in y are pixels (on paper: points) from
its top. Marks of many points lie in an `Area`: their places are shares of it, from its left and from
its **bottom**. Roles (``faster``, ``slower``, ``baseline line``, ...) say how a mark looks: on the
page as classes of the style sheet, on paper by `analysis.plots.paper`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, TypeAlias

__all__ = [
    "COLOURS",
    "DARK",
    "DASHES",
    "LIGHT",
    "PRINT",
    "Area",
    "Boxes",
    "Curve",
    "Dots",
    "Line",
    "Mark",
    "Palette",
    "Rect",
    "Segments",
    "Shape",
    "Text",
    "band",
    "boxes",
    "cross",
    "dots",
    "label",
    "line",
    "segments",
    "stroke",
    "style_of",
]

Point: TypeAlias = tuple[float, float]


class Area(NamedTuple):
    """Where marks of many points lie: y in pixels, x in shares of the picture's width."""

    top: float
    height: float
    left: float = 0.0
    width: float = 1.0
    axis: str = ""  # what `read_out` gives of the upright axis, for the page's script


class Line(NamedTuple):
    """A straight line; without an end in y it goes from the top to the bottom."""

    x1: float
    y1: float
    x2: float
    y2: float | None
    css: str


class Rect(NamedTuple):
    """A filled rectangle; without an end in y it goes from the top to the bottom."""

    x1: float
    x2: float
    y1: float
    y2: float | None
    css: str


class Shape(NamedTuple):
    """Lines through points around a place, in pixels from it: they do not stretch."""

    x: float
    y: float
    lines: tuple[tuple[Point, ...], ...]
    css: str


class Text(NamedTuple):
    """A text at a place of its baseline."""

    x: float
    y: float
    text: str
    css: str
    anchor: str = "middle"  # or start, end
    dx: float = 0.0
    dy: float = 0.0


class Dots(NamedTuple):
    """Many dots; on paper they have a radius, and a shape of `paper.SHAPES`."""

    points: Sequence[Point]
    css: str
    area: Area
    r: float = 1.3
    shape: str = "circle"


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


class Boxes(NamedTuple):
    """Many upright boxes of full height."""

    spans: Sequence[Point]
    css: str
    area: Area


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
# Colour says one thing only, and never alone: the word stands beside it. Text has a contrast of at
# least 4.5 with the page, marks 3; simulated protan, deutan and tritan sight keeps blue and orange
# apart, and either from ink and from the baseline's grey.


# Okabe and Ito's, for several curves in one picture: readers with any common colour blindness tell
# them apart, and the dashes do so in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1, 1.3), (6, 2, 1, 2), (3, 1), (8, 3))

Style = Literal["faster", "slower", "neither", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """What each role looks like on one kind of page, as ``#rrggbb``."""

    page: str
    panel: str
    ink: str
    second: str
    faster: str
    slower: str
    baseline: str
    one: str  # the line of no difference
    margin: str
    grid: str

    def css(self) -> str:
        """Give the colours as custom properties, such as ``--faster:#0a5c9e``."""
        return ";".join(f"--{field.name}:{getattr(self, field.name)}" for field in fields(self))


LIGHT = Palette(
    page="#fffefb",
    panel="#f6f4ee",
    ink="#1a1a18",
    second="#5b5a55",
    faster="#0a5c9e",
    slower="#b0430a",
    baseline="#6f6c64",
    one="#8f8b80",
    margin="#e6e1d3",
    grid="#dedbd3",
)
DARK = Palette(
    page="#16181b",
    panel="#1e2125",
    ink="#ebe9e3",
    second="#aaa89f",
    faster="#72b8f5",
    slower="#f59b61",
    baseline="#98968f",
    one="#7d8087",
    margin="#353a40",
    grid="#33363b",
)
PRINT = Palette(
    page="#ffffff",
    panel="#f4f4f4",
    ink="#000000",
    second="#444444",
    faster="#0a4f8a",
    slower="#9c3a06",
    baseline="#666666",
    one="#777777",
    margin="#dddddd",
    grid="#cccccc",
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
