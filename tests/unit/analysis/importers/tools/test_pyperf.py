"""pyperf's files. Authority: the sample file, counted by hand, and pyperf's own; its format history."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import read_foreign

META = {"name": "b", "unit": "second", "loops": 8, "inner_loops": 5}


def runs(*values: list[float], **more: object) -> list[dict]:
    calibration = {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 0.5], [8, 0.1]]}
    return [calibration, *({"values": v, "warmups": [[8, 0.2]]} | more for v in values)]


def suite(*benchmarks: dict, **metadata: object) -> dict:
    return {"benchmarks": list(benchmarks), "metadata": META | metadata, "version": "1.0"}


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(json.dumps(suite({"runs": runs([1.0, 2.0])})).encode()))
    opened = open_foreign(str(path))
    assert opened.stem == "x"
    assert read_foreign(opened).cells[0].values == (1.0, 2.0)


def test_counts_in_metadata_are_no_values(foreign) -> None:
    found = foreign(suite({"runs": runs([1.0, 2.0], [3.0, 4.0])}, values=2, warmups=1, processes=2))
    (cell,) = found.cells
    assert (cell.known, cell.processes) == (True, ((1.0, 2.0), (3.0, 4.0)))
    assert (cell.warmups, cell.inner) == (2, 40)
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
    (cell,) = foreign(suite({"runs": runs([3, 4])}, unit=unit)).cells
    assert (cell.metric, cell.unit, cell.better, cell.values) == (metric, ours, better, (3.0, 4.0))
    assert cell.inner == (1 if unit == "byte" else 40)


def test_metadata_of_the_benchmark_win_over_those_of_the_file(foreign) -> None:
    one, two = foreign(
        suite(
            {"runs": runs([1.0]), "metadata": {"name": "x"}},
            {"runs": runs([2.0], metadata={"loops": 2}), "metadata": {"name": "y", "tag": "t"}},
        )
    ).cells
    assert (one.benchmark, one.inner) == ("x", 40)
    assert (two.benchmark, two.inner, two.keys["tag"]) == ("y", 10, "t")


def test_the_name_may_stand_in_the_runs_only(foreign) -> None:
    bench = {"runs": [{"values": [1.0], "metadata": {"name": "x"}}]}
    assert foreign({"benchmarks": [bench], "version": "1.0"}).cells[0].benchmark == "x"


def test_files_before_version_6_call_values_samples(foreign) -> None:
    old = {
        "benchmarks": [
            {"common_metadata": {"name": "x", "loops": 4}, "runs": [{"samples": [1.5, 2.5], "warmups": [[4, 9.0]]}]}
        ],
        "version": 5,
    }  # fmt: skip
    (cell,) = foreign(old).cells
    assert (cell.values, cell.inner, cell.warmups) == ((1.5, 2.5), 4, 1)


def test_what_was_only_calibrated_is_left_out_or_refused(foreign) -> None:
    only = {"runs": runs(), "metadata": {"name": "c"}}
    found = foreign(suite({"runs": runs([1.0])}, only))
    assert [cell.benchmark for cell in found.cells] == ["b"]
    assert [note.code for note in found.notes] == ["left-out"]
    with pytest.raises(AnalysisError, match="only calibrated"):
        foreign(suite(only))


@pytest.mark.parametrize("value", [-1.0, float("nan"), "1.0", True, None])
def test_what_is_no_value_is_refused_with_its_place(foreign, value) -> None:
    with pytest.raises(AnalysisError, match=r"benchmarks\[0\].runs\[1\].values\[1\]"):
        foreign(suite({"runs": runs([1.0, value])}))


def test_key_order_and_length_before_the_first_benchmark_do_not_matter(foreign) -> None:
    long = {"metadata": META | {"python_cflags": "x" * 100_000}, "version": "1.0"}
    assert foreign(long | {"benchmarks": [{"runs": runs([1.0])}]}).format == "pyperf"
