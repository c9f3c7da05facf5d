"""Axes of a benchmark's pictures: scales, ticks that keep apart, names that meet no curve."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from ... import plots
from ...plots.labels import apart, text_width
from ...plots.scale import Scale, Tick, quantity_scale, ratio_scale

if TYPE_CHECKING:
    from ...plots.marks import Mark
    from ..runs import Cell, Floats

__all__ = [
    "Area",
    "Grounds",
    "Label",
    "Place",
    "across",
    "bounded_ratios",
    "labels_of",
    "placed_names",
    "row_scales",
    "shares",
    "up_labels",
    "upright_labels",
]

Place = tuple[float, float]  # shares of width and height, from the left and from the bottom
_FAR = 4.0  # variants that differ by more have an axis each, of the same ratio
_ROOM = 1.07
_FARTHEST = 1e100  # a speedup beyond stands at the edge
_SPACE = 7.0  # pixels between two labels
_EDGE = 0.08  # a label so near to an edge stands inside of it
_PICTURE = 268.0  # pixels of the narrowest picture: print has three in a row
_BESIDE = 14.0  # pixels beside a name
_HALF = 0.05  # of the height, half a line of text
_LEFT, _RIGHT = (0.72, 0.9, 0.3), (0.8, 0.62, 0.4, 0.2)
_LINE = 0.13  # of the height, from one line of text to the next


class Area(TypedDict):
    """Where a drawing lies in its picture, in pixels."""

    top: float
    height: float


class Grounds:
    """What many pictures of a page have in common: drawn once, and used again by all others."""

    def __init__(self, anchor: str) -> None:
        self._anchor = anchor
        self._names: dict[tuple[Mark, ...], str] = {}

    def of(self, *marks: Mark) -> Mark:
        """Give marks, or a reference where the same ones were given before."""
        if marks in self._names:
            return plots.again(self._names[marks])
        name = self._names[marks] = f"{self._anchor}-ground-{len(self._names) + 1}"
        return plots.shared(name, marks)


class Label(NamedTuple):
    """A text at a place on an axis, or at a curve; `anchor` says which end of it stands there."""

    text: str
    at: float
    anchor: str = "middle"
    up: float = 0.0
    style: str = ""


_place = attrgetter("at")


def row_scales(cells: Mapping[str, Cell], centres: Mapping[str, float]) -> Mapping[str, Scale]:
    """Give each variant's axis: the same one, or of the same ratio where variants are far apart.

    Linear where a run is 0 or less.
    """
    ends = {name: cell.ends for name, cell in cells.items()}
    lows, highs = zip(*ends.values(), strict=True)
    together = quantity_scale((min(lows), max(highs)), log=min(lows) > 0)
    known = [centre for centre in centres.values() if centre > 0]
    if not together.log or len(known) < 2 or max(known) / min(known) <= _FAR:
        return dict.fromkeys(cells, together)
    half = math.sqrt(max(high / low for low, high in ends.values())) * _ROOM
    middles = {name: math.sqrt(low) * math.sqrt(high) for name, (low, high) in ends.items()}
    return {name: Scale(at / half, at * half, log=True) for name, at in middles.items()}


def shares(values: Floats, scale: Scale) -> Floats:
    """Give the places of many values on an axis, the nearer edge of those outside."""
    low, high = scale.low, scale.high
    if scale.log:
        values, low, high = np.log(values), math.log(low), math.log(high)
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def bounded_ratios(
    points: Sequence[float], ends: Iterable[float], margin: float, steepest: float = 3.0
) -> Scale:
    """Give the log scale of speedups that shows all points; of far ends only a part.

    Where an interval is much wider than the points lie apart, the points would be one: it leaves the
    scale then, at `steepest` times the farthest point's distance from 1, or at 15 %.
    """
    points = [min(max(point, 1 / _FARTHEST), _FARTHEST) for point in points]
    reach = max([0.15, *(steepest * abs(math.log(p)) for p in points)])
    low, high = math.exp(-reach), math.exp(reach)
    return ratio_scale([*points, *(min(max(end, low), high) for end in ends)], margin)


def labels_of(ticks: Sequence[Tick], scale: Scale, room: float = _PICTURE) -> list[Label]:
    """Give the labels of an axis from left to right that keep apart where it has `room` pixels.

    1 stays before all others, then the last, which bears the unit. Near an edge a label stands inside.
    """
    found = []
    for tick in _ranked(ticks, scale):
        at, wide = scale.at(tick.value), (text_width(tick.text) + _SPACE) / room
        anchor = "start" if at < _EDGE else "end" if at > 1 - _EDGE else "middle"
        left = at - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        found.append((left, left + wide, Label(tick.text, at, anchor)))
    return sorted(apart(found), key=_place)


def upright_labels(ticks: Sequence[Tick], scale: Scale, least: float) -> list[Label]:
    """Give the labels of an upright axis that are `least` of its height apart, as `labels_of` does."""
    labels = (Label(tick.text, scale.at(tick.value)) for tick in _ranked(ticks, scale))
    return sorted(apart((label.at, label.at + least, label) for label in labels), key=_place)


def _ranked(ticks: Sequence[Tick], scale: Scale) -> list[Tick]:
    """Put first what must stay."""
    inside = [tick for tick in ticks if scale.holds(tick.value)]
    return sorted(reversed(inside), key=lambda tick: tick.text != "1×")


def up_labels(ticks: Sequence[Label], height: float) -> Iterator[Mark]:
    """Give the marks of an upright axis's labels, left of it."""
    for tick in ticks:
        y = max(10.0, height * (1 - tick.at) + 4)  # below what stands above the row
        yield plots.label(0, y, tick.text, "", anchor="end", dx=-8)


def placed_names(
    ours: Sequence[Place], theirs: Sequence[Place], names: tuple[str, str], style: str
) -> list[Label]:
    """Place both names: left of the left curve and right of the right one, where there is room.

    Both curves rise. A name that finds no room is left out: it stands in the heading, and the colour
    (`style` is the candidate's) tells the curves.
    """
    curves, styles = (ours, theirs), (style, "baseline")
    middles = [sum(across(curve, share) for share in (0.25, 0.5, 0.75)) for curve in curves]
    left, right = (0, 1) if middles[0] <= middles[1] else (1, 0)
    found: list[Label] = []
    for which, sides in ((left, "left between right"), (right, "right between left")):
        tries = (
            _placed(side, curves[which], curves[1 - which], names[which], found)
            for side in sides.split()
        )
        if label := next((label for label in tries if label is not None), None):
            found.append(label._replace(style=styles[which]))
    return found


def _placed(
    side: str, own: Sequence[Place], other: Sequence[Place], name: str, taken: Sequence[Label]
) -> Label | None:
    """Try one side of a name's own curve: away from the other one, towards it, or beyond both."""
    needed = _wide(name)
    between = side == "between"
    right = side == "right" or (between and across(own, 0.5) <= across(other, 0.5))
    # a curve rises: beside a line of text it is farthest right at the text's upper edge
    half = _HALF if right else -_HALF
    for share in _RIGHT if right else _LEFT:
        edge = [across(curve, share + half) for curve in (own, other)]
        if between:
            at, end = edge[0], across(other, share - half)
        else:
            at, end = (max(edge), 1.0) if right else (min(edge), 0.0)
        room = end - at if right else at - end
        if room >= needed and _free(at if right else at - needed, needed, share, taken):
            return Label(name, at, "start" if right else "end", share)
    return None


def _wide(name: str) -> float:
    """Give the share of the narrowest picture's width that a name takes at most."""
    return (text_width(name, bold=True) + _BESIDE) / _PICTURE


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
