"""The published methods on the page. Authorities: the verdict's panel, `written_of` (the page's strings)."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.pages.model import Table
from analysis.report.assembling import chapter_html
from analysis.report.further import published
from analysis.report.written import written_of


def answers(chapter, which=0):
    return {one.method: one for one in chapter["candidates"][which]["methods"]}


def test_the_table_is_that_of_explain_below_the_first_screens_own_line(judged):
    subject = judged()
    chapter, lines = published(subject), written_of(subject)
    assert [one["variant"] for one in chapter["candidates"]] == ["quick", "again"]
    for told, one in zip(chapter["candidates"], subject.candidates, strict=True):
        ours, *others = told["methods"]
        assert tuple(others) == one.panel.methods
        assert told["disagreements"] == one.panel.disagreements
        line = lines[one.variant]["these"]
        assert ours.answer.endswith(f"{line.speedup.text}x {line.interval}")
        assert (ours.word, ours.value) == (one.multilevel.these.outcome, line.speedup.value)
    tables = [b for s in chapter.sections() for b in s.blocks if isinstance(b, Table)]
    assert [table.rows[1][2] for table in tables] == [
        answers(chapter, k)["HPT"].answer for k in (0, 1)
    ]


def test_the_page_has_each_answer_and_each_reason(judged):
    chapter = published(judged())
    text = unescape(re.sub(r"<[^>]*>", "", chapter_html(chapter)))
    text = text.replace("\u00a0", " ").replace("×", "x")
    for one in chapter["candidates"]:
        assert all(said.answer in text for said in one["methods"])
        assert all(why.text[1:] in text for why in one["disagreements"])


def test_the_bound_of_hpt_is_rounded_down(judged):
    subject = judged()
    (bound,) = re.findall(r"at least ([\d.]+)x", answers(published(subject))["HPT"].answer)
    ours, theirs = (subject.matrices[name] for name in ("quick", "base"))
    assert float(bound) <= hpt_speedup(ours, theirs, confidence=0.95).value
    assert hpt(ours, theirs, speedup=float(bound), confidence=0.95).word == "faster"


def test_a_metric_that_is_no_time_is_better_and_not_faster(judged):
    def smaller(made):
        for k, run in enumerate(made.rows):
            size = (50 << 20) + 4096 * (k % 7)
            less = size // 2 if run.variant == "quick" else size
            made.rows[k] = replace(run, max_rss_bytes=less)

    chapter = published(judged(metric="max_rss", change=smaller))
    told = [one.answer for each in chapter["candidates"] for one in each["methods"]]
    assert told[0].startswith("better, ")
    assert not re.search("faster|slower", " ".join(told))


def test_what_was_not_compared_has_no_table(judged, draw):
    assert published(judged(draw({"only": (1.0,) * 6}))) is None
    chapter = published(judged(change=lambda made: made.fail(lambda row: row.variant == "quick")))
    assert [one["variant"] for one in chapter["candidates"]] == ["again"]


@pytest.mark.parametrize("names", [("text",), ("text", "logs")])
def test_one_benchmark_has_its_own_line(judged, draw, names):
    factors = {"base": (1.0,) * len(names), "quick": (2.0,) * len(names)}
    subject = judged(draw(factors, names))
    line = written_of(subject)["quick"]["text" if len(names) == 1 else "these"]
    assert line.speedup.text in answers(published(subject))["fairtrial"].answer
