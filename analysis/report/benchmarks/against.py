"""The pictures of a candidate beside the baseline: by session, shares of runs, and quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ... import plots
from ...pages.number_format import quantity
from ...plots.axes import quantity_scale, quantity_ticks, ratio_ticks
from ...words import shorten, shown
from .. import runs as axes
from ..runs import Area, Grounds

if TYPE_CHECKING:
    from ...plots.marks import Mark
    from ..runs import Floats
    from .benchmarks import Benchmark

__all__ = ["ecdf", "sessions", "shift", "steps"]

_TALL = 150.0
_AXIS = 20.0
_ROWS = 240.0  # pixels of all sessions together, at most
_ROW, _LEAST_ROW = 20.0, 2.0
_LABEL = 15.0  # pixels of a label
_INDENTED = 215.0  # pixels of the narrowest picture beside labels
_SESSION = 6  # letters of a session's name
_UP_APART = 0.16
_NEAR = 0.14  # of the width: a curve that would go through "50 %"
_GRAIN = 1000  # of the width: what the picture can hold
_PIXEL = 1 / 400, 1 / _TALL  # of width and height, about: of more runs than pixels


def sessions(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw a candidate's sessions from 1, and below a hairline their mean; nothing without a speedup."""
    line, result = one.lines[variant], one.known.results[variant]
    if line.speedup is None:
        return Markup("")
    told, style = one.candidates[variant]["by_session"], one.styles[variant]
    values = [ratio["speedup"].value or 1.0 for ratio in told]
    ends = [end for end in (line.low, line.high) if end is not None]
    scale = axes.bounded_ratios([*values, line.speedup], ends, result.margin)
    margin = scale.clipped(1 / (1 + result.margin)), scale.clipped(1 + result.margin)
    ticks = axes.labels_of(ratio_ticks(scale, 5), scale, _INDENTED)
    middle = scale.at(1.0)

    row = max(_LEAST_ROW, min(_ROW, _ROWS / max(1, len(values))))
    every = max(1, math.ceil(_LABEL / row))
    high = len(values) * row + 12
    total, below = high + 36, high + 18
    area = Area(top=0.0, height=high)
    downs = [6 + (k + 0.5) * row for k in range(len(values))]
    places = [(scale.clipped(x), 1 - y / high) for x, y in zip(values, downs, strict=True)]
    marks = [
        plots.band(*margin, 0, total, "margin"),
        *(plots.stroke(tick.at, 0, total, "grid") for tick in ticks if tick.at != middle),
        plots.stroke(middle, 0, total, "one"),
        plots.segments([(middle, y, x, y) for x, y in places], f"{style} parts-lead", **area),
        plots.dots(places, f"{style} parts-value", **area),
    ]
    if values:
        marks.append(plots.line(0, high, 1, high, "grid"))
    if line.low is not None and line.high is not None:
        left, right = scale.clipped(line.low), scale.clipped(line.high)
        marks.append(plots.line(left, below, right, below, f"{style} interval"))
        if line.low < scale.low:
            marks.append(plots.arrow(left, below, "left", f"{style} line"))
        if line.high > scale.high:
            marks.append(plots.arrow(right, below, "right", f"{style} line"))
    hollow = " hollow" if line.outcome == "undecided" else ""
    marks.append(plots.dot(scale.clipped(line.speedup), below, f"{style}{hollow}", r=5))
    labels = [(ratio["session"], y) for ratio, y in zip(told, downs, strict=True)][::every]
    named = (_beside(label, y + 4) for label, y in (*labels, ("mean", below)) if label)
    marks.append(grounds.of(*named))
    marks += [_below(tick, total + 15) for tick in ticks]
    return plots.plot(total + _AXIS, marks, shown(_sessions_alt(one, variant, values)))


def _sessions_alt(one: Benchmark, variant: str, values: Sequence[float]) -> str:
    result, told = one.known.results[variant], one.variants[variant]
    text = f"{variant}: {told['speedup'].text} times"
    if told["low"].text:
        ends = f"{told['low'].text} to {told['high'].text}"
        text += f", {100 * result.confidence:g} % interval {ends}"
    text += f", {told['word']}"
    if len(values) > 1:
        ahead = sum(value > 1 for value in values)
        noun = "blocks" if result.design == "one session, blocks" else f"{result.outermost}s"
        text += f"; above 1 in {ahead} of {len(values)} {noun}"
        text += f", from {min(values):.3g} to {max(values):.3g}"
    return text


def ecdf(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw the share of runs up to each value, of a candidate and of the baseline."""
    base, unit, style = one.known.subject.baseline, one.known.unit, one.styles[variant]
    sides = [one.cells[name] for name in (variant, base)]
    lows, highs = zip(*(cell.ends for cell in sides), strict=True)
    scale = quantity_scale((min(lows), max(highs)), log=min(lows) > 0)
    ours, theirs = (steps(axes.shares(cell.values, scale)) for cell in sides)
    ticks = axes.labels_of(quantity_ticks(scale, unit, 5), scale)
    # "50 %" stands at the edge that is away from the curves
    halfway = [axes.across(curve, 0.55) for curve in (ours, theirs)]
    right = min(halfway) < min(_NEAR, 1 - max(halfway))
    halves = [quantity(float(np.median(cell.values)), unit) for cell in sides]
    area = Area(top=0.0, height=_TALL)
    marks = [
        grounds.of(
            plots.segments([(0, y, 1, y) for y in (0.25, 0.5, 0.75)], "grid", **area),
            plots.segments([(0, 0, 1, 0)], "one", **area),
        ),
        plots.curve(theirs, "baseline line", steps=True, **area),
        plots.curve(ours, f"{style} line", steps=True, **area),
        plots.label(
            float(right), _TALL / 2 - 4, "50\u00a0%", "", anchor="end" if right else "start"
        ),
        *(
            plots.label(
                name.at,
                _TALL * (1 - name.up) + 4,
                shown(name.text),
                f"{name.style} parts-name",
                anchor=name.anchor,
                dx=-7 if name.anchor == "end" else 7,
            )
            for name in axes.placed_names(
                ours, theirs, (one.known.short[variant], one.known.short[base]), style
            )
        ),
        *(plots.stroke(tick.at, _TALL, _TALL + 4, "one") for tick in ticks),
        *(_below(tick, _TALL + 16) for tick in ticks),
    ]
    alt = (
        f"Distribution functions: half of the runs of {variant} are at most {halves[0]}, "
        f"of {base} {halves[1]}"
    )
    return plots.plot(_TALL + _AXIS, marks, shown(alt))


def steps(places: Floats) -> list[axes.Place]:
    """Give the corners of a distribution function from the left edge to the right one.

    Of many runs a corner that is nearer than a pixel to the one before is none of its own.
    """
    ordered = np.sort(places).tolist()
    wide, high = _PIXEL if len(ordered) > _TALL else (1 / _GRAIN, 0.0)
    found: list[axes.Place] = [(0.0, 0.0)]
    for k, x in enumerate(ordered, 1):
        before, share = found[-1], k / len(ordered)
        if x - before[0] < wide:
            found[-1] = (before[0], share)
        elif share - before[1] >= high or k == len(ordered):
            found.append((x, share))
    return [*found, (1.0, 1.0)]


def shift(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw the speedup at each quantile; nothing where sessions have too few runs."""
    quantiles = one.candidates[variant]["shift"]
    if not quantiles:
        return Markup("")
    result, style = one.known.results[variant], one.styles[variant]
    values = [at["speedup"].value or 1.0 for at in quantiles]
    known = [at for at in quantiles if at["low"].value is not None and at["high"].value is not None]
    ends = [at[end].value for at in known for end in ("low", "high")]
    scale = axes.bounded_ratios(values, ends, result.margin)
    low, high = scale.clipped(1 / (1 + result.margin)), scale.clipped(1 + result.margin)
    points = [(at["share"], scale.clipped(v)) for at, v in zip(quantiles, values, strict=True)]
    ticks, middle = axes.upright_labels(ratio_ticks(scale, 4), scale, _UP_APART), scale.at(1.0)
    intervals = [(at["share"], at["low"].value, at["high"].value) for at in known]
    area = Area(top=0.0, height=_TALL)
    marks = [
        plots.band(0, 1, _TALL * (1 - high), _TALL * (1 - low), "margin"),
        plots.segments([(0, t.at, 1, t.at) for t in ticks if t.at != middle], "grid", **area),
        plots.segments([(0, middle, 1, middle)], "one", **area),
        plots.segments(
            [(x, scale.clipped(a), x, scale.clipped(b)) for x, a, b in intervals],
            f"{style} line",
            **area,
        ),
        plots.dots(points, f"{style} parts-quantile", **area),
    ]
    if one.variants[variant]["word"] == "undecided":
        marks.append(plots.dots(points, "parts-hole", **area))
    for x, a, b in intervals:
        marks += [plots.arrow(x, _TALL, "down", f"{style} line")] * (a < scale.low)
        marks += [plots.arrow(x, 0, "up", f"{style} line")] * (b > scale.high)
    marks += axes.up_labels(ticks, _TALL)
    every = 2 if len(points) == 9 else 1
    percents = (plots.label(x, _TALL + 17, f"{100 * x:g}\u00a0%", "") for x, _ in points[::every])
    marks.append(grounds.of(*percents))
    return plots.plot(
        _TALL + _AXIS, marks, shown(_shift_alt(variant, quantiles, timed=result.timed))
    )


def _shift_alt(variant: str, quantiles: Sequence[Mapping[str, Any]], *, timed: bool) -> str:
    first, last = quantiles[0], quantiles[-1]
    text = (
        f"{'speedup' if timed else 'ratio'} of {variant} by quantile: "
        f"{first['speedup'].text} at {100 * first['share']:g} %, "
        f"{last['speedup'].text} at {100 * last['share']:g} %"
    )
    known = [at for at in quantiles if at["low"].value is not None and at["high"].value is not None]
    if not known:
        return f"{text}; no intervals, because there is one session"
    clear = [
        f"{100 * at['share']:g} %"
        for at in known
        if not (at["low"].value or 0) <= 1 <= (at["high"].value or 0)
    ]
    if not clear:
        return f"{text}; every interval holds 1"
    if len(clear) == len(known):
        return f"{text}; no interval holds 1"
    return f"{text}; the interval does not hold 1 at {', '.join(clear)}"


def _beside(text: str, y: float) -> Mark:
    return plots.label(0, y, shorten(shown(text), _SESSION), "", anchor="end", dx=-8)


def _below(tick: axes.Label, y: float) -> Mark:
    return plots.label(tick.at, y, tick.text, "", anchor=tick.anchor)
