"""Whatever names and numbers are, a verdict's screen has 24 lines of 80 columns, 30 of several candidates, at most.

Authority: the page of the first minute (24 lines of one candidate, 80 columns; the word and the interval are of one look).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.pages.as_text import render
from analysis.verdict.judging import judge_sides
from analysis.verdict.result import WayOn
from tests.examples import examples

HOSTILE = st.sampled_from(list("|_$%\\{}<>`*[]()\"'-+=:., /\n\r\t\x1b\u202e\u2028a1é…×"))
NAME = st.text(st.one_of(HOSTILE, st.sampled_from("abcdefghij")), min_size=1, max_size=70).filter(
    lambda text: bool(text.strip())
)
UNITS = (("s", "lower"), ("B", "lower"), ("1", "lower"), ("MB/s", "higher"), ("J", "lower"))
SESSIONS = 4


@st.composite
def verdicts(draw):
    benchmarks = draw(st.lists(NAME, min_size=1, max_size=20, unique=True))
    variants = draw(st.lists(NAME, min_size=2, max_size=7, unique=True))
    unit, better = draw(st.sampled_from(UNITS))
    size = 10.0 ** draw(st.integers(-9, 9))
    noise = draw(st.sampled_from([0.0005, 0.02, 0.5, 3.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    metric = draw(st.one_of(st.sampled_from(["wall", "max_rss"]), NAME))
    sessions = {bench: np.repeat(range(SESSIONS), 3).tolist() for bench in benchmarks}

    def side(name, factor):
        values = {
            bench: (size * factor * np.exp(noise * rng.normal(size=3 * SESSIONS))).tolist()
            for bench in benchmarks
        }
        return PerformanceMatrix.from_samples(
            name, values, better=better, unit=unit, sessions=sessions
        )

    base = side(variants[0], 1.0)
    factors = st.sampled_from([1e-6, 0.2, 0.9, 0.9999, 1.0, 1.0001, 1.3, 40.0, 1e6])
    found = [judge_sides(side(name, draw(factors)), base, metric=metric) for name in variants[1:]]
    return replace(
        found[0],
        candidates=tuple(each.candidates[0] for each in found),
        data=replace(
            found[0].data,
            trial=draw(NAME),
            path=f"runs/{draw(st.sampled_from(['x', 'a b', 'y' * 90]))}",
            campaign=draw(NAME),
            campaign_path="campaign.yaml",
            host=draw(NAME),
        ),
        ratio=draw(st.booleans()),
        look=replace(
            found[0].look,
            rule=draw(st.sampled_from(["single", "growing", "planned"])),
            count=draw(st.integers(1, 40)),
        ),
        way_on=WayOn(session_s=draw(st.sampled_from([None, 0.1, 90.0]))),
    )


def screen_and_command(verdict) -> tuple[list[str], list[str]]:
    """Give the lines of the screen, and those of the command at its end."""
    lines = render(verdict.screen()).split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("next  ")), len(lines))
    return lines[:start], lines[start:]


@settings(max_examples=examples(100), deadline=None)
@given(verdicts())
def test_a_screen_keeps_its_lines_and_columns(verdict):
    lines, command = screen_and_command(verdict)
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
    for line in command:  # only a path of its own is wider
        assert len(line) <= 80 or "y" * 90 in line
    rows = len(verdict.candidates[0].multilevel.benchmarks)
    folded = sum(not line for line in lines) > 4 or len(verdict.candidates) > 1
    if rows > 3 and not folded:
        assert len(lines) + len(command) <= (30 if len(verdict.candidates) > 1 else 24)


@settings(max_examples=examples(60), deadline=None)
@given(verdicts())
def test_everything_at_once_has_80_columns_too(verdict):
    explained = replace(verdict, question=replace(verdict.question, explain=True))
    for shown in (replace(verdict, whole=True), explained):
        lines, _ = screen_and_command(shown)
        assert max(map(len, lines)) <= 80


@settings(max_examples=examples(100), deadline=None)
@given(verdicts())
def test_the_sentence_and_the_word_are_of_one_look(verdict):
    told = verdict.sentence
    line = verdict.candidates[0].multilevel.these
    if len(verdict.candidates) > 1 or line is None or line.low is None:
        return
    if line.outcome == "undecided":
        assert told.startswith(("no difference found", "no answer"))
    elif line.outcome == "equivalent":
        assert " within 1 %" in told
    else:
        assert "no difference" not in told
    if line.outcome == "undecided" and line.low < 1 < line.high:
        assert re.search("between .* less and .* more", told)


@settings(max_examples=examples(30), deadline=None)
@given(verdicts())
def test_json_has_the_sentence_and_the_command(verdict):
    found = json.loads(json.dumps(verdict.to_dict()))
    assert found["sentence"] == verdict.sentence
    assert found["next"] == list(verdict.next)
    assert all(line.startswith("fairtrial ") for line in found["next"])
    assert not {"ratio", "session_s", "sources", "explained"} & found.keys()
