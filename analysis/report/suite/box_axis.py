"""The boxes of one candidate: a picture in each row of a table, on one scale."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...plots.labels import kept_in_row, text_width
from ...plots.marks import Mark, curve, label
from ...plots.scale import Scale, Tick, ratio_scale, ratio_ticks
from ...plots.svg import plot

if TYPE_CHECKING:
    from .result import BoxBand, BoxColumn, BoxRow, FiveNumbers

__all__ = ["BoxAxis"]

_HEIGHT = 26.0  # of a row
_BAND = 9.0  # of a group of benchmarks
_NARROW = 140.0  # pixels of an axis on a telephone
_TICKS = 4
_BEYOND = 3.0  # usual widths of a box that whiskers may reach beyond all boxes
_SHARE = 0.5  # and the share of the boxes' range that they may always


class BoxAxis:
    """The scale of one candidate's boxes, and what is drawn on it."""

    def __init__(self, column: BoxColumn, margin: float, *, anchor: str) -> None:
        self._grid = f"{anchor}-grid"
        self._margin = margin
        self.scale = _scale(column, margin)
        self.ticks = _apart(self.scale, ratio_ticks(self.scale, _TICKS))

    def head(self) -> str:
        """Give the lines that all rows repeat; they are drawn once."""
        low, high = (self.scale.clipped(v) for v in (1 / (1 + self._margin), 1 + self._margin))
        place, width = round(100 * low, 2), round(100 * (high - low), 2)
        marks = [f'<rect class="margin" x="{place:g}%" y="0" width="{width:g}%" height="100%"/>']
        for tick in self.ticks:
            css = "one" if tick.value == 1.0 else "grid minor" if tick.minor else "grid"
            x = f"{round(100 * self.scale.at(tick.value), 2):g}%"
            marks.append(f'<line class="{css}" x1="{x}" y1="0" x2="{x}" y2="100%"/>')
        return f'<svg class="plot suite-shared" aria-hidden="true" width="100%" height="0"><g id="{self._grid}"><svg width="100%" height="100%">{"".join(marks)}</svg></g></svg>'

    def row(self, row: BoxRow, alt: str) -> str:
        """Draw a benchmark: the baseline's box above, the candidate's below."""
        marks: list[Mark] = [self._again()]
        if row.candidate is None:
            marks += self._box(row.baseline, "baseline", 13.0, 5.0)
        else:
            marks += self._box(row.baseline, "baseline", 6.5, 2.5)
            marks += self._box(row.candidate, row.style, 17.0, 4.5)
        return plot(_HEIGHT, marks, alt)

    def bands(self, bands: Sequence[BoxBand], alt: str) -> str:
        """Draw groups of benchmarks as one band: 5 to 95 %, the middle half, the median."""
        height = max(_HEIGHT, _BAND * len(bands))
        numbers = [[self.scale.clipped(n) for n in band.numbers.numbers] for band in bands]
        steps = [1 - k / len(bands) for k in range(len(bands) + 1)]
        marks: list[Mark] = [self._again()]
        for low, high, css in ((0, 4, "suite-outer"), (1, 3, "suite-inner")):
            left = _stairs([five[low] for five in numbers], steps)
            right = _stairs([five[high] for five in numbers], steps)
            marks.append(curve([*left, *reversed(right)], css, top=0, height=height, closed=True))
        middle = _stairs([five[2] for five in numbers], steps)
        marks.append(curve(middle, "line neither", top=0, height=height))
        return plot(height, marks, alt)

    def foot(self, better: str, worse: str) -> str:
        """Draw the ticks' numbers, and which side is better."""
        marks = []
        for tick in self.ticks:
            css = "minor" if tick.minor else ""
            marks.append(label(self.scale.at(tick.value), 13, tick.text, css))
        one = self.scale.at(1.0)
        if (1 - one) * _NARROW > text_width(f"▸ {better}") + 8:
            marks.append(label(one, 28, f"▸ {better}", "", anchor="start", dx=6))
        if one * _NARROW > text_width(f"{worse} ◂") + 8:
            marks.append(label(one, 28, f"{worse} ◂", "", anchor="end", dx=-6))
        return plot(34, marks, "")

    def _again(self) -> str:
        return f'<use href="#{self._grid}"/>'

    def _box(self, five: FiveNumbers, css: str, y: float, half: float) -> list[Mark]:
        """Draw whiskers, box and median; a whisker beyond the scale has no end."""
        worst, best = five.numbers[0], five.numbers[-1]
        a, b, c, d, e = (round(1000 * self.scale.clipped(v)) for v in five.numbers)
        ends = [
            f"M{x} {y - half + 1:g}V{y + half - 1:g}"
            for x, value in ((a, worst), (e, best))
            if self.scale.holds(value)
        ]
        shape = f"M{a} {y:g}H{b}M{d} {y:g}H{e}{''.join(ends)}"
        box = f"M{b} {y - half:g}H{d}V{y + half:g}H{b}Z"
        inner = (
            f'<path class="suite-box {css}" d="{shape}{box}"/>'
            f'<path class="suite-median {css}" d="M{c} {y - half:g}V{y + half:g}"/>'
        )
        return [
            f'<svg width="100%" height="{_HEIGHT:g}" viewBox="0 0 1000 {_HEIGHT:g}" '
            f'preserveAspectRatio="none">{inner}</svg>'
        ]


def _scale(column: BoxColumn, margin: float) -> Scale:
    """Give the scale that holds all boxes, and whiskers that are not far longer than those."""
    shown = set(column.listed)
    rows = [row for row in column.rows if row.benchmark in shown]
    five = [one for row in rows for one in (row.baseline, row.candidate) if one is not None]
    logs = [math.log(v) for one in five for v in one.numbers[1:4]]
    logs += [math.log(v) for band in column.bands for v in band.numbers.numbers[1:4]]
    low, high = min([*logs, -margin]), max([*logs, margin])
    usual = (
        statistics.median(math.log(one.numbers[3] / one.numbers[1]) for one in five) if five else 0
    )
    beyond = max(_BEYOND * usual, _SHARE * (high - low))
    ends = [math.log(v) for one in five for v in (one.numbers[0], one.numbers[4])]
    reach = [min(max(v, low - beyond), high + beyond) for v in ends]
    return ratio_scale([math.exp(v) for v in (*logs, *reach)], margin, room=0.03)


def _apart(scale: Scale, ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Leave out ticks whose numbers would touch on the narrowest page: 1 stays, then the ends."""
    kept = kept_in_row(
        [scale.at(tick.value) for tick in ticks],
        [tick.text for tick in ticks],
        _NARROW,
        importance=[2 if tick.value == 1 else 0 if tick.minor else 1 for tick in ticks],
    )
    inside = (_centred(scale.at(tick.value), tick.text) for tick in ticks)
    return tuple(
        tick for tick, stays, fits in zip(ticks, kept, inside, strict=True) if stays and fits
    )


def _centred(place: float, text: str) -> bool:
    """Whether a number keeps within its neighbours' cells, where there is some room."""
    half = text_width(text) / 2 - 12
    return half <= place * _NARROW <= _NARROW - half


def _stairs(values: Sequence[float], steps: Sequence[float]) -> list[tuple[float, float]]:
    """Give each value twice, at both ends of its step."""
    return [(v, steps[k + end]) for k, v in enumerate(values) for end in (0, 1)]
