"""Marks: what a picture is made of, as small objects that know neither a file format nor a colour.

Places in x are shares of the picture's width (0 to 1), places in y are pixels (on paper: points) from
its top. Marks of many points lie in an `Area`: their places are shares of it, from its left and from
its **bottom**. Roles (``faster``, ``slower``, ``baseline line``, ...) say how a mark looks: on the
page as classes of the style sheet, on paper by `analysis.plots.svg`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

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
    title: str = ""


class Circle(NamedTuple):
    """A round mark; the role says whether it is hollow."""

    x: float
    y: float
    css: str
    r: float = 4.5
    title: str = ""


class Shape(NamedTuple):
    """Lines through points around a place, in pixels from it: they do not stretch."""

    x: float
    y: float
    lines: tuple[tuple[Point, ...], ...]
    css: str
    title: str = ""
    closed: bool = False


class Text(NamedTuple):
    """A text at a place of its baseline; `lead` comes first, in a role of its own."""

    x: float
    y: float
    text: str
    css: str
    anchor: str = "middle"  # or start, end
    dx: float = 0.0
    lead: str = ""
    lead_css: str = ""
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


class Strokes(NamedTuple):
    """Many short upright lines."""

    places: Sequence[float]
    css: str
    area: Area


class Shared(NamedTuple):
    """A background that `Again` repeats; `name` is an id of the page.

    Style sheets reach the repeated marks by ``.ground`` and their own class, and by nothing outside.
    """

    name: str
    marks: Iterable[Mark]


class Again(NamedTuple):
    """A background that another picture of the page holds."""

    name: str


Mark: TypeAlias = "Line | Rect | Circle | Shape | Text | Dots | Curve | Segments | Boxes | Strokes | Shared | Again"


line, band, dot, label, shared, again = Line, Rect, Circle, Text, Shared, Again


def stroke(x: float, y1: float, y2: float, css: str) -> Mark:
    """Give an upright line, such as a tick or a session's value."""
    return Line(x, y1, x, y2, css)


def upright(x: float, css: str) -> Mark:
    """Give a line from the picture's top to its bottom."""
    return Line(x, 0, x, None, css)


def field(x1: float, x2: float, css: str) -> Mark:
    """Give a filled rectangle from the picture's top to its bottom."""
    return Rect(x1, x2, 0, None, css)


def diamond(x: float, y: float, css: str, *, r: float = 6.5, title: str = "") -> Mark:
    """Give the mark of a suite's line."""
    return Shape(x, y, (((0, -r), (r, 0), (0, r), (-r, 0)),), css, title, closed=True)


def cross(x: float, y: float, css: str, *, r: float = 3.5) -> Mark:
    """Give a cross, such as that of a failed run."""
    return Shape(x, y, (((-r, -r), (r, r)), ((-r, r), (r, -r))), css)


def arrow(x: float, y: float, towards: str, css: str, *, r: float = 4.0) -> Mark:
    """Give an open arrow, where something leaves the scale ``left``, ``right``, ``up`` or ``down``."""
    ends = {
        "left": ((r, -r), (r, r)),
        "right": ((-r, -r), (-r, r)),
        "up": ((-r, r), (r, r)),
        "down": ((-r, -r), (r, -r)),
    }[towards]
    return Shape(x, y, ((ends[0], (0, 0), ends[1]),), css)


def dots(points: Sequence[Point], css: str, *, axis: str = "", **area: float) -> Mark:
    """Give many dots as one path in an `area` (its top, height, left and width).

    The style's ``stroke-width`` is their diameter. `axis` is what `read_out` gives of the upright
    axis: where scripts are on, the value of the dot under the pointer is shown.
    """
    return Dots(points, css, Area(axis=axis, **area))


def curve(
    points: Sequence[Point], css: str, *, steps: bool = False, closed: bool = False, **area: float
) -> Mark:
    """Give a line through points, or what they enclose (`closed`); `area` is as for `dots`.

    With `steps` each value holds until the next point's x, as in a distribution function.
    """
    return Curve(points, css, Area(axis="", **area), steps, closed)


def segments(lines: Iterable[tuple[float, float, float, float]], css: str, **area: float) -> Mark:
    """Give straight lines ``(x1, y1, x2, y2)`` as one path; `area` is as for `dots`."""
    return Segments(tuple(lines), css, Area(axis="", **area))


def boxes(spans: Sequence[Point], css: str, *, top: float, height: float) -> Mark:
    """Give upright boxes of full height, from one share of the width to another, as one path."""
    return Boxes(spans, css, Area(top, height))


def strokes(places: Iterable[float], css: str, *, top: float, height: float) -> Mark:
    """Give short upright lines as one path; what lies outside is drawn at the nearer edge."""
    return Strokes(tuple(places), css, Area(top, height))


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


# --- Texts beside marks that never lie over each other: what finds no room is left out, never shrunk.
#
# All lengths are CSS pixels. Nobody can ask a browser how wide a text will be, so widths are
# estimated from classes of characters, on the wide side of the fonts that the page names.
# Everything is greedy by importance, and ties go by the order given: the same labels, the same
# picture.


T = TypeVar("T")
Anchor = Literal["start", "middle", "end"]

SIZE = 11.5  # of a picture's text
_ASCENT, _DESCENT = 0.93, 0.25  # of the size, above and below the baseline
_BOLD = 1.2
_ROOM = 1.06  # fonts differ from machine to machine
_WIDTHS = (  # shares of the size: the widest of Helvetica, Arial and Segoe UI in each class
    (0.30, "ijl|'.,:; !`"),
    (0.36, 'ftrI()[]{}/\\-"*°·'),
    (0.53, "ckszJvxy_^"),
    (0.60, "abdeghnopqu0123456789?$#+=<>~±×µ–"),
    (0.69, "ABEKPSVXYFLTZ&"),
    (0.76, "CDGHNOQRUw"),
    (0.95, "mMW%@—"),
)
_WIDTH_OF = {sign: width for width, signs in _WIDTHS for sign in signs}
_DISTANCES = (5.0, 9.0, 15.0, 23.0)  # from a place to its text, nearest first
_ANGLES = 16
_ASIDE = 4  # of these, a text with a direction of its own goes aside from it at most


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two share an area; edges that touch do not count."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, frame: Box) -> bool:
        """Whether no part of this lies outside the frame."""
        return (
            self.left >= frame.left
            and self.right <= frame.right
            and self.top >= frame.top
            and self.bottom <= frame.bottom
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text that wants to stand near a place; with `away` on the side that this direction shows."""

    text: str
    x: float
    y: float
    importance: float = 0.0
    away: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A text that found room: the point of its baseline that `anchor` names, and its box."""

    text: str
    x: float
    y: float
    anchor: Anchor
    box: Box


def text_width(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """Estimate how wide a text is at most, in the fonts of pictures."""
    ems = sum(em(sign) for sign in text)
    return ems * size * _ROOM * (_BOLD if bold else 1.0)


def kept_in_row(
    places: Sequence[float],
    texts: Sequence[str],
    length: float,
    *,
    importance: Sequence[float] | None = None,
    gap: float = 6.0,
    size: float = SIZE,
    bold: bool = False,
) -> tuple[bool, ...]:
    """Say which labels of one row stay, each centred at its place.

    What stays apart at one length does so at every longer one: give the shortest.

    Parameters
    ----------
    places : sequence of float
        Shares of the length.
    texts : sequence of str
        One for each place.
    length : float
        Of the row, in pixels.
    importance : sequence of float, optional
        The most important first; by default all are alike and the first come first.
    gap : float
        Pixels between two texts.
    size, bold : float, bool
        Of the text.
    """
    weights = importance if importance is not None else [0.0] * len(places)
    ranked = sorted(range(len(places)), key=lambda k: (-weights[k], k))
    halves = [(text_width(text, size, bold=bold) + gap) / 2 for text in texts]
    kept = apart(
        (places[k] * length - halves[k], places[k] * length + halves[k], k) for k in ranked
    )
    return tuple(k in kept for k in range(len(places)))


def apart(ranked: Iterable[tuple[float, float, T]]) -> list[T]:
    """Leave out what meets one before: each has two ends, the most important comes first."""
    kept: list[tuple[float, float, T]] = []
    for low, high, what in ranked:
        if all(high <= left or right <= low for left, right, _ in kept):
            kept.append((low, high, what))
    return [what for _, _, what in kept]


def placed(
    wanted: Sequence[Wanted],
    *,
    frame: Box,
    taken: Sequence[Box] = (),
    size: float = SIZE,
    bold: bool = False,
    measure: Callable[[str], float] | None = None,
    distances: Sequence[float] = _DISTANCES,
) -> tuple[Placed | None, ...]:
    """Place texts in a plane, each near its point, within the frame and over nothing else.

    Parameters
    ----------
    wanted : sequence of Wanted
        The most important are placed first; None stands for one that found no room.
    frame : Box
        Where texts may stand.
    taken : sequence of Box
        What they must not cover, such as the marks.
    size, bold : float, bool
        Of the text.
    measure : callable, optional
        What gives a text's width; by default `text_width`.
    distances : sequence of float
        From a place to its text, nearest first.
    """
    measure = measure or partial(text_width, size=size, bold=bold)
    full = list(taken)
    found: list[Placed | None] = [None] * len(wanted)
    for k in sorted(range(len(wanted)), key=lambda k: (-wanted[k].importance, k)):
        for one in _places(wanted[k], size, measure(wanted[k].text), distances):
            if one.box.within(frame) and not any(one.box.meets(other) for other in full):
                full.append(one.box)
                found[k] = one
                break
    return tuple(found)


def _places(label: Wanted, size: float, width: float, distances: Sequence[float]) -> list[Placed]:
    """List where a text may stand: near before far, in the way `away` (else right) before aside."""
    start = 0.0 if label.away is None else math.atan2(label.away[1], label.away[0])
    tall = (_ASCENT + _DESCENT) * size
    found = []
    for distance in distances:
        for turn in range(_ANGLES):
            step = (turn + 1) // 2 * (1 if turn % 2 else -1)  # ever more to both sides
            if label.away is not None and abs(step) > _ASIDE:
                continue
            angle = start + step * 2 * math.pi / _ANGLES
            across, down = math.cos(angle), math.sin(angle)
            # the box's nearest point lies at the distance: sides beside, ends above and below
            centre_y = label.y + down * (distance + tall / 2)
            if across > 0.3:
                anchor: Anchor = "start"
                x = left = label.x + across * distance
            elif across < -0.3:
                anchor = "end"
                x = label.x + across * distance
                left = x - width
            else:
                anchor = "middle"
                x = label.x
                left = x - width / 2
            box = Box(left, centre_y - tall / 2, left + width, centre_y + tall / 2)
            found.append(Placed(label.text, x, box.top + _ASCENT * size, anchor, box))
    return found


def em(sign: str) -> float:
    """Estimate how wide a sign is, in its size."""
    known = _WIDTH_OF.get(sign)
    if known is not None:
        return known
    if unicodedata.combining(sign) or unicodedata.category(sign) == "Cf":
        return 0.0
    return 1.05 if unicodedata.east_asian_width(sign) in "WFA" or ord(sign) > 0x2000 else 0.8
