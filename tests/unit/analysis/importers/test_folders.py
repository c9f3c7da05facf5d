"""Folders of other tools: their limits, and what a root with several kinds is. Authority: the limits
stated in `analysis.data.opening`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.artifact.gathering import Staging, gather
from analysis.commands.why import place_of
from analysis.data import opening as folders
from analysis.data.opening import files_in, open_foreign, trials_within
from analysis.errors import AnalysisError, StoreError, UsageError
from analysis.history.night_values import places_in
from analysis.importers.reader import is_foreign, open_trial
from analysis.importers.registry import read_foreign, tool_of
from analysis.record.manifest import read_manifest

SAMPLE = '{"sampling_mode": "Flat", "iters": [1.0, 2.0], "times": [1000.0, 2200.0]}'
RESULT = (
    '<result tool="T" name="n"><run name="one"><column title="status" value="true"/>'
    '<column title="walltime" value="0.5s"/></run></result>'
)


def names(root: Path) -> list[str]:
    return [str(path) for path in files_in(open_foreign(str(root)))]


def sample(root: Path, below: str = "fold/new") -> Path:
    place = root / below / "sample.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(SAMPLE)
    return place


def test_files_six_deep_are_seen_and_no_deeper(tmp_path: Path) -> None:
    for depth in range(1, 8):
        place = tmp_path.joinpath(*"abcdefg"[: depth - 1], f"{depth}.txt")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    assert [Path(name).stem for name in names(tmp_path)] == ["1", "2", "3", "4", "5", "6"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    sample(outside)
    root = tmp_path / "root"
    sample(root)
    (root / "linked").symlink_to(outside)
    (root / "file.json").symlink_to(outside / "fold/new/sample.json")
    (root / "round").symlink_to(root)
    assert names(root) == ["fold/new/sample.json"]


def test_a_linked_file_of_names_is_not_read(tmp_path: Path) -> None:
    names_of = tmp_path / "names.json"
    names_of.write_text('{"full_id": "elsewhere"}')
    place = sample(tmp_path / "root")
    (place.parent / "benchmark.json").symlink_to(names_of)
    (cell,) = read_foreign(open_foreign(str(tmp_path / "root"))).cells
    assert cell.benchmark == "fold"


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_ENTRIES", 5)
    for k in range(5):
        (tmp_path / f"{k}").touch()
    assert len(names(tmp_path)) == 5
    (tmp_path / "5").touch()
    with pytest.raises(AnalysisError, match="more than 5 entries"):
        names(tmp_path)
    assert is_foreign(tmp_path)  # so that every command tells this, and not that it is no trial


@pytest.mark.powerless
def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, unreadable_files: None) -> None:
    sample(tmp_path)
    shut = tmp_path / "shut, not shared"
    shut.mkdir(mode=0)
    with pytest.raises(StoreError, match="cannot be read"):
        tool_of(open_foreign(str(tmp_path)))
    for read in (open_trial, read_manifest, lambda path: gather([str(path)], Staging(path, 9))):
        with pytest.raises(StoreError, match="cannot be read: Permission denied") as told:
            read(shut)
        assert told.value.fix == f"ask its owner for chmod -R a+rX '{shut}'"
    # what lies in it may be there: nobody knows
    for look in (open_trial, read_manifest, place_of, lambda path: places_in([path])):
        with pytest.raises(StoreError, match="cannot be read: Permission denied") as told:
            look(str(shut / "t") if look is place_of else shut / "t")
        assert told.value.fix == f"ask its owner for chmod a+x '{shut}'"
    shut.chmod(0o700)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(StoreError, match="this is not a trial directory"):
        read_manifest(tmp_path / "pipe")


def test_a_root_with_two_kinds_names_both(tmp_path: Path) -> None:
    sample(tmp_path, "target/criterion/fold/new")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/r.xml").write_text(RESULT)
    with pytest.raises(UsageError, match=r"criterion.* and like BenchExec") as told:
        tool_of(open_foreign(str(tmp_path)))
    assert "--format (criterion, benchexec)" in str(told.value)
    assert tool_of(open_foreign(str(tmp_path / "target"))).name == "criterion"
    assert tool_of(open_foreign(str(tmp_path)), "benchexec").name == "benchexec"
    (cell,) = read_foreign(open_foreign(str(tmp_path)), "benchexec").cells
    assert cell.values == (0.5,)


def test_a_trial_within_is_a_kind_of_its_own_and_never_read(tmp_path: Path) -> None:
    sample(tmp_path)
    trial = tmp_path / "runs/one"
    trial.mkdir(parents=True)
    (trial / "manifest.json").write_text("{}")
    (trial / "measurements.jsonl").touch()
    sample(trial, "outputs")  # what a measured program wrote
    timed = tmp_path / "runs/one.why/cand/timed"
    timed.mkdir(parents=True)
    for name in ("manifest.json", "measurements.jsonl"):  # of its profile
        (timed / name).touch()
    assert names(tmp_path) == ["fold/new/sample.json"]
    assert trials_within(open_foreign(str(tmp_path))) == (str(trial),)
    with pytest.raises(UsageError, match=r"criterion.* and like a folder with the trial"):
        tool_of(open_foreign(str(tmp_path)))
    with pytest.raises(UsageError, match="holds trials of fairtrial") as told:
        tool_of(open_foreign(str(tmp_path / "runs")))
    assert str(trial) in str(told.value)
    with pytest.raises(UsageError, match="this is a trial of fairtrial"):
        tool_of(open_foreign(str(trial)))
    assert not is_foreign(tmp_path / "runs")


def test_pipes_in_a_folder_are_passed_over_and_named_ones_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "benchmarks.json")  # which asv's reader would look into
    (tmp_path / "r.json").write_text(
        '{"commit_hash": "c", "result_columns": ["result", "params", "version", "samples"], '
        '"results": {"time_a": [[0.1], [], "v", [[0.1, 0.2]]]}, "version": 2}'
    )
    (cell,) = read_foreign(open_foreign(str(tmp_path / "r.json"))).cells
    assert cell.values == (0.1, 0.2)
    assert names(tmp_path) == ["r.json"]
    with pytest.raises(UsageError, match="not a regular file"):
        open_foreign(str(tmp_path / "benchmarks.json"))
