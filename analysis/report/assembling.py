"""Puts a report together: every chapter takes what it says from the subject, and every renderer sets the chapters."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from html import escape
from itertools import groupby
from typing import Any, ClassVar

import jinja2
from markupsafe import Markup

from ..announcing import doing
from ..pages.model import (
    Block,
    Caution,
    CommandLine,
    Figure,
    Listing,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    merged,
    section,
    text_of,
)
from ..pages.result import Result, cautions_to_dict, plain
from ..plots.axes import Sheet
from ..plots.marks import DARK, LIGHT, PRINT
from ..registry import CHAPTERS, function, shipped
from ..verdict.cautions import host_cautions_in, shown_cautions
from ..verdict.sentence import with_whole_interval
from ..version import VERSION
from ..words import shown, shown_lines
from .figures import draw
from .subject import Brief, Subject, abridged, abridging, brief_of, brief_sections

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
        sections=tuple(abridged(section, brief) for section in _set_chapters(report)),
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


def _set_chapters(report: Report) -> Iterator[Section]:
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


_ASKED = "variation"  # what takes its time, and is there when it is asked for
_ONCE = ("why", "conditions")  # what belongs to the trial, whatever was judged


class Html(Markup):
    """Markup that cleans and escapes the texts that are put into it."""

    @classmethod
    def escape(cls, s: Any) -> Html:  # noqa: ANN401 - whatever is put in
        """Give a text that nothing in it moves, hides or marks up; markup as it is."""
        return super().escape(s if hasattr(s, "__html__") else shown(str(s)))


def assemble(subjects: Sequence[Subject], *, sources: bool = False) -> Report:
    """Ask all chapters.

    Parameters
    ----------
    subjects : sequence of Subject
        One for each metric of the same sources.
    sources : bool
        Whether the sources of variation are among them.

    Raises
    ------
    UsageError
        If these were asked for, and the report is not on one trial.
    """
    first = subjects[0]
    names = [name for name in CHAPTERS if sources or name != _ASKED]
    chapters = tuple(chapter for subject in subjects for chapter in _chapters(subject, names))
    return Report(
        title=first.title,
        headline=next((one.headline for one in chapters if one.headline), first.title),
        metrics=tuple(subject.data.metric for subject in subjects),
        briefs=tuple(map(brief_of, subjects)),
        chapters=chapters,
        names=tuple(dict.fromkeys(name for subject in subjects for name in _names(subject))),
        cautions=merged(*(subject.verdict.cautions for subject in subjects)),
        shown=merged(
            *(
                (*host_cautions_in(one.verdict.cautions), *shown_cautions(one.verdict).cautions)
                for one in subjects
            )
        ),
    )


def _names(subject: Subject) -> Iterator[str]:
    yield subject.baseline
    yield from (one.variant for one in subject.candidates)
    yield from subject.order


def _chapters(subject: Subject, names: Sequence[str]) -> Iterator[Chapter]:
    for number, name in enumerate(names, 1):
        doing(f"writing the report: {name} ({number} of {len(names)})")
        if not (subject.prefix and name in _ONCE):  # it stands with the first metric
            found: Chapter | None = function(CHAPTERS[name])(subject)
            if found is not None:
                yield found


# --- The page around the chapters: one file, one policy, one style sheet, one small script.


_HERE = shipped("analysis/report")
_LONG = 20  # rows of a table that is not folded
_MANY = 5  # parts: a page with no more has no table of contents


def html_page(report: Report) -> str:
    """Give the report as one HTML file that needs nothing else.

    The policy allows no request at all, and only the script whose hash it names.
    """
    lines = (line.strip() for line in (_HERE / "page.js").read_text("utf-8").splitlines())
    # without comments and indents, which half of a page's readers never see
    script = "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))
    # the page's style sheet, and those of single chapters, which have their names
    sheets = ("page.css", *(f"{one.name}.css" for one in report.chapters))
    styles = [path.read_text("utf-8") for name in sheets if (path := _HERE / name).exists()]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    colours = (
        f":root{{{LIGHT.css()}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{DARK.css()}}}}}"
        f"@media print{{:root{{{PRINT.css()}}}}}"
    )
    # each metric and its chapters: ids of a second metric begin with its place
    chapters = [(one, chapter_html(one, report.names)) for one in report.chapters]
    groups = [
        (metric, [html for one, html in chapters if _number(one) == number])
        for number, metric in enumerate(report.metrics)
    ]
    parts = sum(chapter.count(" data-jump=") for _, chapters in groups for chapter in chapters)
    return _template().render(
        title=f"{report.headline} · {report.title}",
        version=VERSION,
        script=Markup(script),  # noqa: S704 - our own file
        policy=f"sha256-{digest}",
        style=Markup(colours + "".join(styles)),  # noqa: S704 - our own files
        groups=groups,
        cautions=list(_cautions(report)),
        shown=len(report.shown),
        contents=_contents(report) if parts > _MANY or len(groups) > 1 else (),
    )


def _cautions(report: Report) -> Iterator[Markup]:
    brief = abridging(report.names)
    for one in merged(report.shown, report.cautions):
        named = re.split("[ ,:]", one.text, maxsplit=1)[0] in report.names
        yield sentence_html(brief(one.text) if named else sentence(brief(one.text)))


def chapter_html(chapter: Chapter, names: Sequence[str] = ()) -> Markup:
    """Set a chapter: one ``section`` element with its anchor as id, in which long `names` are short."""
    brief = abridging(() if chapter.whole else names)
    sections = tuple(abridged(one, brief) for one in chapter.sections())
    # of many parts, which the page may jump to, the pictures are folded
    parts = sum(bool(one.anchor) for one in sections) if not chapter.lead else 0
    level = 2 if chapter.headline else 3
    above = "" if _OF_METRIC.match(chapter.anchor) or not chapter.headline else chapter.anchor
    headed = next((one for one in sections if one.title), None)
    found = Markup("").join(
        part
        for one in sections
        for part in _section_html(one, brief, level, parts, above if one is headed else "")
    )
    if chapter.headline:
        level, link = (1, "") if above else (2, _permalink(chapter.anchor))
        return Html(
            '<section id="{0}" class="said answer"><p class="about">{1}</p><h{2}>{3}{4}</h{2}>{5}</section>'
        ).format(
            *(chapter.anchor, brief(chapter.lead)),
            *(level, sentence_html(chapter.headline), link, found),
        )
    title = brief(chapter.title)
    if not chapter.lead:
        return Html('<section id="{0}" class="said"><h2>{1}{2}</h2>{3}</section>').format(
            chapter.anchor, title, _permalink(chapter.anchor), found
        )
    return Html(
        '<section id="{}" class="said folded"><details class="chapter"><summary><h2>{}</h2> '
        '<span class="second sans">{}</span></summary>{}</details></section>'
    ).format(chapter.anchor, title, sentence_html(brief(chapter.lead)), found)


_LINKED = 3  # the level of the smallest headings with a link to their part


def _permalink(anchor: str) -> Markup:
    link = Markup(' <a class="permalink" href="#{}" aria-label="link to this part">#</a>')
    return link.format(anchor) if anchor else Markup("")


_OPEN = 5  # parts of a chapter whose pictures are seen; of more they are folded


def _section_html(
    section: Section, brief: Callable[[str], str], level: int, parts: int = 0, above: str = ""
) -> Iterator[Markup]:
    """Set a section and those in it; one with an anchor is an element, where there are `parts` to jump to.

    A heading has a permalink to its own element, or to that `above`.
    """
    place = Markup(' id="{}"').format(section.anchor) if section.anchor else ""
    jump = Html(' data-jump="{}"').format(section.title) if section.anchor and parts else ""
    title = section.title if section.anchor else sentence_html(section.title)
    inside = list(_blocks_html(section, brief, level + bool(section.title)))
    if section.title and not section.folded:
        link = _permalink(section.anchor or above) if level <= _LINKED else ""
        inside.insert(0, Html("<h{0}>{1}{2}</h{0}>").format(level, title, link))
    if jump and parts > _OPEN:
        pictures = [part for part in inside if part.startswith("<figure>")]
        inside = [part for part in inside if part not in pictures]
        folded = Markup("<details><summary>pictures</summary>{}</details>")
        inside += [folded.format(Markup("").join(pictures))] if pictures else []
    if section.folded:
        head = Html("<summary>{}</summary>").format(title)
        yield Markup("<details{}>{}{}</details>").format(place, head, Markup("").join(inside))
    elif section.anchor:
        yield Markup("<section{}{}>{}</section>").format(place, jump, Markup("").join(inside))
    else:
        yield from inside


def _blocks_html(section: Section, brief: Callable[[str], str], level: int) -> Iterator[Markup]:
    for kind, alike in groupby(section.blocks, type):
        if kind is CommandLine:
            lines = "\n".join(shown(one.line) for one in alike if isinstance(one, CommandLine))
            yield Markup('<pre class="typed copyable">{}</pre>').format(lines)
            continue
        for block in alike:
            match block:
                case Section():
                    yield from _section_html(block, brief, level)
                case Table(rows=rows):
                    found = table_html(block, section.title or block.name, "sortable")
                    if len(rows) > _LONG:
                        summary = Markup("<summary>all {} rows in numbers</summary>")
                        found = Markup("<details>{}{}</details>").format(
                            summary.format(len(rows)), found
                        )
                    yield found
                case Figure():
                    yield picture_html(block, brief)
                case Listing():
                    yield from _listing_html(block)
                case Sentence(text=text):
                    yield Markup("<p>{}</p>").format(sentence_html(brief(text)))


def _listing_html(listing: Listing) -> Iterator[Markup]:
    if listing.about:
        yield Markup("<p>{}</p>").format(sentence_html(listing.about))
    if listing.saved_as:
        yield Markup(
            '<script type="application/json" id="{}" data-download="{}">{}</script>'
        ).format(listing.name, listing.saved_as, embedded(listing.text))
    elif text := shown_lines(listing.text):
        yield Markup('<pre class="typed copyable" dir="ltr">{}</pre>').format(text)


_UNSAFE = re.compile("[<>&]")


def embedded(text: str) -> Markup:
    """Write JSON, all of it ASCII, so that nothing in it ends a ``script`` element: signs by their numbers."""
    return Markup(_UNSAFE.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text))  # noqa: S704 - no markup is left


_SIZE = re.compile(r'\b(width|height)="([0-9.]+)pt"')
_LARGER = 1.16  # a paper's smallest letters, 7.5 pt, are 11.6 px on the page


def picture_html(figure: Figure, brief: Callable[[str], str] = str) -> Markup:
    """Set a picture in the page's colours, and below it what it shows in words.

    One that is markup is as wide as the page, and bears its words itself.
    """
    drawn = figure.draw()
    if isinstance(drawn, Markup):
        return Markup('<div class="across">{}</div>').format(drawn)
    svg = drawn.svg()
    for role in fields(PRINT):
        svg = svg.replace(f'"{getattr(PRINT, role.name)}"', f'"var(--{role.name})"')
    svg = _SIZE.sub(lambda m: f'{m[1]}="{_LARGER * float(m[2]):.0f}pt"', svg, count=2)
    svg = re.sub(r'("|#)clip(?=\d)', rf"\1{figure.name}-clip", svg)  # ids of one page
    named = svg.replace('role="img"', f'role="img" aria-label="{escape(figure.name)}"', 1)
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(
        Markup(named),  # noqa: S704 - the picture escapes
        sentence_html(brief(figure.alt)),
    )


_OF_METRIC = re.compile(r"metric-(\d+)-")  # behind the first


def _number(chapter: Chapter) -> int:
    found = _OF_METRIC.match(chapter.anchor)
    return int(found[1]) - 1 if found else 0


def _contents(report: Report) -> Sequence[tuple[str, str]]:
    if len(report.metrics) == 1:
        return [(one.anchor, one.title) for one in report.chapters if one.title]
    return [
        (one.anchor, f"{one.title or 'answer'} · {report.metrics[_number(one)]}")
        for one in report.chapters
    ]


# --- The template, and our own words.


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        finalize=lambda value: Html.escape(value) if isinstance(value, str) else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.jinja")


def sentence(text: str) -> str:
    """Begin with a capital letter, unless a name stands first."""
    first = text.partition(" ")[0].removesuffix(",")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


_RATIO = re.compile(r"(?<![\w.\-])(\d[\d.]*)x(?!\w)")
_PERCENT = re.compile(r"(?<=\d) %")
_AFTER = re.compile(r"± (?=\d)")


def sentence_html(text: str) -> Markup:
    """Set our own words: the sign of a ratio, no break before a percent sign or after ``±``."""
    return Html.escape(_AFTER.sub("±\u00a0", _PERCENT.sub("\u00a0%", _RATIO.sub("\\1×", text))))


def table_html(table: Table, caption: str, css: str = "") -> Markup:
    """Set a table that scrolls by itself where it is wider than the page.

    The first cell of a row is its heading. `caption` says to those who hear the page what it holds; `css` are
    further classes.
    """
    sides = [' class="right"' if column.align == "right" else "" for column in table.columns]
    head = "".join(
        f'<th scope="col"{side}>{Html.escape(column.heading)}</th>'
        for column, side in zip(table.columns, sides, strict=True)
    )
    body = []
    for k, row in enumerate(table.rows):
        first, *others = zip(row, sides, strict=True)
        cells = [f'<th scope="row"{_sorts(first[0])}>{_text(first[0])}</th>']
        cells += [f"<td{side}{_sorts(cell)}>{_text(cell)}</td>" for cell, side in others]
        body.append(f"<tr>{''.join(cells)}</tr>")
        if table.notes and table.notes[k]:
            note = Html.escape(table.notes[k])
            body.append(f'<tr class="note"><td colspan="{len(row)}">{note}</td></tr>')
    classes = f"facts {css}".strip()
    heading = f"<thead><tr>{head}</tr></thead>" if table.headed else ""
    return Markup(  # noqa: S704 - escaped above
        f'<div class="wide"><table class="{escape(classes)}">'
        f'<caption class="unseen">{Html.escape(caption)}</caption>'
        f"{heading}<tbody>{''.join(body)}</tbody></table></div>"
    )


def _text(cell: str | Value) -> str:
    text = Html.escape(text_of(cell))
    return text if isinstance(cell, Value) or not text else f"<bdi>{text}</bdi>"


def _sorts(cell: str | Value) -> str:
    value = cell.value if isinstance(cell, Value) else None
    return "" if value is None else f' data-sort="{value!r}"'
