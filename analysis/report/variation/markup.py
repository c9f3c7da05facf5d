"""The chapter as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from ...pages.model import Block, CommandLine, Section, Sentence, Table, Value
from ...words import shown
from ..chapter import html_of
from ..table_markup import table_html
from .page import told
from .result import Variation

__all__: list[str] = []


@html_of.register(Variation)
def _variation_html(chapter: Variation) -> Markup:
    parts = [mark for section in told(chapter) for mark in _section(section)]
    return Markup('<section id="{}">\n<h2>{}</h2>\n{}\n</section>').format(
        chapter.anchor, chapter.title, Markup("\n").join(parts)
    )


def _section(section: Section) -> Iterator[Markup]:
    if section.title:
        yield Markup("<h3>{}</h3>").format(_sentence(section.title))
    for block in section.blocks:
        yield _block(block, section.title)


def _block(block: Block, caption: str) -> Markup:
    if isinstance(block, Table):
        return table_html(_plain(block), caption)
    if isinstance(block, CommandLine):
        return Markup('<pre class="variation-said"><code>{}</code></pre>').format(shown(block.line))
    assert isinstance(block, Sentence)
    return Markup('<p class="variation-said">{}</p>').format(_sentence(block.text))


def _sentence(text: str) -> str:
    """Begin with a capital letter, unless a name stands first."""
    first = text.partition(" ")[0].removesuffix(",")
    return shown(text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text)


def _plain(table: Table) -> Table:
    return replace(
        table,
        rows=tuple(
            tuple(cell if isinstance(cell, Value) else shown(cell) for cell in row)
            for row in table.rows
        ),
    )
