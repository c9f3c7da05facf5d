"""hyperfine's JSON, for its scripts: a result for each benchmark and variant, a time for each run.

Times of failed runs stand among the others, as hyperfine has them; its means here are without
them. Benchmark and variant stand in ``parameters``, as those of a parameter list would.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

from ..cells import Loss
from .leaving import Leaving, Run, Sample
from .losses import lost, mean_of, metrics_lost, time_of
from .summary import deviation
from .written import Written

__all__ = ["write"]

_SAID = "hyperfine's JSON"
_MEMORY = "max_rss"


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If the first metric is no time.
    """
    metric, renamed = time_of(leaving, _SAID)
    memory = _MEMORY if _has_memory(leaving, metric.name) else None
    alone = len(leaving.benchmarks) == 1
    results = [
        _result(sample, metric.name, memory, alone=alone)
        for sample in leaving.samples
        if _timed(sample, metric.name)
    ]
    text = json.dumps({"results": results}, indent=2, allow_nan=False, ensure_ascii=False)
    untimed = sum(
        not run.values.get(metric.name) for sample in leaving.samples for run in sample.failed
    )
    return Written(
        data=f"{text}\n".encode(),
        lost=(*_lost(leaving, metric.name, memory, untimed), *renamed),
        notes=_notes(results),
    )


def _has_memory(leaving: Leaving, metric: str) -> bool:
    """Tell whether every run that is listed has its memory as one whole number of bytes."""
    if not any(one.name == _MEMORY and one.unit == "B" for one in leaving.metrics[1:]):
        return False
    found = [
        run.values.get(_MEMORY, ()) for sample in leaving.samples for run in _timed(sample, metric)
    ]
    return all(len(values) == 1 and values[0].is_integer() for values in found)


def _lost(leaving: Leaving, metric: str, memory: str | None, untimed: int) -> Iterator[Loss]:
    if untimed:
        told = "1 run" if untimed == 1 else f"{untimed} runs"
        yield Loss(code="failed-lost", text=f"{told} that failed and have no time: left out")
    processes = [of for sample in leaving.samples for of in sample.processes(metric)]
    if any(len(process) > 1 for process in processes):
        text = "the iterations of each process: their mean is written"
        yield Loss(code="processes-lost", text=text)
    yield from lost(leaving, metric, "failed", "processes")
    yield from metrics_lost(leaving, (metric, *((memory,) if memory else ())))


def _notes(results: list[dict[str, Any]]) -> tuple[Loss, ...]:
    if all(one["user"] is not None for one in results):
        return ()
    text = "user and system time are null: nobody measured them"
    return (Loss(code="cpu-time-unknown", text=text),)


def _result(sample: Sample, metric: str, memory: str | None, *, alone: bool) -> dict[str, Any]:
    runs = _timed(sample, metric)
    times = [mean_of(run.values[metric]) for run in runs]
    good = [time for time, run in zip(times, runs, strict=True) if run.ok] or times
    counted = [run for run in runs if run.ok] or runs
    result: dict[str, Any] = {
        "command": sample.variant if alone else f"{sample.variant} {sample.benchmark}",
        "mean": statistics.fmean(good),
        "stddev": deviation(good),
        "median": statistics.median(good),
        "user": _mean_of([run.user for run in counted]),
        "system": _mean_of([run.system for run in counted]),
        "min": min(good),
        "max": max(good),
        "times": times,
    }
    if memory is not None:
        result["memory_usage_byte"] = [int(run.values[memory][0]) for run in runs]
    result["exit_codes"] = [_code(run) for run in runs]
    result["parameters"] = {"benchmark": sample.benchmark, "variant": sample.variant}
    return result


def _timed(sample: Sample, metric: str) -> list[Run]:
    """Give the runs that hyperfine would list: also those that failed."""
    return [run for run in sample.runs if not run.warmup and run.values.get(metric)]


def _code(run: Run) -> int | None:
    return 0 if run.ok else run.exit_code or None  # null: a signal ended it


def _mean_of(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None
