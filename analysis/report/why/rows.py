"""Functions as rows with intervals: the table's texts, and a picture of each row on one axis of milliseconds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...pages.model import Value
from ...pages.number_format import bare_pvalue, counted
from ...plots.labels import kept_in_row
from ...plots.marks import Mark, again, arrow, dot, line, shared, upright
from ...plots.scale import Scale, quantity_ticks
from ...plots.svg import cell, ticks_below
from ...why.sentence import resolved
from ...words import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markupsafe import Markup

    from ...plots.palette import Style
    from ...why.result import Row, Why

__all__ = [
    "Axis",
    "FunctionRow",
    "Milliseconds",
    "axis_of",
    "axis_picture",
    "left_out",
    "row_picture",
    "rows_of",
]

_MIDDLE = 12.0  # y of a line in its cell
_BEYOND = 3.0  # times the largest difference that an interval may reach beyond it
_NARROWEST = 150.0  # CSS pixels of a row's picture, as in the style sheet
_MOST = 20  # rows of functions; all that are named stand first


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """A row of the table as it is written: milliseconds a run.

    `kind` is ``function``, or what else the row is: ``total``, ``others``, ``off-cpu``, ``not-seen``. `named` says
    whether it is told as a part of the difference; `style` is its colour's role, which of functions only those that are named have.
    """

    name: str
    kind: str
    baseline: Value
    candidate: Value
    difference: Value
    low: Value
    high: Value
    pvalue: Value
    named: bool
    presence: str
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What all rows share: its scale in milliseconds, and its ticks."""

    scale: Scale
    ticks: tuple[tuple[float, str], ...]


def rows_of(told: Why) -> tuple[FunctionRow, ...]:
    """Give the total, the functions by evidence, what is left of them, and the time off the CPU."""
    write = Milliseconds.of(told)
    found = [_row(told.total, "total", "on the CPU, in all", write, coloured=resolved(told))]
    for one in told.rows[:_MOST]:
        found.append(_row(one, "function", one.name, write, coloured=one.named))
    for row, kind, name in _rest(told):
        found.append(_row(row, kind, name, write, coloured=row.named))
    return tuple(found)


def left_out(told: Why) -> int:
    """Count the functions that have rows of their own and are not in the table."""
    return max(0, len(told.rows) - _MOST)


def _rest(told: Why) -> Iterator[tuple[Row, str, str]]:
    if told.others is not None:
        name = f"{counted(told.further, 'further function')}, together"
        yield told.others, "others", name
    if told.kernel_not_seen is not None:
        yield told.kernel_not_seen, "not-seen", "in the kernel, not seen"
    if told.asleep is None or told.cpu_wait is None:
        yield told.off_cpu, "off-cpu", "off the CPU: wall less CPU"
    else:
        yield told.asleep, "off-cpu", "asleep, or at input and output"
        yield told.cpu_wait, "off-cpu", "ready, without a CPU"


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """Writes a table's milliseconds with so many decimals that 1 % of the whole has two digits."""

    decimals: int

    @classmethod
    def of(cls, told: Why) -> Milliseconds:
        """Give the writer for the tables of an answer."""
        whole = max(told.total.baseline_ms, told.total.candidate_ms)
        return cls(min(6, max(0, 3 - math.floor(math.log10(whole)))) if whole > 0 else 2)

    def value(self, ms: float | None, *, signs: bool = False) -> Value:
        """Write a time, or with `signs` a difference; "" where nobody knows it."""
        if ms is None:
            return Value("", None)
        text = f"{ms:.{self.decimals}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        elif signs and ms > 0:
            text = f"+{text}"
        return Value(text, ms)


def _row(row: Row, kind: str, name: str, write: Milliseconds, *, coloured: bool) -> FunctionRow:
    style: Style = "neither"
    if coloured:
        style = "slower" if row.difference_ms > 0 else "faster"
    return FunctionRow(
        name=name,
        kind=kind,
        baseline=write.value(row.baseline_ms),
        candidate=write.value(row.candidate_ms),
        difference=write.value(row.difference_ms, signs=True),
        low=write.value(row.low_ms, signs=True),
        high=write.value(row.high_ms, signs=True),
        pvalue=Value(
            "" if row.pvalue_adjusted is None else bare_pvalue(row.pvalue_adjusted),
            row.pvalue_adjusted,
        ),
        named=row.named,
        presence=row.presence,
        style=style,
    )


def axis_of(rows: Sequence[FunctionRow]) -> Axis:
    """Give the axis that holds all differences and 0; an interval much wider leaves it."""
    middles = [one.difference.value or 0.0 for one in rows]
    far = max(map(abs, middles), default=0.0) or 0.001
    ends = [
        min(max(end.value, -_BEYOND * far), _BEYOND * far)
        for one in rows
        for end in (one.low, one.high)
        if end.value is not None
    ]
    low, high = min([0.0, *middles, *ends]), max([0.0, *middles, *ends])
    room = 0.06 * (high - low)
    scale = Scale(low - room, high + room)
    found = quantity_ticks(Scale(scale.low / 1000, scale.high / 1000), "s", 5)
    ticks = [(1000 * one.value, one.text.replace("-", "\N{MINUS SIGN}")) for one in found]
    kept = kept_in_row(
        [scale.at(value) for value, _ in ticks],
        [text for _, text in ticks],
        _NARROWEST,
        importance=[1.0 if value == 0 else 0.0 for value, _ in ticks],
    )
    return Axis(
        scale=scale, ticks=tuple(tick for tick, stays in zip(ticks, kept, strict=True) if stays)
    )


def row_picture(axis: Axis, row: FunctionRow, ground: str, *, first: bool) -> Markup:
    """Draw a row; the first holds the background of all, whose id is `ground`."""
    back = shared(ground, _ground(axis)) if first else again(ground)
    words = f"{shown(row.name)}: {row.difference.text} ms"
    if row.low.text:
        words += f", {row.low.text} to {row.high.text}"
    return cell([back, *_marks(axis, row)], words)


def axis_picture(axis: Axis) -> Markup:
    """Draw the axis below the rows."""
    return ticks_below(axis.scale, axis.ticks)


def _ground(axis: Axis) -> Iterator[Mark]:
    for value, _ in axis.ticks:
        if value:
            yield upright(axis.scale.at(value), "grid")
    yield upright(axis.scale.at(0.0), "one")


def _marks(axis: Axis, row: FunctionRow) -> Iterable[Mark]:
    scale, css = axis.scale, row.style
    if row.low.value is not None and row.high.value is not None:
        low, high = scale.at(row.low.value), scale.at(row.high.value)
        yield line(max(0.0, low), _MIDDLE, min(1.0, high), _MIDDLE, f"interval {css}")
        if low < 0:
            yield arrow(0.0, _MIDDLE, "left", f"why-beyond interval {css}", r=5)
        if high > 1:
            yield arrow(1.0, _MIDDLE, "right", f"why-beyond interval {css}", r=5)
    hollow = "" if row.style != "neither" else " hollow"
    yield dot(scale.clipped(row.difference.value or 0.0), _MIDDLE, f"{css}{hollow}", r=4.0)
