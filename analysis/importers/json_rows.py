"""The rows of JSON tools for which paths nearly suffice.

To add a tool, write its row here, and a sample of it in the table of its tests.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..record.json_paths import Place
from . import json_rows_managed, json_rows_native
from .json_tools import JsonTool, Take, asked, base_of, entries_with, from_one_process
from .parsing import object_of, objects_in, one_process, text_of, texts_of, within

if TYPE_CHECKING:
    from ..data.opening import Opened


def _parameters(place: Place) -> dict[str, Any]:
    return {
        key: value.get("value") if isinstance(value, dict) else value
        for key, value in object_of(place.value.get("parameters")).items()
    }


def _hyperfine_names(place: Place) -> tuple[str | None, str]:
    """Give benchmark and variant: a list of parameters of these two names says which is which."""
    found = _parameters(place)
    if {"benchmark", "variant"} <= found.keys():
        return str(found["benchmark"]), str(found["variant"])
    command = place.value.get("command")
    return None, text_of(place.value.get("name")) or command if isinstance(command, str) else ""


def _failed_codes(place: Place) -> list[bool] | None:
    """Tell which runs failed; null stands for a run that a signal ended."""
    runs = objects_in(place.value.get("measurements"))
    codes = place.value.get("exit_codes")
    if any("exit_code" in run for run in runs):
        codes = [run.get("exit_code") for run in runs]
    return [code != 0 or code is False for code in codes] if isinstance(codes, list) else None


_HYPERFINE = JsonTool(
    name="hyperfine",
    said="hyperfine's JSON",
    knows=lambda data: (
        data == {"results": []}
        or any(
            "command" in one and one.keys() & {"times", "mean", "measurements"}
            for one in objects_in(within(data, "results"))
        )
    ),
    mentions=(("results", "command", "mean"), ("results", "command", "measurements")),
    summary=(
        re.compile(
            r"^command,(?:\w+,)*?(?:\w+_)?mean,"  # CSV
            r"|^\|\s*Command\s*\|[^\n]*(?:Mean|Time|Memory|Relative)"  # Markdown, Org
            r"|^\|===\s*\n\|\s*Command\s*\n\|"  # AsciiDoc
            r"|^Benchmark (?:#?\d+): .*\n\s+\w",  # the terminal
            re.MULTILINE,
        ),
        "this export of hyperfine holds summaries only, no runs",
    ),
    thing="a result",
    nothing="there is no result in the file",
    fix="export it again with --export-json",
    empty="no command has a run",
    kept=(
        "the result of {!r} holds a summary only, no 'times'",
        "export with --export-json FILE instead",
    ),
    each="results[*]",
    benchmark=lambda place: _hyperfine_names(place)[0],
    variant=lambda place: _hyperfine_names(place)[1],
    stem=True,
    keys=("command", "name", _parameters),
    inner=lambda _: 1,
    fails=_failed_codes,
    session="measurements[0]^.metadata.start_time | $.metadata.start_time",
    rule="the command",
    takes=(
        Take(
            value="times | measurements[*].time_wall_clock.value",
            unit="measurements[*].time_wall_clock.unit | 's'",
            runs="each",
        ),
        Take(value="memory_usage_byte", metric="'max_rss'", unit="'B'", runs="each", needed=False),
        Take(
            names=lambda place: [
                key
                for run in objects_in(place.value.get("measurements"))
                for key in run
                if key not in ("time_wall_clock", "exit_code")
            ],
            known={
                "time_cpu": ("time_cpu", None, "lower"),
                "time_user": ("time_user", None, "lower"),
                "time_system": ("time_system", None, "lower"),
                "memory_peak_resident": ("max_rss", None, "lower"),
            },
            value="measurements[*][{}].value",
            unit="measurements[*][{}].unit",
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
    way = texts_of(place.value.get("params"))
    way["timer"] = text_of(within(place.value, "options", "timer")) or ""
    return ", ".join(f"{key}={text}" for key, text in way.items() if text)


_PYTEST = JsonTool(
    name="pytest-benchmark",
    said="pytest-benchmark's JSON",
    knows=lambda data: (
        any(isinstance(one.get("stats"), dict) for one in objects_in(within(data, "benchmarks")))
        or (within(data, "benchmarks") == [] and "machine_info" in data)
    ),
    mentions=(("machine_info",),),
    summary=(
        re.compile(r"\Aname,.*(?:\bmin,max,mean,stddev\b|\boutliers\b|\brounds,iterations\b)"),
        "pytest-benchmark's CSV holds summaries only, no rounds",
    ),
    fix="was every test deselected?",
    kept=(
        "the benchmark {!r} holds a summary only, no rounds",
        "export with --benchmark-json=FILE, or save with --benchmark-save-data",
    ),
    each="benchmarks[*]",
    benchmark="fullname | name",
    session="$.datetime",
    inner="stats.iterations",
    definition=_pytest_way,
    keys=(
        "commit=$.commit_info.id",
        "branch=$.commit_info.branch",
        "extra_info",
        "params",
        "fullname=",
        "name",
        "group",
        "timer=options.timer",
    ),
    takes=(
        Take(
            value="stats.data",
            metric=lambda place: (
                "cpu_time"
                if within(place.value, "options", "timer")
                in ("process_time", "thread_time", "clock")
                else "time"
            ),
        ),
    ),
    losses={
        "one-process": from_one_process("rounds of {} iterations, all from one process"),
        "failed-unknown": "a test that failed after its benchmark is in the file like any other; a test that failed within its benchmark is not",
    },
    lost="no-sessions warm-ups-unknown",
    facts={
        "host": "machine_info.node",
        "cpu_model": "machine_info.cpu.brand_raw | machine_info.cpu.brand",
    },
)

_COUNTERS = (
    "instructions",
    "cpucycles",
    "branchinstructions",
    "branchmisses",
    "pagefaults",
    "contextswitches",
)


def _nanobench(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Name the counters that could be read: the others are 0 in the whole file."""
    data = opened.json()
    rows = [
        row
        for one in objects_in(within(data, "results"))
        for row in objects_in(one.get("measurements"))
    ]
    return object_of(data) | {
        "counters": [name for name in _COUNTERS if any(row.get(name) for row in rows)]
    }


_NANOBENCH = JsonTool(
    name="nanobench",
    said="nanobench's JSON",
    knows=lambda data: any(
        "median(elapsed)" in one or {"measurements", "batch", "epochs"} <= one.keys()
        for one in objects_in(within(data, "results"))
    ),
    mentions=(("results", "median(elapsed)"),),
    summary=(
        re.compile(r'^"title";"name";"unit";"batch";"elapsed";', re.MULTILINE),
        "nanobench's CSV holds medians only, no measurements",
    ),
    nothing="there is no result in the file",
    kept=(
        "{!r} holds medians only, no measurements",
        "render with ankerl::nanobench::templates::json(), which writes all measurements",
    ),
    thing="a result",
    unwrap=_nanobench,
    each="results[*]",
    benchmark=lambda place: (
        place.value.get("name")
        if place.value.get("title") in (None, "", "benchmark")  # of those who gave none
        else f"{place.value['title']}/{place.value.get('name')}"
    ),
    keys=("title", "name", "unit", "batch", "complexityN"),
    inner="measurements[*].iterations",
    takes=(
        Take(value="measurements[*].elapsed"),
        Take(
            names="$.counters[*]",
            value="measurements[*][{}]",
            unit="''",
            needed=False,
        ),
    ),
    losses={
        "one-process": lambda read: one_process(
            f"epochs of {'single' if (most := max(cell.inner or 1 for cell in read.cells)) == 1 else f'up to {most}'} iterations, all from one process"
        ),
        "whole-batches": lambda read: (
            any(cell.keys.get("batch", "1") not in ("1", "1.0") for cell in read.cells)
            and "times are those of an iteration, which does 'batch' units of work"
        ),
    },
    lost="no-sessions warm-ups-unknown failed-unknown",
)


_KRUN = JsonTool(
    name="krun",
    said="krun's JSON",
    knows=lambda data: (
        isinstance(within(data, "wallclock_times"), dict)
        and bool({"audit", "eta_estimates"} & data.keys())
    ),
    mentions=(("wallclock_times", "audit"),),
    each="wallclock_times[*]",
    benchmark=lambda place: str(place.entries[-1].key).partition(":")[0],
    variant=lambda place: str(place.entries[-1].key).partition(":")[2] or None,
    keys=("key=@",),
    entry=list,
    inner=lambda _: 1,
    fails=lambda place: sum(not one for one in place.value),
    takes=(Take(value="[*]", runs="lists"),),
    rule="the VM and its variant",
    losses={
        "warm-up-within": "the first iterations of a process may be its warm-up: they are not told apart",
    },
    lost="no-sessions",
)

_LLAMA_MEASURED = re.compile(
    r"(?:avg|stddev|samples)_|test_time$|model_(?:filename|size|n_params)$|n_(?:prompt|gen)$"
)


def _llama_name(place: Place) -> str:
    """Name the model, the lengths, and the settings that differ in the file."""
    first, own = object_of(place.entries[0].value[0]), texts_of(place.value)
    others = [object_of(one) for one in place.entries[0].value]
    model = own.get("model_type") or own.get("model_filename", "")
    differ = [
        f"{key}={text}"
        for key, text in own.items()
        if not _LLAMA_MEASURED.match(key)
        and key != "model_type"
        and any(one.get(key) != first.get(key) for one in others)
    ]
    lengths = [
        f"{word}{own[key]}"
        for word, key in (("pp", "n_prompt"), ("tg", "n_gen"))
        if own.get(key, "0") != "0"
    ]
    return " ".join([model, *lengths, *differ]).strip()


_LLAMA = JsonTool(
    name="llama-bench",
    said="llama-bench's JSON",
    knows=entries_with(None, "samples_ns", "n_prompt"),
    mentions=(("samples_ns", "n_prompt"),),
    each="[*]",
    benchmark=_llama_name,
    keys=(lambda place: place.value,),
    session="test_time",
    inner=lambda _: 1,
    takes=(
        Take(value="samples_ns", unit="'ns'"),
        Take(
            value="samples_ts",
            metric="'throughput'",
            unit="'tokens/s'",
            better="'higher'",
            needed=False,
        ),
    ),
    losses={
        "one-process": one_process("all samples of a test are from one process"),
        "no-sessions": "each test is an occasion of its own",
    },
    lost="warm-ups-unknown failed-unknown",
    facts={"commit": "[0].build_commit", "date": "[0].test_time", "cpu_model": "[0].cpu_info"},
)

_LNT = JsonTool(
    name="lnt",
    said="LNT's report",
    knows=lambda data: (
        isinstance(within(data, "machine"), dict) and entries_with("tests", "name")(data)
    ),
    mentions=(("format_version", "machine", "tests"),),
    each="tests[*]",
    benchmark="name",
    takes=tuple(
        Take(
            value=key,
            metric=f"'{metric}'",
            unit=f"'{unit}'",
            better=f"'{better}'",
            runs="each",
            needed=False,
            lone=True,
        )
        for key, metric, unit, better in (
            ("execution_time", "time", "s", "lower"),
            ("compile_time", "compile_time", "s", "lower"),
            ("mem_bytes", "memory", "B", "lower"),
            ("code_size", "code_size", "B", "lower"),
            ("score", "score", "", "higher"),
        )
    ),
    empty="no test has a value",
    lost="no-sessions warm-ups-unknown failed-unknown",
    facts={
        "host": "machine.name",
        "date": "run.start_time",
        "commit": "run.llvm_project_revision | run.run_order",
    },
)


def _lnt_kind(place: Place) -> str:
    return str(place.value.get("Name")).rpartition(".")[2]


_LNT_1 = replace(
    _LNT,
    knows=lambda data: (
        isinstance(within(data, "Machine"), dict) and entries_with("Tests", "Name", "Data")(data)
    ),
    mentions=(("Machine", "Tests", "Data"),),
    each="Tests[*]",
    benchmark=lambda place: re.sub(
        r"\.(exec|compile|score|code_size|mem_bytes)$", "", str(place.value.get("Name"))
    ),
    skips=lambda place: _lnt_kind(place) in ("status", "hash"),
    keys=("Info",),
    takes=(
        Take(
            value="Data",
            lone=True,
            metric=lambda place: {"exec": "time", "compile": "compile_time"}.get(
                kind := _lnt_kind(place), kind
            ),
            unit=lambda place: {
                "exec": "s",
                "compile": "s",
                "mem_bytes": "B",
                "code_size": "B",
            }.get(_lnt_kind(place), ""),
            better=lambda place: {"score": "higher", "hash": None}.get(_lnt_kind(place), "lower"),
            runs="each",
        ),
    ),
    facts={"host": "Machine.Name", "date": 'Run["Start Time"]', "commit": "Run.Info.run_order"},
)

_RENAISSANCE = JsonTool(
    name="renaissance",
    said="Renaissance's JSON",
    knows=lambda data: any(
        entries_with("results", "duration_ns")(one)
        for one in object_of(within(data, "data")).values()
    ),
    mentions=(("duration_ns", "uptime_ns"),),
    each="data[*]",
    benchmark="@",
    inner=lambda _: 1,
    takes=(Take(value="results[*].duration_ns", unit="'ns'"),),
    losses={
        "one-process": one_process("all repetitions of a file are from one process"),
        "warm-up-within": "the first repetitions of a process may be its warm-up: they are not told apart",
    },
    lost="no-sessions failed-unknown",
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
    unit = str(place.value.get("unit"))
    if base_of(unit)[1] in ("s", "B", "B/op"):
        return "lower"
    return "higher" if unit.endswith(("/s", "/sec", "/second")) or unit == "x" else None


_ACTION = JsonTool(
    name="github-action-benchmark",
    said="github-action-benchmark's data.js",
    knows=lambda data: any(
        entries_with(None, "commit", "benches")(one)
        for one in object_of(within(data, "entries")).values()
    ),
    begins=_COLLECTED,
    unwrap=_collected,
    each="entries[*][*].benches[*]",
    benchmark=lambda place: " ".join(
        [f"{place.entries[1].key}:"] * (len(place.entries[0].value["entries"]) > 1)
        + [str(place.value.get("name"))]
    ),
    variant="^.commit.id",
    session=lambda place: (
        text_of(asked(place, "^.commit.timestamp")) or text_of(asked(place, "^.date"))
    ),
    keys=("commit=^.commit.id", lambda place: {"suite": place.entries[1].key}),
    takes=(
        Take(
            value="value",
            lone=True,
            metric=lambda place: (
                "time" if base_of(str(place.value.get("unit")))[1] == "s" else "value"
            ),
            unit="unit",
            better=_collected_better,
        ),
    ),
    rule="the commit",
    losses={"single": "one number for each benchmark and commit: its variation is not in the file"},
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
