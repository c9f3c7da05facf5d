"""The page around the chapters. Authorities: the design (contents, permalinks), CSP level 3 (hashes)."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape

from analysis.pages.model import Column, Table, Value, section
from analysis.report.assembling import html_page, table_html
from analysis.report.page import Chapter, Report

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
