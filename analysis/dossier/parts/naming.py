"""Names beside two distribution functions, where they meet neither each other nor the curves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from .drawings import Label, Place

__all__ = ["placed_names"]

_ROOM = 0.3  # of the width, which a name may take on a telephone
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
    middles = [sum(_across(curve, share) for share in (0.25, 0.5, 0.75)) for curve in curves]
    left, right = (0, 1) if middles[0] <= middles[1] else (1, 0)
    found: list[Label] = []
    for which, sides in ((left, "left right"), (right, "right left")):
        for side in sides.split():
            placed = _placed(side, curves, whole[which], found)
            if placed is not None:
                found.append(placed)
                break
    return tuple(found)


def _placed(
    side: str, curves: Sequence[Sequence[Place]], who: tuple[str, str], taken: Sequence[Label]
) -> Label | None:
    name, style = who
    for share in _LEFT if side == "left" else _RIGHT:
        if any(abs(share - other.up) < _LINE for other in taken):
            continue
        if side == "left":
            at = min(_across(curve, share - _HALF) for curve in curves)
            if at >= _ROOM:
                return Label(text=name, at=at, up=share, anchor="end", style=style)
        else:
            at = max(_across(curve, share + _HALF) for curve in curves)
            if at <= 1 - _ROOM:
                return Label(text=name, at=at, up=share, anchor="start", style=style)
    return None


def _across(curve: Sequence[Place], share: float) -> float:
    """Give where a distribution function reaches a share."""
    place = bisect_left(curve, share, key=lambda corner: corner[1])
    return curve[min(place, len(curve) - 1)][0]
