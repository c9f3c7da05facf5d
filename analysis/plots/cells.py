"""Pictures that fill a cell of a table: as wide and as high as the text beside them makes it.

The rows of a plot that is a table share their background (ticks, margin, the line of no difference):
it is drawn once, in the first picture, and used again by all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from markupsafe import Markup

__all__ = ["again", "cell", "field", "shared", "strokes", "upright"]

_GRAIN = 1000  # units of a nested drawing's width


def cell(marks: Iterable[str], alt: str) -> Markup:
    """Give a picture that fills the cell; y counts from its top, in CSS pixels.

    Parameters
    ----------
    marks : iterable of str
        What the functions here and in `svg` give.
    alt : str
        What the picture shows: its result, in words; "" for one that repeats the text beside it.
    """
    said = f'role="img" aria-label="{escape(alt)}"' if alt else 'aria-hidden="true"'
    return Markup(f'<svg class="plot cell" {said}>{"".join(marks)}</svg>')  # noqa: S704 - as above


def upright(x: float, css: str) -> str:
    """Give a line from the cell's top to its bottom."""
    place = f"{round(100 * x, 2):g}%"
    return f'<line class="{css}" x1="{place}" y1="0" x2="{place}" y2="100%"/>'


def field(x1: float, x2: float, css: str) -> str:
    """Give a filled area from the cell's top to its bottom."""
    left, width = round(100 * x1, 2), round(100 * max(0.0, x2 - x1), 2)
    return f'<rect class="{css}" x="{left:g}%" y="0" width="{width:g}%" height="100%"/>'


def strokes(places: Iterable[float], css: str, *, top: float, height: float) -> str:
    """Give many short upright lines as one path.

    Parameters
    ----------
    places : iterable of float
        Shares of the width; what lies outside of 0 to 1 is drawn at the nearer edge.
    css : str
        Its ``stroke-width`` is theirs.
    top, height : float
        Where they stand, in CSS pixels.
    """
    d = "".join(f"M{round(_GRAIN * min(1.0, max(0.0, x)))} 0v1" for x in places)
    area = f'y="{top:g}" width="100%" height="{height:g}" viewBox="0 0 {_GRAIN} 1"'
    return (
        f'<svg {area} preserveAspectRatio="none"><path class="{css}" d="{d}"/></svg>' if d else ""
    )


def shared(name: str, marks: Iterable[str]) -> str:
    """Give a background that `again` repeats; `name` is an id of the page.

    Style sheets reach the repeated marks by ``.ground`` and their own class, and by nothing outside.
    """
    return f'<g id="{escape(name)}" class="ground">{"".join(marks)}</g>'


def again(name: str) -> str:
    """Repeat a background that another picture of the page holds."""
    return f'<use href="#{escape(name)}"/>'
