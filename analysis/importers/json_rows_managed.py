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
from .json_tools import JsonTool, Read, Take, asked, entries_with, from_one_process
from .parsing import count_of, object_of, objects_in, one_process, text_of, texts_of, within

if TYPE_CHECKING:
    from ..data.opening import Opened


def _samples(read: Read) -> str:
    most = max(cell.inner or 1 for cell in read.cells)
    return one_process(
        f"{f'means of up to {most} calls' if most > 1 else 'samples'}, all from one process"
    )


def _js_losses(library: str) -> dict[str, Any]:
    return {
        "one-process": _samples,
        "order-unknown": library != "Benchmark.js"
        and f"{library} sorts its samples: the order of measurement is not in the file",
        "trimmed": lambda read: (
            library == "mitata"
            and any(len(cell.values) > 8 for cell in read.cells)
            and "mitata leaves out the two slowest and the two fastest of more than 12 samples"
        ),
    }


_KEPT = "the samples of {!r} were not kept"
_LOOKED = 1000  # entries of a list, which may be a long table


def _mitata_group(place: Place) -> str | None:
    groups = objects_in(place.entries[0].value.get("layout"))
    number = count_of(place.entries[-2].value.get("group"))
    return (
        text_of(groups[number].get("name")) if number is not None and number < len(groups) else None
    )


def _mitata_name(place: Place) -> str:
    alias = text_of(place.entries[-2].value.get("alias")) or ""
    args = texts_of(place.value.get("args")).items()
    own = [f"{key}={value}" for key, value in args if f"${key}" not in alias]
    return _within(_mitata_group(place), " ".join([text_of(place.value.get("name")) or "", *own]))


def _within(group: str | None, name: str) -> str:
    return f"{group} > {name}" if group and name else name


def _batch(place: Place) -> int | None:
    calls, samples = count_of(asked(place, "stats.ticks")), within(place.value, "stats", "samples")
    return (
        max(1, calls // len(samples)) if calls and isinstance(samples, list) and samples else None
    )


_MITATA = JsonTool(
    name="js",
    said="JSON of mitata, Benchmark.js, tinybench or Vitest",
    knows=lambda data: any(
        "name" in run and ("stats" in run or "error" in run)
        for one in objects_in(within(data, "benchmarks"))
        for run in objects_in(one.get("runs"))
    ),
    mentions=(("layout", "benchmarks", "runs"),),
    kept=(_KEPT, "run({ format: { json: { samples: true, debug: false } } }) keeps them"),
    each="benchmarks[*].runs[*]",
    benchmark=_mitata_name,
    keys=("args", lambda place: {"group": _mitata_group(place)}, "name="),
    session="$.context.now",
    inner=_batch,
    fails=lambda place: place.value.get("stats") is None and place.value.get("error") is not None,
    takes=(Take(value="stats.samples", unit="'ns'"),),
    losses=_js_losses("mitata"),
    lost="no-sessions warm-ups-unknown",
    facts={"cpu_model": "context.cpu.name"},
)


def _is_benchmarkjs(one: Any) -> bool:  # noqa: ANN401 - JSON
    stats = within(one, "stats")
    return isinstance(stats, dict) and "rme" in stats and bool({"sample", "moe"} & stats.keys())


def _suite(data: Any) -> Any:  # noqa: ANN401 - JSON
    """Give the benchmarks of a list, of a suite, whose keys are numbers, or the only one."""
    if isinstance(data, dict) and "stats" not in data:
        return {key: one for key, one in data.items() if key.isdecimal()}
    return [data] if isinstance(data, dict) else data[:_LOOKED] if isinstance(data, list) else []


_BENCHMARKJS = replace(
    _MITATA,
    knows=lambda data: any(
        map(_is_benchmarkjs, found.values() if isinstance(found := _suite(data), dict) else found)
    ),
    mentions=(("stats", "sample", "rme"),),
    kept=(_KEPT, "write stats.sample of each benchmark too"),
    unnamed="write its name next to its result",
    unwrap=lambda opened: data if isinstance(data := opened.json(), list) else _suite(data),
    each="[*]",
    benchmark="name",
    keys=("name",),
    session=None,
    inner="count",
    fails=lambda place: (
        place.value.get("error") is not None
        or (within(place.value, "stats", "sample") == [] and not place.value.get("cycles"))
    ),
    takes=(Take(value="stats.sample"),),
    losses=_js_losses("Benchmark.js"),
    facts={},
)


def _tinybench(one: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return object_of(one.get("result", one))


_TINYBENCH = replace(
    _BENCHMARKJS,
    knows=lambda data: (
        isinstance(data, list)
        and any(
            isinstance(_tinybench(one).get("latency"), dict)
            or ("result" in one and {"samples", "rme"} <= _tinybench(one).keys())
            for one in objects_in(data[:_LOOKED])
        )
    ),
    mentions=(("result", "latency", "throughput"),),
    kept=(
        _KEPT,
        "new Bench({ retainSamples: true }) keeps them; write tasks.map(({ name, result }) => ({ name, result }))",
    ),
    unwrap=None,
    inner=lambda _: 1,
    fails=lambda place: (
        "error" in (found := _tinybench(place.value)) or found.get("state") == "errored"
    ),
    takes=(Take(value="result.latency.samples | latency.samples | result.samples", unit="'ms'"),),
    losses=_js_losses("tinybench"),
)


def _title(place: Place) -> str | None:
    return text_of(place.entries[-2].value.get("fullName"))


_VITEST = replace(
    _TINYBENCH,
    knows=lambda data: any(
        isinstance(group.get("benchmarks"), list)
        for file in objects_in(within(data, "files"))
        for group in objects_in(file.get("groups"))
    ),
    mentions=(("files", "groups", "benchmarks", "filepath"),),
    kept=(
        _KEPT,
        "Vitest's --outputJson never has them: set benchmark.includeSamples and let a reporter of "
        "your own write the whole task.result.benchmark of each task, in a list",
    ),
    each="files[*].groups[*].benchmarks[*]",
    benchmark=lambda place: _within(_title(place), text_of(place.value.get("name")) or ""),
    keys=(lambda place: {"group": _title(place)}, "name="),
    fails=lambda place: "mean" not in place.value,
    takes=(Take(value="samples", unit="'ms'"),),
    losses=_js_losses("Vitest"),
)
_VITEST_TASKS = replace(
    _VITEST,
    knows=lambda data: (
        isinstance(data, list)
        and any(
            "result" not in one and {"samples", "rme"} <= one.keys()
            for one in objects_in(data[:_LOOKED])
        )
    ),
    mentions=(),
    each="[*]",
    benchmark="name",
    keys=("name",),
    skips=lambda place: "mean" not in place.value and place.value.get("rank") == 0,  # a group
)

_SUMMARIES = ("TrialEstimate", "TrialRatio", "TrialJudgement")
_JULIA_FIX = "save the results of run(...) as they are, not their median or minimum"


def _julia(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Give the values of BenchmarkTools, which PkgBenchmark writes as a text in its own."""
    data = opened.json()
    if isinstance(text := within(data, "benchmarkgroup"), str):
        inner = replace(opened, data=text.encode(), encoding="utf-8").json()
        return data | {"values": _julia_values(inner, "benchmarkgroup")}
    return {"values": _julia_values(data, "")}


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
        inner = value[1].get("data")
        if kind == "BenchmarkGroup" and isinstance(inner, dict):
            waiting[:0] = [
                (one, (*names, key), f"{at}[1].data.{key}") for key, one in inner.items()
            ]
    return found


def _estimates(whole: Place) -> list[str]:
    return [kind for kind in _SUMMARIES for _ in whole.value["values"].get(kind, [])]


_JULIA = JsonTool(
    name="julia",
    said="BenchmarkTools.jl's or PkgBenchmark.jl's JSON",
    knows=lambda data: (
        isinstance(within(data, "benchmarkgroup"), str)
        or (
            isinstance(data, list)
            and len(data) == 2
            and isinstance(data[0], dict)
            and "BenchmarkTools" in data[0]
            and isinstance(data[1], list)
        )
    ),
    mentions=(("Julia", "BenchmarkTools"), ("benchmarkgroup",)),
    unwrap=_julia,
    each=lambda whole: whole.value["values"].get("Trial", []),
    nothing=lambda whole: (
        f"it holds a {found[0]}, no samples"
        if (found := _estimates(whole))
        else "it holds no trial"
    ),
    fix=_JULIA_FIX,
    kept=("the trial {!r} has no times", _JULIA_FIX),
    thing="a trial",
    benchmark="@",
    stem=True,
    keys=(
        "params[1]",
        lambda place: {"group": str(place.entries[0].key).rpartition("/")[0] or None},
        "name=",
    ),
    inner="params[1].evals",
    takes=(
        Take(value="times", unit="'ns'"),
        Take(value="gctimes", metric="'gctime'", unit="'ns'", zeros=False, needed=False),
    ),
    losses={
        "one-process": from_one_process("samples of {} evaluations, all from one process"),
        "order-unknown": "samples are sorted: their order of measurement is not in the file",
        "no-sessions": "when a trial was executed is not in the file",
    },
    lost="warm-ups-unknown failed-unknown",
    notes=lambda read: (
        [Caution("left-out", f"{len(found)} summaries are left out: no samples")]
        if (found := _estimates(read.whole))
        else []
    ),
    facts={"commit": "commit", "date": "date"},
)


_MODES = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sample_time", "lower"),
    "ss": ("single_shot", "lower"),
}
_JMH_SUMMARY = re.compile(
    r'^"Benchmark"[,;]"Mode"[,;]"Threads"[,;]"Samples"[,;]"Score"'  # -rf csv, scsv
    r"|^Benchmark +(?:\([^)]*\) +)*Mode +(?:Cnt|Samples) +Score"  # -rf text
)
_BROKEN = re.compile(r"([,\[\]{}])\s*\n\s*")  # JMH breaks its text into lines, within names too
_RAW = ("rawDataHistogram", "rawData")


def _jmh_parameters(place: Place) -> dict[str, str]:
    return {
        key: _BROKEN.sub(r"\1", text) for key, text in texts_of(place.value.get("params")).items()
    }


def _jmh_name(place: Place) -> str | None:
    if not isinstance(name := place.value.get("benchmark"), str):
        return None
    settings = (f"{key}={value}" for key, value in _jmh_parameters(place).items())
    return " ".join([_BROKEN.sub(r"\1", name), *settings])


def _jmh_mode(place: Place) -> tuple[str, str | None]:
    mode = text_of(place.entries[-1].value.get("mode")) or "value"
    return _MODES.get(mode, (mode, None))


def _jmh_missing(place: Place) -> int | None:
    """Count the forks that are missing; None where there is none."""
    forks = count_of(place.value.get("forks"))
    raw = asked(place, " | ".join(f"primaryMetric.{key}" for key in _RAW))
    forks_of = raw if isinstance(raw, list) else []
    found = [one for one in forks_of if isinstance(one, list) and any(x != [] for x in one)]
    return None if forks is None or len(found) >= max(1, forks) else max(1, forks) - len(found)


def _jmh_warmups(place: Place) -> int | None:
    forks, warmups = (
        count_of(place.value.get("forks")),
        count_of(place.value.get("warmupIterations")),
    )
    return None if warmups is None or forks is None else warmups * max(1, forks)


def _jmh_definition(place: Place) -> str:
    """Say with how many threads, which arguments of the machine and how long iterations were measured."""
    said = {
        key: text_of(place.value.get(key))
        for key in ("threads", "measurementTime", "measurementBatchSize")
    }
    arguments = place.value.get("jvmArgs")
    said["jvmArgs"] = " ".join(map(str, arguments)) if isinstance(arguments, list) else ""
    return ", ".join(f"{key}={text}" for key, text in said.items() if text)


def _jmh_forks(opened: Opened, place: Place, factor: float) -> dict[str, tuple[float, ...]]:
    """Give the values of each fork, which has a number; each mode of a benchmark has forks of its own."""
    kind = next((key for key in _RAW if within(place.value, key) is not None), "rawData")
    raw = within(place.value, kind)
    if not isinstance(raw, list) or not any(raw):
        fix = "execute JMH without -Djmh.json.rawData=false"
        raise opened.fail("the raw data of the iterations were left out", fix, at=place.where)
    found = {}
    for f, fork in enumerate(raw):
        at = f"{place.where}.{kind}[{f}]"
        opened.require(isinstance(fork, list), "a fork is not a list", at=at)
        if kind == "rawData":
            values = opened.values(fork, at, factor=factor)
        else:  # an iteration without any sample has none: an operation took longer than it
            values = tuple(
                _mean(opened, one, f"{at}[{k}]", factor) for k, one in enumerate(fork) if one != []
            )
        if values:
            found[f"{text_of(place.entries[-1].value.get('mode')) or 'value'} {f + 1}"] = values
    opened.require(
        found != {}, "no iteration has a value", "give the iterations more time", at=place.where
    )
    return found


def _mean(opened: Opened, pairs: object, at: str, factor: float) -> float:
    if not isinstance(pairs, list):
        raise opened.fail("the histogram is not a list", at=at)
    total = weight = 0.0
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise opened.fail("an entry of the histogram is not a pair", at=at)
        count = opened.value(pair[1], f"{at}[{k}]")
        total += opened.value(pair[0], f"{at}[{k}]", factor=factor) * count
        weight += count
    if not weight or not math.isfinite(total / weight):
        raise opened.fail("the histogram has no mean", at=at)
    return total / weight


_JMH = JsonTool(
    name="jmh",
    said="JMH's JSON",
    knows=entries_with(None, "primaryMetric", "benchmark"),
    mentions=(("benchmark", "primaryMetric"), ("benchmark", "warmupIterations")),
    summary=(_JMH_SUMMARY, "this output of JMH holds summaries only"),
    nothing="there is no result in the file",
    fix="write it again with -rf json",
    kept=("the result of {!r} has no primary metric", "execute JMH with -rf json -rff FILE"),
    thing="a result",
    each="[*]",
    benchmark=_jmh_name,
    warmups=_jmh_warmups,
    fails=_jmh_missing,
    definition=_jmh_definition,
    keys=(
        _jmh_parameters,
        "mode",
        "threads",
        "forks",
        "jmhVersion",
        "jvm",
        "jdkVersion",
        "vmName",
        "vmVersion",
        lambda place: {"benchmark": _BROKEN.sub(r"\1", place.value["benchmark"])},
    ),
    takes=(
        Take(
            value="primaryMetric",
            metric=lambda place: _jmh_mode(place)[0],
            better=lambda place: _jmh_mode(place)[1],
            unit="primaryMetric.scoreUnit",
            read=_jmh_forks,
        ),
        Take(
            names=lambda place: [
                key
                for key, one in object_of(place.value.get("secondaryMetrics")).items()
                if isinstance(one, dict) and not one.keys().isdisjoint(_RAW)
            ],
            value="secondaryMetrics[{}]",
            unit="secondaryMetrics[{}].scoreUnit",
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
            and f"{alone} of {len(read.groups)} results had no forks: their iterations stem from one process, and variation between processes cannot be estimated"
        ),
    },
    lost="no-sessions failed-unknown",
    notes=lambda read: [
        Caution("forks-missing", f"{_jmh_name(one)!r} has {forks - missing} of its {forks} forks")
        for (one,) in read.groups
        if (missing := _jmh_missing(one)) and (forks := max(1, one.value["forks"]))
    ],
)

_HEADINGS = re.compile(
    r"^\|? *\"?Method\"? *[,;|](?=.*\bMean\b)(?=.*\bError\b)", re.MULTILINE
)  # of CSV and Markdown
_DOTNET_FIX = "export with --exporters json, or [JsonExporterAttribute.Full]"


def _dotnet(opened: Opened) -> Any:  # noqa: ANN401 - JSON
    """Name the variants: the jobs, where there are several, in short if that tells them apart."""
    data = opened.json()
    jobs = [_job(bench) for bench in objects_in(within(data, "Benchmarks"))]
    short = {job: _short(job) for job in jobs}
    if len(set(short.values())) < len(short):
        short = {job: job for job in jobs}
    return object_of(data) | {
        "variants": {job: name if len(short) > 1 else None for job, name in short.items()}
    }


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


def _stage(mode: str, stage: str | None) -> str:
    """Give the stage of the program's own iterations in the words of today, "" for all others."""
    if stage is None:
        return {"Result": "Result", "MainTarget": "Actual", "MainWarmup": "Warmup"}.get(mode, "")
    return stage if mode == "Workload" else ""


def _staged(place: Place) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Give the measurements of each stage with their places."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    rows = place.value.get("Measurements")
    for k, row in enumerate(rows if isinstance(rows, list) else []):
        if isinstance(row, dict):
            stage = _stage(
                text_of(row.get("IterationMode")) or "", text_of(row.get("IterationStage"))
            )
            found.setdefault(stage, []).append((f"{place.where}.Measurements[{k}]", row))
    return found


def _dotnet_rows(place: Place) -> list[tuple[str, dict[str, Any]]]:
    return (staged := _staged(place)).get("Result") or staged.get("Actual", [])


def _dotnet_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    """Give the results by launch; those that the statistics keep where there is none."""
    rows = place.value.get("Measurements") or []
    at = f"{place.where}.Measurements"
    opened.require(isinstance(rows, list), "the measurements are not a list", at=place.where)
    for k, row in enumerate(rows):
        opened.require(isinstance(row, dict), "a measurement is not an object", at=f"{at}[{k}]")
    launches: dict[object, list[float]] = {}
    for where, row in _dotnet_rows(place):
        count = opened.value(row.get("Operations"), f"{where}.Operations")
        opened.require(count > 0, "a measurement of 0 operations", at=where)
        total = opened.value(row.get("Nanoseconds"), f"{where}.Nanoseconds", factor=factor)
        launches.setdefault(text_of(row.get("LaunchIndex")), []).append(total / count)
    kept = within(place.value, "Statistics", "OriginalValues")
    if not launches and isinstance(kept, list) and kept:
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


_BENCHMARKDOTNET = JsonTool(
    name="benchmarkdotnet",
    said="BenchmarkDotNet's JSON",
    knows=lambda data: (
        isinstance(within(data, "Benchmarks"), list)
        and (
            "HostEnvironmentInfo" in data
            or entries_with("Benchmarks", "Statistics", "Method")(data)
        )
    ),
    mentions=(("HostEnvironmentInfo", "Benchmarks"),),
    summary=(_HEADINGS, "this export of BenchmarkDotNet holds summaries only"),
    fix="did the filter match any?",
    kept=("the benchmark {!r} holds a summary only, no measurements", _DOTNET_FIX),
    unwrap=_dotnet,
    each="Benchmarks[*]",
    benchmark=_dotnet_name,
    variant=lambda place: place.entries[0].value["variants"][_job(place.value)] or None,
    rule=lambda cells: "the file's name" if cells[0].variant is None else "the job",
    session=lambda place: (
        found[0]
        if (found := re.search(r"\d{8}-\d{6}$", text_of(place.entries[0].value.get("Title")) or ""))
        else None
    ),
    inner=lambda place: [row.get("Operations") for _, row in _dotnet_rows(place)],
    warmups=lambda place: (
        len(_staged(place).get("Warmup", [])) if place.value.get("Measurements") else None
    ),
    fails=lambda place: (not _dotnet_rows(place) and place.value.get("Statistics") is None) or None,
    keys=(_dotnet_keys,),
    takes=(Take(value=None, unit="'ns'", read=_dotnet_values, runs="lists"),),
    losses={
        "means-of-operations": lambda read: (
            any((one.inner or 1) > 1 for one in read.cells)
            and f"each value is the mean of {read.inner} operations: single ones cannot be seen"
        ),
        "launches-unknown": lambda read: (
            not any(one.inner for one in read.cells)
            and "a brief file does not say which launch a value is from: all values count as those of one process (the full file has the launches)"
        ),
        "warm-ups-unknown": lambda read: (
            not any(one.inner for one in read.cells) and "warm-ups are not in a brief file"
        ),
        "one-process": lambda read: (
            max(len(one.processes) for one in read.cells) == 1
            and "all iterations of a benchmark stem from one process: variation between processes cannot be estimated (--launchCount N starts several)"
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
