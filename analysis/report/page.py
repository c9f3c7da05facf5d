"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ..pages.model import Page, Section, Sentence, page_of
from .chapter import Chapter, sections_of
from .model import Report
from .summary.page import brief_sections

__all__ = ["brief_page", "data_page"]

_CAUTIONS = 8  # of the compact form


@page_of.register(Report)
def _report_page(report: Report) -> Page:
    """Give the whole report: the compact table, then a section for each chapter."""
    return _page(report, whole=False)


def data_page(report: Report) -> Page:
    """Give the whole report for what takes its tables as data: names are whole in the first ones."""
    return _page(report, whole=True)


def _page(report: Report, *, whole: bool) -> Page:
    return Page(
        title=report.headline,
        sections=(*_brief(report, whole=whole), *_chapters(report)),
        cautions=report.cautions,
    )


def brief_page(report: Report) -> Page:
    """Give the compact table alone, with the first cautions and how many more there are."""
    hidden = len(report.cautions) - _CAUTIONS
    more = f"{hidden} more caution{'s' * (hidden > 1)}: in every other form of the report"
    return Page(
        title=report.headline,
        sections=_brief(report),
        cautions=report.cautions[:_CAUTIONS],
        following=(Section((Sentence(more),)),) if hidden > 0 else (),
    )


def _brief(report: Report, *, whole: bool = False) -> tuple[Section, ...]:
    """Give one section: what is seen before anything is unfolded."""
    told = tuple(
        section for brief in report.briefs for section in brief_sections(brief, whole=whole)
    )
    return (told[0] if len(told) == 1 else Section(told),) if told else ()


def _chapters(report: Report) -> Iterator[Section]:
    """Give each chapter as one section under its title."""
    for chapter in report.chapters:
        told = chapter.sections() if isinstance(chapter, Chapter) else sections_of(chapter)
        title = chapter.title or "The answer"
        if len(told) == 1 and told[0].title in {"", title}:
            yield Section(told[0].blocks, title)
        elif told:
            yield Section(told, title)
