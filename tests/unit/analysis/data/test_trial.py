from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from analysis.record import encode_checked

Build = Callable[..., Any]
TIMES = {
    "a": {"x": [1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, 7.0, 8.0]},
    "b": {"x": [1.5, 2.5, 3.5, 4.5], "y": [5.5, 6.5, 7.5, 8.5]},
}


def change(path: Path, name: str, old: bytes, new: bytes) -> None:
    content = (path / name).read_bytes()
    assert old in content
    (path / name).write_bytes(content.replace(old, new, 1))


def lines(path: Path) -> list[bytes]:
    return (path / "measurements.jsonl").read_bytes().splitlines(keepends=True)


def test_a_whole_trial(synthetic: Build, tmp_path: Path) -> None:
    trial = read_trial(synthetic(TIMES, sessions=2, warmup=1).write(tmp_path))
    assert trial.finished
    assert not trial.running
    assert trial.cautions == ()
    assert len(trial) == trial.planned_runs == 16 + 8
    assert trial.sessions == 2
    assert trial.failures() == ()
    m = trial.matrix("b")
    assert (m.name, m.unit, m.better, m.benchmarks) == ("b", "s", "lower", ("x", "y"))
    assert m.values("x").tolist() == TIMES["b"]["x"]
    assert m.sessions is not None
    assert m.sessions[0].tolist() == [1, 1, 2, 2]
    assert tuple(map(str, m.cautions)) == ("4 warm-up runs left out",)
    assert np.isnan(trial.frequency_khz).all()
    assert trial.padding_bytes.tolist() == [17.0] * 24
    with pytest.raises(ValueError, match="read-only"):
        trial.wall_s[0] = 1


def test_block_ids_are_those_of_the_trial(synthetic: Build, tmp_path: Path) -> None:
    trial = read_trial(synthetic(TIMES, sessions=2).write(tmp_path))
    a, b = trial.matrix("a"), trial.matrix("b")
    assert a.blocks is not None
    assert b.blocks is not None
    assert a.blocks[0].tolist() == b.blocks[1].tolist()  # same rounds, other cells
    assert len(set(a.blocks[0].tolist())) == 4  # block 1 of session 2 is not block 1 of session 1


def test_failed_runs_are_left_out_and_counted(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows[0] = replace(
        made.rows[0], outcome="timeout", exit_code=None, signal=9, detail="after 60 s"
    )
    made.rows[3] = replace(
        made.rows[3], outcome="hook-failed", wall_ns=None, start_ns=None, user_s=None
    )
    trial = read_trial(made.write(tmp_path))
    assert trial.matrix("a").runs == (3, 4)
    assert tuple(map(str, trial.matrix("a").cautions)) == ("1 failed run left out",)
    first, second = trial.failures()
    assert (first.benchmark, first.variant, first.outcome, first.signal) == ("x", "a", "timeout", 9)
    assert first.detail == "after 60 s"
    assert second.outcome == "hook-failed"
    assert np.isnan(trial.wall_s[3])
    assert trial.start_ns[3] == -1


def test_a_run_has_the_median_of_its_iterations(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(
        {"a": {"x": [1.0, 1.0, 1.0]}}, metrics={"rate": {"unit": "1/s", "better": "higher"}}
    )
    for row, values in enumerate([(5.0, 1.0, 2.0), (7.0,), ()]):
        made.rows[row] = replace(made.rows[row], metrics={"rate": values})
    trial = read_trial(made.write(tmp_path))
    m = trial.matrix("a", "rate")
    assert m.values("x").tolist() == [2.0, 7.0]
    assert (m.unit, m.better) == ("1/s", "higher")
    assert tuple(map(str, m.cautions)) == ("1 run without rate",)
    column = trial.metrics["rate"]
    assert column.values.tolist() == [5.0, 1.0, 2.0, 7.0]
    assert column.offsets.tolist() == [0, 3, 4, 4]


def test_other_metrics(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows[0] = replace(made.rows[0], max_rss_bytes=10 << 20)
    made.rows[1] = replace(made.rows[1], system_s=0.0)
    trial = read_trial(made.write(tmp_path))
    assert trial.matrix("a", "user").values("x")[1] == pytest.approx(1.8)
    assert trial.matrix("a", "max_rss").unit == "B"
    assert "launcher's floor" in trial.matrix("a", "max_rss").cautions[0]
    with pytest.raises(AnalysisError, match=r"run 1 is 0\.0"):
        trial.matrix("b", "system")
    with pytest.raises(UsageError, match="known here: wall, user, system, max_rss"):
        trial.matrix("a", "speed")
    with pytest.raises(UsageError, match="known here: a, b"):
        trial.matrix("c")


def test_a_variant_without_runs(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows = [
        replace(row, outcome="exit", exit_code=1) if row.variant == "b" else row
        for row in made.rows
    ]
    with pytest.raises(InsufficientDataError, match="no run of 'b'"):
        read_trial(made.write(tmp_path)).matrix("b")


def test_a_benchmark_without_runs_is_said(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows = [
        replace(row, outcome="exit", exit_code=1) if row.benchmark == "y" else row
        for row in made.rows
    ]
    m = read_trial(made.write(tmp_path)).matrix("b")
    assert m.benchmarks == ("x",)
    assert str(m.cautions[-1]) == "no run that counts of y"


# ---- what is not a trial, or not ours


def test_no_trial(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no manifest\.json"):
        read_trial(tmp_path)


def test_a_newer_schema(synthetic: Build, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="newer than 1"):
        read_trial(synthetic(TIMES, schema=2).write(tmp_path))


# ---- damage


def test_a_changed_file_of_a_finished_trial(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES).write(tmp_path)
    change(path, "campaign.yaml", b"synthetic", b"Synthetic")
    with pytest.raises(StoreError, match="changed after the trial ended") as error:
        read_trial(path)
    assert error.value.where == str(path / "campaign.yaml")


def test_a_lost_file_of_a_finished_trial(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES).write(tmp_path)
    (path / "campaign.yaml").unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        read_trial(path)


def test_kept_output_may_go(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.extra = {"outputs/0001.stderr": b"oops", "outputs/0002.stderr": b"oops"}
    path = made.write(tmp_path)
    (path / "outputs/0001.stderr").unlink()
    (path / "outputs/0002.stderr").write_bytes(b"fine")
    assert tuple(map(str, read_trial(path).cautions)) == (
        "outputs/0001.stderr is gone since the trial ended",
        "outputs/0002.stderr changed since the trial ended",
    )


def test_a_manifest_that_points_elsewhere(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES).write(tmp_path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"]["../secret"] = "0" * 64
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="outside the trial"):
        read_trial(path)


def test_a_wrong_checksum_in_the_middle(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    change(path, "measurements.jsonl", b'"wall_ns":1500000000', b'"wall_ns":1400000000')
    with pytest.raises(StoreError, match="checksum is wrong") as error:
        read_trial(path)
    assert error.value.where == f"{path / 'measurements.jsonl'}:2"


@pytest.mark.parametrize("cut", [1, 20, 300])
def test_a_torn_last_line_of_an_unfinished_trial(
    synthetic: Build, tmp_path: Path, cut: int
) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    whole = (path / "measurements.jsonl").read_bytes()
    (path / "measurements.jsonl").write_bytes(whole[:-cut])
    trial = read_trial(path)
    assert trial.running
    assert "still running, or its runner was killed" in " ".join(map(str, trial.cautions))
    # Even where only the newline is gone: a resumed trial repeats that run.
    assert len(trial) == 15
    assert "the last line of measurements.jsonl (16) is torn" in trial.cautions[0]


def test_a_damaged_last_line_of_an_unfinished_trial(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    rows = lines(path)
    (path / "measurements.jsonl").write_bytes(b"".join(rows[:-1]) + b"\0" * 40 + b"\n")
    assert len(read_trial(path)) == 15
    (path / "measurements.jsonl").write_bytes(b"".join(rows[:-1]) + b"\0" * 40 + b"\n" + rows[-1])
    with pytest.raises(StoreError, match="checksum is wrong"):
        read_trial(path)


def test_a_torn_line_of_a_finished_trial_is_a_change(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES).write(tmp_path)
    content = (path / "measurements.jsonl").read_bytes()
    (path / "measurements.jsonl").write_bytes(content[:-20])
    with pytest.raises(StoreError, match="changed after the trial ended"):
        read_trial(path)


def test_two_rows_for_one_position(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows.append(made.rows[4])
    with pytest.raises(StoreError, match="position 4 has 2 rows, the first two in lines 5 and 17"):
        read_trial(made.write(tmp_path))


def test_a_repeated_warm_up_of_a_resumed_session(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, warmup=1)
    made.rows.append(replace(made.rows[0], position=-1, segment=1))
    trial = read_trial(made.write(tmp_path / "good"))
    assert len(trial) == trial.planned_runs + 1
    assert trial.matrix("a").values("x").tolist() == TIMES["a"]["x"]
    made.rows[-1] = replace(made.rows[-1], warmup=False)
    with pytest.raises(StoreError, match="position -1 is not the planned one"):
        read_trial(made.write(tmp_path / "bad"))


@pytest.mark.parametrize(
    "wrong", [{"benchmark": "y"}, {"variant": "b"}, {"session": 2}, {"block": 9}, {"position": 99}]
)
def test_a_row_that_was_not_planned(
    synthetic: Build, tmp_path: Path, wrong: dict[str, object]
) -> None:
    made = synthetic(TIMES)
    made.rows[0] = replace(made.rows[0], **wrong)
    with pytest.raises(StoreError, match="is not the planned one") as error:
        read_trial(made.write(tmp_path))
    assert str(error.value.where).endswith("measurements.jsonl:1")


@pytest.mark.parametrize(
    "wrong", [{"benchmark": "z"}, {"variant": "z"}, {"outcome": "fine"}, {"metrics": {"m": (1.0,)}}]
)
def test_unknown_names(synthetic: Build, tmp_path: Path, wrong: dict[str, object]) -> None:
    made = synthetic(TIMES)
    made.rows[2] = replace(made.rows[2], **wrong)
    with pytest.raises(StoreError, match="unknown or missing") as error:
        read_trial(made.write(tmp_path))
    assert str(error.value.where).endswith("measurements.jsonl:3")


@pytest.mark.parametrize(
    ("key", "value"),
    [("wall_ns", None), ("session", None), ("user_s", "fast"), ("metrics", 3), ("position", None)],
)
def test_records_of_another_shape(
    synthetic: Build, tmp_path: Path, key: str, value: object
) -> None:
    made = synthetic(TIMES, status="running")
    path = made.write(tmp_path)
    rows = lines(path)
    rows[1] = encode_checked(made.rows[1].to_dict() | {key: value}) + b"\n"
    (path / "measurements.jsonl").write_bytes(b"".join(rows))
    with pytest.raises(StoreError, match="not one of schema 1") as error:
        read_trial(path)
    assert str(error.value.where).endswith("measurements.jsonl:2")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"benchmark":"y"', b'"benchmark":"z"'),
        (b'{"position":0', b'{"place":0'),
        (b'{"position":0', b'{"position":1'),
        (b'{"position":0', b'{"position":-1'),
        (b'{"position":0', b'"position":0'),
    ],
)
def test_a_damaged_plan(synthetic: Build, tmp_path: Path, old: bytes, new: bytes) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    change(path, "plan.jsonl", old, new)
    with pytest.raises(StoreError, match="the plan is damaged"):
        read_trial(path)


def test_a_short_plan_of_a_complete_trial(synthetic: Build, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it has 16 runs, the manifest of the complete trial 17"):
        read_trial(synthetic(TIMES, planned=17).write(tmp_path))


# ---- unfinished


def test_a_trial_that_has_just_begun(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    (path / "measurements.jsonl").unlink()
    trial = read_trial(path)
    assert len(trial) == 0
    assert trial.sessions == 0
    assert str(trial.cautions[-1]) == "0 of 16 planned runs are there"
    with pytest.raises(InsufficientDataError):
        trial.matrix("a")


def test_an_interrupted_trial(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, status="interrupted", reason="SIGINT")
    made.rows = made.rows[:6]
    assert tuple(map(str, read_trial(made.write(tmp_path)).cautions)) == (
        "the trial was interrupted: SIGINT",
        "6 of 16 planned runs are there",
    )


def test_the_plan_of_a_later_session_is_not_there_yet(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, sessions=2, status="running")
    made.plan, made.rows = made.plan[:8], made.rows[:5]
    trial = read_trial(made.write(tmp_path))
    assert trial.planned_runs == 16
    assert str(trial.cautions[-1]) == "5 of 16 planned runs are there"


def test_a_torn_plan_of_an_unfinished_trial(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, status="running")
    made.rows = made.rows[:5]
    path = made.write(tmp_path)
    (path / "plan.jsonl").write_bytes((path / "plan.jsonl").read_bytes()[:-9])
    assert "the last line of plan.jsonl (16) is torn and left out" in map(
        str, read_trial(path).cautions
    )
    made.rows = synthetic(TIMES).rows
    path = made.write(tmp_path / "other")
    (path / "plan.jsonl").write_bytes((path / "plan.jsonl").read_bytes()[:-9])
    with pytest.raises(StoreError, match="position 15 is not the planned one"):
        read_trial(path)
