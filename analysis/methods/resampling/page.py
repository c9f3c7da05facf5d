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
from ...words import shorten
from .picture import resampling_picture
from .report import PassesReport, ResamplingReport
from .result import (
    BootstrapInterval,
    DistributionComparison,
    EmpiricalDistribution,
    RandomizationTest,
    percent,
    with_spread,
)

if TYPE_CHECKING:
    pass


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


@page_of.register(PassesReport)
def _passes_report_page(report: PassesReport) -> Page:
    found = report.distributions
    return Page(
        title=f"one pass over the suite: {figures.listed([s.name for s in found.systems])}",
        sections=(
            Section((Sentence(found.conclusion),)),
            *summaries(found),
            Section((Sentence(f"seed {report.seed}"),)),
        ),
        cautions=report.cautions,
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
        draw=partial(resampling_picture, report),
    )
