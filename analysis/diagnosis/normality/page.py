"""A study of normality in words: what departs, then how large a sample must be for its mean."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .departure import NormalityTest
from .result import NormalityRow, NormalityStudy

__all__: list[str] = []

_BENCHMARK = 28  # columns for a name


@page_of.register
def _(study: NormalityStudy) -> Page:
    return Page(
        title=f"Normality of {study.name}",
        sections=(
            Section((Sentence(_answer(study)),)),
            Section(
                (
                    _table(study),
                    Sentence("line: correlation of the normal probability plot, 1 when straight"),
                )
            ),
            Section(tuple(_means(study))),
        ),
        cautions=study.cautions,
    )


def _answer(study: NormalityStudy) -> str:
    tested = [row for row in study.benchmarks if row.shapiro is not None]
    off = sum(row.departs(study.risk) is True for row in tested)
    return (
        f"{off} of {len(tested)} benchmarks of {study.name} do not look normal; of the medians over "
        f"the suite: {_says(study.suite, study.risk)}"
    )


def _says(row: NormalityRow, risk: float) -> str:
    departs = row.departs(risk)
    if departs is None:
        return row.why or "not tested"
    return "not normal" if departs else "no departure seen"


def _table(study: NormalityStudy) -> Table:
    return Table(
        name="normality",
        columns=(
            Column("", "left"),
            Column("n"),
            Column("Lilliefors p"),
            Column("Shapiro p"),
            Column("line"),
            Column(f"at {study.risk:g}", "left"),
        ),
        rows=tuple(
            (
                figures.shorten(row.name, _BENCHMARK),
                Value(str(row.n), row.n),
                _pvalue(row.lilliefors),
                _pvalue(row.shapiro),
                _line(row),
                _says(row, study.risk),
            )
            for row in (*study.benchmarks, study.suite)
        ),
    )


def _pvalue(test: NormalityTest | None) -> Value:
    if test is None:
        return Value("-", None)
    return Value(figures.pvalue(test.pvalue).removeprefix("= "), test.pvalue)


def _line(row: NormalityRow) -> Value:
    if row.curves is None:
        return Value("-", None)
    return Value(f"{row.curves.straightness:.3f}", row.curves.straightness)


def _means(study: NormalityStudy) -> Iterator[Sentence]:
    if not study.mean_trials:
        return
    last = study.mean_trials[-1]
    found = f"do not look normal up to samples of {last.size}"
    if study.enough is not None:
        found = f"look normal from samples of {study.enough} on"
    seed = "" if study.seed is None else f", seed {study.seed}"
    yield Sentence(
        f"means of runs (relative to their benchmark's median, {last.means} means a trial{seed}) {found}"
    )
