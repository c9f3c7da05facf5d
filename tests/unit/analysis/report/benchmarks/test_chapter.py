"""The chapter: complete, escaped, described HTML, the same values in words; which benchmark stands open."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser

import pytest

from analysis.diagnose.result import Diagnosis, FarRun, Finding
from analysis.pages.model import Caution, Table, Value
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks.chapter import chapter, focus_of, listed_benchmarks, opened

NAMES = {name: float(k + 1) for k, name in enumerate("abcdef")}


class Elements(HTMLParser):
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


def page(subject) -> Elements:
    return Elements(str(chapter_html(chapter(subject))))


@pytest.fixture
def plain(matrix, subject):
    return subject(matrix("new", NAMES, seed=2), matrix("old", NAMES))


def test_a_strip_of_many_runs_says_what_a_dot_is(matrix, subject) -> None:
    few = page(subject(matrix("n", NAMES, seed=2, runs=12), matrix("o", NAMES, runs=12)))
    many = page(subject(matrix("n", NAMES, seed=2, runs=13), matrix("o", NAMES, runs=13)))
    assert "a dot is the median of up to" not in few.text
    assert "a dot is the median of up to 2 runs" in many.text


def test_captions_say_what_the_marks_of_a_picture_are(matrix, subject) -> None:
    given = subject(matrix("new", {"x": 9.0}, seed=2), matrix("old", {"x": 1.0}))
    text = page(given).text
    assert "Each dot is a run, left to right in the order of its blocks, a panel for each" in text
    assert "Stroke: mean of the session." in text
    assert "The variants lie far apart: each row has an axis of its own, of the same ratio." in text
    run = FarRun(benchmark="x", variant="new", session=2, run=3, ratio=2.0)
    found = Diagnosis(
        name="trial", metric="wall", unit="s", better="lower", confidence=0.95, variants=("old",),
        benchmarks=("x",), sessions=5, runs=80, tests=1, host=(), speeds=None, cells=(),
        not_tested=(), far_runs=(run,),
        findings=(Finding(code="load", sessions=(1, 3), text="1.40 over 1 min"),),
    )  # fmt: skip
    given = subject(matrix("new", {"x": 1.1}, seed=2), matrix("old", {"x": 1.0}))
    verdict = dataclasses.replace(given.verdict, diagnosis=found)
    text = page(dataclasses.replace(given, verdict=verdict)).text
    assert "Stroke: mean of the session; grey: old, repeated in each row." in text
    assert "Ring: a run far from the others of its session (1 of 80)." in text
    assert "Found (bar): load 1.40 over 1 min." in text


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (8, "speedup at each decile"),
        (4, "speedup at each quartile"),
        (2, "Fewer than 3 runs of a side in each session: quantiles would say nothing."),
    ],
)
def test_what_quantiles_there_are_is_said(matrix, subject, runs: int, said: str) -> None:
    sides = (matrix(n, {"x": 1.0}, seed=k, runs=runs) for k, n in enumerate(("new", "old")))
    assert said in page(subject(*sides)).text


# ---- which stands open, and which are told in full


def with_cautions(given, *about: tuple[str, ...]):
    cautions = tuple(Caution(f"c{k}", "said", names) for k, names in enumerate(about))
    return dataclasses.replace(given, verdict=dataclasses.replace(given.verdict, cautions=cautions))


def test_those_that_cautions_name_the_gravest_first(plain) -> None:
    given = with_cautions(plain, ("n", "d"), ("b", "a"), ("f",))
    names = listed_benchmarks(given)
    assert opened(given, names) == {"d", "b", "a"}
    assert focus_of(given, names) == "d"


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_the_largest_difference_where_no_caution_names_any(matrix, subject, factor: float) -> None:
    same = dict.fromkeys("abcdef", 1.0)
    new, old = matrix("new", same | {"c": 0.9, "d": factor}, seed=2), matrix("old", same)
    given = with_cautions(subject(new, old), ("n",))
    names = listed_benchmarks(given)
    assert focus_of(given, names) == "d"
    assert opened(given, names) == {"d"}


def test_the_first_where_nothing_differs(matrix, subject) -> None:
    old = matrix("old", NAMES)
    given = with_cautions(subject(dataclasses.replace(old, name="new"), old))
    names = listed_benchmarks(given)
    assert focus_of(given, names) == names[0]


def test_only_what_was_asked_for(matrix, subject) -> None:
    given = subject(matrix("n", NAMES, seed=2), matrix("o", NAMES), benchmarks=["e", "b"])
    assert set(listed_benchmarks(given)) == {"e", "b"}


# ---- in words


@pytest.fixture
def parts(plain):
    return chapter(plain)


def tables(parts) -> dict[str, Table]:
    (section,) = parts.sections()
    return {block.name: block for block in section.blocks if isinstance(block, Table)}


def test_a_line_for_each_benchmark_and_variant(parts) -> None:
    rows = tables(parts)["parts-runs"].rows
    assert [(row[0], row[1]) for row in rows] == [
        (part["name"], variant) for part in parts["benchmarks"] for variant in ("old", "new")
    ]
    assert all(row[2] == Value("40", 40) for row in rows)


def test_session_values_and_quantiles_of_those_told_in_full(parts) -> None:
    found = tables(parts)
    full = [part for part in parts["benchmarks"] if part["opened"]]
    assert len(found["parts-sessions"].rows) == 5 * len(full)
    assert len(found["parts-quantiles"].rows) == 9 * len(full)


def test_json_holds_the_values_and_no_places(parts) -> None:
    told = parts.to_dict()
    assert list(told) == ["anchor", "title", "metric", "benchmarks"]
    assert "plot" not in json.dumps(told)
    first, given = told["benchmarks"][0], parts["benchmarks"][0]
    assert first["name"] == given["name"]
    assert first["variants"][1]["mean"]["value"] == given["variants"][1]["mean"].value
    assert [one["session"] for one in first["candidates"][0]["by_session"]] == list("12345")
    assert len(first["candidates"][0]["shift"]) == 9
