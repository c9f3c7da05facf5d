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

from ..pages.model import Caution
from ..record.json_paths import Entry, Place
from .json_tools import JsonTool, Read, Take, asked
from .parsing import TIMES, count_of, number_or_text, object_of, objects_in, several_hosts, within

if TYPE_CHECKING:
    from ..data.opening import Opened

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

_GOOGLE_KEEPS = "leave out --benchmark_report_aggregates_only, and add --benchmark_repetitions=N"
_GOOGLE_FILE = "add --benchmark_out=FILE --benchmark_out_format=json"
_TRUTHS: dict[str, Any] = {"true": True, "false": False}
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
    timed = any("real_time" in row and not row.get("error_occurred") for _, row in rows)
    if len(rows) < len(every) and not timed:
        raise opened.fail("the file holds aggregates only", _GOOGLE_KEEPS)
    return {"rows": rows, "context": context, "early": early}


def _of_csv(opened: Opened) -> Rows:
    text = opened.text()
    place = _CSV.search(text)
    if place is None:
        raise opened.fail("this is the table for the console, with rounded times", _GOOGLE_FILE)
    before = text.count("\n", 0, place.start())
    reader = csv.reader(io.StringIO(text[place.start() :]), strict=True)
    rows: Rows = []
    listed = opened.rows(reader, before=before, fix=_GOOGLE_FILE)
    headings = next(listed)
    for cells in filter(None, listed):
        line = f"{before + reader.line_num}"
        texts = {k: v for k, v in zip(headings, cells, strict=False) if v and k}
        row = {k: _TRUTHS.get(v.lower(), number_or_text(v)) for k, v in texts.items()}
        # the library writes no counters behind an error
        short = len(cells) < len(headings) and not _is_without_times(row)
        what = "the line is cut off, or a later benchmark has more counters than the headings"
        opened.require(not short and len(cells) <= len(headings), what, _GOOGLE_FILE, at=line)
        rows.append((line, row))
    return rows


def _is_without_times(row: Row) -> bool:
    return "error_message" in row or "error_occurred" in row


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
        base = name if names[name] == 1 else ""
        while base := base.rpartition("_")[0]:  # a statistic of the program's own
            if names[base] > 1 and f"{base}_mean" in names:
                return bool(row.get("iterations") == names[base])
        return False

    return [(at, row) for at, row in rows if not is_aggregate(row)]


def _google_which(place: Place) -> tuple[str, ...]:
    """Tell repetitions of one benchmark; one name may be registered twice: the indexes tell them apart."""
    indexes = (str(place.value.get(k)) for k in ("family_index", "per_family_instance_index"))
    return (str(asked(place, "run_name | name")), *indexes)


def _google_skipped(place: Place) -> bool:
    row = place.value
    if row.get("error_occurred") is True:
        return False
    # the CSV of a skipped benchmark has no times
    without = "real_time" not in row and _is_without_times(row)
    return bool(row.get("error_occurred") or row.get("skipped") or without)


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
    for k, part in enumerate(_google_which(place)[0].split("/")[1:], 1):
        keys[f"argument {k}"] = part
        word, colon, value = part.partition(":")
        if colon:
            keys.setdefault(word, value)
    return keys


_GOOGLE = JsonTool(
    name="google-benchmark",
    said="Google Benchmark's JSON or CSV",
    knows=("benchmarks[*].real_time & benchmarks[*].cpu_time", "benchmarks & context.num_cpus"),
    begins=re.compile(f"{_CSV.pattern}|{_OUTPUT.pattern}|{_CONSOLE.pattern}", re.MULTILINE),
    keeps=_GOOGLE_KEEPS,
    unwrap=_google,
    each=_google_rows,
    benchmark="run_name | name",
    join=_google_which,
    skips=_google_skipped,
    fails=lambda place: place.value.get("error_occurred") is True,
    inner=lambda place: not place.value.get("error_occurred") and place.value["iterations"],
    session="$.context.date",
    keys=("name=", _google_keys, "label"),
    takes=(
        Take("real_time", "'real_time'", "time_unit | 'ns'"),
        Take("cpu_time", "'cpu_time'", "time_unit | 'ns'"),
        Take(
            "[{}]",
            unit="''",
            names=lambda place: [
                key
                for key, value in place.value.items()
                if key not in _FIXED and type(value) in (int, float)
            ],
            # what the library itself counts; a counter of the program has no unit and no direction
            known={
                "bytes_per_second": (None, "B/s", "higher"),
                "items_per_second": (None, "1/s", "higher"),
                "allocs_per_iter": (None, "", "lower"),
                "max_bytes_used": (None, "B", "lower"),
                "total_allocated_bytes": (None, "B", "lower"),
                "net_heap_growth": (None, "B", "lower"),
            },
            needed=False,
        ),
    ),
    losses={
        "one-repetition": lambda read: (
            max(len(cell.values) for cell in read.cells) == 1
            and "each benchmark was measured once: --benchmark_repetitions=N keeps more"
        ),
        "csv-may-end-early": lambda read: (
            read.whole.value["early"]
            and "the CSV ends where a later benchmark adds a counter: some may be missing in it"
        ),
    },
    lost="one-process no-sessions warm-ups-unknown",
    notes=_google_notes,
    facts={"host": "context.host_name", "commit": "context.commit"},
)

_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")
_META = "metadata.{0} | common_metadata.{0} | $.metadata.{0} | runs[0].metadata.{0}"
_UNITS = {
    "second": ("time", "s", "lower"),
    "byte": ("memory", "B", "lower"),
    "integer": ("value", "", None),
}


def _about(place: Place) -> dict[str, Any]:
    """Give the metadata of a benchmark: its own win over those that all benchmarks share."""
    every = (
        place.entries[0].value.get("metadata"),
        *map(place.value.get, ("common_metadata", "metadata")),
    )
    return {key: one for about in every for key, one in object_of(about).items()}


def _pyperf_runs(place: Place) -> list[dict[str, Any]]:
    """Give the runs that have values; files before version 6 call them samples."""
    return [
        run for run in objects_in(place.value["runs"]) if run.get("values") or run.get("samples")
    ]


def _pyperf_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    found = []
    for k, run in enumerate(place.value):
        key = "values" if "values" in run else "samples"
        if given := run.get(key):
            found.append(opened.values(given, f"{place.where}[{k}].{key}", factor=factor))
    return tuple(found)


def _pyperf_loops(place: Place) -> int | list[int]:
    about = _about(place)
    if about.get("unit") == "byte":
        return 1  # a process has one peak of memory
    every = [about | object_of(run.get("metadata")) for run in _pyperf_runs(place)]
    pairs = [(count_of(one.get("loops")), count_of(one.get("inner_loops", 1))) for one in every]
    return [loops * inner for loops, inner in pairs if loops is not None and inner is not None]


def _pyperf_notes(read: Read) -> Iterator[Caution]:
    whole = read.whole.value
    hosts: dict[str, None] = {}
    for bench in objects_in(whole["benchmarks"]):
        place = Place(bench, "", read.whole.entries)
        if not _pyperf_runs(place):
            name = asked(place, _META.format("name"))
            yield Caution("left-out", f"{name!r} was only calibrated: it has no values")
        for about in (whole, bench, *objects_in(bench["runs"])):
            if isinstance(name := within(about, "metadata", "hostname"), str):
                hosts[name] = None
    if len(hosts) > 1:
        fix = "are taken as those of one: give each host a file of its own"
        yield several_hosts("the runs stem from", tuple(hosts), fix)


def _pyperf_begin(whole: Place) -> str:
    """Give when the first run was made: a time that stands with each of them."""
    shared = within(whole.value, "metadata", "date")
    runs = (run for bench in whole.value["benchmarks"] for run in objects_in(bench["runs"]))
    dates = (within(run, "metadata", "date") or shared for run in runs)
    return min(str(date) for date in dates if date is not None)


def _pyperf_meaning(place: Place) -> tuple[str, str, str | None]:
    said = str(_about(place).get("unit") or "second")
    return _UNITS.get(said, ("value", said, None))


_PYPERF = JsonTool(
    name="pyperf",
    said="pyperf's JSON",
    # what pyperf writes of each run tells them from other tools' lists of that name
    knows=tuple(
        f"benchmarks[*].runs[*].{key}" for key in ("metadata", "values", "samples", "warmups")
    ),
    keeps="measure it, without --calibrate-loops; write it with pyperf -o, with a --name",
    each="benchmarks[*]",
    benchmark=_META.format("name"),
    skips=lambda place: not _pyperf_runs(place),
    inner=_pyperf_loops,
    warmups=lambda place: sum(len(run.get("warmups") or ()) for run in _pyperf_runs(place)),
    keys=(
        lambda place: {key: one for key, one in _about(place).items() if key not in _NO_KEYS},
        "name=",
    ),
    takes=(
        Take(
            "runs",
            lambda place: _pyperf_meaning(place)[::2],
            lambda place: _pyperf_meaning(place)[1],
            read=_pyperf_values,
            runs="lists",
        ),
    ),
    losses={
        "means-of-loops": lambda read: (
            read.inner != ""
            and f"each value is the mean of {read.inner} loops: single iterations cannot be seen"
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
