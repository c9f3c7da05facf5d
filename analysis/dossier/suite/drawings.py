"""The chapter's pictures: boxes in the cells of a table, the biplot, the bars of the ranking."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from ...plots import (
    Box,
    Scale,
    Tick,
    Wanted,
    curve,
    dot,
    kept_in_row,
    label,
    line,
    placed,
    plot,
    ratio_scale,
    ratio_ticks,
    stroke,
    text_width,
)
from .result import BoxBand, BoxColumn, BoxRow, FiveNumbers, Plane, PlaneMark, Ranks

__all__ = ["HEIGHT", "SIDE", "BoxAxis", "bars_plot", "biplot_plot"]

HEIGHT = 26.0  # of a row of boxes
_BAND = 9.0  # of a group of benchmarks
_NARROW = 140.0  # pixels of an axis on a telephone
_TICKS = 4
_BEYOND = 3.0  # usual widths of a box that whiskers may reach beyond all boxes
_SHARE = 0.5  # and the share of the boxes' range that they may always
SIDE = 328.0  # of the biplot, which keeps its ratio: as wide as a telephone's page
_EDGE = 6.0
_POINT = 5.0
_ARROW = 0.86  # length of the longest arrow, of the distance of the farthest point
_ARROWS = 60  # more are drawn as lines without heads
_NAMED = 24  # arrows that may have a name


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
        marks = [self._again()]
        if row.candidate is None:
            marks += self._box(row.baseline, "baseline", 13.0, 5.0)
        else:
            marks += self._box(row.baseline, "baseline", 6.5, 2.5)
            marks += self._box(row.candidate, row.style, 17.0, 4.5)
        return plot(HEIGHT, marks, alt)

    def bands(self, bands: Sequence[BoxBand], alt: str) -> str:
        """Draw groups of benchmarks as one band: 5 to 95 %, the middle half, the median."""
        height = max(HEIGHT, _BAND * len(bands))
        numbers = [[self.scale.clipped(n) for n in band.numbers.numbers] for band in bands]
        steps = [1 - k / len(bands) for k in range(len(bands) + 1)]
        marks = [self._again()]
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

    def _box(self, five: FiveNumbers, css: str, y: float, half: float) -> list[str]:
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
            f'<svg width="100%" height="{HEIGHT:g}" viewBox="0 0 1000 {HEIGHT:g}" '
            f'preserveAspectRatio="none">{inner}</svg>'
        ]


def biplot_plot(plane: Plane, names: Mapping[str, str], alt: str) -> str:
    """Draw points and arrows in a square that does not stretch, with the names that find room.

    Parameters
    ----------
    plane : Plane
        What is drawn.
    names : mapping of str to str
        How each name is shown.
    alt : str
        What it shows.
    """
    points, tips = _geometry(plane)
    middle = SIDE / 2
    axes = [
        line(0, middle, 1, middle, "grid"),
        line(0.5, 0, 0.5, SIDE, "grid"),
    ]
    arrows = [_arrow(tip) for tip in tips]
    heads = len(tips) <= _ARROWS
    path = "".join(shaft + (head if heads else "") for shaft, head in arrows)
    marks = [*axes, f'<path class="suite-arrow" d="{path}"/>']
    marks += [
        dot(x / SIDE, y, mark.style, r=_POINT)
        for mark, (x, y) in zip(plane.variants, points, strict=True)
    ]
    taken = [Box(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    taken += [box for tip in tips[:_ARROWS] for box in _along(tip)]
    frame = Box(0, 0, SIDE, SIDE)
    lengths = [math.hypot(x - middle, y - middle) for x, y in tips]
    longest = sorted(range(len(tips)), key=lambda k: (-lengths[k], k))[:_NAMED]
    variants = placed(
        [
            Wanted(names[mark.name], x, y, 1.0)
            for mark, (x, y) in zip(plane.variants, points, strict=True)
        ],
        frame=frame,
        taken=taken,
        bold=True,
    )
    found = [
        *(
            (one, f"suite-point {mark.style}")
            for one, mark in zip(variants, plane.variants, strict=True)
        ),
    ]
    taken += [one.box for one in variants if one is not None]
    ends = placed(
        [
            Wanted(
                names[plane.benchmarks[k].name],
                *tips[k],
                lengths[k],
                away=(tips[k][0] - middle, tips[k][1] - middle),
            )
            for k in longest
            if lengths[k] > 0
        ],
        frame=frame,
        taken=taken,
    )
    found += [(one, "") for one in ends]
    for one, css in found:
        if one is not None:
            marks.append(label(one.x / SIDE, one.y, one.text, css, anchor=one.anchor))
    return plot(SIDE, marks, alt)


def bars_plot(ranks: Ranks, place: int) -> str:
    """Draw, in one variant's row, the bars that join it to its neighbours."""
    count = max(1, len(ranks.bars))
    marks = []
    for k, (first, last) in enumerate(ranks.bars):
        if first <= place <= last:
            x = (k + 0.5) / count
            top = 11 if place == first else 0
            bottom = 15 if place == last else HEIGHT
            marks.append(stroke(x, top, bottom, "suite-bar ink"))
    return plot(HEIGHT, marks, "")


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


def _geometry(plane: Plane) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Give points and arrows' tips in pixels; one factor fits the arrows to the points."""
    points, tips = _known(plane.variants), _known(plane.benchmarks)
    far = max(math.hypot(x, y) for x, y in points) or 1.0
    long = max(math.hypot(x, y) for x, y in tips) or 1.0
    half = SIDE / 2 - _EDGE - _POINT
    reach = max(max(abs(x), abs(y)) for x, y in points) or 1.0
    unit = half * 0.8 / max(reach, far * _ARROW)
    stretch = unit * far * _ARROW / long

    def place(xy: tuple[float, float], factor: float) -> tuple[float, float]:
        return SIDE / 2 + factor * xy[0], SIDE / 2 - factor * xy[1]

    return [place(one, unit) for one in points], [place(one, stretch) for one in tips]


def _known(marks: Iterable[PlaneMark]) -> list[tuple[float, float]]:
    return [(float(mark.x.value or 0), float(mark.y.value or 0)) for mark in marks]


def _arrow(tip: tuple[float, float]) -> tuple[str, str]:
    """Give an arrow from the middle: its shaft, and its head."""
    x, y = tip
    middle = SIDE / 2
    shaft = f"M{middle:g} {middle:g}L{x:.1f} {y:.1f}"
    length = math.hypot(x - middle, y - middle)
    if length < 8:
        return shaft, ""
    along = ((x - middle) / length, (y - middle) / length)
    ends = [
        (x - 7 * along[0] + side * 3 * along[1], y - 7 * along[1] - side * 3 * along[0])
        for side in (1, -1)
    ]
    (a, b), (c, d) = ends
    return shaft, f"M{a:.1f} {b:.1f}L{x:.1f} {y:.1f}L{c:.1f} {d:.1f}"


def _along(tip: tuple[float, float]) -> list[Box]:
    """Cover the outer half of an arrow with small boxes, so that no name lies on it."""
    middle = SIDE / 2
    places = [0.5 + 0.1 * k for k in range(6)]
    return [
        Box(x - 1.5, y - 1.5, x + 1.5, y + 1.5)
        for share in places
        for x, y in [(middle + share * (tip[0] - middle), middle + share * (tip[1] - middle))]
    ]
