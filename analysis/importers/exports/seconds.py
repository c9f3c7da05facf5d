"""Targets whose values are seconds: the JSON of hyperfine, pyperf and pytest-benchmark.

Times of failed runs stand among the others, as hyperfine has them; its means here are without
them. Benchmark and variant stand in ``parameters``, as those of a parameter list would.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...pages import number_format as figures
from ...record.manifest import utc_now
from ..parsing import cautions_of
from .losses import (
    MEANS,
    WALL,
    Written,
    json_bytes,
    kept_apart,
    lost,
    mean_of,
    names_lost,
    one_variant,
    renamed,
    time_of,
)

if TYPE_CHECKING:
    from .export_data import ExportedCell, ExportedData, ExportedProcess


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Give the quartiles: medians of the halves, the middle value in neither."""
    ordered = sorted(values)
    half = len(ordered) // 2
    middle = statistics.median(ordered)
    if not half:
        return middle, middle, middle
    return statistics.median(ordered[:half]), middle, statistics.median(ordered[-half:])


_HYPERFINE_SAID = "hyperfine's JSON"
_MEMORY = "max_rss"


def write_hyperfine(exported: ExportedData) -> Written:
    """Make the file."""
    metric, renamed = time_of(exported, _HYPERFINE_SAID)
    memory = _MEMORY if _has_memory(exported, metric.name) else None
    alone = len(exported.benchmarks) == 1
    results = [
        _result(sample, metric.name, memory, alone=alone)
        for sample in exported.samples
        if _timed(sample, metric.name)
    ]
    untimed = sum(
        not run.values.get(metric.name) for sample in exported.samples for run in sample.failed
    )
    text = f"{figures.counted(untimed, 'run')} that failed and have no time: left out"
    several = any(len(of) > 1 for one in exported.samples for of in one.processes(metric.name))
    written = (metric.name, *((memory,) if memory else ()))
    return Written(
        data=json_bytes({"results": results}),
        lost=(
            *cautions_of(
                {"failed-lost": untimed > 0 and text, "processes-lost": several and MEANS}
            ),
            *lost(exported, metric.name, "failed", "processes", metrics=written),
            *renamed,
        ),
        notes=cautions_of(
            {
                "cpu-time-unknown": any(one["user"] is None for one in results)
                and "user and system time are null: they were not measured"
            }
        ),
    )


def _has_memory(exported: ExportedData, metric: str) -> bool:
    """Tell whether every run that is listed has its memory as one whole number of bytes."""
    if not any(one.name == _MEMORY and one.unit == "B" for one in exported.metrics[1:]):
        return False
    found = [
        run.values.get(_MEMORY, ()) for sample in exported.samples for run in _timed(sample, metric)
    ]
    return all(len(values) == 1 and values[0].is_integer() for values in found)


def _result(
    sample: ExportedCell, metric: str, memory: str | None, *, alone: bool
) -> dict[str, Any]:
    runs = _timed(sample, metric)
    times = [mean_of(run.values[metric]) for run in runs]
    good = [time for time, run in zip(times, runs, strict=True) if run.ok] or times
    counted = [run for run in runs if run.ok] or runs
    result: dict[str, Any] = {
        "command": sample.variant if alone else f"{sample.variant} {sample.benchmark}",
        "mean": statistics.fmean(good),
        "stddev": statistics.stdev(good) if len(good) > 1 else None,
        "median": statistics.median(good),
        "user": _mean_of([run.user for run in counted]),
        "system": _mean_of([run.system for run in counted]),
        "min": min(good),
        "max": max(good),
        "times": times,
    }
    if memory is not None:
        result["memory_usage_byte"] = [int(run.values[memory][0]) for run in runs]
    # null: a signal ended it
    result["exit_codes"] = [0 if run.ok else run.exit_code or None for run in runs]
    result["parameters"] = {"benchmark": sample.benchmark, "variant": sample.variant}
    return result


def _timed(sample: ExportedCell, metric: str) -> list[ExportedProcess]:
    """Give the runs that hyperfine would list: also those that failed."""
    return [run for run in sample.runs if not run.warmup and run.values.get(metric)]


def _mean_of(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


_PYPERF_SAID = "pyperf's JSON"
_UNITS = {"s": "second", "B": "byte"}
_READ_AS = {"B": "memory"}


def write_pyperf(exported: ExportedData) -> Written:
    """Make the file."""
    variant = one_variant(exported, _PYPERF_SAID)
    metric = exported.metrics[0]
    if metric.unit not in _UNITS or metric.better != "lower":
        raise UsageError(
            f"{_PYPERF_SAID} holds times and sizes; {metric.name!r} has the unit {metric.unit or 'none'!r}, "
            f"{metric.better} is better",
            exported.name,
            "name another --metric, or write a table: --to long-csv",
        )
    names = renamed(exported.benchmarks, _clean, exported.name)
    zeros = sum(
        value == 0
        for sample in exported.samples
        for process in sample.processes(metric.name)
        for value in process
    )
    benchmarks = [
        {
            "metadata": {"name": names[sample.benchmark]},
            "runs": [
                {"metadata": {}, "values": values}
                for process in sample.processes(metric.name)
                if (values := [value for value in process if value])
            ],
        }
        for sample in exported.samples
        if any(map(any, sample.processes(metric.name)))
    ]
    if not benchmarks:
        raise UsageError(
            f"all values of {metric.name!r} are 0, which pyperf refuses",
            exported.name,
            "name another --metric, or write a table: --to long-csv",
        )
    shared: dict[str, Any] = {"unit": _UNITS[metric.unit], "variant": _clean(variant)}
    if exported.host:
        shared["hostname"] = exported.host
    if exported.cpu_model:
        shared["cpu_model_name"] = exported.cpu_model
    # pyperf's own version of the layout; metadata that all share stand at the top
    whole = {"version": "1.0", "metadata": shared, "benchmarks": benchmarks}
    said = f"{figures.counted(zeros, 'value')} of 0, which pyperf refuses: left out"
    is_named = metric.name in (WALL if metric.unit == "s" else {_READ_AS[metric.unit]})
    text = f"that the values are {metric.name!r}: the file knows only their unit"
    return Written(
        data=json_bytes(whole, None),
        lost=(
            *cautions_of({"zeros-lost": zeros > 0 and said}),
            *lost(exported, metric.name, "processes", metrics=(metric.name,)),
            *cautions_of({"metric-name-lost": not is_named and text}),
            *names_lost("which are one line without spaces around it", names),
        ),
    )


def _clean(name: str) -> str:
    return re.sub(r"[\r\n]+", " ", name).strip() or "-"


_PYTEST_SAID = "pytest-benchmark's JSON"


def write_pytest_benchmark(exported: ExportedData) -> Written:
    """Make the file."""
    variant = one_variant(exported, _PYTEST_SAID)
    metric, renamed = time_of(exported, _PYTEST_SAID)
    at = utc_now()
    benchmarks = [
        {
            "group": None,
            "name": sample.benchmark,
            "fullname": sample.benchmark,
            "params": None,
            "param": None,
            "extra_info": {"variant": variant},
            "options": {
                "disable_gc": False,
                "timer": "unknown",
                "min_rounds": 1,
                "max_time": 0.0,
                "min_time": 0.0,
                "warmup": False,
            },
            "stats": _stats(kept_apart(processes)),
        }
        for sample in exported.samples
        if (processes := sample.processes(metric.name))
    ]
    whole = {
        "machine_info": {
            "node": exported.host or "unknown",
            "cpu": {"brand_raw": exported.cpu_model} if exported.cpu_model else {},
        },
        "commit_info": {"id": "unknown", "time": None, "dirty": False, "branch": "unknown"},
        "benchmarks": benchmarks,
        "datetime": at,
        "version": "5.0.0",
    }
    zero = any(one["stats"]["ops"] == 0.0 for one in benchmarks)  # type: ignore[index]
    return Written(
        data=json_bytes(whole),
        lost=(*lost(exported, metric.name, metrics=(metric.name,)), *renamed),
        notes=cautions_of({"no-rate": zero and "a mean of 0 has no rate: ops is 0"}),
    )


def _stats(values: Sequence[float]) -> dict[str, Any]:
    mean = statistics.fmean(values)
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    low, middle, high = quartiles(values)
    reach = 1.5 * (high - low)
    near = [value for value in values if low - reach <= value <= high + reach]
    outside = len(values) - len(near)
    far = sum(abs(value - mean) > spread for value in values)
    return {
        "min": min(values),
        "max": max(values),
        "mean": mean,
        "stddev": spread,
        "rounds": len(values),
        "median": middle,
        "iqr": high - low,
        "q1": low,
        "q3": high,
        "iqr_outliers": outside,
        "stddev_outliers": far,
        "outliers": f"{far};{outside}",
        "ld15iqr": min(near, default=min(values)),
        "hd15iqr": max(near, default=max(values)),
        "ops": 1 / mean if mean else 0.0,
        "total": sum(values),
        "data": list(values),
        "iterations": 1,
    }
