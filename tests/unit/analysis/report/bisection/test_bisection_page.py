"""The page of a bisection, and `report` on its folder. Authorities: the made-up commits, `docs/report.md`."""

from __future__ import annotations

import io
import json
import re
import runpy
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.report.bisection.page import bisection_html
from harness.cli import main

TESTS = Path(__file__).resolve().parents[4]
made = SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "bisections.py")))


def text_of(html: str) -> str:
    body = html.partition("<main")[2].rpartition("</main>")[0]
    told = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))
    return told.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(scope="module")
def told():
    return made.proven()


@pytest.fixture(scope="module")
def page(told) -> str:
    return bisection_html(told)


def test_the_sentence_is_the_heading(page, told):
    (heading,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert unescape(heading).replace("\N{NO-BREAK SPACE}", " ") == told.sentence


def test_the_culprit_is_told_with_its_author_and_its_proof(page, told):
    (one,) = told.culprits
    said = text_of(page)
    assert "change 45" in said
    assert f"{one.upto[:7]} · Ada Author · 2026-11-18" in said
    assert f"{one.sessions} fresh sessions" in said
    assert f"fairtrial why {one.trial}:" in said


def test_where_several_may_be_it_all_are_named():
    told = made.between()
    said = text_of(bisection_html(told))
    assert [len(one.commits) for one in told.culprits] == [3]
    assert "One of these 3:" in said
    for place in (43, 44, 45):
        assert f"change {place}" in said


def test_what_was_probed_and_what_is_skipped_stands_in_tables(page, told):
    tables = page.partition('id="search"')[2]
    for one in (*told.probes, *told.skipped, *told.posterior):
        assert f'title="{one.commit}">{one.short}</th>' in tables
    assert tables.count("make: exit 2") == 3


def test_what_is_open_is_told():
    told = made.spent()
    (left,) = told.open
    assert f"Open: one of {left.last - left.first + 1} commits up to {left.upto[:7]}" in text_of(
        bisection_html(told)
    )
    assert "Open:" not in text_of(bisection_html(made.nothing()))


def test_no_culprit_no_claim():
    page = bisection_html(made.nothing())
    assert "bisection-culprit" not in page.partition("<main")[2]
    assert "No difference" in page


def test_hostile_texts_are_escaped():
    page = bisection_html(made.hostile("<script>alert(1)</script>\u202e{{7*7}}"))
    assert page.count("<script>") == 1  # our own
    assert "\u202e" not in page
    assert "{{7*7}}" in page


# --- fairtrial report FOLDER


@pytest.fixture
def folder(tmp_path, told) -> Path:
    place = tmp_path / "bisect-app"
    place.mkdir()
    (place / "bisect.json").write_text(json.dumps(told.to_dict()))
    return place


def report(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["report", *map(str, words)], out, err)
    return code, out.getvalue(), err.getvalue()


def test_the_folder_of_a_bisection_is_reported_as_a_page(folder, page, tmp_path):
    code, out, err = report(folder, "-o", tmp_path / "b.html")
    assert (code, err) == (0, "")
    assert out == f"{tmp_path / 'b.html'}\n"
    assert (tmp_path / "b.html").read_text("utf-8") == page


def test_the_other_forms_say_the_same(folder, told):
    assert report(folder, "--format", "txt")[1] == f"{told}\n"
    assert told.sentence in report(folder, "--format", "md")[1]
    assert json.loads(report(folder, "--format", "json")[1]) == told.to_dict()
    assert told.culprits[0].upto[:7] in report(folder, "--format", "csv")[1]


@pytest.mark.parametrize(
    "words", [["--margin", "0.02"], ["--variant", "x"], ["--format", "latex"], ["--sources"]]
)
def test_what_asks_anew_is_refused(folder, words):
    code, out, err = report(folder, "--format", "txt", *words)
    assert code == 2
    assert out == ""
    assert f"{words[0] if words[0] != '--format' else '--format latex'} is for trials" in err


def test_a_damaged_file_is_told(folder):
    (folder / "bisect.json").write_text("{")
    code, _, err = report(folder, "--format", "txt")
    assert code == 5
    assert "bisect.json" in err
