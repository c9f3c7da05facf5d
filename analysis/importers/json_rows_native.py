"""Rows of Google Benchmark and pyperf.

Google Benchmark's rows of aggregates (mean, median, stddev, cv, big O) are summaries; the CSV, which becomes the same
objects, and versions before 1.5 know them by their names only. A run of pyperf without values calibrates.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.json_paths import Entry, Place
from .json_tools import JsonTool, Read, Take, asked, entries_with, from_one_process
from .parsing import (
    TIMES,
    count_of,
    number_or_text,
    object_of,
    objects_in,
    several_hosts,
    text_of,
    within,
)

if TYPE_CHECKING:
    from ..data.opening import Opened
    from ..record.run_numbers import Better

# the library's own line of headings, or that of its JSON as a table
_CSV = re.compile(
    "^"
    + "".join(
        rf'(?=(?:[^\n]*,)?"?{name}"?(?:,|\r?$))'
        for name in ("name", "iterations", "real_time", "cpu_time", "time_unit")
    ),
    re.MULTILINE,
)
_OUTPUT = re.compile(r'^\{\s*"context"\s*:', re.MULTILINE)
_CONSOLE = re.compile(r"^Benchmark +Time +CPU +Iterations", re.MULTILINE)
_STANDARD = ("_mean", "_median", "_stddev", "_cv")
_AGGREGATE = re.compile(r"(_(?:mean|median|stddev|cv|min|max|BigO|RMS))$")
_FIXED = {
    "name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "time_unit", "family_index", "per_family_instance_index",
    "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
    "skip_message", "Unnamed: 0", "label", "big_o", "rms", "cpu_coefficient", "real_coefficient",
}  # fmt: skip
# What the library itself counts; a counter of the program has no unit and no direction.
_KNOWN: dict[str, tuple[str | None, str | None, Better | None]] = {
    "bytes_per_second": (None, "B/s", "higher"),
    "items_per_second": (None, "1/s", "higher"),
    "allocs_per_iter": (None, "", "lower"),
    "max_bytes_used": (None, "B", "lower"),
    "total_allocated_bytes": (None, "B", "lower"),
    "net_heap_growth": (None, "B", "lower"),
}

_GOOGLE_FIX = "leave out --benchmark_report_aggregates_only, and add --benchmark_repetitions=N"
Row = Mapping[str, Any]
Rows = list[tuple[str, Row]]


def _google(opened: Opened) -> dict[str, Any]:
    """Give the rows that are no aggregates, each with its place, and the context."""
    if not opened.looks_like_json() and (place := _OUTPUT.search(text := opened.text())):
        # what the program says of the machine before its JSON, on the same stream
        opened = replace(opened, data=text[place.start() :].encode(), encoding="utf-8")
    context, early = {}, not opened.looks_like_json()
    if early:
        every = _of_csv(opened)
    else:
        data = opened.json()
        given = within(data, "benchmarks")
        listed = isinstance(given, list) and all(isinstance(one, dict) for one in given)
        opened.require(listed, "there is no list of benchmarks", at="")
        context = object_of(data.get("context"))
        every = [(f"benchmarks[{k}]", one) for k, one in enumerate(given)]
    rows = _measured(every)
    for at, row in rows:
        unit = row.get("time_unit", "ns")
        known = _is_without_times(row) or (isinstance(unit, str) and unit in TIMES)
        opened.require(known, f"the unit {unit!r} is not known", at=at)
    aggregates = len(rows) < len(every)
    if aggregates and not any(
        "real_time" in row and not row.get("error_occurred") for _, row in rows
    ):
        raise opened.fail("the file holds aggregates only", _GOOGLE_FIX)
    return {"rows": rows, "context": context, "early": early}


def _of_csv(opened: Opened) -> Rows:
    text = opened.text()
    place = _CSV.search(text)
    if place is None:
        what = "there is no line of headings"
        if _CONSOLE.search(text):
            what = "this is the table for the console, with rounded times"
        raise opened.fail(what, "add --benchmark_out=FILE --benchmark_out_format=json")
    before = text.count("\n", 0, place.start())
    reader = csv.reader(io.StringIO(text[place.start() :]), strict=True)
    rows: Rows = []
    listed = opened.rows(reader, before=before, fix="use --benchmark_out_format=json")
    headings = next(listed)
    for cells in filter(None, listed):
        line = f"{before + reader.line_num}"
        row = {k: _number(v) for k, v in zip(headings, cells, strict=False) if v and k}
        # the library writes no counters behind an error
        short = len(cells) < len(headings) and not _is_without_times(row)
        if short or len(cells) > len(headings):
            raise opened.fail(
                "the line is cut off, or has more cells than the headings",
                "Google Benchmark's CSV ends where a later benchmark adds a counter: use "
                "--benchmark_out_format=json",
                at=line,
            )
        rows.append((line, row))
    return rows


def _is_without_times(row: Row) -> bool:
    return "error_message" in row or "error_occurred" in row


def _number(text: str) -> Any:  # noqa: ANN401 - a number where it is one
    plain = text.lower()
    return plain == "true" if plain in ("true", "false") else number_or_text(text)


def _measured(rows: Rows) -> Rows:
    """Leave out the aggregates, which the CSV and versions before 1.5 know by their names only.

    An aggregate is named like its benchmark, with a word behind; it counts the repetitions as its
    iterations. The rows of complexities have no iterations.
    """
    if any("run_type" in row for _, row in rows):
        return [(at, row) for at, row in rows if row.get("run_type", "iteration") == "iteration"]
    names = Counter(str(row.get("name")) for _, row in rows)

    def is_aggregate(row: Row) -> bool:
        name = str(row.get("name"))
        if row.get("iterations") is None:
            return not (_is_without_times(row) or row.get("skipped"))
        match = _AGGREGATE.search(name)
        if match is not None:
            base = name[: match.start()]
            return base in names or all(base + word in names for word in _STANDARD[:3])
        if names[name] > 1:
            return False
        base = name
        while base := base.rpartition("_")[0]:  # a statistic of the program's own
            if names[base] > 1 and f"{base}_mean" in names:
                return bool(row.get("iterations") == names[base])
        return False

    return [(at, row) for at, row in rows if not is_aggregate(row)]


def _google_which(place: Place) -> tuple[object, ...]:
    """Tell repetitions of one benchmark; one name may be registered twice: the indexes tell them apart."""
    row = place.value
    return (
        str(asked(place, "run_name | name")),
        *(str(row.get(key)) for key in ("family_index", "per_family_instance_index")),
    )


def _google_skipped(place: Place) -> bool:
    row = place.value
    if row.get("error_occurred") is True:
        return False
    # the CSV of a skipped benchmark has no times
    return bool(
        row.get("error_occurred")
        or row.get("skipped")
        or ("real_time" not in row and _is_without_times(row))
    )


def _google_rows(whole: Place) -> list[Place]:
    return [
        Place(row, at, (*whole.entries, Entry(k, row, at)))
        for k, (at, row) in enumerate(whole.value["rows"])
    ]


def _google_notes(read: Read) -> Iterator[Caution]:
    every = _google_rows(read.whole)
    skipped = Counter(_google_which(place) for place in every if _google_skipped(place))
    of = Counter(map(_google_which, every)) if skipped else {}
    for which, count in skipped.items():
        text = f"{which[0]!r} was skipped by its program, {count} of {of[which]} times"
        yield Caution("skipped", text)


def _google_keys(place: Place) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for k, part in enumerate(str(_google_which(place)[0]).split("/")[1:], 1):
        keys[f"argument {k}"] = part
        word, colon, value = part.partition(":")
        if colon:
            keys.setdefault(word, value)
    return keys


_GOOGLE = JsonTool(
    name="google-benchmark",
    said="Google Benchmark's JSON or CSV",
    knows=lambda data: (
        entries_with("benchmarks", "real_time", "cpu_time")(data)
        or (
            isinstance(within(data, "benchmarks"), list)
            and "num_cpus" in object_of(data.get("context"))
        )
    ),
    mentions=(("real_time", "cpu_time"), ("mhz_per_cpu",), ("library_build_type",)),
    begins=re.compile(f"{_CSV.pattern}|{_OUTPUT.pattern}|{_CONSOLE.pattern}", re.MULTILINE),
    unwrap=_google,
    each=_google_rows,
    nothing="no benchmark was measured",
    fix=_GOOGLE_FIX,
    empty="no benchmark was measured",
    kept=("{!r} has no time", _GOOGLE_FIX),
    thing="a result",
    benchmark="run_name | name",
    join=_google_which,
    skips=_google_skipped,
    fails=lambda place: place.value.get("error_occurred") is True,
    inner=lambda place: (
        None if place.value.get("error_occurred") else place.value.get("iterations")
    ),
    session="$.context.date",
    keys=("name=", _google_keys, "label"),
    takes=(
        *(
            Take(value=key, metric=f"'{key}'", unit="time_unit | 'ns'", lone=True)
            for key in ("real_time", "cpu_time")
        ),
        Take(
            names=lambda place: [
                key
                for key, value in place.value.items()
                if key not in _FIXED
                and isinstance(value, (int, float))
                and not isinstance(value, bool)
            ],
            known=_KNOWN,
            value="[{}]",
            unit="''",
            lone=True,
            needed=False,
        ),
    ),
    losses={
        "one-process": from_one_process("means of {} iterations from one process"),
        "one-repetition": lambda read: (
            max(len(cell.values) for cell in read.cells) == 1
            and "each benchmark was measured once: --benchmark_repetitions=N keeps more"
        ),
        "csv-may-end-early": lambda read: (
            read.whole.value["early"]
            and "the CSV ends where a later benchmark adds a counter: some may be missing in it"
        ),
    },
    lost="no-sessions warm-ups-unknown",
    notes=_google_notes,
    facts={"host": "context.host_name", "commit": "context.commit"},
)

_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")
_OF_RUN = frozenset(("metadata", "values", "samples", "warmups"))


def _about(place: Place) -> dict[str, Any]:
    """Give the metadata of a benchmark: its own win over those that all benchmarks share."""
    shared = object_of(place.entries[0].value.get("metadata"))
    return (
        shared
        | object_of(place.value.get("common_metadata"))
        | object_of(place.value.get("metadata"))
    )


def _pyperf_runs(place: Place) -> list[dict[str, Any]]:
    """Give the runs that have values; files before version 6 call them samples."""
    return [
        run
        for run in objects_in(place.value.get("runs"))
        if run.get("values") or run.get("samples")
    ]


def _pyperf_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    found = []
    opened.require(isinstance(place.value, list), "a benchmark has no runs", at=place.where)
    for k, run in enumerate(place.value):
        where = f"{place.where}[{k}]"
        opened.require(isinstance(run, dict), "a run is not an object", at=where)
        key = "values" if "values" in run else "samples"
        given = run.get(key, [])
        opened.require(isinstance(given, list), "its values are not a list", at=where)
        if given:
            found.append(opened.values(given, f"{where}.{key}", factor=factor))
    return tuple(found)


def _pyperf_loops(place: Place) -> int | list[int]:
    about = _about(place)
    if about.get("unit") == "byte":
        return 1  # a process has one peak of memory
    every = [about | object_of(run.get("metadata")) for run in _pyperf_runs(place)]
    pairs = [(count_of(one.get("loops")), count_of(one.get("inner_loops", 1))) for one in every]
    return [loops * within for loops, within in pairs if loops is not None and within is not None]


def _pyperf_warmups(place: Place) -> int:
    return sum(
        len(warm) for run in _pyperf_runs(place) if isinstance(warm := run.get("warmups"), list)
    )


def _pyperf_places(read: Read) -> list[Place]:
    return [
        Place(one, "", read.whole.entries) for one in objects_in(read.whole.value["benchmarks"])
    ]


def _pyperf_notes(read: Read) -> Iterator[Caution]:
    every = _pyperf_places(read)
    for place in every:
        if not _pyperf_runs(place):
            name = asked(place, _META.format("name"))
            yield Caution("left-out", f"{name!r} was only calibrated: it has no values")
    hosts = dict.fromkeys(
        name
        for place in every
        for about in (read.whole.value, place.value, *objects_in(place.value.get("runs")))
        if isinstance(name := within(about, "metadata", "hostname"), str)
    )
    if len(hosts) > 1:
        fix = "are taken as those of one: give each host a file of its own"
        yield several_hosts("the runs stem from", tuple(hosts), fix)


def _pyperf_begin(whole: Place) -> str | None:
    """Give when the first run was made: a time that stands with each of them."""
    dates = [
        str(date)
        for bench in objects_in(whole.value.get("benchmarks"))
        for run in objects_in(bench.get("runs"))
        if (date := within(run, "metadata", "date") or within(whole.value, "metadata", "date"))
        is not None
    ]
    return min(dates, default=None)


_META = "metadata.{0} | common_metadata.{0} | $.metadata.{0} | runs[0].metadata.{0}"
_UNITS = {
    "second": ("time", "s", "lower"),
    "byte": ("memory", "B", "lower"),
    "integer": ("value", "", None),
}


def _pyperf_unit(place: Place) -> tuple[str, str, str | None]:
    said = text_of(_about(place).get("unit", "second")) or "second"
    return _UNITS.get(said, ("value", said, None))


_PYPERF = JsonTool(
    name="pyperf",
    said="pyperf's JSON",
    # what pyperf writes of each run tells them from other tools' lists of that name
    knows=lambda data: any(
        runs == [] or any(not _OF_RUN.isdisjoint(run) for run in objects_in(runs))
        for one in objects_in(within(data, "benchmarks"))
        if isinstance(runs := one.get("runs"), list)
    ),
    mentions=(("benchmarks", "runs", "warmups"), ("benchmarks", "runs", "values")),
    each="benchmarks[*]",
    fix="write it again with pyperf -o",
    empty="no benchmark has values: each was only calibrated",
    kept=("the benchmark {!r} has no runs", "measure it, without --calibrate-loops"),
    unnamed="give one with pyperf --name",
    benchmark=_META.format("name"),
    skips=lambda place: isinstance(within(place.value, "runs"), list) and not _pyperf_runs(place),
    inner=_pyperf_loops,
    warmups=_pyperf_warmups,
    keys=(
        lambda place: {key: one for key, one in _about(place).items() if key not in _NO_KEYS},
        "name=",
    ),
    takes=(
        Take(
            value="runs",
            metric=lambda place: _pyperf_unit(place)[0],
            unit=lambda place: _pyperf_unit(place)[1],
            better=lambda place: _pyperf_unit(place)[2],
            read=_pyperf_values,
            runs="lists",
        ),
    ),
    losses={
        "means-of-loops": lambda read: (
            bool(inner := [n for one in read.cells if (n := one.inner or 1) > 1])
            and f"each value is the mean of {figures.span(inner)} loops: single iterations cannot be seen"
        ),
    },
    lost="no-sessions failed-unknown",
    notes=_pyperf_notes,
    facts={
        "host": "benchmarks[0].metadata.hostname | metadata.hostname",
        "cpu_model": "benchmarks[0].metadata.cpu_model_name | metadata.cpu_model_name",
        "date": _pyperf_begin,
    },
)

ROWS = (_PYPERF, _GOOGLE)
