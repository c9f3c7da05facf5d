"""criterion.rs: values by hand from the samples; layouts of its versions 0.2 to 0.8.

A value is the total time of a sample divided by its iterations (criterion's book, "Raw data").
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.registry import read_foreign, tool_of

HEAD = "group,function,value,sample_time_nanos,iteration_count\n"


def write(path: Path, iters: list, times: list, mode: str = "Linear", **names) -> None:
    path.mkdir(parents=True)
    (path / "sample.json").write_text(
        json.dumps({"sampling_mode": mode, "iters": iters, "times": times})
    )
    if names:
        (path / "benchmark.json").write_text(json.dumps(names))


def read(path: Path):
    return read_foreign(open_foreign(str(path)))


def test_the_sample_folder_value_by_value(read_sample) -> None:
    file = read_sample("criterion")
    assert [(c.benchmark, c.variant, len(c.values)) for c in file.cells] == [
        ("fold", "base", 3), ("fold", "new", 3),
        ("grp/fold/100", "base", 3), ("grp/fold/100", "new", 3),
        ("grp/fold/1000", "base", 3), ("grp/fold/1000", "new", 3),
    ]  # fmt: skip
    first = file.cells[1]
    # 1250 ns of 10 iterations, 5000 of 20, 3750 of 30
    assert first.values == pytest.approx((125e-9, 250e-9, 125e-9), rel=1e-12)
    assert (first.unit, first.better, first.metric) == ("s", "lower", "time")
    assert (first.known, len(first.processes)) == (True, 1)
    assert (first.warmups, first.failed) == (None, None)
    # a build lies between two baselines: they are no runs of one occasion
    assert [cell.session for cell in file.cells[:2]] == ["base", "new"]
    assert "no-sessions" in {loss.code for loss in file.losses}
    assert file.cells[2].keys["throughput"] == "100 Elements"
    assert file.variant_rule == "the saved baseline's name"
    # both names hold the last result: never a false "equivalent"
    assert gather([file], ReadingChoices()).variants == ("base",)


@pytest.mark.parametrize(
    "name", ["criterion/fold/new/sample.json", "criterion/fold/new/raw.csv", "criterion/fold/new"]
)
def test_parts_of_the_folder_have_the_same_names(read_sample, name) -> None:
    (cell,) = read_sample(name).cells
    assert (cell.benchmark, cell.variant, len(cell.values)) == ("fold", "new", 3)
    assert cell.values[1] == pytest.approx(250e-9, rel=1e-12)


def test_the_earlier_header_of_raw_csv(foreign) -> None:
    (cell,) = foreign(HEAD + "g,f,,1000,8\ng,f,,3000,16\n", "raw.csv").cells
    assert (cell.benchmark, cell.variant) == ("g/f", None)
    assert cell.values == pytest.approx((125e-9, 187.5e-9), rel=1e-12)


def test_a_projects_root_and_names_without_benchmark_json(tmp_path) -> None:
    home = tmp_path / "target" / "criterion"
    write(home / "g" / "f" / "10" / "new", [2, 4], [20, 40])
    write(home / "g" / "f" / "10" / "before", [2, 4], [30, 50])
    write(home / "g" / "f" / "10" / "change", [2, 4], [30, 50])
    (tmp_path / "target" / "debug").mkdir()
    for path in (tmp_path, home):
        assert [(c.benchmark, c.variant) for c in read(path).cells] == [
            ("g/f/10", "before"),
            ("g/f/10", "new"),
        ]
    assert read(home / "g" / "f" / "10" / "new").cells[0].benchmark == "10"


def test_a_projects_root_with_more_files_than_are_looked_at(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("analysis.data.opening.MOST_ENTRIES", 9)
    write(tmp_path / "target" / "criterion" / "f" / "new", [2, 4], [20, 40])
    (tmp_path / "target" / "debug").mkdir()
    for k in range(10):
        (tmp_path / "target" / "debug" / f"{k}.o").touch()
    assert [(c.benchmark, c.variant) for c in read(tmp_path).cells] == [("f", "new")]


def test_names_of_earlier_versions_have_no_full_id(tmp_path) -> None:
    write(tmp_path / "x" / "new", [1], [5], group_id="g", function_id="f", value_str=None)
    assert read(tmp_path).cells[0].benchmark == "g/f"


def test_flat_samples_have_equal_counts(tmp_path) -> None:
    write(tmp_path / "x" / "new", [3.0, 3.0], [6.0, 9.0], mode="Flat")
    file = read(tmp_path)
    assert file.cells[0].values == pytest.approx((2e-9, 3e-9), rel=1e-12)
    assert "unequal-means" not in {loss.code for loss in file.losses}


SAMPLE = '{"sampling_mode":"Linear","iters":[1.0,2.0],"times":[5.0,8.0]}'
EARLIER = '{"iters":[1.0,2.0],"times":[5.0,8.0]}'


@pytest.mark.parametrize("text", [SAMPLE, EARLIER, "[[1.0,2.0],[5.0,8.0]]"])
def test_samples_of_earlier_versions_and_without_their_folder(tmp_path, foreign, text) -> None:
    (tmp_path / "x" / "new").mkdir(parents=True)
    (tmp_path / "x" / "new" / "sample.json").write_text(text)
    files = [read(tmp_path), *([foreign(text)] if text.startswith("{") else [])]
    for file in files:
        assert file.format == "criterion"
        assert file.cells[0].values == pytest.approx((5e-9, 4e-9), rel=1e-12)


def test_a_sample_that_is_cut_off_is_refused(tmp_path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"sampling_mode":"Flat","iters":[1,2],"times":[1')
    with pytest.raises(AnalysisError, match="the file is cut off"):
        tool_of(open_foreign(str(path)))


def test_messages_of_cargo_criterion(foreign) -> None:
    line = {
        "reason": "benchmark-complete", "id": "norm", "iteration_count": [2, 4],
        "measured_values": [20.0, 60.0], "unit": "ns", "throughput": [],
    }  # fmt: skip
    text = "   Compiling x v0.1.0\n" + json.dumps(line) + '\n{"reason":"group-complete"}\n'
    file = foreign(text, "m.jsonl")
    assert [(c.benchmark, c.values) for c in file.cells] == [
        ("norm", pytest.approx((1e-8, 1.5e-8), rel=1e-12))
    ]


def test_another_measurement_keeps_its_unit(foreign) -> None:
    head = (
        "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,"
        "iteration_count\n"
    )
    (cell,) = foreign("\n" + head + "g,f,1,8,bytes,60.0,cycles,3\n", "raw.csv").cells
    assert (cell.metric, cell.unit, cell.better, cell.values) == ("cycles", "cycles", None, (20.0,))
    assert cell.keys["throughput"] == "8 bytes"


def test_binary_files_of_cargo_criterion_are_refused_with_the_way_out(tmp_path) -> None:
    (tmp_path / "data" / "main" / "g").mkdir(parents=True)
    (tmp_path / "data" / "main" / "g" / "measurement_1.cbor").write_bytes(b"\xa1")
    with pytest.raises(AnalysisError, match="--message-format=json"):
        read(tmp_path)


def test_estimates_and_printed_times_are_refused_with_the_way_out(foreign, sample) -> None:
    with pytest.raises(AnalysisError, match="target/criterion"):
        read(Path(sample("criterion/fold/new/estimates.json")))
    text = "fold                    time:   [82.1 ns 95.3 ns 110.2 ns]\nFound 2 outliers\n"
    with pytest.raises(AnalysisError, match="target/criterion"):
        foreign(text, "bench.txt")


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ('{"sampling_mode":"Flat","iters":[1],"times":[1,2]}', "as many times", "r.x"),
        ('{"sampling_mode":"Flat","iters":[0],"times":[1]}', "0 iterations", "iters[0]"),
        ('{"sampling_mode":"Flat","iters":[1],"times":[-1]}', "negative", "times[0]"),
        ('{"sampling_mode":"Flat","iters":[1,2],"times":[1', "cut off", "r.x:1"),
        (HEAD + "g,f,,12\n", "cut off or damaged", "r.x:2"),
        (HEAD + "g,f,,12,0\n", "0 iterations", "r.x:2"),
        (HEAD + "g,f,,-12,1\n", "negative", "r.x:2"),
        (HEAD, "no row", "r.x"),
        ('{"reason":"benchmark-complete","id":"x"}\n', "damaged", "r.x:1"),
    ],
)
def test_damage_is_an_error_with_its_place(foreign, text, said, at) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.x", format="criterion")
    assert at in str(told.value)
