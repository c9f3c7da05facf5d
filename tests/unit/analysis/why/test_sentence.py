"""How milliseconds are written, and which answer is which sentence. Authority: docs/why.md, "Reading the answer"."""

from dataclasses import replace

import pytest

from analysis.diagnose.why_result import milliseconds, sentence_of, signed
from tests.unit.analysis.why.test_explain import explained, steady

F, G = steady(cmp=20, sort=80), steady(cmp=40, sort=60)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (6.61, "6.6"),
        (9.96, "10"),
        (31.7, "32"),
        (1234.4, "1234"),
        (0.0954, "0.095"),
        (0.00099961, "0.0010"),
        (-2.07, "-2.1"),
    ],
)
def test_milliseconds_have_two_digits_and_whole_ones_all(value, text):
    assert milliseconds(value) == text
    assert signed(value) == (f"+{text}" if value > 0 else text)


def test_less_time_is_said_as_less():
    told = explained(
        G, F, (34.1, 34.6, 33.8, 34.0, 34.9, 34.2), (30.0, 30.4, 29.8, 30.1, 30.6, 29.9)
    )
    assert told.sentence.startswith("b0: v1 takes 4.1 ms less CPU time than v0; cmp -7.6 ms")


def test_without_a_name_none_is_told():
    same = steady(cmp=20, sort=80)
    told = explained(same, same, asked={"any_total": True})
    quiet = replace(told, rows=tuple(replace(row, named=False) for row in told.rows))
    assert quiet.sentence == "b0: v1 takes 4.1 ms more CPU time than v0; no function can be named"


def test_long_names_are_shortened_to_two_lines():
    told = replace(explained(F, G), benchmark="b" * 60, variant="v" * 60, baseline="w" * 60)
    assert len(told.sentence) <= 150
    assert len(sentence_of(told, 80)) <= 80  # where several answers have a line each
    assert "4.1 ms more CPU time" in told.sentence


def test_more_samples_are_asked_for_by_how_many_are_missing():
    thin = explained([{"f": 20}] * 6, [{"f": 25}] * 6)  # 120 of 200
    assert thin.next is not None
    assert thin.next.endswith("--sessions 12")
    assert explained([{"f": 1}] * 6, [{"f": 1}] * 6).next is None
