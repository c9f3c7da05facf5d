"""Time limits. Authority: sbatch(1), "Acceptable time formats"."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from analysis.errors import UsageError
from harness.fleet.submission import least_limit_s, limit_of, limit_of_seconds, seconds_of_limit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400),
        ("90:30", 5430),
        ("1:30:00", 5400),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("1-12:30:15", 131415),
        ("00:10:00", 600),
        ("UNLIMITED", math.inf),
        ("infinite", math.inf),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("1:2:3:4", None),
        ("1.5", None),
    ],
)
def test_slurms_notation(text, seconds):
    assert seconds_of_limit(text) == seconds


@given(st.floats(1, 1e7))
def test_what_is_written_reads_back_and_is_never_less(seconds):
    read = seconds_of_limit(limit_of_seconds(seconds))
    assert seconds <= read < seconds + 60.001


@pytest.mark.parametrize(
    ("wanted", "expected", "longest", "limit"),
    [
        ("5", None, None, "5"),  # who names a time gets it
        (None, 60.0, 1.0, "00:10:00"),  # never below ten minutes
        (None, 3600.0, 1.0, "02:00:00"),  # twice the plan
        (None, 60.0, 600.0, "00:36:00"),  # three times (120 s + the longest run)
    ],
)
def test_the_limit_of_a_job(wanted, expected, longest, limit):
    assert limit_of(wanted, expected, longest) == limit


def test_an_unknown_estimate_asks_for_a_time():
    with pytest.raises(UsageError, match="unknown") as caught:
        limit_of(None, None, 5.0)
    assert caught.value.where == "--time"
    assert least_limit_s(None) == 600


@pytest.mark.parametrize("wanted", ["soon", "0", "0:00"])
def test_what_is_no_time_is_refused(wanted):
    with pytest.raises(UsageError, match="notation"):
        limit_of(wanted, 60.0, 1.0)
