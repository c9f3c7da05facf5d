"""What a trial's sessions and runs cost.

Authority: trials whose every second is laid down here.
"""

from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError
from analysis.plan.components import trial_costs

TIMES = {name: {"a": [1.0] * 6, "b": [2.0] * 6} for name in ("old", "new")}
IDLE = 0.5  # between two runs
GAP = 7.0  # between two sessions


@pytest.fixture
def measured(synthetic, tmp_path):
    """Write a trial of two sessions, and change its rows before that."""

    def write(change=lambda _k, row: row, gap=GAP):
        made = synthetic(TIMES, sessions=2, warmup=1)
        clock, rows = 1_000.0, []
        for k, row in enumerate(made.rows):
            if k and row.session != made.rows[k - 1].session:
                clock += gap - IDLE
            rows.append(change(k, replace(row, start_ns=round(clock * 1e9))))
            clock += row.wall_ns / 1e9 + IDLE
        made.rows = rows
        return trial_costs(read_trial(made.write(tmp_path / "trial")))

    return write


def test_runs_warm_ups_and_pauses_are_told_apart(measured):
    found = measured()
    cells = 2 * (1.0 + 2.0) + 4 * IDLE
    slow = 3 * 2 * (1.0 + 2.0) + 4 * IDLE  # the first runs take three times as long
    assert found.block_s == pytest.approx(cells)
    assert found.warmup_s == pytest.approx(slow)
    assert found.between_s == pytest.approx(GAP)
    assert (found.sessions, found.blocks) == (2, 6)
    assert found.seconds(5, 4) == pytest.approx(5 * (slow + 4 * cells) + 4 * GAP)


def test_an_interruption_is_no_cost_of_a_run(measured):
    found = measured(
        lambda k, row: replace(row, segment=1, start_ns=row.start_ns + 10**13) if k >= 24 else row
    )
    assert found.block_s == pytest.approx(2 * 3.0 + 4 * IDLE)
    assert found.between_s == pytest.approx(GAP)


def test_nights_between_sessions_are_not_counted(measured):
    found = measured(gap=20_000.0)
    assert found.between_s is None
    assert found.seconds(2, 0) == pytest.approx(2 * found.warmup_s)


def test_a_start_that_is_not_known_leaves_the_run_and_what_others_needed(measured):
    found = measured(lambda k, row: replace(row, start_ns=None) if k == 9 else row)
    assert found.block_s == pytest.approx(2 * 3.0 + 4 * IDLE)


def test_without_any_clock_the_runs_alone_count(measured):
    found = measured(lambda _k, row: replace(row, start_ns=None))
    assert found.block_s == pytest.approx(6.0)
    assert found.between_s is None


def test_without_a_known_time_there_is_no_cost(measured):
    with pytest.raises(InsufficientDataError, match="no run whose time is known"):
        measured(lambda _k, row: replace(row, outcome="hook-failed", wall_ns=None))
