import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.data.host_record import question_of
from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import Trial, read_trial
from analysis.data.trial_cautions import imported_cautions
from analysis.errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from analysis.record.run_numbers import BUILTIN_METRICS, NUMBERS
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import JudgedMetrics, SessionEnd, StopRule

Build = Callable[..., Any]
TIMES = {
    "a": {"x": [1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, 7.0, 8.0]},
    "b": {"x": [1.5, 2.5, 3.5, 4.5], "y": [5.5, 6.5, 7.5, 8.5]},
}


def change(path: Path, name: str, old: bytes, new: bytes) -> None:
    content = (path / name).read_bytes()
    assert old in content
    (path / name).write_bytes(content.replace(old, new, 1))


def said(source: Trial | PerformanceMatrix) -> list[str]:
    return [str(caution) for caution in source.cautions]


def rewrite(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write other rows, and a manifest that knows of it."""
    content = b"".join(encode_checked(row) + b"\n" for row in rows)
    (path / "measurements.jsonl").write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"]["measurements.jsonl"] = hashlib.sha256(content).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def lines(path: Path) -> list[bytes]:
    return (path / "measurements.jsonl").read_bytes().splitlines(keepends=True)


def test_a_whole_trial(synthetic: Build, tmp_path: Path) -> None:
    trial = read_trial(synthetic(TIMES, sessions=2, warmup=1).write(tmp_path))
    assert trial.finished
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
    assert np.isnan(trial.numbers["frequency_khz"]).all()
    assert trial.numbers["padding_bytes"].tolist() == [17.0] * 24
    with pytest.raises(ValueError, match="read-only"):
        trial.numbers["wall_ns"][0] = 1


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
    assert np.isnan(trial.numbers["wall_ns"][3])
    assert trial.start_ns[3] == -1


def test_a_run_has_the_mean_of_its_iterations(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(
        {"a": {"x": [1.0, 1.0, 1.0]}}, metrics={"rate": {"unit": "1/s", "better": "higher"}}
    )
    for row, values in enumerate([(5.0, 1.0, 2.0), (7.0, 9.0), ()]):
        made.rows[row] = replace(made.rows[row], metrics={"rate": values})
    trial = read_trial(made.write(tmp_path))
    m = trial.matrix("a", "rate")
    assert m.values("x").tolist() == [8 / 3, 8.0]
    assert (m.unit, m.better) == ("1/s", "higher")
    assert tuple(map(str, m.cautions)) == (
        "1 run without rate",
        "a run is the mean of its process's iterations (2.5 each); --level iteration pools them",
    )
    column = trial.metrics["rate"]
    assert column.values.tolist() == [5.0, 1.0, 2.0, 7.0, 9.0]
    assert column.offsets.tolist() == [0, 3, 5, 5]


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
    try:
        left = trial.matrix("b", "system", skip_zeros=True)
    except InsufficientDataError:
        assert trial.manifest.benchmarks == ("x",)
    else:
        assert "x" not in left.benchmarks
        assert "not-positive" in {caution.code for caution in left.cautions}
    with pytest.raises(UsageError, match="known here: wall, user, system, max_rss"):
        trial.matrix("a", "speed")
    with pytest.raises(UsageError, match="known here: a, b"):
        trial.matrix("c")


def test_every_number_is_there_in_its_unit(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({"a": {"x": [1.0, 2.0]}})
    trial = read_trial(made.write(tmp_path))
    assert trial.absent == frozenset()
    assert trial.numbers.keys() == NUMBERS.keys() - {"start_ns"}
    for name, column in trial.numbers.items():
        stored = [getattr(row, name) for row in made.rows]
        assert [None if np.isnan(value) else value for value in column] == stored
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    assert trial.start_ns.tolist() == [row.start_ns for row in made.rows]
    assert trial.values("wall").tolist() == [1.0, 2.0]
    assert trial.values("user").tolist() == [0.9, 1.8]
    assert trial.values("max_rss").tolist() == [50 << 20] * 2


def test_a_clock_of_many_days_is_exact(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({"a": {"x": [1.0]}})
    made.rows[0] = replace(made.rows[0], start_ns=2**60 + 1)
    assert read_trial(made.write(tmp_path)).start_ns.tolist() == [2**60 + 1]


def test_at_the_floor_is_no_value(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({"a": {"x": [1.0, 1.0, 1.0, 1.0], "y": [1.0] * 4}})
    floor = made.rows[0].max_rss_floor_bytes
    above = {"x": [0, 1, 0, 1], "y": [0, 1, 1, 1]}
    made.rows = [
        replace(row, max_rss_bytes=floor + above[row.benchmark][row.block - 1]) for row in made.rows
    ]
    trial = read_trial(made.write(tmp_path))
    assert trial.at_floor("max_rss").tolist() == [row.max_rss_bytes == floor for row in made.rows]
    assert not trial.at_floor("wall").any()
    assert trial.below_floor("a", "max_rss") == ("x",)  # half of its runs; of y a quarter
    assert trial.below_floor("a", "wall") == ()
    assert said(trial.matrix("a", "max_rss")) == [
        "3 values of max_rss say only 'at most the launcher's floor'"
    ]
    assert trial.matrix("a").cautions == ()


def test_a_floor_is_that_of_ones_own_runs(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({"a": {"x": [1.0, 1.0]}, "b": {"x": [1.0, 1.0]}})
    made.rows = [
        replace(row, max_rss_bytes=row.max_rss_floor_bytes) if row.variant == "b" else row
        for row in made.rows
    ]
    trial = read_trial(made.write(tmp_path))
    assert (trial.below_floor("a", "max_rss"), trial.below_floor("b", "max_rss")) == ((), ("x",))


def test_a_number_that_some_runs_lack(synthetic: Build, tmp_path: Path) -> None:
    # one session by a version that did not store it
    for late in (False, True):
        made = synthetic({"a": {"x": [1.0, 2.0, 3.0, 4.0]}})
        path = made.write(tmp_path / str(late))
        rows = [row.to_dict() for row in made.rows]
        for row in rows[2:] if late else rows[:2]:
            del row["max_rss_bytes"]
        rewrite(path, rows)
        trial = read_trial(path)
        assert (trial.absent, trial.cautions) == (frozenset(), ())
        assert np.isnan(trial.numbers["max_rss_bytes"]).tolist() == [not late] * 2 + [late] * 2
        assert said(trial.matrix("a", "max_rss")) == ["2 runs without max_rss"]
        assert trial.matrix("a").runs == (4,)


def test_a_number_that_no_run_has(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({"a": {"x": [1.0, 2.0]}})
    path = made.write(tmp_path)
    rewrite(path, [without(row.to_dict(), "max_rss_bytes", "steal_s") for row in made.rows])
    trial = read_trial(path)
    assert trial.absent == {"max_rss_bytes", "steal_s"}
    assert trial.cautions == trial.matrix("a").cautions == ()
    for ask in (trial.metric, trial.values, lambda name: trial.matrix("a", name)):
        with pytest.raises(UsageError) as error:
            ask("max_rss")
        assert error.value.what.startswith(
            "the trial has no metric 'max_rss': fairtrial records it since version 0.1.0, and 0.1.0"
        )
        others = ", ".join(name for name in BUILTIN_METRICS if name != "max_rss")
        assert error.value.fix == f"known here: {others}"


def test_a_trial_without_rows_lacks_no_number(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, status="running")
    made.rows = []
    assert read_trial(made.write(tmp_path)).absent == frozenset()


def test_a_metric_of_the_campaign_keeps_its_name(synthetic: Build, tmp_path: Path) -> None:
    # a later version may measure by itself what a campaign called so before
    own = {"max_rss": {"unit": "pages", "better": "higher"}}
    made = synthetic({"a": {"x": [1.0, 2.0]}}, metrics=own)
    made.rows = [replace(row, metrics={"max_rss": (7.0,)}, max_rss_bytes=1) for row in made.rows]
    trial = read_trial(made.write(tmp_path))
    matrix = trial.matrix("a", "max_rss")
    assert (matrix.unit, matrix.better, matrix.values("x").tolist()) == (
        "pages",
        "higher",
        [7.0] * 2,
    )
    assert matrix.cautions == ()
    assert not trial.at_floor("max_rss").any()


def test_a_variant_without_runs(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES)
    made.rows = [
        replace(row, outcome="exit", exit_code=1) if row.variant == "b" else row
        for row in made.rows
    ]
    with pytest.raises(InsufficientDataError, match="no run of 'b'") as error:
        read_trial(made.write(tmp_path)).matrix("b")
    assert (error.value.n, error.value.needed) == (0, 1)


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
    with pytest.raises(StoreError, match="newer than 2"):
        read_trial(synthetic(TIMES, schema=3).write(tmp_path))


# ---- damage


def listed(path: Path, name: str, sha256: str | None) -> None:
    """Let the manifest name a file, or forget it."""
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"] |= {name: sha256}
    manifest["files"] = {one: digest for one, digest in manifest["files"].items() if digest}
    (path / "manifest.json").write_text(json.dumps(manifest))


def forgotten(path: Path) -> None:
    listed(path, "measurements.jsonl", None)
    (path / "measurements.jsonl").unlink()


@pytest.mark.parametrize(
    ("damage", "told", "where"),
    [
        (lambda path: change(path, "campaign.yaml", b"synthetic", b"Synthetic"),
         "changed after the trial ended", "/campaign.yaml"),
        (lambda path: (path / "campaign.yaml").unlink(), "cannot be read", "/campaign.yaml"),
        (lambda path: listed(path, "../secret", "0" * 64), "outside the trial", ""),
        (forgotten, "the file is missing", "/measurements.jsonl"),
    ],
)  # fmt: skip
def test_the_files_of_a_finished_trial_are_those_that_it_lists(
    synthetic: Build, tmp_path: Path, damage: Callable[[Path], None], told: str, where: str
) -> None:
    path = synthetic(TIMES).write(tmp_path)
    damage(path)
    with pytest.raises(StoreError, match=told) as error:
        read_trial(path)
    assert error.value.where == f"{path}{where}"


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
    assert not trial.finished
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
    ("row", "wrong", "told"),
    [
        *((0, {k: v}, "is not the planned one") for k, v in
          {"benchmark": "y", "variant": "b", "session": 2, "block": 9, "position": 99}.items()),
        *((2, {k: v}, "unknown or missing") for k, v in
          {"benchmark": "z", "variant": "z", "metrics": {"m": (1.0,)}}.items()),
    ],
)  # fmt: skip
def test_a_row_that_was_not_planned_or_has_unknown_names(
    synthetic: Build, tmp_path: Path, row: int, wrong: dict[str, object], told: str
) -> None:
    made = synthetic(TIMES)
    made.rows[row] = replace(made.rows[row], **wrong)
    with pytest.raises(StoreError, match=told) as error:
        read_trial(made.write(tmp_path))
    assert str(error.value.where).endswith(f"measurements.jsonl:{row + 1}")


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
    whole = "one of position, session, segment, block, warmup is not a whole number"
    assert (whole in str(error.value)) == (key in {"session", "position"})


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (b'"benchmark":"y"', b'"benchmark":"z"', 3, "unknown or missing 'z'"),
        (b'{"position":0', b'{"place":0', 1, "unknown or missing 'position'"),
        (b'{"position":0', b'{"position":1', None, "its positions are not unique"),
        (b'{"position":0', b'{"position":-1', 1, "a position is -1"),
        (b'{"position":0', b'"position":0', 1, "it goes on after its end, at character 11"),
        (b'{"position":0', b'{"position":"0"', 1, "'str' object cannot be interpreted"),
    ],
)
def test_a_damaged_plan(
    synthetic: Build, tmp_path: Path, old: bytes, new: bytes, line: int | None, reason: str
) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    change(path, "plan.jsonl", old, new)
    with pytest.raises(StoreError, match=f"the plan is damaged: {reason}") as error:
        read_trial(path)
    assert error.value.where == f"{path / 'plan.jsonl'}" + ("" if line is None else f":{line}")


def test_a_plan_in_another_order_is_the_same_plan(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, sessions=2)
    made.plan.reverse()
    assert len(read_trial(made.write(tmp_path))) == 16


def test_rows_without_a_plan(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic(TIMES, status="running")
    made.plan = []
    with pytest.raises(StoreError, match="position 0 is not the planned one"):
        read_trial(made.write(tmp_path))


@pytest.mark.parametrize("name", ["plan", "measurements"])
def test_files_that_cannot_be_read(synthetic: Build, tmp_path: Path, name: str) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    (path / f"{name}.jsonl").unlink()
    (path / f"{name}.jsonl").mkdir()
    with pytest.raises(StoreError, match="this is not a regular file") as error:
        read_trial(path)
    assert error.value.where == str(path / f"{name}.jsonl")


def test_a_short_plan_of_a_complete_trial(synthetic: Build, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it has 16 runs, the manifest of the complete trial 17"):
        read_trial(synthetic(TIMES, planned=17).write(tmp_path))


# ---- unfinished


def test_a_trial_that_has_just_begun(synthetic: Build, tmp_path: Path) -> None:
    path = synthetic(TIMES, status="running").write(tmp_path)
    (path / "measurements.jsonl").write_bytes(b"")
    trial = read_trial(path)
    assert len(trial) == 0
    assert trial.sessions == 0
    assert str(trial.cautions[-1]) == "0 of 16 planned runs are there"
    with pytest.raises(InsufficientDataError):
        trial.matrix("a")


def test_a_trial_under_a_stopping_rule(synthetic: Build, tmp_path: Path) -> None:
    stop = StopRule(width=0.02, max_runs=4)
    end = SessionEnd(session=1, runs=2, why="width", width=0.01, text="")
    cap = SessionEnd(session=2, runs=3, why="max_runs", width=None, text="")
    made = synthetic({"a": {"x": [1.0] * 8}}, sessions=2, stop=stop, session_ends=(end, cap))
    made.rows = [row for row in made.rows if row.block <= 1 + row.session]
    trial = read_trial(made.write(tmp_path / "both"))
    assert (trial.planned_runs, trial.manifest.needed) == (8, 5)
    (told,) = said(trial)
    assert "(width 0.02; 2 to 3 runs a cell and session; 1 of 2 sessions ended at a cap" in told
    assert said(trial.matrix("a"))[0].startswith("sequential (stopping rule, width 0.02): ")
    # the rule was taken out when the trial was gone on with
    made.manifest = replace(made.manifest, stop=None, session_ends=(end,))
    made.rows = [row for row in made.rows if row.session == 1]
    trial = read_trial(made.write(tmp_path / "one"))
    assert said(trial)[0] == "2 of 6 planned runs are there"
    assert "(2 runs a cell and session); methods" in said(trial)[1]
    assert said(trial.matrix("a"))[0].startswith("sequential (stopping rule): ")
    made.manifest = replace(made.manifest, stop=stop, session_ends=())
    trial = read_trial(made.write(tmp_path / "none"))
    assert said(trial)[0] == "2 of at most 8 planned runs are there"
    assert "(width 0.02); methods" in said(trial)[1]


def test_a_session_of_other_runs_than_the_manifest_says(synthetic: Build, tmp_path: Path) -> None:
    ends = tuple(
        SessionEnd(session=session, runs=runs, why="width", width=0.01, text="")
        for session, runs in ((1, 4), (2, 3))
    )
    made = synthetic(
        {"a": {"x": [1.0] * 8}}, warmup=1, sessions=2, stop=StopRule(width=0.02), session_ends=ends
    )
    trial = read_trial(made.write(tmp_path))
    assert [text for text in said(trial) if "manifest says" in text] == [
        "the manifest says that session 2 ended after 3 runs a cell, and its runs go to 4"
    ]


def test_a_session_that_ended_and_has_no_runs(synthetic: Build, tmp_path: Path) -> None:
    end = SessionEnd(session=2, runs=1, why="width", width=0.01, text="")
    made = synthetic({"a": {"x": [1.0] * 4}}, sessions=2, stop=StopRule(width=0.02))
    made.manifest = replace(made.manifest, session_ends=(end,))
    made.rows = [row for row in made.rows if row.session == 1]
    texts = said(read_trial(made.write(tmp_path)))
    assert any(
        "session 2 ended after 1 runs a cell, and its runs go to 0" in text for text in texts
    )


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


def test_trials_that_ask_different_questions_are_told_by_name(
    synthetic: Build, tmp_path: Path
) -> None:
    trial = read_trial(synthetic(TIMES).write(tmp_path / "one"))
    one, two = (
        replace(
            trial,
            path=Path(name),
            manifest=replace(trial.manifest, judge=(JudgedMetrics(at="t", metrics=(metric,)),)),
        )
        for name, metric in (("one", "user"), ("two", "maximum_rss"))
    )
    assert question_of([one, one]) == "user"
    assert question_of([trial]) == "wall"
    with pytest.raises(UsageError, match="name different metrics as their question") as raised:
        question_of([one, two])
    assert raised.value.where == "one and two"
    assert raised.value.fix == "say which is meant: --metric user or --metric maximum_rss"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "x"}'])
def test_a_loss_report_that_cannot_be_read_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "import.json").write_text(text)
    with pytest.raises(StoreError, match="loss report") as raised:
        list(imported_cautions(tmp_path))
    assert raised.value.where == str(tmp_path / "import.json")
