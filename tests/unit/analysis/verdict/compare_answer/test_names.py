"""Names of commands: numbers behind those that stand twice, and the quotes around them."""

from __future__ import annotations

import pytest

from analysis.verdict.compare_sentences import numbered, quoted


def test_what_stands_twice_is_numbered():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a [2]", "a [3]"]


@pytest.mark.parametrize(
    ("name", "expected"), [("a b", "'a b'"), ("a 'b'", "\"a 'b'\""), ("'\"", "''\"'")]
)
def test_quotes_are_those_that_a_command_does_not_hold(name, expected):
    assert quoted(name) == expected
