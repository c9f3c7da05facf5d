"""Marks of inline SVG, as text: what stretches does so in x only, and text never does.

Places in x are shares of the width (0 to 1), written as percentages; places in y are CSS pixels from
the top. Curves and clouds of dots lie in a nested ``svg`` without a fixed ratio, with strokes that do
not scale. So one markup serves a telephone, a projector and paper. Colours come from the style
sheet: a mark bears the class of its role (``faster``, ``slower``, ``neither``, ``baseline``, ...).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from markupsafe import Markup

__all__ = [
    "band",
    "curve",
    "diamond",
    "dot",
    "dots",
    "label",
    "line",
    "nested",
    "plot",
    "stroke",
    "whole",
]

_GRAIN = 1000  # units of a nested drawing's width
_STRETCHED = f'viewBox="0 0 {_GRAIN} {_GRAIN}" preserveAspectRatio="none"'


def plot(height: float, marks: Iterable[str], alt: str, *, css: str = "") -> Markup:
    """Give a picture as wide as its place.

    Parameters
    ----------
    height : float
        In CSS pixels.
    marks : iterable of str
        What the other functions here give.
    alt : str
        What the picture shows: its result, in words; "" for one that repeats the text beside it.
    css : str
        More classes.
    """
    said = f'role="img" aria-label="{escape(alt)}"' if alt else 'aria-hidden="true"'
    names = f"plot {css}".strip()
    head = f'<svg class="{names}" {said} width="100%" height="{_n(height)}">'
    return Markup(f"{head}{_joined(marks)}</svg>")  # noqa: S704 - each mark escapes its texts


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """Give a straight line."""
    ends = f'x1="{_p(x1)}" y1="{_n(y1)}" x2="{_p(x2)}" y2="{_n(y2)}"'
    return f'<line class="{css}" {ends}/>'


def stroke(x: float, y1: float, y2: float, css: str) -> str:
    """Give an upright line, such as a tick or a session's value."""
    return line(x, y1, x, y2, css)


def band(x1: float, x2: float, y1: float, y2: float, css: str) -> str:
    """Give a filled rectangle, such as the margin."""
    size = f'width="{_p(max(0.0, x2 - x1))}" height="{_n(y2 - y1)}"'
    return f'<rect class="{css}" x="{_p(x1)}" y="{_n(y1)}" {size}/>'


def dot(x: float, y: float, css: str, *, r: float = 4.5, title: str = "") -> str:
    """Give a round mark; the class says whether it is hollow."""
    return f'<circle class="{css}" cx="{_p(x)}" cy="{_n(y)}" r="{_n(r)}">{_title(title)}</circle>'


def diamond(x: float, y: float, css: str, *, r: float = 6.5, title: str = "") -> str:
    """Give the mark of a suite's line."""
    shape = f"M0 {_n(-r)}L{_n(r)} 0L0 {_n(r)}L{_n(-r)} 0Z"
    inner = f'<path class="{css}" d="{shape}">{_title(title)}</path>'
    return f'<svg class="at" x="{_p(x)}" y="{_n(y)}">{inner}</svg>'


def label(x: float, y: float, text: str, css: str, *, anchor: str = "middle", dx: float = 0) -> str:
    """Give a text; it is escaped and has the page's size, whatever the width."""
    more = f' class="{css}"' if css else ""
    more += (f' x="{_p(x)}"' if x else "") + f' y="{_n(y)}"' + (f' dx="{_n(dx)}"' if dx else "")
    more += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f"<text{more}>{escape(text)}</text>"


def dots(
    points: Sequence[tuple[float, float]],
    css: str,
    *,
    top: float,
    height: float,
    left: float = 0.0,
    width: float = 1.0,
    axis: str = "",
) -> str:
    """Give many dots as one path.

    Parameters
    ----------
    points : sequence of (float, float)
        Shares of `width` and of `height`, from the left and from the **bottom**.
    css : str
        Its ``stroke-width`` is the dots' diameter; the line's ends are round.
    top, height : float
        The area in CSS pixels.
    left, width : float
        The area as shares of the picture's width.
    axis : str
        What `read_out` gives of the upright axis: where scripts are on, the value of the dot under
        the pointer is shown.
    """
    place = "".join(f"M{round(x * _GRAIN)} {_y(y)}h0" for x, y in points)
    return nested(
        f'<path class="dots {css}" d="{place}"/>',
        top=top,
        height=height,
        left=left,
        width=width,
        axis=axis,
    )


def curve(
    points: Sequence[tuple[float, float]],
    css: str,
    *,
    top: float,
    height: float,
    left: float = 0.0,
    width: float = 1.0,
    steps: bool = False,
    closed: bool = False,
) -> str:
    """Give a line through points, or the area that they enclose (`closed`); as for `dots`.

    With `steps` each value holds until the next point's x, as in a distribution function.
    """
    if not points:
        return ""
    x0, y0 = points[0]
    d = [f"M{_x(x0)} {_y(y0)}"]
    for x, y in points[1:]:
        d.append(f"H{_x(x)}V{_y(y)}" if steps else f"L{_x(x)} {_y(y)}")
    end = "Z" if closed else ""
    return nested(
        f'<path class="{css}" d="{"".join(d)}{end}"/>',
        top=top,
        height=height,
        left=left,
        width=width,
    )


def nested(
    inner: str, *, top: float, height: float, left: float = 0.0, width: float = 1.0, axis: str = ""
) -> str:
    """Give a drawing that stretches in both directions; `plot` joins neighbours of one place."""
    place = f'x="{_p(left)}" ' if left else ""
    place += f'y="{_n(top)}" ' if top else ""
    place += f'width="{_p(width)}" ' if width != 1 else ""
    place += f'height="{_n(height)}"'
    if axis:
        place += f' data-axis="{escape(axis)}"'
    return f"<svg {place} {_STRETCHED}>{inner}</svg>"


def whole(share: float) -> int:
    """Give a share in the whole units of a nested drawing."""
    return round(share * _GRAIN)


def _joined(marks: Iterable[str]) -> str:
    """Put marks one after the other; nested drawings in the same place become one."""
    found: list[str] = []
    before = ""
    for mark in marks:
        head = mark[: mark.index(">") + 1] if mark.startswith("<svg") else ""
        head = head if _STRETCHED in head else ""
        if head and head == before:
            found[-1] = found[-1].removesuffix("</svg>") + mark[len(head) :]
        elif mark:
            found.append(mark)
            before = head
    return "".join(found)


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _x(share: float) -> str:
    return f"{round(share * _GRAIN)}"


def _y(share: float) -> str:
    return f"{round((1 - share) * _GRAIN)}"


def _p(share: float) -> str:
    return f"{_n(100 * share)}%"


def _n(value: float) -> str:
    """Write a number as briefly as two decimals allow."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
