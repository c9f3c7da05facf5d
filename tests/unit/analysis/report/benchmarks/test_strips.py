"""A strip holds all runs in their order; of many, medians of neighbours in one session."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.report.benchmarks.cells import Cell
from analysis.report.benchmarks.frame import frame_of
from analysis.report.benchmarks.strips import strips_of


def strip(values, sessions: int):
    values = np.asarray(values, dtype=float)
    cell = Cell(
        values=values,
        labels=tuple(map(str, range(1, sessions + 1))),
        session=np.repeat(np.arange(sessions), values.size // sessions),
        block=None,
    )
    return strips_of({"a": cell}, frame_of({"a": cell}, {}), {"a": "neither"}, "s")[0]


def test_each_run_is_a_dot_from_left_to_right() -> None:
    found = strip([1, 2, 4, 8, 16, 32], 2)
    assert found.each == 1
    xs, ups = np.array(found.dots).T
    assert (np.diff(xs) > 0).all()
    assert np.diff(ups) == pytest.approx(np.diff(ups)[0])  # a log axis: each doubling is as high
    assert found.alt == "a: 6 runs in their order, from 1.00 s to 32.0 s"


def test_many_runs_are_medians_that_never_mix_sessions() -> None:
    values = np.repeat([1.0, 9.0], 65)
    values[:3] = (1, 1, 5)  # one far run vanishes in the median of its neighbours
    found = strip(values, 2)
    assert found.each == 3
    ups = [up for _, up in found.dots]
    assert len(set(np.round(ups, 6))) == 2


def test_equal_runs_stand_in_the_middle() -> None:
    assert {round(up, 6) for _, up in strip([3, 3, 3], 1).dots} == {0.5}
