"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..pages.model import Block, Page, Section, Sentence, Table, page_of
from ..verdict.screen.sentence import with_whole_interval
from .brief import brief_sections
from .model import Report
from .names import abridging

if TYPE_CHECKING:
    from .chapter import Chapter

__all__ = ["brief_page", "data_page", "narrow_page"]


@page_of.register(Report)
def _report_page(report: Report) -> Page:
    """Give the whole report to be read: long names are short where the page has them so."""
    return _read(report, narrow=False)


def narrow_page(report: Report) -> Page:
    """Give the whole report for columns of paper: long names are short in all tables and titles."""
    return _read(report, narrow=True)


def _read(report: Report, *, narrow: bool) -> Page:
    brief = abridging(report.names)
    chapters = (
        _abridged(section, brief) if narrow or chapter.name == "answer" else section
        for chapter, section in _chapters(report)
    )
    return Page(
        title=report.headline, sections=(*_brief(report), *chapters), cautions=report.cautions
    )


def data_page(report: Report) -> Page:
    """Give the whole report for what takes its tables as data: names are whole."""
    return Page(
        title=report.headline,
        sections=(*_brief(report, whole=True), *(section for _, section in _chapters(report))),
        cautions=report.cautions,
    )


def brief_page(report: Report) -> Page:
    """Give the answer and the compact table alone, with the first cautions and how many more there are."""
    hidden = len(report.cautions) - len(report.shown)
    more = f"{hidden} more caution{'s' * (hidden > 1)}: in every other form of the report"
    return Page(
        title=report.headline,
        sections=(Section((Sentence(with_whole_interval(report.headline)),)), *_brief(report)),
        cautions=report.shown,
        following=(Section((Sentence(more),)),) if hidden > 0 else (),
    )


def _brief(report: Report, *, whole: bool = False) -> tuple[Section, ...]:
    """Give one section: what is seen before anything is unfolded."""
    found = tuple(
        section for brief in report.briefs for section in brief_sections(brief, whole=whole)
    )
    return (found[0] if len(found) == 1 else Section(found),) if found else ()


def _chapters(report: Report) -> Iterator[tuple[Chapter, Section]]:
    """Give each chapter, and all that it says as one section under its title."""
    for chapter in report.chapters:
        found = chapter.sections()
        title = chapter.title or "The answer"
        if len(found) == 1 and found[0].title in {"", title}:
            yield chapter, Section(found[0].blocks, title)
        elif found:
            yield chapter, Section(found, title)


def _abridged(section: Section, brief: Callable[[str], str]) -> Section:
    """Shorten names in titles and tables: no cell needs more room than on the screen."""

    def fit(block: Block) -> Block:
        if isinstance(block, Section):
            return _abridged(block, brief)
        if not isinstance(block, Table):
            return block
        return replace(
            block,
            columns=tuple(replace(one, heading=brief(one.heading)) for one in block.columns),
            rows=tuple(
                tuple(brief(cell) if isinstance(cell, str) else cell for cell in row)
                for row in block.rows
            ),
            notes=tuple(map(brief, block.notes)),
        )

    return Section(tuple(map(fit, section.blocks)), brief(section.title))
