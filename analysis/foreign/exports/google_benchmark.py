"""Google Benchmark's JSON, for its compare.py: a row for each value.

Its compare.py prints times without decimals: they are nanoseconds, as the library's own default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...report import figures
from ..cells import Loss
from .leaving import Leaving, Metric, Run, Sample
from .losses import kept_apart, lost, metrics_lost, one_variant, time_of
from .nanoseconds import Nanoseconds
from .written import Written

__all__ = ["write"]

_SAID = "Google Benchmark's JSON"
_CPU = "cpu_time"
_TAKEN = frozenset((
    "name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "time_unit", "family_index", "per_family_instance_index", "aggregate_name",
    "aggregate_unit", "error_occurred", "error_message", "skipped", "skip_message", "label", "big_o",
    "rms", "cpu_coefficient", "real_coefficient",
))  # fmt: skip
_TOLD = (
    Metric(name=_CPU, unit="s", better="lower"),
    Metric(name="bytes_per_second", unit="B/s", better="higher"),
    Metric(name="items_per_second", unit="1/s", better="higher"),
)


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If there are several variants, or the first metric is no time.
    """
    variant = one_variant(leaving, _SAID)
    metric, renamed = time_of(leaving, _SAID)
    rows: list[dict[str, Any]] = []
    further = tuple(
        one
        for one in leaving.metrics[1:]
        if one.name not in _TAKEN
        and (one.name != _CPU or one.unit == "s")
        and _aligned(leaving, metric.name, one.name)
    )
    names = tuple(one.name for one in further)
    times = Nanoseconds()
    for family, sample in enumerate(leaving.samples):
        rows += _rows(sample, metric.name, names, (family, times))
    context: dict[str, Any] = {"caches": [], "library_build_type": "unknown", "variant": variant}
    if leaving.host:
        context["host_name"] = leaving.host
    unknown = any(row[_CPU] == 0.0 for row in rows if "error_occurred" not in row) and (
        _CPU not in names
    )
    text = json.dumps(
        {"context": context, "benchmarks": rows}, indent=2, allow_nan=False, ensure_ascii=False
    )
    notes = []
    if unknown:
        said = "cpu_time is 0, which compare.py wants: nobody measured it"
        notes.append(Loss(code="cpu-time-unknown", text=said))
    if any("error_occurred" in row for row in rows):
        said = "failed runs stand there as the library writes them, with times of 0"
        notes.append(Loss(code="failed-as-zero", text=said))
    return Written(
        data=f"{text}\n".encode(),
        lost=(
            *lost(leaving, metric.name, "failed"),
            *metrics_lost(leaving, (metric.name, *names)),
            *_units_lost(further),
            *times.lost(),
            *renamed,
        ),
        notes=tuple(notes),
    )


def _units_lost(counters: tuple[Metric, ...]) -> Iterator[Loss]:
    rest = tuple(one.name for one in counters if one not in _TOLD)
    if rest:
        text = f"unit and direction of {figures.listed(rest)}: counters have none"
        yield Loss(code="units-lost", text=text)


def _aligned(leaving: Leaving, metric: str, other: str) -> bool:
    """Tell whether each value of the metric has one of the other, of the same run."""
    return all(
        len(run.values.get(metric, ())) == len(run.values.get(other, ()))
        for sample in leaving.samples
        for run in sample.counted
    )


def _rows(
    sample: Sample, metric: str, further: tuple[str, ...], shared: tuple[int, Nanoseconds]
) -> Iterator[dict[str, Any]]:
    family, nanoseconds = shared
    processes = sample.processes(metric)
    columns = {
        name: kept_apart(sample.processes(name)) if processes else () for name in (metric, *further)
    }
    values = columns[metric]
    good = [run for run in sample.counted if run.values.get(metric)]
    # the kernel's account is of a whole run
    cpu = [_cpu(run) for run in good] if len(good) == len(values) else [0.0] * len(values)
    count = len(values) + len(sample.failed)

    def row(index: int) -> dict[str, Any]:
        return {
            "name": sample.benchmark,
            "family_index": family,
            "per_family_instance_index": 0,
            "run_name": sample.benchmark,
            "run_type": "iteration",
            "repetitions": count,
            "repetition_index": index,
            "threads": 1,
            "iterations": 1,
        }

    for k, value in enumerate(values):
        times = {
            "real_time": nanoseconds.of(value),
            _CPU: nanoseconds.of(columns[_CPU][k] if _CPU in further else cpu[k]),
            "time_unit": "ns",
        }
        counters = {name: columns[name][k] for name in further if name != _CPU}
        yield row(k) | times | counters
    for k, _ in enumerate(sample.failed, len(values)):
        yield row(k) | {
            "error_occurred": True,
            "error_message": "the run failed",
            "real_time": 0.0,
            _CPU: 0.0,
            "time_unit": "ns",
        }


def _cpu(run: Run) -> float:
    return 0.0 if run.user is None or run.system is None else run.user + run.system
