"""The screen of a gate: the answer first, in the unit of the question.

The authority is arithmetic by hand: with an error of .004 and 5 degrees of freedom (t = 2.5706) a log
speedup of -0.1 is exp(.1) = 1.1052 times the time, 1.0939 to 1.1166.
"""

from __future__ import annotations

import math
import re

import pytest

from analysis.verdict.gate import gate

NARROW, WIDE = 0.004, 0.03


SLOWER = {
    (-0.1, NARROW): "STOP {} 10.5 % more time than v1 (9.3 to 11.7 %): more than the 2 % allowed",
    (-0.005, NARROW): "PASS {} 0.5 % more time than v1 (0.6 % less to 1.6 % more): less than the 2 % allowed",
    (0.1, NARROW): "PASS {} 9.5 % less time than v1 (8.5 to 10.5 %): within the 2 % allowed",
    (-0.01, WIDE): "OPEN {} between 7 % less and 10 % more time than v1: 2 % is neither proven nor ruled out",
    (-math.log(4), NARROW): "STOP {} 4.00 times as long as v1 (3.95 to 4.05): more than the 2 % allowed",
}  # fmt: skip
FASTER = {
    (0.02, NARROW): "STOP {} 2.0 % less time than v1 (0.9 to 3.0 %): the wanted gain of 5 % is not there",
    (0.2, NARROW): "PASS {} 18.1 % less time than v1 (17.2 to 19.0 %): the wanted gain of 5 % is there",
    (0.05, WIDE): "OPEN {} between 12 % less and 3 % more time than v1: the wanted gain of 5 % is neither proven nor ruled out",
}  # fmt: skip


@pytest.mark.parametrize(("condition", "said"), [("slower>2%", SLOWER), ("faster<5%", FASTER)])
def test_the_answer_is_in_the_unit_of_the_question(compared, condition, said):
    for (x, error), head in said.items():
        found = gate(compared({"b": (x, error, 5)}), condition)
        text = head.format("v2 takes")
        assert found.sentence == text[5:]
        assert " ".join(str(found).split()).startswith(text)


MORE, LESS = "than v1 (9.3 to 11.7 %): more than", "than v1 (8.5 to 10.5 %): more than"


@pytest.mark.parametrize(
    ("unit", "metric", "condition", "sentence", "heading"),
    [
        ("B", "max_rss", "worse>2%", f"uses 10.5 % more memory (max_rss) {MORE}", "memory "),
        ("1/s", "rps", "slower>2%", f"does 9.5 % less (rps) {LESS}", "change "),
        ("1/s", "rps", "faster<5%", f"does 9.5 % less (rps) {LESS[:-9]}the", "change "),
        ("1", "misses", "worse>2%", f"has 10.5 % more (misses) {MORE}", "change "),
    ],
)
def test_other_metrics_than_times(compared, unit, metric, condition, sentence, heading):
    better = "higher" if unit == "1/s" else "lower"
    found = gate(
        compared({"b": (-0.1, NARROW, 5)}, unit=unit, better=better), condition, metric=metric
    )
    limit = " wanted gain of 5 % is not there" if condition == "faster<5%" else " the 2 % allowed"
    assert found.sentence == f"v2 {sentence}{limit}"
    assert re.search(rf"(?m)^ +{heading}\({metric}\) +95 %  {condition}$", str(found))


def test_limits_far_from_equal_are_said_as_the_screen_counts(compared):
    found = gate(compared({"b": (0.1, NARROW, 5)}), "faster<100%")
    assert found.sentence.endswith("the wanted gain of 100 % (50 % less) is not there")
    rate = compared({"b": (-0.6, NARROW, 5)}, unit="1/s", better="higher")
    assert gate(rate, "slower>50%", metric="rps").sentence.endswith(
        "more than the 50 % (33 % less) allowed"
    )


def test_the_page_says_the_answer_first_and_hides_no_proof(compared):
    lines = {f"b{k}": (0.0, NARROW, 5) for k in range(40)} | {"bad": (-0.1, 0.0004, 5)}
    text = str(gate(compared(lines, (0.0, 0.002, 5)), "slower>2%"))
    assert text.startswith("STOP  v2 takes 10.5 % more time than v1 on bad (")
    assert "and 29 more benchmarks, all ruled out (--json has all)" in text
    assert re.search(r"(?m)^bad +\+10\.5 % +.* +proven$", text)
    assert len(text.splitlines()) <= 25


def test_several_benchmarks_are_told_by_the_worst(compared):
    lines = {"a": (-0.1, NARROW, 5), "b": (-0.2, NARROW, 5), "c": (0.0, NARROW, 5)}
    found = gate(compared(lines, (0.0, 0.002, 5)), "slower>2%")
    assert found.sentence == (
        "v2 takes 22.1 % more time than v1 on b (20.8 to 23.5 %), and on 1 more: more than the 2 % allowed"
    )


def test_a_line_that_only_the_correction_keeps_open_says_so(compared):
    # p = .009 of one line, .045 after Holm over five
    lines = {"a": (-0.034, NARROW, 5)} | {f"b{k}": (0.0, NARROW, 5) for k in range(4)}
    text = str(gate(compared(lines, (0.0, 0.002, 5)), "slower>2%"))
    assert re.search(
        r"(?m)^a +\+3\.5 % +\+2\.4 to \+4\.6 % +undecided  not after correction$", text
    )


def test_nothing_that_could_be_compared_is_undecided(compared):
    found = gate(compared({"a": None, "b": None}), "slower>2%")
    (one,) = found.candidates
    assert (found.outcome, one.suite) == ("undecided", None)
    assert found.sentence == "nothing is decided for v2 against v1 on a: there is no interval"
    assert gate(compared({}), "slower>2%").sentence == "nothing could be compared of v2 and v1"


def test_what_fails_is_said_first(compared):
    reasons = {"a": "fails-more"}
    lines = {"a": (0.0, NARROW, 5), "b": (0.0, NARROW, 5)}
    found = gate(compared(lines, (0.0, 0.002, 5), reasons=reasons), "slower>2%")
    assert (found.sentence, found.exit_code) == ("v2 fails more often than v1 on a", 1)
    assert re.search(r"(?m)^a .* proven +fails more often$", str(found))
    gone = gate((), "slower>2%", failing=["v2"])
    assert (gone.sentence, gone.exit_code) == ("no run of v2 succeeded", 1)
    assert (gone.confidence, gone.risk) == (None, None)


def test_a_page_of_several_candidates_has_a_line_each(compared):
    good = compared({"b": (0.0, NARROW, 5)}, candidate="good")
    bad = compared({"b": (-0.1, NARROW, 5)}, candidate="bad")
    found = gate([good, bad], "slower>2%", failing=["gone"])
    assert [one.outcome for one in found.candidates] == ["passed", "proven", "proven"]
    assert found.candidates[2].baseline == "v1"
    text = str(found)
    assert text.startswith("STOP  bad takes 10.5 % more time than v1 (9.3 to 11.7 %): ")
    assert "(1 of 3 candidates passes)" in " ".join(text.split())
    assert re.search(r"(?m)^good +0(\.0)? % +-1\.1 to \+1\.1 % +ruled out$", text)
    assert re.search(r"(?m)^gone +- +- +proven +no run of gone succeeded$", text)
    assert "good against v1" not in text
    assert "bad against v1" in text
