"""The pictures of the first screen: the cells of the forest, its axis, the key."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ... import plots
from ...methods.multilevel.result import BenchmarkLine, Line
from ...pages.number_format import said

__all__ = ["axis", "axis_of", "cell", "key"]

_BEYOND = 3.0  # usual half-widths that an interval may reach beyond all estimates
_SHARE = 0.6  # and the share of the estimates' range that it may always
_ROOM = 0.25  # share of the axis beside 1 from which on its word stands there
_TICKS = 4
_TALL, _DENSE = (16.0, 23.0, 6.0), (9.0, 15.0, 4.0)  # y of the line, top and height of the strokes
_KEY = (7.0, 13.0, 6.0)  # the same in a line of text
_BIN = (3.0, 14.0)
_WIDTHS = (80, 112, 150, 200, 280)  # of an axis in CSS pixels, as in the style sheet
_LETTER, _GAP = 7.0, 5.0  # of a tick's number, in CSS pixels
_STROKES = (0.24, 0.33, 0.44, 0.5, 0.58, 0.86)  # of the key
Entry = Mapping[str, Any]  # a row or a bin of the forest, or an axis


def axis_of(lines: Sequence[Line], margin: float, *, timed: bool) -> dict[str, Any]:
    """Give the axis that holds all estimates, 1 with its margin, and the usual interval.

    An interval much wider than the others leaves the scale: otherwise the others could not be seen.

    Parameters
    ----------
    lines : sequence of Line
        All lines of the column.
    margin : float
        The largest speedup less 1 that counts as equivalent.
    timed : bool
        Whether better is said as faster.
    """
    logs = [math.log(line.speedup) for line in lines if line.speedup is not None]
    band = math.log1p(max(margin, 0.005))
    low, high = min([*logs, -band]), max([*logs, band])
    halves = [
        math.log(line.high / line.low) / 2
        for line in lines
        if line.low is not None and line.high is not None and line.low > 0
    ]
    usual = statistics.median(halves) if halves else 0.0
    beyond = max(_BEYOND * usual, _SHARE * (high - low))
    wide = [
        min(max(math.log(value), low - beyond), high + beyond)
        for line in lines
        for value in _reach(line)
        if value > 0
    ]
    scale = plots.ratio_scale([math.exp(value) for value in (*logs, *wide)], margin)
    one = scale.at(1.0)
    return {
        "scale": scale,
        "ticks": plots.ratio_ticks(scale, _TICKS),
        "margin": (1 / (1 + margin), 1 + margin),
        "slower": said("slower", timed=timed) if one > _ROOM else "",
        "faster": said("faster", timed=timed) if one < 1 - _ROOM else "",
    }


def _reach(line: Line) -> list[float]:
    ends = [end for end in (line.low, line.high) if end is not None]
    if isinstance(line, BenchmarkLine):
        ends += [math.exp(difference) for difference in line.differences]
    return ends


def cell(column: Entry, number: int, entry: Entry, *, dense: bool) -> Markup:
    """Give the picture of a line; the first of a column holds the background of all.

    Parameters
    ----------
    column : mapping
        Its axis is known.
    number : int
        The line's place in the column, from 0.
    entry : mapping
        The line: a row or a bin.
    dense : bool
        Whether a line has one row of text.
    """
    name, axis = f"{column['anchor']}-ground", column["axis"]
    ground = plots.again(name) if number else plots.shared(name, _ground(axis))
    marks = _bin(entry, axis) if "counts" in entry else _row(entry, axis, dense=dense)
    return plots.cell([ground, *marks], _alt(column, entry))


def axis(column: Entry) -> Markup:
    """Give the axis below the lines: ticks, numbers, and which side is faster."""
    axis = column["axis"]
    one = axis["scale"].at(1.0)
    marks: list[plots.Mark] = []
    for tick, css in _labelled(axis):
        x = axis["scale"].at(tick.value)
        marks += [plots.stroke(x, 0, 4, "one"), plots.label(x, 16, tick.text, css)]
    if axis["slower"]:
        marks.append(plots.label(one, 31, f"{axis['slower']} ◂", "side", anchor="end", dx=-8))
    if axis["faster"]:
        marks.append(plots.label(one, 31, f"▸ {axis['faster']}", "side", anchor="start", dx=8))
    return plots.plot(36, marks, "")


def _labelled(axis: Entry) -> Iterator[tuple[plots.Tick, str]]:
    """Give each tick the class of the least width at which its number touches no other.

    1 has its number always; then come those farthest from it.
    """
    scale = axis["scale"]
    one = scale.at(1.0)
    placed: list[tuple[float, int]] = []
    for tick in sorted(
        axis["ticks"], key=lambda t: (t.value != 1.0, -abs(scale.at(t.value) - one))
    ):
        place, length = scale.at(tick.value), len(tick.text)
        needed = [
            (_LETTER * (length + other) / 2 + _GAP) / max(abs(place - at), 1e-9)
            for at, other in placed
        ]
        placed.append((place, length))
        step = sum(width < max(needed, default=0.0) for width in _WIDTHS)
        yield tick, f"tick-{step}" if step else "tick"


def key(*, strokes: bool) -> Markup:
    """Give a mark as they are drawn, for the sentence that explains it."""
    y, top, height = _KEY
    marks: list[plots.Mark] = [
        plots.line(0.0, y, 1.0, y, "interval neither"),
        plots.dot(0.5, y, "neither ringed"),
    ]
    if strokes:
        marks.append(plots.strokes(_STROKES, "session neither", top=top, height=height))
    return plots.plot(20, marks, "", css="key")


def _ground(axis: Entry) -> list[plots.Mark]:
    scale = axis["scale"]
    low, high = (scale.at(end) for end in axis["margin"])
    grid = (tick.value for tick in axis["ticks"] if tick.value != 1.0)
    return [
        plots.field(low, high, "margin"),
        *(plots.upright(scale.at(value), "grid") for value in grid),
        plots.upright(scale.at(1.0), "one"),
    ]


def _row(row: Entry, axis: Entry, *, dense: bool) -> list[plots.Mark]:
    y, top, height = _DENSE if dense else _TALL
    scale, style = axis["scale"], row["style"]
    places = [scale.at(value) for value in row["sessions"]]
    marks: list[plots.Mark] = [plots.strokes(places, f"session {style}", top=top, height=height)]
    if row["lacking"]:
        marks.append(plots.dot(0.0, top + height / 2, "lacking", r=2))
    if row["low"].value is not None and row["high"].value is not None:
        # a line with an open arrowhead where it leaves the scale
        low, high = scale.at(row["low"].value), scale.at(row["high"].value)
        line = f"interval {style}"
        marks.append(plots.line(max(0.0, low), y, min(1.0, high), y, line))
        if low < 0:
            marks.append(plots.arrow(0.0, y, "left", f"open {line}", r=5))
        if high > 1:
            marks.append(plots.arrow(1.0, y, "right", f"open {line}", r=5))
    if row["speedup"].value is not None:
        place, css = scale.at(row["speedup"].value), f"{style} ringed"
        css += "" if row["filled"] else " hollow"
        if row["suite"]:
            marks.append(plots.diamond(place, y, css, r=5.0 if dense else 6.5))
        else:
            marks.append(plots.dot(place, y, css, r=3.6 if dense else 4.5))
    return marks


def _bin(one: Entry, axis: Entry) -> list[plots.Mark]:
    """Draw all of a bin's lines as strokes, in the colour of its only word."""
    top, height = _BIN
    counts = one["counts"]
    style = plots.style_of(counts[0][0]) if len(counts) == 1 else "neither"
    places = [axis["scale"].at(value) for value in one["speedups"]]
    return [plots.strokes(places, f"binned {style}", top=top, height=height)]


def _alt(column: Entry, entry: Entry) -> str:
    """Say what a line's picture shows."""
    if "counts" in entry:
        counts = ", ".join(f"{n} {word}" for word, n in entry["counts"])
        between = ""
        if entry["lowest"].text:
            between = f" from {entry['lowest'].text} to {entry['highest'].text} times"
        return f"{entry['count']} benchmarks{between}: {counts}"
    name = f"{column['candidate'].text}, {entry['name'].text}"
    if not entry["speedup"].text:
        return f"{name}: {entry['note'] or 'no speedup is known'}"
    interval = "without an interval"
    if entry["low"].text:
        interval = f"interval {entry['low'].text} to {entry['high'].text}"
    note = f", {entry['note']}" if entry["note"] else ""
    return f"{name}: {entry['speedup'].text} times, {interval}, {entry['word']}{note}"
