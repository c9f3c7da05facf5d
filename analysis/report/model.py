"""The report as plain values: every renderer takes these, so no number can differ between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..pages.result import Result, cautions_to_dict, plain

if TYPE_CHECKING:
    from ..pages.model import Caution
    from .brief import Brief
    from .chapter import Chapter

__all__ = ["Report"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report(Result):
    """A whole report.

    Attributes
    ----------
    title : str
        The campaign, or the files.
    headline : str
        The verdict in one sentence; the page's only h1.
    metrics : tuple of str
        What was judged; the chapters of a second metric follow those of the first.
    briefs : tuple of mapping
        The answer as a compact table, one for each metric.
    chapters : tuple of Chapter
        In the order of the page.
    names : tuple of str
        All variants and benchmarks: what is read instead of computed with shortens them.
    shown : tuple of Caution
        Those that a first screen shows, of all metrics.
    """

    method: ClassVar[str] = "report"

    title: str
    headline: str
    metrics: tuple[str, ...]
    briefs: tuple[Brief, ...] = ()
    chapters: tuple[Chapter, ...]
    names: tuple[str, ...] = ()
    shown: tuple[Caution, ...] = ()

    def body(self) -> dict[str, Any]:
        """Give what stands below the head; a chapter under its name, of one metric after another."""
        found: dict[str, Any] = {
            "title": self.title,
            "headline": self.headline,
            "metrics": list(self.metrics),
            "brief": plain(self.briefs),
        }
        for chapter in self.chapters:
            found.setdefault(chapter.name, []).append(chapter.to_dict())
        return found | cautions_to_dict(self.cautions)
