"""The rows of JSON tools for which paths nearly suffice.

To add a tool, write its row here, and a sample of it in the table of its tests.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..record.json_paths import Place
from . import json_rows_managed, json_rows_native
from .json_tools import JsonTool, Take, asked, base_of
from .parsing import single, text_of, texts_of

if TYPE_CHECKING:
    from ..data.opening import Opened


def _parameters(place: Place) -> dict[str, Any]:
    given = place.value["parameters"].items()
    return {key: one["value"] if isinstance(one, dict) else one for key, one in given}


def _hyperfine_names(place: Place) -> tuple[str | None, Any]:
    """Give benchmark and variant: a list of parameters of these two names says which is which."""
    found = asked(place, _parameters) or {}
    if {"benchmark", "variant"} <= found.keys():
        return str(found["benchmark"]), str(found["variant"])
    command = place.value["command"]
    return None, (text_of(place.value.get("name")) or command) if isinstance(command, str) else ""


def _failed_codes(place: Place) -> list[bool] | None:
    """Tell which runs failed; null stands for a run that a signal ended."""
    codes, runs = place.value.get("exit_codes"), place.value.get("measurements")
    if runs and any("exit_code" in run for run in runs):
        codes = [run.get("exit_code") for run in runs]
    return codes and [code != 0 or code is False for code in codes]


_HYPERFINE = JsonTool(
    name="hyperfine",
    said="hyperfine's JSON",
    knows=tuple(f"results[*].command & results[*].{k}" for k in ("times", "mean", "measurements")),
    summary=re.compile(
        r"^command,(?:\w+,)*?(?:\w+_)?mean,"  # CSV
        r"|^\|\s*Command\s*\|[^\n]*(?:Mean|Time|Memory|Relative)"  # Markdown, Org
        r"|^\|===\s*\n\|\s*Command\s*\n\|"  # AsciiDoc
        r"|^Benchmark (?:#?\d+): .*\n\s+\w",  # the terminal
        re.MULTILINE,
    ),
    keeps="export with --export-json FILE",
    each="results[*]",
    benchmark=lambda place: _hyperfine_names(place)[0],
    variant=lambda place: _hyperfine_names(place)[1],
    rule="the command",
    stem=True,
    keys=("command", "name", _parameters),
    inner=lambda _: 1,
    fails=_failed_codes,
    session="measurements[0]^.metadata.start_time | $.metadata.start_time",
    takes=(
        Take(
            "times | measurements[*].time_wall_clock.value",
            unit="measurements[*].time_wall_clock.unit | 's'",
            runs="each",
        ),
        Take("memory_usage_byte", "'max_rss'", "'B'", runs="each", needed=False),
        Take(
            "measurements[*][{}].value",
            unit="measurements[*][{}].unit",
            names=lambda place: [
                key
                for run in place.value["measurements"]
                for key in run
                if key not in ("time_wall_clock", "exit_code")
            ],
            known={
                **{
                    name: (name, None, "lower") for name in ("time_cpu", "time_user", "time_system")
                },
                "memory_peak_resident": ("max_rss", None, "lower"),
            },
            runs="each",
            needed=False,
        ),
    ),
    losses={
        "no-order": "hyperfine executes one command after the other: what changed between them cannot be separated from the difference of the commands",
        "cpu-time-means": lambda read: (
            any("measurements" not in one.value for (one,) in read.groups)
            and "user and system times are means over all runs, so they are not read"
        ),
    },
    lost="no-sessions warm-ups-unknown",
)


def _pytest_way(place: Place) -> str:
    way = texts_of(place.value.get("params")) | {"timer": asked(place, "options.timer")}
    return ", ".join(f"{key}={text}" for key, text in way.items() if text)


_PYTEST = JsonTool(
    name="pytest-benchmark",
    said="pytest-benchmark's JSON",
    knows=("benchmarks[*].stats.data", "benchmarks[*].stats.mean", "benchmarks & machine_info"),
    summary=re.compile(r"\Aname,.*(?:\bmin,max,mean,stddev\b|\boutliers\b|\brounds,iterations\b)"),
    keeps="export with --benchmark-json=FILE, or save with --benchmark-save-data",
    each="benchmarks[*]",
    benchmark="fullname | name",
    session="$.datetime",
    inner="stats.iterations",
    definition=_pytest_way,
    keys=(
        "commit=$.commit_info.id branch=$.commit_info.branch extra_info params fullname= name group",
        "timer=options.timer",
    ),
    takes=(
        Take(
            "stats.data",
            lambda place: (
                "cpu_time"
                if asked(place, "options.timer") in ("process_time", "thread_time", "clock")
                else "time"
            ),
        ),
    ),
    losses={
        "failed-unknown": "a test that failed after its benchmark is in the file like any other; a test that failed within its benchmark is not",
    },
    lost="one-process no-sessions warm-ups-unknown",
    facts={
        "host": "machine_info.node",
        "cpu_model": "machine_info.cpu.brand_raw | machine_info.cpu.brand",
    },
)

_COUNTERS = "instructions cpucycles branchinstructions branchmisses pagefaults contextswitches"


def _nanobench(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Name the counters that could be read: the others are 0 in the whole file."""
    data = opened.json()
    rows = [row for one in data["results"] for row in one.get("measurements") or ()]
    there = (
        name for name in _COUNTERS.split() if any(isinstance(r, dict) and r.get(name) for r in rows)
    )
    return data | {"counters": [*there]}


_NANOBENCH = JsonTool(
    name="nanobench",
    said="nanobench's JSON",
    knows=(
        'results[*]["median(elapsed)"]',
        "results[*].measurements & results[*].batch & results[*].epochs",
    ),
    summary=re.compile(r'^"title";"name";"unit";"batch";"elapsed";', re.MULTILINE),
    keeps="render with ankerl::nanobench::templates::json(), which writes all measurements",
    unwrap=_nanobench,
    each="results[*]",
    benchmark=lambda place: (
        place.value["name"]
        if place.value.get("title") in (None, "", "benchmark")  # of those who gave none
        else f"{place.value['title']}/{place.value['name']}"
    ),
    keys=("title", "name", "unit", "batch", "complexityN"),
    inner="measurements[*].iterations",
    takes=(
        Take("measurements[*].elapsed"),
        Take("measurements[*][{}]", unit="''", names="$.counters[*]", needed=False),
    ),
    losses={
        "whole-batches": lambda read: (
            any(cell.keys.get("batch", "1") not in ("1", "1.0") for cell in read.cells)
            and "times are those of an iteration, which does 'batch' units of work"
        ),
    },
    lost="one-process no-sessions warm-ups-unknown failed-unknown",
)

_KRUN = JsonTool(
    name="krun",
    said="krun's JSON",
    knows=("wallclock_times & audit", "wallclock_times & eta_estimates"),
    each="wallclock_times[*]",
    benchmark=lambda place: str(place.entries[-1].key).partition(":")[0],
    variant=lambda place: str(place.entries[-1].key).partition(":")[2] or None,
    rule="the VM and its variant",
    keys=("key=@",),
    entry=list,
    inner=lambda _: 1,
    fails=lambda place: sum(not one for one in place.value),
    takes=(Take("[*]", runs="lists"),),
    lost="warm-up-within no-sessions",
)

_LLAMA_MEASURED = re.compile(
    r"(?:avg|stddev|samples)_|test_time$|model_(?:filename|size|n_params)$|n_(?:prompt|gen)$"
)


def _llama_name(place: Place) -> str:
    """Name the model, the lengths, and the settings that differ in the file."""
    own, every = texts_of(place.value), place.entries[0].value
    differ = [
        f"{key}={text}"
        for key, text in own.items()
        if not _LLAMA_MEASURED.match(key)
        and key != "model_type"
        and any(one.get(key) != every[0].get(key) for one in every)
    ]
    lengths = [
        f"{word}{own[key]}"
        for word, key in (("pp", "n_prompt"), ("tg", "n_gen"))
        if own.get(key, "0") != "0"
    ]
    model = own.get("model_type") or own.get("model_filename", "")
    return " ".join([model, *lengths, *differ]).strip()


_LLAMA = JsonTool(
    name="llama-bench",
    said="llama-bench's JSON",
    knows=("[*].samples_ns & [*].n_prompt",),
    each="[*]",
    benchmark=_llama_name,
    keys=(lambda place: place.value,),
    session="test_time",
    inner=lambda _: 1,
    takes=(
        Take("samples_ns", unit="'ns'"),
        Take("samples_ts", "'throughput'", "'tokens/s'", "'higher'", needed=False),
    ),
    losses={"no-sessions": "each test is an occasion of its own"},
    lost="one-process warm-ups-unknown failed-unknown",
    facts={"commit": "[0].build_commit", "date": "[0].test_time", "cpu_model": "[0].cpu_info"},
)

_LNT = JsonTool(
    name="lnt",
    said="LNT's report",
    knows=("machine & tests[*].name",),
    each="tests[*]",
    benchmark="name",
    takes=(
        Take("execution_time", runs="each", needed=False),
        Take("compile_time", "'compile_time'", runs="each", needed=False),
        Take("mem_bytes", "'memory'", "'B'", runs="each", needed=False),
        Take("code_size", "'code_size'", "'B'", runs="each", needed=False),
        Take("score", "'score'", "''", "'higher'", runs="each", needed=False),
    ),
    lost="no-sessions warm-ups-unknown failed-unknown",
    facts={
        "host": "machine.name",
        "date": "run.start_time",
        "commit": "run.llvm_project_revision | run.run_order",
    },
)

_LNT_KINDS = {
    "exec": ("time", "s", "lower"),
    "compile": ("compile_time", "s", "lower"),
    "mem_bytes": ("mem_bytes", "B", "lower"),
    "score": ("score", "", "higher"),
}


def _lnt_meaning(place: Place) -> tuple[str, str, str]:
    kind = place.value["Name"].rpartition(".")[2]
    return _LNT_KINDS.get(kind, (kind, "", "lower"))


_LNT_1 = replace(
    _LNT,
    knows=("Machine & Tests[*].Name & Tests[*].Data",),
    each="Tests[*]",
    benchmark=lambda place: re.sub(
        r"\.(exec|compile|score|code_size|mem_bytes)$", "", place.value["Name"]
    ),
    skips=lambda place: place.value["Name"].rpartition(".")[2] in ("status", "hash"),
    keys=("Info",),
    takes=(
        Take(
            "Data",
            lambda place: _lnt_meaning(place)[::2],
            lambda place: _lnt_meaning(place)[1],
            runs="each",
        ),
    ),
    facts={"host": "Machine.Name", "date": 'Run["Start Time"]', "commit": "Run.Info.run_order"},
)

_RENAISSANCE = JsonTool(
    name="renaissance",
    said="Renaissance's JSON",
    knows=("data[*].results[*].duration_ns",),
    each="data[*]",
    benchmark="@",
    inner=lambda _: 1,
    takes=(Take("results[*].duration_ns", unit="'ns'"),),
    lost="one-process warm-up-within no-sessions failed-unknown",
)

_COLLECTED = re.compile(r"\A\s*window\.BENCHMARK_DATA\s*=\s*")


def _collected(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Give the object that the script of the page holds."""
    if _COLLECTED.match(opened.head()) is None:
        return opened.json()
    text = _COLLECTED.sub("", opened.text()).rstrip().rstrip(";")
    return replace(opened, data=text.encode(), encoding="utf-8").json()


def _collected_better(place: Place) -> str | None:
    """Give the direction as the action's tools write their units: times are lower, rates higher."""
    unit = str(place.value["unit"])
    if base_of(unit)[1] in ("s", "B", "B/op"):
        return "lower"
    return "higher" if unit.endswith(("/s", "/sec", "/second")) or unit == "x" else None


_ACTION = JsonTool(
    name="github-action-benchmark",
    said="github-action-benchmark's data.js",
    knows=("entries[*][*].commit & entries[*][*].benches",),
    begins=_COLLECTED,
    unwrap=_collected,
    each="entries[*][*].benches[*]",
    benchmark=lambda place: " ".join(
        [f"{place.entries[1].key}:"] * (len(place.entries[0].value["entries"]) > 1)
        + [str(place.value["name"])]
    ),
    variant="^.commit.id",
    rule="the commit",
    session="^.commit.timestamp | ^.date",
    keys=("commit=^.commit.id", lambda place: {"suite": place.entries[1].key}),
    takes=(
        Take(
            "value",
            lambda place: "time" if base_of(str(place.value["unit"]))[1] == "s" else "value",
            "unit",
            _collected_better,
        ),
    ),
    losses={"single": single("there is", "the action keeps no runs")},
)

ROWS = (
    _HYPERFINE,
    _PYTEST,
    *json_rows_native.ROWS,
    *json_rows_managed.ROWS,
    _NANOBENCH,
    _KRUN,
    _LLAMA,
    _LNT,
    _LNT_1,
    _RENAISSANCE,
    _ACTION,
)
