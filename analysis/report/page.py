"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..pages.model import Block, Caution, Figure, Listing, Page, Section, section
from ..pages.result import Result, cautions_to_dict, plain
from ..plots.paper import Sheet
from ..verdict.sentence import with_whole_interval
from .figures import draw
from .subject import Subject, abridged, abridging
from .written import Brief, brief_sections

# --- A chapter: what is said of one metric under one heading, in sentences, tables and pictures.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chapter:
    """One chapter of one metric.

    A number that is shown is a `Value`: its text, and the number itself. So it is written once, and no
    two forms can differ.

    Attributes
    ----------
    name : str
        Its key in JSON.
    anchor : str
        The id of its HTML element, unique on the page.
    title : str
        Its heading; "" for the first chapter, whose heading is the page's.
    sections : callable
        Gives its sentences, tables, pictures and commands.
    lead : str
        What stands next to its heading while it is folded; "" for a chapter that stands open.
    values : mapping of str to object
        What JSON shows in the place of the sections, where there is any.
    whole : bool
        Whether no name in it is shortened.
    headline : str
        The page's heading, of the chapter that has it.
    """

    name: str
    anchor: str
    title: str
    sections: Callable[[], Iterable[Section]]
    lead: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    headline: str = ""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever stands under the name
        return self.values[name]

    def to_dict(self) -> dict[str, Any]:
        """Give its values, or its sections, as JSON types."""
        found = plain(self.values) if self.values else {"sections": plain(tuple(self.sections()))}
        return {"anchor": self.anchor, "title": self.title, **found}


def chapter_of(
    subject: Subject,
    name: str,
    title: str,
    sections: Callable[[], Iterable[Section]],
    **more: Any,  # noqa: ANN401 - further fields
) -> Chapter:
    """Give a chapter of a subject, whose anchor is its name there."""
    return Chapter(name=name, anchor=subject.anchor(name), title=title, sections=sections, **more)


def picture_of(
    kind: str, subject: Subject, benchmark: str | None = None, *, width: float = 85.0
) -> Figure:
    """Draw what `fairtrial plot` draws, `width` mm wide: by default as wide as a telephone's page.

    Raises
    ------
    AnalysisError
        If these sources have nothing that the kind shows.
    """
    found = draw(kind, subject, Sheet(width=width), benchmark=benchmark)
    return Figure(name=found.name, alt=found.alt, draw=lambda: found.picture)


# --- The report as plain values: every renderer takes these, so no number can differ between them.


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
    written : tuple of str
        The files that were written of it.
    """

    method: ClassVar[str] = "report"

    title: str
    headline: str
    metrics: tuple[str, ...]
    briefs: tuple[Brief, ...] = ()
    chapters: tuple[Chapter, ...]
    names: tuple[str, ...] = ()
    shown: tuple[Caution, ...] = ()
    written: tuple[str, ...] = ()

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
        found |= {"written": list(self.written)} if self.written else {}
        return found | cautions_to_dict(self.cautions)

    def screen(self) -> Page:
        """Set the whole report, long names abridged."""
        return data_page(self, abridging(self.names))


def data_page(report: Report, brief: Callable[[str], str] = str) -> Page:
    """Give the whole report for what takes its tables as data: names are whole, unless `brief` shortens them."""
    return Page(
        title=report.headline,
        sections=tuple(abridged(section, brief) for section in _chapters(report)),
        cautions=report.cautions,
    )


def brief_page(report: Report) -> Page:
    """Give the answer and the compact table alone, with the first cautions and how many more there are."""
    hidden = len(report.cautions) - len(report.shown)
    more = f"{hidden} more caution{'s' * (hidden > 1)}: in every other form of the report"
    answer = [section(with_whole_interval(report.headline))]
    for text in report.briefs:
        answer += [section(text["heading"])] if text["heading"] else []
        answer += brief_sections(text)
    return Page(
        title=report.headline,
        sections=tuple(answer),
        cautions=report.shown,
        following=(section(more),) if hidden > 0 else (),
    )


def _chapters(report: Report) -> Iterator[Section]:
    """Give each chapter, and all that it says as one section under its title, without what only HTML has."""
    for chapter in report.chapters:
        found = tuple(_in_words(chapter.sections()))
        title = chapter.title or "The answer"
        if len(found) == 1 and isinstance(found[0], Section) and found[0].title in {"", title}:
            yield Section(found[0].blocks, title)
        elif found:
            yield Section(found, title)


def _in_words(blocks: Iterable[Block]) -> Iterator[Block]:
    for one in blocks:
        if isinstance(one, Section):
            if inside := tuple(_in_words(one.blocks)):
                yield replace(one, blocks=inside)
        elif not isinstance(one, Figure | Listing):
            yield one
