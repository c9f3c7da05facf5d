"""Names beside two distribution functions, where they meet neither each other nor the curves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ...plots.labels import text_width
from .drawings import Label, Place

__all__ = ["across", "placed_names"]

_PICTURE = 268.0  # pixels of the narrowest picture: print has three in a row
_SPACE = 14.0  # pixels beside a name
_HALF = 0.05  # of the height, half a line of text
_LEFT, _RIGHT = (0.72, 0.9, 0.3), (0.8, 0.62, 0.4, 0.2)
_LINE = 0.13  # of the height, from one line of text to the next


def placed_names(
    ours: Sequence[Place], theirs: Sequence[Place], names: tuple[str, str], style: str
) -> tuple[Label, ...]:
    """Place both names: left of the left curve and right of the right one, where there is room.

    A name that finds none is left out: it stands in the heading, and the colour tells the curves.

    Parameters
    ----------
    ours, theirs : sequence of places
        The corners of both functions; each rises.
    names : (str, str)
        The candidate's and the baseline's, short.
    style : str
        The role of the candidate's colour.
    """
    curves = [tuple(ours), tuple(theirs)]
    whole = list(zip(names, (style, "baseline"), strict=True))
    middles = [sum(across(curve, share) for share in (0.25, 0.5, 0.75)) for curve in curves]
    left, right = (0, 1) if middles[0] <= middles[1] else (1, 0)
    found: list[Label] = []
    for which, sides in ((left, "left between right"), (right, "right between left")):
        other = curves[1 - which]
        for side in sides.split():
            placed = _placed(side, curves[which], other, whole[which], found)
            if placed is not None:
                found.append(placed)
                break
    return tuple(found)


def _placed(
    side: str,
    own: Sequence[Place],
    other: Sequence[Place],
    who: tuple[str, str],
    taken: Sequence[Label],
) -> Label | None:
    """Try one side of a name's own curve: away from the other one, towards it, or beyond both."""
    name, style = who
    needed = _wide(name)
    towards_right = side == "right" or (
        side == "between" and across(own, 0.5) <= across(other, 0.5)
    )
    for share in _RIGHT if towards_right else _LEFT:
        # a curve rises: beside a line of text it is farthest right at the text's upper edge
        if towards_right:
            if side == "between":
                at, room = across(own, share + _HALF), across(other, share - _HALF)
            else:
                at, room = max(across(curve, share + _HALF) for curve in (own, other)), 1.0
            if room - at >= needed and _free(at, needed, share, taken):
                return Label(text=name, at=at, up=share, anchor="start", style=style)
        else:
            if side == "between":
                at, room = across(own, share - _HALF), across(other, share + _HALF)
            else:
                at, room = min(across(curve, share - _HALF) for curve in (own, other)), 0.0
            if at - room >= needed and _free(at - needed, needed, share, taken):
                return Label(text=name, at=at, up=share, anchor="end", style=style)
    return None


def _wide(name: str) -> float:
    """Give the share of the narrowest picture's width that a name takes at most."""
    return (text_width(name, bold=True) + _SPACE) / _PICTURE


def _free(left: float, wide: float, share: float, taken: Sequence[Label]) -> bool:
    """Tell whether a name's place meets none that is taken."""
    for label in taken:
        other_wide = _wide(label.text)
        other = label.at if label.anchor == "start" else label.at - other_wide
        if abs(share - label.up) < _LINE and left < other + other_wide and other < left + wide:
            return False
    return True


def across(curve: Sequence[Place], share: float) -> float:
    """Give where a distribution function reaches a share."""
    place = bisect_left(curve, share, key=lambda corner: corner[1])
    return curve[min(place, len(curve) - 1)][0]
