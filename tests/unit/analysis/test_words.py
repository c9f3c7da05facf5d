from __future__ import annotations

import pytest

from analysis.words import shorten


def test_long_names_are_cut_in_their_middle():
    assert shorten("short", 10) == "short"
    assert shorten("a-rather-long-name", 10) == "a-rat…name"
    assert shorten("a-rather-long-name", 9) == "a-ra…name"


@pytest.mark.parametrize("width", range(2, 30))
def test_what_is_cut_has_the_width_that_was_asked_for(width):
    assert len(shorten("x" * 40, width)) == width
