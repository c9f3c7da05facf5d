"""Targets whose values are nanoseconds: Google Benchmark's JSON and text for benchstat.

Its compare.py prints times without decimals: they are nanoseconds, as the library's own default.

The k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test binary
does. Several variants are told apart by the configuration key ``variant`` (``benchstat -col variant``).
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sqlite3
import statistics
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from ..errors import UsageError, library_needed
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.manifest import utc_now
from .export_data import ExportedCell, ExportedData, ExportedProcess, Metric
from .parsing import cautions_of
from .targets import (
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


# --- Targets whose values are seconds: the JSON of hyperfine, pyperf and pytest-benchmark.
#
# Times of failed runs stand among the others, as hyperfine has them; its means here are without
# them. Benchmark and variant stand in ``parameters``, as those of a parameter list would.


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


# --- Tables for other tools: long CSV, JSON, Parquet and SQLite with a row for each value, and wide CSV.


HEADINGS = (
    "benchmark", "variant", "session", "block", "run", "iteration", "metric", "value", "unit",
    "better", "outcome", "warmup",
)  # fmt: skip

Row = tuple[
    str, str, int | str | None, int | None, int, int, str, float | None, str, str, str, bool
]


def rows_of(exported: ExportedData) -> Iterator[Row]:
    """Give the rows, sample by sample.

    A failed run without values has one row for each metric, with the value None.
    """
    for sample in exported.samples:
        for run in sample.runs:
            for metric in exported.metrics:
                values: tuple[float | None, ...] = run.values.get(metric.name, ())
                if not values and not run.ok:
                    values = (None,)
                for k, value in enumerate(values, 1):
                    yield (
                        sample.benchmark,
                        sample.variant,
                        run.session,
                        run.block,
                        run.number,
                        k,
                        metric.name,
                        value,
                        metric.unit,
                        metric.better,
                        run.outcome,
                        run.warmup,
                    )


def write_long_csv(exported: ExportedData) -> Written:
    """Make the file: UTF-8, one newline a row, numbers with every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    said = {True: "true", False: "false"}
    for row in rows_of(exported):
        writer.writerow((*row[:-1], said[row[-1]]))
    return Written(data=out.getvalue().encode())


def write_json(exported: ExportedData) -> Written:
    """Make the file: one object a line."""
    lines = (
        json.dumps(dict(zip(HEADINGS, row, strict=True)), allow_nan=False, ensure_ascii=False)
        for row in rows_of(exported)
    )
    return Written(data=("[\n" + ",\n".join(lines) + "\n]\n").encode())


def write_parquet(exported: ExportedData) -> Written:
    """Make the file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        fix = "pip install 'fairtrial[parquet]', or write --to sqlite or long-csv"
        raise library_needed("writing Parquet", "pyarrow", error, fix=fix) from None
    kinds = (
        pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string(),
        pa.float64(), pa.string(), pa.string(), pa.string(), pa.bool_(),
    )  # fmt: skip
    columns = [list(column) for column in zip(*rows_of(exported), strict=True)]
    place = HEADINGS.index("session")
    columns[place] = [None if one is None else str(one) for one in columns[place]]
    table = pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
        names=list(HEADINGS),
    )
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return Written(data=sink.getvalue().to_pybytes())


_KINDS = (
    "TEXT NOT NULL", "TEXT NOT NULL", "TEXT", "INTEGER", "INTEGER NOT NULL", "INTEGER NOT NULL",
    "TEXT NOT NULL", "REAL", "TEXT NOT NULL", "TEXT NOT NULL", "TEXT NOT NULL", "INTEGER NOT NULL",
)  # fmt: skip


def write_sqlite(exported: ExportedData) -> Written:
    """Make the file; ``warmup`` is 0 or 1."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(HEADINGS, _KINDS, strict=True))
    marks = ", ".join("?" * len(HEADINGS))
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE runs ({columns})")
        base.executemany(f"INSERT INTO runs VALUES ({marks})", rows_of(exported))  # noqa: S608 - marks only
        base.commit()
        return Written(data=base.serialize())


def write_wide_csv(exported: ExportedData) -> Written:
    """Make the file; rows of fewer runs end in empty cells."""
    one_variant(exported, "a wide CSV")
    metric = exported.metrics[0]
    names = renamed(exported.benchmarks, _unquoted_name, exported.name)
    table = [
        (names[sample.benchmark], kept_apart(processes))
        for sample in exported.samples
        if (processes := sample.processes(metric.name))
    ]
    most = max(len(values) for _, values in table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("benchmark", *(f"run{k}" for k in range(1, most + 1))))
    quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for name, values in table:
        row = (name, *values, *[""] * (most - len(values)))
        (quoting if name.startswith("#") else writer).writerow(row)  # no comment
    text = (
        f"unit ({metric.unit or 'none'}), direction ({metric.better}) and the name {metric.name!r}"
    )
    return Written(
        data=out.getvalue().encode(),
        lost=(
            *lost(exported, metric.name, metrics=(metric.name,)),
            *names_lost("in which blanks around them, and empty ones, are not kept", names),
            Caution("units-lost", text),
        ),
    )


def _unquoted_name(name: str) -> str:
    return name.strip().strip('"').strip() or "unnamed"
