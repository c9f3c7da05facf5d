"""Pages as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from ..words import WIDTH, next_lines, note_lines, shorten, shown
from .model import (
    Block,
    Caution,
    Cell,
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
_LEAST_NAME = 10  # columns that a table's first column keeps
_LEAST_WORDS = 16  # and another one of words
_WORDS = 20  # columns beyond which a cell is words, that may be broken into lines
_NOTE = 6  # columns before a row's note
_SIDES = {"left": "<", "right": ">"}


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
            return [line]
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
    heads, rows, widest = _written(table)
    columns = range(len(widest))
    floors = [_floor(table, k, widest[k]) for k in columns]
    lines: list[str] = []
    for which, part in enumerate(_parts(floors, width)):
        noted = table.notes if table.notes and part[-1] == columns[-1] else [""] * len(rows)
        # of a further part a name alone tells nothing
        texts = [
            (row, note)
            for row, note in zip(rows, noted, strict=True)
            if not which or note or any(row[k] for k in part[1:])
        ]
        if which and not texts:
            continue
        aligned = [_SIDES[table.columns[k].align] for k in part]
        sizes = _sizes([widest[k] for k in part], [floors[k] for k in part], width)
        lines += _set([[row[k] for k in part] for row in heads], aligned, sizes)
        for row, note in texts:
            lines += _set([[row[k] for k in part]], aligned, sizes)
            if note:
                lines += _wrapped(note, width, indent=" " * _NOTE)
    return lines


def natural_width(table: Table) -> int:
    """Give the columns that a table takes where nothing in it is narrowed."""
    sizes = _written(table)[2]
    return sum(sizes) + len(_GAP) * (len(sizes) - 1)


def _written(table: Table) -> tuple[list[list[str]], list[list[str]], list[int]]:
    """Write headings and cells, and give the widths of the columns; empty last ones are left out."""
    rows = [[_text(cell) for cell in row] for row in table.rows]
    heads = [[_text(column.heading) for column in table.columns]] if table.headed else []
    columns = range(len(table.columns))
    widest = [max((len(row[k]) for row in (*heads, *rows)), default=0) for k in columns]
    while len(widest) > 1 and not widest[-1]:
        widest.pop()
    return heads, rows, widest


def _parts(floors: Sequence[int], width: int) -> list[list[int]]:
    """Give the columns of each part: all in one, or as many as fit next to the first."""
    parts = [[0]]
    for k in range(1, len(floors)):
        taken = sum(floors[j] + len(_GAP) for j in parts[-1]) + floors[k]
        if taken > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(k)
    return parts


def _floor(table: Table, k: int, widest: int) -> int:
    """Give the columns that a table's column keeps: numbers, and what is as short as one, are never cut."""
    if any(isinstance(row[k], Value) for row in table.rows):
        return widest
    if k == 0:
        return min(widest, _LEAST_NAME)
    return _LEAST_WORDS if widest > _WORDS else widest


def _sizes(widest: Sequence[int], floors: Sequence[int], width: int) -> list[int]:
    """Give the columns' widths; of words the widest are narrowed until all fit."""
    sizes = list(widest)
    over = sum(sizes) + len(_GAP) * (len(sizes) - 1) - width
    while over > 0:
        loose = [k for k, size in enumerate(sizes) if size > floors[k]]
        if not loose:
            break
        sizes[max(loose, key=lambda k: sizes[k])] -= 1
        over -= 1
    return sizes


def _set(rows: Iterable[Sequence[str]], aligned: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Set rows in columns of these widths: sentences are broken into lines, names cut in their middle."""
    lines = []
    for row in rows:
        cells = [_fitted(text, size) for text, size in zip(row, sizes, strict=True)]
        for number in range(max(map(len, cells))):
            texts = (cell[number] if number < len(cell) else "" for cell in cells)
            lines.append(
                _GAP.join(
                    f"{text:{side}{size}}"
                    for text, side, size in zip(texts, aligned, sizes, strict=True)
                ).rstrip()
            )
    return lines


def _fitted(text: str, size: int) -> list[str]:
    if len(text) <= size:
        return [text]
    lines = _wrapped(text, size, further="")
    return [shorten(line, size) for line in lines]


def _text(cell: Cell) -> str:
    # a name of another tool, such as a command of several lines, must not break the table
    return shown(text_of(cell))


def _wrapped(sentence: str, width: int, indent: str = "", *, further: str = _MARGIN) -> list[str]:
    """Break a sentence into lines, but never inside "p = 0.03" or "5 %"."""
    whole = sentence
    for sign in (" = ", " < ", " %"):
        whole = whole.replace(sign, sign.replace(" ", "\N{NO-BREAK SPACE}"))
    lines = textwrap.wrap(
        whole,
        width,
        initial_indent=indent,
        subsequent_indent=indent + further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _cautions(cautions: Iterable[Caution], width: int) -> list[str]:
    lines: list[str] = []
    for number, caution in enumerate(cautions, 1):
        mark = f"{_MARGIN}[{number}] "
        lines += textwrap.wrap(
            caution.text,
            width,
            initial_indent=mark,
            subsequent_indent=" " * len(mark),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return ["cautions", *lines] if lines else []
