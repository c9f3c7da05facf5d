"""Axes of the pictures of a part: scales, and ticks that keep apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ...plots import Scale, Tick, quantity_scale, quantity_ticks, ratio_scale
from .cells import Cell
from .drawings import Label

__all__ = ["apart", "bounded_ratios", "labels_of", "quantity_labels", "row_scales"]

_FAR = 4.0  # variants that differ by more have an axis each, of the same ratio
_ROOM = 1.07
_FARTHEST = 1e100  # a speedup beyond stands at the edge
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


def apart(ticks: Sequence[Tick], scale: Scale, least: float) -> list[Tick]:
    """Leave out ticks that stand closer than `least`: 1 stays, and the last, which bears the unit."""
    if not ticks:
        return []
    first = next((t for t in ticks if t.text == "1×"), ticks[-1])
    kept = [first]
    for tick in reversed(ticks):
        if all(abs(scale.at(tick.value) - scale.at(other.value)) >= least for other in kept):
            kept.append(tick)
    return sorted(kept, key=lambda tick: tick.value)


def labels_of(
    ticks: Sequence[Tick], scale: Scale, least: float, *, flat: bool = True
) -> tuple[Label, ...]:
    """Give the labels of an axis, `flat` for one from left to right."""
    found = []
    for tick in apart([t for t in ticks if scale.holds(t.value)], scale, least):
        at = scale.at(tick.value)
        anchor = "middle"
        if flat and at < _EDGE:
            anchor = "start"
        elif flat and at > 1 - _EDGE:
            anchor = "end"
        found.append(Label(text=tick.text, at=at, anchor=anchor, minor=tick.minor))
    return tuple(found)


def quantity_labels(
    scale: Scale, unit: str, least: float, *, most: int = 5, flat: bool = True
) -> tuple[Label, ...]:
    """Give the labels of an axis of measured values."""
    return labels_of(quantity_ticks(scale, unit, most), scale, least, flat=flat)
