"""Resampling in words and pictures: three conclusions, and how each was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
    Cell,
    Column,
    Figure as PageFigure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ...pages.number_format import said
from ...plots.drawing import INK, PALE, look
from ...plots.palette import COLOURS, DASHES
from ...plots.paper import density_axis, quantity_axis
from ...plots.scale import Scale
from ...words import shorten, shown
from .report import ResamplingReport
from .result import (
    BootstrapInterval,
    DistributionComparison,
    EmpiricalDistribution,
    RandomizationTest,
    percent,
    with_spread,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
            shorten(shown(name), _NAME) for name in (report.test.candidate, report.test.baseline)
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
        name = shorten(shown(system.name), _NAME)
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
        [shorten(shown(system.name), 20) for system in some],
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


_SHOWN = 12  # systems in the table of shares


@page_of.register(EmpiricalDistribution)
def _empirical_distribution_page(distribution: EmpiricalDistribution) -> Page:
    return Page(
        title=f"one pass over the suite: {distribution.name}",
        sections=(
            Section((Sentence(distribution.conclusion),)),
            _five_numbers((distribution,)),
        ),
        cautions=distribution.cautions,
    )


@page_of.register(DistributionComparison)
def _distribution_comparison_page(comparison: DistributionComparison) -> Page:
    return Page(
        title=f"one pass over the suite: {figures.listed([s.name for s in comparison.systems])}",
        sections=(Section((Sentence(comparison.conclusion),)), *summaries(comparison)),
        cautions=comparison.cautions,
    )


def summaries(comparison: DistributionComparison) -> Iterator[Section]:
    """Give the five-number summaries; of several systems also who beats whom."""
    yield _five_numbers(comparison.systems)
    if 2 < len(comparison.systems) <= _SHOWN:
        yield _wins(comparison)


def _five_numbers(systems: Sequence[EmpiricalDistribution]) -> Section:
    first = systems[0]
    unit = figures.unit_text(first.unit)
    n = len(first.benchmarks)
    # as many digits for all as the most consistent system needs
    finest = min((s.q3 - s.q1 for s in systems if s.q3 > s.q1), default=0.0)
    heads = ("minimum", "Q1", "median", "Q3", "maximum", "mean", "IQR")
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        numbers = (*system.five, system.observed)
        cells = map(Value, with_spread(numbers, finest), numbers)
        share = f"{figures.significant(100 * system.consistency, 2)} %"
        rows.append((shorten(system.name, 20), *cells, Value(share, system.consistency)))
    return Section(
        (
            Table(
                name="five-numbers",
                columns=(Column("", "left"), *map(Column, heads)),
                rows=tuple(rows),
            ),
        ),
        title=f"{first.mean} means of passes over {n} benchmark{'s' * (n > 1)}"
        + (f", in {unit}" if unit else ""),
    )


def _wins(comparison: DistributionComparison) -> Section:
    marks = [str(k) for k in range(1, len(comparison.systems) + 1)]
    rows = tuple(
        (
            mark,
            shorten(system.name, 24),
            *("-" if i == k else Value(percent(share), share) for i, share in enumerate(shares)),
        )
        for k, (mark, system, shares) in enumerate(
            zip(marks, comparison.systems, comparison.wins, strict=True)
        )
    )
    return Section(
        (
            Table(
                name="wins",
                columns=(Column(""), Column("", "left"), *map(Column, marks)),
                rows=rows,
            ),
        ),
        title="share of pairs of passes in which the row beats the column",
    )


_KINDS = {
    "percentile": "percentile",
    "corrected": "percentile, widened by sqrt(m / (m - 1))",
    "bca": "BCa",
    "studentized": "studentized",
}
_CENTRES = {
    "runs": "mean of all runs",
    "mean": "mean of the benchmarks' arithmetic means",
    "median": "mean of the benchmarks' medians",
}


@page_of.register(BootstrapInterval)
def _bootstrap_interval_page(interval: BootstrapInterval) -> Page:
    return Page(
        title=f"bootstrap interval: {interval.candidate} against {interval.baseline}",
        sections=(
            Section((Sentence(interval.conclusion),)),
            Section((interval_details(interval),)),
        ),
        cautions=interval.cautions,
    )


def interval_details(interval: BootstrapInterval) -> Table:
    """Tell what kind of interval it is, of what, and from which data."""
    n = len(interval.benchmarks)
    least, most = interval.runs
    count = f"{least}" if least == most else f"{least} to {most}"
    kind = f"{_KINDS[interval.interval]}, {interval.resamples:,} resamples"
    rows: list[tuple[Cell, Cell]] = [
        ("interval", Value(kind, interval.resamples)),
        ("ratio of", f"{interval.mean} means; {_CENTRES[interval.centre]}"),
        ("resampled", interval.units),
        ("", interval.unit_counts),
        ("data", f"{n} benchmark{'s' * (n > 1)} x {count} run{'s' * (most > 1)} on each side"),
    ]
    return _details("interval", rows)


def _details(name: str, rows: list[tuple[Cell, Cell]]) -> Table:
    """Set labels and what is known; a row without anything is left out."""
    both = (Column("", "left"),) * 2
    return Table(name=name, columns=both, rows=tuple(row for row in rows if row[1]), headed=False)


@page_of.register(RandomizationTest)
def _randomization_test_page(test: RandomizationTest) -> Page:
    return Page(
        title=f"randomization test: {test.candidate} against {test.baseline}",
        sections=(Section((Sentence(test.conclusion),)), Section((randomization_details(test),))),
        cautions=test.cautions,
    )


def randomization_details(test: RandomizationTest) -> Table:
    """Tell what was reassigned, how often, and where the ratios lie."""
    one_sided = (
        f"{side} better {figures.pvalue(p).removeprefix('= ')}"
        for side, p in (("candidate", test.pvalue_candidate), ("baseline", test.pvalue_baseline))
    )
    smallest = f"{figures.significant(test.smallest_pvalue)}, {test.alternative_words}"
    low, high = np.quantile(test.null, [0.025, 0.975]).tolist()
    rows: list[tuple[Cell, Cell]] = [
        ("reassigned", test.unit_words),
        ("", test.unit_counts),
        ("assignments", Value(_assignments(test), test.resamples)),
        ("p, one-sided", ", ".join(one_sided)),
        ("smallest p", Value(smallest, test.smallest_pvalue)),
        (
            "by chance",
            f"95 % of the ratios lie in {figures.significant(low, 4)} to "
            f"{figures.significant(high, 4)}",
        ),
    ]
    return _details("test", rows)


def _assignments(test: RandomizationTest) -> str:
    if test.exact:
        return f"all {test.resamples:,} (exact)"
    there = (
        f"{test.assignments:,}"
        if test.assignments is not None
        else f"about 10^{test.log10_assignments:.0f}"
    )
    return f"{test.resamples:,} drawn at random of {there}"


@page_of.register(ResamplingReport)
def _resampling_report_page(report: ResamplingReport) -> Page:
    return Page(
        title=f"resampling: {report.test.candidate} against {report.test.baseline}",
        sections=(
            Section(tuple(Sentence(text) for text in report.conclusions)),
            Section((_figure(report),)),
            *_parts(report),
        ),
        cautions=report.cautions,
    )


def _parts(report: ResamplingReport) -> Iterator[Section]:
    yield Section((randomization_details(report.test),), title="test")
    if report.interval is not None:
        yield Section((interval_details(report.interval),), title="interval")
    yield from summaries(report.distributions)
    if report.seed is not None:
        yield Section((Sentence(f"seed {report.seed}"),))


def _figure(report: ResamplingReport) -> PageFigure:
    test, systems = report.test, report.distributions.systems
    low, high = float(test.null.min()), float(test.null.max())
    between = "" if report.interval is None else ", with its interval"
    return PageFigure(
        name="resampling",
        alt=f"Above, a histogram of the ratios under {test.resamples:,} assignments of labels, from "
        f"{figures.significant(low, 4)} to {figures.significant(high, 4)}, and the observed ratio "
        f"{figures.significant(test.ratio, 4)}{between}. Below, density curves and boxplots of the "
        f"{test.mean} means of single passes over the suite with "
        f"{figures.listed([system.name for system in systems])}",
        draw=partial(resampling_figure, report),
    )
