"""Pages as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from functools import partial

from .. import announcing
from ..words import WIDTH, Name, next_lines, note_lines, shorten, shortened, shown, without_shared
from .model import (
    Block,
    Caution,
    CommandLine,
    Figure,
    Listing,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    text_of,
)

_MARGIN = _GAP = "  "
_LEAST_FIRST = 10  # columns that a table's first column keeps
_LEAST_NAME = 12  # that a column of names keeps
_LEAST_HEADING = 7  # and names in a heading
_LEAST_WORDS = 16  # and another one of words
_WORDS = 20  # columns beyond which a cell is words, that may be broken into lines
_NOTE = 6  # columns before a row's note
_SIDES = {"left": "<", "right": ">"}
_wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)


def render(page: Page, *, width: int = WIDTH) -> str:
    """Set a page as text.

    Sections are separated by an empty line; what has a title is set below it with a margin. Pictures
    are left out.
    """
    parts = [_section(section, width) for section in page.sections]
    parts.append(_cautions(page.cautions, width))
    parts += [_section(section, width) for section in page.following]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _section(section: Section, width: int) -> list[str]:
    lines: list[str] = []
    for block in section.blocks:
        inner = _block(block, width - len(_MARGIN) * bool(section.title))
        if isinstance(block, Section) and lines and inner:
            lines.append("")
        lines += inner
    if not section.title:
        return lines
    return [
        *_wrapped(section.title, width),
        *(f"{_MARGIN}{line}".rstrip() for line in lines),
    ]


def _block(block: Block, width: int) -> list[str]:
    match block:
        case Sentence(text=text):
            return _wrapped(text, width)
        case CommandLine(line=line):
            return [shown(line)]
        case Note(text=text):
            return note_lines(text, width)
        case Next(words=words, why=why):
            return next_lines(words, why, width)
        case Table():
            return _table(block, width)
        case Section():
            return _section(block, width)
        case Figure() | Listing():
            return []


def _table(table: Table, width: int) -> list[str]:
    """Set a table; what is too wide is narrowed, and where that does not do, set in parts below each other."""
    columns = _written(table)
    if _taken(_widest(columns)) > width:
        columns = [_without_shared(column) for column in columns]  # before any name is cut
    floors = [_floor(table, k, column) for k, column in enumerate(columns)]
    keys = 1 + (len(columns) > 2 and any(isinstance(cell, Name) for cell in columns[1][1:]))
    lines: list[str] = []
    for which, part in enumerate(_parts(floors, width, keys)):
        sizes = _sizes([columns[k] for k in part], [floors[k] for k in part], width)
        heads = [column[0] for column in columns]
        cut = (_cut(columns[k], size, heads) for k, size in zip(part, sizes, strict=True))
        head, *rows = zip(*cut, strict=True)
        last = part[-1] == len(columns) - 1
        # of a further part a name alone tells nothing
        texts = [
            (row, note)
            for row, note in zip(rows, table.notes * last or ("",) * len(rows), strict=True)
            if not which or note or any(row[keys:])
        ]
        aligned = [_SIDES[table.columns[k].align] for k in part]
        if table.headed and (texts or not which):
            lines += _set(head, aligned, sizes)
        for row, note in texts:
            lines += _set(row, aligned, sizes)
            if note:
                lines += _wrapped(note, width, indent=" " * _NOTE)
    return lines


def natural_width(table: Table) -> int:
    """Give the columns that a table takes where nothing in it is narrowed."""
    return _taken(_widest(_written(table)))


def _written(table: Table) -> list[list[str]]:
    """Write each column, its heading first; empty last columns are left out."""
    heads = [column.heading if table.headed else "" for column in table.columns]
    columns = [  # what is a name stays one, so that it may be cut
        [Name(text_of(cell)) if isinstance(cell, Name) else text_of(cell) for cell in column]
        for column in zip(heads, *table.rows, strict=True)
    ]
    while len(columns) > 1 and not any(columns[-1]):
        columns.pop()
    return columns


def _widest(columns: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(announcing.cells, column)) for column in columns]


def _taken(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(_GAP) * (len(sizes) - 1)


def _without_shared(column: Sequence[str]) -> list[str]:
    """Take the words that all begin and end with from the names of a column, where its heading is narrower."""
    wide = _widest([column])[0] > announcing.cells(column[0])
    short = without_shared(cell for cell in column[1:] if wide and isinstance(cell, Name) and cell)
    return [Name(short[cell]) if cell in short else cell for cell in column]


def _cut(column: list[str], size: int, heads: Sequence[str]) -> list[str]:
    """Cut names to a width, in which they stay apart, also those of headings."""
    names = [cell for cell in (*heads, *column) if isinstance(cell, Name)]
    if max(map(announcing.cells, column)) <= size or not names:
        return column
    short = shortened(names, size)
    return [shorten(short[cell], size) if isinstance(cell, Name) else cell for cell in column]


def _parts(floors: Sequence[int], width: int, keys: int) -> list[list[int]]:
    """Give the columns of each part: all in one, or as many as fit next to the first, the `keys`."""
    parts = [[*range(keys)]]
    for k in range(keys, len(floors)):
        taken = sum(floors[j] + len(_GAP) for j in parts[-1]) + floors[k]
        if taken > width and len(parts[-1]) > keys:
            parts.append([*range(keys)])
        parts[-1].append(k)
    return parts


def _floor(table: Table, k: int, column: Sequence[str]) -> int:
    """Give the columns that a table's column keeps: numbers, and what is as short as one, are never cut."""
    head, *cells = column
    widest = max(map(announcing.cells, column))
    if isinstance(head, Name):
        return max([min(len(head), _LEAST_HEADING), *map(len, cells)])
    numbers = [
        text for text, row in zip(cells, table.rows, strict=True) if isinstance(row[k], Value)
    ]
    if numbers:
        return widest if table.headed else max(map(announcing.cells, numbers))
    if (k == 0 and table.headed) or any(isinstance(cell, Name) for cell in cells):
        return min(widest, _LEAST_NAME if k else _LEAST_FIRST)
    return _LEAST_WORDS if widest > _WORDS else widest


def _sizes(columns: Sequence[Sequence[str]], floors: Sequence[int], width: int) -> list[int]:
    """Give the columns' widths; those of words and names are narrowed, the widest first, until all fit."""
    sizes = _widest(columns)
    weights = [1 + isinstance(column[0], Name) for column in columns]
    over = _taken(sizes) - width
    while over > 0:
        loose = [k for k, size in enumerate(sizes) if size > floors[k]]
        if not loose:
            break
        sizes[max(loose, key=lambda k: sizes[k] * weights[k])] -= 1
        over -= 1
    return sizes


def _set(row: Sequence[str], aligned: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Set a row in columns of these widths: sentences are broken into lines."""
    cells = [_fitted(text, size) for text, size in zip(row, sizes, strict=True)]
    lines = []
    for number in range(max(map(len, cells))):
        texts = (cell[number] if number < len(cell) else "" for cell in cells)
        lines.append(
            _GAP.join(
                f"{text:{side}{max(0, size + len(text) - announcing.cells(text))}}"
                for text, side, size in zip(texts, aligned, sizes, strict=True)
            ).rstrip()
        )
    return lines


def _fitted(text: str, size: int) -> list[str]:
    if announcing.cells(text) <= size:
        return [text]
    return [shorten(line, size) for line in _wrapped(text, size, further="")]


def _wrapped(sentence: str, width: int, indent: str = "", *, further: str = _MARGIN) -> list[str]:
    """Break a sentence into lines, but never inside "p = 0.03" or "5 %"."""
    whole = shown(sentence)
    for sign in (" = ", " < ", " %"):
        whole = whole.replace(sign, sign.replace(" ", "\N{NO-BREAK SPACE}"))
    lines = _wrap(whole, width, initial_indent=indent, subsequent_indent=indent + further)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _cautions(cautions: Iterable[Caution], width: int) -> list[str]:
    lines: list[str] = []
    for number, caution in enumerate(cautions, 1):
        mark = f"{_MARGIN}[{number}] "
        inner = " " * len(mark)
        lines += _wrap(shown(caution.text), width, initial_indent=mark, subsequent_indent=inner)
    return ["cautions", *lines] if lines else []
