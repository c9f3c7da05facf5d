"""The sentences beside numbers that differ. Authorities: `Disagreement` (--explain), the methods' numbers."""

from __future__ import annotations

import pytest

from analysis.report.published import chapter as published


def text(pieces):
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def questions(chapter, key, codes=("", "estimand")):
    return {
        one["candidate"]: text(one["text"])
        for reason in chapter["reasons"]
        if reason["method"] == key and reason["code"] in codes
        for one in reason["questions"]
    }


def test_the_mean_stands_against_the_bound_of_hpt_and_other_weights_are_explained(judged):
    chapter = published(judged())
    these, bound = (
        next(one for one in chapter["rows"] if one["key"] == key)["answers"][0]
        for key in ("these", "hpt")
    )
    asked = questions(chapter, "hpt")["quick"]
    assert asked == f"{these.value.text} or {bound.low.text}?"
    (reason,) = [r for r in chapter["reasons"] if r["method"] == "speedup-test" and not r["code"]]
    overall = next(one for one in chapter["rows"] if one["key"] == "speedup-test")["answers"][
        0
    ].value
    assert questions(chapter, "speedup-test", ("",))["quick"].endswith(f" or {overall.text}?")
    assert "sums" in reason["text"]


def test_each_reason_of_explain_is_there_and_how_much_a_bootstrap_covers(judged):
    subject = judged()
    chapter = published(subject)
    told = " ".join(reason["text"] for reason in chapter["reasons"]).casefold()
    found = [one for each in subject.candidates for one in each.panel.disagreements]
    assert found
    for one in found:
        if one.of != "HPT":  # HPT's quotes the mean, which the page writes by its column
            assert one.text.casefold() in told
    known = subject.candidates[0].panel.answers.bootstrap.known_coverage
    assert known < 0.94
    texts = [
        reason["text"]
        for reason in published(subject)["reasons"]
        if reason["method"] == "bootstrap"
    ]
    assert any(f"{100 * known:.1f} %" in one for one in texts)


def test_equal_numbers_need_no_sentence(judged, draw):
    # the negative control: equal benchmarks without noise between them weigh alike
    times = draw({"base": (1.0, 1.0), "same": (1.0, 1.0)}, ("one", "two"), noise=1e-7)
    chapter = published(judged(times))
    assert questions(chapter, "speedup-test", ("",)) == {}


def test_one_sentence_serves_all_candidates_that_it_is_true_of(judged):
    chapter = published(judged())
    texts = [(reason["method"], reason["text"]) for reason in chapter["reasons"]]
    assert len(texts) == len(set(texts))
    several = [reason for reason in chapter["reasons"] if len(reason["questions"]) == 2]
    assert several
    assert all([one["candidate"] for one in r["questions"]] == ["quick", "again"] for r in several)


def test_checks_that_stop_the_mean_are_counted(judged):
    # where the median decides alike, the words agree: the question is about the means
    subject = judged()
    chapter = published(subject)
    tests = subject.candidates[0].panel.answers.suite.benchmarks
    stopped = sum(test.mean.significant is None for test in tests)
    assert stopped
    asked = questions(chapter, "speedup-test", ("too-few-runs", "failed-assumption"))["quick"]
    assert asked == f"No conclusion on {stopped} of 6 means?"


def test_with_one_candidate_it_is_not_named(judged, draw):
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 1.5)}, ("one", "two"))
    assert set().union(
        *(questions(published(judged(times)), key) for key in ("hpt", "similar"))
    ) <= {""}


@pytest.mark.parametrize(("factor", "whose"), [(0.5, True), (2.0, False)])
def test_of_a_slower_candidate_it_is_said_whose_reliability_is_meant(judged, draw, factor, whose):
    times = draw({"base": (1.0,) * 6, "other": (factor,) * 6}, sessions=5)
    (text,) = [
        reason["text"]
        for reason in published(judged(times))["reasons"]
        if reason["method"] == "hpt"
    ]
    assert ("(for 'faster') belongs to 1x" in text) == whose
