"""Axes of the pictures of a part: scales, and ticks that keep apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...plots.labels import text_width
from ...plots.scale import Scale, Tick, quantity_scale, ratio_scale
from .drawings import Label

if TYPE_CHECKING:
    from .cells import Cell

__all__ = ["bounded_ratios", "labels_of", "row_scales", "upright_labels"]

_FAR = 4.0  # variants that differ by more have an axis each, of the same ratio
_ROOM = 1.07
_FARTHEST = 1e100  # a speedup beyond stands at the edge
_SPACE = 7.0  # pixels between two labels
_EDGE = 0.08  # a label so near to an edge stands inside of it


def row_scales(cells: Mapping[str, Cell], centres: Mapping[str, float]) -> Mapping[str, Scale]:
    """Give each variant's axis: the same one, or of the same ratio where variants are far apart.

    Linear where a run is 0 or less.
    """
    ends = {name: (float(c.values.min()), float(c.values.max())) for name, c in cells.items()}
    lows, highs = zip(*ends.values(), strict=True)
    together = quantity_scale((min(lows), max(highs)), log=min(lows) > 0)
    known = [centre for centre in centres.values() if centre > 0]
    if not together.log or len(known) < 2 or max(known) / min(known) <= _FAR:
        return dict.fromkeys(cells, together)
    half = math.sqrt(max(high / low for low, high in ends.values())) * _ROOM
    return {
        name: Scale(middle / half, middle * half, log=True)
        for name, (low, high) in ends.items()
        for middle in (math.sqrt(low) * math.sqrt(high),)
    }


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
    kept = [min(max(end, low), high) for end in ends]
    return ratio_scale([*points, *kept], margin)


def labels_of(ticks: Sequence[Tick], scale: Scale, room: float) -> tuple[Label, ...]:
    """Give the labels of an axis from left to right that keep apart.

    1 stays before all others, then the last, which bears the unit. Near an edge a label stands inside.

    Parameters
    ----------
    ticks : sequence of Tick
        What there is to label.
    scale : Scale
        The axis.
    room : float
        The pixels of the narrowest picture.
    """
    inside = [tick for tick in ticks if scale.holds(tick.value)]
    ranked = sorted(reversed(inside), key=lambda tick: tick.text != "1×")
    kept: list[tuple[float, float, float, Label]] = []
    for tick in ranked:
        at, wide = scale.at(tick.value), (text_width(tick.text) + _SPACE) / room
        anchor, left = "middle", at - wide / 2
        if at < _EDGE:
            anchor, left = "start", at
        elif at > 1 - _EDGE:
            anchor, left = "end", at - wide
        if all(left >= end or left + wide <= start for start, end, _, _ in kept):
            label = Label(text=tick.text, at=at, anchor=anchor, minor=tick.minor)
            kept.append((left, left + wide, at, label))
    return tuple(label for _, _, _, label in sorted(kept, key=lambda one: one[2]))


def upright_labels(ticks: Sequence[Tick], scale: Scale, least: float) -> tuple[Label, ...]:
    """Give the labels of an upright axis that are `least` of its height apart, as `labels_of` does."""
    inside = [tick for tick in ticks if scale.holds(tick.value)]
    kept: list[Label] = []
    for tick in sorted(reversed(inside), key=lambda tick: tick.text != "1×"):
        at = scale.at(tick.value)
        if all(abs(at - other.at) >= least for other in kept):
            kept.append(Label(text=tick.text, at=at, minor=tick.minor))
    return tuple(sorted(kept, key=lambda label: label.at))
