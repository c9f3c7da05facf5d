"""pytest-benchmark's files, 4 and 5. Authority: the sample files, counted by hand, and its writer."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def bench(**more: object) -> dict:
    stats = {"data": [0.25, 0.5, 0.75], "iterations": 4, "rounds": 3, "mean": 0.5}
    return {
        "name": "t",
        "fullname": "x.py::t",
        "group": None,
        "params": None,
        "stats": stats,
    } | more


def whole(*benchmarks: dict) -> dict:
    return {"machine_info": {"node": "h", "cpu": {"brand_raw": "C"}}, "commit_info": {"id": "abc"},
            "benchmarks": list(benchmarks), "datetime": "2026-01-02T03:04:05", "version": "4.0.0"}  # fmt: skip


def test_autosaved_summaries_are_refused_with_the_option(read_sample) -> None:
    with pytest.raises(AnalysisError, match="--benchmark-save-data"):
        read_sample("pytest-benchmark/autosave-stats-only.json")


@pytest.mark.parametrize(
    "head",
    ["name,min,max,mean,stddev,rounds,iterations", "name,param:n,mean,outliers"],
)
def test_csv_is_refused_with_the_option(foreign, head: str) -> None:
    with pytest.raises(AnalysisError, match="--benchmark-json=FILE"):
        foreign(f"{head}\nt,1,2,1.5\n", "c.csv")


def test_keys_and_commit(foreign) -> None:
    (cell,) = foreign(whole(bench(params={"n": 3, "f": [1]}, extra_info={"k": True}))).cells
    assert cell.keys == {
        "commit": "abc", "fullname": "x.py::t", "name": "t", "n": "3", "k": "true",
    }  # fmt: skip
    assert (cell.values, cell.inner) == ((0.25, 0.5, 0.75), 4)


def test_a_timer_of_cpu_time_is_another_metric(foreign) -> None:
    (cell,) = foreign(whole(bench(options={"timer": "process_time"}))).cells
    assert (cell.metric, cell.unit, cell.better) == ("cpu_time", "s", "lower")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stats": {"data": []}}, "summary only"),
        ({"stats": None}, "summary only"),
        ({"stats": {"data": [1.0, -1.0]}}, r"benchmarks\[1\].stats.data\[1\]: the value -1.0 is negative"),
        ({"fullname": None, "name": None}, "no name"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, change, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(whole(bench(), bench(**change)))


def test_a_file_without_benchmarks_is_known(foreign) -> None:
    with pytest.raises(AnalysisError, match="no benchmark"):
        foreign(whole())


def test_without_machine_info_it_is_known_by_its_stats(foreign) -> None:
    assert foreign({"benchmarks": [bench()]}).format == "pytest-benchmark"


def test_a_test_that_failed_after_its_benchmark_cannot_be_told(foreign) -> None:
    """pytest-benchmark 5.3.1: ``benchmark(f); assert 0`` leaves all its rounds in the file."""
    (said,) = (
        loss.text for loss in foreign(whole(bench())).losses if loss.code == "failed-unknown"
    )
    assert said.startswith("a test that failed after its benchmark is in the file like any other")
