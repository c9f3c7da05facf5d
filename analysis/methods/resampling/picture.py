"""The pictures of resampling: ratios under random assignments, and single passes over the suite."""

from __future__ import annotations

import numpy as np

from ...pages import number_format as figures
from ...pages.number_format import said
from ...plots.axes import Axes, Key, density_axis, quantity_axis, rows_down
from ...plots.layout import arranged
from ...plots.paper import Picture
from ...plots.scale import Scale, quantity_scale, quantity_ticks
from ...plots.sheet import Sheet
from ...words import shorten, shown
from .report import ResamplingReport
from .result import BootstrapInterval, DistributionComparison, RandomizationTest

__all__ = ["resampling_picture"]

_SHEET = Sheet(width=218.4)
_NAME = 30
_BINS = 60
_CURVES = 6  # systems drawn in colours of their own; more are drawn as boxes only
_MOST_BOXES = 40


def resampling_picture(report: ResamplingReport) -> Picture:
    """Draw the ratio beside those of random assignments, and the empirical distributions."""
    boxes = 0.5 + 0.3 * min(len(report.distributions.systems), _MOST_BOXES)
    curves, summaries = _passes(report.distributions)
    ours, theirs = (
        shorten(shown(name), _NAME) for name in (report.test.candidate, report.test.baseline)
    )
    return arranged(
        _SHEET,
        [[_null(report.test, report.interval)], [curves], [summaries]],
        (6.5 + boxes) * 25.4,
        heights=(3, 3, boxes),
        title=f"{ours} against {theirs}",
    )


def _null(test: RandomizationTest, interval: BootstrapInterval | None) -> Axes:
    """Draw the ratios under random assignments, the observed one, and its interval."""
    low, high = float(test.null.min()), float(test.null.max())
    vary = high - low > 1e-9 * high
    counts, edges = (
        np.histogram(test.null, bins=_BINS) if vary else (np.ones(1), np.array([low, low]))
    )
    shares = 100 * counts / counts.sum()
    ends = (
        []
        if interval is None
        else [v for v in (interval.low, interval.high) if np.isfinite(v) and v]
    )
    scale = quantity_scale((low, high, test.ratio, 1.0, *ends), log=False, room=0.04)
    axes = Axes(x=scale, y=Scale(0.0, 1.1 * float(shares.max())))
    if vary:
        axes.curve([edges[0], *np.repeat(edges, 2)[1:-1], edges[-1]], [0, *np.repeat(shares, 2), 0], "bars", closed=True)  # fmt: skip
    else:
        axes.upright(low, "one broad")
    axes.upright(1.0, "one thin")
    axes.upright(test.ratio, "c1 thick")
    axes.keys.append(Key(f"observed {figures.significant(test.ratio, 4)}", "c1 thick"))
    if interval is not None:
        _interval(axes, interval, 0.5 * axes.y.high)
    drawn = f"all {test.resamples:,}" if test.exact else f"{test.resamples:,} random"
    axes.title = (
        f"ratios under {drawn} assignments of labels to {test.unit_words.split(',')[0]}: "
        f"p {figures.pvalue(test.pvalue)}, {test.alternative_words}"
    )
    word = said("faster", timed=test.timed)
    axes.x_label = f"ratio of {test.mean} means (above 1: the candidate is {word})"
    axes.y_label = "share of assignments, %"
    axes.x_ticks, axes.y_ticks = quantity_ticks(scale, "1", 8), quantity_ticks(axes.y, "1", 5)
    return axes


def _interval(axes: Axes, interval: BootstrapInterval, y: float) -> None:
    """Draw the interval as a bar; an arrow stands where it is open."""
    sides = interval.sides
    low = axes.x.low if sides == "upper" else interval.low
    high = axes.x.high if sides == "lower" else interval.high
    kind = "interval" if sides == "two" else f"{sides} bound"
    axes.line(low, y, high, y, "c0 broad")
    text = f"{interval.confidence * 100:g} % {kind} ({interval.interval})"
    axes.keys.append(Key(text, "c0 broad"))
    if sides != "two":
        end, shape = (low, "left") if sides == "upper" else (high, "right")
        axes.spots(end, y, "c0", r=4.5, shape=shape)


def _passes(comparison: DistributionComparison) -> tuple[Axes, Axes]:
    """Draw density curves, and below them boxes with whiskers at minimum and maximum, as published."""
    systems = comparison.systems
    first, n = systems[0], len(systems[0].benchmarks)
    some = systems[:_MOST_BOXES]
    densities = [system.density() for system in systems[:_CURVES]]
    known = [one for one in densities if one is not None]
    ends = [end for one in some for end in (one.five[0], one.five[-1])]
    ends += [float(end) for one in known for end in (one.grid[0], one.grid[-1])]
    scale = quantity_scale(ends, log=False, room=0.04)
    top = 1.06 * max((float(one.density.max()) for one in known), default=1.0)
    above = Axes(
        x=scale,
        y=Scale(0.0, top),
        x_texts=False,
        title=f"{first.mean} means of {first.resamples:,} passes, one run of each of {n} "
        f"benchmark{'s' * (n > 1)}; dotted: mean of all runs",
    )
    quantity_axis(above, "x", scale, first.unit)
    density_axis(above, scale, first.unit, top, of="passes")
    for k, (system, curve) in enumerate(zip(systems, densities, strict=False)):
        css = f"c{k} d{k}"
        above.keys.append(Key(shorten(shown(system.name), _NAME), f"{css} interval"))
        if curve is None:
            above.upright(system.median, f"{css} interval")
            continue
        around = [curve.grid[0], *curve.grid, curve.grid[-1]]
        above.curve(around, [0, *curve.density, 0], f"{css} veil", closed=True)
        above.curve(curve.grid, curve.density, f"{css} interval")
        above.upright(system.observed, f"c{k} dotted rim")
    if not known:
        x = scale.low + 0.03 * (scale.high - scale.low)
        above.text(x, 0.9 * top, "the passes do not vary", "one")
    below = rows_down([shorten(shown(one.name), 20) for one in some], small=True)
    quantity_axis(below, "x", scale, first.unit)
    for y, system in enumerate(some):
        css = f"c{y}" if y < _CURVES else "one"
        low, q1, middle, q3, high = system.five
        below.line(low, y, high, y, css)
        for end in (low, high):
            below.line(end, y - 0.16, end, y + 0.16, css)
        below.band(q1, q3, y - 0.275, y + 0.275, "page")
        corners = ((q1, q3, q3, q1, q1), (-0.275, -0.275, 0.275, 0.275, -0.275))
        below.curve(corners[0], [y + part for part in corners[1]], f"{css} curve")
        below.line(middle, y - 0.275, middle, y + 0.275, "ink interval")
    side = "lower" if first.better == "lower" else "higher"
    more = f"; {len(systems) - len(some)} more systems" if len(systems) > len(some) else ""
    below.x_label = (
        f"mean of one pass ({side} is better; box: quartiles, ends: minimum, maximum){more}"
    )
    return above, below
