"""Sentences of a first screen stay whole: only names inside become shorter.

The authority is the rule for cautions: whole sentences that fit 80 columns after ``note  [1] ``, never cut with
an ellipsis, the same text on a terminal and in a file.
"""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from analysis.pages.model import LONGEST, ShortSentence, plain


def test_what_fits_is_left_alone_and_texts_of_others_are_no_patterns():
    said = ShortSentence.of("{} was 2 different programs in {}", "gzip-1", "text")
    assert str(said) == "gzip-1 was 2 different programs in text"
    said = ShortSentence.of("{} has no run that counts", "gzip-1-k-c-data")
    assert said.fitted({"gzip-1-k-c-data": "'gzip -1 …'"}) == "'gzip -1 …' has no run that counts"
    assert str(ShortSentence.of(plain("{0} {"))) == "{0} {"


def test_a_list_names_fewer_before_a_name_is_shortened():
    names = tuple(f"benchmark-{k}" for k in range(9))
    told = str(ShortSentence.of("{}: the speed is undecided", names))
    assert told == "benchmark-0, benchmark-1 and 7 more: the speed is undecided"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("a",), "a"),
        (("a", "b"), "a and b"),
        (("a", "b", "c"), "a, b and c"),
        (("a", "b", "c", "d"), "a, b, c and 1 more"),
    ],
)
def test_lists_are_told_as_people_do(names, told):
    assert str(ShortSentence.of("{}", names)) == told


def test_names_are_shortened_and_the_sentence_is_not():
    said = ShortSentence.of(
        "waiting is part of it: 98 % of {}'s runs waited, 91 % of {}'s", "x" * 60, "gzip-6"
    )
    told = str(said)
    assert len(told) <= LONGEST
    assert told.startswith("waiting is part of it: 98 % of xxx")
    assert told.endswith("'s runs waited, 91 % of gzip-6's")


def test_what_no_cut_brings_into_one_line_keeps_short_names():
    told = f"{{}}: in all, {{}} takes less time, though {'the typical run ' * 4}takes more: 5 runs of {{}}"
    said = ShortSentence.of(told, "binary", "gzip-1", "x" * 60)
    assert str(said) == told.format("binary", "gzip-1", "x" * 60)
    assert "x…x" in str(ShortSentence.of(told + "of many" * 12, "binary", "gzip-1", "x" * 60))


@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=3))
def test_no_name_makes_it_too_long_or_breaks_its_line(names):
    said = ShortSentence.of("waits count: 98 % of {}'s, 9 % of {}'s", tuple(names), names[-1])
    told = said.about(names[0]).fitted()
    assert len(told) <= LONGEST
    assert "\n" not in told
    assert told.endswith("'s")
