"""The pictures of the first screen: the cells of the forest, its axis, the key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import plots
from .growth import style_of_bin
from .result import Axis, Bin, Column, Row

__all__ = ["axis", "cell", "key"]

_TALL, _DENSE = (16.0, 23.0, 6.0), (9.0, 15.0, 4.0)  # y of the line, top and height of the strokes
_BIN = (3.0, 14.0)
_WIDTHS = (80, 112, 150, 200, 280)  # of an axis in CSS pixels, as in the style sheet
_LETTER, _GAP = 7.0, 5.0  # of a tick's number, in CSS pixels
_KEY = (0.24, 0.33, 0.44, 0.5, 0.58, 0.86)


def cell(column: Column, number: int, entry: Row | Bin, *, dense: bool) -> str:
    """Give the picture of a line; the first of a column holds the background of all.

    Parameters
    ----------
    column : Column
        Its axis is known.
    number : int
        The line's place in the column, from 0.
    entry : Row or Bin
        The line.
    dense : bool
        Whether a line has one row of text.
    """
    if column.axis is None:
        return ""
    name = f"{column.anchor}-ground"
    ground = plots.again(name) if number else plots.shared(name, _ground(column.axis))
    marks = (
        _bin(entry, column.axis)
        if isinstance(entry, Bin)
        else _row(entry, column.axis, dense=dense)
    )
    return plots.cell([ground, *marks], _alt(column, entry))


def axis(column: Column) -> str:
    """Give the axis below the lines: ticks, numbers, and which side is faster."""
    if column.axis is None:
        return ""
    scale, one = column.axis.scale, column.axis.scale.at(1.0)
    marks: list[plots.Mark] = []
    for tick, css in _labelled(column.axis):
        x = scale.at(tick.value)
        marks.append(plots.stroke(x, 0, 4, "one"))
        marks.append(plots.label(x, 16, tick.text, css))
    if column.axis.slower:
        marks.append(plots.label(one, 31, f"{column.axis.slower} ◂", "side", anchor="end", dx=-8))
    if column.axis.faster:
        marks.append(plots.label(one, 31, f"▸ {column.axis.faster}", "side", anchor="start", dx=8))
    return plots.plot(36, marks, "")


def _labelled(axis: Axis) -> Iterator[tuple[plots.Tick, str]]:
    """Give each tick the class of the least width at which its number touches no other.

    1 has its number always; then come those farthest from it.
    """
    one = axis.scale.at(1.0)
    placed: list[tuple[float, int]] = []
    for tick in sorted(
        axis.ticks, key=lambda t: (t.value != 1.0, -abs(axis.scale.at(t.value) - one))
    ):
        place, length = axis.scale.at(tick.value), len(tick.text)
        needed = max(
            (
                (_LETTER * (length + other) / 2 + _GAP) / max(abs(place - at), 1e-9)
                for at, other in placed
            ),
            default=0.0,
        )
        placed.append((place, length))
        step = next((k for k, width in enumerate(_WIDTHS) if needed <= width), None)
        yield tick, "tick" if step == 0 else f"tick-{len(_WIDTHS) if step is None else step}"


def key(*, strokes: bool) -> str:
    """Give a mark as they are drawn, for the sentence that explains it."""
    y, top, height = _TALL
    marks = [
        plots.line(0.0, y, 1.0, y, "interval neither"),
        plots.dot(0.5, y, "neither ringed"),
    ]
    if strokes:
        marks.append(plots.strokes(_KEY, "session neither", top=top, height=height))
    return plots.plot(30, marks, "", css="key")


def _ground(axis: Axis) -> list[plots.Mark]:
    low, high = (axis.scale.at(end) for end in axis.margin)
    grid = [tick.value for tick in axis.ticks if tick.value != 1.0]
    return [
        plots.field(low, high, "margin"),
        *(plots.upright(axis.scale.at(value), "grid") for value in grid),
        plots.upright(axis.scale.at(1.0), "one"),
    ]


def _row(row: Row, axis: Axis, *, dense: bool) -> list[plots.Mark]:
    y, top, height = _DENSE if dense else _TALL
    scale = axis.scale
    marks = [
        plots.strokes(
            [scale.at(value) for value in row.sessions],
            f"session {row.style}",
            top=top,
            height=height,
        )
    ]
    if row.lacking:
        marks.append(plots.dot(0.0, top + height / 2, "lacking", r=2))
    if row.low.value is not None and row.high.value is not None:
        marks += _interval(row, axis, y)
    if row.speedup.value is not None:
        hollow = "" if row.filled else " hollow"
        place, css = scale.at(row.speedup.value), f"{row.style} ringed{hollow}"
        if row.suite:
            marks.append(plots.diamond(place, y, css, r=5.0 if dense else 6.5))
        else:
            marks.append(plots.dot(place, y, css, r=3.6 if dense else 4.5))
    return marks


def _interval(row: Row, axis: Axis, y: float) -> list[plots.Mark]:
    """Give the line, with an open arrowhead where it leaves the scale."""
    low, high = (axis.scale.at(float(end.value or 0.0)) for end in (row.low, row.high))
    style = f"interval {row.style}"
    marks = [plots.line(max(0.0, low), y, min(1.0, high), y, style)]
    if low < 0:
        marks.append(plots.arrow(0.0, y, "left", f"open {style}", r=5))
    if high > 1:
        marks.append(plots.arrow(1.0, y, "right", f"open {style}", r=5))
    return marks


def _bin(one: Bin, axis: Axis) -> list[plots.Mark]:
    top, height = _BIN
    places: Sequence[float] = [axis.scale.at(value) for value in one.speedups]
    return [plots.strokes(places, f"binned {style_of_bin(one)}", top=top, height=height)]


def _alt(column: Column, entry: Row | Bin) -> str:
    """Say what a line's picture shows."""
    if isinstance(entry, Bin):
        counts = ", ".join(f"{n} {word}" for word, n in entry.counts)
        if not entry.lowest.text:
            return f"{entry.count} benchmarks: {counts}"
        return f"{entry.count} benchmarks from {entry.lowest.text} to {entry.highest.text} times: {counts}"
    name = f"{column.candidate.text}, {entry.name.text}"
    if not entry.speedup.text:
        return f"{name}: {entry.note or 'no speedup is known'}"
    interval = (
        f", interval {entry.low.text} to {entry.high.text}"
        if entry.low.text
        else ", without an interval"
    )
    note = f", {entry.note}" if entry.note else ""
    return f"{name}: {entry.speedup.text} times{interval}, {entry.word}{note}"
