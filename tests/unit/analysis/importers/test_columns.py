"""Which column is what, by its heading: by hand, as people write headings."""

from __future__ import annotations

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.headings import mapped, summaries
from analysis.importers.registry import read_foreign


def values(*headings: str) -> list[tuple[str, str]]:
    """Give each value column of a table with its unit."""
    found = mapped(["benchmark", *headings])
    return [] if found is None else [(name, unit) for _, name, unit in found.values]


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("time_ms", "ms"), ("time_s", "s"), ("wall time_s", "s"), ("cpu_time_s", "s"),
        ("elapsed_h", "h"), ("walltime (s)", "s"), ("cpu time [s]", "s"), ("time (min)", "min"),
        ("time_minutes", "minutes"), ("Duration (Seconds)", "Seconds"), ("time_second", "second"),
        ("Time (µs)", "µs"), ("Time (μs)", "μs"), ("time_μs", "μs"), ("ns", "ns"), ("seconds", "s"),
        ("max_rss_B", "B"), ("memory_KiB", "KiB"), ("value", ""), ("latency_ms", "ms"),
        ("score (points)", "points"), ("score", ""),
        ("ops_per_sec", "ops/sec"), ("time (us/op)", "us"), ("requests_per_second", "requests/second"),
        ("bytes_per_s", "bytes/s"), ("MB_per_s", "MB/s"), ("time_per_op_ms", "ms"), ("time ms", "ms"), ("Time in ms", "ms"),
        ("time (in ms)", "ms"), ("time (sec.)", "sec"), ("ELAPSED_MS", "ms"), ("MEM_MB", "MB"), ("TIME (US)", "us"),
        ("ns/op", "ns"), ("ns_per_op", "ns"), ("per second", "/second"),
    ],
)  # fmt: skip
def test_units_in_headings(heading, unit) -> None:
    assert values(heading) == [(heading, unit)]


@pytest.mark.parametrize(
    "heading",
    [
        "time_min", "cpu_h", "config_B", "variant_s", "plan_B", "hour", "minute", "second", "day2",
        "start_hour", "timeout_ms",
        "1.5 ms", "timestamp_ns", "started_ms", "memory_limit_MB", "min", "h", "s", "sampling interval (ms)",
    ],
)  # fmt: skip
def test_what_is_no_value(heading) -> None:
    assert values(heading, "time_ms") == [("time_ms", "ms")]
    assert values(heading) == []


@pytest.mark.parametrize(
    "headings",
    [
        ("time_mean", "time_min", "time_max"),
        ("mean", "stddev"),
        ("time_mean_ms", "time_stddev_ms"),
        ("mean_ms", "p99_ms"),
        ("time (mean)", "time (max)"),
        ("time (min)", "time (max)"),
        ("time_ms", "time_min_ms", "time_max_ms"),  # the first one is their mean
        ("Median Time", "Max Time"),
        ("value", "range"),  # as github-action-benchmark has it
        ("value", "±"),
        ("value", "+/-"),
        ("value", "stddev"),
        ("time", "std dev"),
        ("time_ms", "time_sd_ms"),
    ],
)
def test_summaries_are_refused_where_no_run_stands_beside_them(tmp_path, headings) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"benchmark,{','.join(headings)}\na{',1' * len(headings)}\n")
    with pytest.raises(AnalysisError, match="summar") as told:
        read_foreign(open_foreign(str(path)))
    assert headings[-1] in str(told.value)


@pytest.mark.parametrize(
    "others", [("range",), ("load_stddev",), ("run", "stddev"), ("iteration", "range")]
)
def test_what_looks_like_a_spread_beside_runs_is_left_alone(others) -> None:
    """A range is a parameter of many; a spread of something else, or of a run, says nothing of the time."""
    assert values("time_ms", *others) == [("time_ms", "ms")]
    assert summaries(["benchmark", "time_ms", *others]) == ()


def test_summaries_beside_runs_of_another_quantity_are_left_alone() -> None:
    assert values("time_ms", "load_min", "load_max") == [("time_ms", "ms")]
    assert summaries(["benchmark", "time_ms", "load_min", "load_max"]) == ("load_min", "load_max")


def test_what_each_run_says_of_itself_is_a_value() -> None:
    """A load generator tells the mean and a quantile of each of its runs."""
    names = ("latency_mean_ms", "latency_p99_ms")
    assert values("run", *names) == [(name, "ms") for name in names]


def test_a_rate_has_no_direction_of_its_own(tmp_path) -> None:
    (cell,) = read(tmp_path, "benchmark,ops_per_sec\na,100\n")
    assert (cell.unit, cell.better, cell.values) == ("ops/sec", None, (100.0,))


def test_the_wall_time_is_first() -> None:
    """The first metric is judged where nobody says which."""
    assert values("heap_MB", "user_s", "real_s", "size_MB", "time_ms") == [
        ("real_s", "s"), ("time_ms", "ms"), ("user_s", "s"), ("heap_MB", "MB"),
    ]  # fmt: skip


def read(tmp_path, text: str):
    path = tmp_path / "r.csv"
    path.write_text(text)
    return read_foreign(open_foreign(str(path))).cells


def test_a_units_column_is_of_values_without_a_unit(tmp_path) -> None:
    text = "benchmark,metric,value,unit,time_ms\na,rss,7,KiB,5\n"
    assert [(c.metric, c.unit, c.values) for c in read(tmp_path, text)] == [
        ("rss", "B", (7168.0,)),
        ("time_ms", "s", (0.005,)),
    ]


def test_two_units_of_one_value_are_refused(tmp_path) -> None:
    assert read(tmp_path, "benchmark,time_ms,unit\na,5,milliseconds\n")[0].values == (0.005,)
    with pytest.raises(AnalysisError, match="the row's unit is 's'") as told:
        read(tmp_path, "benchmark,time_ms,unit\na,5,ms\nb,5,s\n")
    assert "r.csv:3" in str(told.value)


def test_a_run_without_a_name_is_refused(tmp_path) -> None:
    with pytest.raises(AnalysisError, match=r"r\.csv:3: .*'run' is empty"):
        read(tmp_path, "benchmark,run,time_ms\na,1,5\na,,6\na,,7\n")
    assert read(tmp_path, "benchmark,run,time_ms,ok\na,1,5,1\na,,6,0\n")[0].failed == 1
