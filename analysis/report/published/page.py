"""The panel in sentences and tables, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages.model import Block, Cell, Column, CommandLine, Section, Sentence, Table, Value
from ..chapter import sections_of
from .result import MethodAnswer, MethodsPanel, Piece, Ratio

__all__: list[str] = []


@sections_of.register(MethodsPanel)
def _methods_panel_sections(chapter: MethodsPanel) -> tuple[Section, ...]:
    blocks: list[Block] = [Sentence(chapter.lead)]
    blocks += [_table(chapter, place) for place in range(len(chapter.candidates))]
    if chapter.reasons:
        blocks.append(Section(tuple(_reasons(chapter)), title="why they differ"))
    blocks += [
        Section(tuple(_path(chapter, place)), title=f"how they came to it: {path.candidate}")
        for place, path in enumerate(chapter.paths)
    ]
    blocks += [CommandLine(line) for line in chapter.on_request]
    return (Section(tuple(blocks), title=chapter.title),)


def _table(chapter: MethodsPanel, place: int) -> Table:
    """Set one candidate: a row for each method, each number in a column of its own."""
    return Table(
        name=f"{chapter.anchor}-{place + 1}",
        columns=(
            Column(chapter.candidates[place], "left"),
            Column("question", "left"),
            Column("unit", "left"),
            Column("answer", "left"),
            Column("value"),
            Column("low"),
            Column("high"),
            Column("p"),
            Column("p of", "left"),
            Column("chance or reliability"),
        ),
        rows=tuple(
            (
                row.method,
                row.question,
                row.unit,
                _said(row.answers[place]),
                *_numbers(row.answers[place]),
            )
            for row in chapter.rows
        ),
    )


def _numbers(answer: MethodAnswer) -> tuple[Cell, ...]:
    found = [
        Value("", None) if one is None else Value(one.text, one.value)
        for one in (answer.value, answer.low, answer.high, answer.pvalue, answer.share)
    ]
    return (*found[:4], answer.pvalue_of, *found[4:])


def _said(answer: MethodAnswer) -> str:
    second = _text(answer.second)
    return f"{answer.said}{_text(answer.first)}".strip() + (f" ({second})" if second else "")


def _text(pieces: tuple[Piece, ...]) -> str:
    return "".join(
        piece if isinstance(piece, str) else f"{piece.text}{'x' * isinstance(piece, Ratio)}"
        for piece in pieces
    )


def _reasons(chapter: MethodsPanel) -> Iterator[Block]:
    for reason in chapter.reasons:
        asked = " ".join(
            f"{one.candidate}: {_text(one.text)}" if one.candidate else _text(one.text)
            for one in reason.questions
        )
        yield Sentence(f"{asked} {reason.text}")


def _path(chapter: MethodsPanel, place: int) -> Iterator[Block]:
    for one in chapter.paths[place].methods:
        blocks: list[Block] = [Sentence(text) for text in one.sentences]
        for found in one.tables:
            blocks.append(found.table)
            blocks += [Sentence(found.note)] if found.note else []
        yield Section(tuple(blocks), title=one.title)
