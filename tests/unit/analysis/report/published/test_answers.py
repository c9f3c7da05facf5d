"""Rows of the panel. Authorities: the methods themselves, `written_of` (the page's strings), the design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.pages import number_format as figures
from analysis.pages.model import Value
from analysis.report.published import chapter as published
from analysis.report.published_answers import Ratio, asked_of
from analysis.report.written import written_of

KEYS = [
    "these",
    "similar",
    "hpt",
    "speedup-test",
    "randomization",
    "bootstrap",
    "mixtures",
    "friedman",
]


def text(pieces):
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def row(chapter, key):
    return next(one for one in chapter["rows"] if one["key"] == key)


def test_each_method_has_a_row_and_what_differs_leads_to_a_sentence(judged):
    chapter = published(judged())
    assert [one["key"] for one in chapter["rows"]] == KEYS
    assert chapter["candidates"] == ("quick", "again")
    assert chapter["baseline"] == "base"
    for one in chapter["rows"]:
        assert tuple(answer.candidate for answer in one["answers"]) == chapter["candidates"]
        assert one["question"]
        assert one["unit"]
    anchors = {one["anchor"] for one in chapter["reasons"]}
    linked = {
        anchor for one in chapter["rows"] for answer in one["answers"] for anchor in answer.reasons
    }
    assert linked == anchors
    assert len(anchors) == len(chapter["reasons"])
    for one in chapter["rows"]:
        for answer in one["answers"]:
            for end in (answer.low, answer.high):
                if isinstance(end, Ratio) and not np.isclose(end.value, 1.0, rtol=1e-12):
                    assert float(end.text) != 1.0 or answer.bound
    assert figures.ratio(1.0004) == "1.00x"
    assert isinstance(chapter["rows"][0]["answers"][0].value, Value)


def test_the_session_intervals_have_the_strings_of_the_first_screen(judged):
    subject = judged()
    chapter, lines = published(subject), written_of(subject)
    for key in ("these", "similar"):
        for answer in row(chapter, key)["answers"]:
            told = lines[answer.candidate][key]
            assert (answer.value.text, answer.low.text, answer.high.text) == (
                told.speedup.text,
                told.low.text,
                told.high.text,
            )
            assert (answer.value.value, answer.low.value) == (told.speedup.value, told.low.value)
            assert text(answer.second) == told.interval


def test_words_numbers_and_bounds_are_those_of_the_panel_and_of_hpt(judged):
    subject = judged()
    chapter = published(subject)
    told = {one.method: one for one in subject.candidates[0].panel.methods}
    answers = {key: row(chapter, key)["answers"][0] for key in KEYS}
    assert answers["hpt"].word == told["HPT"].word == "faster"
    assert answers["hpt"].share.value == told["HPT"].reliability
    assert answers["randomization"].pvalue.value == told["randomization"].pvalue
    assert answers["bootstrap"].value.value == told["bootstrap"].value
    assert (answers["bootstrap"].low.value, answers["bootstrap"].high.value) == (
        told["bootstrap"].low,
        told["bootstrap"].high,
    )
    assert answers["speedup-test"].value.value == told["Speedup-Test, mean"].value
    assert answers["mixtures"].share.value == told["mixtures"].value
    assert answers["friedman"].pvalue.value == told["Friedman"].pvalue
    for answer, one in zip(
        row(published(subject), "hpt")["answers"], subject.candidates, strict=True
    ):
        assert answer.bound
        assert answer.value is None
        assert answer.low.value == one.hpt_speedup.value
        assert float(answer.low.text) <= answer.low.value
    ours, theirs = (subject.matrices[name] for name in ("quick", "base"))
    best = hpt_speedup(ours, theirs, confidence=0.95)
    answer = row(published(subject), "hpt")["answers"][0]
    assert answer.low.value == best.value
    assert hpt(ours, theirs, speedup=float(answer.low.text), confidence=0.95).word == "faster"


def test_a_bound_is_written_as_1_only_where_it_is_1(judged):
    subject = judged()
    asked = asked_of(subject.candidates[0], written_of(subject)["quick"])
    assert asked.bound(1.0).text == "1.00"
    assert asked.bound(1.0004).text == "1.0004"
    assert asked.bound(1.759).text == "1.75"
    assert asked.bound(0.9999).text == "0.99"  # down, as all bounds
    assert asked.bound(1.75).text == "1.75"


def test_a_p_that_cannot_be_smaller_is_said_to_be_the_least(judged):
    # 5 sessions: 2^5 assignments, two-sided p of at least 2/32
    answer = row(published(judged()), "randomization")["answers"][0]
    assert answer.pvalue.value == pytest.approx(2 / 32)
    assert answer.word == "undecided"
    assert text(answer.second) == "the least possible"


def test_a_metric_that_is_no_time_is_better_and_not_faster(judged):
    def smaller(made):
        for k, run in enumerate(made.rows):
            size = (50 << 20) + 4096 * (k % 7)
            less = size // 2 if run.variant == "quick" else size
            made.rows[k] = replace(run, max_rss_bytes=less)

    chapter = published(judged(metric="max_rss", change=smaller))
    answers = [answer for one in chapter["rows"] for answer in one["answers"]]
    assert row(chapter, "these")["answers"][0].said == "better"
    assert row(chapter, "these")["answers"][0].word == "faster"
    assert not {answer.said for answer in answers} & {"faster", "slower"}
    assert "better with chance" in text(row(chapter, "mixtures")["answers"][0].first)


def test_nothing_compared_gives_no_chapter(judged, draw):
    subject = judged(draw({"only": (1.0,) * 6}))
    assert published(subject) is None


def test_a_single_benchmark_has_no_line_for_others(judged, draw):
    times = draw({"base": (1.0,), "quick": (2.0,)}, ("text",))
    chapter = published(judged(times))
    keys = [one["key"] for one in chapter["rows"]]
    assert "similar" not in keys
    assert "friedman" not in keys
    assert row(chapter, "these")["question"] == "ratio of geometric means"
    line = written_of(judged(times))["quick"]["text"]
    assert row(chapter, "these")["answers"][0].value.text == line.speedup.text


def test_five_candidates_have_the_paths_of_the_first_only(judged, draw):
    factors = {"base": (1.0, 1.0), **{f"v{k}": (1.0 + k / 10, 1.0) for k in range(1, 6)}}
    chapter = published(judged(draw(factors, ("text", "logs"))))
    assert [path["candidate"] for path in chapter["paths"]] == ["v1"]
    assert len(chapter["on_request"]) == 3
    assert all(":v2" in line for line in chapter["on_request"])
