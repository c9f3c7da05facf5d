"""Texts in a picture: how wide they are, where they break, and places near marks where none lies over another.

The font that pictures have by default is measured by a table of its advances, so that SVG needs no
library; any other font is read. What finds no room is left out, never shrunk: greedy by importance, and
ties go by the order given, so that the same labels give the same picture.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

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
