"""Texts beside marks that never lie over each other: what finds no room is left out, never shrunk.

Everything is greedy by importance, and ties go by the order given: the same labels, the same picture.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

__all__ = [
    "Box",
    "Placed",
    "Wanted",
    "apart",
    "em",
    "placed",
]

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

    Parameters
    ----------
    wanted : sequence of Wanted
        The most important are placed first; None stands for one that found no room.
    frame : Box
        Where texts may stand.
    taken : sequence of Box
        What they must not cover, such as the marks.
    size : float
        Of the text.
    measure : callable
        What gives a text's width.
    distances : sequence of float
        From a place to its text, nearest first.
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
    """Estimate how wide a sign is of which no font says it, in its size."""
    if unicodedata.combining(sign) or unicodedata.category(sign) == "Cf":
        return 0.0
    return 1.05 if unicodedata.east_asian_width(sign) in "WFA" or ord(sign) > 0x2000 else 0.8
