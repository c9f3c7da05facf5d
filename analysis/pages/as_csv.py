"""The tables of a page as CSV: one long table, or one file for each."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..words import shown
from .model import Block, Caution, Cell, Column, Page, Section, Table, Value, text_of

_HEADINGS = ("table", "row", "column", "text", "value")


_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet may take for one begins so
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)


def guarded(text: str) -> str:
    """Put an apostrophe before what a spreadsheet may take for a formula; plain numbers stay."""
    if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def tables_of(page: Page) -> tuple[Table, ...]:
    """List the tables of a page in its order, each with a name of its own; cautions are the last.

    A table whose name is taken, as those of a second metric are, has a number behind it.
    """
    found = [table for section in (*page.sections, *page.following) for table in _tables(section)]
    if page.cautions:
        found.append(_cautions(page.cautions))
    names = (re.sub("[^A-Za-z0-9]+", "-", table.name).strip("-") or "table" for table in found)
    named = zip(found, _apart(names, "{}-{}"), strict=True)
    return tuple(replace(table, name=name) for table, name in named)


def render(page: Page, *, guard: bool = False) -> str:
    """Set all tables as one: a line for each cell, with what is shown and the number itself.

    The columns are table, row, column, text and value. A row is known by its first cell's text, with
    a number behind it where that stands there before; a column by its heading, with its place where
    that is empty or taken. `value` is empty where a cell stands for no number. With `guard` no text
    is a formula to a spreadsheet (`guarded`).
    """
    lines = [_HEADINGS]
    for table in tables_of(page):
        columns = _columns(table)
        rows = _apart(shown(text_of(row[0])) for row in table.rows)
        for name, row in zip(rows, table.rows, strict=True):
            lines += [
                (table.name, name, column, shown(text_of(cell)), _number(cell))
                for column, cell in zip(columns, row, strict=True)
            ]
    return _csv(lines, guard=guard)


def separate(page: Page, *, guard: bool = False) -> Mapping[str, str]:
    """Set each table as a file of its own, under its name: numbers as computed, else texts.

    A column of which some cell has a number gives the numbers, empty where there is none, and beside
    it one with the texts if any number is written otherwise there.
    """
    return {table.name: _csv(_wide(table), guard=guard) for table in tables_of(page)}


def _tables(block: Block) -> Iterator[Table]:
    if isinstance(block, Table):
        yield block
    elif isinstance(block, Section):
        for inner in block.blocks:
            yield from _tables(inner)


def _cautions(cautions: Iterable[Caution]) -> Table:
    headings = ("number", "code", "about", "caution")
    return Table(
        name="cautions",
        columns=tuple(Column(heading, "left") for heading in headings),
        rows=tuple(
            (Value(f"{k}", k), caution.code, ", ".join(caution.about), caution.text)
            for k, caution in enumerate(cautions, 1)
        ),
    )


def _wide(table: Table) -> Iterator[Sequence[str]]:
    numbered = [
        any(isinstance(row[k], Value) for row in table.rows) for k in range(len(table.columns))
    ]
    columns = _columns(table)
    yield [
        heading
        for column, has in zip(columns, numbered, strict=True)
        for heading in ([column, f"{column} (text)"] if has else [column])
    ]
    for row in table.rows:
        yield [
            text
            for cell, has in zip(row, numbered, strict=True)
            for text in ([_number(cell), shown(text_of(cell))] if has else [shown(text_of(cell))])
        ]


def _columns(table: Table) -> list[str]:
    return _apart(
        shown(column.heading) or ("name" if k == 1 else f"column {k}")
        for k, column in enumerate(table.columns, 1)
    )


def _apart(names: Iterable[str], numbered: str = "{} ({})") -> list[str]:
    """Put a number behind a name that was there before: ``a``, ``a (2)``, ``a (3)``."""
    taken: set[str] = set()
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        told = name
        while told in taken:
            seen[name] += 1
            told = numbered.format(name, seen[name] + 1)
        taken.add(told)
        found.append(told)
    return found


def _number(cell: Cell) -> str:
    """Write a number with all its digits; reading it back gives the same number."""
    return "" if isinstance(cell, str) or cell.value is None else repr(cell.value)


def _csv(lines: Iterable[Sequence[str]], *, guard: bool) -> str:
    file = io.StringIO()
    told = (map(guarded, line) for line in lines) if guard else lines
    csv.writer(file, lineterminator="\n").writerows(told)
    return file.getvalue()
