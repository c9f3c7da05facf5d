"""pyperf's files. Authority: the sample file, counted by hand, and pyperf's own; its format history."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError

META = {"name": "b", "unit": "second", "loops": 8, "inner_loops": 5}


def runs(*values: list[float], **more: object) -> list[dict]:
    calibration = {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 0.5], [8, 0.1]]}
    return [calibration, *({"values": v, "warmups": [[8, 0.2]]} | more for v in values)]


def suite(*benchmarks: dict, **metadata: object) -> dict:
    return {"benchmarks": list(benchmarks), "metadata": META | metadata, "version": "1.0"}


def test_counts_in_metadata_are_no_values(foreign) -> None:
    found = foreign(suite({"runs": runs([1.0, 2.0], [3.0, 4.0])}, values=2, warmups=1, processes=2))
    (cell,) = found.cells
    assert (cell.known, cell.processes) == (True, ((1.0, 2.0), (3.0, 4.0)))
    assert (cell.warmups, "mean of 40 loops" in str(found.losses)) == (2, True)
    assert cell.keys == {"name": "b", "processes": "2"}


@pytest.mark.parametrize(
    ("unit", "metric", "ours", "better"),
    [
        ("second", "time", "s", "lower"),
        ("byte", "memory", "B", "lower"),
        ("integer", "value", "", None),
    ],
)
def test_units(foreign, unit, metric, ours, better) -> None:
    found = foreign(suite({"runs": runs([3, 4])}, unit=unit))
    (cell,) = found.cells
    assert (cell.metric, cell.unit, cell.better, cell.values) == (metric, ours, better, (3.0, 4.0))
    assert ("mean of 40 loops" in str(found.losses)) == (unit != "byte")


def test_metadata_of_the_benchmark_win_over_those_of_the_file(foreign) -> None:
    found = foreign(
        suite(
            {"runs": runs([1.0]), "metadata": {"name": "x"}},
            {"runs": runs([2.0], metadata={"loops": 2}), "metadata": {"name": "y", "tag": "t"}},
        )
    )
    one, two = found.cells
    assert (one.benchmark, "10 to 40 loops" in str(found.losses)) == ("x", True)
    assert (two.benchmark, two.keys["tag"]) == ("y", "t")


def test_files_before_version_6_call_values_samples(foreign) -> None:
    old = {
        "benchmarks": [
            {"common_metadata": {"name": "x", "loops": 4}, "runs": [{"samples": [1.5, 2.5], "warmups": [[4, 9.0]]}]}
        ],
        "version": 5,
    }  # fmt: skip
    found = foreign(old)
    (cell,) = found.cells
    assert (cell.values, cell.warmups) == ((1.5, 2.5), 1)
    assert "mean of 4 loops" in str(found.losses)


def test_the_name_may_stand_in_the_runs_only(foreign) -> None:
    bench = {"runs": [{"values": [1.0], "metadata": {"name": "x"}}]}
    assert foreign({"benchmarks": [bench], "version": "1.0"}).cells[0].benchmark == "x"


ONLY = {"runs": runs(), "metadata": {"name": "c"}}


def test_what_was_only_calibrated_is_left_out(foreign) -> None:
    found = foreign(suite({"runs": runs([1.0])}, ONLY))
    assert [cell.benchmark for cell in found.cells] == ["b"]
    assert [note.code for note in found.notes] == ["left-out"]


@pytest.mark.parametrize(
    ("bench", "said"),
    [
        (ONLY, "--calibrate-loops"),
        *(
            ({"runs": runs([1.0, wrong])}, r"benchmarks\[0\].runs\[1\].values\[1\]")
            for wrong in (-1.0, float("nan"), "1.0", None)
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(foreign, bench, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(suite(bench))
