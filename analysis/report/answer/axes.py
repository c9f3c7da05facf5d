"""The scale of one candidate's column."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from ...methods.multilevel.result import BenchmarkLine, Line
from ...pages.number_format import said
from ...plots.scale import ratio_scale, ratio_ticks
from .result import Axis

__all__ = ["axis_of"]

_BEYOND = 3.0  # usual half-widths that an interval may reach beyond all estimates
_SHARE = 0.6  # and the share of the estimates' range that it may always
_ROOM = 0.25  # share of the axis beside 1 from which on its word stands there
_TICKS = 4


def axis_of(lines: Sequence[Line], margin: float, *, timed: bool) -> Axis:
    """Give the scale that holds all estimates, 1 with its margin, and the usual interval.

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
    estimates = [line.speedup for line in lines if line.speedup is not None]
    logs = [math.log(value) for value in estimates]
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
    scale = ratio_scale([math.exp(value) for value in (*logs, *wide)], margin)
    one = scale.at(1.0)
    return Axis(
        scale=scale,
        ticks=ratio_ticks(scale, _TICKS),
        margin=(1 / (1 + margin), 1 + margin),
        slower=said("slower", timed=timed) if one > _ROOM else "",
        faster=said("faster", timed=timed) if one < 1 - _ROOM else "",
    )


def _reach(line: Line) -> list[float]:
    ends = [end for end in (line.low, line.high) if end is not None]
    if isinstance(line, BenchmarkLine):
        ends += [math.exp(difference) for difference in line.differences]
    return ends
