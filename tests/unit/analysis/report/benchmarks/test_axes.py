"""Axes of a part: one of all variants or one each, and ticks that keep apart."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from analysis.plots.scale import Scale, Tick
from analysis.report.benchmarks.axes import bounded_ratios, labels_of, row_scales, upright_labels
from analysis.report.benchmarks.cells import Cell


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


def test_speedups_beyond_numbers_have_a_scale() -> None:
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
