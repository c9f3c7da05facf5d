"""Axes: one of all variants or one each, ticks that keep apart, names beside two curves that meet nothing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from analysis.plots.axes import Scale, Tick
from analysis.report.runs import (
    Cell,
    across,
    bounded_ratios,
    labels_of,
    placed_names,
    row_scales,
    shares,
    upright_labels,
)

ROOM, HALF = 0.25, 0.045  # of a name in a narrow picture: width, and half of its height


def cell(*values: float) -> Cell:
    return Cell(
        values=np.array(values),
        labels=("",),
        session=np.zeros(len(values), dtype=np.int64),
        block=None,
    )


def test_variants_that_are_close_share_an_axis() -> None:
    scales = row_scales({"a": cell(1, 2), "b": cell(3, 4)}, {"a": 1.4, "b": 3.5})
    assert scales["a"] == scales["b"]
    assert scales["a"].log
    assert scales["a"].low < 1
    assert scales["a"].high > 4


def test_variants_that_differ_by_more_than_four_have_axes_of_one_ratio() -> None:
    scales = row_scales({"a": cell(1, 1.1), "b": cell(8, 10)}, {"a": 1.05, "b": 9})
    a, b = scales["a"], scales["b"]
    assert a.high / a.low == pytest.approx(b.high / b.low)
    assert a.low < 1
    assert a.high > 1.1
    assert b.low < 8
    assert b.high > 10


def test_runs_of_zero_have_a_linear_axis() -> None:
    scales = row_scales({"a": cell(0, 2), "b": cell(30, 40)}, {"a": 1, "b": 35})
    assert not scales["a"].log
    assert scales["a"] == scales["b"]


def test_an_interval_far_wider_than_its_points_leaves_the_scale() -> None:
    scale = bounded_ratios([1.01, 1.02], [0.001, 1000], 0.01)
    assert 0.8 < scale.low < 0.9
    assert 1.1 < scale.high < 1.3
    assert bounded_ratios([2.0], [1.9, 2.1], 0.01).holds(2.1)
    scale = bounded_ratios([1e300, 1e-300], [math.inf, 0.0][1:], 0.01)
    assert math.isfinite(scale.low * scale.high)


def test_upright_ticks_that_stand_too_close_go_but_one_and_the_unit_stay() -> None:
    scale = Scale(0, 10)
    ticks = [Tick(v, t) for v, t in ((0, "0"), (4, "4"), (5, "5"), (9, "9"), (10, "10 ms"))]
    assert [one.text for one in upright_labels(ticks, scale, 0.2)] == ["0", "5", "10 ms"]
    ratios = [Tick(9.9, "0.99×"), Tick(10, "1×"), Tick(11, "1.1×")]
    assert [one.text for one in upright_labels(ratios, scale, 0.2)] == ["1×"]


def test_labels_have_room_for_their_letters_and_stay_inside() -> None:
    scale = Scale(0.9, 1.1, log=True)
    ticks = [Tick(0.9 + k / 100, f"{0.9 + k / 100:g}×") for k in range(21)]
    labels = labels_of(ticks, scale, 280)
    assert "1×" in [one.text for one in labels]
    boxes = []
    for one in labels:
        wide = 7 * len(one.text) / 280
        shift = {"start": 0.0, "middle": wide / 2, "end": wide}[one.anchor]
        boxes.append((one.at - shift, one.at - shift + wide))
    assert all(left >= 0 and right <= 1 for left, right in boxes)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(boxes))
    assert len(labels) >= 4


def test_places_of_many_values_are_those_of_each_and_stay_on_the_axis() -> None:
    values = np.array([0.1, 0.5, 0.7, 2.0, 9.0])
    for scale in (Scale(0.5, 2.0, log=True), Scale(0.5, 2.0)):
        assert shares(values, scale) == pytest.approx([scale.clipped(v) for v in values])


def steps(values: np.ndarray) -> tuple[tuple[float, float], ...]:
    ordered = np.sort(values).tolist()
    inner = [(x, k / len(ordered)) for k, x in enumerate(ordered, start=1)]
    return ((0.0, 0.0), *inner, (1.0, 1.0))


def test_curves_that_lie_on_each_other_have_a_name_on_either_side() -> None:
    curve = steps(np.linspace(0.45, 0.55, 50))
    left, right = placed_names(curve, curve, ("a", "b"), "faster")
    assert (left.text, left.anchor, left.up) == ("a", "end", 0.72)
    assert (right.text, right.anchor, right.up) == ("b", "start", 0.8)
    assert left.at <= across(curve, 0.72)
    assert right.at >= across(curve, 0.8)


def test_curves_that_stand_apart_have_their_names_beside_themselves() -> None:
    fast, slow = steps(np.linspace(0.05, 0.1, 50)), steps(np.linspace(0.9, 0.95, 50))
    a, b = placed_names(fast, slow, ("fast", "slow"), "faster")
    assert a.anchor == "start"
    assert 0.05 <= a.at <= 0.15
    assert b.anchor == "end"
    assert 0.85 <= b.at <= 0.95


def test_names_never_meet_each_other_nor_leave_the_picture() -> None:
    rng = np.random.default_rng(1)
    placed = 0
    for _ in range(400):
        curves = [
            steps(np.clip(rng.normal(*centre, 20), 0, 1))
            for centre in rng.uniform((0, 0.01), (1, 0.3), (2, 2))
        ]
        names = placed_names(*curves, ("candidate", "base-line"), "neither")
        placed += len(names)
        boxes = []
        for name in names:
            left = name.at if name.anchor == "start" else name.at - ROOM
            assert left >= 0
            assert left + ROOM <= 1
            boxes.append((left, name.up))
        if len(boxes) == 2:
            (x1, y1), (x2, y2) = boxes
            assert abs(x1 - x2) >= ROOM or abs(y1 - y2) >= 2 * HALF
    assert placed > 700  # of 800: few find no room


def test_a_name_that_fits_nowhere_is_left_out() -> None:
    curve = steps(np.linspace(0.1, 0.9, 50))
    assert placed_names(curve, curve, ("W" * 40, "M" * 40), "neither") == []
