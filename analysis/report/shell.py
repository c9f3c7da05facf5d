"""The page around the chapters: one file, one policy, one style sheet, one small script."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..plots.palette import DARK, LIGHT, PRINT
from ..registry import shipped
from ..version import VERSION
from ..words import shown
from .chapter import Chapter, OldChapter, html_of
from .spoken import name_html, sentence_html, spoken_html
from .table_markup import table_html
from .templates import environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from .model import Report

__all__ = ["chapter_html", "html_page", "template"]

_HERE = shipped("analysis/report")
_MANY = 5  # parts: up to so many a page has no table of contents


def template(name: str) -> Environment:
    """Give the environment of the templates in a chapter's folder; everything in them is escaped."""
    return environment(_HERE / name if name else _HERE)


@cache
def _templates() -> Environment:
    """Give the environment of all chapters; a template is named by its path in this folder.

    Whatever they set is escaped. Beside Jinja's own there are the filters ``shown`` (what has no glyph
    becomes visible) and ``sentence`` (the same, with a capital letter), ``named`` for a name that is
    not ours (isolated; given a mapping of short names, short with the whole one as its title), ``said``
    for our own words (the sign of a ratio, spaces that do not break) and ``spoken`` for a sequence of
    `spoken.Span`; and the function ``table``.
    """
    found = template("")
    found.filters |= {
        "shown": shown,
        "sentence": sentence,
        "named": name_html,
        "said": sentence_html,
        "spoken": spoken_html,
    }
    found.globals["table"] = table_html
    return found


def sentence(text: str) -> str:
    """Begin with a capital letter, unless a name stands first."""
    first = text.partition(" ")[0].removesuffix(",")
    return shown(text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text)


def html_page(report: Report) -> str:
    """Give the report as one HTML file that needs nothing else.

    The policy allows no request at all, and only the script whose hash it names.
    """
    script = "".join(_shipped(path) for path in sorted(_HERE.rglob("*.js")))
    # what all chapters share comes first: a chapter's own rule holds
    sheets = sorted(_HERE.rglob("*.css"), key=lambda path: (path.parent != _HERE, path))
    styles = [path.read_text("utf-8") for path in sheets]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    colours = (
        f":root{{{LIGHT.css()}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{DARK.css()}}}}}"
        f"@media print{{:root{{{PRINT.css()}}}}}"
    )
    groups = list(_groups(report))
    parts = sum(chapter.count(" data-jump=") for _, chapters in groups for chapter in chapters)
    page = _templates().get_template("page.html.jinja")
    return page.render(
        title=shown(f"{report.headline} · {report.title}"),
        version=VERSION,
        script=Markup(script),  # noqa: S704 - our own file
        policy=f"sha256-{digest}",
        style=Markup(colours + "".join(styles)),  # noqa: S704 - our own files
        groups=groups,
        contents=_contents(report) if parts > _MANY or len(groups) > 1 else (),
    )


def _shipped(path: Path) -> str:
    """Give a script without its comments and indents, which half of a page's readers never see."""
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _groups(report: Report) -> Iterator[tuple[str, list[Markup]]]:
    """Give each metric and its chapters: ids of a second metric begin with its place."""
    for number, metric in enumerate(report.metrics):
        chapters = (one for one in report.chapters if _number(one) == number)
        yield shown(metric), [_with_links(chapter_html(one)) for one in chapters]


def chapter_html(chapter: Chapter | OldChapter) -> Markup:
    """Set a chapter with its template: one ``section`` element with its anchor as id."""
    if isinstance(chapter, OldChapter):
        return html_of(chapter)
    page = _templates().get_template(f"{chapter.folder}/chapter.html.jinja")
    text = page.render(chapter=chapter, **chapter.values, **chapter.drawn())
    return Markup(text)  # noqa: S704 - the template escapes


def _number(chapter: Chapter | OldChapter) -> int:
    found = re.match(r"metric-(\d+)-", chapter.anchor)
    return int(found[1]) - 1 if found else 0


def _contents(report: Report) -> Sequence[tuple[str, str]]:
    """Give anchor and title of what the table of contents lists."""
    if len(report.metrics) == 1:
        return [(one.anchor, one.title) for one in report.chapters if one.title]
    return [
        (one.anchor, f"{one.title or 'answer'} · {report.metrics[_number(one)]}")
        for one in report.chapters
    ]


_MARKS = re.compile(r"<(/?)(section|article|details|summary|h[23])\b([^>]*)>")
_ID = re.compile(r'\bid="([^"]*)"')


def _with_links(chapter: Markup) -> Markup:
    """Put a permalink behind each heading that has an id, or is the first in a part that has one.

    None stands in a summary, where a press unfolds what is below, or where there is one already.
    """
    found: list[str] = []
    end = 0
    anchor = target = ""
    summaries = begin = 0
    for mark in _MARKS.finditer(chapter):
        closing, name, attributes = mark.groups()
        named = _ID.search(attributes)
        if name == "summary":
            summaries += -1 if closing else 1
        elif not name.startswith("h"):
            anchor = named[1] if named and not closing else ""
        elif not closing:
            target = named[1] if named else anchor
            anchor, begin = "", mark.end()
        elif target and not summaries and f'href="#{target}"' not in chapter[begin : mark.start()]:
            link = f' <a class="permalink" href="#{target}" aria-label="link to this part">#</a>'
            found += (chapter[end : mark.start()], link)
            end = mark.start()
    return Markup("".join((*found, chapter[end:])))  # noqa: S704 - as escaped as it was
