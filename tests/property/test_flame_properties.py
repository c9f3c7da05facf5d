"""A flame graph's boxes: whatever the chains, widths add up, nothing overlaps, no time is lost.

Authority: the definition of the picture (a box is as wide as its children and its own; the larger side counts).
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from analysis.plots.flame_layout import DEEPEST, LEAST, Flame, FlameBox, flame_of
from tests.examples import examples

chains = st.dictionaries(
    st.lists(st.sampled_from(["main", "sort", "<i>", "a b", "größe"]), max_size=6).map(tuple),
    st.one_of(st.just(0.0), st.floats(1e-6, 1e4)),
    max_size=25,
)
sides = st.tuples(chains, chains).filter(lambda two: any(sum(one.values()) > 0 for one in two))


whole_of = partial(flame_of, least=0.0)


def children(flame: Flame, box: FlameBox) -> list[FlameBox]:
    return [one for one in flame.boxes if one.path and one.path[:-1] == box.path]


@given(sides)
@settings(max_examples=examples(200))
def test_a_box_is_as_wide_as_its_children_and_its_own_samples(two):
    flame = whole_of(*two)
    for box in flame.boxes:
        own = max(box.own_baseline, box.own_candidate) / flame.total
        below = sum(one.width for one in children(flame, box))
        assert box.width == pytest.approx(own + below, rel=1e-9, abs=1e-12)
        for side in ("baseline", "candidate"):
            inside = sum(getattr(one, side) for one in children(flame, box))
            whole = getattr(box, f"own_{side}") + inside
            assert getattr(box, side) == pytest.approx(whole, rel=1e-9, abs=1e-12)


@given(sides)
@settings(max_examples=examples(200))
def test_what_all_boxes_have_of_their_own_is_the_whole(two):
    flame = whole_of(*two)
    root = flame.boxes[0]
    own = math.fsum(max(one.own_baseline, one.own_candidate) for one in flame.boxes)
    assert (root.path, root.left, root.width) == ((), 0.0, 1.0)
    assert own == pytest.approx(flame.total, rel=1e-9)
    for side, given_chains in zip(("baseline", "candidate"), two, strict=True):
        assert getattr(root, side) == pytest.approx(math.fsum(given_chains.values()), rel=1e-9)


@given(sides)
@settings(max_examples=examples(200))
def test_no_box_leaves_its_caller_or_lies_over_a_sibling(two):
    flame = whole_of(*two)
    by_path = {one.path: one for one in flame.boxes}
    for box in flame.boxes:
        inside = sorted(children(flame, box), key=lambda one: one.left)
        for one, other in pairwise(inside):
            assert one.left + one.width <= other.left + 1e-9
        if box.path:
            caller = by_path[box.path[:-1]]
            assert caller.left - 1e-9 <= box.left
            assert box.left + box.width <= caller.left + caller.width + 1e-9


@given(sides)
@settings(max_examples=examples(100))
def test_the_sides_exchanged_give_the_same_widths_and_opposite_differences(two):
    one, other = whole_of(*two), whole_of(*reversed(two))
    assert [box.path for box in one.boxes] == [box.path for box in other.boxes]
    for here, there in zip(one.boxes, other.boxes, strict=True):
        assert (here.left, here.width) == (there.left, there.width)
        assert here.difference == -there.difference
        assert abs(here.difference) <= here.width * one.total * (1 + 1e-9) + 1e-12


@given(sides, st.randoms(use_true_random=False))
@settings(max_examples=examples(100))
def test_the_order_in_which_chains_come_changes_nothing(two, random):
    def mixed(one):
        items = list(one.items())
        random.shuffle(items)
        return dict(items)

    assert flame_of(*map(mixed, two)) == flame_of(*two)


@given(sides, st.floats(0, 0.2), st.integers(0, 5))
@settings(max_examples=examples(100))
def test_each_box_is_drawn_or_counted_and_what_called_a_drawn_one_is_drawn(two, least, deepest):
    flame, whole = flame_of(*two, least=least, deepest=deepest), whole_of(*two)
    drawn = {box.path for box in flame.boxes}
    assert len(drawn) + flame.narrow + flame.deep == len(whole.boxes)
    assert all(path[:k] in drawn for path in drawn for k in range(len(path)))
    assert flame.boxes == tuple(box for box in whole.boxes if box.path in drawn)
    assert flame.narrow == sum(box.width * whole.total < least * whole.total for box in whole.boxes)


def test_chains_of_thousands_of_callers_are_counted_and_not_drawn():
    deep = tuple(f"f{k}" for k in range(5000))
    flame = flame_of({deep: 1.0}, {deep: 2.0})
    assert len(flame.boxes) == DEEPEST + 1
    assert (flame.narrow, flame.deep) == (0, 5000 - DEEPEST)


def test_a_narrow_box_is_left_out_and_counted():
    flame = flame_of({("main",): 1.0, ("main", "rare"): LEAST / 2}, {("main",): 1.0})
    assert [box.path for box in flame.boxes] == [(), ("main",)]
    assert (flame.narrow, flame.deep) == (1, 0)


def test_nothing_at_all_is_refused():
    with pytest.raises(ValueError, match="took something"):
        flame_of({("main",): 0.0}, {})
