"""What a verdict on two sides says of them: each thing once, and of the side that it holds for.

Authority: the cautions that each side carries.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.importers.reader import Reading, open_trial
from analysis.pages.model import Caution
from analysis.verdict.judging import judge, judge_sides, judge_sources
from analysis.verdict.sides import without


def side(name, *cautions):
    rng = np.random.default_rng(7)
    return PerformanceMatrix(
        name=name,
        benchmarks=("text", "logs"),
        samples=tuple(np.exp(rng.normal(0, 0.01, 12)) for _ in range(2)),
        sessions=(np.repeat([1, 2, 3, 4], 3),) * 2,
        unit="s",
        better="lower",
        cautions=cautions,
    )


def test_what_is_known_of_a_side_is_said_of_that_side():
    answer = judge_sides(
        side("new", Caution("failed-runs", "3 runs failed")),
        side("old", Caution("one-host", "one host only (lab1)", ("lab1",))),
        metric="wall",
    )
    told = {(one.code, one.about): one.text for one in answer.cautions}
    assert told["failed-runs", ("new",)] == "new: 3 runs failed"
    assert told["one-host", ("old", "lab1")] == "old: one host only (lab1)"
    assert not {("failed-runs", ("old",)), ("one-host", ("new", "lab1"))} & set(told)


@pytest.fixture
def fleet(fleet_folder, synthetic, tmp_path):
    """Write a fleet of three hosts, of which one is missing."""

    def make(missing):
        names = ("lab1", "lab2", "lab3")
        folder = fleet_folder(names)
        rng = np.random.default_rng(7)
        for host in set(names) - {missing}:
            times = {
                one: {"text": np.exp(rng.normal(0, 0.01, 16)).tolist()} for one in ("old", "new")
            }
            synthetic(times, sessions=4, host=host, trial=f"t-{host}").write(folder / host)
        return folder.rename(tmp_path / f"without-{missing}")

    return make


def of_hosts(*sources):
    found = judge_sources(*map(str, sources), Reading()).verdict.cautions
    return [one for one in found if one.code in ("host-missing", "hosts-as-sessions")]


def test_two_sides_of_one_fleet_say_once_which_hosts_are_missing(fleet):
    folder = fleet("lab2")
    told = of_hosts(f"{folder}:new", f"{folder}:old")
    assert [one.code for one in told] == ["host-missing", "hosts-as-sessions"]
    assert told[0].text.startswith("missing: lab2")


def test_sides_of_two_fleets_say_each_what_is_missing_of_it(fleet):
    told = of_hosts(f"{fleet('lab2')}:new", f"{fleet('lab3')}:old")
    assert [one.text.split(" is taken")[0] for one in told] == [
        "new: missing: lab2: no run was measured there, and nothing is claimed about it",
        "new: each of 2 hosts (lab1, lab3)",
        "old: missing: lab3: no run was measured there, and nothing is claimed about it",
        "old: each of 2 hosts (lab1, lab2)",
    ]


def test_a_side_of_a_fleet_beside_a_file_says_it_once_and_by_its_name(fleet, tmp_path):
    (tmp_path / "old.csv").write_text("text,1.0,1.01,0.99,1.02,1.0\n")
    told = judge_sources(
        f"{fleet('lab2')}:new", str(tmp_path / "old.csv"), Reading()
    ).verdict.cautions
    missing = [one for one in told if one.code == "host-missing"]
    assert [one.about for one in missing] == [("new", "lab2")]


def test_two_sides_say_too_that_their_intervals_hold_at_every_look():
    sides = (f"{Path(__file__).parents[4]}/runs/sample:gzip-{k}" for k in (1, 6))
    answer = judge_sources(*sides, Reading(), always_valid=True).verdict
    assert answer.to_dict()["always_valid"]
    assert "valid at every look" in " ".join(str(answer).split())


def test_what_is_left_out_is_left_out_of_all_that_a_side_holds():
    whole = side("new")
    zeros = replace(whole, samples=(np.zeros(12), np.ones(12)))
    failed = {"text": 1, "logs": 2}
    one = replace(whole, failed=failed, failed_by_session={}, with_zeros=zeros)
    kept = without(one, {"text"})
    assert kept.benchmarks == kept.with_zeros.benchmarks == ("logs",)
    assert kept.with_zeros.values("logs").tolist() == [1.0] * 12
    assert kept.failed == {"logs": 2}
    assert without(one, ()).with_zeros.benchmarks == ("text", "logs")
    assert without(replace(one, with_zeros=zeros.select(["text"])), {"text"}).with_zeros is None
    assert without(whole, {"text"}).with_zeros is None


ONE = "benchmark,variant,time_ms\nx,old,10\nx,new,12\ny,old,20\ny,new,25\n"
ALONE = [
    pytest.param({"a.csv": ONE}, id="two variants in one table"),
    pytest.param({"a.csv": "benchmark,time_ms\nx,10\n", "b.csv": "benchmark,time_ms\nx,11\n"}, id="two tables"),
    pytest.param({"a.csv": "x,10\ny,20\n", "b.csv": "x,11\ny,21\n"}, id="bare numbers"),
    pytest.param({"a.csv": "benchmark,time_ms\nx,10\ny,20\n"}, id="one variant"),
]  # fmt: skip
ENOUGH = [
    pytest.param({"a.csv": ONE + "y,new,26\n"}, id="a second value"),
    pytest.param({"a.csv": "benchmark,variant,status,time_ms\nx,old,ok,9\nx,new,error,\nx,new,ok,8\n"}, id="a failed run"),
    pytest.param({"a.csv": "x,10,11\n", "b.csv": "x,11\n"}, id="bare numbers, one side more"),
    pytest.param({"a.csv": "benchmark,variant,session,time_ms\n" + "".join(f"x,{v},{s},{s + 9}\n" for s in (1, 2) for v in "on")}, id="two sessions"),
    pytest.param({"a.json": '{"benchmarks": [{"metadata": {"name": "x"}, "runs": [{"values": [1.0, 1.1]}]}], "version": "1.0"}'}, id="one process of two values"),
]  # fmt: skip


def judged(files, folder):
    for name, text in files.items():
        (folder / name).write_text(text)
    first, *second = (folder / name for name in files)
    if second:
        return judge_sources(str(first), str(second[0]), Reading(better="lower")).verdict
    return judge(open_trial(first))


@pytest.mark.parametrize("files", ALONE)
def test_one_value_of_each_benchmark_is_no_verdict(files, tmp_path):
    with pytest.raises(InsufficientDataError, match="one value of each benchmark") as refused:
        judged(files, tmp_path)
    assert "fairtrial history" in refused.value.fix


@pytest.mark.parametrize("files", ENOUGH)
def test_a_second_value_anywhere_is_judged(files, tmp_path):
    assert judged(files, tmp_path).cautions


def test_the_option_that_keeps_runs_is_named_as_the_reader_said_it(tmp_path):
    path = tmp_path / "perf.csv"
    path.write_text("0.5,msec,task-clock,500000,100.00,0.5,CPUs utilized\n")
    with pytest.raises(InsufficientDataError) as refused:
        judge(open_trial(path))
    assert "perf stat -r N --table" in refused.value.fix
