"""Where nights stand on the axis that all strips share. Authority: the definition of a missing night (`missing_before`)."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given, strategies as st

from analysis.report import history


def night(day: int) -> tuple[str, str]:
    return f"2026-09-{day:02}T02:00:00Z", f"app-{day}"


def places_of(nights):
    return history.places_of(SimpleNamespace(started_at=at, trial=name) for at, name in nights)


def test_each_trial_has_a_place_in_the_order_of_time():
    places = places_of([night(3), night(1), night(2), night(4)])
    assert [places.of[night(day)] for day in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert places.names == ("2026-09-01", "2026-09-02", "2026-09-03", "2026-09-04")
    assert places.missing == ()


def test_a_missing_night_leaves_its_place_empty():
    places = places_of(map(night, (1, 2, 3, 6, 7, 8)))
    assert places.missing == (3, 4)
    assert places.of[night(6)] == 5
    assert places.names[3:5] == ("", "")


def test_trials_without_a_rhythm_have_no_empty_places():  # commits of a busy day, one a week later
    busy = [(f"2026-09-01T{hour:02}:00:00Z", f"app-{hour}") for hour in range(5)]
    assert places_of([*busy, night(8)]).missing == ()


def test_so_many_missing_nights_are_not_drawn_and_are_counted():
    places = places_of([*map(night, (1, 2, 3, 4)), ("2027-09-01T02:00:00Z", "later")])
    assert len(places.missing) == 30
    assert places.cut == 361 - 30


def test_what_has_no_date_stands_behind_by_its_name():
    places = places_of([(None, "b"), (None, "a"), night(1)])
    assert places.names == ("app-1", "a", "b")


def test_nights_of_one_day_are_told_apart_by_their_time():
    places = places_of([("2026-11-27T02:00:00Z", "a"), ("2026-11-27T14:05:30Z", "b")])
    assert places.names == ("02:00", "14:05")


def test_where_times_do_not_tell_nights_apart_trials_do():
    places = places_of([("2026-11-27T14:05:30Z", "a"), ("2026-11-27T14:05:30Z", "b")])
    assert places.names == ("a", "b")


@given(st.sets(st.integers(1, 28), min_size=1))
def test_places_are_inside_and_apart(days):
    places = places_of(map(night, days))
    at = sorted(places.at(place) for place in places.of.values())
    assert at[0] > 0
    assert at[-1] < 1
    assert len(set(at)) == len(days)
    assert len(places.names) == len(days) + len(places.missing)
