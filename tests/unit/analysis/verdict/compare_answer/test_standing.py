"""Who leads of several commands, by what the last look found."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.commands.compared import look_text, standing_of
from analysis.verdict.compare import Standing, numbered, quoted


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


# --- Names of commands: numbers behind those that stand twice, and the quotes around them.


def test_what_stands_twice_is_numbered():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a [2]", "a [3]"]


@pytest.mark.parametrize(
    ("name", "expected"), [("a b", "'a b'"), ("a 'b'", "\"a 'b'\""), ("'\"", "''\"'")]
)
def test_quotes_are_those_that_a_command_does_not_hold(name, expected):
    assert quoted(name) == expected


# --- What `compare --json` holds: the verdict's keys as they are, and what the screen says besides.

TWO = (("gzip -6 f", 0.1, 0.05), ("gzip -1 f", 0.055, 0.08))


def test_it_holds_all_keys_of_the_verdict_with_their_values(compared):
    found = compared(TWO)
    told, verdict = found.to_dict(), found.verdict.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    changed = {"method", "candidates", "sentence", "next"}
    assert {key: told[key] for key in verdict if key not in changed} == {
        key: value for key, value in verdict.items() if key not in changed
    }
    (ours,), (theirs,) = told["candidates"], verdict["candidates"]
    assert {key: ours[key] for key in theirs} == theirs


def test_a_command_has_its_times_in_seconds(compared):
    found = compared(TWO, sessions=3, runs=4)
    one = found.to_dict()["candidates"][0]
    assert one["command"] == "gzip -1 f"
    assert one["min"] <= one["mean"] <= one["max"]
    assert one["mean"] == pytest.approx(0.055, rel=0.1)
    assert (one["runs"], one["sessions"], one["failed"]) == (12, 3, 0)
    speedup = one["multilevel"]["benchmarks"][0]["speedup"]
    assert found.to_dict()["baseline_times"]["mean"] / one["mean"] == pytest.approx(speedup)


def test_the_sentence_is_that_of_the_screen_and_next_a_line_to_paste(compared):
    found = compared(TWO)
    told = found.to_dict()
    assert told["sentence"].startswith("'gzip -1 f' takes ")
    assert told["sentence"].endswith(" % less time than 'gzip -6 f'")
    assert told["next"] == [f"fairtrial report {found.verdict.data.path} -o report.html"]
    assert told["commands"] == ["gzip -6 f", "gzip -1 f"]
    assert np.isfinite(told["measuring_s"])
