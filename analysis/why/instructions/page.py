"""The screen of ``why --instructions``."""

from __future__ import annotations

from collections.abc import Iterator

from ...announcing import cut
from ...pages.model import (
    Block,
    Column,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ...pages.number_format import counted, significant
from ...words import shorten, shown
from .result import CountedFunction, Instructions, InstructionsAnswer

_ROWS = 8
_NAME, _VARIANT = 34, 14
_TIMES = 2.0  # from here on a difference is told as a multiple
_SMALL = 0.001  # of the total difference: rows below are summed


@page_of.register(InstructionsAnswer)
def _answer_page(answer: InstructionsAnswer) -> Page:
    pages = [_sections(one) for one in answer.answers]
    return Page(
        title="Instructions of each function",
        sections=tuple(section for sections in pages for section in sections),
        following=(_following(answer),),
    )


@page_of.register(Instructions)
def _page(told: Instructions) -> Page:
    return Page(title=f"Instructions on {told.benchmark}", sections=tuple(_sections(told)))


def sentence_of(told: Instructions) -> str:
    """Say the answer in one sentence."""
    benchmark, variant, baseline = map(shown, (told.benchmark, told.variant, told.baseline))
    total = told.total
    if total.difference == 0:
        return f"{benchmark}: {variant} executes as many instructions as {baseline}"
    first = next((row for row in told.rows if row.difference * total.difference > 0), None)
    most = "" if first is None else f", most in {shown(first.function)}"
    return f"{benchmark}: {variant} executes {_more(total)} {baseline}{most}"


def _more(total: CountedFunction) -> str:
    """Say how many more: ``27 % more instructions than``, ``2.24 times the instructions of``."""
    side = "more" if total.difference > 0 else "fewer"
    if not total.baseline:
        return f"{abs(total.difference):,} {side} instructions than"
    if total.candidate >= _TIMES * total.baseline:
        return f"{significant(total.candidate / total.baseline)} times the instructions of"
    share = abs(total.difference) / total.baseline
    return f"{significant(100 * share, 2)} % {side} instructions than"


def _named(row: CountedFunction) -> str:
    return f"{shown(row.function)} ({shown(row.object)})" if row.object else shown(row.function)


def _sections(told: Instructions) -> Iterator[Section]:
    yield Section((Sentence(sentence_of(told)),))
    same = told.total.same_twice and all(row.same_twice for row in told.rows)
    agree = "alike to the last one" if same else "not alike"
    yield Section(
        (Sentence(f"callgrind of valgrind {shown(told.valgrind)}, two executions each: {agree}"),)
    )
    yield Section((_table(told),))
    notes: list[Block] = [Note(caution.text) for caution in told.cautions]
    if notes:
        yield Section(tuple(notes))


def _table(told: Instructions) -> Table:
    least = _SMALL * abs(told.total.difference)
    large = [row for row in told.rows if row.difference and abs(row.difference) >= least][:_ROWS]
    rest = [row for row in told.rows if row not in large]
    rows = [_row(cut(_named(row), _NAME), row.baseline, row.candidate) for row in large]
    if rest:
        left, right = (
            sum(getattr(row, side) for row in rest) for side in ("baseline", "candidate")
        )
        rows.append(_row(counted(len(rest), "other function"), left, right))
    rows.append(_row("all functions", told.total.baseline, told.total.candidate))
    variants = (shorten(shown(name), _VARIANT) for name in (told.baseline, told.variant))
    columns = (Column("function", "left"), *map(Column, (*variants, "difference")))
    return Table(name="instructions", columns=columns, rows=tuple(rows))


def _row(name: str, baseline: int, candidate: int) -> tuple[str | Value, ...]:
    more = candidate - baseline
    return (
        name,
        Value(f"{baseline:,}", baseline),
        Value(f"{candidate:,}", candidate),
        Value(f"{more:+,}" if more else "0", more),
    )


def _following(answer: InstructionsAnswer) -> Section:
    note = Note("instructions are no time: one may cost a hundred times what another costs")
    first = answer.answers[0]
    words = ("fairtrial", "why", f"{first.trial}:{first.variant}", "--benchmark", first.benchmark)
    return Section((note, Next(words, "milliseconds, with intervals")))
