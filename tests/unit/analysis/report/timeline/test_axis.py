"""Axes of the picture of all runs; the report's design says what is on them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.report.timeline import change_marks, panel_places, time_marks
from analysis.report.timeline_runs import apart, change, change_scale, duration

HEIGHT = 190.0
lengths = st.lists(st.floats(1e-3, 1e5), min_size=1, max_size=60).map(np.array)


def test_the_scale_holds_nearly_all_runs_and_the_median():
    logs = np.concatenate((np.linspace(-0.2, 0.4, 1000), [3.0]))
    scale = change_scale(logs)
    inside = (logs >= math.log(scale.low)) & (logs <= math.log(scale.high))
    assert 0.98 <= inside.mean() < 1
    assert scale.low < 1 < scale.high
    assert scale.high < 2  # one far run does not press the others together


def test_runs_that_do_not_vary_have_a_scale():
    scale = change_scale(np.zeros(5))
    assert scale.low < 1 < scale.high
    assert change_scale(np.array([])).holds(1.0)


@settings(deadline=None)
@given(st.lists(st.floats(-8, 8), min_size=1, max_size=30))
def test_ticks_have_room_and_the_median_is_there(logs):
    marks = change_marks(change_scale(np.array(logs)), HEIGHT)
    assert [text for _, text in marks].count("median") == 1
    places = [at for at, _ in marks]
    assert all(b - a >= 14 / HEIGHT for a, b in itertools.pairwise(places))
    assert all(0 <= at <= 1 for at in places)


def test_changes_in_words():
    assert change(1.25) == "+25\u00a0%"
    assert change(0.8) == "−20\u00a0%"
    assert change(1.0) == "median"
    assert change(10.0) == "+900\u00a0%"
    assert apart(1.0159) == "1.6\u00a0%"
    assert apart(1.753) == "75\u00a0%"


@settings(deadline=None)
@given(lengths)
def test_panels_stand_beside_each_other_and_none_vanishes(seconds):
    places = panel_places(seconds)
    count = len(places)
    assert all(width >= 0.2 / count for _, width in places)
    ends = [(left, left + width) for left, width in places]
    assert ends[0][0] == 0
    assert ends[-1][1] == pytest.approx(1.0)
    assert all(b <= c + 1e-9 for (_, b), (c, _) in itertools.pairwise(ends))


def test_panels_go_by_duration():
    (_, first), (_, second) = panel_places(np.array([10.0, 30.0]))
    assert second / first == pytest.approx(3)
    (_, first), (_, second) = panel_places(np.array([1e-6, 30.0]))
    assert first == pytest.approx(0.25 * (first + second) / 2)


@settings(deadline=None)
@given(lengths)
def test_ticks_of_time_rise_and_the_last_bears_the_unit(seconds):
    marks = time_marks(seconds, panel_places(seconds))
    assert 1 <= len(marks) <= 5
    places = [at for at, _ in marks]
    assert places == sorted(places)
    assert places[0] == 0
    assert all(0 <= at <= 1.0001 for at in places)
    assert marks[-1][1].partition("\u00a0")[2] in {"ms", "s", "min", "h", "d"}


def test_ticks_are_round_on_a_clock():
    equal = np.array([36.0, 36.0])
    assert [text for _, text in time_marks(equal, panel_places(equal))] == [
        "0",
        "15",
        "30",
        "45",
        "60\u00a0s",
    ]


def test_durations_in_words():
    found = [duration(seconds) for seconds in (0.16, 72.3, 200.0, 8000.0, 400_000.0)]
    assert found == ["0.16\u00a0s", "72\u00a0s", "3.3\u00a0min", "2.2\u00a0h", "4.6\u00a0days"]
