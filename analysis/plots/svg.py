"""Pictures of the page: marks as inline SVG, of which what stretches does so in x only, and text never.

Shares of the width are written as percentages. Curves and clouds of dots lie in a nested ``svg``
without a fixed ratio, with strokes that do not scale. So one markup serves a telephone, a projector
and paper; a picture in a table's cell is as wide and as high as the text beside it makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from .marks import (
    Again,
    Area,
    Boxes,
    Circle,
    Curve,
    Dots,
    Line,
    Mark,
    Rect,
    Segments,
    Shape,
    Shared,
    Strokes,
    Text,
    label,
    stroke,
)
from .scale import Scale

__all__ = ["cell", "plot", "ticks_below"]

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


def cell(marks: Iterable[Mark], alt: str) -> Markup:
    """Give a picture that fills a cell of a table; y counts from its top.

    The rows of a plot that is a table share their background (ticks, margin, the line of no
    difference): it is drawn once, by `shared`, and used by all others, by `again`.
    """
    return Markup(f'<svg class="plot cell" {_said(alt)}>{_joined(marks)}</svg>')  # noqa: S704 - as above


def ticks_below(scale: Scale, ticks: Iterable[tuple[float, str]]) -> Markup:
    """Draw the axis of rows that share one scale, below them: each tick is a value and its text."""
    marks: list[Mark] = []
    for value, text in ticks:
        x = scale.at(value)
        marks += [stroke(x, 0, 4, "one"), label(x, 16, text, "")]
    return plot(20, marks, "")


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


def _curve(mark: Curve) -> str | None:
    if not mark.points:
        return None
    steps = _steps(mark.points)
    each = "h%dv%d" if mark.steps else "l%d %d"
    return _written("M%d %d", steps[:1]) + _written(each, steps[1:]) + ("Z" if mark.closed else "")


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
    head = f'<rect class="{mark.css}" x="{_p(mark.x1)}" y="{_n(mark.y1)}" {size}'
    return f"{head}>{_title(mark.title)}</rect>" if mark.title else f"{head}/>"


def _circle(mark: Circle) -> str:
    place = f'cx="{_p(mark.x)}" cy="{_n(mark.y)}" r="{_n(mark.r)}"'
    return f'<circle class="{mark.css}" {place}>{_title(mark.title)}</circle>'


def _shape(mark: Shape) -> str:
    d = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in one) for one in mark.lines)
    if mark.closed:
        inner = f'<path class="{mark.css}" d="{d}Z">{_title(mark.title)}</path>'
        return f'<svg class="at" x="{_p(mark.x)}" y="{_n(mark.y)}">{inner}</svg>'
    place = f'x="{100 * mark.x:.2f}%" y="{mark.y:.1f}"'
    return f'<svg class="at" {place}><path class="{mark.css}" d="{d}"/></svg>'


def _text(mark: Text) -> str:
    more = f' class="{mark.css}"' if mark.css else ""
    more += (f' x="{_p(mark.x)}"' if mark.x else "") + f' y="{_n(mark.y)}"'
    more += f' dx="{_n(mark.dx)}"' if mark.dx else ""
    more += f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    lead = f'<tspan class="{mark.lead_css}">{escape(mark.lead)}</tspan>' if mark.lead else ""
    return f"<text{more}>{lead}{escape(mark.text)}</text>"


def _strokes(mark: Strokes) -> str:
    if not mark.places:
        return ""
    d = "".join(f"M{_whole(min(1.0, max(0.0, x)))} 0v1" for x in mark.places)
    size = f'y="{mark.area.top:g}" width="100%" height="{mark.area.height:g}"'
    head = f'<svg {size} viewBox="0 0 {_GRAIN} 1" preserveAspectRatio="none">'
    return f'{head}<path class="{mark.css}" d="{d}"/></svg>'


def _shared(mark: Shared) -> str:
    return f'<g id="{escape(mark.name)}" class="ground">{_joined(mark.marks)}</g>'


def _again(mark: Again) -> str:
    return f'<use href="#{escape(mark.name)}"/>'


_PATHS: dict[type, Callable[[Any], str | None]] = {
    Dots: _dots,
    Curve: _curve,
    Segments: _segments,
    Boxes: _boxes,
}
_MARKS: dict[type, Callable[[Any], str]] = {
    Line: _line,
    Rect: _rect,
    Circle: _circle,
    Shape: _shape,
    Text: _text,
    Strokes: _strokes,
    Shared: _shared,
    Again: _again,
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


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _p(share: float) -> str:
    return f"{_n(100 * share)}%"


def _n(value: float) -> str:
    """Write a number as briefly as two decimals allow."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
