"""The first screen as sentences and tables: one table for each candidate, all benchmarks in it."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages.model import Cell, Column as Heading, Section, Sentence, Table
from ..chapter import sections_of
from .headline import text_of
from .result import Answer, Column, Row

__all__: list[str] = []


@sections_of.register(Answer)
def _answer_sections(chapter: Answer) -> tuple[Section, ...]:
    return tuple(_sections(chapter))


def _sections(chapter: Answer) -> Iterator[Section]:
    told = [Sentence(chapter.headline)] if chapter.anchor != "answer" else []
    told += [Sentence(text_of(paragraph)) for paragraph in chapter.deck]
    for names in zip(("candidate", "baseline"), chapter.sources, strict=False):
        told.append(Sentence(f"{names[0]}: {names[1].text}"))
    yield Section(tuple(told))
    if chapter.alone:
        yield Section((_alone(chapter),))
    for column in chapter.columns:
        yield _column(chapter, column)
    if chapter.certificate:
        yield Section((Sentence(chapter.certificate),))


def _column(chapter: Answer, column: Column) -> Section:
    base = "" if chapter.baseline is None else chapter.baseline.text
    title = f"{column.candidate.text} against {base}: {_lead(column)}"
    if column.axis is None:
        return Section((), title=f"{column.candidate.text}: {column.over}")
    rows = tuple(entry for entry in (column.every or column.rows) if isinstance(entry, Row))
    table = Table(
        name=column.anchor,
        columns=(
            Heading("", "left"),
            Heading(base),
            Heading(column.candidate.text),
            Heading("speedup"),
            Heading("low"),
            Heading("high"),
            Heading("", "left"),
            Heading("", "left"),
        ),
        rows=tuple(_row(row) for row in (*rows, *column.suite)),
    )
    remark = (Sentence(column.remark),) if column.remark else ()
    return Section((table, *remark), title=title)


def _lead(column: Column) -> str:
    if column.lead is None:
        return column.over
    return f"{column.lead.word} {column.over}"


def _row(row: Row) -> tuple[Cell, ...]:
    advice = "; ".join(text for text in (row.note, row.advice) if text)
    return (
        row.name.text,
        row.baseline,
        row.candidate,
        row.speedup,
        row.low,
        row.high,
        row.word,
        advice,
    )


def _alone(chapter: Answer) -> Table:
    headings = ("mean", "low", "high", "half-width", "lowest", "highest", "runs")
    return Table(
        name=f"{chapter.anchor}-alone",
        columns=(
            Heading("", "left"),
            *(Heading(heading) for heading in headings),
            Heading("by", "left"),
        ),
        rows=tuple(
            (
                one.name.text,
                *(one.mean, one.low, one.high, one.half, one.lowest, one.highest, one.runs),
                one.by,
            )
            for one in chapter.alone
        ),
    )
