"""Axes of drawn pictures: our scales and ticks, in sensible units, and no two texts that touch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matplotlib.figure import Figure

from analysis.plots.drawing import Sheet, look
from analysis.plots.palette import PRINT
from analysis.plots.paper import (
    density_axis,
    interval_row,
    margin_band,
    quantity_axis,
    ratio_axis,
    thin_ticks,
    tone,
)
from analysis.plots.scale import Scale, quantity_ticks, ratio_scale, ratio_ticks


@pytest.fixture
def axes():
    with look():
        yield Figure(figsize=(3, 2), layout="constrained").subplots()


def texts(axis):
    return [text.get_text() for text in axis.get_ticklabels() if text.get_text()]


def test_times_are_in_milliseconds_with_the_unit_once(axes):
    quantity_axis(axes, "x", Scale(0.002, 0.0085), "s")
    assert texts(axes.xaxis) == ["2", "4", "6", "8 ms"]
    assert axes.get_xlim() == (0.002, 0.0085)


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


def test_the_line_of_no_difference_and_the_margin(axes):
    ratio_axis(axes, "x", ratio_scale([0.9, 1.2]))
    margin_band(axes, 0.02)
    assert "1×" in texts(axes.xaxis)
    assert any(list(line.get_xdata()) == [1.0, 1.0] for line in axes.lines)
    (band,) = axes.patches
    x = band.get_x(), band.get_x() + band.get_width()
    assert x == pytest.approx((1 / 1.02, 1.02))


def test_a_density_is_counted_per_unit_of_its_axis(axes):
    # a uniform law from 2 to 4 ms has half of its runs in each ms: 0.5 per ms, 500 per s
    density_axis(axes, Scale(0.002, 0.004), "s", 500.0)
    assert axes.get_ylabel() == "share of runs per ms"
    places = axes.yaxis.get_major_locator().tick_values(0, 1)
    labels = axes.yaxis.get_major_formatter()
    assert [float(labels(place)) for place in places] == pytest.approx([p / 1000 for p in places])
    assert len(places) >= 3


def test_an_end_beyond_the_axis_is_an_open_arrow(axes):
    ratio_axis(axes, "x", Scale(0.8, 1.25, log=True))
    interval_row(axes, 0, 1.0, (0.5, 1.1), "neither", hollow=True)
    line, arrow, dot = axes.lines[1:]
    assert list(line.get_xdata()) == [0.8, 1.1]
    assert arrow.get_marker() == "<"
    assert list(arrow.get_xdata()) == [0.8]
    assert dot.get_markerfacecolor() == "white"
    assert dot.get_color() == PRINT.ink


def test_colours_of_words():
    assert tone("faster") == PRINT.faster
    assert tone("neither") == PRINT.ink
    assert tone("baseline") == PRINT.baseline


@settings(max_examples=25, deadline=None)
@given(st.floats(0.6, 3.0), st.floats(0.01, 3.0), st.sampled_from([5.0, 8.0, 14.0]))
def test_ticks_that_are_left_do_not_touch(inches, spread, size):
    with look(Sheet(font_size=size)):
        figure = Figure(figsize=(inches, 2))
        above, below = figure.subplots(2, 1, sharex=True)
        ratio_axis(above, "x", ratio_scale([math.exp(-spread), math.exp(spread)]), most=6)
        quantity_axis(below, "y", Scale(1.0, 1.0 + spread, log=True), "s", most=9)
        thin_ticks(figure)
        figure.draw_without_rendering()
    for axis, k in ((below.xaxis, 0), (below.yaxis, 1)):
        boxes = sorted(
            (label.get_window_extent().extents[[k, k + 2]] for label in axis.get_ticklabels()),
            key=lambda ends: ends[0],
        )
        assert boxes
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(boxes))
    assert "1×" in texts(below.xaxis)


def test_what_fits_is_not_thinned(axes):
    quantity_axis(axes, "x", Scale(0.0, 1.0), "1")
    before = texts(axes.xaxis)
    thin_ticks(axes.figure)
    assert texts(axes.xaxis) == before
    assert np.isfinite(axes.get_xlim()).all()
