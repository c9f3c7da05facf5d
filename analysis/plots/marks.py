"""Marks: what a picture is made of, as small objects that know no colour; and pictures of the page as inline SVG.

Places in x are shares of the picture's width (0 to 1), places in y are pixels (on paper: points) from
its top. Marks of many points lie in an `Area`: their places are shares of it, from its left and from
its **bottom**. Roles (``faster``, ``slower``, ``baseline line``, ...) say how a mark looks: on the
page as classes of the style sheet, on paper by `analysis.plots.axes`.

On the page what stretches does so in x only, and text never: shares of the width are percentages,
curves and clouds of dots lie in a nested ``svg`` without a fixed ratio, with strokes that do not scale.
So one markup serves a telephone, a projector and paper.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from html import escape
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

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
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        ends = f'x1="{_p(self.x1)}" y1="{_n(self.y1)}" x2="{_p(self.x2)}" y2="{_n(self.y2)}"'
        return f'<line class="{self.css}" {ends}/>'


class Rect(NamedTuple):
    """A filled rectangle."""

    x1: float
    x2: float
    y1: float
    y2: float
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        size = f'width="{_p(max(0.0, self.x2 - self.x1))}" height="{_n(self.y2 - self.y1)}"'
        return f'<rect class="{self.css}" x="{_p(self.x1)}" y="{_n(self.y1)}" {size}/>'


class Cross(NamedTuple):
    """A cross, such as that of a failed run; it does not stretch."""

    x: float
    y: float
    css: str

    def svg(self) -> str:
        """Write it for the page."""
        place = f'x="{100 * self.x:.2f}%" y="{self.y:.1f}"'
        d = "M-3.5 -3.5L3.5 3.5M-3.5 3.5L3.5 -3.5"
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
    """Many dots as one path; on paper they have a radius, and a shape of `axes.SHAPES`.

    On the page the style's ``stroke-width`` is their diameter; the value of the dot under the pointer is shown.
    """

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


Mark: TypeAlias = "Line | Rect | Cross | Text | Dots | Curve | Segments | Boxes"


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


# --- Texts in a picture: how wide they are, where they break, and places near marks where none lies over another.
#
# The font that pictures have by default is measured by a table of its advances, so that SVG needs no
# library; any other font is read. What finds no room is left out, never shrunk: greedy by importance, and
# ties go by the order given, so that the same labels give the same picture.


OWN = "DejaVu Sans"
CODES = (*range(32, 127), *range(160, 256), 0x2013, 0x2026, 0x2192, 0x2212)  # the usual letters
_REGULAR = (  # thousandths of the letters' size, three digits each
    "318401460838636950780275390390500838318361318337636636636636636636636636636636337337838838"
    "838531999684686698770632575775752295295656557863748787603787695635611732684989685611685390"
    "337390838500500613635550615635352635634278278579278974634612635635411521392634592818592592"
    "525636337636838318401636636636636337500500999471612838361999500500838401401500636636318500"
    "401471612969969969531684684684684684684974698632632632632295295295295775748787787787787787"
    "838787732732732732611605630613613613613613613982550615615615615278278278278612634612612612"
    "612612838612634634634634592635592"
)
_BOLD = (
    "348456521838696999872306457457523838380415380365696696696696696696696696696696400400838838"
    "838580999774762734830683683821837372372775637995837850733850770720682812774999771724725457"
    "365457838500500675716593716678435716712343343665343999712687716716493595478712652924645652"
    "582712365712838348456696696636696365500500999564646838415999500500838438438500736636380500"
    "438564646999999999580774774774774774774999734683683683683372372372372838837850850850850850"
    "838850812812812812724738719675675675675675675999593678678678678343343343343687712687687687"
    "687687838687712712712712652716652"
)
_MORE = {
    "\N{EN DASH}": 0.5,
    "\N{HORIZONTAL ELLIPSIS}": 1.0,
    "\N{RIGHTWARDS ARROW}": 0.838,
    "\N{MINUS SIGN}": 0.838,
}
_WIDTHS = {
    bold: {chr(code): int(table[3 * k : 3 * k + 3]) / 1000 for k, code in enumerate(CODES[:191])}
    | _MORE
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}


def em(sign: str) -> float:
    """Estimate how wide a sign is, in its size, where no font says it."""
    if unicodedata.combining(sign) or unicodedata.category(sign) == "Cf":
        return 0.0
    return 1.05 if unicodedata.east_asian_width(sign) in "WFA" or ord(sign) > 0x2000 else 0.8


def plain(text: str) -> bool:
    """Whether a text has usual letters only."""
    return all(one in _WIDTHS[False] for one in text)


def wide(text: str, size: float, family: str = OWN, *, bold: bool = False) -> float:
    """Give the width of a text of one line, in the unit of its size."""
    widths = _WIDTHS[bold] if family == OWN else _read(family, bold)
    return size * sum(widths[one] if one in widths else em(one) for one in text)


def broken(
    text: str, room: float, size: float, family: str = OWN, *, bold: bool = False
) -> list[str]:
    """Break a text into lines that fit; a word that is too long stands alone."""
    found: list[str] = []
    for line in text.split("\n"):
        now = ""
        for word in line.split(" "):
            longer = f"{now} {word}" if now else word
            if now and wide(longer, size, family, bold=bold) > room:
                found.append(now)
                longer = word
            now = longer
        found.append(now)
    return found


@lru_cache(maxsize=8)
def _read(family: str, bold: bool) -> dict[str, float]:  # noqa: FBT001 - a key of the cache
    from matplotlib.font_manager import FontProperties, findfont, get_font

    weight = "bold" if bold else "normal"
    font: Any = get_font(findfont(FontProperties(family=[family], weight=weight)))
    font.set_size(1000, 72)
    known = font.get_charmap()
    return {
        chr(code): font.load_char(code).linearHoriAdvance / 65536 / 1000
        for code in known
        if code < 0x2500
    }


T = TypeVar("T")
Anchor = Literal["start", "middle", "end"]

_ASCENT, _DESCENT = 0.93, 0.25  # of the size, above and below the baseline
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
    size: float,
    measure: Callable[[str], float],
    distances: Sequence[float],
) -> tuple[Placed | None, ...]:
    """Place texts in a plane, each near its point, within the frame and over nothing else.

    The most important are placed first; None stands for one that found no room. `taken`: What they
    must not cover, such as the marks. `measure`: What gives a text's width. `distances`: From a
    place to its text, nearest first.
    """
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
            # the box's nearest point lies at the distance: sides left and right, ends above and below
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
