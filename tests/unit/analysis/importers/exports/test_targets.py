"""Each target's own layout and what it says it cannot hold.

Authority: the tools' documented keys: hyperfine's export and its scripts (command, times, parameters), the Go
benchmark format (one line a result, units behind values, keys above).
"""

from __future__ import annotations

import csv
import io
import json

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.opening import open_foreign
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.importers.export import (
    TARGETS,
    ExportedCell,
    ExportedData,
    ExportedProcess,
    Metric,
    exported_matrices,
    exported_trial,
    target_for,
)
from analysis.importers.registry import read_foreign

TIME = Metric(name="wall", unit="s", better="lower")
RATE = Metric(name="MB/s", unit="MB/s", better="higher")


def exported(*samples, metrics=(TIME,)):
    return ExportedData(name="t", metrics=metrics, samples=samples, host="h", cpu_model="c")


def sample(*values, benchmark="sort", variant="old", **about):
    runs = tuple(
        ExportedProcess(
            number=k, values={"wall": value if isinstance(value, tuple) else (value,)}, **about
        )
        for k, value in enumerate(values, 1)
    )
    return ExportedCell(benchmark=benchmark, variant=variant, runs=runs)


def made(name, one):
    return target_for("-", name).writer(one)


def codes(name, one):
    return [loss.code for loss in made(name, one).lost]


def test_hyperfine_has_the_keys_that_its_scripts_read():
    runs = (
        ExportedProcess(number=1, values={"wall": (0.5,)}, user=0.2, system=0.1),
        ExportedProcess(
            number=2, values={"wall": (0.7,)}, user=0.4, system=0.3, outcome="failed", exit_code=3
        ),
    )
    one = exported(ExportedCell(benchmark="sort", variant="old", runs=runs))
    (result,) = json.loads(made("hyperfine", one).data)["results"]
    assert result["command"] == "old"
    assert result["times"] == [0.5, 0.7]
    assert result["exit_codes"] == [0, 3]
    assert (result["min"], result["max"], result["mean"]) == (0.5, 0.5, 0.5)  # never of failed runs
    assert result["user"] == 0.2
    assert result["parameters"] == {"benchmark": "sort", "variant": "old"}
    assert codes("hyperfine", one) == []


def test_a_failed_run_without_a_time_cannot_stand_in_hyperfine():
    runs = (
        ExportedProcess(number=1, values={"wall": (0.5,)}),
        ExportedProcess(number=2, values={}, outcome="failed"),
    )
    one = exported(ExportedCell(benchmark="sort", variant="old", runs=runs))
    assert codes("hyperfine", one) == ["failed-lost"]


def test_go_text_is_a_line_for_each_value_and_a_pass_for_each_process():
    one = exported(sample((0.5, 0.25), (0.75,)), sample((1.5,), benchmark="two words"))
    written = made("go-bench", one)
    lines = written.data.decode().splitlines()
    assert lines == [
        "pkg: t",
        "variant: old",
        "cpu: c",
        "BenchmarkSort\t1\t500000000.0 ns/op",
        "BenchmarkSort\t1\t250000000.0 ns/op",
        "BenchmarkTwo_words\t1\t1500000000.0 ns/op",
        "PASS",
        "BenchmarkSort\t1\t750000000.0 ns/op",
        "PASS",
    ]
    assert [loss.code for loss in written.lost] == ["names-changed"]


def test_two_names_that_go_would_not_tell_apart_are_refused():
    one = exported(sample(1.0, benchmark="a b"), sample(1.0, benchmark="a_b"))
    with pytest.raises(UsageError, match="under one name"):
        made("go-bench", one)


@pytest.mark.parametrize(
    "benchmarks", [("f-8",), ("f-8", "g-8"), ("f-8", "g-4"), ("f-8", "g"), ("f", "g")]
)
def test_a_number_at_the_end_of_a_name_comes_back_from_go(tmp_path, benchmarks):
    """What all names of a file end with is taken for GOMAXPROCS when it is read."""
    one = exported(*(sample(1.0, benchmark=name) for name in benchmarks))
    path = tmp_path / "go.txt"
    path.write_bytes(made("go-bench", one).data)
    again = [cell.benchmark for cell in read_foreign(open_foreign(str(path))).cells]
    assert again == [f"Benchmark{name.capitalize()}" for name in benchmarks]


def test_a_target_of_one_variant_refuses_two():
    with pytest.raises(UsageError, match="one variant") as caught:
        made("pyperf", exported(sample(1.0), sample(1.0, variant="new")))
    assert "old, new" in caught.value.fix


@pytest.mark.parametrize("name", ["hyperfine", "pyperf"])
def test_a_target_of_times_refuses_rates(name):
    runs = (ExportedProcess(number=1, values={"MB/s": (3.0,)}),)
    one = exported(ExportedCell(benchmark="b", variant="v", runs=runs), metrics=(RATE,))
    with pytest.raises(UsageError, match="unit 'MB/s'"):
        made(name, one)
    assert b"3.0 MB/s" in made("go-bench", one).data


def test_everything_stands_in_the_long_table():
    runs = (
        ExportedProcess(number=1, values={"wall": (0.1,)}, session=1, block=1, warmup=True),
        ExportedProcess(number=2, values={"wall": (0.1, 0.2)}, session=1, block=2),
        ExportedProcess(number=3, values={}, session=2, block=1, outcome="failed"),
    )
    one = exported(ExportedCell(benchmark='a "b", c', variant="v\nw", runs=runs))
    text = made("long-csv", one).data.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["value"] for row in rows] == ["0.1", "0.1", "0.2", ""]
    assert [row["run"] for row in rows] == ["1", "2", "2", "3"]
    assert [row["outcome"] for row in rows] == ["ok", "ok", "ok", "failed"]
    assert [row["warmup"] for row in rows] == ["true", "false", "false", "false"]
    assert {(row["benchmark"], row["variant"]) for row in rows} == {('a "b", c', "v\nw")}


def test_missing_pyarrow_is_named_with_its_install_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError) as caught:
        made("parquet", exported(sample(1.0)))
    assert "pip install 'fairtrial[parquet]'" in caught.value.fix


def test_what_is_lost_is_computed_from_the_data():
    about = {"session": 1, "block": 1}
    plain = exported(sample(0.5, **about))
    assert codes("pyperf", plain) == []
    runs = (
        ExportedProcess(number=1, values={"wall": (0.5,)}, session=1, block=1),
        ExportedProcess(number=2, values={"wall": (0.5,)}, session=2, block=2, warmup=True),
        ExportedProcess(number=3, values={"wall": (0.0,)}, session=2, block=3),
        ExportedProcess(number=4, values={}, session=2, block=3, outcome="failed"),
    )
    rich = exported(ExportedCell(benchmark=" x", variant="v", runs=runs), metrics=(TIME, RATE))
    assert sorted(codes("pyperf", rich)) == [
        "blocks-lost",
        "failed-lost",
        "metrics-lost",
        "names-changed",
        "sessions-lost",
        "warm-ups-lost",
        "zeros-lost",
    ]


def test_the_target_follows_the_ending_or_what_was_said():
    assert target_for("x.csv").name == "long-csv"
    assert target_for("x.PARQUET.gz").name == "parquet"
    assert target_for("x.csv", "benchstat").name == "go-bench"
    for output, name, what in (
        ("-", None, "standard output"),
        ("x.json", None, "ending"),
        ("x", None, "no ending"),
        ("x", "excel", "no target"),
    ):
        with pytest.raises(UsageError, match=what) as caught:
            target_for(output, name)
        assert all(target.name in caught.value.fix for target in TARGETS)


def test_the_runs_of_a_trial_leave_in_the_order_of_execution():
    trial = read_trial("tests/data/sample-0.2.0")
    found = exported_trial(trial, (), ["gzip-1"])
    assert found.variants == ("gzip-1",)
    assert found.metrics[0].name == "wall"
    numbers = [run.number for one in exported_trial(trial).samples for run in one.runs]
    assert sorted(numbers) == list(range(1, len(trial) + 1))
    for one in found.samples:
        values = [value for process in one.processes("wall") for value in process]
        matrix = trial.matrix("gzip-1")
        assert values == matrix.samples[matrix.benchmarks.index(one.benchmark)].tolist()


def test_unknown_variants_and_metrics_are_refused():
    trial = read_trial("tests/data/sample-0.2.0")
    with pytest.raises(UsageError, match="no variant"):
        exported_trial(trial, (), ["gone"])
    with pytest.raises(UsageError, match="no metric"):
        exported_trial(trial, ["gone"])


def test_the_runs_of_a_matrix_leave_with_their_iterations():
    matrix = PerformanceMatrix.from_samples(
        "m", {"b": [1.0, 2.0, 3.0]}, better="lower", processes={"b": [1, 1, 2]}, failed={"b": 1}
    )
    (one,) = exported_matrices("m", [matrix]).samples
    assert one.processes("value") == ((1.0, 2.0), (3.0,))
    assert len(one.failed) == 1


def ragged():
    """Two runs, each without the other's metric, beside one that has both."""
    runs = (
        ExportedProcess(number=1, values={"wall": (1.0,), "rss": (10.0,)}),
        ExportedProcess(number=2, values={"wall": (2.0,)}),
        ExportedProcess(number=3, values={"rss": (30.0,)}),
    )
    memory = Metric(name="rss", unit="B", better="lower")
    return exported(ExportedCell(benchmark="b", variant="v", runs=runs), metrics=(TIME, memory))


def test_values_of_different_runs_never_share_a_row():
    """As many times as sizes, but not of the same runs."""
    lines = [line for line in made("go-bench", ragged()).data.decode().splitlines() if "\t" in line]
    assert lines == [
        "BenchmarkB\t1\t1000000000.0 ns/op\t10.0 rss",
        "BenchmarkB\t1\t2000000000.0 ns/op",
        "BenchmarkB\t1\t30.0 rss",
    ]


@pytest.mark.parametrize("name", ["hyperfine", "go-bench"])
def test_times_beyond_all_measure_are_refused_by_targets_that_compute_with_them(name):
    with pytest.raises(UsageError, match=r"1e\+300 s are too"):
        made(name, exported(sample(1e300, 1.0)))
    assert made("long-csv", exported(sample(1e300, 1.0))).lost == ()
