"""A trial of foreign files: every value is there, what nobody told is null, every command reads it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import Trial, read_trial
from analysis.errors import AnalysisError, FairtrialError, StoreError, UsageError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files, inspect_files, trial_of
from analysis.importers.parsing import ForeignCell, ForeignFile
from analysis.importers.registry import read_foreign
from analysis.pages.model import Caution, Table, text_of
from analysis.verdict.judging import judge

LOSS = Caution(code="no-sessions", text="all runs are from one occasion")


def made(*cells: ForeignCell, source: str = "old.json") -> ForeignFile:
    return ForeignFile(
        format="made", source=source, cells=cells, losses=(LOSS,), facts={"cpu_model": "C 1"}
    )


def cell(**more: object) -> ForeignCell:
    given: dict = {
        "benchmark": "b",
        "variant": "v",
        "processes": ((1.0, 2.0), (4.0,)),
        "known": True,
    }
    return ForeignCell(**(given | more))


def test_a_cell_of_several_occasions_is_one_row_of_what_the_files_hold() -> None:
    cells = [cell(session=str(k), failed=k) for k in (1, 2)]
    told = inspect_files(gather([made(*cells)], ReadingChoices()))
    (table,) = (one for one in told.screen().sections[0].blocks if isinstance(one, Table))
    (row,) = ([text_of(one) for one in row] for row in table.rows)
    assert row == ["b", "v", "time", "2", "6", "4", "3", "1.00 s", "4.00 s"]
    assert [one.values for one in told.cells] == [3, 3]


def test_a_process_is_a_row_with_its_iterations(tmp_path: Path) -> None:
    memory = cell(metric="rss", unit="B", processes=((10.0,), (20.0,)))
    told = import_files(gather([made(cell(failed=1), memory)], ReadingChoices()), tmp_path / "t")
    trial = read_trial(tmp_path / "t")
    assert told.rows == len(trial) == 3
    lines = (tmp_path / "t/measurements.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["metrics"] for row in rows] == [
        {"time": [1.0, 2.0], "rss": [10.0]},
        {"time": [4.0], "rss": [20.0]},
        {},
    ]
    assert [row["outcome"] for row in rows] == ["ok", "ok", "exit"]
    for row in rows:
        for key in ("wall_ns", "user_s", "started_at", "start_ns", "cpus", "exit_code"):
            assert row[key] is None
    assert trial.matrix("v", "time").values("b").tolist() == [1.5, 4.0]
    assert trial.matrix("v", "time").blocks is None
    assert trial.matrix("v", "time").failed == {"b": 1}
    assert trial.default_metric == "time"
    with pytest.raises(FairtrialError, match="fix: name another metric: time, rss"):
        trial.matrix("v")  # seen: "measure more"
    assert trial.manifest.origin == "imported"
    assert trial.manifest.cpu_model == "C 1"
    assert trial.manifest.host == "unknown"
    assert not (tmp_path / "t/campaign.yaml").exists()
    assert (tmp_path / "t/plan.jsonl").read_bytes() == b""


TESTS = Path(__file__).resolve().parents[3]
SAMPLES = sorted({*TESTS.glob("golden/foreign/*.*"), *TESTS.glob("data/tools/**/*.*")})


def plain(trial: Trial) -> dict:
    """Give all that a trial holds, its arrays as lists."""

    def of(value: object) -> object:
        parts = {
            name: getattr(value, name) for name in ("values", "offsets") if hasattr(value, name)
        }
        return {k: v.tolist() for k, v in parts.items()} if "offsets" in parts else value

    found = {one.name: getattr(trial, one.name) for one in fields(trial) if one.init}
    found["manifest"] = replace(trial.manifest, files={}, started="", finished="")
    found["metrics"] = {name: of(column) for name, column in trial.metrics.items()}
    found["numbers"] = {name: repr(column.tolist()) for name, column in trial.numbers.items()}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_what_is_read_where_it_lies_is_the_trial_that_an_import_writes(
    path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / path.name
    try:
        found = gather([read_foreign(open_foreign(str(path)))], ReadingChoices(better="lower"))
        import_files(found, folder, better="lower")
    except FairtrialError:
        return  # it is no sample of what can be imported
    stored = replace(read_trial(folder), path=path)
    assert plain(trial_of(found, path, better="lower")) == plain(stored)


def test_the_loss_report_is_part_of_it_and_of_every_verdict(tmp_path: Path) -> None:
    two = cell(variant="w", processes=((3.0,), (2.0,)))
    import_files(gather([made(cell(), two)], ReadingChoices()), tmp_path / "t")
    told = json.loads((tmp_path / "t/import.json").read_text())
    assert told["cannot_recover"] == [LOSS.text]
    answer = judge(read_trial(tmp_path / "t"), metric="time")
    (said,) = [c for c in answer.cautions if c.code == "imported"]
    assert LOSS.text in said.text
    (tmp_path / "t/import.json").unlink()
    with pytest.raises(StoreError):
        read_trial(tmp_path / "t")


def test_where_processes_are_unknown_each_value_is_a_row(tmp_path: Path) -> None:
    import_files(
        gather([made(cell(processes=((1.0, 2.0, 3.0),), known=False))], ReadingChoices()),
        tmp_path / "t",
    )
    assert read_trial(tmp_path / "t").matrix("v", "time").values("b").tolist() == [1.0, 2.0, 3.0]


def test_every_double_comes_back(tmp_path: Path) -> None:
    values = tuple(np.random.default_rng(1).lognormal(0, 30, 500).tolist())
    import_files(gather([made(cell(processes=(values,)))], ReadingChoices()), tmp_path / "t")
    trial = read_trial(tmp_path / "t")
    assert trial.metrics["time"].values.tolist() == list(values)


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    gathered = gather([made(cell())], ReadingChoices())
    import_files(gathered, tmp_path / "t")
    before = (tmp_path / "t/manifest.json").read_bytes()
    with pytest.raises(UsageError, match="something is there"):
        import_files(gathered, tmp_path / "t")
    assert (tmp_path / "t/manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_the_baseline_must_be_a_variant(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no variant 'x'"):
        import_files(gather([made(cell())], ReadingChoices()), tmp_path / "t", baseline="x")
    assert list(tmp_path.iterdir()) == []


def test_a_baseline_of_a_metric_that_is_left_out_is_refused_with_what_is_known(
    tmp_path: Path,
) -> None:
    counter = cell(variant="w", metric="k", unit="", better=None)
    gathered = gather([made(cell(), counter)], ReadingChoices())
    with pytest.raises(UsageError, match="no variant 'w'") as told:
        import_files(gathered, tmp_path / "t", baseline="w")
    assert "known here: v" in str(told.value)
    # nothing is said of the baseline where the direction is what is missing
    with pytest.raises(UsageError, match="which direction of k"):
        import_files(gather([made(counter)], ReadingChoices()), tmp_path / "t", baseline="x")
    # the control: with a direction it is one
    import_files(gathered, tmp_path / "t", baseline="w", better="lower")
    assert read_trial(tmp_path / "t").manifest.baseline == "w"


def test_an_occasion_without_a_run_is_no_session(tmp_path: Path) -> None:
    files = [
        made(cell(processes=(), failed=0), source="1.json"),
        made(cell(), source="2.json"),
        made(cell(processes=((5.0,),)), source="3.json"),
    ]
    import_files(gather(files, ReadingChoices()), tmp_path / "t")
    trial = read_trial(tmp_path / "t")
    assert trial.manifest.sessions == 2
    assert trial.matrix("v", "time").sessions[0].tolist() == [1, 1, 2]


def test_a_baseline_that_was_left_out_as_a_double_is_told_why(tmp_path: Path) -> None:
    gathered = gather([made(cell(), cell(variant="w"))], ReadingChoices())
    with pytest.raises(UsageError, match="exactly the values of 'v'"):
        import_files(gathered, tmp_path / "t", baseline="w")


def test_metrics_stand_beside_each_other_by_the_names_of_processes(tmp_path: Path) -> None:
    times = cell(processes=((1.0,), (2.0,), (3.0,)), labels=("1", "2", "3"))
    memory = cell(metric="rss", unit="B", processes=((10.0,), (30.0,)), labels=("1", "3"))
    import_files(gather([made(times, memory)], ReadingChoices()), tmp_path / "t")
    lines = (tmp_path / "t/measurements.jsonl").read_text().splitlines()
    assert [json.loads(line)["metrics"] for line in lines] == [
        {"time": [1.0], "rss": [10.0]},
        {"time": [2.0]},
        {"time": [3.0], "rss": [30.0]},
    ]
    trial = read_trial(tmp_path / "t")
    assert trial.matrix("v", "rss").values("b").tolist() == [10.0, 30.0]


def test_without_any_run_that_counts_there_is_no_trial(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no run counts"):
        import_files(gather([made(cell(processes=(), failed=3))], ReadingChoices()), tmp_path / "t")


def test_a_further_metric_without_a_direction_is_left_out_with_a_caution(tmp_path: Path) -> None:
    counter = cell(metric="k", unit="", better=None)
    gathered = gather([made(cell(), counter)], ReadingChoices())
    assert [one.code for one in inspect_files(gathered).cautions] == ["metric-left-out"]
    assert not inspect_files(gathered, "lower").cautions
    assert import_files(gathered, tmp_path / "t").metrics == ("time",)
    trial = read_trial(tmp_path / "t")
    assert "metric-left-out" in [c.code for c in trial.cautions]
    with pytest.raises(UsageError, match="--better"):
        trial.matrix("v", "k")
    with pytest.raises(UsageError, match="which direction of k"):
        import_files(gather([made(counter)], ReadingChoices()), tmp_path / "u")
    import_files(gathered, tmp_path / "v", better="higher")
    assert set(read_trial(tmp_path / "v").manifest.metrics) == {"time", "k"}
