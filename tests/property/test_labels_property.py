"""Texts beside marks: whatever is wanted, what is kept lies over nothing else."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from analysis.plots.texts import Box, Wanted, placed

names = st.text(max_size=30)
FRAME = Box(0, 0, 330, 330)


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
    room = {"size": 11.5, "measure": lambda text: 6.5 * len(text), "distances": (5.0, 9.0, 23.0)}
    found = placed(wanted, frame=FRAME, taken=taken, **room)
    assert len(found) == len(wanted)
    boxes = [one.box for one in found if one is not None]
    assert all(box.within(FRAME) for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        assert not one.meets(other)
    assert not any(box.meets(mark) for box in boxes for mark in taken)
    assert found == placed(wanted, frame=FRAME, taken=taken, **room)
