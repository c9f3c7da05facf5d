"""Ticks of speedups: 1 always, few, and none that leaves an end of the axis bare for more of them."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from analysis.plots.axes import Scale, ratio_ticks


def values(low: float, high: float, most: int = 4) -> list[float]:
    return [tick.value for tick in ratio_ticks(Scale(low, high, log=True), most)]


def test_no_end_of_the_axis_is_left_bare_for_more_ticks_near_one() -> None:
    # 1, 1.5, 2, 3 are more ticks, but tell nothing of the upper half
    assert values(0.88, 6.84)[-1] >= 4


def test_a_narrow_axis_has_its_own_round_values() -> None:
    assert values(0.93, 1.08) == [0.95, 1.0, 1.05]


def test_an_axis_of_two_percent_has_a_tick_at_each() -> None:
    assert values(0.975, 1.025, 5) == [0.98, 0.99, 1.0, 1.01, 1.02]


@given(st.floats(-3, 2.9), st.floats(0.01, 3), st.integers(2, 8))
def test_ticks_are_few_sorted_and_on_the_axis(start: float, wide: float, most: int) -> None:
    scale = Scale(math.exp(start), math.exp(start + wide), log=True)
    found = ratio_ticks(scale, most)
    assert len(found) <= most
    assert [tick.value for tick in found] == sorted(tick.value for tick in found)
    assert all(scale.holds(tick.value) for tick in found)
    assert not scale.holds(1.0) or 1.0 in [tick.value for tick in found]
