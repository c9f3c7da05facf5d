"""The screen of a series of variants: the answer, a row for each step or benchmark, notes, what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages import number_format as figures
from ...pages.model import Block, Note, Page, Section, Sentence, Table, Value, columns_of, page_of
from ...words import shorten, shown
from .next_command import next_of
from .result import OrderedLine, OrderedPlace, OrderedStep, OrderedVariants
from .sentence import difference_of, sentence_of

_NAME = 18  # columns of a name in the table
_MOST = 14  # rows
_NOTES = 3
_FIRST = ("step", "undecided", "equivalent")


@page_of.register(OrderedVariants)
def _page(result: OrderedVariants) -> Page:
    blocks: list[Block] = [Sentence(_capital(sentence_of(result)))]
    notes = [*_notes(result)]
    if len(notes) > _NOTES:
        notes = [*notes[: _NOTES - 1], f"and {len(notes) - _NOTES + 1} more: --json has all"]
    return Page(
        title="Ordered variants",
        sections=(Section(tuple(blocks)), Section(tuple(_evidence(result)))),
        following=(Section((*map(Note, notes), *next_of(result))),),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _evidence(result: OrderedVariants) -> Iterator[Block]:
    lines = sorted(result.benchmarks, key=lambda one: _FIRST.index(one.outcome))
    if result.suite is not None:
        lines = [result.suite, *lines]
    rows = [row for line in lines for row in _rows(result, line)]
    level = f"{100 * (1 - result.level):.4g} %"
    yield Table(
        name="places",
        columns=columns_of("<", "<from", "change", level, "<"),
        rows=tuple(rows[:_MOST]),
    )
    if (hidden := len(rows) - _MOST) > 0:
        yield Sentence(f"and {figures.counted(hidden, 'row')} more (--json has all)")


def _rows(result: OrderedVariants, line: OrderedLine) -> Iterator[tuple[str, str, Value, str, str]]:
    name = shorten(shown(line.name), _NAME)
    if line.outcome == "equivalent":
        yield name, "-", Value("-", None), "-", "the same"
        return
    found: tuple[OrderedPlace | OrderedStep, ...] = line.steps or (line.best,)
    for one in found:
        told = difference_of(result, one)
        word = (
            figures.said(one.word, timed=figures.timed(result.unit))
            if isinstance(one, OrderedStep)
            else "undecided"
        )
        change = None if told.ratio is None else told.ratio - 1
        cell = Value(told.cell(), change)
        yield name, shorten(shown(one.variant), _NAME), cell, told.cell_interval(), word
        name = ""


def _notes(result: OrderedVariants) -> Iterator[str]:
    for line in ((result.suite,) if result.suite else ()) + result.benchmarks:
        for step in line.steps:
            names = list(result.variants)
            if names.index(step.upto) - names.index(step.after) > 1:
                yield (
                    f"{shown(line.name)}: the step lies behind {shown(step.after)}, and at "
                    f"{shown(step.upto)} at the latest, with 95 %"
                )
    if result.pooled:
        many = sum(map(len, result.pooled))
        yield (
            f"{many} of {len(result.variants)} variants are the same program as a neighbour: "
            f"{figures.listed([' = '.join(map(shown, one)) for one in result.pooled], 2)}"
        )
    for caution in result.cautions:
        yield caution.text if caution.short is None else str(caution.short)
