"""How results, trials and matrices show themselves: a repr of a few lines, and HTML in notebooks.

Authority: first use of the first version, B: repr of a trial was a screenful of arrays.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from html.parser import HTMLParser

import pytest

import analysis
from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.methods.hpt.compare import hpt
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.pages import as_markup as as_html
from analysis.pages.model import (
    Caution,
    Column,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from analysis.pages.result import Result
from analysis.verdict.judging import judge

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
    none = page_of.dispatch(object)
    lacking = {one for one in kinds if not hasattr(one, "screen") and page_of.dispatch(one) is none}
    assert lacking == set()
    assert all(kind.__repr__ is Result.__repr__ for kind in kinds)
