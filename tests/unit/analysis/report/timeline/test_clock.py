"""Times of runs within their sessions; docs/trial-format.md says what `start_ns` tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.report.timeline import clock_of


@pytest.fixture
def timed(tmp_path, synthetic):
    """Write a trial of one benchmark and variant: start and duration of each run, in seconds."""

    def write(*sessions, segments=None):
        count = sum(map(len, sessions))
        made = synthetic({"a": {"x": [1.0] * count}}, sessions=len(sessions))
        every = [run for session in sessions for run in session]
        segments = segments or [0] * count
        made.rows = [
            replace(
                row,
                start_ns=None if start is None else round(start * 1e9),
                wall_ns=round(wall * 1e9),
                segment=segment,
            )
            for row, (start, wall), segment in zip(made.rows, every, segments, strict=True)
        ]
        return read_trial(made.write(tmp_path / "trial"))

    return write


def test_each_session_begins_at_0(timed):
    clock = clock_of(timed([(10, 1), (12, 3)], [(100, 1), (101, 2)]))
    assert clock is not None
    assert clock.seconds.tolist() == [0, 2, 0, 1]
    assert clock.lengths.tolist() == [5, 3]


def test_a_resumed_session_goes_on_where_it_was_broken_off(timed):
    clock = clock_of(timed([(10, 1), (12, 3), (5000, 1)], segments=[0, 0, 1]))
    assert clock is not None
    assert clock.seconds.tolist() == [0, 2, 5]
    assert clock.lengths.tolist() == [6]


def test_where_a_clock_goes_back_or_is_unknown_a_run_begins_when_the_one_before_ended(timed):
    clock = clock_of(timed([(10, 1), (None, 2), (3, 1), (4, 1)], [(1, 1)] * 4))
    assert clock is not None
    assert clock.seconds[:4].tolist() == [0, 1, 3, 4]


def test_without_any_start_there_is_no_clock(timed):
    assert clock_of(timed([(None, 1), (None, 1)])) is None


def test_lengths_are_positive_whatever_is_known(timed):
    clock = clock_of(timed([(10, 0), (10, 0)]))
    assert clock is not None
    assert np.isfinite(clock.lengths).all()
    assert (clock.lengths > 0).all()
