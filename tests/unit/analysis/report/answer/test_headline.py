"""The headline is the verdict's sentence, with its numbers; names in it are pieces of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from analysis.report.answer import headline
from analysis.report.subject import Subject

Make = Callable[..., Subject]
EVEN, FAST, SLOW, AT_ODDS = (1.0,) * 4, (0.8,) * 4, (1.25,) * 4, (1.03, 0.98, 1.01, 0.97)


def said(subject: Subject) -> str:
    return headline(subject.verdict)


def test_it_is_the_sentence_of_the_verdict(subject: Make) -> None:
    for factors in (
        {"base": EVEN, "fast": FAST},
        {"base": EVEN, "slow": SLOW, "fast": FAST, "odd": AT_ODDS},
        {"base": EVEN} | dict.fromkeys("abcde", SLOW),
        {"only": EVEN},
    ):
        one = subject(factors, sessions=6)
        assert said(one) == one.verdict.sentence


def test_the_baseline_may_be_the_fastest(subject: Make) -> None:
    factors = {"base": EVEN} | dict.fromkeys("ab", SLOW)
    found = said(subject(factors, wobble=0.5))
    assert found.startswith("base is the fastest of 3 over these 4 benchmarks: ")
    assert re.search(r": [ab] takes \d+(\.\d+)? % more time \(", found)


def test_where_the_first_two_are_not_decided_both_are_named(subject: Make) -> None:
    # the negative control of a winner: two that are equally fast
    factors = {"base": EVEN, "a": FAST, "b": FAST}
    found = said(subject(factors, wobble=2.0))
    assert found == "fastest of 3 over these 4 benchmarks: a or b (undecided between them)"


def test_where_nothing_is_decided_it_says_where_the_difference_lies(subject: Make) -> None:
    one = subject({"base": EVEN, "same": EVEN}, wobble=2.0, margin=0.001)
    multilevel = one.candidates[0].multilevel
    assert multilevel is not None
    assert multilevel.these is not None
    assert multilevel.these.outcome == "undecided"
    found = said(one)
    assert found.startswith("no difference found between same and base over these 4 benchmarks: if")
    assert re.search(r"it lies between [\d.]+ % less and [\d.]+ % more time$", found)


def test_what_fails_more_often_has_no_answer_and_says_so(subject: Make) -> None:
    def failing(trial: Any) -> None:
        trial.fail(lambda row: row.variant == "fast" and row.block > 1)

    found = said(subject({"base": (1.0,), "fast": (0.8,)}, change=failing))
    # of 3 runs in each of 5 sessions, 2 fail
    assert found.endswith(": 10 of 15 runs of fast failed, 0 of 15 of the other")
    assert found.startswith("no answer for fast against base on ")


@pytest.mark.parametrize("name", ["<b>", "a" * 60, "\N{RIGHT-TO-LEFT OVERRIDE}evil", "x\x1b[0m"])
def test_a_name_is_short_and_cannot_act(subject: Make, name: str) -> None:
    found = headline(subject({"base": EVEN, name: FAST}).verdict)
    assert found.isprintable()
    assert len(found.partition(" ")[0]) <= max(28, len(name) + 5)
