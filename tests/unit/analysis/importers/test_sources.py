from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import Trial, read_trial
from analysis.errors import StoreError, UsageError
from analysis.importers import reader as trials
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.reader import (
    Reading,
    called_alike,
    newest_trial,
    open_trial,
    read_each,
    read_one,
    read_sides,
    read_sources,
    trial_and_variant,
)
from analysis.importers.registry import read_foreign
from analysis.verdict.comparison import compare_trials
from analysis.verdict.judging import judge_sources

Build = Callable[..., Any]


@pytest.fixture
def trial(synthetic: Build, tmp_path: Path) -> str:
    data = {"old": {"a": [1.0, 1.1, 1.2]}, "new": {"a": [0.5, 0.6, 0.7]}}
    return str(synthetic(data).write(tmp_path / "runs" / "one"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "x.csv"
    path.write_text("a,2.0,2.1,2.2\n")
    return str(path)


def known(tmp_path: Path, better: str, unit: str | None) -> str:
    path = tmp_path / f"{better}.json"
    data: dict[str, Any] = {"name": "k", "better": better, "samples": {"a": [1.0, 2.0]}}
    path.write_text(json.dumps(data | ({} if unit is None else {"unit": unit})))
    return str(path)


def test_a_variant_of_a_trial_knows_all(trial: str) -> None:
    sides = read_sides(f"{trial}:new", None, Reading())
    assert (sides.candidate.name, sides.baseline.name) == ("new", "old")
    assert (sides.candidate.better, sides.candidate.unit) == ("lower", "s")
    assert sides.candidate.trial == sides.baseline.trial == str(Path(trial).resolve())


def test_sides_of_one_trial_come_with_it_and_it_is_read_once(
    trial: str, file: str, tmp_path: Path, synthetic: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def counting(path: Path) -> Trial:
        opened.append(path)
        return read_trial(path)

    monkeypatch.setattr(trials, "read_trial", counting)
    for candidate, baseline in ((trial, None), (f"{trial}:new", f"{trial}:old")):
        sides = read_sides(candidate, baseline, Reading())
        assert sides.trial is not None
        assert sides.trial.path == Path(trial)
        assert opened == [Path(trial)]
        opened.clear()
    other = str(synthetic({"old": {"a": [1.0, 1.1]}}).write(tmp_path / "runs" / "two"))
    assert read_sides(f"{trial}:new", f"{other}:old", Reading()).trial is None
    assert read_sides(f"{trial}:new", file, Reading()).trial is None


def test_a_file_follows_the_trial_beside_it(trial: str, file: str) -> None:
    for pair in ((f"{trial}:new", file), (file, f"{trial}:new")):
        sides = read_sides(*pair, Reading())
        assert {sides.candidate.better, sides.baseline.better} == {"lower"}
        assert {sides.candidate.unit, sides.baseline.unit} == {"s"}
        assert None in (sides.candidate.trial, sides.baseline.trial)


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_what_is_said_gives_the_direction_and_no_unit(tmp_path, file: str, better: Any) -> None:
    sides = read_sides(file, file, Reading(better=better))
    assert (sides.candidate.better, sides.candidate.unit) == (better, "")
    assert read_one(file, Reading(better=better)).unit == ""
    assert read_one(known(tmp_path, better, None), Reading()).unit == ""


def test_a_file_that_knows_tells_the_other(tmp_path: Path, file: str) -> None:
    sides = read_sides(file, known(tmp_path, "higher", "MB/s"), Reading())
    assert (sides.candidate.better, sides.candidate.unit) == ("higher", "MB/s")
    with pytest.raises(UsageError, match="the file says that higher values are better"):
        read_sides(file, known(tmp_path, "higher", None), Reading(better="lower"))


def test_what_has_no_unit_takes_none_from_a_table_beside_it(tmp_path: Path, file: str) -> None:
    ours, theirs = (tmp_path / heading for heading in ("time_ms", "cycles"))
    for path in (ours, theirs):
        path.write_text(f"benchmark,{path.name}\na,10\na,11\n")
    sides = read_sides(str(ours), str(theirs), Reading(better="lower"))
    assert (sides.candidate.unit, sides.baseline.unit) == ("s", "")
    assert read_sides(str(ours), file, Reading()).baseline.unit == ""


def test_an_assumed_direction_is_said(file: str, trial: str) -> None:
    assert [c.code for c in read_sources([file, file], Reading()).cautions] == ["direction-assumed"]
    for sources in ([file], [file, trial]):
        codes = [caution.code for caution in read_sources(sources, Reading()).cautions]
        assert "direction-assumed" not in codes
    assert not read_sources([file, file], Reading(better="lower")).cautions


def test_equal_names_are_told_apart_by_their_source(
    trial: str, synthetic: Build, tmp_path: Path
) -> None:
    other = str(synthetic({"new": {"a": [1.0, 1.1]}}).write(tmp_path / "runs" / "two"))
    names = [matrix.name for matrix in read_sources([trial, other], Reading()).matrices]
    assert names == ["old", f"{trial}:new", f"{other}:new"]


def test_one_variant_of_two_trials_is_two_names(
    trial: str, synthetic: Build, tmp_path: Path
) -> None:
    other = str(synthetic({"old": {"a": [1.0, 1.1]}}).write(tmp_path / "runs" / "two"))
    sides = read_sides(f"{trial}:old", f"{other}:old", Reading())
    assert (sides.candidate.name, sides.baseline.name) == (f"{trial}:old", f"{other}:old")
    same = read_sides(f"{trial}:old", f"{trial}:old", Reading())
    assert (same.candidate.name, same.baseline.name) == ("old", "old")


def test_sources_that_are_compared_need_a_direction(trial: str, file: str) -> None:
    assert [m.better for m in read_each([file, f"{trial}:new", file], Reading())] == ["lower"] * 3
    with pytest.raises(UsageError, match="does not say which direction is better"):
        read_each([file, file], Reading())
    with pytest.raises(UsageError, match="does not say which direction is better"):
        read_sides(file, file, Reading())


@pytest.mark.parametrize("text", ["gone", "gone:v", "x" * 5000, "a\0b", ""])
def test_what_is_nothing_is_refused_in_our_words(text: str) -> None:
    assert trial_and_variant(text) is None
    with pytest.raises(UsageError, match="neither a matrix file nor"):
        read_one(text, Reading())
    with pytest.raises(UsageError, match="not a trial, a variant"):
        read_sources([text], Reading())
    with pytest.raises(StoreError, match="no such trial"):
        open_trial(Path(text or "gone"))


def test_a_bare_trial_with_one_candidate_is_that_comparison(trial: str) -> None:
    # first use, B: every command but verdict refused the trial that verdict wants
    sides = read_sides(trial, None, Reading())
    named = read_sides(f"{trial}:new", f"{trial}:old", Reading())
    assert (sides.candidate.name, sides.baseline.name) == ("new", "old")
    assert sides.candidate.to_dict() == named.candidate.to_dict()


def test_of_several_candidates_the_commands_are_told(synthetic: Build, tmp_path: Path) -> None:
    made = synthetic({name: {"a": [1.0, 1.1]} for name in ("old", "new", "odd")})
    source = str(made.write(tmp_path / "three"))
    with pytest.raises(UsageError) as told:
        read_sides(source, None, Reading(command="fairtrial hpt"))
    assert told.value.fix == f"write fairtrial hpt {source}:new, or fairtrial hpt {source}:odd"
    single = str(synthetic({"old": {"a": [1.0, 1.1]}}).write(tmp_path / "one"))
    assert read_one(single, Reading()).name == "old"
    with pytest.raises(UsageError, match="has 0 candidates"):
        read_sides(single, None, Reading())


def test_sources_of_two_trials_are_said(trial: str, synthetic: Build, tmp_path: Path) -> None:
    other = str(synthetic({"old": {"a": [1.0, 1.1]}}).write(tmp_path / "runs" / "two"))
    codes = {caution.code for caution in read_sources([trial, other], Reading()).cautions}
    assert "two-trials" in codes
    assert "two-trials" not in {c.code for c in read_sources([trial], Reading()).cautions}


@pytest.mark.parametrize("better", ["higher", "lower", ""])
def test_a_variant_and_a_file_of_one_name_are_both_found(tmp_path: Path, better: str) -> None:
    rows = "".join(f"b,{v},{k},{better}\n" for k, v in enumerate(("old", "new", "old", "new"), 1))
    for name in ("r.csv", "r.csv:new"):
        (tmp_path / name).write_text(f"benchmark,variant,value,better\n{rows}")
    with pytest.raises(UsageError, match=r"this may be the file .*, or the variant 'new'"):
        trial_and_variant(str(tmp_path / "r.csv:new"))
    # the control: no such variant
    (tmp_path / "r.csv:x").write_text(f"benchmark,variant,value,better\n{rows}")
    assert trial_and_variant(str(tmp_path / "r.csv:x")) == (tmp_path / "r.csv:x", None)


# --- without a source the trial that was begun last is meant

TIMES = {"a": {"x": [1.0, 1.1]}, "b": {"x": [2.0, 2.1]}}


def test_the_one_begun_last(synthetic, tmp_path):
    for name, started in (("z", "2026-11-21T04:12:00Z"), ("a", "2026-11-22T00:00:00Z")):
        made = synthetic(TIMES)
        made.manifest = replace(made.manifest, started=started)
        made.write(tmp_path / "runs" / name)
    assert newest_trial(tmp_path / "runs") == tmp_path / "runs" / "a"


def test_what_is_no_trial_is_passed_over(synthetic, tmp_path):
    synthetic(TIMES).write(tmp_path / "runs" / "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "manifest.json").write_text("{")
    (tmp_path / "runs" / "README.md").write_text("")
    assert newest_trial(tmp_path / "runs").name == "good"


@pytest.mark.parametrize("there", [True, False])
def test_none_is_an_error_that_says_what_to_do(tmp_path, there):
    folder = tmp_path / "runs"
    if there:
        folder.mkdir()
    with pytest.raises(UsageError, match="no trial is named") as caught:
        newest_trial(folder)
    assert "fairtrial run" in str(caught.value)


TABLE = "benchmark,run,threads,time_s\n" + "".join(
    f"sort,{k},4,{1 + k / 100}\n" for k in range(1, 9)
)
GO = "goos: linux\ncpu: EPYC\n" + "".join(f"BenchmarkX-8\t 10\t {k} ns/op\n" for k in range(90, 99))
SETTINGS = {
    "threads is 8 in new": (TABLE, ",4,1.", ",8,1."),
    "goos is darwin in new": (GO, "linux", "darwin"),
    "procs is 16 in new": (GO, "-8", "-16"),
    "CPU is Xeon in new": (GO, "EPYC", "Xeon"),
    "metric is user in new": (TABLE, "time_s", "user_s"),
    "": (GO, "", ""),
}


@pytest.mark.parametrize("said", SETTINGS)
def test_a_setting_that_differs_between_the_sides_is_said(tmp_path, said) -> None:
    text, old, new = SETTINGS[said]
    sides = [tmp_path / "new.csv", tmp_path / "old.csv"]
    for path, own in zip(sides, (text.replace(old, new), text), strict=True):
        path.write_text(own)
    found = judge_sources(*map(str, sides), Reading()).verdict.cautions
    both = gather([read_foreign(open_foreign(str(path))) for path in sides], ReadingChoices())
    for cautions in (found, both.cautions)[: 1 if "metric" in said else 2]:  # one trial keeps both
        told = [one.text for one in cautions if one.code == "settings-differ"]
        assert len(told) == (said != "")
        assert all(text.startswith(said) for text in told)


def test_names_of_files_that_know_no_benchmark_or_variant_are_alike_for_a_comparison(
    tmp_path,
) -> None:
    paths = [tmp_path / name for name in ("monday.json", "sunday.json")]
    for k, path in enumerate(paths):
        results = [
            {
                "command": name,
                "mean": 1.5,
                "times": [1.0 + k, 1.5, 2.0 + many],
                "exit_codes": [0, 0, 1],
            }
            for many, name in enumerate(("a", "b"))
        ]
        path.write_text(json.dumps({"results": results}))
    found = judge_sources(*(f"{path}:a" for path in paths), Reading()).verdict
    assert [one.name for one in found.candidates[0].multilevel.benchmarks] == ["monday"]
    old, new = map(open_trial, paths)
    new = called_alike(new, old, variants=True)
    assert (new.manifest.benchmarks, {run.benchmark for run in new.failed}) == (
        ("monday",),
        {"monday"},
    )
    assert not any(compare_trials(old, new).only_new.values())
    old, new = map(open_trial, paths)
    old, new = (
        replace(one, manifest=replace(one.manifest, variants=("a", path.stem)))
        for one, path in zip((old, new), paths, strict=True)
    )
    assert called_alike(new, old, variants=True).manifest.variants == ("a", "monday")
    assert called_alike(new, old, variants=False).manifest.variants == ("a", "sunday")
