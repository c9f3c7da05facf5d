"""The chapter in sentences and tables, for every renderer but the HTML page."""

from __future__ import annotations

from ...pages.model import Block, Column, Section, Sentence, Table
from ..chapter import sections_of
from .result import Happened

__all__ = ["found_table", "more_text", "sessions_table"]


@sections_of.register(Happened)
def _happened_sections(chapter: Happened) -> tuple[Section, ...]:
    notes = [note for timeline in chapter.timelines for note in timeline.notes]
    told = (*chapter.deck, " ".join(notes))
    blocks: list[Block] = [Sentence(text) for text in told if text]
    blocks.append(sessions_table(chapter))
    if chapter.found:
        blocks.append(found_table(chapter))
    if chapter.more_found:
        blocks.append(Sentence(more_text(chapter.more_found)))
    return (Section(tuple(blocks), title=chapter.title),)


def more_text(count: int) -> str:
    """Say how many findings are not in the table."""
    return f"{count:,} more finding{'s' * (count > 1)}: fairtrial diagnose lists all."


def sessions_table(chapter: Happened) -> Table:
    """Give the sessions: how long each took, and where its runs lie."""
    panels = [(one, panel) for one in chapter.timelines for panel in one.panels]
    noun = panels[0][0].noun if panels else "session"
    two, shares = len(chapter.timelines) > 1, any(panel.higher.text for _, panel in panels)
    return Table(
        name="happened-sessions",
        columns=(
            *((Column("trial", "left"),) if two else ()),
            Column(noun, "left"),
            Column("seconds"),
            Column("runs"),
            Column("their median"),
            *((Column(f"in the {chapter.higher}"),) if shares else ()),
        ),
        rows=tuple(
            (
                *((one.label,) if two else ()),
                panel.session,
                panel.seconds,
                panel.runs,
                panel.level,
                *((panel.higher,) if shares else ()),
            )
            for one, panel in panels
        ),
    )


def found_table(chapter: Happened) -> Table:
    """Give what the diagnosis found."""
    two = len(chapter.timelines) > 1
    return Table(
        name="happened-found",
        columns=(
            *((Column("trial", "left"),) if two else ()),
            Column("benchmark / variant", "left"),
            Column("finding", "left"),
            Column("p, adjusted"),
        ),
        rows=tuple(
            (*((one.trial,) if two else ()), one.cell, one.text, one.pvalue)
            for one in chapter.found
        ),
    )
