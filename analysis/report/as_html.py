"""Pages as HTML fragments, for notebooks; every text in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from .caution import Caution
from .model import Block, Cell, Command, Figure, Page, Section, Sentence, Table

__all__ = ["render"]


def render(page: Page) -> str:
    """Set a page as one ``section`` without scripts, styles of its own or outside requests.

    Headings of columns and rows are marked as such, for those who hear the page. Pictures are left
    out.
    """
    told = [line for section in page.sections for line in _section(section)]
    then = [line for section in page.following for line in _section(section)]
    return "\n".join(
        [
            f'<section aria-label="{escape(page.title)}">',
            *told,
            *_cautions(page.cautions),
            *then,
            "</section>",
        ]
    )


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"<p><strong>{escape(section.title)}</strong></p>"
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield f"<p>{escape(text)}</p>"
        case Command(line=line):
            yield f"<pre><code>{escape(line)}</code></pre>"
        case Table():
            yield from _table(block)
        case Section():
            yield from _section(block)
        case Figure():
            return


def _table(table: Table) -> Iterator[str]:
    sides = [column.align for column in table.columns]
    yield f'<table aria-label="{escape(table.name)}">'
    if table.headed:
        heads = zip((column.heading for column in table.columns), sides, strict=True)
        cells = "".join(
            f'<th scope="col" style="text-align: {side}">{escape(text)}</th>'
            if text
            else "<td></td>"
            for text, side in heads
        )
        yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    for k, row in enumerate(table.rows):
        first, *others = zip((_text(cell) for cell in row), sides, strict=True)
        yield (
            f'<tr><th scope="row" style="text-align: {first[1]}">{escape(first[0])}</th>'
            + "".join(f'<td style="text-align: {side}">{escape(t)}</td>' for t, side in others)
            + "</tr>"
        )
        if table.notes and table.notes[k]:
            yield f'<tr><td colspan="{len(row)}">{escape(table.notes[k])}</td></tr>'
    yield "</tbody></table>"


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _cautions(cautions: Iterable[Caution]) -> list[str]:
    said = [f"<li>{escape(caution.text)}</li>" for caution in cautions]
    return ["<p><strong>cautions</strong></p>", "<ol>", *said, "</ol>"] if said else []
