"""Empirical distributions in words: one system, or several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....report import Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .digits import percent, with_spread
from .result import DistributionComparison, EmpiricalDistribution

__all__ = ["summaries"]

_SHOWN = 12  # systems in the table of shares


@page_of.register
def _(distribution: EmpiricalDistribution) -> Page:
    return Page(
        title=f"one pass over the suite: {distribution.name}",
        sections=(
            Section((Sentence(distribution.conclusion),)),
            _five_numbers((distribution,)),
        ),
        cautions=distribution.cautions,
    )


@page_of.register
def _(comparison: DistributionComparison) -> Page:
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
        rows.append((figures.shorten(system.name, 20), *cells, Value(share, system.consistency)))
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
            figures.shorten(system.name, 24),
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
