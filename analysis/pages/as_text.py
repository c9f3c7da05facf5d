"""Pages as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ..words import next_lines, note_lines
from .model import (
    Block,
    Caution,
    Cell,
    CommandLine,
    Figure,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    text_of,
)

WIDTH = 96
_MARGIN = "  "
_NOTE = 6  # columns before a row's note
_SIDES = {"left": "<", "right": ">"}
_ONE_LINE = str.maketrans({"\n": "\u240a", "\r": "\u240d", "\t": "\u2409"})  # their pictures


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
        case Figure():
            return []


def _table(table: Table, width: int) -> list[str]:
    rows = [[_text(cell) for cell in row] for row in table.rows]
    if table.headed:
        rows.insert(0, [column.heading for column in table.columns])
    align = "".join(_SIDES[column.align] for column in table.columns)
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(len(align))]
    lines = [
        "  ".join(f"{c:{a}{w}}" for c, a, w in zip(row, align, widths, strict=True)).rstrip()
        for row in rows
    ]
    if not table.notes:
        return lines
    said = list(lines[: len(lines) - len(table.rows)])
    for line, note in zip(lines[len(said) :], table.notes, strict=True):
        said.append(line)
        if note:
            said += _wrapped(note, width, indent=" " * _NOTE)
    return said


def _text(cell: Cell) -> str:
    # a name of another tool, such as a command of several lines, must not break the table
    return text_of(cell).translate(_ONE_LINE)


def _wrapped(sentence: str, width: int, indent: str = "") -> list[str]:
    """Break a sentence into lines, but never inside "p = 0.03" or "5 %"."""
    whole = sentence
    for sign in (" = ", " < ", " %"):
        whole = whole.replace(sign, sign.replace(" ", "\N{NO-BREAK SPACE}"))
    lines = textwrap.wrap(
        whole,
        width,
        initial_indent=indent,
        subsequent_indent=indent + _MARGIN,
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
