"""Axes of drawn pictures: our scales and ticks, in sensible units, and no two texts that touch."""

from __future__ import annotations

import itertools
import math
from functools import partial

import pytest
from hypothesis import given, settings, strategies as st

from analysis.plots.axes import (
    Axes,
    Letters,
    Outline,
    Scale,
    Sheet,
    density_axis,
    quantity_axis,
    quantity_ticks,
    ratio_axis,
    ratio_scale,
    ratio_ticks,
    rows_down,
    style_of_roles,
)
from analysis.plots.chart import arranged
from analysis.plots.marks import (
    PRINT,
    Box,
    Dots,
    Line,
    Rect,
    Wanted,
    broken,
    em,
    placed,
    style_of,
    wide,
)
from tests.examples import examples

SHEET = Sheet(width=85, font_size=8)


def texts(axes, side):
    return [tick.text for tick in getattr(axes, f"{side}_ticks")]


def shown(axes, sheet=SHEET):
    return [text for text, _ in arranged(sheet, [[axes]], 50.0).texts()]


def test_times_are_in_milliseconds_with_the_unit_once():
    axes = Axes()
    quantity_axis(axes, "x", Scale(0.002, 0.0085), "s")
    assert texts(axes, "x") == ["2", "4", "6", "8 ms"]
    assert shown(axes) == ["2", "4", "6", "8 ms"]


def test_a_narrow_axis_has_ticks_that_differ():
    for low, high in ((1.0, 1.0 + 1e-9), (0.9999, 1.0001), (1e-9, 1.1e-9), (1e300, 1.01e300)):
        found = [tick.text for tick in quantity_ticks(Scale(low, high), "1")]
        assert len(set(found)) == len(found) >= 2


def test_a_value_that_rounds_to_the_next_unit_has_it():
    # as everywhere: 999.9 ms is written 1.00 s
    assert quantity_ticks(Scale(0.9999, 1.0001, log=True), "s")[-1].text.endswith(" s")


@given(st.floats(-6, 6), st.floats(0.001, 4), st.floats(0.001, 4), st.sampled_from([1, 2, 3, 4, 5]))
def test_ticks_of_speedups_hold_one_and_never_more_than_asked(middle, below, above, most):
    scale = Scale(math.exp(middle - below), math.exp(middle + above), log=True)
    found = ratio_ticks(scale, most)
    values = [tick.value for tick in found]
    assert values == sorted(set(values))
    assert all(scale.holds(value) for value in values)
    assert len(values) <= most
    assert (1.0 in values) == scale.holds(1.0)


@pytest.mark.parametrize(
    ("ends", "wanted"),
    [
        ((0.2, 6.0), ["0.2×", "1×", "5×"]),
        ((1.0, 6.0), ["1×", "2×", "5×"]),
        ((0.9, 1.1), ["0.9×", "1×", "1.1×"]),
        ((0.7, 1.3), ["0.8×", "1×", "1.2×"]),
        ((1.0, 2000.0), ["1×", "10×", "100×", "1000×"]),
    ],
)
def test_ticks_of_speedups_reach_over_the_axis(ends, wanted):
    assert [tick.text for tick in ratio_ticks(ratio_scale(ends))] == wanted


def test_the_line_of_no_difference_and_the_margin():
    axes = Axes()
    axes.margin(0.02)
    ratio_axis(axes, "x", ratio_scale([0.9, 1.2]))
    assert "1×" in texts(axes, "x")
    assert any(isinstance(one, Line) and (one.x1, one.x2) == (1.0, 1.0) for one in axes.marks)
    (band,) = (one for one in axes.marks if isinstance(one, Rect))
    assert (band.x1, band.x2) == pytest.approx((1 / 1.02, 1.02))


def test_a_density_is_counted_per_unit_of_its_axis():
    # a uniform law from 2 to 4 ms has half of its runs in each ms: 0.5 per ms, 500 per s
    axes = Axes()
    density_axis(axes, Scale(0.002, 0.004), "s", 500.0)
    assert axes.y_label == "share of runs per ms"
    places = [tick.value for tick in axes.y_ticks]
    assert [float(text) for text in texts(axes, "y")] == pytest.approx([p / 1000 for p in places])
    assert len(places) >= 3


def test_an_end_beyond_the_axis_is_an_open_arrow():
    axes = rows_down(["a"])
    ratio_axis(axes, "x", Scale(0.8, 1.25, log=True))
    axes.interval(0, 1.0, (0.5, 1.1), "neither", hollow=True)
    line, arrow, dot = axes.marks[1:]
    assert (line.x1, line.x2) == (0.8, 1.1)
    assert isinstance(arrow, Dots)
    assert (arrow.shape, arrow.points.tolist()) == ("left", [[0.8, 0.0]])
    assert dot.points.tolist() == [[1.0, 0.0]]
    assert style_of_roles(dot.css).hollow
    assert style_of_roles(dot.css).colour == PRINT.ink


def test_colours_of_words():
    assert style_of_roles(style_of("faster")).colour == PRINT.faster
    assert style_of_roles(style_of("undecided")).colour == PRINT.ink
    assert style_of_roles(style_of(None)).colour == PRINT.baseline


def test_a_role_that_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="nonsense"):
        style_of_roles("faster nonsense")


@settings(max_examples=examples(25), deadline=None)
@given(st.floats(40, 80), st.floats(0.01, 3.0), st.sampled_from([5.0, 8.0, 14.0]))
def test_ticks_that_are_left_do_not_touch(width, spread, size):
    axes = Axes()
    ratio_axis(axes, "x", ratio_scale([math.exp(-spread), math.exp(spread)]), most=6)
    quantity_axis(axes, "y", Scale(1.0, 1.0 + spread, log=True), "s", most=9)
    picture = arranged(Sheet(width=width, font_size=size), [[axes]], 50.0)
    for anchor in ("middle", "end"):  # of the texts below, and of those at the left
        boxes = [
            item.box("DejaVu Sans")
            for item in picture.items
            if isinstance(item, Letters) and item.anchor == anchor
        ]
        assert boxes
        assert not any(a.meets(b) for a, b in itertools.combinations(boxes, 2))
    assert "1×" in [text for text, _ in picture.texts()]


def test_what_fits_is_not_thinned():
    axes = Axes()
    quantity_axis(axes, "x", Scale(0.0, 1.0), "1")
    assert shown(axes) == texts(axes, "x")


@pytest.mark.parametrize("log", [False, True])
def test_marks_stand_where_their_values_are(log):
    axes = Axes(x=Scale(1.0, 100.0, log=log), y=Scale(0.0, 4.0), sides="")
    axes.line(1.0, 0.0, 100.0, 4.0, "ink")
    axes.line(10.0, 1.0, 10.0, 3.0, "ink")
    picture = arranged(SHEET, [[axes]], 50.0)
    whole, inner = (one.parts[0] for one in picture.items if isinstance(one, Outline))
    (left, bottom), (right, top) = whole.tolist()
    share = 0.5 if log else 9 / 99
    assert inner[:, 0] == pytest.approx(left + share * (right - left))
    assert inner[:, 1] == pytest.approx([bottom + q * (top - bottom) for q in (0.25, 0.75)])
    assert 0 <= left < right <= picture.width
    assert 0 <= top < bottom <= picture.height  # y grows downwards


def test_segments_and_steps_stand_where_their_values_are():
    axes = Axes(x=Scale(0.0, 4.0), y=Scale(0.0, 4.0), sides="")
    axes.line(0.0, 0.0, 4.0, 4.0, "ink")
    axes.segments([0.0, 1.0], [1.0, 2.0], [2.0, 3.0], 4.0, "ink")
    axes.curve([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], "ink", steps=True)
    picture = arranged(SHEET, [[axes]], 50.0)
    whole, segments, steps = (one.parts for one in picture.items if isinstance(one, Outline))
    start, end = whole[0]

    def values(part):
        return ((part - start) / (end - start) * 4).round(9).tolist()

    assert [values(part) for part in segments] == [[[0, 1], [2, 4]], [[1, 2], [3, 4]]]
    # first aside at the old height, then to the new one
    assert [values(part) for part in steps] == [[[1, 1], [2, 1], [2, 3], [3, 3], [3, 2]]]


@pytest.mark.parametrize("bold", [False, True])
def test_texts_are_as_wide_as_the_font_says(bold):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=["DejaVu Sans"], size=9, weight="bold" if bold else "normal")
    for text in ("speedup of new over old", "1.204× [1.200, 1.208]", "Wäre µs: 100 % @#{}"):
        told, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
        assert wide(text, 9, bold=bold) == pytest.approx(told, rel=0.04)


def test_lines_are_broken_where_they_fit():
    lines = broken("one two three four five six\nseven", 60, 9)
    assert " ".join(lines) == "one two three four five six seven"
    assert lines[-1] == "seven"
    assert all(wide(line, 9) <= 60 for line in lines)


# --- Texts beside marks: where they stand, and how wide unknown signs are.


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
