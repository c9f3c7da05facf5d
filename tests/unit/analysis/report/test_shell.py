"""The page around the chapters. Authorities: the design (contents, permalinks), CSP level 3 (hashes)."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from typing import ClassVar

import pytest
from markupsafe import Markup

from analysis.report.chapter import OldChapter, html_of
from analysis.report.model import Report
from analysis.report.shell import html_page
from analysis.report.templates import environment

EVIL = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>{{7*7}}\u202e\x00\x1b[31m'


class Told(OldChapter):
    """A chapter that is its own markup."""

    name: ClassVar[str] = "told"


@html_of.register
def _(chapter: Told) -> Markup:
    return Markup(chapter.title)  # a test's own text


class Part(OldChapter):
    name: ClassVar[str] = "part"


@html_of.register
def _(chapter: Part) -> Markup:
    parts = "".join(
        f'<article id="{chapter.anchor}{k}" data-jump="{k}"></article>' for k in range(6)
    )
    return Markup(f'<section id="{chapter.anchor}"><h2>{chapter.title}</h2>{parts}</section>')


def page(*chapters: OldChapter, metrics: tuple[str, ...] = ("wall",), title: str = "t") -> str:
    report = Report(
        title=title, headline="nothing", metrics=metrics, chapters=chapters, cautions=()
    )
    return html_page(report)


def told(markup: str) -> str:
    """Give the markup of one chapter as it stands on the page."""
    whole = page(Told(anchor="a", title=markup))
    return whole.partition('<div data-metric="wall">')[2].partition("<nav")[0].strip()


def test_the_policy_names_the_hash_of_the_script_and_nothing_else() -> None:
    whole = page(Told(anchor="a", title="x"))
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
    whole = page(Told(anchor="a", title="x"), title=EVIL, metrics=(EVIL,))
    assert EVIL not in whole
    assert "<img" not in whole
    assert "U+202E␀␛[31m" in whole
    assert whole.count("<script") == 1
    assert "49" not in re.search("<title>(.*?)</title>", whole)[1]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<section id="a"><h2>A</h2></section>', ["a"]),
        ('<section id="a"><h2 id="b">A</h2><h3>B</h3></section>', ["b"]),
        (
            '<section id="a"><h2>A</h2><h3>B</h3><details id="d"><h3>C</h3></details></section>',
            ["a", "d"],
        ),
        ('<details id="d"><summary><h3>C</h3></summary><h3 id="e">E</h3></details>', ["e"]),
        ("<section><h2>A</h2></section><h3>B</h3>", []),
        ('<section id="a"><h2>A <a href="#a">#</a></h2><h3 id="b">B</h3></section>', ["b"]),
        ('<article class="x" id="q"><h3 class="y">B</h3></article>', ["q"]),
        ('<section id="a"><h2>A</h2><section><h3>B</h3></section></section>', ["a"]),
    ],
)
def test_headings_get_permalinks(markup: str, expected: list[str]) -> None:
    found = told(markup)
    assert re.findall(r'<a class="permalink" href="#([^"]*)"', found) == expected
    assert re.sub(r' <a class="permalink".*?</a>', "", found) == markup


def test_contents_are_listed_above_five_parts_only() -> None:
    few, many = (
        Told(anchor="a", title="<section></section>"),
        Part(anchor="p", title="Parts & more"),
    )
    assert "<ul>" not in page(few)
    assert '<li><a href="#p">Parts &amp; more</a></li>' in page(few, many)


def test_chapters_stand_under_their_metric() -> None:
    whole = page(
        Part(anchor="p", title="One"),
        Part(anchor="metric-2-p", title="Two"),
        metrics=("wall", "cpu"),
    )
    first, second = whole.split('<div data-metric="cpu">')
    assert 'id="p"' in first
    assert 'id="metric-2-p"' in second
    assert 'id="metric-2-p"' not in first
    assert '<a href="#metric-2-p">Two · cpu</a>' in whole


def test_the_same_report_gives_the_same_bytes() -> None:
    chapter = Part(anchor="p", title="One")
    assert page(chapter) == page(chapter)


def test_a_compiled_template_is_kept_by_what_it_was_made_of(tmp_path, monkeypatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAIRTRIAL_CACHE", str(cache))
    for folder, text in (("a", "{{ x }}!"), ("b", "{{ x }}!"), ("a", "{{ x }}?")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "t.jinja").write_text(text)
        told = environment(tmp_path / folder).get_template("t.jinja").render(x="<")
        assert told == text.replace("{{ x }}", "&lt;")
    first, second = (cache / "templates").iterdir()  # the same text of another folder is the same
    for kept in (first, second):  # a damaged file is as good as none
        kept.write_bytes(kept.read_bytes()[:-4] + b"!!!!")
    assert environment(tmp_path / "a").get_template("t.jinja").render(x="&") == "&amp;?"


def test_where_nothing_can_be_written_templates_are_compiled_each_time(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "t.jinja").write_text("x")
    monkeypatch.setenv("FAIRTRIAL_CACHE", str(tmp_path / "t.jinja"))  # a file is no folder
    assert environment(tmp_path).get_template("t.jinja").render() == "x"
