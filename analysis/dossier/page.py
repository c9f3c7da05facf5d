"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ..pages.model import Page, Section, Sentence, page_of
from .brief.page import brief_sections
from .chapter import sections_of
from .model import Dossier

__all__ = ["brief_page", "data_page"]

_CAUTIONS = 8  # of the compact form


@page_of.register(Dossier)
def _dossier_page(dossier: Dossier) -> Page:
    """Give the whole report: the compact table, then a section for each chapter."""
    return _page(dossier, whole=False)


def data_page(dossier: Dossier) -> Page:
    """Give the whole report for what takes its tables as data: names are whole in the first ones."""
    return _page(dossier, whole=True)


def _page(dossier: Dossier, *, whole: bool) -> Page:
    return Page(
        title=dossier.headline,
        sections=(*_brief(dossier, whole=whole), *_chapters(dossier)),
        cautions=dossier.cautions,
    )


def brief_page(dossier: Dossier) -> Page:
    """Give the compact table alone, with the first cautions and how many more there are."""
    hidden = len(dossier.cautions) - _CAUTIONS
    more = f"{hidden} more caution{'s' * (hidden > 1)}: in every other form of the report"
    return Page(
        title=dossier.headline,
        sections=_brief(dossier),
        cautions=dossier.cautions[:_CAUTIONS],
        following=(Section((Sentence(more),)),) if hidden > 0 else (),
    )


def _brief(dossier: Dossier, *, whole: bool = False) -> tuple[Section, ...]:
    """Give one section: what is seen before anything is unfolded."""
    told = tuple(
        section for brief in dossier.briefs for section in brief_sections(brief, whole=whole)
    )
    return (told[0] if len(told) == 1 else Section(told),) if told else ()


def _chapters(dossier: Dossier) -> Iterator[Section]:
    """Give each chapter as one section under its title."""
    for chapter in dossier.chapters:
        told = sections_of(chapter)
        title = chapter.title or "The answer"
        if len(told) == 1 and told[0].title in {"", title}:
            yield Section(told[0].blocks, title)
        elif told:
            yield Section(told, title)
