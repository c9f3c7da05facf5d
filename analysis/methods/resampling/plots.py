"""Pictures of resampling: the ratio among those of chance, and systems' distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plots import COLOURS, DASHES, INK, PALE, Scale, density_axis, look, quantity_axis
from ...report import figures, said
from ...words import shown
from .distribution.result import DistributionComparison
from .interval.result import BootstrapInterval
from .randomization.result import RandomizationTest
from .report import ResamplingReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["resampling_figure"]

_NAME = 30
_BINS = 60
_CURVES = 6  # systems drawn in colours of their own; more are drawn as boxes only
_MOST_BOXES = 40


def resampling_figure(report: ResamplingReport) -> Figure:
    """Draw the ratio beside those of random assignments, and the empirical distributions."""
    from matplotlib.figure import Figure

    with look():
        boxes = 0.5 + 0.3 * min(len(report.distributions.systems), _MOST_BOXES)
        figure = Figure(figsize=(8.6, 6.5 + boxes), layout="constrained")
        top, middle, bottom = figure.subplots(3, 1, height_ratios=[3, 3, boxes])
        _null(top, report.test, report.interval)
        bottom.sharex(middle)
        _curves(middle, report.distributions)
        _boxes(bottom, report.distributions)
        middle.tick_params(labelbottom=False)
        unit = report.distributions.systems[0].unit
        across = Scale(*middle.get_xlim())
        density_axis(middle, across, unit, middle.get_ylim()[1], of="passes")
        quantity_axis(bottom, "x", across, unit)
        ours, theirs = (
            figures.shorten(shown(name), _NAME)
            for name in (report.test.candidate, report.test.baseline)
        )
        figure.suptitle(f"{ours} against {theirs}", fontsize=11, x=0.01, ha="left")
    return figure


def _null(axes: Axes, test: RandomizationTest, interval: BootstrapInterval | None) -> None:
    """Draw the ratios under random assignments, the observed one, and its interval."""
    null = test.null
    low, high = float(null.min()), float(null.max())
    if high - low > 1e-9 * high:
        counts, edges = np.histogram(null, bins=_BINS)
        axes.stairs(counts / counts.sum() * 100, edges, fill=True, color="#c3cdd6")
    else:
        axes.axvline(low, color=PALE, linewidth=4)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.04)
    top = axes.get_ylim()[1]
    axes.axvline(1, color=PALE, linewidth=0.8, zorder=0)
    label = f"observed {figures.significant(test.ratio, 4)}"
    axes.axvline(test.ratio, color=COLOURS[1], linewidth=1.8, label=label)
    if interval is not None:
        _interval(axes, interval, 0.5 * top)
    axes.set_ylim(0, top * 1.05)
    drawn = f"all {test.resamples:,}" if test.exact else f"{test.resamples:,} random"
    word = said("faster", timed=test.timed)
    axes.set_title(
        f"ratios under {drawn} assignments of labels to {test.unit_words.split(',')[0]}: "
        f"p {figures.pvalue(test.pvalue)}, {test.alternative_words}"
    )
    axes.set_xlabel(f"ratio of {test.mean} means (above 1: the candidate is {word})")
    axes.set_ylabel("share of assignments, %")
    axes.legend(loc="best", fontsize=8)


def _interval(axes: Axes, interval: BootstrapInterval, y: float) -> None:
    """Draw the interval as a bar; an arrow stands where it is open."""
    left, right = axes.get_xlim()
    sides = interval.sides
    low = min(left, interval.high) if sides == "upper" else interval.low
    high = max(right, interval.low) if sides == "lower" else interval.high
    kind = "interval" if sides == "two" else f"{sides} bound"
    axes.plot(
        [low, high],
        [y, y],
        color=COLOURS[0],
        linewidth=4,
        solid_capstyle="butt",
        label=f"{interval.confidence * 100:g} % {kind} ({interval.interval})",
    )
    if sides != "two":
        end, marker = (low, "<") if sides == "upper" else (high, ">")
        axes.plot([end], [y], color=COLOURS[0], marker=marker, markersize=9, clip_on=False)


def _curves(axes: Axes, comparison: DistributionComparison) -> None:
    systems = comparison.systems
    n = len(systems[0].benchmarks)
    axes.set_title(
        f"{systems[0].mean} means of {systems[0].resamples:,} passes, one run of each of {n} "
        f"benchmark{'s' * (n > 1)}; dotted: mean of all runs"
    )
    flat = True
    for k, system in enumerate(systems[:_CURVES]):
        name = figures.shorten(shown(system.name), _NAME)
        curve = system.density()
        if curve is None:
            axes.axvline(system.median, color=COLOURS[k], linestyle=DASHES[k], label=name)
            continue
        flat = False
        axes.plot(
            curve.grid, curve.density, color=COLOURS[k], linestyle=DASHES[k], linewidth=1.6,
            label=name,
        )  # fmt: skip
        axes.fill_between(curve.grid, curve.density, color=COLOURS[k], alpha=0.12, linewidth=0)
        axes.axvline(system.observed, color=COLOURS[k], linestyle=":", linewidth=1.1)
    axes.set_ylim(bottom=0)
    axes.legend(loc="best", fontsize=8)
    if flat:
        axes.text(
            0.03, 0.9, "the passes do not vary", transform=axes.transAxes, va="top", color=PALE
        )


def _boxes(axes: Axes, comparison: DistributionComparison) -> None:
    """Draw boxes with whiskers at minimum and maximum, as published."""
    some = comparison.systems[:_MOST_BOXES]
    for k, system in enumerate(some):
        colour = COLOURS[k] if k < _CURVES else PALE
        low, q1, middle, q3, high = system.five
        y = -k
        axes.plot([low, high], [y, y], color=colour, linewidth=1.0, zorder=1)
        for end in (low, high):
            axes.plot([end, end], [y - 0.16, y + 0.16], color=colour, linewidth=1.0)
        axes.barh(
            y, q3 - q1, left=q1, height=0.55, color="white", edgecolor=colour, linewidth=1.4,
            zorder=2,
        )  # fmt: skip
        axes.plot([middle] * 2, [y - 0.275, y + 0.275], color=INK, linewidth=1.6, zorder=3)
    axes.set_yticks(
        [-k for k in range(len(some))],
        [figures.shorten(shown(system.name), 20) for system in some],
        fontsize=8,
    )
    axes.set_ylim(-len(some) + 0.4, 0.6)
    axes.margins(x=0.03)
    lower = comparison.systems[0].better == "lower"
    left_out = len(comparison.systems) - len(some)
    axes.set_xlabel(
        "mean of one pass"
        + f" ({'lower' if lower else 'higher'} is better; box: quartiles, ends: minimum, maximum)"
        + (f"; {left_out} more systems" if left_out else "")
    )
