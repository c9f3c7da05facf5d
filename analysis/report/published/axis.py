"""The one axis of the panel: what each method says of the first candidate, row by row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...plots.marks import Mark, dot, label, line, stroke
from ...plots.scale import Scale, Tick, ratio_scale
from ...plots.spaced import spaced_ticks
from ...plots.svg import plot

if TYPE_CHECKING:
    from .result import MethodAnswer, MethodRow, Ratio

__all__ = ["Axis"]

_MIDDLE = 22.0  # of the marks, CSS pixels from the row's top
_FAR = 400.0  # grid lines are longer than any row, whose cell cuts them
_REACH = 1.0  # an interval may be drawn so many times farther than all else lies apart
_CLOSE = 0.02  # in logs: what lies apart less counts as this


class Axis:
    """The scale of one candidate's estimates, and the marks on it.

    Parameters
    ----------
    rows : sequence of MethodRow
        All rows of the panel.
    place : int
        The candidate's place among the answers.
    """

    def __init__(self, rows: Sequence[MethodRow], place: int) -> None:
        self.place = place
        core = [
            number.value
            for row in rows
            for number in _numbers(row.answers[place], ends=row.key != "similar")
            if number.value is not None
        ]
        every = [
            number.value
            for row in rows
            for number in _numbers(row.answers[place], ends=True)
            if number.value is not None
        ]
        logs = [math.log(value) for value in [*core, 1.0] if 0 < value < math.inf]
        reach = _REACH * max(max(logs) - min(logs), _CLOSE)
        inside = [
            min(max(value, math.exp(min(logs) - reach)), math.exp(max(logs) + reach))
            for value in every
        ]
        self.scale: Scale = ratio_scale(inside)
        self.ticks: tuple[Tick, ...] = spaced_ticks(self.scale, 0.22)

    def head(self) -> Markup:
        """Give the ticks' texts."""
        texts = (
            label(self.scale.at(tick.value), 13, tick.text, "tick minor" if tick.minor else "tick")
            for tick in self.ticks
        )
        return Markup(plot(18, texts, ""))  # noqa: S704 - escaped by the parts

    def row(self, answer: MethodAnswer) -> Markup:
        """Give the marks of one method."""
        return Markup(plot(2 * _MIDDLE, self._marks(answer), ""))  # noqa: S704 - escaped by the parts

    def _marks(self, answer: MethodAnswer) -> Iterator[Mark]:
        at, style = self.scale.clipped, answer.style
        for tick in self.ticks:
            yield stroke(at(tick.value), 0, _FAR, "one" if tick.value == 1 else "grid")
        low, high = answer.low, answer.high
        if answer.bound and low is not None and low.value is not None:
            yield line(at(low.value), _MIDDLE, 1, _MIDDLE, f"interval dotted {style}")
            yield stroke(at(low.value), _MIDDLE - 7, _MIDDLE + 7, f"interval {style}")
        elif low is not None and high is not None and None not in (low.value, high.value):
            left, right = low.value or self.scale.low, high.value or self.scale.high
            yield line(at(left), _MIDDLE, at(right), _MIDDLE, f"interval {style}")
            yield from self._heads(left, right, style)
        if answer.value is not None and answer.value.value is not None:
            hollow = " hollow" if answer.word == "undecided" else ""
            yield dot(at(answer.value.value), _MIDDLE, f"{style}{hollow}", r=4.5)

    def _heads(self, low: float, high: float, style: str) -> Iterator[Mark]:
        """End an interval that leaves the axis in an open arrowhead."""
        for beyond, edge, shape in (
            (low < self.scale.low, 0.0, "M7 -4L1 0L7 4"),
            (high > self.scale.high, 1.0, "M-7 -4L-1 0L-7 4"),
        ):
            if beyond:
                yield (
                    f'<svg x="{edge:.0%}" y="{_MIDDLE:g}"><path class="line {style}" d="{shape}"/></svg>'
                )


def _numbers(answer: MethodAnswer, *, ends: bool) -> Iterator[Ratio]:
    found = (answer.value, answer.low, answer.high) if ends else (answer.value,)
    return (one for one in found if one is not None)
