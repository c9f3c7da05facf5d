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
from ..words import shorten, shown
from .draw import DrawStudy
from .study import CoverageStudy, Covered, RejectionStudy

NAMES = {
    "hpt": "HPT",
    "t": "t",
    "welch": "t on logs",
    "randomization": "randomization",
    "t-scores": "t on scores",
    "interval": "interval technique",
    "bootstrap": "bootstrap",
}


INTERVAL_NAMES = {"paired-t": "paired t", "hpt": "HPT speedup"}


@page_of.register(RejectionStudy)
def _rejection_study_page(study: RejectionStudy) -> Page:
    return Page(
        title=f"{'Power' if study.kind == 'power' else 'Type-I error'} on {study.population}",
        sections=(Section((Sentence(_drawn(study)),)), Section((_rates(study),))),
        cautions=study.cautions,
    )


@page_of.register(CoverageStudy)
def _coverage_study_page(study: CoverageStudy) -> Page:
    headings = ("runs", "interval", "coverage", "too low", "too high", "width", "mean low end")
    table = Table(
        name="coverage",
        columns=tuple(Column(h, "left" if h == "interval" else "right") for h in headings),
        rows=tuple(_covered(cell) for cell in study.every),
    )
    said = (
        f"{study.population}: how often {100 * study.confidence:g} % intervals of the ratio of "
        f"{study.mean} means over {figures.counted(study.benchmarks, 'benchmark')} hold the true {study.ratio:g}; "
        f"{study.every[0].simulations:,} simulated comparisons a line"
    )
    return Page(
        title=f"Coverage on {study.population}",
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=study.cautions,
    )


@page_of.register(DrawStudy)
def _draw_study_page(study: DrawStudy) -> Page:
    names = " against ".join(shorten(shown(name), 40) for name in (study.candidate, study.baseline))
    trials = study.tests[0].simulations
    how = "with" if study.replace else "without"
    unit = "blocks" if study.draws == "block" else "runs"
    said = (
        f"{names}: {trials:,} draws of {study.runs} {unit} of each of "
        f"{figures.counted(study.benchmarks, 'benchmark')}, {how} replacement; the ratio of geometric "
        f"means of all runs is {study.ratio:.4g}"
    )
    claim = (
        f"the candidate is more than {study.speedup:g} times better"
        if study.alternative == "candidate"
        else f"the candidate is not {study.speedup:g} times as good as the baseline"
        if study.speedup != 1
        else "the two differ"
    )
    levels = [f"{alpha:g}" for alpha in study.alphas]
    tests = Table(
        name="tests",
        columns=(
            Column("test", "left"),
            *(Column(f"rejects at {level}") for level in levels),
            Column("mean confidence"),
        ),
        rows=tuple(
            (
                NAMES[one.test],
                *(Value(f"{count} of {trials}", count) for count in one.rejected),
                value_of(one.confidence, "{:.3f}".format),
            )
            for one in study.tests
        ),
    )
    intervals = Table(
        name="intervals",
        columns=tuple(
            Column(h, "left" if h == "interval" else "right")
            for h in ("interval", "coverage", "too low", "too high", "width", "mean low end")
        ),
        rows=tuple(_covered(cell)[1:] for cell in study.intervals),
    )
    beside = (
        f"how often {100 * study.confidence:g} % intervals of a draw hold the ratio of all runs; HPT's "
        "speedup is a lower bound"
    )
    return Page(
        title=f"Draws from {names}",
        sections=(
            Section((Sentence(said),)),
            Section((Sentence(f"how often each test says that {claim}"), tests)),
            Section((Sentence(beside), intervals)),
        ),
        cautions=study.cautions,
    )


def _drawn(study: RejectionStudy) -> str:
    if study.kind == "power":
        each = dict.fromkeys(str(cell.runs) for cell in study.cells)
        what = (
            f"power to tell {shift_words(study)} on some of {study.benchmarks} benchmarks, "
            f"{', '.join(each)} runs each"
        )
    else:
        what = f"type-I error on {study.benchmarks} benchmarks: both sides are the same"
    return (
        f"{study.population}: {what}; {study.alternative} at {study.alpha:g}, "
        f"{study.cells[0].simulations:,} simulated comparisons a line"
    )


def shift_words(study: RejectionStudy) -> str:
    """Say by how much a benchmark is shifted: ``1.01x``, or ``1 s more``."""
    if study.shift_by is None:
        return f"{study.shift:g}x"
    return f"{f'{study.shift_by:g} {figures.unit_text(study.unit)}'.strip()} more"


def _rates(study: RejectionStudy) -> Table:
    """Set a line for each point, and a column for each test."""
    tests = list(dict.fromkeys(cell.test for cell in study.cells))
    points = list(dict.fromkeys((cell.shifted, cell.runs) for cell in study.cells))
    found = {(cell.test, cell.shifted, cell.runs): cell for cell in study.cells}
    several = len({runs for _, runs in points}) > 1
    heads = {"runs": study.kind == "type1" or several, "shifted": study.kind == "power"}
    rows: list[tuple[Cell, ...]] = []
    for shifted, runs in points:
        here = {"runs": runs, "shifted": shifted}
        cells = (found[test, shifted, runs] for test in tests)
        rates = (Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate) for cell in cells)
        rows.append((*(value_of(here[name]) for name, said in heads.items() if said), *rates))
    headings = (*(name for name, said in heads.items() if said), *(NAMES[test] for test in tests))
    return Table(name="rates", columns=columns_of(*headings), rows=tuple(rows))


def _covered(cell: Covered) -> tuple[Cell, ...]:
    there = cell.simulations - cell.refused

    def share(count: int) -> Value:
        return value_of(count / there if there else None, "{:.3f}".format)

    return (
        value_of(cell.runs),
        INTERVAL_NAMES.get(cell.interval, cell.interval)
        + (f" ({cell.refused} do not exist)" if cell.refused else ""),
        value_of(cell.rate, lambda rate: f"{rate:.3f} ± {cell.error:.3f}"),
        share(cell.below),
        share(cell.above),
        value_of(cell.width, figures.significant),
        value_of(cell.low, lambda low: figures.significant(low, 4)),
    )
