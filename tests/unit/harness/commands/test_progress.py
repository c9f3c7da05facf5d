from __future__ import annotations

import json

import pytest

from analysis.errors import StoreError
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import GivenUp
from harness.trial.progress import read_progress
from harness.trial.writer import Store


@pytest.fixture
def store(tmp_path, make_manifest):
    made = Store.create(make_manifest(planned=18), tmp_path / "runs", b"")
    yield made
    made.release()


def test_trial_that_has_just_begun(store):
    found = read_progress(store.path)
    assert (found.state, found.done, found.planned, found.last) == ("running", 0, 18, None)
    assert found.left_s is None
    assert "0 of 18 runs, started" in str(found)


def test_running_trial_knows_what_is_left(store, make_measurement):
    # One cell, 2 runs and a warm-up each, 6 cells: 18 runs of one second, 4 done.
    for position, benchmark in enumerate("xyzx"):
        store.append_measurement(
            make_measurement(
                position, benchmark=benchmark, wall_ns=10**9, before_s=0.5, after_s=0.5
            )
        )
    found = read_progress(store.path)
    assert found.seconds == {"x/a": 2.0, "y/a": 2.0, "z/a": 2.0}
    assert found.left_s == pytest.approx((18 - 4) * 2.0)
    assert found.last == "x / a 1.00 s"
    assert "about 0:28 left" in str(found)


def test_a_given_up_cell_that_takes_long_is_not_waited_for(store, make_measurement):
    # 6 cells of 2 runs and a warm-up; x / a, of 100 s, is given up after one run of each
    store.update(
        given_up=(
            GivenUp(
                benchmark="x",
                variant="a",
                session=1,
                position=6,
                runs=1,
                why="1 run failed: timeout",
            ),
        )
    )
    cells = [(b, v) for b in "xyz" for v in "ab"]
    rows = [(b, v) for _ in range(3) for b, v in cells]
    del rows[12]  # its second measured run
    for position, (b, v) in enumerate(rows):
        seconds = 100 if (b, v) == ("x", "a") else 1
        store.append_measurement(
            make_measurement(position, benchmark=b, variant=v, wall_ns=seconds * 10**9)
        )
        if position == 11:
            assert read_progress(store.path).left_s == pytest.approx(5.0)
    found = read_progress(store.path)
    assert (found.done, found.planned) == (17, 17)
    assert found.left_s == pytest.approx(0.0)


def test_failed_runs_are_counted_by_outcome(store, make_measurement):
    for position, outcome in enumerate(["ok", "exit", "timeout", "exit"]):
        store.append_measurement(make_measurement(position, outcome=outcome))
    found = read_progress(store.path)
    assert found.failed == {"exit": 2, "timeout": 1}
    assert "3 failed (x / a: 2 exit, 1 timeout)" in str(found)
    assert found.last.endswith("exit")


def test_run_without_a_time_is_no_zero(store, make_measurement):
    store.append_measurement(make_measurement(0, outcome="hook-failed", wall_ns=None))
    assert read_progress(store.path).seconds == {}


def test_repeated_warmups_do_not_count(store, make_measurement):
    store.append_measurement(make_measurement(0))
    store.append_measurement(make_measurement(-1, warmup=True))
    assert read_progress(store.path).done == 1


def test_torn_last_line_is_passed_over(store, make_measurement):
    for position in range(2):
        store.append_measurement(make_measurement(position))
    path = store.path / "measurements.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert read_progress(store.path).done == 1


def test_running_without_the_lock_means_killed(store, make_measurement):
    store.append_measurement(make_measurement(0))
    store.release()
    found = read_progress(store.path)
    assert (found.state, found.left_s) == ("killed", None)
    assert "--resume" in str(found)


@pytest.mark.parametrize("status", ["complete", "interrupted", "stopped"])
def test_ended_trial_says_how(store, status):
    store.finish(status, "why")
    found = read_progress(store.path)
    assert (found.state, found.reason) == (status, "why")
    assert ("--resume" in str(found)) == (status != "complete")


def test_progress_is_json(store):
    assert json.loads(json.dumps(read_progress(store.path).to_dict()))["planned"] == 18


def test_anything_else_is_no_trial(tmp_path):
    with pytest.raises(StoreError, match="not a trial directory"):
        read_progress(tmp_path)


def at(seconds: float) -> str:
    return f"2026-11-21T04:{12 + int(seconds) // 60}:{seconds % 60:012.9f}Z"


def test_time_between_runs_counts_but_not_between_sessions(store, make_measurement):
    # One second each and four of cooling down; then a pause, a new session, and a resumed one.
    rows = [("x", 1, 0, 0.0), ("y", 1, 0, 5.0), ("x", 1, 0, 10.0)]
    rows += [("x", 2, 0, 300.0), ("y", 2, 0, 307.0), ("z", 2, 1, 900.0)]
    for position, (benchmark, session, segment, start) in enumerate(rows):
        store.append_measurement(
            make_measurement(
                position,
                benchmark=benchmark,
                session=session,
                segment=segment,
                started_at=at(start),
                wall_ns=10**9,
                before_s=0.5,
            )
        )
    seconds = read_progress(store.path).seconds
    assert seconds == pytest.approx({"x/a": 6.0, "y/a": 5.0, "z/a": 1.5})


def test_clock_that_was_set_back_is_no_time_between_runs(store, make_measurement):
    for position, start in enumerate([100.0, 0.0]):
        store.append_measurement(
            make_measurement(position, started_at=at(start), wall_ns=2 * 10**9)
        )
    assert read_progress(store.path).seconds == {"x/a": 2.0}


def test_rows_of_another_version_are_counted(store, make_measurement):
    for position, benchmark in enumerate("xyzx"):
        row = make_measurement(position, benchmark=benchmark, wall_ns=10**9).to_dict() | {"new": 1}
        del row["before_s"], row["after_s"]
        if benchmark == "y":
            del row["wall_ns"]
        with (store.path / "measurements.jsonl").open("ab") as file:
            file.write(encode_checked(row) + b"\n")
    found = read_progress(store.path)
    assert (found.done, found.seconds) == (4, {"x/a": 1.0, "z/a": 1.0})
