"""Ticks with room beside each other. Authority: the design (1x always; texts do not overlap)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from analysis.plots.axes import Scale, ratio_ticks, spaced_ticks

RANGES = [
    (0.9, 4.0),
    (0.995, 1.046),
    (0.5, 1.05),
    (2.5, 2.64),
    (0.999, 1.001),
    (1e-3, 1e3),
    (0.2, 90.0),
    (0.97, 1.03),
]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("room", [0.12, 0.2, 0.3])
def test_texts_have_room(low, high, room):
    scale = Scale(low, high, log=True)
    places = [scale.at(tick.value) for tick in spaced_ticks(scale, room)]
    assert places
    assert all(b - a >= room for a, b in pairwise(places))
    assert all(0 <= place <= 1 for place in places)


@pytest.mark.parametrize(
    ("low", "high"), [pair for pair in RANGES if pair[0] < 0.97 and pair[1] > 1.04]
)
def test_one_is_always_there(low, high):
    ticks = spaced_ticks(Scale(low, high, log=True), 0.2)
    (one,) = [tick for tick in ticks if tick.value == 1]
    assert not one.minor
    assert one.text == "1×"


def test_where_the_usual_ticks_reach_over_little_round_values_do():
    scale = Scale(2.5, 2.64, log=True)
    assert len(ratio_ticks(scale)) < 2  # the negative control
    assert len(spaced_ticks(scale, 0.15)) >= 2


def test_what_is_near_another_is_minor():
    ticks = spaced_ticks(Scale(0.9, 4.0, log=True), 0.15)
    main = [tick.value for tick in ticks if not tick.minor]
    scale = Scale(0.9, 4.0, log=True)
    assert all(scale.at(b) - scale.at(a) >= 1.7 * 0.15 for a, b in pairwise(main))


@pytest.mark.parametrize(
    ("ends", "most", "wanted"),
    [
        ((0.93, 1.08), 4, [0.95, 1.0, 1.05]),
        ((0.975, 1.025), 5, [0.98, 0.99, 1.0, 1.01, 1.02]),
    ],
)
def test_narrow_axes_have_round_values_of_their_own_and_no_end_is_left_bare(ends, most, wanted):
    found = ratio_ticks(Scale(*ends, log=True), most)
    assert [tick.value for tick in found] == wanted
    # 1, 1.5, 2, 3 are more ticks, but tell nothing of the upper half
    assert ratio_ticks(Scale(0.88, 6.84, log=True))[-1].value >= 4
