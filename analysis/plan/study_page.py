"""Studies of error rates and of coverage in words."""

from __future__ import annotations

from ..pages import number_format as figures
from ..pages.model import (
    Cell,
    Column,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from .study import CoverageStudy, Covered, RejectionStudy

_NAMES = {
    "hpt": "HPT",
    "t": "t",
    "welch": "t on logs",
    "randomization": "randomization",
}


@page_of.register(RejectionStudy)
def _rejection_study_page(study: RejectionStudy) -> Page:
    return Page(
        title=f"{'Power' if study.kind == 'power' else 'Type-I error'} on {study.population}",
        sections=(Section((Sentence(_drawn(study)),)), Section((_rates(study),))),
        cautions=study.cautions,
    )


@page_of.register(CoverageStudy)
def _coverage_study_page(study: CoverageStudy) -> Page:
    headings = ("runs", "interval", "coverage", "too low", "too high", "width")
    table = Table(
        name="coverage",
        columns=tuple(Column(h, "left" if h == "interval" else "right") for h in headings),
        rows=tuple(_covered(cell) for cell in study.cells),
    )
    said = (
        f"{study.population}: how often {100 * study.confidence:g} % intervals of the ratio of "
        f"{study.mean} means over {study.benchmarks} benchmarks hold the true {study.ratio:g}; "
        f"{study.cells[0].simulations:,} simulated comparisons a line"
    )
    return Page(
        title=f"Coverage on {study.population}",
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=study.cautions,
    )


def _drawn(study: RejectionStudy) -> str:
    if study.kind == "power":
        what = (
            f"power to tell {study.shift:g}x on some of {study.benchmarks} benchmarks, "
            f"{study.cells[0].runs} runs each"
        )
    else:
        what = f"type-I error on {study.benchmarks} benchmarks: both sides are the same"
    return (
        f"{study.population}: {what}; {study.alternative} at {study.alpha:g}, "
        f"{study.cells[0].simulations:,} simulated comparisons a line"
    )


def _rates(study: RejectionStudy) -> Table:
    """Set a line for each point, and a column for each test."""
    tests = list(dict.fromkeys(cell.test for cell in study.cells))
    points = list(dict.fromkeys((cell.shifted, cell.runs) for cell in study.cells))
    found = {(cell.test, cell.shifted, cell.runs): cell for cell in study.cells}
    rows: list[tuple[Cell, ...]] = []
    for shifted, runs in points:
        head = shifted if study.kind == "power" else runs
        cells = (found[test, shifted, runs] for test in tests)
        rates = (Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate) for cell in cells)
        rows.append((value_of(head), *rates))
    headings = ("shifted" if study.kind == "power" else "runs", *(_NAMES[test] for test in tests))
    return Table(name="rates", columns=columns_of(*headings), rows=tuple(rows))


def _covered(cell: Covered) -> tuple[Cell, ...]:
    there = cell.simulations - cell.refused

    def share(count: int) -> Value:
        return value_of(count / there if there else None, "{:.3f}".format)

    return (
        value_of(cell.runs),
        cell.interval + (f" ({cell.refused} do not exist)" if cell.refused else ""),
        value_of(cell.rate, lambda rate: f"{rate:.3f} ± {cell.error:.3f}"),
        share(cell.below),
        share(cell.above),
        value_of(cell.width, figures.significant),
    )
