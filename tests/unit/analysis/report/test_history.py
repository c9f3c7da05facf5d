"""Histories of made-up nights."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from datetime import date
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.history.judging import judge_nights
from analysis.report import history
from analysis.report.history import (
    benchmarks_of,
    history_html,
    picture,
    places_of,
    scale_of,
    words_of,
)
from tests.unit.analysis.history.judged import made_nights as made

TESTS = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def histories() -> SimpleNamespace:
    """Give what makes histories of which it is known what happens in them."""
    return SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "histories.py")))


# --- The page of a history. Authorities: the made-up nights, `docs/report.md`, the size that a page may have


EVIL = "<script>alert(1)</script>\u202e{{7*7}}"


@pytest.fixture(scope="module")
def page(histories) -> str:
    return history_html(histories.usual())


def text_of(html: str) -> str:
    body = html.partition("<main")[2].rpartition("</main>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))  # also of spaces that hold


def test_the_sentence_is_the_heading(page, histories):
    sentence = histories.usual().sentence
    (heading,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert text_of(f"<main>{heading}</main>").strip("> ").lower() == sentence.lower()


def test_what_changed_is_said_with_its_commits_and_the_command(page, histories):
    one = histories.usual().series[0].intervals[0]
    told = text_of(page)
    assert "takes 2.0 to 3.7 % more time" in told
    assert f"{one.good[:7]}..{one.bad[:7]}" in told
    assert f"fairtrial bisect {one.good[:12]} {one.bad[:12]} --benchmark text" in told
    assert "program changed here" in told


def test_without_commits_there_is_no_command_of_a_bisection(histories):
    found = histories.series("text", steps=[(35, 0.03)])
    bare = [replace(one, good=None, bad=None) for one in found.intervals]
    without = histories.series("text", steps=[(35, 0.03)], intervals=tuple(bare))
    assert "fairtrial bisect" in history_html(histories.history(found))
    assert "fairtrial bisect" not in history_html(histories.history(without))


def test_the_host_and_the_end_of_a_series_are_told(page):
    told = text_of(page)
    assert "v1.0 itself takes 4.7 to 6.6 % less time" in told
    assert "kernel: 6.8 became 6.12" in told
    assert "another series begins: the baseline's program changed" in told


def test_hostile_names_are_escaped(histories):
    page = history_html(histories.usual(f"{EVIL} {{}}".replace("{{7*7}}", "{{{{7*7}}}}"), EVIL))
    assert page.count("<script>") == 1  # our own
    assert "\u202e" not in page
    assert "{{7*7}}" in page


def test_100_benchmarks_of_400_nights_are_3_megabytes_at_most(histories):
    ten = histories.large(10, 400)
    hundred = (
        replace(one, benchmark=f"bench-{k}{n}")
        for k in range(10)
        for n, one in enumerate(ten.series)
    )
    page = history_html(replace(ten, series=tuple(hundred)))
    assert len(page.encode()) <= 3_000_000
    assert page.count('class="plot history-plot"') == 100


def test_nothing_to_show_is_a_page_too(histories):
    page = history_html(histories.history())
    assert "<h1>" in page
    assert "history-plot" not in page.partition("<main")[2]


# ---- The page of what `judge_nights` says of nights. Authority: the nights, of which it is known what happens.


STEP = np.where(np.arange(60) < 36, 0.0, 0.05)
NEWER = {"kernel": {"release": "6.12"}}


@pytest.fixture(scope="module")
def judged_page() -> str:
    commits = [f"{k:040x}"[::-1] for k in range(60)]
    nights = made.nights_of(
        made.series(made.noise(60, 1) + STEP, commits=commits, skipped=(20, 21)),
        made.series(made.noise(60, 2), "logs", own=made.noise(60, 3, 0.002) - STEP, facts={36: NEWER}),
    )  # fmt: skip
    return history_html(judge_nights(nights, gate="slower>2%"))


def strip(page: str, number: int) -> str:
    return page.partition(f'<section id="strip-{number}"')[2].partition("</section>")[0]


def test_the_program_that_changed_is_shaded_between_its_commits(judged_page):
    told = strip(judged_page, 1)
    assert told.count('class="history-slower"') == 1
    assert "history-host" not in told
    assert "fairtrial bisect " in told
    (place,) = re.findall(r"most likely on ([\d-]+)", told)
    night = (date.fromisoformat(place) - date(2026, 9, 24)).days - 2  # two are missing
    assert abs(night - 36) <= 3


def test_the_host_that_changed_is_marked_and_no_program(judged_page):
    told = strip(judged_page, 2)
    assert "history-slower" not in told
    assert told.count('class="history-host"') == 1
    assert "v1.0 itself takes" in text_of(f"<main>{told}</main>")


# --- A strip of a history: where its nights stand, and its picture


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
