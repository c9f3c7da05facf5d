"""The lists of looks, and what a look off the list does to them.

Authority: the decided list, and the rule that there are never more looks than were planned.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from analysis.record.trial_files import (
    LOOKS,
    OPEN_LOOKS,
    LooksPlan,
    looked_after,
    next_look,
    with_look,
)


def test_the_lists_are_those_that_were_decided():
    assert LOOKS == (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 49, 64, 83, 108)
    assert OPEN_LOOKS[: len(LOOKS)] == LOOKS
    assert (len(OPEN_LOOKS), OPEN_LOOKS[-1]) == (23, 1024)
    assert list(OPEN_LOOKS) == sorted(set(OPEN_LOOKS))


def test_a_look_off_the_list_takes_the_place_of_the_next_one():
    assert with_look(LOOKS, 13) == LOOKS
    assert with_look(LOOKS, 45) == (*LOOKS[:11], 45, *LOOKS[12:])
    assert with_look(LOOKS, 200) == LOOKS
    once_more = with_look(with_look(LOOKS, 45), 50)
    assert once_more[11:] == (45, 50, 83, 108)


@given(st.lists(st.integers(3, 108), max_size=12))
def test_there_are_never_more_looks_than_were_planned(caps):
    looks = LOOKS
    for cap in sorted(caps):
        looks = with_look(looks, cap)
        assert cap in looks or cap > looks[-1]
    assert len(looks) == len(LOOKS)
    assert list(looks) == sorted(set(looks))


def test_plans_go_on_in_the_same_list():
    plan = LooksPlan(rule="repeated", looks=LOOKS)
    assert (next_look(plan, 0), next_look(plan, 38), next_look(plan, 108)) == (3, 49, None)
    assert next_look(replace(plan, looks=OPEN_LOOKS, open=True), 108) == 143
    capped = looked_after(plan, 45)
    assert (len(capped.looks), next_look(capped, 45)) == (len(LOOKS), 64)
    once = LooksPlan(rule="planned", looks=(6,))
    assert looked_after(once, 4) == once
