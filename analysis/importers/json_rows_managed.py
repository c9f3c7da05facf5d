"""Rows of the tools of JavaScript (mitata, Benchmark.js, tinybench, Vitest), Julia, the JVM and .NET.

BenchmarkDotNet's stage ``Result`` holds the iterations without the overhead of the calls and without what it took for
outliers; before 0.11 mode and stage were one word, such as ``MainWarmup``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..pages.model import Caution
from ..record.json_paths import Entry, Place
from .json_tools import JsonTool, Read, Take, asked
from .parsing import object_of, one_process, text_of, texts_of, within

if TYPE_CHECKING:
    from ..data.opening import Opened


def _mitata_group(place: Place) -> str | None:
    whole, bench = place.entries[0].value, place.entries[-2].value
    return text_of(whole["layout"][bench["group"]].get("name"))


def _mitata_name(place: Place) -> str:
    alias = str(place.entries[-2].value.get("alias"))
    args = texts_of(place.value.get("args")).items()
    own = [f"{key}={value}" for key, value in args if f"${key}" not in alias]
    return _within(asked(place, _mitata_group), " ".join([place.value["name"], *own]))


def _within(group: str | None, name: str) -> str:
    return f"{group} > {name}" if group and name else name


_MITATA = JsonTool(
    name="js",
    said="JSON of mitata, Benchmark.js, tinybench or Vitest",
    knows=tuple(
        f"benchmarks[*].runs[*].name & benchmarks[*].runs[*].{k}" for k in ("stats", "error")
    ),
    keeps="run({ format: { json: { samples: true, debug: false } } }) keeps them",
    each="benchmarks[*].runs[*]",
    benchmark=_mitata_name,
    keys=("args", lambda place: {"group": _mitata_group(place)}, "name="),
    session="$.context.now",
    inner=lambda place: max(1, (of := place.value["stats"])["ticks"] // len(of["samples"])),
    fails=lambda place: place.value.get("stats") is None and place.value.get("error") is not None,
    takes=(Take("stats.samples", unit="'ns'"),),
    losses={
        "trimmed": lambda read: (
            any(len(cell.values) > 8 for cell in read.cells)
            and "mitata leaves out the two slowest and the two fastest of more than 12 samples"
        ),
    },
    lost="one-process order-unknown no-sessions warm-ups-unknown",
    facts={"cpu_model": "context.cpu.name"},
)


def _suite(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Give the benchmarks of a list, of a suite, whose keys are numbers, or the only one."""
    data = opened.json()
    if isinstance(data, dict):
        suite = {key: one for key, one in data.items() if key.isdecimal()}
        return [data] if "stats" in data else suite
    return data


_BENCHMARKJS = replace(
    _MITATA,
    knows=tuple(
        f"{at}stats.rme & {at}stats.{key}" for at in ("[*].", "") for key in ("sample", "moe")
    ),
    keeps="write stats.sample of each benchmark, and its name next to its result",
    unwrap=_suite,
    each="[*]",
    benchmark="name",
    keys=("name",),
    session=None,
    inner="count",
    fails=lambda place: (
        place.value.get("error") is not None
        or (within(place.value, "stats", "sample") == [] and not place.value.get("cycles"))
    ),
    takes=(Take("stats.sample"),),
    losses={},
    lost="one-process no-sessions warm-ups-unknown",
    facts={},
)

_TINYBENCH = replace(
    _BENCHMARKJS,
    knows=(
        *(f"[*].{at}latency.{key}" for at in ("result.", "") for key in ("mean", "samples")),
        "[*].result.samples & [*].result.rme",
    ),
    keeps="new Bench({ retainSamples: true }) keeps them; write tasks.map(({ name, result }) => ({ name, result }))",
    unwrap=None,
    inner=lambda _: 1,
    fails=lambda place: (
        "error" in (found := object_of(place.value.get("result", place.value)))
        or found.get("state") == "errored"
    ),
    takes=(Take("result.latency.samples | latency.samples | result.samples", unit="'ms'"),),
    lost="one-process order-unknown no-sessions warm-ups-unknown",
)


def _title(place: Place) -> str | None:
    return text_of(place.entries[-2].value.get("fullName"))


_VITEST = replace(
    _TINYBENCH,
    knows=("files[*].groups[*].benchmarks",),
    keeps="Vitest's --outputJson never has them: set benchmark.includeSamples, and let a reporter of your own write "
    "the whole task.result.benchmark of each task, in a list",
    each="files[*].groups[*].benchmarks[*]",
    benchmark=lambda place: _within(_title(place), place.value["name"]),
    keys=(lambda place: {"group": _title(place)}, "name="),
    fails=lambda place: "mean" not in place.value,
    takes=(Take("samples", unit="'ms'"),),
)
_VITEST_TASKS = replace(
    _VITEST,
    knows=("[*].samples & [*].rme",),
    each="[*]",
    benchmark="name",
    keys=("name",),
    skips=lambda place: "mean" not in place.value and place.value.get("rank") == 0,  # a group
)

_SUMMARIES = ("TrialEstimate", "TrialRatio", "TrialJudgement")
_JULIA_KEEPS = "save the results of run(...) as they are, not their median or minimum"


def _julia(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Give the values of BenchmarkTools, which PkgBenchmark writes as a text in its own."""
    data, where, about = opened.json(), "", {}
    if isinstance(text := within(data, "benchmarkgroup"), str):
        where, about = "benchmarkgroup", data
        data = replace(opened, data=text.encode(), encoding="utf-8").json()
    found = _julia_values(data, where)
    if "Trial" not in found:
        kind = next((kind for kind in _SUMMARIES if kind in found), None)
        what = f"it holds a {kind}, no samples" if kind else "it holds no trial"
        raise opened.fail(what, _JULIA_KEEPS)
    return about | {"values": found}


def _julia_values(data: Any, where: str) -> dict[str, list[Place]]:  # noqa: ANN401 - JSON
    """Give the places of all values of all groups by their type."""
    found: dict[str, list[Place]] = {}
    values = data[1] if isinstance(data, list) and len(data) == 2 else None
    values = values if isinstance(values, list) else []
    waiting = [
        (value, (f"{k + 1}",) * (len(values) > 1), f"{where}[1][{k}]")
        for k, value in enumerate(values)
    ]
    while waiting:
        value, names, at = waiting.pop(0)
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict)):
            continue  # nothing that BenchmarkTools writes
        kind = str(value[0]).removeprefix("BenchmarkTools.")
        entry = Entry("/".join(names), value[1], f"{at}[1]")
        found.setdefault(kind, []).append(Place(value[1], entry.where, (entry,)))
        inner = object_of(value[1].get("data") if kind == "BenchmarkGroup" else None)
        waiting[:0] = [(one, (*names, key), f"{at}[1].data.{key}") for key, one in inner.items()]
    return found


def _julia_group(place: Place) -> dict[str, str | None]:
    return {"group": str(place.entries[0].key).rpartition("/")[0] or None}


def _julia_notes(read: Read) -> list[Caution]:
    left = sum(len(read.whole.value["values"].get(kind, ())) for kind in _SUMMARIES)
    return [Caution("left-out", f"{left} summaries are left out: no samples")] * (left > 0)


_JULIA = JsonTool(
    name="julia",
    said="BenchmarkTools.jl's or PkgBenchmark.jl's JSON",
    knows=("benchmarkgroup", "[0].BenchmarkTools"),
    unwrap=_julia,
    each=lambda whole: whole.value["values"]["Trial"],
    keeps=_JULIA_KEEPS,
    benchmark="@",
    stem=True,
    keys=("params[1]", _julia_group, "name="),
    inner="params[1].evals",
    takes=(
        Take("times", unit="'ns'"),
        Take("gctimes", "'gctime'", "'ns'", zeros=False, needed=False),
    ),
    lost="one-process order-unknown no-sessions warm-ups-unknown failed-unknown",
    notes=_julia_notes,
    facts={"commit": "commit", "date": "date"},
)


_MODES = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sample_time", "lower"),
    "ss": ("single_shot", "lower"),
}
_BROKEN = re.compile(r"([,\[\]{}])\s*\n\s*")  # JMH breaks its text into lines, within names too
_RAW = ("rawDataHistogram", "rawData")


def _jmh_parameters(place: Place) -> dict[str, str]:
    given = texts_of(place.value.get("params")).items()
    return {key: _BROKEN.sub(r"\1", text) for key, text in given}


def _jmh_name(place: Place) -> str:
    settings = (f"{key}={value}" for key, value in _jmh_parameters(place).items())
    return " ".join([_BROKEN.sub(r"\1", place.value["benchmark"]), *settings])


def _jmh_mode(place: Place) -> str:
    return text_of(place.entries[-1].value.get("mode")) or "value"


def _jmh_meaning(place: Place) -> tuple[str, str | None]:
    mode = _jmh_mode(place)
    return _MODES.get(mode, (mode, None))


def _jmh_planned(place: Place) -> int:
    return max(1, int(place.value["forks"]))


def _jmh_missing(place: Place) -> int | None:
    """Count the forks that are missing; None where there is none."""
    raw = asked(place, " | ".join(f"primaryMetric.{key}" for key in _RAW))
    found = [one for one in raw if isinstance(one, list) and any(x != [] for x in one)]
    return max(0, _jmh_planned(place) - len(found)) or None


def _jmh_definition(place: Place) -> str:
    """Say with how many threads, which arguments of the machine and how long iterations were measured."""
    keys = ("threads", "measurementTime", "measurementBatchSize")
    said = {key: text_of(place.value.get(key)) for key in keys}
    said["jvmArgs"] = " ".join(map(str, place.value.get("jvmArgs") or ()))
    return ", ".join(f"{key}={text}" for key, text in said.items() if text)


def _jmh_forks(opened: Opened, place: Place, factor: float) -> dict[str, tuple[float, ...]]:
    """Give the values of each fork, which has a number; each mode of a benchmark has forks of its own."""
    kind = next((key for key in _RAW if within(place.value, key) is not None), "rawData")
    found = {}
    for f, fork in enumerate(within(place.value, kind) or ()):
        at = f"{place.where}.{kind}[{f}]"
        opened.require(isinstance(fork, list), "a fork is not a list", at=at)
        if kind == "rawData":
            values = opened.values(fork, at, factor=factor)
        else:  # an iteration without any sample has none: an operation took longer than it
            values = tuple(
                _mean(opened, one, f"{at}[{k}]", factor) for k, one in enumerate(fork) if one != []
            )
        if values:
            found[f"{_jmh_mode(place)} {f + 1}"] = values
    if not found:
        fix = "execute JMH without -Djmh.json.rawData=false, and give iterations time for one operation"
        raise opened.fail("there are no raw data of the iterations", fix, at=place.where)
    return found


def _mean(opened: Opened, pairs: list[Any], at: str, factor: float) -> float:
    total = weight = 0.0
    for k, pair in enumerate(pairs):
        good = isinstance(pair, list) and len(pair) == 2
        opened.require(good, "an entry of the histogram is not a pair", at=at)
        count = opened.value(pair[1], f"{at}[{k}]")
        total += opened.value(pair[0], f"{at}[{k}]", factor=factor) * count
        weight += count
    good = weight > 0 and math.isfinite(total / weight)
    opened.require(good, "the histogram has no mean", at=at)
    return total / weight


_JMH = JsonTool(
    name="jmh",
    said="JMH's JSON",
    knows=("[*].primaryMetric & [*].benchmark",),
    summary=re.compile(
        r'^"Benchmark"[,;]"Mode"[,;]"Threads"[,;]"Samples"[,;]"Score"'  # -rf csv, scsv
        r"|^Benchmark +(?:\([^)]*\) +)*Mode +(?:Cnt|Samples) +Score"  # -rf text
    ),
    keeps="execute JMH with -rf json -rff FILE",
    each="[*]",
    benchmark=_jmh_name,
    warmups=lambda place: place.value["warmupIterations"] * _jmh_planned(place),
    fails=_jmh_missing,
    definition=_jmh_definition,
    keys=(
        _jmh_parameters,
        "mode threads forks jmhVersion jvm jdkVersion vmName vmVersion",
        lambda place: {"benchmark": _BROKEN.sub(r"\1", place.value["benchmark"])},
    ),
    takes=(
        Take("primaryMetric", _jmh_meaning, "primaryMetric.scoreUnit", read=_jmh_forks),
        Take(
            "secondaryMetrics[{}]",
            unit="secondaryMetrics[{}].scoreUnit",
            names=lambda place: [
                key
                for key, one in place.value["secondaryMetrics"].items()
                if isinstance(one, dict) and not one.keys().isdisjoint(_RAW)
            ],
            read=_jmh_forks,
            needed=False,
        ),
    ),
    losses={
        "means-of-operations": "each value is the mean of one iteration's operations: single ones cannot be seen",
        "histograms": lambda read: (
            any(one.value.get("mode") == "sample" for (one,) in read.groups)
            and "of sampled times the file keeps a histogram of each iteration, without order"
        ),
        "one-process": lambda read: (
            (alone := sum(one.value.get("forks") == 0 for (one,) in read.groups)) > 0
            and one_process(f"{alone} of {len(read.groups)} results had no forks")
        ),
    },
    lost="no-sessions failed-unknown",
    notes=lambda read: [
        Caution("forks-missing", f"{_jmh_name(one)!r} has {of - missing} of its {of} forks")
        for (one,) in read.groups
        if (missing := asked(one, _jmh_missing)) and (of := _jmh_planned(one))
    ],
)


def _dotnet(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Name the variants: the jobs, where there are several, in short if that tells them apart."""
    data = opened.json()
    short = {job: _short(job) for job in map(_job, data["Benchmarks"])}
    if len(set(short.values())) < len(short):
        short = {job: job for job in short}
    return data | {"variants": short if len(short) > 1 else {}}


def _job(bench: dict[str, Any]) -> str:
    """Give the job: what stands in the information between the method and its parameters."""
    told = text_of(bench.get("DisplayInfo")) or ""
    title = f"{bench.get('Type')}.{bench.get('MethodTitle')}: "
    job = told.removeprefix(title) if told.startswith(title) else told.partition(": ")[2]
    return job.partition(" [")[0] if bench.get("Parameters") else job


def _short(job: str) -> str:
    """Give the job's own name; one that was made up (``Job-CZIFCN``) is told by its settings."""
    name, _, settings = job.partition("(")
    return settings.removesuffix(")") if name.startswith("Job-") and settings else name or job


_EARLIER = {"Result": "Result", "MainTarget": "Actual", "MainWarmup": "Warmup"}


def _staged(place: Place) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Give the measurements of the program's own iterations by stage, in the words of today, with their places."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for k, row in enumerate(place.value.get("Measurements") or ()):
        mode, stage = row.get("IterationMode"), row.get("IterationStage")
        own = _EARLIER.get(mode) if stage is None else stage if mode == "Workload" else None
        found.setdefault(own or "", []).append((f"{place.where}.Measurements[{k}]", row))
    return found


def _dotnet_rows(place: Place) -> list[tuple[str, dict[str, Any]]]:
    return (staged := _staged(place)).get("Result") or staged.get("Actual", [])


def _dotnet_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    """Give the results by launch; those that the statistics keep where there is none."""
    launches: dict[object, list[float]] = {}
    for where, row in _dotnet_rows(place):
        count = opened.value(row.get("Operations"), f"{where}.Operations")
        opened.require(count > 0, "a measurement of 0 operations", at=where)
        total = opened.value(row.get("Nanoseconds"), f"{where}.Nanoseconds", factor=factor)
        launches.setdefault(text_of(row.get("LaunchIndex")), []).append(total / count)
    kept = within(place.value, "Statistics", "OriginalValues")
    if not launches and kept:
        return (opened.values(kept, f"{place.where}.Statistics.OriginalValues", factor=factor),)
    return tuple(map(tuple, launches.values()))


def _dotnet_name(place: Place) -> str:
    own = [text_of(place.value.get(key)) for key in ("Namespace", "Type", "Method")]
    parts = f"{'.'.join(filter(None, own))} {text_of(place.value.get('Parameters')) or ''}".strip()
    return text_of(place.value.get("FullName")) or parts


def _dotnet_keys(place: Place) -> dict[str, Any]:
    settings = text_of(place.value.get("Parameters")) or ""
    own = {
        key.lower(): place.value.get(key) for key in ("Namespace", "Type", "Method", "MethodTitle")
    }
    params = dict(one.split("=", 1) for one in settings.split("&") if "=" in one)
    return params | texts_of(own) | ({"job": job} if (job := _job(place.value)) else {})


def _dotnet_notes(read: Read) -> Iterator[Caution]:
    staged = [_staged(one) for (one,) in read.groups]
    kept = [(len(one.get("Actual", [])), len(one["Result"])) for one in staged if "Result" in one]
    if removed := sum(max(0, actual - results) for actual, results in kept):
        text = (
            f"BenchmarkDotNet took {removed} of {sum(actual for actual, _ in kept)} iterations for outliers: its results, "
            "which are read, are without them (--outliers DontRemove keeps them)"
        )
        yield Caution("outliers-removed", text)
    if any("Actual" in one and "Result" not in one for one in staged):
        text = "there are no results, so the iterations are taken as measured, with the overhead of the calls"
        yield Caution("overhead-included", text)


def _is_brief(read: Read) -> bool:
    return not any(one.inner for one in read.cells)


_BENCHMARKDOTNET = JsonTool(
    name="benchmarkdotnet",
    said="BenchmarkDotNet's JSON",
    knows=("Benchmarks & HostEnvironmentInfo", "Benchmarks[*].Statistics & Benchmarks[*].Method"),
    summary=re.compile(  # CSV and Markdown
        r"^\|? *\"?Method\"? *[,;|](?=.*\bMean\b)(?=.*\bError\b)", re.MULTILINE
    ),
    keeps="export with --exporters json, or [JsonExporterAttribute.Full]",
    unwrap=_dotnet,
    each="Benchmarks[*]",
    benchmark=_dotnet_name,
    variant=lambda place: place.entries[0].value["variants"].get(_job(place.value)),
    rule=lambda cells: "the file's name" if cells[0].variant is None else "the job",
    session=lambda place: re.search(r"\d{8}-\d{6}$", place.entries[0].value["Title"])[0],  # type: ignore[index]
    inner=lambda place: [row.get("Operations") for _, row in _dotnet_rows(place)],
    warmups=lambda place: (
        len(_staged(place).get("Warmup", [])) if place.value.get("Measurements") else None
    ),
    fails=lambda place: (not _dotnet_rows(place) and place.value.get("Statistics") is None) or None,
    keys=(_dotnet_keys,),
    takes=(Take(None, unit="'ns'", read=_dotnet_values, runs="lists"),),
    losses={
        "means-of-operations": lambda read: (
            read.inner != ""
            and f"each value is the mean of {read.inner} operations: single ones cannot be seen"
        ),
        "launches-unknown": lambda read: (
            _is_brief(read)
            and "a brief file does not say which launch a value is from: all values count as those of one process (the full file has the launches)"
        ),
        "warm-ups-unknown": lambda read: _is_brief(read) and "warm-ups are not in a brief file",
        "one-process": lambda read: (
            max(len(one.processes) for one in read.cells) == 1
            and one_process("all iterations of a benchmark are from one process")
            + " (--launchCount N starts several)"
        ),
        "failed-unknown": "a launch that failed beside others is not in the file",
        "memory-left-out": lambda read: (
            any(isinstance(one.value.get("Memory"), dict) for (one,) in read.groups)
            and "allocated memory is one number for all launches of a benchmark: it is left out"
        ),
    },
    lost="no-sessions",
    notes=_dotnet_notes,
    facts={"cpu_model": "HostEnvironmentInfo.ProcessorName"},
)

ROWS = (_MITATA, _BENCHMARKJS, _TINYBENCH, _VITEST, _VITEST_TASKS, _JULIA, _JMH, _BENCHMARKDOTNET)
