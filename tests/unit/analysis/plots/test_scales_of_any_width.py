"""Scales of any width have ticks that lie on them: found by a trial whose interval spans 1e30."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, strategies as st

from analysis.plots.axes import (
    Scale,
    quantity_scale,
    quantity_ticks,
    ratio_scale,
    ratio_ticks,
)

ENDS = st.floats(-280, 280)


@example(0.5, 5.0, 2)
@given(ENDS, st.floats(1e-6, 250), st.integers(2, 8))
def test_ticks_of_a_log_scale_lie_on_it_and_are_few(low: float, wide: float, most: int) -> None:
    scale = Scale(10**low, 10 ** min(300.0, low + wide), log=True)
    ticks = quantity_ticks(scale, "1", most)
    assert len(ticks) <= most
    for tick in ticks:
        assert -1e-6 <= scale.at(tick.value) <= 1 + 1e-6
    if wide >= 2 * most:  # many powers of ten: some of them are shown
        assert len(ticks) >= 2


@example([280.0, -191.0])
@example([280.0, -187.0])
@given(st.lists(ENDS, min_size=1, max_size=5))
def test_ticks_of_speedups_lie_on_the_scale(logs: list[float]) -> None:
    scale = ratio_scale([10**x for x in logs], 0.01)
    ticks = ratio_ticks(scale)
    assert all(0 <= scale.at(tick.value) <= 1 for tick in ticks)
    assert all(math.isfinite(tick.value) for tick in ticks)


@given(st.lists(st.floats(0.5, 2), max_size=3), st.floats(0.01, 0.5))
def test_a_scale_of_speedups_holds_one_and_both_ends_of_the_margin(
    values: list[float], margin: float
) -> None:
    scale = ratio_scale(values, margin, room=0.0)
    assert scale.low == pytest.approx(min([1 / (1 + margin), *values]))
    assert scale.high == pytest.approx(max([1 + margin, *values]))


@pytest.mark.parametrize("value", [5e-324, 1e-305, 1e305])
def test_values_at_the_ends_of_all_numbers_have_a_scale(value: float) -> None:
    scale = quantity_scale([value])
    assert 0 < scale.low < scale.high < math.inf
    assert math.isfinite(scale.at(value))


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
