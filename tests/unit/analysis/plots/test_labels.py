"""Texts beside marks: who stays, where they stand, and how wide they are."""

from __future__ import annotations

import pytest

from analysis.plots.labels import Box, Wanted, kept_in_row, placed, text_width


def test_the_less_important_of_two_that_collide_is_dropped() -> None:
    assert kept_in_row([0.5, 0.52], ["gzip-1", "gzip-7"], 300) == (True, False)
    assert kept_in_row([0.5, 0.52], ["gzip-1", "gzip-7"], 300, importance=[0, 1]) == (False, True)
    assert kept_in_row([0.1, 0.9], ["gzip-1", "gzip-7"], 300) == (True, True)


def test_a_text_goes_the_way_it_prefers_and_aside_where_that_is_taken() -> None:
    frame = Box(0, 0, 300, 300)
    (right,) = placed([Wanted("name", 150, 150)], frame=frame)
    assert right is not None
    assert right.anchor == "start"
    assert right.box.left > 150
    (left,) = placed([Wanted("name", 150, 150, away=(-1, 0))], frame=frame)
    assert left is not None
    assert left.anchor == "end"
    assert left.box.right < 150
    (aside,) = placed([Wanted("name", 150, 150)], frame=frame, taken=[Box(151, 100, 300, 200)])
    assert aside is not None
    assert aside.box.right <= 151


def test_a_text_never_goes_to_the_other_side_of_its_direction() -> None:
    frame, wall = Box(0, 0, 300, 300), Box(0, 0, 150, 300)
    assert placed([Wanted("name", 150, 150, away=(-1, 0))], frame=frame, taken=[wall]) == (None,)
    assert placed([Wanted("name", 150, 150)], frame=frame, taken=[wall]) != (None,)


def test_a_text_without_room_is_none_and_the_more_important_has_it() -> None:
    frame = Box(0, 0, 60, 16)
    wanted = [Wanted("first", 10, 8), Wanted("second", 10, 8, importance=1)]
    assert [one is not None for one in placed(wanted, frame=frame)] == [False, True]


@pytest.mark.parametrize(
    ("text", "ems"),
    # Adobe's metrics of Helvetica (AFM), in thousandths of the size
    [
        ("gzip-1", 556 + 500 + 222 + 556 + 333 + 556),
        ("MWW", 833 + 944 * 2),
        ("1.05×", 2530),
        ("abdeghnopqu", 556 * 11),
        ("ckszvxy", 500 * 7),
        ("ABEKPSVXYFTZL", 667 * 9 + 611 * 3 + 556),
        ("CDGHNOQRUw", 722 * 7 + 778 * 3),
    ],
)
def test_a_width_is_estimated_on_the_wide_side_and_not_by_far(text: str, ems: float) -> None:
    width = ems * 11.5 / 1000
    assert width <= text_width(text) <= 1.35 * width
    assert text_width(text, bold=True) > text_width(text)


def test_wide_signs_count_wide_and_combining_ones_not_at_all() -> None:
    assert text_width("測試") > text_width("ab") * 1.5
    assert text_width("e\u0301") == text_width("e")
