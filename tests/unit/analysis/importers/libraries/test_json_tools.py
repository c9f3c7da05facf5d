"""JSON of other tools: a sample of each, and what its row makes of it. Authority: each tool's writer, named at its sample."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers import json_rows, registry
from analysis.importers.json_tools import JsonTool, Take

TRIAL = [
    "Trial",
    {"times": [100.0, 110.0], "gctimes": [0.0, 0.0], "params": ["Parameters", {"evals": 1}]},
]
GROUP = [
    {"Julia": "1.8.1", "BenchmarkTools": "1.0.0"},
    [["BenchmarkGroup", {"data": {"sum": TRIAL}}]],
]
LLAMA = {
    "build_commit": "c0ffee", "cpu_info": "C", "model_type": "llama 7B Q4_0", "n_prompt": 512, "n_gen": 0,
    "n_threads": 4, "avg_ns": 3, "samples_ns": [2e9, 4e9], "samples_ts": [256.0, 128.0], "test_time": "2026-01-02T03:04:05Z",
}  # fmt: skip
ENTRY = {
    "commit": {"id": "c0ffee", "timestamp": "2026-01-02T03:04:05Z"}, "date": 1767323045000, "tool": "cargo",
    "benches": [{"name": "fib", "value": 12, "range": "± 1", "unit": "ns/iter"}, {"name": "rps", "value": 5, "unit": "req/s"}],
}  # fmt: skip
LNT_1 = {
    "Machine": {"Name": "m", "Info": {}}, "Run": {"Start Time": "2026-01-02 03:04:05", "Info": {"run_order": "17"}},
    "Tests": [
        {"Name": "nts.a.exec", "Info": {"n": "1"}, "Data": [0.5, 0.25]}, {"Name": "nts.a.compile", "Data": [2.0]},
        {"Name": "nts.a.exec.status", "Data": [1]}, {"Name": "nts.a.score", "Data": [3.0]},
    ],
}  # fmt: skip
# by name: the format, the file, its cells (benchmark, variant, metric, unit, better, processes, failed), its facts, codes
SAMPLES = {
    "PkgBenchmark: its writeresults keeps BenchmarkTools' JSON as a text": (
        "julia", {"name": "P", "commit": "c0ffee", "date": "2022-10-03T16:47:39.1", "benchmarkgroup": json.dumps(GROUP)},
        [("sum", None, "time", "s", "lower", ((1e-7, 1.1e-7),), None)],
        {"commit": "c0ffee", "date": "2022-10-03T16:47:39.1"}, "one-process order-unknown",
    ),
    "krun: its results, a list of iterations for each process execution, an empty one of a crash": (
        "krun", {"wallclock_times": {"fib:VmA:default": [[1.0, 0.5], [], [1.25]]}, "eta_estimates": {}, "audit": {}},
        [("fib", "VmA:default", "time", "s", "lower", ((1.0, 0.5), (1.25,)), 1)], {}, "warm-up-within",
    ),
    "llama-bench -o json: settings that differ are of the name": (
        "llama-bench", [LLAMA, LLAMA | {"n_threads": 8, "n_prompt": 0, "n_gen": 128, "samples_ts": None}],
        [
            ("llama 7B Q4_0 pp512 n_threads=4", None, "time", "s", "lower", ((2.0, 4.0),), None),
            ("llama 7B Q4_0 pp512 n_threads=4", None, "throughput", "tokens/s", "higher", ((256.0, 128.0),), None),
            ("llama 7B Q4_0 tg128 n_threads=8", None, "time", "s", "lower", ((2.0, 4.0),), None),
        ],
        {"commit": "c0ffee", "cpu_model": "C", "date": "2026-01-02T03:04:05Z"}, "one-process",
    ),
    "LNT's report, format 2": (
        "lnt",
        {
            "format_version": "2", "machine": {"name": "m"}, "run": {"start_time": "2026-01-02T03:04:05", "llvm_project_revision": "17"},
            "tests": [{"name": "a", "execution_time": [0.5, 0.25], "compile_time": 2.0, "code_size": 64}, {"name": "b", "hash": "x"}],
        },
        [
            ("a", None, "time", "s", "lower", ((0.5,), (0.25,)), None),
            ("a", None, "compile_time", "s", "lower", ((2.0,),), None),
            ("a", None, "code_size", "B", "lower", ((64.0,),), None),
        ],
        {"host": "m", "date": "2026-01-02T03:04:05", "commit": "17"}, "no-sessions failed-unknown",
    ),
    "LNT's report, format 1": (
        "lnt", LNT_1,
        [
            ("nts.a", None, "time", "s", "lower", ((0.5,), (0.25,)), None),
            ("nts.a", None, "compile_time", "s", "lower", ((2.0,),), None),
            ("nts.a", None, "score", "", "higher", ((3.0,),), None),
        ],
        {"host": "m", "date": "2026-01-02 03:04:05", "commit": "17"}, "no-sessions",
    ),
    "Renaissance's --json": (
        "renaissance",
        {
            "format_version": 5, "benchmarks": ["als"], "environment": {"os": {"name": "Linux"}},
            "data": {"als": {"results": [{"duration_ns": 2000000000, "uptime_ns": 1}, {"duration_ns": 1500000000, "uptime_ns": 2}]}},
        },
        [("als", None, "time", "s", "lower", ((2.0, 1.5),), None)], {}, "one-process warm-up-within",
    ),
    "github-action-benchmark's data.js: a number a commit": (
        "github-action-benchmark", "window.BENCHMARK_DATA = " + json.dumps({"lastUpdate": 1, "entries": {"Rust": [ENTRY]}}) + ";\n",
        [("fib", "c0ffee", "time", "s", "lower", ((1.2e-8,),), None), ("rps", "c0ffee", "value", "req/s", "higher", ((5.0,),), None)],
        {}, "single",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_its_cells(foreign, name: str) -> None:
    kind, content, cells, facts, codes = SAMPLES[name]
    file = foreign(content, "r.json")
    assert file.format == kind
    found = [
        (c.benchmark, c.variant, c.metric, c.unit, c.better, c.processes, c.failed)
        for c in file.cells
    ]
    assert [one[:5] + one[6:] for one in found] == [one[:5] + one[6:] for one in cells]
    for one, wanted in zip(found, cells, strict=True):
        assert [len(process) for process in one[5]] == [len(process) for process in wanted[5]]
        assert sum(one[5], ()) == pytest.approx(sum(wanted[5], ()), rel=1e-15)
    assert dict(file.facts) == facts
    assert set(codes.split()) <= {caution.code for caution in (*file.losses, *file.notes)}


REFUSED = [
    ({"wallclock_times": {"a:b:c": [[1.0, -1.0]]}, "audit": {}}, r"wallclock_times\.a:b:c\[0\]\[1\]: the value -1.0 is negative"),
    ({"wallclock_times": {"a:b:c": 3}, "audit": {}}, r"wallclock_times\.a:b:c: a benchmark is not an object"),
    ([LLAMA | {"samples_ns": [1, "x"]}], r"\[0\]\.samples_ns\[1\]: 'x' is no number"),
    ([LLAMA, LLAMA | {"samples_ns": []}], r"\[1\]: the values of 'llama 7B Q4_0 pp512' were not kept"),
    ({"machine": {}, "tests": [{"name": "b"}]}, "no benchmark has a value"),
    ('window.BENCHMARK_DATA = {"lastUpdate": 1, "entries": {}}', "no benchmark in the file"),
    ('window.BENCHMARK_DATA = {"entries": {"a": [', "the file is cut off"),
    ({"benchmarkgroup": "[1"}, "the file is cut off"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said: str) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}"):
        foreign(content)


def test_lines_of_llama_bench_are_those_of_its_list(foreign) -> None:
    rows = [LLAMA, LLAMA | {"n_gen": 1, "n_threads": 8}]
    assert foreign("\n".join(map(json.dumps, rows))).cells == foreign(rows).cells


def test_a_summary_with_a_word_of_tinybench_is_not_its(foreign) -> None:
    row = {"name": "a", "requests": "54500.8", "latency": "17.87", "throughput": "9.72"}
    found = foreign([row, row | {"name": "b"}])
    assert found.format == "json"
    assert "value=latency+throughput" in found.read_as


def test_a_tool_is_one_row_and_one_sample(foreign, monkeypatch) -> None:
    row = JsonTool(
        name="tally", kind="tally's JSON", knows=("marks[*].ticks",), each="marks[*]", benchmark="name",
        takes=(Take("ticks", unit="'ms'", runs="each"),), losses={"no-sessions": "all stem from one occasion"},
    )  # fmt: skip
    monkeypatch.setattr(registry, "TOOLS", tuple(registry.tools_of((*json_rows.ROWS, row))))
    file = foreign({"marks": [{"name": "a", "ticks": [1, 2]}]})
    assert (file.format, file.cells[0].processes) == ("tally", ((0.001,), (0.002,)))


TABLES = {
    "binary,filename,configuration,rate,time\nold,a.js,n=1,25.5,0.5\nnew,a.js,n=1,27,0.25\n": [
        ("a.js / n=1", "old", "rate", "higher", (25.5,)), ("a.js / n=1", "new", "rate", "higher", (27.0,)),
    ],
    "timeStamp,elapsed,label,threadName,success\n1,120,Home,T 1,true\n2,900,Home,T 2,false\n": [
        ("Home", None, "elapsed", "lower", (0.12,)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", TABLES)
def test_tables_of_node_and_jmeter_have_their_roles(foreign, text: str) -> None:
    found = foreign(text, "r.csv").cells
    assert [(c.benchmark, c.variant, c.metric, c.better, c.values) for c in found] == TABLES[text]


def test_the_table_of_the_page_names_each_format() -> None:
    page = (Path(__file__).resolve().parents[5] / "docs" / "import.md").read_text("utf-8")
    table = page.partition("| format | what is read | processes |")[2].partition("\n\n")[0]
    named = [
        name
        for line in table.split("\n")[2:]
        for name in re.findall("`([^`]+)`", line.split("|")[1])
    ]
    assert sorted(named) == sorted(tool.name for tool in registry.TOOLS)


def test_rows_have_one_name_and_one_sentence_each() -> None:
    said = {(row.name, row.kind) for row in json_rows.ROWS}
    assert len(said) == len({name for name, _ in said})
    assert {tool.name for tool in registry.TOOLS if tool.rows} == {name for name, _ in said}


def test_a_file_of_thousands_is_one_walk(tmp_path) -> None:
    data = {
        "results": [
            {
                "name": f"b{k}",
                "batch": 1,
                "epochs": 2,
                "measurements": [{"elapsed": 1.0, "iterations": 1}] * 2,
            }
            for k in range(3000)
        ]
    }
    path = tmp_path / "r.json"
    path.write_text(json.dumps(data))
    assert len(registry.read_foreign(open_foreign(str(path))).cells) == 3000
