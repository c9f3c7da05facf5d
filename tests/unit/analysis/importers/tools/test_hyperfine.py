"""hyperfine's files, 1.15 to 2.0. Authority: the sample files, counted by hand, and the tool's schema."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError

RESULT = {
    "command": "a b",
    "mean": 2.0,
    "stddev": None,
    "median": 2.0,
    "user": 0.1,
    "system": 0.2,
    "min": 1.0,
    "max": 3.0,
    "times": [1.0, 2.0, 3.0],
    "exit_codes": [0, 0, 0],
}


def results(*changes: dict) -> dict:
    return {"results": [RESULT | change for change in changes]}


@pytest.mark.parametrize("name", ["two-commands.csv", "two-commands.md"])
def test_exports_of_summaries_are_refused(read_sample, name: str) -> None:
    with pytest.raises(AnalysisError, match="--export-json FILE"):
        read_sample(f"hyperfine/{name}")


@pytest.mark.parametrize(
    "text",
    [
        '[cols="<,>,>,>,>"]\n|===\n| Command \n| Mean [ms] \n| Min…Max [ms] \n',
        "| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |\n|--+--|\n",
        "Benchmark 1: sleep 0.1\n  Time (mean ± σ):     101.0 ms ±   0.4 ms\n",
        "Benchmark #1: sleep 0.1\n  Time (mean ± σ):     101.0 ms ±   0.4 ms\n",
        "command,mean,stddev,median,user,system,min,max,parameter_n\na,1,,1,1,1,1,1,2\n",
        "command,time_wall_clock_unit,time_wall_clock_mean,time_wall_clock_stddev\na,s,1,1\n",
        "command,metric,unit,mean,stddev,median,min,max\na,time_wall_clock,s,1,1,1,1,1\n",
    ],
)
def test_other_outputs_are_refused_with_the_option(foreign, text: str) -> None:
    with pytest.raises(AnalysisError, match="--export-json FILE"):
        foreign(text, "out.txt")


def test_a_signal_is_a_failure_and_its_time_no_value(foreign) -> None:
    (cell,) = foreign(results({"exit_codes": [0, None, 1]})).cells
    assert (cell.values, cell.failed) == ((1.0,), 2)


def test_memory_of_newer_versions_is_a_metric(foreign) -> None:
    change = {"memory_usage_byte": [4096, 8192, 0], "exit_codes": [0, 0, 9]}
    time, memory = foreign(results(change)).cells
    assert time.values == (1.0, 2.0)
    assert (memory.metric, memory.unit, memory.better) == ("max_rss", "B", "lower")
    assert (memory.values, memory.failed) == ((4096.0, 8192.0), 1)
    assert memory.processes == ((4096.0,), (8192.0,))


def test_times_may_be_absent(foreign) -> None:
    summary = {key: value for key, value in RESULT.items() if key != "times"}
    with pytest.raises(AnalysisError, match=r"results\[1\].*no 'times'"):
        foreign({"results": [RESULT, summary]})


def test_without_exit_codes_failures_are_unknown(foreign) -> None:
    old = {key: value for key, value in RESULT.items() if key != "exit_codes"}
    (cell,) = foreign({"results": [old]}).cells
    assert (len(cell.values), cell.failed) == (3, None)


def test_equal_commands_stay_two_cells(foreign) -> None:
    found = foreign(results({"parameters": {"n": "1"}}, {"parameters": {"n": "2"}}))
    assert [cell.keys["n"] for cell in found.cells] == ["1", "2"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"times": [1.0, -2.0, 3.0]}, r"results\[0\].times\[1\]: the value -2.0 is negative"),
        ({"times": [1.0, 1e999, 3.0]}, r"times\[1\]: the value inf is not a finite number"),
        ({"times": [1.0, float("nan"), 3.0]}, r"times\[1\]: the value nan is not a finite number"),
        ({"times": [1.0, 2.0]}, "there are 2 values of 3 runs"),
        ({"times": [], "exit_codes": []}, "no 'times'"),
        ({"command": 3}, "a result has no name"),
    ],
)
def test_what_cannot_be_a_run_is_refused_with_its_place(foreign, change: dict, said: str) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(results(change))


def test_zero_is_a_value(foreign) -> None:
    (cell,) = foreign(results({"times": [0, 2, 3]})).cells
    assert cell.values == (0.0, 2.0, 3.0)


def test_an_empty_file_of_results_is_known_and_refused(foreign) -> None:
    with pytest.raises(AnalysisError, match="no result in the file"):
        foreign({"results": []})


def run(wall: float, code: int | None = 0, **more: object) -> dict:
    def second(value: float) -> dict:
        return {"value": value, "unit": "second"}

    times = {"time_wall_clock": wall, "time_cpu": 0.5, "time_user": 0.25, "time_system": 0.25}
    found = {name: second(value) for name, value in times.items()}
    return (
        found
        | {"memory_peak_resident": {"value": 4096.0, "unit": "byte"}, "exit_code": code}
        | more
    )


def version_2(*runs: dict, **more: object) -> dict:
    about = {
        "hyperfine_version": "2.0.0",
        "start_time": "2026-10-07T21:13:00Z",
        "platform": {"os": "Linux"},
    }
    return {
        "schema_version": 2, "metadata": about, "primary_metric": "time_wall_clock",
        "results": [{"command": "a 1", "measurements": list(runs), "summary": {}} | more],
    }  # fmt: skip


def test_version_2_has_all_metrics_of_every_run(foreign) -> None:
    counted = {"instructions": {"value": 7}}
    found = foreign(version_2(run(1.0, **counted), run(9.0, 3, **counted), run(2.0, **counted)))
    told = {c.metric: (c.unit, c.better, c.values) for c in found.cells}
    assert told == {
        "time": ("s", "lower", (1.0, 2.0)),
        "time_cpu": ("s", "lower", (0.5, 0.5)),
        "time_user": ("s", "lower", (0.25, 0.25)),
        "time_system": ("s", "lower", (0.25, 0.25)),
        "max_rss": ("B", "lower", (4096.0, 4096.0)),
        "instructions": ("", None, (7.0, 7.0)),
    }
    for cell in found.cells:
        assert (cell.variant, cell.failed, cell.known, len(cell.processes)) == ("a 1", 1, True, 2)
        assert cell.session == "2026-10-07T21:13:00Z"
    assert "cpu-time-means" not in {loss.code for loss in found.losses}


def test_version_2_has_names_beside_commands_and_other_parameters(foreign) -> None:
    (cell, *_) = foreign(version_2(run(1.0), name="one", parameters={"n": {"value": "1"}})).cells
    assert cell.variant == "one"
    assert cell.keys == {"command": "a 1", "name": "one", "n": "1"}


def test_version_2_a_signal_is_a_failure(foreign) -> None:
    assert foreign(version_2(run(1.0), run(2.0, None))).cells[0].failed == 1


def test_version_2_a_metric_that_some_runs_lack_is_left_out(foreign) -> None:
    found = foreign(
        version_2(run(1.0, instructions={"value": 7}), run(2.0, memory_peak_resident=None))
    )
    assert {c.metric for c in found.cells} == {"time", "time_cpu", "time_user", "time_system"}
    assert [note.code for note in found.notes] == ["left-out", "left-out"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"time_wall_clock": None},
            r"measurements\[1\].time_wall_clock has no key 'value'",
        ),
        ({"time_wall_clock": {"value": -1.0, "unit": "second"}}, "the value -1.0 is negative"),
    ],
)
def test_version_2_what_cannot_be_a_run_is_refused_with_its_place(foreign, more, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(version_2(run(1.0), run(1.0, **more)))
