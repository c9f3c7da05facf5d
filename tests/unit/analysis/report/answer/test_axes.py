"""The scale of a column: all estimates on it, and no single interval that hides the others."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from analysis.methods.multilevel.result import Line
from analysis.report.answer.axes import axis_of


def line(speedup: float, half: float) -> Line:
    return Line(
        name="b",
        speedup=speedup,
        low=speedup / (1 + half),
        high=speedup * (1 + half),
        error=None,
        freedom=None,
        pvalue=None,
        pvalue_equivalent=None,
        outcome="undecided",
        more_sessions=None,
    )


def test_one_rough_interval_leaves_the_scale_and_the_others_stay() -> None:
    usual = [line(1.0 + k / 50, 0.02) for k in range(6)]
    rough = line(1.05, 9.0)
    scale = axis_of([*usual, rough], 0.01, timed=True).scale
    assert rough.low is not None
    assert rough.high is not None
    assert not scale.holds(rough.low)
    assert not scale.holds(rough.high)
    assert all(scale.holds(end) for one in usual for end in (one.low, one.high) if end)
    # the usual ones still take a good part of the width
    assert scale.at(1.1) - scale.at(1.0) > 0.2


def test_where_all_are_alike_none_leaves() -> None:
    same = [line(1.2, 0.3) for _ in range(4)]
    scale = axis_of(same, 0.01, timed=True).scale
    assert all(scale.holds(end) for one in same for end in (one.low, one.high) if end)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.001, 50)), min_size=1, max_size=8))
def test_all_estimates_and_one_lie_on_it(drawn: list[tuple[float, float]]) -> None:
    lines = [line(math.exp(log), half) for log, half in drawn]
    axis = axis_of(lines, 0.01, timed=True)
    assert all(axis.scale.holds(one.speedup) for one in lines if one.speedup is not None)
    assert all(axis.scale.holds(end) for end in (1.0, *axis.margin))


def test_words_stand_on_the_sides_that_the_axis_has() -> None:
    faster = axis_of([line(3.0, 0.1)], 0.01, timed=True)
    assert (faster.slower, faster.faster) == ("", "faster")
    worse = axis_of([line(0.3, 0.1)], 0.01, timed=False)
    assert (worse.slower, worse.faster) == ("worse", "")
    both = axis_of([line(1.0, 0.1)], 0.01, timed=True)
    assert (both.slower, both.faster) == ("slower", "faster")
