from __future__ import annotations

import pytest

from analysis.announcing import about
from analysis.errors import CampaignError, Problem
from harness.commands.help_page import EXIT_CODES
from harness.errors import (
    HostError,
    LauncherDiedError,
    LaunchError,
    clock,
    counted,
    duration,
    moment,
    size,
    wrapped,
)


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
        (999_600, "1 MB"),
        (999_700_000_000, "1 TB"),
        # 999.5 is the least that three digits round to 1000
        *((999_499, "999 kB"), (999_499_000, "999 MB"), (999_499_000_000, "999 GB")),
        *((999_500, "1 MB"), (999_500_000, "1 GB"), (999_500_000_000, "1 TB")),
    ],
)
def test_sizes_have_a_fitting_unit(count, text):
    assert size(count) == text


def test_nouns_follow_their_number():
    assert [counted(n, "page") for n in (0, 1, 2, 1200)] == [
        *("0 pages", "1 page", "2 pages", "1,200 pages")
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


def test_a_text_is_set_in_lines_and_no_word_is_broken():
    assert wrapped("a well-known unbreakable word", "- ", "  ", 9) == [
        *("- a", "  well-known", "  unbreakable", "  word")
    ]


# --- mistakes of a campaign -----------------------------------------------------------------------

SHORT = Problem(what="'name' is missing", where="c.yaml:1:1")
LONG = Problem(
    what="unknown key 'x'", where="c.yaml:2:1", excerpt="  x: 1\n  ^", fix="known here: y"
)


def test_a_problem_is_its_place_its_line_and_its_remedy_as_far_as_there_are_any():
    assert str(SHORT) == "c.yaml:1:1: 'name' is missing"
    assert str(LONG).splitlines() == [
        *("c.yaml:2:1: unknown key 'x'", "  x: 1", "  ^", "  fix: known here: y")
    ]


def test_an_error_of_a_campaign_tells_every_problem_and_its_number():
    assert str(CampaignError([LONG, SHORT])).splitlines() == [
        *(*str(LONG).splitlines(), str(SHORT), "2 problems; nothing was executed.")
    ]
    assert str(CampaignError([SHORT])).endswith("\n1 problem; nothing was executed.")


def test_an_error_of_a_campaign_is_its_first_problem_to_who_shows_one():
    error = CampaignError([LONG, SHORT])
    assert (error.what, error.where, error.fix) == (LONG.what, LONG.where, LONG.fix)
    assert error.problems == (LONG, SHORT)


def test_the_errors_have_the_exit_codes_of_the_help():
    assert EXIT_CODES[CampaignError.exit_code] == "the command line or the campaign is wrong"
    assert EXIT_CODES[HostError.exit_code].startswith("this host ")
    assert EXIT_CODES[LaunchError.exit_code].startswith("a program could not be started")
    assert LauncherDiedError.exit_code == LaunchError.exit_code


def test_a_number_and_its_per_cent_stay_on_one_line():
    lines = wrapped("so it is at a spread of 5 % of all", "", "  ", 26)
    assert lines == ["so it is at a spread of", "  5 % of all"]
