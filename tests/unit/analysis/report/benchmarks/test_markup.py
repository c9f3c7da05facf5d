"""The chapter as HTML: complete, escaped, described, with one id for each part."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

import pytest

from analysis.report.benchmarks.gather import gather
from analysis.report.chapter import html_of

NAMES = {name: float(k + 1) for k, name in enumerate("abcdef")}
EVIL = "\"><img src=x onerror=alert(1)>\u202e'{{7*7}}"


class Page(HTMLParser):
    """Elements in their order, and whether they close."""

    VOID = ("img", "br", "hr", "input", "meta", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page(subject) -> Page:
    parts = gather(subject)
    assert parts is not None
    return Page(str(html_of(parts)))


@pytest.fixture
def plain(made):
    matrix, subject = made
    return subject(matrix("new", NAMES, seed=2), matrix("old", NAMES))


def test_each_benchmark_has_its_part_under_the_subjects_anchor(plain) -> None:
    found = page(plain)
    ids = [attrs["id"] for _, attrs in found.all if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {plain.anchor("benchmark", name) for name in NAMES} <= set(ids)
    assert found.open == []


def test_every_picture_says_its_result_or_is_hidden(plain) -> None:
    for tag, attrs in page(plain).all:
        if tag == "svg" and "plot" in attrs.get("class", "").split():
            said = attrs.get("role") == "img" and len(attrs["aria-label"]) > 20
            assert said or attrs.get("aria-hidden") == "true"


def test_headings_are_in_order(plain) -> None:
    levels = [int(tag[1]) for tag, _ in page(plain).all if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 2
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_tables_have_captions_and_scopes(plain) -> None:
    found = page(plain)
    tags = [tag for tag, _ in found.all]
    assert tags.count("table") == tags.count("caption") == len(NAMES)
    assert all("scope" in attrs for tag, attrs in found.all if tag == "th")


def test_names_do_nothing(made) -> None:
    matrix, subject = made
    names = {f"{EVIL}{k}": 1.0 for k in range(5)}
    found = page(subject(matrix(EVIL, names, seed=2), matrix(f"old {EVIL}", names)))
    assert "img" not in [tag for tag, _ in found.all]
    assert not any("onerror" in attrs for _, attrs in found.all)
    assert "\u202e" not in found.text
    assert found.open == []


def test_many_closed_parts_are_grouped_by_word(made) -> None:
    matrix, subject = made
    names = {f"b{k}": 1.0 for k in range(70)}
    faster = {name: 0.5 if k < 20 else 1.0 for k, name in enumerate(names)}
    given = subject(
        matrix("new", faster, seed=2, sessions=3, runs=3),
        matrix("old", names, sessions=3, runs=3),
    )
    found = page(given)
    groups = [attrs for tag, attrs in found.all if attrs.get("class") == "parts-group"]
    assert len(groups) >= 2
    lines = [attrs for _, attrs in found.all if attrs.get("class") == "parts-line"]
    opened = [attrs for _, attrs in found.all if attrs.get("class") == "parts-part"]
    assert len(lines) + len(opened) == 70


def test_the_same_subject_gives_the_same_bytes(plain) -> None:
    first, second = (str(html_of(gather(plain))) for _ in range(2))
    assert first == second


def test_a_part_of_two_variants_and_sixty_runs_is_small(made) -> None:
    matrix, subject = made
    names = {f"b{k}": 1.0 for k in range(20)}
    given = subject(matrix("new", names, seed=2, runs=6), matrix("old", names, runs=6))
    assert len(str(html_of(gather(given))).encode()) / 20 < 16_000


def test_a_strip_of_many_runs_says_what_a_dot_is(made) -> None:
    matrix, subject = made
    few = page(subject(matrix("n", NAMES, seed=2, runs=12), matrix("o", NAMES, runs=12)))
    many = page(subject(matrix("n", NAMES, seed=2, runs=13), matrix("o", NAMES, runs=13)))
    assert "a dot is the median of up to" not in few.text
    assert "a dot is the median of up to 2 runs" in many.text
