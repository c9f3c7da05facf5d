from __future__ import annotations

import pytest

from harness.errors import about, clock, counted, duration, moment, size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ns"),
        (2.5e-8, "25 ns"),
        (1e-6, "1.00 µs"),
        (0.0123, "12.3 ms"),
        (0.123456, "123 ms"),
        (1.0, "1.00 s"),
        (59.94, "59.9 s"),
        (3600.0, "3600 s"),
        # Rounding must not invent a fourth digit or an overfull unit.
        (0.0099996, "10.0 ms"),
        (0.9999, "1.00 s"),
        (0.99949, "999 ms"),
        (99.96, "100 s"),
        (9.997e-7, "1.00 µs"),
    ],
)
def test_durations_have_three_digits_and_a_fitting_unit(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (59.6, "1:00"),
        (61, "1:01"),
        (3599, "59:59"),
        (3600, "1:00:00"),
        (90000, "25:00:00"),
    ],
)
def test_waiting_times_look_like_a_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "about 1 s"), (89, "about 89 s"), (90, "about 2 min"), (5400, "about 1.5 h")],
)
def test_estimates_are_in_words(seconds, text):
    assert about(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (82e9, "82 GB"),
        (81_234_567_890, "81.2 GB"),
        (3e12, "3 TB"),
        # Rounding must not overfill a unit.
        (999_499, "999 kB"),
        (999_600, "1 MB"),
        (999_700_000_000, "1 TB"),
    ],
)
def test_sizes_have_a_fitting_unit(count, text):
    assert size(count) == text


def test_nouns_follow_their_number():
    assert [counted(n, "page") for n in (0, 1, 2, 1200)] == [
        *("0 pages", "1 page", "2 pages", "1,200 pages"),
    ]


@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        ("2026-11-21T08:43:55.502375Z", "2026-11-21 08:43:55 UTC"),
        ("2026-11-21T08:43:55Z", "2026-11-21 08:43:55 UTC"),
        # of a time without a zone, or of another one, nothing is claimed
        ("2026-11-21T08:43:55", "2026-11-21T08:43:55"),
        ("2026-11-21T08:43:55+01:00", "2026-11-21T08:43:55+01:00"),
        ("junk", "junk"),
        ("", ""),
    ],
)
def test_moments_are_told_to_the_second_and_with_their_zone(stamp, text):
    assert moment(stamp) == text
