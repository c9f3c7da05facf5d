"""The picture of a benchmark. Authorities: the made-up nights (every value and each change is on it, in its
place), `docs/report.md` (what is blue, orange, grey)."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.plots.axes import Scale
from analysis.report.history import benchmarks_of, places_of, strip_of
from analysis.report.history_strip import (
    HEIGHT,
    Level,
    Part,
    Strip,
    beyond,
    picture,
    scale_of,
    ticks_of,
)


def drawn(history, number: int = 0) -> tuple[Strip, str]:
    places = places_of(
        (value.started_at, value.trial) for one in history.series for value in one.values
    )
    strip = strip_of(benchmarks_of(history)[number], history, places)
    return strip, str(picture(strip))


def dots(svg: str) -> list[tuple[float, float]]:
    """Give the dots as shares of the panel, from its left and its bottom."""
    d = re.search(r'class="dots history-night" d="([^"]*)"', svg)[1]
    steps = [tuple(map(int, one)) for one in re.findall(r"m(-?\d+) ?(-?\d+)h0", d)]
    return [(x / 1000, 1 - y / 1000) for x, y in np.cumsum(steps, axis=0).tolist()]


def rects(svg: str, css: str) -> list[tuple[float, float]]:
    """Give the left and right ends of bands, as shares of the width."""
    found = re.findall(rf'<rect class="{css}" x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', svg)
    return [(float(x) / 100, (float(x) + float(width)) / 100) for x, width in found]


@pytest.mark.parametrize("number", range(5))
def test_every_night_is_on_the_picture_at_its_value(histories, number):
    history = histories.usual()
    strip, svg = drawn(history, number)
    values = [(place, value) for part in strip.parts for place, value in part.values]
    scale = scale_of(strip)
    assert len(values) == sum(
        len(one.values)
        for one in history.series
        if one.benchmark == benchmarks_of(history)[number].name
    )
    expected = [(strip.places.at(place), scale.at(value)) for place, value in values]
    inside = [one for one in expected if 0 <= one[1] <= 1]
    assert dots(svg) == [pytest.approx(one, abs=0.0011) for one in inside]
    assert svg.count("history-beyond") == len(expected) - len(inside) == beyond(strip)


def test_a_night_has_the_ratio_of_its_speedup(histories):
    history = histories.usual()
    (part,) = drawn(history)[0].parts
    values = history.series[0].values
    assert [value for _, value in part.values] == pytest.approx([1 / one.speedup for one in values])


def test_more_is_upwards_of_a_rate_too(histories):
    rate = histories.series("text", better="higher", unit="MB/s")
    (part,) = drawn(histories.history(rate, better="higher", unit="MB/s"))[0].parts
    assert [value for _, value in part.values] == pytest.approx([v.speedup for v in rate.values])


def test_an_interval_is_shaded_where_it_is(histories):
    history = histories.usual()
    strip, svg = drawn(history)
    (interval,) = history.series[0].intervals
    places = [place for place, _ in strip.parts[0].values]
    ends = (strip.places.at(places[k]) for k in (interval.first_value, interval.last_value))
    assert rects(svg, "history-slower") == [pytest.approx(tuple(ends), abs=1e-4)]
    assert interval.first_value < 35 <= interval.last_value  # where it was put
    assert not rects(svg, "history-faster")


def test_what_became_faster_is_blue_and_what_became_slower_orange(histories):
    _, svg = drawn(histories.usual(), 2)
    (slower,), (faster,) = rects(svg, "history-slower"), rects(svg, "history-faster")
    assert slower[1] < faster[0]


def test_nothing_is_shaded_where_nothing_changed(histories):
    _, svg = drawn(histories.usual(), 1)
    assert not rects(svg, "history-slower") + rects(svg, "history-faster")
    assert "history-best" not in svg


def test_levels_are_those_of_the_segments(histories):
    history = histories.usual()
    strip, svg = drawn(history)
    scale = scale_of(strip)
    d = re.search(r'class="history-level" d="([^"]*)"', svg)[1]
    lines = [tuple(map(int, one)) for one in re.findall(r"M(\d+) (\d+)H(\d+)", d)]
    expected = [round(1000 * (1 - scale.at(1 / one.speedup))) for one in history.series[0].segments]
    assert [y for _, y, _ in lines] == expected
    assert lines[0][2] <= lines[1][0] + 1


def test_a_change_of_the_host_is_marked_at_its_benchmark_alone(histories):
    history = histories.usual()
    strip, svg = drawn(history, 1)
    places = [place for place, _ in strip.parts[0].values]
    ends = (strip.places.at(places[18]), strip.places.at(places[26]))
    assert rects(svg, "history-host") == [pytest.approx(ends, abs=1e-4)]
    assert svg.count("history-record") == 1
    assert not rects(drawn(history)[1], "history-host")
    assert "history-record" not in drawn(history, 4)[1]  # its nights are later ones


def test_the_end_of_a_series_is_marked_and_says_why(histories):
    strip, svg = drawn(histories.usual(), 3)
    assert len(strip.parts) == 2
    assert svg.count('class="history-end"') == 1
    assert "baseline changed" in svg
    assert "history-end" not in drawn(histories.usual())[1]


def test_missing_nights_are_open_and_the_picture_says_its_result_in_words(histories):
    strip, svg = drawn(histories.usual())
    assert len(strip.places.missing) == 3
    assert svg.count('class="history-missing"') == 1
    without = histories.history(histories.series("text", missing=()))
    assert "history-missing" not in drawn(without)[1]
    assert f'aria-label="{strip.alt}"' in svg
    assert strip.alt.startswith("text: 61 nights; between 2026-10-")
    assert "% more time" in strip.alt
    assert "no change found" in drawn(histories.usual(), 1)[0].alt


def test_without_a_baseline_values_have_their_unit(histories):
    strip, svg = drawn(histories.plain())
    assert strip.unit == "s"
    assert re.search(r">\d+\.?\d* s<", svg.replace("\N{NO-BREAK SPACE}", " "))
    assert [value for _, value in strip.parts[0].values] == pytest.approx(
        [one.metric_value for one in histories.plain().series[0].values]
    )


def test_one_far_night_does_not_press_the_others_together():
    places = places_of((f"2026-09-{day:02}", f"a{day}") for day in range(1, 29))
    values = [(k, 1 + 0.001 * (k % 5)) for k in range(27)] + [(27, 3.0)]
    strip = Strip([Part(values, [Level(0, 27, 1.002)], [], [], "")], places, (), "", "x")
    scale = scale_of(strip)
    assert scale.high < 1.1
    assert beyond(strip) == 1
    assert str(picture(strip)).count("history-beyond") == 1
    near = Strip([Part(values[:27], [Level(0, 26, 1.002)], [], [], "")], places, (), "", "x")
    assert beyond(near) == 0


@settings(deadline=None)
@given(
    st.lists(st.floats(-6, 6), min_size=1, max_size=40),
    st.sampled_from(["", "s", "1", "B"]),
)
def test_every_night_has_its_dot_or_its_stroke_and_ticks_have_room(logs, unit):
    places = places_of((f"2026-{1 + k // 28:02}-{1 + k % 28:02}", "a") for k in range(len(logs)))
    values = [(k, float(np.exp(log))) for k, log in enumerate(logs)]
    strip = Strip([Part(values, [], [], [], "")], places, (), unit, "x")
    svg = str(picture(strip))
    inside = len(logs) - beyond(strip)
    assert (len(dots(svg)) if inside else 0) == inside
    ticks = ticks_of(scale_of(strip), unit)
    assert all((b[0] - a[0]) * HEIGHT >= 19.9 for a, b in pairwise(ticks))
    assert all(0 < at < 1 for at, _ in ticks)


def test_ticks_are_round_per_cents_of_the_baseline():
    assert [text for _, text in ticks_of(Scale(0.94, 1.03, log=True), "")] == [
        "\N{MINUS SIGN}5\N{NO-BREAK SPACE}%",
        "same",
    ]
    assert "2×" in [text for _, text in ticks_of(Scale(0.9, 8, log=True), "")]


def test_of_no_night_there_is_a_picture():
    empty = Strip([Part([], [], [], [], "")], places_of([]), (), "", "nothing")
    assert "history-night" not in str(picture(empty))
