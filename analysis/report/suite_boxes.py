"""Five numbers of each benchmark, its runs over the median of the baseline's, and their boxes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plots
from ..pages.model import Value, value_of
from ..pages.number_format import outcome_word, significant
from ..plots.marks import style_of
from ..stats.samples import median
from ..words import shown
from .written import decimals_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..data.matrix import PerformanceMatrix
    from ..plots import Mark, Scale, Tick
    from ..record.run_numbers import Better
    from .subject import Subject

__all__ = ["FiveNumbers", "boxes_plots", "columns_of", "five_numbers", "ratio_text"]

Array = NDArray[np.float64]

_LISTED = 60  # more benchmarks are not listed one by one
_ENDS = 15  # of the first, and of the last
_CAUTIONED = 30
_BANDS = 24
_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_POOLED = (0.05, 0.25, 0.5, 0.75, 0.95)

_HEIGHT = 26.0  # of a row, CSS pixels
_BAND = 9.0  # of a group of benchmarks
_NARROW = 140.0  # pixels of an axis on a telephone
_TICKS = 4
_BEYOND = 3.0  # usual widths of a box that whiskers may reach beyond all boxes
_SHARE = 0.5  # and the share of the boxes' range that they may always


@dataclass(frozen=True, slots=True)
class FiveNumbers:
    """The runs of one cell over the median of the baseline's, so that 2 is twice as good."""

    runs: int
    worst: Value
    q1: Value
    median: Value
    q3: Value
    best: Value

    @property
    def values(self) -> tuple[Value, ...]:
        """All five, the worst first."""
        return (self.worst, self.q1, self.median, self.q3, self.best)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The same as bare numbers."""
        return tuple(one.value for one in self.values if one.value is not None)


def columns_of(subject: Subject) -> tuple[Mapping[str, Any], ...]:
    """Give a column of boxes for each candidate, or for the only variant.

    Benchmarks that one side lacks are not in its ``rows``, and neither are those with runs of 0. Of
    many, some are ``listed`` on a page; the others are in ``bands``, a group of neighbours each, whose
    five numbers are quantiles of all their runs: 5, 25, 50, 75 and 95 %. On how many of the
    benchmarks ``compared`` the middle halves of both sides have nothing in common is ``apart``.
    """
    base = subject.matrices.get(subject.baseline)
    if base is None or not base.benchmarks:
        return ()
    if not subject.candidates:
        return (_column(subject, base, base, {}),)
    columns = []
    for one in subject.candidates:
        matrix, found = subject.matrices.get(one.variant), one.multilevel
        if matrix is not None and found is not None:
            words = {
                line.name: outcome_word(line.outcome, timed=found.timed)
                for line in found.benchmarks
            }
            columns.append(_column(subject, matrix, base, words))
    return tuple(column for column in columns if column["rows"])


def five_numbers(
    values: Array,
    over: float = 1.0,
    *,
    better: Better = "higher",
    digits: int | None = None,
    at: Sequence[float] = _QUARTILES,
) -> FiveNumbers:
    """Give quantiles of positive runs over a number as ratios, of which those above 1 are better.

    They are interpolated between neighbours, which is definition 7 of R. J. Hyndman, Y. Fan, "Sample
    quantiles in statistical packages", The American Statistician 50(4), 1996. Without `digits` they
    have as many decimals as these five need.
    """
    places = np.array(at) if better == "higher" else 1 - np.array(at)
    five = _ratios(np.quantile(values, places), over, better).tolist()
    decimals = decimals_of(five) if digits is None else digits
    return FiveNumbers(int(values.size), *(ratio_text(number, decimals) for number in five))


def _ratios(values: Array, over: float, better: Better) -> Array:
    """Give values on the scale of speedups."""
    return np.asarray(over / values if better == "lower" else values / over)


def _column(
    subject: Subject, matrix: PerformanceMatrix, base: PerformanceMatrix, words: Mapping[str, str]
) -> Mapping[str, Any]:
    alone = matrix is base
    both = set(matrix.benchmarks) & set(base.benchmarks)
    names = [bench for bench in subject.order if bench in both]
    over = {bench: float(median(base.values(bench))) for bench in names}
    ratios = {bench: _ratios(matrix.values(bench), over[bench], base.better) for bench in names}
    middles = (_ratios(median(matrix.values(b)), over[b], base.better) for b in names)
    digits = decimals_of(map(float, middles))

    def numbers(side: PerformanceMatrix, bench: str) -> FiveNumbers:
        return five_numbers(side.values(bench), over[bench], better=base.better, digits=digits)

    rows: tuple[dict[str, Any], ...] = tuple(
        {
            "benchmark": bench,
            "link": subject.anchor("benchmark", bench),
            "word": words.get(bench, ""),
            "style": "baseline" if alone else style_of(words.get(bench, "undecided")),
            "baseline": numbers(base, bench),
            "candidate": None if alone else numbers(matrix, bench),
        }
        for bench in names
    )
    listed = _listed(subject, names)
    hidden = {bench: ratios[bench] for bench in names if bench not in listed}
    return {
        "candidate": matrix.name,
        "rows": rows,
        "listed": tuple(bench for bench in names if bench in listed),
        "bands": tuple(_bands(hidden, digits)),
        "apart": 0 if alone else sum(_apart(row["candidate"], row["baseline"]) for row in rows),
        "compared": 0 if alone else len(rows),
    }


def _listed(subject: Subject, names: Sequence[str]) -> set[str]:
    """Choose who is shown one by one: all, or both ends and what cautions name."""
    if len(names) <= _LISTED:
        return set(names)
    about = {name for caution in subject.verdict.cautions for name in caution.about}
    some = [name for name in names if name in about][:_CAUTIONED]
    return {*names[:_ENDS], *names[-_ENDS:], *some}


def _bands(hidden: Mapping[str, Array], digits: int) -> Iterator[Mapping[str, Any]]:
    count = min(_BANDS, len(hidden))
    for k in range(count):
        names = [*hidden][len(hidden) * k // count : len(hidden) * (k + 1) // count]
        together = np.concatenate([hidden[name] for name in names])
        yield {
            "benchmarks": len(names),
            "first": names[0],
            "last": names[-1],
            "numbers": five_numbers(together, digits=digits, at=_POOLED),
        }


def _apart(one: FiveNumbers, other: FiveNumbers) -> bool:
    """Whether two boxes have nothing in common."""
    _, low, _, high, _ = one.numbers
    _, least, _, most, _ = other.numbers
    return high < least or most < low


def ratio_text(number: float | None, digits: int) -> Value:
    """Write a ratio; far from 1 three significant digits decide."""
    near = number is not None and 0.0995 <= number < 9.995
    return value_of(number, (f"{{:.{digits}f}}").format if near else significant, "")


def boxes_plots(
    column: Mapping[str, Any], chapter: Mapping[str, Any], anchor: str
) -> Mapping[str, Any]:
    """Draw the boxes of one candidate on one scale, as the pictures of a table.

    ``head`` holds the lines that all rows repeat, drawn once; ``rows`` the benchmarks by name, the
    baseline's box above the candidate's; ``bands`` the groups of others; ``foot`` the ticks.
    """
    margin, baseline = chapter["margin"], shown(chapter["baseline"])
    scale = _scale(column, margin)
    ticks = _spaced(scale, plots.ratio_ticks(scale, _TICKS))
    low, high = (scale.clipped(ratio) for ratio in (1 / (1 + margin), 1 + margin))
    grid = [plots.field(low, high, "margin")]
    for tick in ticks:
        css = "one" if tick.value == 1.0 else "grid minor" if tick.minor else "grid"
        grid.append(plots.upright(scale.at(tick.value), css))
    numbers = [
        plots.label(scale.at(tick.value), 13, tick.text, "minor" if tick.minor else "")
        for tick in ticks
    ]
    one, better, worse = scale.at(1.0), f"▸ {chapter['better']}", f"{chapter['worse']} ◂"
    for text, room, anchor_of, dx in ((better, 1 - one, "start", 6), (worse, one, "end", -6)):
        if room * _NARROW > plots.text_width(text) + 8:
            numbers.append(plots.label(one, 28, text, "", anchor=anchor_of, dx=dx))

    def row(of: Mapping[str, Any]) -> Markup:
        base, candidate, alt = of["baseline"], of["candidate"], f"{shown(of['benchmark'])}: "
        if candidate is None:
            marks, alt = _box(scale, base, "baseline", 13.0, 5.0), f"{alt}{_words(base)}"
        else:
            marks = _box(scale, base, "baseline", 6.5, 2.5)
            marks += _box(scale, candidate, of["style"], 17.0, 4.5)
            alt += f"{_words(candidate)}; {baseline}'s middle half {base.q1.text} to {base.q3.text}"
        return plots.plot(_HEIGHT, [plots.again(anchor), *marks], alt)

    return {
        "head": plots.plot(0, [plots.shared(anchor, grid)], "", css="suite-shared"),
        "rows": {one["benchmark"]: row(one) for one in _listed_rows(column)},
        "bands": _bands_plot(column["bands"], scale, anchor) if column["bands"] else "",
        "foot": plots.plot(34, numbers, ""),
    }


def _listed_rows(column: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = set(column["listed"])
    return [row for row in column["rows"] if row["benchmark"] in listed]


def _box(scale: Scale, five: FiveNumbers, css: str, y: float, half: float) -> list[Mark]:
    """Draw whiskers, box and median; a whisker beyond the scale has no end."""
    a, b, c, d, e = (scale.clipped(number) for number in five.numbers)
    middle, low, high = (1 - at / _HEIGHT for at in (y, y + half, y - half))
    pixel = 1 / _HEIGHT  # by which a whisker's end is shorter than the box, above and below
    whiskers = [(a, middle, b, middle), (d, middle, e, middle)]
    for x, number in ((a, five.numbers[0]), (e, five.numbers[-1])):
        whiskers += [(x, high - pixel, x, low + pixel)] if scale.holds(number) else []
    box = [(b, high), (d, high), (d, low), (b, low)]
    area: dict[str, Any] = {"top": 0.0, "height": _HEIGHT}  # the whole row's: its drawings are one
    return [
        plots.segments(whiskers, f"suite-box {css}", **area),
        plots.curve(box, f"suite-box {css}", closed=True, **area),
        plots.segments([(c, high, c, low)], f"suite-median {css}", **area),
    ]


def _words(one: FiveNumbers) -> str:
    return (
        f"median {one.median.text} times, middle half {one.q1.text} to {one.q3.text}, all of "
        f"{one.runs} runs {one.worst.text} to {one.best.text}"
    )


def _bands_plot(bands: Sequence[Mapping[str, Any]], scale: Scale, anchor: str) -> Markup:
    """Draw groups of benchmarks as one band: 5 to 95 %, the middle half, the median."""
    height = max(_HEIGHT, _BAND * len(bands))
    fives = [[scale.clipped(number) for number in band["numbers"].numbers] for band in bands]

    def stairs(place: int) -> list[tuple[float, float]]:
        """Give each number twice, at both ends of its step."""
        return [
            (five[place], 1 - (k + end) / len(bands))
            for k, five in enumerate(fives)
            for end in (0, 1)
        ]

    outer, inner = ([*stairs(low), *reversed(stairs(4 - low))] for low in (0, 1))
    marks: list[plots.Mark] = [
        plots.again(anchor),
        plots.curve(outer, "suite-outer", top=0, height=height, closed=True),
        plots.curve(inner, "suite-inner", top=0, height=height, closed=True),
        plots.curve(stairs(2), "line neither", top=0, height=height),
    ]
    count = sum(band["benchmarks"] for band in bands)
    first, last = (bands[k]["numbers"].median.text for k in (0, -1))
    alt = f"{count} more benchmarks in {len(bands)} groups: medians from {first} to {last} times"
    return plots.plot(height, marks, alt)


def _scale(column: Mapping[str, Any], margin: float) -> Scale:
    """Give the scale that holds all boxes, and whiskers that are not far longer than those."""
    sides = (row[side] for row in _listed_rows(column) for side in ("baseline", "candidate"))
    fives = [five.numbers for five in sides if five is not None]
    boxes = [*fives, *(band["numbers"].numbers for band in column["bands"])]
    logs = [math.log(number) for five in boxes for number in five[1:4]]
    low, high = min([*logs, -margin]), max([*logs, margin])
    usual = statistics.median(math.log(five[3] / five[1]) for five in fives) if fives else 0
    beyond = max(_BEYOND * usual, _SHARE * (high - low))
    ends = [math.log(number) for five in fives for number in (five[0], five[4])]
    reach = [min(max(end, low - beyond), high + beyond) for end in ends]
    return plots.ratio_scale([math.exp(log) for log in (*logs, *reach)], margin, room=0.03)


def _spaced(scale: Scale, ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Leave out ticks whose numbers would touch on the narrowest page: 1 stays, then the ends."""
    kept = plots.kept_in_row(
        [scale.at(tick.value) for tick in ticks],
        [tick.text for tick in ticks],
        _NARROW,
        importance=[2 if tick.value == 1 else 0 if tick.minor else 1 for tick in ticks],
    )
    half = {tick: plots.text_width(tick.text) / 2 - 12 for tick in ticks}  # cells beside have room
    return tuple(
        tick
        for tick, stays in zip(ticks, kept, strict=True)
        if stays and half[tick] <= scale.at(tick.value) * _NARROW <= _NARROW - half[tick]
    )
