"""The HPT page in a real browser: no console error, no outside request, names escaped."""

from __future__ import annotations

import html
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.html_page import Fact, hpt_page
from analysis.methods.hpt.report import HptReport, hpt_report

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def report() -> HptReport:
    rng = np.random.default_rng(6)
    sides = []
    for name, level in ((f"new & {EVIL}", 1.3), ('old "quoted"', 1.0)):
        rows = {f"b{k}": level * rng.lognormal(0, 0.05, 5) for k in range(11)}
        rows[EVIL] = level * rng.lognormal(0, 0.05, 5)
        sides.append(PerformanceMatrix.from_samples(name, rows, better="higher"))
    return hpt_report(*sides, speedup=1.2)


class Page(HTMLParser):
    """Collect tags, what they would fetch, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        self.fetched += [v for k, v in attrs if k in ("src", "href", "data", "action", "srcset")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_page_is_self_contained_and_escaped(report: HptReport) -> None:
    page = hpt_page(report)
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert parsed.fetched == []
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", page)
    assert "url(" not in page
    assert "@import" not in page
    assert EVIL in "".join(parsed.text)  # shown as text
    assert EVIL not in page
    assert html.escape(EVIL) in page


def test_page_says_the_same_as_the_report(report: HptReport) -> None:
    text = "".join(Page(hpt_page(report)).text)
    assert len(report.conclusions) == 3
    for sentence in (
        *report.conclusions,
        *map(str, report.cautions),
        *str(report.context).splitlines(),
    ):
        assert sentence in text
    for row in report.tested.benchmarks:
        assert row.name in text
    assert f"{report.tested.rank_sum_candidate:g}" in text


def test_page_without_any_winner(report: HptReport) -> None:
    same = PerformanceMatrix.from_samples("same", {"b": [1.0, 1.0]}, better="lower")
    page = hpt_page(hpt_report(same, same))
    assert "no speedup has HPT reliability" in page
    assert "path" in Page(page).tags


def test_browser_shows_it_without_complaint(browser, report: HptReport, tmp_path: Path) -> None:
    # that complaints and requests are noticed: `test_checks.py`
    path = tmp_path / "hpt.html"
    path.write_text(hpt_page(report), encoding="utf-8")
    browser.open(path)
    assert EVIL in browser.run("return document.body.innerText")
    assert browser.console() == []
    assert browser.requests() == []
    shot = io.BytesIO()
    browser.picture(height=1400).save(shot, "png")
    assert len(shot.getvalue()) > 20_000  # a blank page of this size takes some 5 kB


def long_names() -> HptReport:
    rng = np.random.default_rng(8)
    rows = [f"a-benchmark-with-a-rather-long-name/{k}" for k in range(12)] + ["n" * 200, EVIL]
    sides = [
        PerformanceMatrix.from_samples(
            name, {row: level * rng.lognormal(0, 0.05, 6) for row in rows}, better="lower"
        )
        for name, level in ((f"candidate-{'x' * 60}", 0.8), ("baseline of words", 1.0))
    ]
    return hpt_report(*sides)


def test_it_holds_at_every_width_in_light_dark_and_print(browser, report, tmp_path) -> None:
    facts = (Fact("source", "runs/" + "s" * 300), Fact("host", EVIL))
    for name, one in (("short", report), ("long", long_names())):
        page = tmp_path / f"{name}.html"
        page.write_text(hpt_page(one, facts), encoding="utf-8")
        assert browser.holds(page) == []


def test_on_a_phone_no_word_is_broken_and_the_table_scrolls(browser, tmp_path) -> None:
    # "benchmark" was set letter by letter: a cell is as wide as its words, and only the table scrolls
    page = tmp_path / "hpt.html"
    page.write_text(hpt_page(long_names()), encoding="utf-8")
    browser.width(390)
    browser.open(page)
    lines = browser.run(
        "return [...document.querySelectorAll('tbody th, td')].map(e => e.getClientRects().length && "
        "Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight)))"
    )
    assert max(lines) <= 2  # one line and the cell's padding
    inner, outer, whole = browser.run(
        "const w = document.querySelector('.wide'); return [w.scrollWidth, w.clientWidth, "
        "document.documentElement.scrollWidth]"
    )
    assert inner > outer
    assert whole <= 390


def test_what_scores_are_and_what_is_known_is_said(report: HptReport) -> None:
    text = "".join(Page(hpt_page(report, (Fact("seed", "17"),))).text)
    assert "A score is a median over the runs of the values themselves" in text
    assert "divided by the speedup under test, 1.2" in text
    assert "seed17" in text
    lower = long_names()
    assert "relative to the baseline’s median" in "".join(Page(hpt_page(lower)).text)


def test_the_page_is_the_same_every_time(report: HptReport) -> None:
    assert hpt_page(report) == hpt_page(report)
