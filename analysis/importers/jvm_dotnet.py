"""Benchmark libraries of the JVM and .NET: JMH and BenchmarkDotNet.

An iteration's value is itself a mean over operations. Throughput is better when higher, times are when
lower; of a mode that is not known nothing is said. SampleTime keeps histograms: an iteration's value is their mean. With 0 forks all
iterations stem from JMH's own process. Numbers that are none are written as text (``"NaN"``). The
other result formats, and the log, hold no runs that could be told apart.

A measurement of the full file is the total time of so many operations. Stage ``Result`` holds the
actual iterations without the overhead of the calls, and without those that the tool took for outliers;
jitting, pilots, warm-ups and the overhead itself are told apart (before 0.11 in one word, such as
``MainWarmup``). A brief file keeps the results, but not which launch they stem from. A benchmark that
failed has no measurement. Several jobs (runtimes, toolchains) in one file are its variants; their names
stand in ``DisplayInfo`` only. Other exports hold summaries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution
from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    count_of,
    facts_of,
    in_base_unit,
    object_of,
    objects_in,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..data.opening import Opened
    from ..record.run_numbers import Better

_MODES: Mapping[str, tuple[str, Better]] = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sample_time", "lower"),
    "ss": ("single_shot", "lower"),
}
_SUMMARY = re.compile(
    r'^"Benchmark"[,;]"Mode"[,;]"Threads"[,;]"Samples"[,;]"Score"'  # -rf csv, scsv
    r"|^Benchmark +(?:\([^)]*\) +)*Mode +(?:Cnt|Samples) +Score"  # -rf text, and the log's end
    r"|^# JMH version:|^# (?:Warmup|Measurement): \d+ iterations, \d",
    re.MULTILINE,
)
_BROKEN = re.compile(r"([,\[\]{}])\s*\n\s*")  # JMH breaks its text into lines, within names too
_JMH_KEYS = (
    "mode", "threads", "forks", "jmhVersion", "jvm", "jdkVersion", "vmName", "vmVersion",
)  # fmt: skip


def knows_jmh(opened: Opened) -> bool:
    """Tell by the keys of a result, or by the headings of an export without runs."""
    data = opened.structure()
    if data is None:
        return (
            bool(_SUMMARY.search(opened.head()))
            or opened.mentions("benchmark", "primaryMetric")
            or opened.mentions("benchmark", "warmupIterations")
        )
    return any({"primaryMetric", "benchmark"} <= one.keys() for one in objects_in(data))


def read_jmh(opened: Opened) -> ForeignFile:
    """Give a cell for each result, and one for each of its secondary metrics."""
    if opened.structure() is None and _SUMMARY.search(opened.head()):
        raise opened.fail(
            "this output of JMH holds summaries only, or is its log",
            "execute JMH with -rf json -rff FILE",
        )
    data = opened.json()
    if not isinstance(data, list) or not data:
        raise opened.fail("there is no result in the file", "write it again with -rf json")
    notes: list[Caution] = []
    cells, alone, sampled = [], 0, False
    for k, one in enumerate(data):
        at = f"[{k}]"
        if not isinstance(one, dict) or not isinstance(one.get("benchmark"), str):
            raise opened.fail("a result has no benchmark", at=at)
        cells += list(_cells(opened, one, at, notes))
        alone += one.get("forks") == 0
        sampled = sampled or one.get("mode") == "sample"
    return ForeignFile(
        cells=tuple(cells),
        losses=cautions_of(
            {
                "means-of-operations": "each value is the mean of one iteration's operations: "
                "single ones cannot be seen",
                "histograms": sampled
                and "of sampled times the file keeps a histogram of each iteration, without order",
                "one-process": alone > 0
                and f"{alone} of {len(data)} results had no forks: their iterations stem from one "
                "process, and variation between processes cannot be estimated",
                "no-sessions": "all forks stem from one occasion",
                "failed-unknown": "JMH keeps no failed forks",
            }
        ),
        notes=tuple(notes),
    )


def _cells(
    opened: Opened, result: Mapping[str, Any], at: str, notes: list[Caution]
) -> Iterator[ForeignCell]:
    mode = text_of(result.get("mode")) or "value"
    metric, better = _MODES.get(mode, (mode, None))
    params = {k: _whole(v) for k, v in texts_of(result.get("params")).items()}
    forks, warmups = count_of(result.get("forks")), count_of(result.get("warmupIterations"))
    name = _whole(result["benchmark"])
    primary = result.get("primaryMetric")
    if not isinstance(primary, dict):
        raise opened.fail("the result has no primary metric", at=at)
    shared: dict[str, Any] = {
        "benchmark": " ".join([name, *(f"{k}={v}" for k, v in params.items())]),
        "known": True,
        "warmups": None if warmups is None or forks is None else warmups * max(1, forks),
        "keys": params
        | texts_of({key: result.get(key) for key in _JMH_KEYS})
        | {"benchmark": name},
        "definition": _definition(result),
    }
    found = _jmh_cell(opened, primary, metric, better, f"{at}.primaryMetric", mode, shared)
    missing = max(1, forks) - len(found.processes) if forks is not None else 0
    if missing > 0:
        text = (
            f"{shared['benchmark']!r} has {len(found.processes)} of its {max(1, forks or 0)} forks"
        )
        notes.append(Caution("forks-missing", text))
        shared["failed"] = missing
        found = replace(found, failed=missing)
    yield found
    for key, one in object_of(result.get("secondaryMetrics")).items():
        if not isinstance(one, dict) or not ("rawData" in one or "rawDataHistogram" in one):
            continue
        try:
            yield _jmh_cell(opened, one, key, None, f"{at}.secondaryMetrics.{key}", mode, shared)
        except AnalysisError as error:  # such as "NaN", where nothing was allocated
            text = f"{key!r} of {shared['benchmark']!r} is left out: {error.what}"
            notes.append(Caution("left-out", text))


def _definition(result: Mapping[str, Any]) -> str:
    """Say with how many threads, which arguments of the machine and how long iterations were measured."""
    keys = ("threads", "measurementTime", "measurementBatchSize")
    arguments = result.get("jvmArgs")
    said = {key: text_of(result.get(key)) for key in keys}
    said["jvmArgs"] = " ".join(map(str, arguments)) if isinstance(arguments, list) else ""
    return ", ".join(f"{key}={text}" for key, text in said.items() if text)


def _whole(text: str) -> str:
    return _BROKEN.sub(r"\1", text)


def _jmh_cell(  # noqa: PLR0917 - all of one result, in the order of its keys
    opened: Opened,
    metric: Mapping[str, Any],
    name: str,
    better: Better | None,
    at: str,
    mode: str,
    shared: Mapping[str, Any],
) -> ForeignCell:
    factor, base = _unit(text_of(metric.get("scoreUnit")) or "")
    histograms = metric.get("rawDataHistogram")
    raw = metric.get("rawData") if histograms is None else histograms
    if not isinstance(raw, list) or not any(raw):
        raise opened.fail(
            "the raw data of the iterations were left out",
            "execute JMH without -Djmh.json.rawData=false",
            at=at,
        )
    kind = "rawData" if histograms is None else "rawDataHistogram"
    processes, labels = [], []
    for f, fork in enumerate(raw):
        opened.require(isinstance(fork, list), "a fork is not a list", at=f"{at}.{kind}[{f}]")
        places = [(one, f"{at}.{kind}[{f}][{k}]") for k, one in enumerate(fork)]
        if histograms is None:
            values = [opened.value(one, place, factor=factor) for one, place in places]
        else:  # an iteration without any sample has none: an operation took longer than it
            values = [_mean(opened, one, place, factor) for one, place in places if one != []]
        if values:
            processes.append(tuple(values))
            labels.append(f"{mode} {f + 1}")  # each mode of a benchmark has forks of its own
    if not processes:
        raise opened.fail("no iteration has a value", "give the iterations more time", at=at)
    return ForeignCell(
        metric=name,
        unit=base,
        better=better,
        processes=tuple(processes),
        labels=tuple(labels),
        **shared,
    )


def _unit(unit: str) -> tuple[float, str]:
    """Give the factor and the unit of a score: a time or a size an operation loses its ``/op``."""
    if not unit.endswith("/op"):
        return in_base_unit(unit)
    factor, base = in_base_unit(unit.removesuffix("/op"))
    return (factor, base) if base == "s" else (factor, "B/op") if base == "B" else (1.0, unit)


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


_HEADINGS = re.compile(r"^\|? *\"?Method\"? *[,;|].*$", re.MULTILINE)  # of CSV and Markdown
_TIME = re.compile(r"\d{8}-\d{6}$")  # at the end of a title
_NS = 1e-9
_DOTNET_KEYS = ("Namespace", "Type", "Method", "MethodTitle")
_FIX = "export with --exporters json, or [JsonExporterAttribute.Full]"


@dataclass(slots=True)
class _Measured:
    """What one benchmark holds: results by launch, how many operations, what was left out."""

    processes: tuple[tuple[float, ...], ...] = ()
    operations: int | None = None
    warmups: int | None = None
    actual: int = 0
    results: int = 0


def knows_benchmarkdotnet(opened: Opened) -> bool:
    """Tell by the keys of the host and of a result, or by the headings of an export without runs."""
    data = opened.structure()
    if data is None:
        return _is_summary(opened) or opened.mentions("HostEnvironmentInfo", "Benchmarks")
    given = within(data, "Benchmarks")
    return isinstance(given, list) and (
        "HostEnvironmentInfo" in data
        or any({"Statistics", "Method"} <= one.keys() for one in objects_in(given))
    )


def _is_summary(opened: Opened) -> bool:
    found = _HEADINGS.search(opened.head())
    return found is not None and {"Mean", "Error"} <= set(re.findall(r"\w+", found[0]))


def read_benchmarkdotnet(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and job."""
    if opened.structure() is None and _is_summary(opened):
        raise opened.fail("this export of BenchmarkDotNet holds summaries only", _FIX)
    data = opened.json()
    what = "there is no benchmark in the file"
    benches = opened.list_at(data, "Benchmarks", what, "did the filter match any?")
    for k, one in enumerate(benches):
        what = "a benchmark is not an object"
        opened.require(isinstance(one, dict), what, "is it damaged?", at=f"Benchmarks[{k}]")
    found = [_measured(opened, one, f"Benchmarks[{k}]") for k, one in enumerate(benches)]
    if not any(one.processes for one in found):
        raise opened.fail("no benchmark has a measurement", "did every one fail? see the log")
    variants = _variants(benches)
    told = _TIME.search(text_of(data.get("Title")) or "")
    cells = tuple(
        _dotnet_cell(opened, bench, one, f"Benchmarks[{k}]", variant, told and told[0])
        for k, (bench, one, variant) in enumerate(zip(benches, found, variants, strict=True))
    )
    return ForeignFile(
        cells=cells,
        losses=_dotnet_losses(benches, found),
        notes=_notes(found),
        variant_rule="the file's name" if variants[0] is None else "the job",
        facts=facts_of(cpu_model=within(data, "HostEnvironmentInfo", "ProcessorName")),
    )


def _measured(opened: Opened, bench: Mapping[str, Any], at: str) -> _Measured:
    rows = bench.get("Measurements")
    if rows is not None and not isinstance(rows, list):
        raise opened.fail("the measurements are not a list", at=at)
    if rows:
        return _of_rows(opened, rows, f"{at}.Measurements")
    stats = bench.get("Statistics")
    if stats is None:
        return _Measured()  # it failed
    values = within(stats, "OriginalValues")
    if not isinstance(values, list) or not values:
        raise opened.fail("the benchmark holds a summary only, no measurements", _FIX, at=at)
    place = f"{at}.Statistics.OriginalValues"
    return _Measured((opened.values(values, place, factor=_NS),))


def _of_rows(opened: Opened, rows: Sequence[object], at: str) -> _Measured:
    staged: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for k, row in enumerate(rows):
        if not isinstance(row, dict):
            raise opened.fail("a measurement is not an object", "is it damaged?", at=f"{at}[{k}]")
        mode, stage = text_of(row.get("IterationMode")), text_of(row.get("IterationStage"))
        staged.setdefault(_stage(mode or "", stage), []).append((f"{at}[{k}]", row))
    results, actual = staged.get("Result", []), staged.get("Actual", [])
    processes: dict[object, list[float]] = {}
    most = 0
    for place, row in results or actual:
        count = opened.value(row.get("Operations"), f"{place}.Operations")
        if not count:
            raise opened.fail("a measurement of 0 operations", "is it damaged?", at=place)
        total = opened.value(row.get("Nanoseconds"), f"{place}.Nanoseconds", factor=_NS)
        processes.setdefault(text_of(row.get("LaunchIndex")), []).append(total / count)
        most = max(most, count_of(row["Operations"]) or 0)
    return _Measured(
        tuple(map(tuple, processes.values())),
        most or None,
        len(staged.get("Warmup", [])),
        actual=len(actual),
        results=len(results),
    )


def _stage(mode: str, stage: str | None) -> str:
    """Give the stage of the program's own iterations in the words of today, "" for all others."""
    if stage is None:
        return {"Result": "Result", "MainTarget": "Actual", "MainWarmup": "Warmup"}.get(mode, "")
    return stage if mode == "Workload" else ""


def _variants(benches: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Name the job of each benchmark where there are several: in short, if that tells them apart."""
    jobs = [_job(bench) for bench in benches]
    short = {job: _short(job) for job in jobs}
    if len(short) < 2:
        return [None] * len(jobs)
    return [short[job] if len(set(short.values())) == len(short) else job for job in jobs]


def _job(bench: Mapping[str, Any]) -> str:
    """Give the job: what stands in the information between the method and its parameters."""
    told = text_of(bench.get("DisplayInfo")) or ""
    title = f"{bench.get('Type')}.{bench.get('MethodTitle')}: "
    job = told.removeprefix(title) if told.startswith(title) else told.partition(": ")[2]
    return job.partition(" [")[0] if bench.get("Parameters") else job


def _short(job: str) -> str:
    """Give the job's own name; one that was made up (``Job-CZIFCN``) is told by its settings."""
    name, _, settings = job.partition("(")
    return settings.removesuffix(")") if name.startswith("Job-") and settings else name or job


def _dotnet_cell(  # noqa: PLR0917 - all that is known of one benchmark
    opened: Opened,
    bench: Mapping[str, Any],
    found: _Measured,
    at: str,
    variant: str | None,
    session: str | None,
) -> ForeignCell:
    own = texts_of({key.lower(): bench.get(key) for key in _DOTNET_KEYS})
    settings = text_of(bench.get("Parameters")) or ""
    name = text_of(bench.get("FullName"))
    if name is None:
        parts = ".".join(own[key] for key in ("namespace", "type", "method") if key in own)
        name = f"{parts} {settings}".strip()
    if not name:
        raise opened.fail("a benchmark has no name", at=at)
    params = dict(one.split("=", 1) for one in settings.split("&") if "=" in one)
    return ForeignCell(
        benchmark=name,
        variant=variant,
        processes=found.processes,
        known=True,
        inner=found.operations,
        warmups=found.warmups,
        failed=None if found.processes else 1,
        session=session,
        keys=params | own | ({"job": job} if (job := _job(bench)) else {}),
    )


def _dotnet_losses(
    benches: Sequence[Mapping[str, Any]], found: Sequence[_Measured]
) -> tuple[Caution, ...]:
    inner = [one.operations for one in found if one.operations is not None]
    return cautions_of(
        {
            "means-of-operations": max(inner, default=1) > 1
            and f"each value is the mean of {figures.span(inner)} operations: single ones cannot "
            "be seen",
            "launches-unknown": not inner
            and "a brief file does not say which launch a value is from: all values count as "
            "those of one process (the full file has the launches)",
            "warm-ups-unknown": not inner and "warm-ups are not in a brief file",
            "one-process": max(len(one.processes) for one in found) == 1
            and "all iterations of a benchmark stem from one process: variation between processes "
            "cannot be estimated (--launchCount N starts several)",
            "no-sessions": "all launches stem from one occasion",
            "failed-unknown": "a launch that failed beside others is not in the file",
            "memory-left-out": any(isinstance(bench.get("Memory"), dict) for bench in benches)
            and "allocated memory is one number for all launches of a benchmark: it is left out",
        }
    )


def _notes(found: Sequence[_Measured]) -> tuple[Caution, ...]:
    kept = [one for one in found if one.results]
    removed = sum(max(0, one.actual - one.results) for one in kept)
    return cautions_of(
        {
            "outliers-removed": removed > 0
            and f"BenchmarkDotNet took {removed} of {sum(one.actual for one in kept)} iterations "
            "for outliers: its results, which are read, are without them (--outliers DontRemove "
            "keeps them)",
            "overhead-included": any(one.actual and not one.results for one in found)
            and "there are no results, so the iterations are taken as measured, with the overhead "
            "of the calls",
        }
    )
