"""A strip of a history: where its nights stand, and its picture."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.report import history
from analysis.report.history import benchmarks_of, picture, places_of, scale_of, words_of


def drawn(history, number: int = 0):
    """Give a benchmark of a history with the page's places, and its picture."""
    places = places_of(value for one in history.series for value in one.values)
    one = benchmarks_of(history)[number]
    return one, places, str(picture(one, history, places))


def dots(svg: str) -> list[tuple[float, float]]:
    """Give the dots as shares of the panel, from its left and its bottom."""
    d = re.search(r'class="dots history-night" d="([^"]*)"', svg)[1]
    steps = [tuple(map(int, one)) for one in re.findall(r"m(-?\d+) ?(-?\d+)h0", d)]
    return [(x / 1000, 1 - y / 1000) for x, y in np.cumsum(steps, axis=0).tolist()]


def rects(svg: str, css: str) -> list[tuple[float, float]]:
    """Give the left and right ends of bands, as shares of the width."""
    found = re.findall(rf'<rect class="{css}" x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', svg)
    return [(float(x) / 100, (float(x) + float(width)) / 100) for x, width in found]


def where(series, places) -> list[float]:
    return [places.at(places.of[value.started_at, value.trial]) for value in series.values]


@pytest.mark.parametrize("number", range(5))
def test_every_night_is_on_the_picture_at_its_value(histories, number):
    one, places, svg = drawn(histories.usual(), number)
    scale = scale_of(one)
    expected = [
        (x, scale.clipped(1 / value.speedup))
        for series in one.series
        for x, value in zip(where(series, places), series.values, strict=True)
    ]
    assert dots(svg) == [pytest.approx(each, abs=0.0011) for each in expected]


def test_more_is_upwards_of_a_rate_too(histories):
    rate = histories.series("text", better="higher", unit="MB/s")
    one, _, svg = drawn(histories.history(rate, better="higher", unit="MB/s"))
    scale = scale_of(one)
    expected = [scale.clipped(value.speedup) for value in rate.values]
    assert [y for _, y in dots(svg)] == pytest.approx(expected, abs=0.0011)


def test_an_interval_is_shaded_where_it_is(histories):
    one, places, svg = drawn(histories.usual())
    (interval,) = one.newest.intervals
    at = where(one.newest, places)
    ends = at[interval.first_value], at[interval.last_value]
    assert rects(svg, "history-slower") == [pytest.approx(ends, abs=1e-4)]
    assert interval.first_value < 35 <= interval.last_value  # where it was put
    assert not rects(svg, "history-faster")


def test_what_became_faster_is_blue_and_what_became_slower_orange(histories):
    *_, svg = drawn(histories.usual(), 2)
    (slower,), (faster,) = rects(svg, "history-slower"), rects(svg, "history-faster")
    assert slower[1] < faster[0]


def test_nothing_is_shaded_where_nothing_changed(histories):
    one, _, svg = drawn(histories.usual(), 1)
    assert not rects(svg, "history-slower") + rects(svg, "history-faster")
    assert "history-best" not in svg
    assert "no change found" in words_of(one)


def test_levels_are_those_of_the_segments(histories):
    one, _, svg = drawn(histories.usual())
    scale = scale_of(one)
    d = re.search(r'class="history-level" d="([^"]*)"', svg)[1]
    lines = [tuple(map(int, each)) for each in re.findall(r"M(\d+) (\d+)H(\d+)", d)]
    expected = [round(1000 * (1 - scale.at(1 / part.speedup))) for part in one.newest.segments]
    assert [y for _, y, _ in lines] == expected
    assert lines[0][2] <= lines[1][0] + 1


def test_a_change_of_the_host_is_marked_at_its_benchmark_alone(histories):
    history = histories.usual()
    one, places, svg = drawn(history, 1)
    at = where(one.newest, places)
    assert rects(svg, "history-host") == [pytest.approx((at[18], at[26]), abs=1e-4)]
    assert svg.count("history-record") == 1
    assert not rects(drawn(history)[2], "history-host")
    assert "history-record" not in drawn(history, 4)[2]  # its nights are later ones


def test_the_end_of_a_series_is_marked_and_says_why(histories):
    one, _, svg = drawn(histories.usual(), 3)
    assert len(one.series) == 2
    assert svg.count('class="history-end"') == 1
    assert "baseline changed" in svg
    assert "history-end" not in drawn(histories.usual())[2]


def test_missing_nights_are_open_and_the_picture_says_its_result_in_words(histories):
    one, places, svg = drawn(histories.usual())
    assert len(places.missing) == 3
    assert svg.count('class="history-missing"') == 1
    without = histories.history(histories.series("text", missing=()))
    assert "history-missing" not in drawn(without)[2]
    assert words_of(one).startswith("text: 61 nights; between 2026-10-")
    assert "% more time" in words_of(one)


def test_without_a_baseline_values_have_their_unit(histories):
    *_, svg = drawn(histories.plain())
    assert re.search(r">\d+\.?\d* s<", svg.replace("\N{NO-BREAK SPACE}", " "))


def test_one_far_night_does_not_press_the_others_together(histories):
    history = histories.usual()
    one = history.series[0]
    far = replace(one.values[5], speedup=0.2)
    changed = replace(one, values=(*one.values[:5], far, *one.values[6:]))
    usual, _, _ = drawn(history)
    found, _, svg = drawn(replace(history, series=(changed, *history.series[1:])))
    assert scale_of(found).high == pytest.approx(scale_of(usual).high, rel=0.01)
    assert max(y for _, y in dots(svg)) == 1
    assert "1 night beyond the edge" in words_of(found)


# ---- Where nights stand on the axis that all strips share. Authority: the definition of a missing night (`missing_before`).


def night(day: int) -> tuple[str, str]:
    return f"2026-09-{day:02}T02:00:00Z", f"app-{day}"


def set_of(nights):
    return history.places_of(SimpleNamespace(started_at=at, trial=name) for at, name in nights)


def test_each_trial_has_a_place_in_the_order_of_time():
    places = set_of([night(3), night(1), night(2), night(4)])
    assert [places.of[night(day)] for day in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert places.names == ("2026-09-01", "2026-09-02", "2026-09-03", "2026-09-04")
    assert places.missing == ()


def test_a_missing_night_leaves_its_place_empty():
    places = set_of(map(night, (1, 2, 3, 6, 7, 8)))
    assert places.missing == (3, 4)
    assert places.of[night(6)] == 5
    assert places.names[3:5] == ("", "")


def test_trials_without_a_rhythm_have_no_empty_places():  # commits of a busy day, one a week later
    busy = [(f"2026-09-01T{hour:02}:00:00Z", f"app-{hour}") for hour in range(5)]
    assert set_of([*busy, night(8)]).missing == ()


def test_so_many_missing_nights_are_not_drawn_and_are_counted():
    places = set_of([*map(night, (1, 2, 3, 4)), ("2027-09-01T02:00:00Z", "later")])
    assert len(places.missing) == 30
    assert places.cut == 361 - 30


def test_what_has_no_date_stands_behind_by_its_name():
    places = set_of([(None, "b"), (None, "a"), night(1)])
    assert places.names == ("app-1", "a", "b")


def test_nights_of_one_day_are_told_apart_by_their_time():
    places = set_of([("2026-11-27T02:00:00Z", "a"), ("2026-11-27T14:05:30Z", "b")])
    assert places.names == ("02:00", "14:05")


def test_where_times_do_not_tell_nights_apart_trials_do():
    places = set_of([("2026-11-27T14:05:30Z", "a"), ("2026-11-27T14:05:30Z", "b")])
    assert places.names == ("a", "b")


@given(st.sets(st.integers(1, 28), min_size=1))
def test_places_are_inside_and_apart(days):
    places = set_of(map(night, days))
    at = sorted(places.at(place) for place in places.of.values())
    assert at[0] > 0
    assert at[-1] < 1
    assert len(set(at)) == len(days)
    assert len(places.names) == len(days) + len(places.missing)
