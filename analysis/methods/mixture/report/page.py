"""A mixture report in words: one benchmark in detail, or many with a line each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ....report import Cell, Column, Figure, Page, Section, Sentence, Table, Value, figures, page_of
from .cautions import unfitted
from .cell_page import DIGITS, cell_section, told_modes
from .contest_page import chance, contest_section, superlative
from .plots import mixture_figure
from .result import BenchmarkMixtures, MixtureCell, MixtureContest, MixtureReport

__all__ = ["mixture_page"]

_NAME, _LONG_NAME, _VARIANT = 24, 40, 32  # columns for names
_SOME = 6  # variants or problems named before the rest is counted


@page_of.register
def _(report: MixtureReport) -> Page:
    return mixture_page(report)


def mixture_page(report: MixtureReport, *, digits: int = DIGITS) -> Page:
    """Fill the page of a report.

    Parameters
    ----------
    report : MixtureReport
    digits : int
        Significant digits of weights and parameters, for a single benchmark.
    """
    if report.detailed:
        return _detail(report, report.benchmarks[0], digits)
    return _overview(report)


# ---- one benchmark


def _detail(report: MixtureReport, one: BenchmarkMixtures, digits: int) -> Page:
    """Set who wins a single run first, then each variant."""
    sections = [Section((Sentence(_what(report, one)),))]
    if one.contest is not None:
        sections.append(contest_section(one.contest))
    if len(one.cells) == 1:
        sections.append(cell_section(one.cells[0], digits=digits))
    else:
        sections += (_named(cell, digits, place) for place, cell in enumerate(one.cells, 1))
    if any(cell.mixture is not None for cell in one.cells):
        sections.append(Section((_picture(report, one),)))
    return Page(
        title=f"Gaussian mixtures: {one.benchmark}",
        sections=tuple(sections),
        cautions=report.cautions,
    )


def _what(report: MixtureReport, one: BenchmarkMixtures) -> str:
    """Say what the figures are of."""
    head = [figures.shorten(one.benchmark, _LONG_NAME)]
    if len(one.cells) == 1:
        head.append(figures.shorten(one.cells[0].variant, _VARIANT))
    head.append(f"{'smaller' if report.better == 'lower' else 'larger'} is better")
    if unit := figures.unit_text(report.unit):
        head.append(f"all figures in {unit}")
    return " · ".join(head)


def _named(cell: MixtureCell, digits: int, place: int) -> Section:
    """Set one of several variants below its name."""
    name = figures.shorten(cell.variant, _LONG_NAME)
    if cell.mixture is None:
        return Section((Sentence(f"{name}: {told_modes(cell)}"),))
    return Section(cell_section(cell, digits=digits, place=place).blocks, title=name)


def _picture(report: MixtureReport, one: BenchmarkMixtures) -> Figure:
    return Figure(
        name="mixtures",
        alt=f"density and distribution function of the runs and of the mixture of each variant on "
        f"{one.benchmark}",
        draw=partial(mixture_figure, report),
    )


# ---- many benchmarks


def _overview(report: MixtureReport) -> Page:
    """Set a summary in words, then one line for each benchmark and variant."""
    contests = [one.contest for one in report.benchmarks if one.contest is not None]
    said = [_counts(report)]
    if contests:
        said.append(_wins(contests, report))
    problems = (
        f"{figures.shorten(cell.benchmark, _NAME)}: {cell.problem}"
        for cell in report.cells
        if cell.problem is not None
    )
    note = "modes are those of the fitted curve; --benchmark NAME weighs the evidence for them"
    return Page(
        title=f"Gaussian mixtures: {len(report.benchmarks)} benchmarks",
        sections=(
            Section(tuple(Sentence(text) for text in said)),
            Section((_lines(report, contested=bool(contests)), Sentence(note))),
        ),
        cautions=(*report.cautions, *unfitted(problems, _SOME)),
    )


def _counts(report: MixtureReport) -> str:
    mixtures = [cell.mixture for cell in report.cells if cell.mixture is not None]
    several = sum(mixture.components > 1 for mixture in mixtures)
    said = (
        f"{len(report.benchmarks)} benchmarks, {len(report.cells)} samples: {several} of "
        f"{len(mixtures)} are described best by more than one Gaussian"
    )
    tests = [cell.fit_test for cell in report.cells if cell.fit_test is not None]
    if tests:
        count = sum(test.rejected() for test in tests)
        said += (
            f"; the fit test rejects {count} of {len(tests)} at 5 % ({report.options.resamples} "
            "resamples each)"
        )
    return said


def _wins(contests: Sequence[MixtureContest], report: MixtureReport) -> str:
    wins: dict[str, int] = {}
    for contest in contests:
        name = contest.variants[contest.best]
        wins[name] = wins.get(name, 0) + 1
    order = sorted(wins, key=lambda name: -wins[name])[:_SOME]
    said = ", ".join(f"{figures.shorten(name, _NAME)} on {wins[name]}" for name in order)
    word = superlative(report.better, report.unit)
    return f"most likely the {word} in a single run: {said} of {len(contests)}"


def _lines(report: MixtureReport, *, contested: bool) -> Table:
    several = len({cell.variant for cell in report.cells}) > 1  # one variant needs no column
    rows: list[tuple[Cell, ...]] = []
    for one in report.benchmarks:
        name = figures.shorten(one.benchmark, _NAME)
        for cell in one.cells:
            variant = (figures.shorten(cell.variant, _NAME),) if several else ()
            wins = (_single_run(cell, one.contest),) if contested else ()
            rows.append((name, *variant, *_fit(cell), *wins))
            name = ""
    return Table(
        name="benchmarks",
        columns=(
            Column("benchmark", "left"),
            *((Column("variant", "left"),) if several else ()),
            *(Column(heading) for heading in ("runs", "components", "modes", "fit p")),
            *((Column("best in one run"),) if contested else ()),
        ),
        rows=tuple(rows),
    )


def _fit(cell: MixtureCell) -> tuple[Cell, ...]:
    mixture, test, size = cell.mixture, cell.fit_test, cell.values.size
    runs = Value(f"{size}", size)
    if mixture is None:
        return (runs, "none", "", "")
    k, modes = mixture.components, mixture.modes().size
    p: Cell = ""
    if test is not None:
        p = Value(figures.pvalue(test.pvalue).removeprefix("= "), test.pvalue)
    return (runs, Value(f"{k}", k), Value(f"{modes}", modes), p)


def _single_run(cell: MixtureCell, contest: MixtureContest | None) -> Cell:
    if cell.mixture is None or contest is None:
        return ""
    at = contest.variants.index(cell.variant)
    estimate = contest.chances[at].estimate
    return Value(chance(estimate) + (" *" if at == contest.best else "  "), estimate)
