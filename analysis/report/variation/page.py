"""The chapter in sentences and tables, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...pages.model import CommandLine, Figure, Section, Sentence, Table, page_of
from ..chapter import sections_of
from .result import Variation

__all__ = ["told"]


@sections_of.register(Variation)
def _variation_sections(chapter: Variation) -> tuple[Section, ...]:
    return told(chapter)


def told(chapter: Variation) -> tuple[Section, ...]:
    """Give the result's own sections, what they cannot show, and the command; pictures in words."""
    page = page_of(chapter.found)
    sections = tuple(
        Section(tuple(_blocks(section, chapter)), section.title) for section in page.sections
    )
    doubts = tuple(Sentence(caution.text) for caution in page.cautions)
    return (
        *sections,
        *((Section(doubts, "What this cannot show"),) if doubts else ()),
        Section((CommandLine(chapter.command),), "The same alone"),
    )


def _blocks(section: Section, chapter: Variation) -> Iterator[Sentence | Table | CommandLine]:
    for block in section.blocks:
        if isinstance(block, Table):  # two metrics may have one
            yield replace(block, name=f"{chapter.anchor}-{block.name}")
        elif isinstance(block, Figure):
            yield Sentence(block.alt)
        elif isinstance(block, Section):
            yield from (Sentence(block.title),) if block.title else ()
            yield from _blocks(block, chapter)
        else:
            yield block
