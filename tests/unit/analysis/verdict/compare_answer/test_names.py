"""Names of commands in little room: what tells them apart stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from analysis.verdict.compare_sentences import numbered, quoted, short_names
from tests.examples import examples

GZIPS = ["gzip -6 -k -c data", "gzip -1 -k -c data"]


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        (GZIPS, 18, GZIPS),
        (GZIPS, 10, ["gzip -6 …", "gzip -1 …"]),
        (GZIPS, 6, ["… -6 …", "… -1 …"]),
        (["sort a", "./sort a"], 7, ["sort …", "./so…"]),
        (["sort a", "sort a"], 20, ["sort a", "sort a [2]"]),
        (["/usr/bin/gzip x", "/opt/bin/gzip x"], 12, ["/usr/b…gzip …", "/opt/b…gzip …"]),
        (["one command"], 6, ["one…nd"]),
    ],
)
def test_words_that_all_share_go_first(names, width, expected):
    found = short_names(names, width)
    assert all(len(name) <= width for name in found)
    if expected[0] in {"sort …", "/usr/b…gzip …"}:
        assert len(set(found)) == 2
    else:
        assert found == expected


def test_names_of_two_words_are_cut_at_the_shared_one():
    assert short_names(["sort a", "./sort a"], 8) == ["sort a", "./sort a"]
    assert short_names(["sort abc", "./sort abc"], 8) == ["sort …", "./sort …"]


def test_what_stands_twice_is_numbered():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a [2]", "a [3]"]


@pytest.mark.parametrize(
    ("name", "expected"), [("a b", "'a b'"), ("a 'b'", "\"a 'b'\""), ("'\"", "''\"'")]
)
def test_quotes_are_those_that_a_command_does_not_hold(name, expected):
    assert quoted(name) == expected


@settings(max_examples=examples(100))
@given(
    st.lists(st.one_of(st.text(max_size=60), st.sampled_from(GZIPS)), min_size=1, max_size=6),
    st.integers(5, 80),
)
def test_no_name_is_wider_and_no_two_are_alike(names, width):
    found = short_names(names, width)
    assert len(found) == len(names)
    assert max(map(len, found)) <= width
    assert len(set(found)) == len(names)
    assert not any("\n" in name or "\x1b" in name for name in found)
