"""Areas with two scales, and what is written around them.

What an area holds is given in the units of its scales, as marks; `analysis.plots.chart` gives it its
place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..pages.number_format import SCALES
from .marks import Area, Curve, Dots, Line, Mark, Rect, Segments, Text
from .texts import Box

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# --- Scales: where a value lies on an axis, as a share of its length, and the axis's ticks.


_EACH = 0.06  # of the axis's length, that one more tick is worth
_GRIDS: tuple[tuple[float, ...], ...] = (  # in addition to 1
    (),
    (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0),
    (0.01, 100.0),
    (0.1, 10.0),
    (0.0625, 0.125, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0),
    (0.0625, 0.25, 4.0, 16.0),
    (0.02, 0.05, 0.2, 0.5, 2.0, 5.0, 20.0, 50.0),
    (0.2, 5.0),
    (0.5, 2.0),
    (0.5, 0.7, 1.5, 2.0, 3.0),
    (0.6, 0.8, 1.2, 1.4),
    (0.7, 0.8, 0.9, 1.1, 1.2, 1.5),
    (0.8, 0.9, 1.1, 1.2),
    (0.8, 1.2),
    (0.9, 1.1),
    (0.9, 0.95, 1.05, 1.1),
    (0.96, 0.98, 1.02, 1.04),
    (0.98, 0.99, 1.01, 1.02),
    (0.99, 0.995, 1.005, 1.01),
)
_LEAST = 1e-9  # relative width below which a range is a point
_FARTHEST = 690.0  # of a logarithm: e to that, and a round value above it, are still numbers


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, linear or logarithmic; ``low < high``."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Give the value's place: 0 at `low`, 1 at `high`; what lies outside leaves that range."""
        low, high = self._of(self.low), self._of(self.high)
        return (self._of(value) - low) / (high - low)

    def clipped(self, value: float) -> float:
        """Give the value's place, or the nearer edge."""
        return min(1.0, max(0.0, self.at(value)))

    def holds(self, value: float) -> bool:
        """Whether the value lies on the axis."""
        return self.low <= value <= self.high

    def _of(self, value: float) -> float:
        return math.log(value) if self.log else value


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    value: float
    text: str


def ratio_scale(values: Iterable[float], margin: float = 0.0, room: float = 0.06) -> Scale:
    """Give the log scale of speedups: all values, 1 and its margin, with room at both ends.

    What is not finite or not positive is left out. The band ``1 ± margin`` (1 / (1 + margin) below)
    is on the scale; `room` is the share of the length that stays free at each end.
    """
    logs = [math.log(v) for v in values if math.isfinite(v) and v > 0]
    band = math.log1p(max(margin, 0.005))
    low, high = min([*logs, -band]), max([*logs, band])
    free = (high - low) * room
    return _log_scale(low - free, high + free)


def ratio_ticks(scale: Scale, most: int = 4) -> tuple[Tick, ...]:
    """Give ticks of speedups, such as ``2×``; 1 is always there if the scale holds it.

    At most `most` of them, from the grid that reaches over most of the axis with most ticks.
    """
    long = math.log(scale.high) - math.log(scale.low)
    best: tuple[float, list[float]] = (-1.0, [])
    for grid in _GRIDS:
        inside = sorted({g for g in (1.0, *grid) if scale.holds(g)})
        if inside and len(inside) <= max(1, most):
            score = math.log(inside[-1] / inside[0]) / long + _EACH * len(inside)
            best = max(best, (score, inside), key=lambda found: found[0])
    return tuple(Tick(value, f"{value:g}×") for value in best[1])


def quantity_scale(values: Iterable[float], *, log: bool = True, room: float = 0.06) -> Scale:
    """Give the scale of measured values, with room at both ends.

    Logarithmic only where all values are positive. A single value has 5 % of itself around it.
    """
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return Scale(0.0, 1.0)
    if len({*known}) > 1:  # what is nearer to 0 than any logarithm of an axis is drawn there
        known = [v if abs(v) > math.exp(-_FARTHEST) else 0.0 for v in known]
    low, high = min(known), max(known)
    if log and low > 0:
        a, b = math.log(low), math.log(high)
        free = max((b - a) * room, 0.05 if b - a < _LEAST else 0.0)
        return _log_scale(a - free, b + free)
    free = (high - low) * room or abs(high) * 0.05 or 0.5
    return Scale(low - free, high + free)


def quantity_ticks(scale: Scale, unit: str, most: int = 5) -> tuple[Tick, ...]:
    """Give ticks of measured values; the unit stands once, at the last one.

    Times and sizes are written in the unit that gives the axis's middle a sensible size.
    """
    factor, name = unit_of(scale, unit)
    low, high = scale.low / factor, scale.high / factor
    found = _round_values(low, high, most, log=scale.log)
    texts = _distinct(found)
    if texts and name:
        texts[-1] = f"{texts[-1]} {name}"
    return tuple(Tick(v * factor, text) for v, text in zip(found, texts, strict=True))


def read_out(scale: Scale, unit: str) -> str:
    """Describe an axis for the page's script: ends in the unit of its ticks, 1 if log, the unit."""
    factor, name = unit_of(scale, unit)
    return f"{scale.low / factor:.6g} {scale.high / factor:.6g} {scale.log:d} {name}".rstrip()


def unit_of(scale: Scale, unit: str) -> tuple[float, str]:
    """Give the unit in which an axis of measured values is written: its size, and its name."""
    middle = (
        math.sqrt(scale.low) * math.sqrt(scale.high) if scale.log else (scale.low + scale.high) / 2
    )
    known = SCALES.get(unit)
    if known is None:
        return 1.0, "" if unit == "1" else unit
    return next(((f, name) for f, name in known if float(f"{abs(middle) / f:.2e}") >= 1), known[-1])


def _log_scale(low: float, high: float) -> Scale:
    low, high = min(max(low, -_FARTHEST), _FARTHEST - 1), max(min(high, _FARTHEST), 1 - _FARTHEST)
    return Scale(math.exp(low), math.exp(high), log=True)


def _distinct(values: Iterable[float]) -> list[str]:
    """Write round numbers with as many digits as tell them apart: a narrow axis needs more."""
    known = list(values)
    texts: list[str] = []
    for digits in (6, 9, 12, 15, 17):
        texts = [f"{value:.{digits}g}" for value in known]
        if len(set(texts)) == len(known):
            break
    return texts


def _round_values(low: float, high: float, most: int, *, log: bool) -> list[float]:
    """Give round values from `low` to `high`: as many as fit, at most `most`, at least two."""
    best: list[float] = []
    if log and high / low > 3:
        for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            inside = [
                value
                for k in range(first, last + 1)
                for digit in digits
                if low <= (value := digit * 10.0**k) <= high
            ]
            if len(best) < len(inside) <= most:
                best = inside
        if not best:  # the powers of ten are many, and some must do
            powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
            nth = -(-len(powers) // most)
            round_ones = [k for k in powers if k % nth == 0]
            best = [10.0**k for k in (round_ones if len(round_ones) > 1 else powers[::nth])]
    if len(best) >= 2:
        return best
    wide = high - low
    for k in range(math.floor(math.log10(wide)) - 2, math.floor(math.log10(wide)) + 1):
        for digit in (1, 2, 5):
            step = digit * 10.0**k
            first = math.ceil(low / step - 1e-9)
            last = math.floor(high / step + 1e-9)
            if last - first > most:
                continue
            inside = [float(f"{n * step:.15g}") for n in range(first, last + 1) if n or not log]
            if len(best) < len(inside) <= most:
                best = inside
    return best


_WHOLE = Area(0.0, 1.0)


class Key(NamedTuple):
    """What a look stands for: a text with a sample of it; the shape of a spot, or "" for a line."""

    text: str
    css: str
    shape: str = ""


@dataclass(kw_only=True, eq=False)
class Axes:
    """An area, and what is written around it.

    `x`, `y`: Its ends; `y` may go from high to low. Ticks are written below (`top`: above) and at
    the left, with their texts (`x_texts`, `y_texts`) or without, where neighbours share them;
    labels and title may have several lines. `sides`: Which are drawn: l(eft), b(ottom), t(op).
    `rows`: Whether the texts at the left are names, which are set in ink. `beside`: Texts at the
    right: their y, what they say, their role. `keys`: Above the area. `square`: Whether it is as
    wide as high. `then`: Called with the area's place, before it is drawn: what needs to know
    lengths.
    """

    x: Scale = field(default_factory=lambda: Scale(0.0, 1.0))
    y: Scale = field(default_factory=lambda: Scale(0.0, 1.0))
    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    x_label: str = ""
    y_label: str = ""
    title: str = ""
    title_css: str = "ink"
    sides: str = "lb"
    x_texts: bool = True
    y_texts: bool = True
    rows: bool = False
    top: bool = False
    small: bool = False
    square: bool = False
    beside: list[tuple[float, str, str]] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    then: Callable[[Axes, Box], None] | None = None
    marks: list[Mark] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self.marks.append(Line(x1, y1, x2, y2, css))

    def upright(self, x: float, css: str) -> None:
        """Draw a line from the bottom to the top."""
        self.marks.append(Line(x, -math.inf, x, math.inf, css))

    def level(self, y: float, css: str) -> None:
        """Draw a line from the left to the right."""
        self.marks.append(Line(-math.inf, y, math.inf, y, css))

    def band(
        self, x1: float | None, x2: float | None, y1: float | None, y2: float | None, css: str
    ) -> None:
        """Fill a rectangle; None is the edge."""
        ends = (
            -math.inf if x1 is None else x1, math.inf if x2 is None else x2,
            -math.inf if y1 is None else y1, math.inf if y2 is None else y2,
        )  # fmt: skip
        self.marks.append(Rect(*ends, css))

    def curve(
        self, x: ArrayLike, y: ArrayLike, css: str, *, steps: bool = False, closed: bool = False
    ) -> None:
        """Draw a line through points, cut at the area's edges; see `marks.curve`."""
        self.marks.append(Curve(np.column_stack((x, y)), css, _WHOLE, steps, closed))  # type: ignore[arg-type]

    def segments(
        self, x1: ArrayLike, y1: ArrayLike, x2: ArrayLike, y2: ArrayLike, css: str
    ) -> None:
        """Draw many straight lines."""
        ends = np.column_stack(np.broadcast_arrays(x1, y1, x2, y2))
        self.marks.append(Segments(ends, css, _WHOLE))  # type: ignore[arg-type]

    def spots(
        self, x: ArrayLike, y: ArrayLike, css: str, *, r: float = 1.3, shape: str = "circle"
    ) -> None:
        """Draw the same small mark at many points."""
        points = np.column_stack(np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y)))
        self.marks.append(Dots(points, css, _WHOLE, r, shape))  # type: ignore[arg-type]

    def text(
        self, x: float, y: float, text: str, css: str = "ink", *, anchor: str = "start",
        dx: float = 0.0, dy: float = 0.0,
    ) -> None:  # fmt: skip
        """Write a text: the middle of its line at the height y, moved by points."""
        self.marks.append(Text(x, y, text, css, anchor, dx, dy))

    def interval(
        self, y: float, middle: float, ends: tuple[float, float] | None, css: str,
        *, hollow: bool = False, suite: bool = False,
    ) -> None:  # fmt: skip
        """Draw an estimate with its interval on a row; open at an end that leaves the axis.

        `hollow` is undecided; `suite` draws a diamond.
        """
        if ends is not None:
            low, high = max(ends[0], self.x.low), min(ends[1], self.x.high)
            self.line(low, y, high, y, f"{css} interval")
            if ends[0] < self.x.low:
                self.spots(self.x.low, y, f"{css} rim hollow", r=2, shape="left")
            if ends[1] > self.x.high:
                self.spots(self.x.high, y, f"{css} rim hollow", r=2, shape="right")
        shape = "diamond" if suite else "circle"
        look = f"{css} rim hollow" if hollow else css
        self.spots(middle, y, look, r=2.2 if hollow else 2.7, shape=shape)

    def margin(self, margin: float, side: str = "x") -> None:
        """Shade what counts as equivalent: from 1 / (1 + margin) to 1 + margin."""
        if margin > 0:
            low, high = 1 / (1 + margin), 1 + margin
            if side == "x":
                self.band(low, high, None, None, "margin")
            else:
                self.band(None, None, low, high, "margin")


def quantity_axis(axes: Axes, side: str, scale: Scale, unit: str, most: int = 5) -> None:
    """Set an axis of measured values: round ticks, the unit at the last one, such as ``30 ms``."""
    _set(axes, side, scale, quantity_ticks(scale, unit, most))


def ratio_axis(axes: Axes, side: str, scale: Scale, most: int = 4) -> None:
    """Set a log axis of speedups, with 1× and its line of no difference."""
    _set(axes, side, scale, ratio_ticks(scale, most))
    if scale.holds(1.0):
        (axes.upright if side == "x" else axes.level)(1.0, "one thin")


def density_axis(axes: Axes, across: Scale, unit: str, top: float, *, of: str = "runs") -> None:
    """Set ticks and label of a density over an axis of values: ``share of runs per ms``.

    `top` is the highest density that is shown, in 1 / `unit`; `across` decides the unit.
    """
    factor, name = unit_of(across, unit)
    ticks = quantity_ticks(Scale(0.0, top * factor), "1", 4)
    axes.y_ticks = [Tick(tick.value / factor, tick.text) for tick in ticks if tick.value >= 0]
    axes.y_label = f"share of {of} per {name or 'unit'}"


def rows_down(names: Sequence[str], around: tuple[float, float] = (0.6, 0.4), **more: Any) -> Axes:  # noqa: ANN401 - of any kind
    """Give an area of rows: a name at each, from above, with room above the first and below the last."""
    ticks = [Tick(float(k), name) for k, name in enumerate(names)]
    ends = Scale(len(names) - 1 + around[1], -around[0])
    return Axes(y=ends, y_ticks=ticks, rows=True, sides="b", **more)


def _set(axes: Axes, side: str, scale: Scale, ticks: Sequence[Tick]) -> None:
    setattr(axes, side, scale)
    setattr(axes, f"{side}_ticks", ticks)
