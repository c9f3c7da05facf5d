"""Ticks of speedups: 1 always, few, and none that leaves an end of the axis bare for more of them."""

from __future__ import annotations

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
