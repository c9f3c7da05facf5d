"""Texts beside marks: whatever is wanted, what is kept lies over nothing else."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from analysis.plots.labels import Box, Wanted, kept_in_row, placed, spread_out, text_width

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


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(0.5, 30)), min_size=1, max_size=12),
    st.floats(-100, 0),
    st.floats(0, 800),
)
def test_a_column_is_spread_without_overlap_in_its_order_and_within_its_ends_if_it_fits(
    labels: list[tuple[float, float]], low: float, length: float
) -> None:
    centres, sizes = zip(*labels, strict=True)
    found = spread_out(centres, sizes, low, low + length)
    order = np.lexsort((np.arange(len(centres)), centres))
    for a, b in itertools.pairwise(order):
        assert found[b] - found[a] >= (sizes[a] + sizes[b]) / 2 - 1e-6
    if sum(sizes) <= length:
        assert min(f - s / 2 for f, s in zip(found, sizes, strict=True)) >= low - 1e-6
        assert max(f + s / 2 for f, s in zip(found, sizes, strict=True)) <= low + length + 1e-6


@settings(deadline=None)
@given(st.lists(st.floats(-50, 50), min_size=2, max_size=4))
def test_spreading_moves_as_little_as_a_quadratic_program(centres: list[float]) -> None:
    """Authority: the same least squares with inequality constraints, by scipy's SLSQP."""
    order = np.argsort(np.array(centres), kind="stable")
    wanted = np.array(centres)[order]
    gaps = {"type": "ineq", "fun": lambda x: np.diff(x) - 12.0}
    best = minimize(
        lambda x: float(((x - wanted) ** 2).sum()),
        wanted.mean() + 12.0 * (np.arange(wanted.size) - (wanted.size - 1) / 2),
        constraints=[gaps],
        options={"maxiter": 300},
    )
    found = np.array(spread_out(centres, [12.0] * len(centres)))[order]
    assert float(((found - wanted) ** 2).sum()) <= best.fun + 1e-3
