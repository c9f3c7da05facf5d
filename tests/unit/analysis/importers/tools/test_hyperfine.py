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


def test_memory_of_newer_versions_is_a_metric(foreign) -> None:
    change = {"memory_usage_byte": [4096, 8192, 0], "exit_codes": [0, 0, 9]}
    time, memory = foreign(results(change)).cells
    assert time.values == (1.0, 2.0)
    assert (memory.metric, memory.unit, memory.better) == ("max_rss", "B", "lower")
    assert (memory.values, memory.failed) == ((4096.0, 8192.0), 1)
    assert memory.processes == ((4096.0,), (8192.0,))


def test_equal_commands_stay_two_cells(foreign) -> None:
    found = foreign(results({"parameters": {"n": "1"}}, {"parameters": {"n": "2"}}))
    assert [cell.keys["n"] for cell in found.cells] == ["1", "2"]


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


def test_version_2_a_metric_that_some_runs_lack_is_left_out(foreign) -> None:
    found = foreign(
        version_2(run(1.0, instructions={"value": 7}), run(2.0, memory_peak_resident=None))
    )
    assert {c.metric for c in found.cells} == {"time", "time_cpu", "time_user", "time_system"}
    assert [note.code for note in found.notes] == ["left-out", "left-out"]


def without(key: str) -> dict:
    return {"results": [{one: value for one, value in RESULT.items() if one != key}]}


@pytest.mark.parametrize(
    ("content", "values", "failed"),
    [
        (results({"exit_codes": [0, None, 1]}), (1.0,), 2),  # None is a signal
        (results({"times": [0, 2, 3]}), (0.0, 2.0, 3.0), 0),
        (without("exit_codes"), (1.0, 2.0, 3.0), None),
        (version_2(run(1.0), run(2.0, None)), (1.0,), 1),
    ],
)
def test_failures_are_no_values(foreign, content, values, failed) -> None:
    cell = foreign(content).cells[0]
    assert (cell.values, cell.failed) == (values, failed)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (results({"times": [1.0, -2.0, 3.0]}), r"results\[0\].times\[1\]: the value -2.0 is negative"),
        (results({"times": [1.0, 1e999, 3.0]}), r"times\[1\]: the value inf is not a finite number"),
        (results({"times": [1.0, 2.0]}), "there are 2 values of 3 runs"),
        (results({"times": [], "exit_codes": []}), "were not kept"),
        (results({"command": 3}), "a benchmark has no name"),
        ({"results": [RESULT, *without("times")["results"]]}, r"results\[1\].*were not kept"),
        (version_2(run(1.0), run(1.0, time_wall_clock=None)), r"measurements\[1\].time_wall_clock has no key 'value'"),
        (version_2(run(1.0), run(-1.0)), "the value -1.0 is negative"),
        *(
            (text, "--export-json FILE")
            for text in (
                '[cols="<,>,>,>,>"]\n|===\n| Command \n| Mean [ms] \n| Min…Max [ms] \n',
                "| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |\n|--+--|\n",
                "Benchmark 1: sleep 0.1\n  Time (mean ± σ):     101.0 ms ±   0.4 ms\n",
                "Benchmark #1: sleep 0.1\n  Time (mean ± σ):     101.0 ms ±   0.4 ms\n",
                "command,mean,stddev,median,user,system,min,max,parameter_n\na,1,,1,1,1,1,1,2\n",
                "command,time_wall_clock_unit,time_wall_clock_mean,time_wall_clock_stddev\na,s,1,1\n",
                "command,metric,unit,mean,stddev,median,min,max\na,time_wall_clock,s,1,1,1,1,1\n",
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said: str) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(content)
