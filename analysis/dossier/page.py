"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from ..report import Page, Section, page_of
from .brief.page import brief_sections
from .chapter import Chapter, sections_of
from .model import Dossier

__all__ = ["brief_page"]


@page_of.register
def _(dossier: Dossier) -> Page:
    """Give the whole report: the compact table, then a section for each chapter."""
    return Page(
        title=dossier.headline,
        sections=(*_brief(dossier), *(_chapter(chapter) for chapter in dossier.chapters)),
        cautions=dossier.cautions,
    )


def brief_page(dossier: Dossier) -> Page:
    """Give the compact table with its cautions alone."""
    return Page(title=dossier.headline, sections=_brief(dossier), cautions=dossier.cautions)


def _brief(dossier: Dossier) -> tuple[Section, ...]:
    """Give one section: what is seen before anything is unfolded."""
    told = tuple(section for brief in dossier.briefs for section in brief_sections(brief))
    return (told[0] if len(told) == 1 else Section(told),) if told else ()


def _chapter(chapter: Chapter) -> Section:
    told = sections_of(chapter)
    title = chapter.title or "The answer"
    if len(told) == 1 and told[0].title in {"", title}:
        return Section(told[0].blocks, title)
    return Section(told, title)
