"""A report in words, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ..pages.model import Block, Page, Section, Sentence, Table, columns_of, page_of
from ..pages.result import Result, cautions_to_dict, plain
from ..verdict.sentence import with_whole_interval
from .subject import abridging
from .written import brief_sections

if TYPE_CHECKING:
    from ..pages.model import Caution, Cell
    from .written import Brief

__all__ = ["Chapter", "Report", "brief_page", "data_page", "narrow_page", "table_of"]

# --- A chapter of the report: plain values, and the two ways in which it is set.
#
# A chapter is a folder with a function and a template. The function, in ``chapter.py``, takes a subject
# with its results and gives a `Chapter`: the values that JSON shows, those that the template takes, the
# sections of all other forms. The template, ``chapter.html.jinja``, sets them;
# ``chapter.css`` is its style.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chapter:
    """One chapter of one metric.

    A number that is shown is a `Value`: its text, and the number itself. So it is written once, and no
    two forms can differ.

    Attributes
    ----------
    name : str
        Its key in JSON.
    folder : str
        Where its template lies: a folder of the report's.
    anchor : str
        The id of its HTML element, unique on the page; a permalink bears it.
    title : str
        Its heading; "" for the first chapter, whose heading is the page's.
    values : mapping of str to object
        What it says, as JSON shows it: texts, numbers, `Value`, frozen dataclasses and sequences of these.
    sections : callable
        Gives the same as sentences, tables and commands, for all forms but HTML.
    drawn : callable
        Gives what the template takes beside `values`: pictures, above all. Called for HTML alone.
    headline : str
        The page's heading, of the chapter that has it.
    """

    name: str
    folder: str
    anchor: str
    title: str
    values: Mapping[str, Any]
    sections: Callable[[], tuple[Section, ...]]
    drawn: Callable[[], Mapping[str, Any]] = dict
    headline: str = ""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever stands under the name
        return self.values[name]

    def to_dict(self) -> dict[str, Any]:
        """Give its values as JSON types."""
        return {"anchor": self.anchor, "title": self.title, **plain(self.values)}


def table_of(name: str, headings: str, rows: Iterable[tuple[Cell, ...]]) -> Table:
    """Give a table; a semicolon stands between its headings, ``<`` before one that is aligned left."""
    return Table(name=name, columns=columns_of(*headings.split("; ")), rows=tuple(rows))


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
