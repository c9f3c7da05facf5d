"""A report in words, and the page around its chapters. Authorities: the design (contents, permalinks), CSP level 3 (hashes)."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html import unescape

import pytest

from analysis.pages.model import Caution, Column, Section, Sentence, Table, Value, section
from analysis.report.assembling import Chapter, Report, brief_page, html_page, table_html


def told(*, anchor, title, sections):
    return Chapter(name="told", anchor=anchor, title=title, values={}, sections=lambda: sections)


def report(*chapters, cautions=0):
    return Report(
        title="t",
        headline="h",
        metrics=("wall",),
        chapters=chapters,
        cautions=tuple(Caution("c", f"{k}", (f"{k}",)) for k in range(cautions)),
    )


ONE = Section((Sentence("one"),))
TWO = Section((Sentence("two"),), "inner")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ((ONE,), Section(ONE.blocks, "title")),
        ((Section(ONE.blocks, "title"),), Section(ONE.blocks, "title")),
        ((TWO,), Section((TWO,), "title")),
        ((ONE, TWO), Section((ONE, TWO), "title")),
        ((), None),
    ],
)
def test_a_chapter_is_one_section_under_its_title(sections, expected):
    page = report(told(anchor="a", title="title", sections=sections)).screen()
    assert page.title == "h"
    assert page.sections == (() if expected is None else (expected,))


def test_a_chapter_without_a_title_is_the_answer():
    page = report(told(anchor="a", title="", sections=(ONE,))).screen()
    assert page.sections == (Section(ONE.blocks, "The answer"),)


@pytest.mark.parametrize(
    ("count", "more"), [(3, None), (4, "1 more caution:"), (30, "27 more cautions:")]
)
def test_the_compact_form_has_the_first_cautions_and_counts_the_rest(count, more):
    whole = report(cautions=count)
    page = brief_page(replace(whole, shown=whole.cautions[:3]))
    assert page.cautions == whole.cautions[:3]
    following = [block.text for section in page.following for block in section.blocks]
    assert following[0].startswith(more) if more else not following
    assert len(report(cautions=count).screen().cautions) == count


def test_json_has_each_chapter_under_its_name_and_the_cautions():
    chapters = [told(anchor=a, title="t", sections=()) for a in ("a", "b")]
    found = report(*chapters, cautions=1).to_dict()
    assert [one["anchor"] for one in found["told"]] == ["a", "b"]
    assert (found["cautions"], found["caution_codes"]) == (["0"], ["c"])
    assert list(found)[:3] == ["schema", "method", "tool_version"]


EVIL = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>{{7*7}}\u202e\x00\x1b[31m'


def told_by(*, anchor: str, title: str) -> Chapter:
    """Give a chapter that says its own title."""
    return Chapter(name="told", anchor=anchor, title=title, sections=lambda: (section(title),))


def page(*chapters: Chapter, metrics: tuple[str, ...] = ("wall",), title: str = "t") -> str:
    report = Report(
        title=title, headline="nothing", metrics=metrics, chapters=chapters, cautions=()
    )
    return html_page(report)


def test_the_policy_names_the_hash_of_the_script_and_nothing_else() -> None:
    whole = page(told_by(anchor="a", title="x"))
    policy = unescape(
        re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', whole)[1]
    )
    script = re.search(r"<script>(.*?)</script>", whole, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": "'unsafe-inline'",
        "script-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert whole.index("Content-Security-Policy") < whole.index("<style>") < whole.index("<script>")


def test_the_title_is_escaped_and_shows_its_controls() -> None:
    whole = page(told_by(anchor="a", title="x"), title=EVIL, metrics=(EVIL,))
    assert EVIL not in whole
    assert "<img" not in whole
    assert "U+202E␀␛[31m" in whole
    assert whole.count("<script") == 1
    assert "49" not in re.search("<title>(.*?)</title>", whole)[1]


SCRIPT = "<script>alert(1)</script>"


def test_cells_are_escaped_isolated_and_sortable():
    table = Table(
        name="t",
        columns=(Column("name", "left"), Column(SCRIPT)),
        rows=((SCRIPT, Value("1.50", 1.5)), ("x", Value("", None))),
        notes=(SCRIPT, ""),
    )
    html = str(table_html(table, f'a "{SCRIPT}"'))
    assert "<script" not in html
    assert html.count('<th scope="col"') == 2
    assert html.count('<th scope="row"') == 2
    assert '<td class="right" data-sort="1.5">1.50</td>' in html
    assert '<td class="right"></td>' in html
    assert "<bdi>&lt;script&gt;" in html
    assert "<caption" in html
    assert html.count('class="note"') == 1
