"""Any JSON: each value of a small file is taken out, or is of another type; nothing but our errors.

And each file is known to one format, however its keys are ordered and its text is set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.data.opening import Opened, open_foreign
from analysis.errors import AnalysisError, FairtrialError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import inspect_files
from analysis.importers.registry import read_foreign, tool_of

FILES = {
    "hyperfine": {
        "results": [
            {"command": "a", "mean": 1.0, "times": [1.0, 2.0], "exit_codes": [0, None],
             "memory_usage_byte": [1, 2], "parameters": {"n": "1"}}
        ]
    },
    "hyperfine 2": {
        "schema_version": 2,
        "metadata": {"start_time": "t"},
        "results": [
            {"command": "a", "name": "b", "parameters": {"n": {"value": "1"}}, "measurements": [
                {"time_wall_clock": {"value": 1.0, "unit": "second"}, "instructions": {"value": 3}, "exit_code": 0},
                {"time_wall_clock": {"value": 2.0, "unit": "second"}, "instructions": {"value": 4}, "exit_code": 1}]}
        ],
    },
    "pyperf": {
        "version": "1.0",
        "metadata": {"name": "b", "unit": "second", "loops": 2, "inner_loops": 3, "hostname": "h"},
        "benchmarks": [
            {"metadata": {"tag": "t"}, "runs": [
                {"metadata": {"loops": 4}, "warmups": [[1, 2.0]]},
                {"metadata": {"loops": 4}, "values": [1.0, 2.0], "warmups": [[1, 2.0]]}]}
        ],
    },
    "google-benchmark": {
        "context": {"date": "d", "host_name": "h", "num_cpus": 1},
        "benchmarks": [
            {"name": "B/1", "run_name": "B/1", "run_type": "iteration", "iterations": 3, "family_index": 0,
             "real_time": 1.0, "cpu_time": 2.0, "time_unit": "ns", "k": 1.0, "label": "l"},
            {"name": "C", "run_name": "C", "run_type": "iteration", "error_occurred": True, "skipped": False,
             "real_time": 1.0, "cpu_time": 2.0, "time_unit": "ns", "iterations": 1},
        ],
    },
    "pytest-benchmark": {
        "machine_info": {"node": "h", "cpu": {"brand_raw": "c"}},
        "commit_info": {"id": "i"},
        "benchmarks": [
            {"name": "t", "fullname": "x::t", "group": "g", "params": {"n": 1}, "extra_info": {"e": 1},
             "options": {"timer": "perf_counter"}, "stats": {"data": [1.0, 2.0], "iterations": 3}}
        ],
        "datetime": "d",
    },
    "asv": {
        "commit_hash": "c", "env_name": "e", "params": {"machine": "m"}, "python": "3",
        "result_columns": ["result", "params", "samples", "stats_number"],
        "results": {"b.time_x": [[1.0, 2.0], [["1", "2"]], [[1.0, 2.0], [3.0]], [5, 6]], "b.track_y": [[1.0], []]},
        "version": 2,
    },
    "jmh": [
        {"benchmark": "m", "mode": "avgt", "forks": 1, "threads": 1, "warmupIterations": 1, "params": {"n": "1"},
         "primaryMetric": {"scoreUnit": "s/op", "rawData": [[1.0, 2.0]]},
         "secondaryMetrics": {"s": {"scoreUnit": "ms", "rawDataHistogram": [[[[1.0, 2], [3.0, 4]]]]}}}
    ],
    "benchmarkdotnet": {
        "Title": "T-20260102-030405", "HostEnvironmentInfo": {"ProcessorName": "c"},
        "Benchmarks": [
            {"DisplayInfo": "T.M: J(A=1) [N=1]", "Namespace": "P", "Type": "T", "Method": "M", "MethodTitle": "M",
             "Parameters": "N=1", "FullName": "P.T.M(N: 1)", "Statistics": {"OriginalValues": [1.0]},
             "Memory": {"Gen0Collections": 1}, "Measurements": [
                {"IterationMode": "Workload", "IterationStage": "Warmup", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 9},
                {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 3}]},
            {"DisplayInfo": "T.M: K", "Type": "T", "Method": "M", "Statistics": {"OriginalValues": [1.0, 2.0]}}],
    },
    "js mitata": {
        "layout": [{"name": None, "types": []}, {"name": "g", "types": []}],
        "benchmarks": [
            {"kind": "args", "args": {"n": [1]}, "alias": "b", "group": 1, "runs": [
                {"stats": {"kind": "fn", "samples": [1.0, 2.0], "ticks": 8}, "args": {"n": 1}, "name": "b"}]},
            {"alias": "f", "group": 0, "runs": [{"error": {"message": "m"}, "args": {}, "name": "f"}]}],
        "context": {"now": 1, "cpu": {"name": "c"}},
    },
    "js Benchmark.js": {
        "0": {"name": "a", "stats": {"moe": 1.0, "rme": 2.0, "sample": [1.0, 2.0]}, "count": 3, "cycles": 1},
        "1": {"name": "f", "stats": {"moe": 0, "rme": 0, "sample": []}, "error": {}, "count": 0, "cycles": 0},
        "length": 2,
    },
    "js tinybench": [
        {"name": "a", "result": {"state": "completed", "latency": {"samples": [1.0, 2.0]}, "throughput": {"mean": 1}}},
        {"name": "f", "result": {"state": "errored", "error": {}}}],
    "js Vitest": {
        "files": [{"filepath": "f", "groups": [{"fullName": "f > g", "benchmarks": [
            {"name": "a", "rme": 1.0, "mean": 1.0, "samples": [1.0, 2.0]}, {"name": "b", "rme": 0, "samples": []}]}]}],
    },
    "nanobench": {
        "results": [
            {"title": "t", "name": "a", "unit": "op", "batch": 2, "epochs": 1, "median(elapsed)": 1.0, "measurements": [
                {"iterations": 3, "elapsed": 1.0, "instructions": 2.0, "pagefaults": 0}]}],
    },
    "julia": [
        {"Julia": "1", "BenchmarkTools": "1"},
        [["BenchmarkGroup", {"data": {
            "a": ["Trial", {"params": ["Parameters", {"evals": 2}], "times": [1.0, 2.0], "gctimes": [0.0, 1.0]}],
            "b": ["TrialEstimate", {"time": 1.0}]}, "tags": []}]]],
}  # fmt: skip
WRONG = json.loads(
    r'[null, true, -1, 0, 1e308, NaN, "x", "NaN", "\ud800", [], {}, [[]], [{}], {"a": []}]'
)
WRONG.append(10**400)
GONE = object()


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(text: str, path: tuple, value: object) -> object:
    found = json.loads(text)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return found


def said_of(content: bytes, format: str | None) -> str:
    file = Opened(source="r.json", name="r.json", path=None, data=content)
    try:  # the readers as they are: what holds their mistakes back is not in between
        inspect_files(gather([tool_of(file, format).read(file)], ReadingChoices()))
    except FairtrialError as error:
        return str(error)
    return ""


def attempt(content: bytes, format: str | None) -> None:
    assert len(said_of(content, format).encode()) < 3000


@pytest.mark.parametrize("name", FILES)
def test_no_value_of_another_type_is_a_traceback(name: str) -> None:
    whole, every = json.dumps(FILES[name]), [*places(FILES[name])]
    for path in every:
        for value in (GONE, *WRONG):
            attempt(json.dumps(changed(whole, path, value)).encode(), name.split()[0])
    assert len(every) > 12


@pytest.mark.parametrize("name", FILES)
def test_no_file_that_is_cut_off_or_doubled_is_a_traceback(name: str) -> None:
    text = json.dumps(FILES[name], indent=1)
    for end in range(1, len(text), 7):
        attempt(text[:end].encode(), None)
    for content in (text + text, text * 2 + "x", "", "[" * 100_000, "null", "3", '""', "[]", "{}"):
        attempt(content.encode(), name.split()[0])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("encoding", "indent", "ordered"),
    [
        ("utf-8", None, "backwards"),
        ("utf-8", 4, "as it is"),
        ("utf-8-sig", 4, "backwards"),
        ("utf-16", None, "as it is"),
    ],
)
def test_a_file_is_known_to_one_format(tmp_path, name, encoding, indent, ordered) -> None:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(inner) for key, inner in reversed(value.items())}
        return [turned(inner) for inner in value] if isinstance(value, list) else value

    data = turned(FILES[name]) if ordered == "backwards" else FILES[name]
    if isinstance(data, dict):  # so that the first 64 KiB tell nothing
        data = {"also": "x" * 70_000, **data}
    path = tmp_path / "r.txt"
    path.write_text(json.dumps(data, indent=indent), encoding)
    assert read_foreign(open_foreign(str(path))).format == name.split()[0]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_or_joined_with_another_says_where(tmp_path: Path, name: str):
    text = json.dumps(FILES[name], indent=1)
    path, line = tmp_path / "r.json", text.count("\n") + 2
    for content, said in (
        (text[: len(text) - 12], r"r\.json:\d+: the file is cut off"),
        (text + "\n" + text, rf"r\.json:{line}: .* something behind its JSON"),
    ):
        path.write_text(content)
        with pytest.raises(AnalysisError, match=said):
            read_foreign(open_foreign(str(path)))


def test_time_stamps_of_a_log_are_taken_off(tmp_path: Path) -> None:
    lines = json.dumps(FILES["hyperfine"], indent=1).splitlines()
    path = tmp_path / "log.txt"
    path.write_text("\n".join(f"2026-01-02T03:04:05.1234567Z {line}" for line in lines))
    assert read_foreign(open_foreign(str(path))).format == "hyperfine"


def test_a_json_of_nobody_is_known_to_none(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    for data in (
        {"results": [{"a": 1}]},
        {"benchmarks": [{"name": "x"}]},
        {"results": {}},
        [{}],
        [1, 2],
        [{"benchmark": "b", "value": [1]}],
        [],
    ):
        path.write_text(json.dumps(data))
        with pytest.raises(FairtrialError, match="no tool is known"):
            read_foreign(open_foreign(str(path)))
