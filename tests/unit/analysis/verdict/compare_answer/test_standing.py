"""Who leads of several commands, by what the last look found."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from analysis.commands.compared import look_text, standing_of
from analysis.verdict.compare import Standing


def one(variant, word="slower", ahead=None):
    line = None if ahead is None else SimpleNamespace(benchmarks=(SimpleNamespace(outcome=ahead),))
    return SimpleNamespace(variant=variant, word=word, against_leader=line)


def look(leader, *candidates):
    return SimpleNamespace(leader=leader, candidates=candidates)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, None),
        (look(None, one("b"), one("c")), None),
        (look("b", one("b", "faster")), None),
        # the leader is decided against the baseline, the other one against the leader
        (look("b", one("b", "faster"), one("c", ahead="slower")), Standing(leader="b")),
        (
            look("b", one("b", "faster"), one("c", ahead="undecided")),
            Standing(leader="b", beside=("c",)),
        ),
        (
            look("b", one("b", "undecided"), one("c", ahead="equivalent")),
            Standing(leader="b", beside=("a",), alike=("c",)),
        ),
        # the baseline leads: its own comparisons tell
        (
            look("a", one("b", "undecided"), one("c", "equivalent"), one("d", "slower")),
            Standing(leader="a", beside=("b",), alike=("c",)),
        ),
    ],
)
def test_who_leads(found, expected):
    assert standing_of(found, "a") == expected


def test_what_a_look_tells_of_a_candidate():
    line = SimpleNamespace(speedup=1.25, low=1.1, high=1.4)
    assert look_text(SimpleNamespace(line=line, word="faster")) == "20 % less time (9 to 29 %)"
    line = SimpleNamespace(speedup=1.0, low=0.9, high=1.1)
    told = look_text(SimpleNamespace(line=line, word="undecided"))
    assert told == "between 10 % less and 12 % more"
    assert look_text(SimpleNamespace(line=None, word="undecided")) == "no run counts yet"
