"""The chapter for a paper in sentences, commands and tables."""

from __future__ import annotations

from collections.abc import Sequence

from ...pages.model import Column, CommandLine, Section, Sentence, Table
from ...words import shown
from ..chapter import sections_of
from ..spoken import spoken_text
from .result import Fact, Paper

__all__: list[str] = []

_UNKNOWN = "unknown"


@sections_of.register(Paper)
def _paper_sections(chapter: Paper) -> tuple[Section, ...]:
    again = Section(
        (
            *(CommandLine(shown(line)) for line in chapter.commands),
            *(Sentence(note) for note in chapter.notes),
        ),
        "To do it again",
    )
    sections = [Section((Sentence(spoken_text(chapter.paragraph)),), "Method"), again]
    facts = [("seed", chapter.seeds), ("version", chapter.versions), ("SHA-256", chapter.hashes)]
    if any(found for _, found in facts):
        sections.append(Section((_table(facts),), "Seeds, versions, hashes"))
    if chapter.citations:
        cited = tuple(Sentence(f"[{k}] {one.text}") for k, one in enumerate(chapter.citations, 1))
        sections.append(Section(cited, "To cite"))
    return tuple(sections)


def _table(facts: Sequence[tuple[str, Sequence[Fact]]]) -> Table:
    return Table(
        name="provenance",
        columns=(Column("kind", "left"), Column("of", "left"), Column("value", "left")),
        rows=tuple(
            (kind, shown(fact.name), _UNKNOWN if fact.text is None else shown(fact.text))
            for kind, found in facts
            for fact in found
        ),
    )
