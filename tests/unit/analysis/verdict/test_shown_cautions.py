"""Which cautions a first screen shows, and in which order: those that change what a shown number means.

The authority is the policy itself: failed, not comparable, waited unequally, drift, busy, rest; at most three.
"""

from __future__ import annotations

from pathlib import Path

from analysis.data.trial import read_trial
from analysis.pages.model import Caution
from analysis.pages.short_sentence import ShortSentence
from analysis.verdict.cautions import chosen_cautions, shown_cautions
from analysis.verdict.judging import judge

SAMPLE = Path(__file__).resolve().parents[4] / "runs" / "sample"


def cautions(*codes, about=()):
    text = "the whole text of {}"
    return [
        Caution(code, text.format(code), about, ShortSentence.of(f"short: {code}"))
        for code in codes
    ]


def test_the_gravest_stand_first_whatever_their_order():
    given = cautions("host-busy", "waited-unequally", "confounded", "drift", "failed-left-out")
    found = chosen_cautions(given, ["text"], (), most=9)
    assert [one.code for one in found.cautions] == [
        *("failed-left-out", "confounded", "waited-unequally", "drift", "host-busy")
    ]


def test_what_changes_no_shown_number_is_left_to_explain():
    given = cautions("no-certificate", "warm-up-left-out", "coarse-clock", "few-benchmarks")
    assert chosen_cautions(given, ["text"], ()) == ((), 0)


def test_three_are_shown_and_the_others_counted():
    found = chosen_cautions(
        cautions("host-busy", "drift", "two-speeds", "confounded"), ["text"], ()
    )
    assert len(found.cautions) == 3
    assert found.more == "and 1 more: --explain"
    assert chosen_cautions(cautions("drift"), ["text"], ()).more == ""


def test_of_alike_ones_that_with_more_rows_comes_first():
    few = Caution("two-speeds", "", ("a",), ShortSentence.of("few"))
    more = Caution("two-binaries", "", ("gzip-1", "a", "b"), ShortSentence.of("more"))
    most = Caution("drift", "", (), ShortSentence.of("all"))
    found = chosen_cautions([few, most, more], ["a", "b", "c"], (), most=9)
    assert [one.text for one in found.cautions] == ["more", "all", "few"]


def test_the_short_sentence_is_shown_and_the_text_kept():
    one = Caution("drift", "the whole text", short=ShortSentence.of("{} changed", "gzip"))
    (found,) = chosen_cautions([one], ["text"], ["gzip"], called={"gzip": "'gzip -1'"}).cautions
    assert (found.text, one.text) == ("'gzip -1' changed", "the whole text")


def test_what_is_about_others_than_those_on_the_screen_is_not_shown():
    one = Caution("fails-more", "", ("a",), ShortSentence.of("{} has no speed", "a"))
    assert chosen_cautions([one], ["b"], ["gzip"]) == ((), 0)
    assert chosen_cautions([one], ["a", "b"], ["gzip"]).cautions == (one,)


def test_a_list_names_only_what_is_on_the_screen():
    one = Caution("outputs-differ", "", ("a", "b"), ShortSentence.of("differs: {}", ("a", "b")))
    (found,) = chosen_cautions([one], ["b"], ()).cautions
    assert found.text == "differs: b"


def test_a_trial_shows_what_its_numbers_need_and_no_certificate():
    verdict = judge(read_trial(SAMPLE))
    found = shown_cautions(verdict)
    assert [one.code for one in found.cautions] == [
        *("failed-left-out", "host-two-speeds", "waited-for-cpu")
    ]
    assert found.hidden == 1
    assert "no-certificate" in [one.code for one in verdict.cautions]
