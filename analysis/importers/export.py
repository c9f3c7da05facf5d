"""Files for other tools: text for benchstat, the JSON of hyperfine and pyperf, a long CSV, and Parquet.

For benchstat, the k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test
binary does. Several variants are told apart by the configuration key ``variant`` (``benchstat -col variant``).

In hyperfine's file times of failed runs stand among the others, as hyperfine has them; its means here are
without them. Benchmark and variant stand in ``parameters``, as those of a parameter list would.
"""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import UsageError, library_needed
from ..pages import number_format as figures
from ..pages.model import Caution, cautions_of
from .export_data import ExportedCell, ExportedData, ExportedProcess, Metric
from .targets import (
    MEANS,
    WALL,
    Written,
    json_bytes,
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


def write_parquet(exported: ExportedData) -> Written:
    """Make the file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        fix = "pip install 'fairtrial[parquet]', or write --to long-csv"
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
