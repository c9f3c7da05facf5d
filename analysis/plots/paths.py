"""Many marks as one path: hundreds of lines or boxes cost a few bytes each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .svg import nested, whole

__all__ = ["arrow", "boxes", "cross", "segments"]


def segments(
    lines: Iterable[tuple[float, float, float, float]],
    css: str,
    *,
    top: float,
    height: float,
    left: float = 0.0,
    width: float = 1.0,
) -> str:
    """Give straight lines as one path.

    Parameters
    ----------
    lines : iterable of (x1, y1, x2, y2)
        Shares of `width` and of `height`, from the left and from the **bottom**.
    css : str
        The class of the path.
    top, height : float
        The area in CSS pixels.
    left, width : float
        The area as shares of the picture's width.
    """
    found = []
    for x1, y1, x2, y2 in lines:
        a, b, c, d = whole(x1), whole(1 - y1), whole(x2), whole(1 - y2)
        end = f"H{c}" if b == d else f"V{d}" if a == c else f"L{c} {d}"
        found.append(f"M{a} {b}{end}")
    if not found:
        return ""
    return nested(
        f'<path class="{css}" d="{"".join(found)}"/>',
        top=top,
        height=height,
        left=left,
        width=width,
    )


def boxes(spans: Sequence[tuple[float, float]], css: str, *, top: float, height: float) -> str:
    """Give upright boxes of full height, from one share of the width to another, as one path."""
    d = "".join(f"M{whole(a)} 0H{whole(b)}V{whole(1)}H{whole(a)}Z" for a, b in spans)
    return nested(f'<path class="{css}" d="{d}"/>', top=top, height=height)


def cross(x: float, y: float, css: str, *, r: float = 3.5) -> str:
    """Give a cross, such as that of a failed run: x a share of the width, y in CSS pixels."""
    return _at(
        x, y, f'<path class="{css}" d="M{-r:g} {-r:g}L{r:g} {r:g}M{-r:g} {r:g}L{r:g} {-r:g}"/>'
    )


def arrow(x: float, y: float, towards: str, css: str, *, r: float = 4.0) -> str:
    """Give an open arrow, where something leaves the scale ``left``, ``right``, ``up`` or ``down``."""
    shape = {
        "left": f"M{r:g} {-r:g}L0 0L{r:g} {r:g}",
        "right": f"M{-r:g} {-r:g}L0 0L{-r:g} {r:g}",
        "up": f"M{-r:g} {r:g}L0 0L{r:g} {r:g}",
        "down": f"M{-r:g} {-r:g}L0 0L{r:g} {-r:g}",
    }[towards]
    return _at(x, y, f'<path class="{css}" d="{shape}"/>')


def _at(x: float, y: float, inner: str) -> str:
    return f'<svg class="at" x="{100 * x:.2f}%" y="{y:.1f}">{inner}</svg>'
