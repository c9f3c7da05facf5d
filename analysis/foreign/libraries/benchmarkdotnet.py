"""BenchmarkDotNet's JSON: launches are processes, each with its iterations.

A measurement of the full file is the total time of so many operations. Stage ``Result`` holds the
actual iterations without the overhead of the calls, and without those that the tool took for outliers;
jitting, pilots, warm-ups and the overhead itself are told apart (before 0.11 in one word, such as
``MainWarmup``). A brief file keeps the results, but not which launch they stem from. A benchmark that
failed has no measurement. Several jobs (runtimes, toolchains) in one file are its variants; their names
stand in ``DisplayInfo`` only. Other exports hold summaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import (
    count_of,
    fail,
    json_of,
    mentions,
    structure_of,
    text_of,
    texts_of,
    value_of,
    values_of,
)

__all__ = ["knows", "read"]

_HEADINGS = re.compile(r"^\|? *\"?Method\"? *[,;|].*$", re.MULTILINE)  # of CSV and Markdown
_TIME = re.compile(r"\d{8}-\d{6}$")  # at the end of a title
_NS = 1e-9
_KEYS = ("Namespace", "Type", "Method", "MethodTitle")
_FIX = "export with --exporters json, or [JsonExporterAttribute.Full]"


@dataclass(slots=True)
class _Measured:
    """What one benchmark holds: results by launch, how many operations, what was left out."""

    processes: tuple[tuple[float, ...], ...]
    operations: int | None
    warmups: int | None
    actual: int = 0
    results: int = 0


def knows(opened: Opened) -> bool:
    """Tell by the keys of the host and of a result, or by the headings of an export without runs."""
    data = structure_of(opened)
    if data is None:
        return _is_summary(opened) or mentions(opened, "HostEnvironmentInfo", "Benchmarks")
    if not isinstance(data, dict) or not isinstance(data.get("Benchmarks"), list):
        return False
    return "HostEnvironmentInfo" in data or any(
        isinstance(one, dict) and "Statistics" in one and "Method" in one
        for one in data["Benchmarks"]
    )


def _is_summary(opened: Opened) -> bool:
    found = _HEADINGS.search(opened.head())
    return found is not None and {"Mean", "Error"} <= set(re.findall(r"\w+", found[0]))


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and job.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds summaries only.
    """
    if structure_of(opened) is None and _is_summary(opened):
        raise fail(opened, "this export of BenchmarkDotNet holds summaries only", _FIX)
    data = json_of(opened)
    given = data.get("Benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list) or not given:
        raise fail(opened, "there is no benchmark in the file", "did the filter match any?")
    benches: list[dict[str, Any]] = []
    for k, one in enumerate(given):
        if not isinstance(one, dict):
            raise fail(opened, "a benchmark is no object", "is it damaged?", at=f"Benchmarks[{k}]")
        benches.append(one)
    found = [_measured(opened, one, f"Benchmarks[{k}]") for k, one in enumerate(benches)]
    if not any(one.processes for one in found):
        raise fail(opened, "no benchmark has a measurement", "did every one fail? see the log")
    variants = _variants(benches)
    told = _TIME.search(text_of(data.get("Title")) or "")
    cells = tuple(
        _cell(opened, bench, one, f"Benchmarks[{k}]", variant, told and told[0])
        for k, (bench, one, variant) in enumerate(zip(benches, found, variants, strict=True))
    )
    host = data.get("HostEnvironmentInfo")
    cpu = host.get("ProcessorName") if isinstance(host, dict) else None
    return ForeignFile(
        format="benchmarkdotnet",
        source=opened.source,
        cells=cells,
        losses=tuple(_losses(benches, found)),
        notes=tuple(_notes(found)),
        variant_rule="the file's name" if variants[0] is None else "the job",
        facts={"cpu_model": cpu} if isinstance(cpu, str) else {},
    )


def _measured(opened: Opened, bench: Mapping[str, Any], at: str) -> _Measured:
    rows = bench.get("Measurements")
    if rows is not None and not isinstance(rows, list):
        raise fail(opened, "the measurements are no list", "is the file damaged?", at=at)
    if rows:
        return _of_rows(opened, rows, f"{at}.Measurements")
    stats = bench.get("Statistics")
    if stats is None:
        return _Measured((), None, None)  # it failed
    values = stats.get("OriginalValues") if isinstance(stats, dict) else None
    if not isinstance(values, list) or not values:
        raise fail(opened, "the benchmark holds a summary only, no measurements", _FIX, at=at)
    place = f"{at}.Statistics.OriginalValues"
    return _Measured((values_of(opened, values, place, factor=_NS),), None, None)


def _of_rows(opened: Opened, rows: Sequence[object], at: str) -> _Measured:
    staged: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for k, row in enumerate(rows):
        if not isinstance(row, dict):
            raise fail(opened, "a measurement is no object", "is it damaged?", at=f"{at}[{k}]")
        mode, stage = text_of(row.get("IterationMode")), text_of(row.get("IterationStage"))
        staged.setdefault(_stage(mode or "", stage), []).append((f"{at}[{k}]", row))
    results, actual = staged.get("Result", []), staged.get("Actual", [])
    processes: dict[object, list[float]] = {}
    most = 0
    for place, row in results or actual:
        count = value_of(opened, row.get("Operations"), f"{place}.Operations")
        if not count:
            raise fail(opened, "a measurement of 0 operations", "is it damaged?", at=place)
        total = value_of(opened, row.get("Nanoseconds"), f"{place}.Nanoseconds", factor=_NS)
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


def _cell(  # noqa: PLR0917 - all that is known of one benchmark
    opened: Opened,
    bench: Mapping[str, Any],
    found: _Measured,
    at: str,
    variant: str | None,
    session: str | None,
) -> ForeignCell:
    own = texts_of({key.lower(): bench.get(key) for key in _KEYS})
    settings = text_of(bench.get("Parameters")) or ""
    name = text_of(bench.get("FullName"))
    if name is None:
        parts = ".".join(own[key] for key in ("namespace", "type", "method") if key in own)
        name = f"{parts} {settings}".strip()
    if not name:
        raise fail(opened, "a benchmark has no name", "is the file damaged?", at=at)
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


def _losses(benches: Sequence[Mapping[str, Any]], found: Sequence[_Measured]) -> Iterator[Loss]:
    inner = [one.operations for one in found if one.operations is not None]
    if max(inner, default=1) > 1:
        told = f"{min(inner)}" if min(inner) == max(inner) else f"{min(inner)} to {max(inner)}"
        yield Loss(
            code="means-of-operations",
            text=f"each value is the mean of {told} operations: single ones cannot be seen",
        )
    if not inner:
        yield Loss(
            code="launches-unknown",
            text="which launch a value stems from is not in a brief file: all are taken as those of "
            "one process (the full file tells them apart)",
        )
        yield Loss(code="warm-ups-unknown", text="warm-ups are not in a brief file")
    if max(len(one.processes) for one in found) == 1:
        yield Loss(
            code="one-process",
            text="all iterations of a benchmark stem from one process: variation between processes "
            "cannot be estimated (--launchCount N starts several)",
        )
    yield Loss(code="no-sessions", text="all launches stem from one occasion")
    yield Loss(code="failed-unknown", text="a launch that failed beside others is not in the file")
    if any(isinstance(bench.get("Memory"), dict) for bench in benches):
        yield Loss(
            code="memory-left-out",
            text="allocated memory is one number for all launches of a benchmark: it is left out",
        )


def _notes(found: Sequence[_Measured]) -> Iterator[Loss]:
    kept = [one for one in found if one.results]
    removed = sum(max(0, one.actual - one.results) for one in kept)
    if removed:
        yield Loss(
            code="outliers-removed",
            text=f"BenchmarkDotNet took {removed} of {sum(one.actual for one in kept)} iterations for "
            "outliers: its results, which are read, are without them (--outliers DontRemove keeps "
            "them)",
        )
    if any(one.actual and not one.results for one in found):
        yield Loss(
            code="overhead-included",
            text="there are no results, so the iterations are taken as measured, with the overhead "
            "of the calls",
        )
