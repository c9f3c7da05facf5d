"""The picture of one benchmark: a dot a night, the levels between changes, what is shaded and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..plots.axes import Scale, Tick, quantity_ticks, ratio_ticks, read_out
from ..plots.labels import RowLabel, in_rows
from ..plots.marks import Mark, band, boxes, dots, label, line, segments, stroke
from ..plots.svg import plot

if TYPE_CHECKING:
    from markupsafe import Markup

    from .history import Places

__all__ = ["HEIGHT", "Level", "Part", "Shade", "Strip", "beyond", "picture", "scale_of", "ticks_of"]

HEIGHT = 104.0  # CSS pixels of the panel
_HEAD, _FOOT = 18.0, 20.0  # above it: what changed; below it: days
_LANE = 13.0  # of changes of the host
_BAR = 5.0
_EDGE = 5.0  # of a stroke that stands for a value beyond the scale
_APART = 20.0  # CSS pixels between two ticks
_FAR = 12.0  # times the usual distance from its level, above which a night is an outlier
_ROOM = 1.2
_LEAST = math.log(1.01)  # of the scale, above and below its middle
_WIDE = 4.0  # ends of a scale so far apart are told as multiples
_DAYS = 6  # that are written at most
_NAME = 16  # characters of what stands for a day
_NONE = {"same", "1×"}

Floats = NDArray[np.float64]


class _Width(NamedTuple):
    """A set of labels, of which the style sheet shows one: for the least width, in CSS pixels."""

    css: str
    width: float


_SETS = (_Width("history-broad", 590.0), _Width("history-narrow", 218.0))


class Shade(NamedTuple):
    """Nights that hold a change: its ends and its best place, as places of the axis."""

    first: int
    last: int
    best: float | None
    css: str  # faster, slower or neither
    text: str


class Level(NamedTuple):
    """The mean of a segment: from a place to a place."""

    first: int
    last: int
    value: float


class Part(NamedTuple):
    """A series: nights that can be compared with each other; a benchmark may have several."""

    values: Sequence[tuple[int, float]]  # a place and the ratio, or the value, of each night
    levels: Sequence[Level]
    shades: Sequence[Shade]
    hosts: Sequence[tuple[int, int]]  # nights that hold a change of the host
    ended: str  # why it ended; "" for the newest


class Strip(NamedTuple):
    """What is drawn of one benchmark."""

    parts: Sequence[Part]
    places: Places
    records: Sequence[int]  # places at which the record of the host differs from the one before
    unit: str  # of the values; "" where they are ratios to the baseline
    alt: str


def picture(strip: Strip) -> Markup:
    """Draw a strip as wide as its place."""
    scale = scale_of(strip)
    top, bottom = _HEAD, _HEAD + HEIGHT
    lane = _LANE if strip.records or any(part.hosts for part in strip.parts) else 0.0
    marks: list[Mark] = [band(0, 1, top, bottom, "panel")]
    marks += _missing(strip.places, top, bottom)
    marks += _shades(strip, top, bottom)
    marks += _axis(strip, scale, top)
    marks += _ends(strip, top, bottom)
    marks += _nights(strip, scale, top)
    marks += _levels(strip, scale, top)
    marks += _hosts(strip, bottom + 4)
    marks += _heads(strip)
    marks += _days(strip.places, bottom + lane + 15)
    return plot(bottom + lane + _FOOT, marks, strip.alt, css="history-plot")


def scale_of(strip: Strip) -> Scale:
    """Give the upright scale: all levels are on it, and all nights that are no outliers of theirs."""
    logs, away = _logs(strip)
    if not logs.size:
        return Scale(0.95, 1.05, log=True)
    usual = float(np.median(away))
    near = logs[away <= _FAR * usual] if usual else logs
    levels = [math.log(level.value) for part in strip.parts for level in part.levels]
    low, high = min([*near.tolist(), *levels]), max([*near.tolist(), *levels])
    middle, half = (low + high) / 2, max((high - low) / 2 * _ROOM, _LEAST)
    return Scale(math.exp(middle - half), math.exp(middle + half), log=True)


def _logs(strip: Strip) -> tuple[Floats, Floats]:
    """Give the nights' logarithms, and how far each is from the level of its segment."""
    logs, away = [], []
    for part in strip.parts:
        own = [math.log(value) for _, value in part.values]
        middle = float(np.median(own)) if own else 0.0
        level_at = {
            place: math.log(level.value)
            for level in part.levels
            for place in range(level.first, level.last + 1)
        }
        logs += own
        away += [
            abs(log - level_at.get(place, middle))
            for (place, _), log in zip(part.values, own, strict=True)
        ]
    return np.array(logs), np.array(away)


def beyond(strip: Strip) -> int:
    """Count the nights whose values lie beyond the scale; a stroke stands for each at its edge."""
    scale = scale_of(strip)
    return sum(not scale.holds(value) for part in strip.parts for _, value in part.values)


# --- the axis


def ticks_of(scale: Scale, unit: str) -> list[tuple[float, str]]:
    """Give ticks with room between them, each its share of the height and its text.

    Ratios to the baseline are told in per cent of it, and where the scale is wide as multiples.
    """
    found: Sequence[Tick]
    if unit:
        found = quantity_ticks(scale, unit, 4)
    elif scale.high > _WIDE * scale.low:
        found = ratio_ticks(scale)
    else:
        percents = quantity_ticks(Scale(100 * (scale.low - 1), 100 * (scale.high - 1)), "1", 4)
        found = [Tick(1 + tick.value / 100, _percent(tick.value)) for tick in percents]
    # the baseline's own line goes before all others
    ranked = sorted(found, key=lambda tick: tick.value != 1.0)
    kept: list[tuple[float, str]] = []
    for tick in ranked:
        at = scale.at(tick.value)
        if all(abs(at - other) * HEIGHT >= _APART for other, _ in kept) and 0.02 < at < 0.98:
            kept.append((at, tick.text))
    return sorted(kept)


def _percent(value: float) -> str:
    if value == 0:
        return "same"
    return f"{value:+g}\u00a0%".replace("-", "\u2212")


def _axis(strip: Strip, scale: Scale, top: float) -> Iterator[Mark]:
    for at, text in ticks_of(scale, strip.unit):
        y = top + (1 - at) * HEIGHT
        yield line(0, y, 1, y, "one" if text in _NONE else "grid")
        yield label(0, y + 4, text, "", anchor="end", dx=-6)


def _days(places: Places, y: float) -> Iterator[Mark]:
    """Write days below their places: the last, the first, and between them where a month begins."""
    count = len(places)
    if not count:
        return
    known = [0, *(k for k in range(1, count - 1) if places.months[k])]
    begins = [b for a, b in pairwise(known) if places.months[b] != places.months[a]]
    for one in _SETS:
        most = _DAYS if one.width > 400 else 3
        inner = begins[:: max(1, math.ceil(len(begins) / max(1, most - 2)))]
        wanted = [
            RowLabel(places.at(k), places.names[k][:_NAME])
            for k in dict.fromkeys((count - 1, 0, *inner))
        ]
        for each in in_rows(wanted, one.width, right=8.0, left=8.0):
            yield label(each.label.at, y, each.label.text, one.css, anchor=each.anchor)


def _missing(places: Places, top: float, bottom: float) -> Iterator[Mark]:
    """Leave the panel open where nights are missing."""
    half = 0.5 / max(1, len(places))
    spans: list[tuple[float, float]] = []
    for place in places.missing:
        left, right = places.at(place) - half, places.at(place) + half
        if spans and left - spans[-1][1] < half / 2:
            left, _ = spans.pop()
        spans.append((left, right))
    if spans:
        yield boxes(spans, "history-missing", top=top, height=bottom - top)


# --- what was found


def _shades(strip: Strip, top: float, bottom: float) -> Iterator[Mark]:
    at = strip.places.at
    for part in strip.parts:
        for one in part.shades:
            yield band(at(one.first), at(one.last), top, bottom, f"history-{one.css}")
            if one.best is not None:
                yield stroke(at(one.best), top - 3, bottom, "history-best")


def _heads(strip: Strip) -> Iterator[Mark]:
    """Say above the panel what changed, and where a series ends; what has no room is left out."""
    wanted = []
    for part in strip.parts:
        for one in part.shades:
            where = one.best if one.best is not None else (one.first + one.last) / 2
            wanted.append((RowLabel(strip.places.at(where), one.text, dx=3.0, bold=True), one.css))
    for x, why in _borders(strip):
        wanted.append((RowLabel(x, why, dx=3.0), "second"))
    css = {id(each): look for each, look in wanted}
    for width in _SETS:
        for each in in_rows([one for one, _ in wanted], width.width, left=40.0, right=8.0):
            dx = -each.label.dx if each.anchor == "end" else each.label.dx
            look = f"{width.css} history-said {css[id(each.label)]}"
            yield label(each.label.at, 12, each.label.text, look, anchor=each.anchor, dx=dx)


def _borders(strip: Strip) -> Iterator[tuple[float, str]]:
    """Give where one series ends and the next begins, and why."""
    for before, after in pairwise(strip.parts):
        last = before.values[-1][0] if before.values else 0
        first = after.values[0][0] if after.values else last
        yield strip.places.at((last + first) / 2), before.ended


def _ends(strip: Strip, top: float, bottom: float) -> Iterator[Mark]:
    for x, _ in _borders(strip):
        yield stroke(x, top - 6, bottom + 6, "history-end")


def _nights(strip: Strip, scale: Scale, top: float) -> Iterator[Mark]:
    axis = read_out(scale, strip.unit or "\u00d7")
    points, far = [], []
    for part in strip.parts:
        for place, value in part.values:
            x, y = strip.places.at(place), scale.at(value)
            if 0 <= y <= 1:
                points.append((x, y))
            else:
                far.append((x, y))
    if points:
        yield dots(points, "history-night", axis=axis, top=top, height=HEIGHT)
    for x, y in far:
        edge, end = (top, -_EDGE) if y > 1 else (top + HEIGHT, _EDGE)
        yield stroke(x, edge, edge + end, "history-beyond")


def _levels(strip: Strip, scale: Scale, top: float) -> Iterator[Mark]:
    half = 0.5 / max(1, len(strip.places))
    lines = [
        (
            strip.places.at(one.first) - half,
            scale.clipped(one.value),
            strip.places.at(one.last) + half,
            scale.clipped(one.value),
        )
        for part in strip.parts
        for one in part.levels
    ]
    if lines:
        yield segments(lines, "history-level", top=top, height=HEIGHT)


def _hosts(strip: Strip, y: float) -> Iterator[Mark]:
    found = [span for part in strip.parts for span in part.hosts]
    for first, last in found:
        yield band(strip.places.at(first), strip.places.at(last), y, y + _BAR, "history-host")
    for place in strip.records:
        yield stroke(strip.places.at(place - 0.5), y - 2, y + _BAR + 2, "history-record")
    if found or strip.records:
        yield label(0, y + 7, "host", "", anchor="end", dx=-6)
