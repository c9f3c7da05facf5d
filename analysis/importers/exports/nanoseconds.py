"""Targets whose values are nanoseconds: Google Benchmark's JSON and text for benchstat.

Its compare.py prints times without decimals: they are nanoseconds, as the library's own default.

The k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test binary
does. Several variants are told apart by the configuration key ``variant`` (``benchstat -col variant``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import UsageError
from ...pages import number_format as figures
from ...pages.model import Caution
from ..parsing import cautions_of
from .export_data import ExportedCell, ExportedData, ExportedProcess, Metric
from .losses import (
    WALL,
    Written,
    json_bytes,
    kept_apart,
    lost,
    names_lost,
    one_variant,
    renamed,
    time_of,
)


class Nanoseconds:
    """Gives nanoseconds, and counts the values that no number of nanoseconds gives back exactly."""

    rounded = 0

    def of(self, seconds: float) -> float:
        """Give the number that, divided by 1e9, is `seconds` again, or the nearest."""
        near = seconds * 1e9
        if near == math.inf:
            raise UsageError(
                f"{seconds:.3g} s are too many for nanoseconds",
                fix="write a table, such as --to long-csv",
            )
        for tried in (near, math.nextafter(near, 0), math.nextafter(near, math.inf)):
            if tried / 1e9 == seconds:
                return tried
        self.rounded += 1
        return near

    def lost(self) -> Iterator[Caution]:
        """Say how many values were rounded."""
        if self.rounded:
            told = figures.counted(self.rounded, "value")
            yield Caution(
                "values-rounded",
                f"the last binary digit of {told}: the file's times are nanoseconds",
            )


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


def write_google_benchmark(exported: ExportedData) -> Written:
    """Make the file."""
    variant = one_variant(exported, _SAID)
    metric, renamed = time_of(exported, _SAID)
    rows: list[dict[str, Any]] = []
    further = tuple(
        one
        for one in exported.metrics[1:]
        if one.name not in _TAKEN
        and (one.name != _CPU or one.unit == "s")
        and _aligned(exported, metric.name, one.name)
    )
    names = tuple(one.name for one in further)
    times = Nanoseconds()
    for family, sample in enumerate(exported.samples):
        rows += _rows(sample, metric.name, names, (family, times))
    context: dict[str, Any] = {"caches": [], "library_build_type": "unknown", "variant": variant}
    if exported.host:
        context["host_name"] = exported.host
    unknown = any(row[_CPU] == 0.0 for row in rows if "error_occurred" not in row) and (
        _CPU not in names
    )
    unsaid = tuple(one.name for one in further if one not in _TOLD)
    text = f"unit and direction of {figures.listed(unsaid)}: counters have none"
    return Written(
        data=json_bytes({"context": context, "benchmarks": rows}),
        lost=(
            *lost(exported, metric.name, "failed", metrics=(metric.name, *names)),
            *cautions_of({"units-lost": unsaid != () and text}),
            *times.lost(),
            *renamed,
        ),
        notes=cautions_of(
            {
                "cpu-time-unknown": unknown
                and "cpu_time is 0, which compare.py needs: it was not measured",
                "failed-as-zero": any("error_occurred" in row for row in rows)
                and "failed runs are written as the library writes them, with times of 0",
            }
        ),
    )


def _aligned(exported: ExportedData, metric: str, other: str) -> bool:
    """Tell whether each value of the metric has one of the other, of the same run."""
    return all(
        len(run.values.get(metric, ())) == len(run.values.get(other, ()))
        for sample in exported.samples
        for run in sample.counted
    )


def _rows(
    sample: ExportedCell, metric: str, further: tuple[str, ...], shared: tuple[int, Nanoseconds]
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


def _cpu(run: ExportedProcess) -> float:
    return 0.0 if run.user is None or run.system is None else run.user + run.system


_ENDING = re.compile(r"-\d+$")
_OWN = {"B/op", "allocs/op", "MB/s"}  # units that go names itself


def write_go_bench(exported: ExportedData) -> Written:
    """Make the file."""
    names = renamed(exported.benchmarks, _name, exported.name)
    variants = renamed(exported.variants, _one_line, exported.name)
    units = _units(exported.metrics)
    renamed(units, units.__getitem__, exported.name)
    endings = {found[0] if (found := _ENDING.search(name)) else "" for name in names.values()}
    # what all names end with is taken for GOMAXPROCS, and cut
    ending = "-1" if len(endings) == 1 and "" not in endings else ""
    shown = {bench: f"{name}{ending}" for bench, name in names.items()}
    times = Nanoseconds()
    lines: list[str] = []
    for variant in exported.variants:
        mine = [one for one in exported.samples if one.variant == variant]
        lines += _variant(exported, variants[variant], mine, (shown, units), times)
    return Written(
        data=("\n".join(lines) + "\n").encode(),
        lost=tuple(_lost(exported, names, variants, times)),
    )


def _variant(
    exported: ExportedData,
    variant: str,
    samples: Sequence[ExportedCell],
    words: tuple[dict[str, str], dict[str, str]],
    times: Nanoseconds,
) -> Iterator[str]:
    shown, units = words
    yield f"pkg: {re.sub(r'[^A-Za-z0-9_./-]+', '_', exported.name) or 'exported'}"
    yield f"variant: {variant}"
    if exported.cpu_model:
        yield f"cpu: {_one_line(exported.cpu_model)}"
    # a run without one of the metrics keeps its own values together
    names = [metric.name for metric in exported.metrics]
    runs = [[run for run in one.counted if any(map(run.values.get, names))] for one in samples]
    for process in range(max(map(len, runs))):
        for sample, own in zip(samples, runs, strict=True):
            if process >= len(own):
                continue
            values_of = own[process].values
            mine = [
                (metric, of) for metric in exported.metrics if (of := values_of.get(metric.name))
            ]
            for value in range(max((len(values) for _, values in mine), default=0)):
                pairs = [
                    f"{times.of(values[value]) if metric.unit == 's' else values[value]!r} "
                    f"{units[metric.name]}"
                    for metric, values in mine
                    if value < len(values)
                ]
                yield "\t".join((shown[sample.benchmark], "1", *pairs))
        yield "PASS"


def _units(metrics: Sequence[Metric]) -> dict[str, str]:
    """Give the word behind each metric's values; the first wall time is go's own."""
    found: dict[str, str] = {}
    for metric in metrics:
        word = _one_word(metric.name)
        if metric.unit != "s" or word.endswith("-ns/op"):
            found[metric.name] = word
        elif metric.name in WALL and "ns/op" not in found.values():
            found[metric.name] = "ns/op"
        else:
            found[metric.name] = f"{word}-ns/op"
    return found


def _name(bench: str) -> str:
    word = _one_word(bench)
    if word.startswith("Benchmark") and not word[9:10].islower():
        return word
    return f"Benchmark{word[:1].upper()}{word[1:]}"


def _one_word(text: str) -> str:
    return re.sub(r"\s", "_", text)


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "-"


def _lost(
    exported: ExportedData, names: dict[str, str], variants: dict[str, str], times: Nanoseconds
) -> Iterator[Caution]:
    yield from lost(exported, exported.metrics[0].name, "processes")
    words = {one.name: _one_word(one.name) for one in exported.metrics}
    yield from names_lost("which begin with Benchmark and have no spaces", names, variants, words)
    yield from times.lost()
    unsaid = tuple(
        metric.name for metric in exported.metrics if metric.unit != "s" and metric.name not in _OWN
    )
    if unsaid:
        text = f"unit and direction of {figures.listed(unsaid)}: go knows the name only"
        yield Caution("units-lost", text)
