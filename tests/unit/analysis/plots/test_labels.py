"""Texts beside marks: where they stand, and how wide unknown signs are."""

from __future__ import annotations

from functools import partial

from analysis.plots.labels import Box, Wanted, em, placed

place = partial(
    placed, size=11.5, measure=lambda text: 6.5 * len(text), distances=(5.0, 9.0, 15.0, 23.0)
)


def test_a_text_goes_the_way_it_prefers_and_aside_where_that_is_taken() -> None:
    frame = Box(0, 0, 300, 300)
    (right,) = place([Wanted("name", 150, 150)], frame=frame)
    assert right is not None
    assert right.anchor == "start"
    assert right.box.left > 150
    (left,) = place([Wanted("name", 150, 150, away=(-1, 0))], frame=frame)
    assert left is not None
    assert left.anchor == "end"
    assert left.box.right < 150
    (aside,) = place([Wanted("name", 150, 150)], frame=frame, taken=[Box(151, 100, 300, 200)])
    assert aside is not None
    assert aside.box.right <= 151


def test_a_text_never_goes_to_the_other_side_of_its_direction() -> None:
    frame, wall = Box(0, 0, 300, 300), Box(0, 0, 150, 300)
    assert place([Wanted("name", 150, 150, away=(-1, 0))], frame=frame, taken=[wall]) == (None,)
    assert place([Wanted("name", 150, 150)], frame=frame, taken=[wall]) != (None,)


def test_a_text_without_room_is_none_and_the_more_important_has_it() -> None:
    frame = Box(0, 0, 60, 16)
    wanted = [Wanted("first", 10, 8), Wanted("second", 10, 8, importance=1)]
    assert [one is not None for one in place(wanted, frame=frame)] == [False, True]


def test_wide_signs_count_wide_and_combining_ones_not_at_all() -> None:
    assert em("測") > 1.2 * em("ѫ")
    assert em("\u0301") == 0
