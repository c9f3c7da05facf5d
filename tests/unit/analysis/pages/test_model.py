from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, ClassVar

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import analysis
from analysis import registry
from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.methods.hpt.compare import hpt
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.pages import as_markup as as_html
from analysis.pages.as_text import render
from analysis.pages.model import (
    LONGEST,
    Caution,
    Column,
    CommandLine,
    Page,
    Section,
    Sentence,
    ShortSentence,
    Table,
    Value,
    facts,
    merged,
    plain,
)
from analysis.pages.result import Result, plain as result_plain
from analysis.verdict.judging import judge
from analysis.version import VERSION
from analysis.words import Name


def page(*sections: Section, **more: Any) -> Page:
    return Page(title="t", sections=sections, **more)


def table(**more: Any) -> Table:
    columns = (Column("", "left"), Column("time"))
    rows = (("a", Value("1.5", 1.5)), ("bcd", "10"))
    return Table(name="times", columns=columns, rows=rows, **more)


def test_each_part_of_a_wide_table_has_the_names_of_its_rows() -> None:
    row = (Name("text"), Name("old"), *("10,000.5",) * 12)
    wide = Table(name="t", columns=tuple(Column(f"n{k}") for k in range(14)), rows=(row,))
    _, *others = render(page(Section((wide,))), width=80).splitlines()[1::2]
    assert {tuple(line.split()[:2]) for line in others} == {("text", "old")}


def test_a_label_is_whole_where_the_words_beside_it_can_be_broken() -> None:
    rows = ("assignments", Value("all 64", 64)), ("reassigned", "one word after another " * 4)
    lines = render(page(Section((facts("t", *rows),))), width=50).splitlines()
    assert lines[0] == "assignments  all 64"
    assert max(map(len, lines)) <= 50


def test_what_follows_comes_after_the_numbered_cautions() -> None:
    cautions = (Caution("x", "word " * 30), Caution("y", "b"))
    text = render(
        page(
            Section((Sentence("S."),)),
            cautions=cautions,
            following=(Section((CommandLine("do " * 50),), title="next"),),
        ),
        width=40,
    )
    answer, told, following = text.split("\n\n")
    lines = told.splitlines()
    assert (lines[0], lines[1][:11], lines[-1]) == ("cautions", "  [1] word ", "  [2] b")
    assert all(line.startswith("      word") for line in lines[2:-1])
    assert max(map(len, lines)) <= 40
    assert following.splitlines()[1].startswith("  do do")  # a command is never broken
    assert len(following.splitlines()) == 2
    assert answer == "S."


def test_names_lose_no_word_below_a_heading_that_is_as_wide() -> None:
    columns = (Column("benchmark", "left"), Column("variant", "left"))
    rows = tuple(
        (Name(f"{one} 1000"), Name(f"vitest-own-reporter-{one}")) for one in ("sort", "join")
    )
    told = render(page(Section((Table(name="t", columns=columns, rows=rows),))), width=28)
    assert "sort 1000  " in told
    assert "join 1000  " in told


def test_a_figure_of_a_sentence_is_not_broken() -> None:
    for width in range(12, 60):
        for sign in ("=", "<"):
            text = render(
                page(Section((Sentence(f"so it is, and p {sign} 0.03 here"),))), width=width
            )
            assert f"p {sign} 0.03" in text


def test_nothing_gives_nothing() -> None:
    assert render(page()) == ""
    assert render(page(Section(()), cautions=())) == ""


@pytest.mark.parametrize(
    "wrong", [{"rows": (("a",),)}, {"notes": ("one of two",)}, {"rows": (("a", "b", "c"),)}]
)
def test_a_table_that_does_not_hold_together(wrong: dict[str, Any]) -> None:
    given = {"columns": table().columns, "rows": table().rows} | wrong
    with pytest.raises(ValueError, match="times"):
        Table(name="times", **given)


def test_no_line_begins_with_the_sign_of_a_percentage() -> None:
    for length in range(60, 110):
        text = render(page(Section((Sentence("x" * length + " margin 1 % of it"),))))
        assert not any(line.lstrip().startswith("%") for line in text.splitlines())


def test_a_further_part_of_a_wide_table_leaves_out_rows_that_have_nothing_there() -> None:
    columns = (Column("", "left"), Column("time"), Column("note", "left"))
    rows = (("a", Value("1" * 20, 1.0), ""), ("b", "10", "[1]"))
    wide = Table(name="times", columns=columns, rows=rows)
    lines = render(page(Section((wide,))), width=24).splitlines()
    assert [line.split() for line in lines[3:]] == [["note"], ["b", "[1]"]]
    empty = Table(name="times", columns=columns, rows=tuple((*row[:2], "") for row in rows))
    assert "note" not in render(page(Section((empty,))), width=24)


# --- How results, trials and matrices show themselves: a repr of a few lines, and HTML in notebooks
#
# Authority: first use of the first version, B: repr of a trial was a screenful of arrays.


VOID = {"br", "hr", "img", "input", "meta", "link"}


class Tags(HTMLParser):
    """Collects tags, and fails where they do not nest."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def parsed(text):
    found = Tags()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


def sides(bench="b<script>alert(1)</script>"):
    rows = {"old": [2.0, 2.1, 2.2, 2.3, 2.4], "new": [1.0, 1.1, 1.2, 1.3, 1.4]}
    return [
        PerformanceMatrix.from_samples(name, {bench: row, "c&d": row}, better="lower")
        for name, row in rows.items()
    ]


@pytest.fixture
def trial(synthetic, tmp_path):
    times = {name: {"x": [k + 1.0, k + 1.1, k + 1.2]} for k, name in enumerate(("old", "new"))}
    return read_trial(synthetic(times).write(tmp_path))


def test_a_repr_fits_a_screen_and_html_is_escaped_nested_and_labelled(trial):
    old, new = sides()
    shown = {
        "Trial": trial,
        "PerformanceMatrix": old,
        "HptResult": hpt(new, old),
        "SpeedupSuite": speedup_test_suite(candidate=new, baseline=old),
        "Verdict": judge(trial),
    }
    for name, value in shown.items():
        text = repr(value)
        assert text.startswith(f"<{name} ")
        assert len(text.splitlines()) <= 5
        assert max(map(len, text.splitlines())) <= 96
    assert "new is faster than old" in " ".join(repr(shown["HptResult"]).split())
    assert "6 runs of 1 benchmarks x 2 variants" in repr(trial)
    assert "2 benchmarks x 5 runs" in repr(old)
    for value in (hpt(new, old), judge(trial)):
        text = value._repr_html_()
        found = parsed(text)
        assert "script" not in {tag for tag, _ in found.seen}
        assert found.seen[0][0] == "section"
        assert found.seen[0][1]["aria-label"]
        tables = [attributes for tag, attributes in found.seen if tag == "table"]
        assert tables
        assert all(attributes["aria-label"] for attributes in tables)
        scopes = {attributes["scope"] for tag, attributes in found.seen if tag == "th"}
        assert scopes <= {"row", "col"}


def test_every_block_of_a_page_is_set():
    page = Page(
        title="a & b",
        sections=(
            Section((Sentence("x < y"), CommandLine("fairtrial hpt 'a b'")), title="t & u"),
            Section(
                (
                    Table(
                        name="n",
                        columns=(Column("", "left"), Column("h")),
                        rows=(("r", Value("1 <", 1.0)),),
                        notes=("n & m",),
                    ),
                )
            ),
        ),
        cautions=(Caution("noted", "mind <this>"),),
        following=(Section((Sentence("next"),)),),
    )
    text = as_html.render_html(page)
    words = [word for word in parsed(text).words if word.strip()]
    for said in ("x < y", "fairtrial hpt 'a b'", "t & u", "1 <", "n & m", "mind <this>"):
        assert said in words
    assert words[-1] == "next"
    assert text.index("mind") < text.index("next")


def every(kind):
    for one in kind.__subclasses__():
        # slots make a second class of the same name; the first is nobody's
        home = sys.modules.get(one.__module__)
        if one.__module__.startswith("analysis.") and getattr(home, one.__name__, None) is one:
            yield one
        yield from every(one)


def test_every_result_has_a_page():
    # a repr asks for it, and must never fail
    for module in pkgutil.walk_packages(analysis.__path__, "analysis."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = {kind for kind in every(Result) if not kind.__subclasses__()}
    assert len(kinds) > 20
    elsewhere = {one for one in kinds if one.screen is Result.screen}
    assert all(callable(registry.function(one.words)) for one in elsewhere)
    assert all(kind.__repr__ is Result.__repr__ for kind in kinds)


# --- Sentences of a first screen stay whole: only names inside become shorter
#
# The authority is the rule for cautions: whole sentences that fit 80 columns after ``note  [1] ``, never cut with
# an ellipsis, the same text on a terminal and in a file.


def test_what_fits_is_left_alone_and_texts_of_others_are_no_patterns():
    said = ShortSentence.of("{} was 2 different programs in {}", "gzip-1", "text")
    assert str(said) == "gzip-1 was 2 different programs in text"
    said = ShortSentence.of("{} has no run that counts", "gzip-1-k-c-data")
    assert said.fitted({"gzip-1-k-c-data": "'gzip -1 …'"}) == "'gzip -1 …' has no run that counts"
    assert str(ShortSentence.of(plain("{0} {"))) == "{0} {"


def test_a_list_names_fewer_before_a_name_is_shortened():
    names = tuple(f"benchmark-{k}" for k in range(9))
    told = str(ShortSentence.of("{}: the speed is undecided", names))
    assert told == "benchmark-0, benchmark-1 and 7 more: the speed is undecided"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("a",), "a"),
        (("a", "b"), "a and b"),
        (("a", "b", "c"), "a, b and c"),
        (("a", "b", "c", "d"), "a, b, c and 1 more"),
    ],
)
def test_lists_are_told_as_people_do(names, told):
    assert str(ShortSentence.of("{}", names)) == told


def test_names_are_shortened_and_the_sentence_is_not():
    told = str(ShortSentence.of("waits: 98 % of {}'s runs, 91 % of {}'s", "x" * 60, "gzip-6"))
    assert len(told) <= LONGEST
    assert told.startswith("waits: 98 % of xxx")
    assert told.endswith("'s runs, 91 % of gzip-6's")


def test_names_stay_readable_and_apart():
    alike = ("sh-c-true", "sh-c-sleep-30-true")
    pattern = "waiting may be part of it: 21 % of {}'s runs, 0 % of {}'s"
    assert str(ShortSentence.of(pattern, *alike)) == pattern.format(*alike)
    names = [f"{'of-sorting-' * 4}{kind}-{'numbers-' * 4}" for kind in ("old", "new")]
    said = ShortSentence.of("runs of {} left processes running: its work is in no time", names[0])
    assert "old" not in str(said)
    assert "old" in said.fitted(among=names)


def test_what_no_cut_brings_into_one_line_keeps_short_names():
    told = f"{{}}: in all, {{}} takes less time, though {'the typical run ' * 4}takes more: 5 runs of {{}}"
    said = ShortSentence.of(told, "binary", "gzip-1", "x" * 60)
    assert str(said) == told.format("binary", "gzip-1", "x" * 60)
    assert "x…x" in str(ShortSentence.of(told + "of many" * 12, "binary", "gzip-1", "x" * 60))


@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=3))
def test_no_name_makes_it_too_long_or_breaks_its_line(names):
    said = ShortSentence.of("waits count: 98 % of {}'s, 9 % of {}'s", tuple(names), names[-1])
    told = said.about(names[0]).fitted()
    assert len(told) <= 2 * LONGEST
    assert "\n" not in told
    assert told.endswith("'s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Result):
    method: ClassVar[str] = "an-answer"
    unlisted: ClassVar[frozenset[str]] = frozenset({"hidden"})

    parts: tuple[Part, ...]
    hidden: int = 1
    inner: Answer | None = None


def test_the_head_comes_first_and_only_once() -> None:
    inner = Answer(parts=(), cautions=(Caution("a", "A."),))
    answer = Answer(parts=(Part(value=1.5),), inner=inner, references=("r",))
    data = answer.to_dict()
    assert list(data)[:3] == ["schema", "method", "tool_version"]
    assert (data["schema"], data["method"], data["tool_version"]) == (1, "an-answer", VERSION)
    assert list(data)[-3:] == ["cautions", "caution_codes", "references"]
    assert "hidden" not in data
    assert data["parts"] == [{"value": 1.5}]
    assert data["inner"] == {
        "parts": [],
        "inner": None,
        "cautions": ["A."],
        "caution_codes": ["a"],
        "references": [],
    }
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (np.float64(2.5), 2.5),
        (np.int64(3), 3),
        (float("nan"), None),
        ({1: (2, 3)}, {"1": [2, 3]}),
        (Caution("c", "text"), "text"),
        (Name("word\n"), "word\n"),
        (True, True),
        (None, None),
    ],
)
def test_values_as_json_types(value: Any, want: Any) -> None:
    assert (type(found := result_plain(value)), found) == (type(want), want)


def test_a_caution_is_known_by_its_code_and_what_it_is_about() -> None:
    said = Caution("few", "too few", ("a",))
    assert said == Caution("few", "reworded", ("a",))
    assert said != Caution("few", "too few", ("b",))
    assert said != Caution("many", "too few", ("a",))
    assert [
        str(c) for c in merged([said], [Caution("few", "again", ("a",)), Caution("x", "X")])
    ] == ["too few", "X"]
    assert "too" in said
    assert "few" not in Caution("few", "text")
    of = said.of("v")
    assert (of.text, of.about, of.code) == ("v: too few", ("v", "a"), "few")


def test_a_result_without_a_page_is_a_mistake_of_ours() -> None:
    with pytest.raises(AttributeError, match="words"):
        Answer(parts=()).screen()
