"""Texts beside marks: whatever is wanted, what is kept lies over nothing else."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from analysis.plots.labels import Box, Wanted, kept_in_row, placed, text_width

names = st.text(max_size=30)
shares = st.floats(0, 1)
FRAME = Box(0, 0, 330, 330)


@given(st.lists(st.tuples(shares, names, st.integers(0, 3)), max_size=40), st.floats(50, 1600))
def test_what_is_kept_in_a_row_stays_apart_there_and_where_there_is_more_room(
    labels: list[tuple[float, str, int]], length: float
) -> None:
    places, texts, weights = zip(*labels, strict=True) if labels else ((), (), ())
    kept = kept_in_row(places, texts, length, importance=weights)
    for wide in (length, 1.7 * length):
        boxes = [
            (place * wide - text_width(text) / 2, place * wide + text_width(text) / 2)
            for place, text, stays in zip(places, texts, kept, strict=True)
            if stays
        ]
        for one, other in itertools.combinations(sorted(boxes), 2):
            assert one[1] <= other[0] + 1e-6
    if labels:  # the most important always finds room
        assert kept[max(range(len(labels)), key=lambda k: (weights[k], -k))]


@given(st.lists(st.tuples(shares, names, st.integers(0, 3)), min_size=1, max_size=20))
def test_what_is_left_out_of_a_row_meets_something_as_important(
    labels: list[tuple[float, str, int]],
) -> None:
    places, texts, weights = zip(*labels, strict=True)
    kept = kept_in_row(places, texts, 300, importance=weights)
    for k, stays in enumerate(kept):
        if not stays:
            assert any(
                kept[j]
                and weights[j] >= weights[k]
                and abs(places[j] - places[k]) * 300
                < (text_width(texts[j]) + text_width(texts[k])) / 2 + 6.001
                for j in range(len(labels))
            )


points = st.tuples(st.floats(0, 330), st.floats(0, 330))


@given(
    st.lists(st.tuples(points, names, st.integers(0, 3)), max_size=25),
    st.lists(points, max_size=10),
)
def test_texts_in_a_plane_cover_neither_marks_nor_each_other_nor_leave_the_frame(
    labels: list[tuple[tuple[float, float], str, int]], marks: list[tuple[float, float]]
) -> None:
    taken = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in marks]
    wanted = [Wanted(text, x, y, weight) for (x, y), text, weight in labels]
    found = placed(wanted, frame=FRAME, taken=taken)
    assert len(found) == len(wanted)
    boxes = [one.box for one in found if one is not None]
    assert all(box.within(FRAME) for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        assert not one.meets(other)
    assert not any(box.meets(mark) for box in boxes for mark in taken)
    assert found == placed(wanted, frame=FRAME, taken=taken)
