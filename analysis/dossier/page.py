"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from ..report import Page, page_of
from .chapter import sections_of
from .model import Dossier

__all__: list[str] = []


@page_of.register
def _(dossier: Dossier) -> Page:
    told = tuple(section for chapter in dossier.chapters for section in sections_of(chapter))
    return Page(title=dossier.headline, sections=told, cautions=dossier.cautions)
