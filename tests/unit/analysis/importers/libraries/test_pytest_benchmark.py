"""pytest-benchmark's files, 4 and 5. Authority: the sample files, counted by hand, and its writer."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def bench(**more: object) -> dict:
    stats = {"data": [0.25, 0.5, 0.75], "iterations": 4, "rounds": 3, "mean": 0.5}
    own = {"name": "t", "fullname": "x.py::t", "group": None, "params": None, "stats": stats}
    return own | more


def whole(*benchmarks: dict) -> dict:
    return {"machine_info": {"node": "h", "cpu": {"brand_raw": "C"}}, "commit_info": {"id": "abc"},
            "benchmarks": list(benchmarks), "datetime": "2026-01-02T03:04:05", "version": "4.0.0"}  # fmt: skip


def test_keys_and_commit(foreign) -> None:
    file = foreign(whole(bench(params={"n": 3, "f": [1]}, extra_info={"k": True})))
    (cell,) = file.cells
    assert cell.keys == {
        "commit": "abc", "fullname": "x.py::t", "name": "t", "n": "3", "k": "true",
    }  # fmt: skip
    assert cell.values == (0.25, 0.5, 0.75)
    assert "means of 4 iterations" in str(file.losses)


def test_a_timer_of_cpu_time_is_another_metric(foreign) -> None:
    (cell,) = foreign(whole(bench(options={"timer": "process_time"}))).cells
    assert (cell.metric, cell.unit, cell.better) == ("cpu_time", "s", "lower")


def test_without_machine_info_it_is_known_by_its_stats(foreign) -> None:
    assert foreign({"benchmarks": [bench()]}).format == "pytest-benchmark"


def test_a_test_that_failed_after_its_benchmark_cannot_be_told(foreign) -> None:
    """pytest-benchmark 5.3.1: ``benchmark(f); assert 0`` leaves all its rounds in the file."""
    (said,) = (
        loss.text for loss in foreign(whole(bench())).losses if loss.code == "failed-unknown"
    )
    assert said.startswith("a test that failed after its benchmark is in the file like any other")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(
            (whole(bench(), bench(**change)), said)
            for change, said in (
                ({"stats": {"data": []}}, "were not kept.*--benchmark-save-data"),
                ({"stats": None}, "were not kept"),
                ({"stats": {"data": [1.0, -1.0]}}, r"benchmarks\[1\].stats.data\[1\]: the value -1.0 is negative"),
                ({"fullname": None, "name": None}, "no name"),
            )
        ),
        (whole(), "no benchmark"),
        ("name,min,max,mean,stddev,rounds,iterations\nt,1,2,1.5\n", "--benchmark-json=FILE"),
        ("name,param:n,mean,outliers\nt,1,2,1.5\n", "--benchmark-json=FILE"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}"):
        foreign(content)
