"""The page of a history. Authorities: the made-up nights, `docs/report.md`, the size that a page may have."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from html import unescape

import numpy as np
import pytest

from analysis.history.judging import judge_nights
from analysis.report.history import history_html
from tests.unit.analysis.history.judged import made_nights as made

EVIL = "<script>alert(1)</script>\u202e{{7*7}}"


@pytest.fixture(scope="module")
def page(histories) -> str:
    return history_html(histories.usual())


def text_of(html: str) -> str:
    body = html.partition("<main")[2].rpartition("</main>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))  # also of spaces that hold


def test_the_sentence_is_the_heading(page, histories):
    sentence = histories.usual().sentence
    (heading,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert text_of(f"<main>{heading}</main>").strip("> ").lower() == sentence.lower()


def test_what_changed_is_said_with_its_commits_and_the_command(page, histories):
    one = histories.usual().series[0].intervals[0]
    told = text_of(page)
    assert "takes 2.0 to 3.7 % more time" in told
    assert f"{one.good[:7]}..{one.bad[:7]}" in told
    assert f"fairtrial bisect {one.good[:12]} {one.bad[:12]} --benchmark text" in told
    assert "program changed here" in told


def test_without_commits_there_is_no_command_of_a_bisection(histories):
    found = histories.series("text", steps=[(35, 0.03)])
    bare = [replace(one, good=None, bad=None) for one in found.intervals]
    without = histories.series("text", steps=[(35, 0.03)], intervals=tuple(bare))
    assert "fairtrial bisect" in history_html(histories.history(found))
    assert "fairtrial bisect" not in history_html(histories.history(without))


def test_the_host_and_the_end_of_a_series_are_told(page):
    told = text_of(page)
    assert "v1.0 itself takes 4.7 to 6.6 % less time" in told
    assert "kernel: 6.8 became 6.12" in told
    assert "another series begins: the baseline's program changed" in told


def test_hostile_names_are_escaped(histories):
    page = history_html(histories.usual(f"{EVIL} {{}}".replace("{{7*7}}", "{{{{7*7}}}}"), EVIL))
    assert page.count("<script>") == 1  # our own
    assert "\u202e" not in page
    assert "{{7*7}}" in page


def test_100_benchmarks_of_400_nights_are_3_megabytes_at_most(histories):
    ten = histories.large(10, 400)
    hundred = (
        replace(one, benchmark=f"bench-{k}{n}")
        for k in range(10)
        for n, one in enumerate(ten.series)
    )
    page = history_html(replace(ten, series=tuple(hundred)))
    assert len(page.encode()) <= 3_000_000
    assert page.count('class="plot history-plot"') == 100


def test_nothing_to_show_is_a_page_too(histories):
    page = history_html(histories.history())
    assert "<h1>" in page
    assert "history-plot" not in page.partition("<main")[2]


# ---- The page of what `judge_nights` says of nights. Authority: the nights, of which it is known what happens.


STEP = np.where(np.arange(60) < 36, 0.0, 0.05)
NEWER = {"kernel": {"release": "6.12"}}


@pytest.fixture(scope="module")
def judged_page() -> str:
    commits = [f"{k:040x}"[::-1] for k in range(60)]
    nights = made.nights_of(
        made.series(made.noise(60, 1) + STEP, commits=commits, skipped=(20, 21)),
        made.series(made.noise(60, 2), "logs", own=made.noise(60, 3, 0.002) - STEP, facts={36: NEWER}),
    )  # fmt: skip
    return history_html(judge_nights(nights, gate="slower>2%"))


def strip(page: str, number: int) -> str:
    return page.partition(f'<section id="strip-{number}"')[2].partition("</section>")[0]


def test_the_program_that_changed_is_shaded_between_its_commits(judged_page):
    told = strip(judged_page, 1)
    assert told.count('class="history-slower"') == 1
    assert "history-host" not in told
    assert "fairtrial bisect " in told
    (place,) = re.findall(r"most likely on ([\d-]+)", told)
    night = (date.fromisoformat(place) - date(2026, 9, 24)).days - 2  # two are missing
    assert abs(night - 36) <= 3


def test_the_host_that_changed_is_marked_and_no_program(judged_page):
    told = strip(judged_page, 2)
    assert "history-slower" not in told
    assert told.count('class="history-host"') == 1
    assert "v1.0 itself takes" in text_of(f"<main>{told}</main>")
