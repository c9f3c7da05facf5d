"""Pictures of the page: marks as inline SVG, of which what stretches does so in x only, and text never.

Shares of the width are written as percentages. Curves and clouds of dots lie in a nested ``svg``
without a fixed ratio, with strokes that do not scale. So one markup serves a telephone, a projector
and paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from .labels import em
from .marks import Area, Boxes, Dots, Line, Mark, Rect, Segments, Shape, Text

__all__ = ["CODES", "OWN", "broken", "plain", "plot", "wide"]

# --- How wide texts are in a picture of a paper, and where they break into lines.
#
# The font that pictures have by default is measured by a table of its advances, so that SVG needs no
# library; any other font is read.


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


_GRAIN = 1000  # units of a nested drawing's width and height


def plot(height: float, marks: Iterable[Mark], alt: str, *, css: str = "") -> Markup:
    """Give a picture as wide as its place.

    Parameters
    ----------
    height : float
        In CSS pixels.
    marks : iterable of Mark
    alt : str
        What the picture shows: its result, in words; "" for one that repeats the text beside it.
    css : str
        More classes.
    """
    head = f'class="{f"plot {css}".strip()}" {_said(alt)} width="100%" height="{_n(height)}"'
    return Markup(f"<svg {head}>{_joined(marks)}</svg>")  # noqa: S704 - each mark escapes its texts


def _said(alt: str) -> str:
    return f'role="img" aria-label="{escape(alt)}"' if alt else 'aria-hidden="true"'


def _joined(marks: Iterable[Mark]) -> str:
    """Write marks one after the other; neighbours of many points in one area share a drawing."""
    found: list[str] = []
    open_area: Area | None = None
    for mark in marks:
        path = _PATHS.get(type(mark))
        if path is None:
            found += [*(["</svg>"] if open_area else []), _MARKS[type(mark)](mark)]
            open_area = None
        elif (d := path(mark)) is not None:
            area, css = mark.area, mark.css  # type: ignore[union-attr]
            if area != open_area:
                found += [*(["</svg>"] if open_area else []), _nested(area)]
                open_area = area
            found.append(f'<path class="{"dots " if type(mark) is Dots else ""}{css}" d="{d}"/>')
    if open_area:
        found.append("</svg>")
    return "".join(found)


def _nested(area: Area) -> str:
    place = f'x="{_p(area.left)}" ' if area.left else ""
    place += f'y="{_n(area.top)}" ' if area.top else ""
    place += f'width="{_p(area.width)}" ' if area.width != 1 else ""
    place += f'height="{_n(area.height)}"'
    place += f' data-axis="{escape(area.axis)}"' if area.axis else ""
    return f'<svg {place} viewBox="0 0 {_GRAIN} {_GRAIN}" preserveAspectRatio="none">'


def _dots(mark: Dots) -> str:
    return _written("m%d %dh0", _steps(mark.points))


def _segments(mark: Segments) -> str | None:
    found = []
    for x1, y1, x2, y2 in mark.lines:
        a, b, c, d = _whole(x1), _whole(1 - y1), _whole(x2), _whole(1 - y2)
        found.append(
            f"M{a} {b}H{c}" if b == d else f"M{a} {b}V{d}" if a == c else f"M{a} {b}L{c} {d}"
        )
    return "".join(found) or None


def _boxes(mark: Boxes) -> str:
    spans = ((_whole(a), _whole(b)) for a, b in mark.spans)
    return "".join(f"M{a} 0H{b}V{_GRAIN}H{a}Z" for a, b in spans)


def _line(mark: Line) -> str:
    bottom = "100%" if mark.y2 is None else _n(mark.y2)
    ends = f'x1="{_p(mark.x1)}" y1="{_n(mark.y1)}" x2="{_p(mark.x2)}" y2="{bottom}"'
    return f'<line class="{mark.css}" {ends}/>'


def _rect(mark: Rect) -> str:
    height = "100%" if mark.y2 is None else _n(mark.y2 - mark.y1)
    size = f'width="{_p(max(0.0, mark.x2 - mark.x1))}" height="{height}"'
    return f'<rect class="{mark.css}" x="{_p(mark.x1)}" y="{_n(mark.y1)}" {size}/>'


def _shape(mark: Shape) -> str:
    d = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in one) for one in mark.lines)
    place = f'x="{100 * mark.x:.2f}%" y="{mark.y:.1f}"'
    return f'<svg class="at" {place}><path class="{mark.css}" d="{d}"/></svg>'


def _text(mark: Text) -> str:
    more = f' class="{mark.css}"' if mark.css else ""
    more += (f' x="{_p(mark.x)}"' if mark.x else "") + f' y="{_n(mark.y)}"'
    more += f' dx="{_n(mark.dx)}"' if mark.dx else ""
    more += f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    return f"<text{more}>{escape(mark.text)}</text>"


_PATHS: dict[type, Callable[[Any], str | None]] = {
    Dots: _dots,
    Segments: _segments,
    Boxes: _boxes,
}
_MARKS: dict[type, Callable[[Any], str]] = {
    Line: _line,
    Rect: _rect,
    Shape: _shape,
    Text: _text,
}


def _steps(points: Sequence[tuple[float, float]]) -> NDArray[np.int64]:
    """Give the way from each point to the next, in a nested drawing's units; the first from 0."""
    places = np.array(points, dtype=float).reshape(-1, 2)
    places[:, 1] = 1 - places[:, 1]
    units: NDArray[np.int64] = np.rint(places * _GRAIN).astype(np.int64)
    units[1:] -= units[:-1].copy()
    return units


def _written(each: str, steps: NDArray[np.int64]) -> str:
    """Write steps, which have fewer digits than places, in one go: there may be 100,000."""
    return (each * len(steps) % tuple(steps.ravel().tolist())).replace(" -", "-")


def _whole(share: float) -> int:
    return round(share * _GRAIN)


def _p(share: float) -> str:
    return f"{_n(100 * share)}%"


def _n(value: float) -> str:
    """Write a number as briefly as two decimals allow."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
