"""Benchmark libraries of C++: Google Benchmark and nanobench.

Rows of aggregates (mean, median, stddev, cv, big O) are summaries; the CSV knows them by their names
only. Rows with an error have times of 0 and are failed; since version 1.8 a program may also skip a
benchmark. Units may differ from row to row.

``elapsed`` is the mean time of one of an epoch's iterations, in seconds; an iteration does ``batch``
units of work. Counters are means too, and 0 in the whole file where they could not be read. The CSV and
box plot templates hold medians, and a template of one's own what its author wrote; that for pyperf is
pyperf's JSON.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution
from .parsing import (
    TIMES,
    ForeignCell,
    ForeignFile,
    cautions_of,
    count_of,
    facts_of,
    number_or_text,
    object_of,
    objects_in,
    one_process,
    text_of,
    texts_of,
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
_KNOWN: Mapping[str, tuple[str, Better]] = {
    "bytes_per_second": ("B/s", "higher"),
    "items_per_second": ("1/s", "higher"),
    "allocs_per_iter": ("", "lower"),
    "max_bytes_used": ("B", "lower"),
    "total_allocated_bytes": ("B", "lower"),
    "net_heap_growth": ("B", "lower"),
}

Row = Mapping[str, Any]
Rows = list[tuple[str, Row]]


def knows_google_benchmark(opened: Opened) -> bool:
    """Tell by the keys of the results or of the context, or by the headings of the CSV."""
    opened = _without_preamble(opened)
    if not opened.looks_like_json():
        head = opened.head()
        return bool(_CSV.search(head) or _CONSOLE.search(head))
    data = opened.structure()
    if data is None:
        return opened.mentions("real_time", "cpu_time") or opened.mentions(
            "mhz_per_cpu", "library_build_type"
        )
    given = within(data, "benchmarks")
    return isinstance(given, list) and (
        any({"real_time", "cpu_time"} <= one.keys() for one in objects_in(given))
        or "num_cpus" in object_of(data.get("context"))
    )


def read_google_benchmark(opened: Opened) -> ForeignFile:
    """Give cells for each benchmark: real time, CPU time, and its counters."""
    opened = _without_preamble(opened)
    context: dict[str, Any] = {}
    if opened.looks_like_json():
        data = opened.json()
        given = within(data, "benchmarks")
        listed = isinstance(given, list) and all(isinstance(one, dict) for one in given)
        opened.require(listed, "there is no list of benchmarks", at="")
        context = object_of(data.get("context"))
        every = [(f"benchmarks[{k}]", one) for k, one in enumerate(given)]
    else:
        every = _of_csv(opened)
    rows, session = _measured(every), text_of(context.get("date"))
    notes: list[Caution] = []
    cells = tuple(_google_cells(opened, rows, session, notes))
    aggregates = len(every) > len(rows)
    if not cells or (aggregates and not any(cell.values for cell in cells)):
        raise opened.fail(
            "the file holds aggregates only" if aggregates else "no benchmark was measured",
            "leave out --benchmark_report_aggregates_only, and add --benchmark_repetitions=N",
        )
    told = figures.span([cell.inner for cell in cells if cell.inner is not None] or [1])
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "one-process": one_process(f"means of {told} iterations from one process"),
                "one-repetition": max(len(cell.values) for cell in cells) == 1
                and "each benchmark was measured once: --benchmark_repetitions=N keeps more",
                "no-sessions": "all repetitions stem from one occasion",
                "warm-ups-unknown": "whether there was a warm-up is not in the file",
                "csv-may-end-early": not opened.looks_like_json()
                and "the CSV ends where a later benchmark adds a counter: some may be missing in it",
            }
        ),
        notes=tuple(notes),
        facts=facts_of(context.get("host_name"))
        | {key: text for key in ("commit",) if (text := text_of(context.get(key)))},
    )


def _without_preamble(opened: Opened) -> Opened:
    """Leave out what the program says of the machine before its JSON, on the same stream."""
    if opened.looks_like_json() or not _OUTPUT.search(opened.head()):
        return opened
    if "behind" not in opened.memo:
        text = opened.text()
        place = _OUTPUT.search(text)
        whole = text[place.start() :] if place else text
        opened.memo["behind"] = replace(opened, data=whole.encode(), encoding="utf-8")
    behind: Opened = opened.memo["behind"]
    return behind


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
        short = len(cells) < len(headings) and not _without_times(row)
        if short or len(cells) > len(headings):
            raise opened.fail(
                "the line is cut off, or has more cells than the headings",
                "Google Benchmark's CSV ends where a later benchmark adds a counter: use "
                "--benchmark_out_format=json",
                at=line,
            )
        rows.append((line, row))
    return rows


def _without_times(row: Row) -> bool:
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
            return not (_without_times(row) or row.get("skipped"))
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


def _google_cells(
    opened: Opened, rows: Rows, session: str | None, notes: list[Caution]
) -> Iterator[ForeignCell]:
    grouped: dict[tuple[str, str], Rows] = {}
    for at, row in rows:
        name = row.get("run_name", row.get("name"))
        if not isinstance(name, str):
            raise opened.fail("a result has no name", at=at)
        # one name may be registered twice: the indexes tell them apart
        which = f"{row.get('family_index')}/{row.get('per_family_instance_index')}"
        grouped.setdefault((name, which), []).append((at, row))
    for (name, _), mine in grouped.items():
        failed = [row for _, row in mine if row.get("error_occurred") is True]
        good = [
            (at, row)
            for at, row in mine
            if not (row.get("error_occurred") or row.get("skipped"))
            and ("real_time" in row or not _without_times(row))  # the CSV of a skipped benchmark
        ]
        skipped = len(mine) - len(failed) - len(good)
        if skipped:
            text = f"{name!r} was skipped by its program, {skipped} of {len(mine)} times"
            notes.append(Caution("skipped", text))
            if not failed and not good:
                continue
        inner = [n for _, row in good if (n := count_of(row.get("iterations"))) is not None]
        shared: dict[str, Any] = {
            "benchmark": name,
            "known": True,
            "inner": max(inner, default=None),
            "failed": len(failed),
            "session": session,
            "keys": _keys(name, mine),
        }
        for key in ("real_time", "cpu_time"):
            values = [_time(opened, at, row, key) for at, row in good]
            yield ForeignCell(metric=key, processes=(tuple(values),) if values else (), **shared)
        for key in dict.fromkeys(key for _, row in good for key in row if key not in _FIXED):
            found = [_is_number(row.get(key)) for _, row in good]
            if not any(found):
                continue
            unit, better = _KNOWN.get(key, ("", None))
            try:
                opened.require(all(found), "not every repetition has it", at="")
                values = [opened.value(row[key], f"{at}.{key}") for at, row in good]
            except AnalysisError as error:
                text = f"the counter {key!r} of {name!r} is left out: {error.what}"
                notes.append(Caution("left-out", text))
                continue
            shared |= {"unit": unit, "better": better}
            yield ForeignCell(metric=key, processes=(tuple(values),), **shared)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _keys(name: str, rows: Rows) -> dict[str, str]:
    keys = {"name": name}
    for k, part in enumerate(name.split("/")[1:], 1):
        keys[f"argument {k}"] = part
        word, colon, value = part.partition(":")
        if colon:
            keys.setdefault(word, value)
    labels = {text_of(row.get("label")) for _, row in rows}
    label = labels.pop() if len(labels) == 1 else None
    return keys if label is None else {**keys, "label": label}


def _time(opened: Opened, at: str, row: Row, key: str) -> float:
    unit = row.get("time_unit", "ns")
    if not isinstance(unit, str) or unit not in TIMES:
        raise opened.fail(f"the unit {unit!r} is not known", at=at)
    return opened.value(row.get(key), f"{at}.{key}", factor=TIMES[unit])


_SUMMARY = re.compile(r'^"title";"name";"unit";"batch";"elapsed";', re.MULTILINE)
_COUNTERS = (
    "instructions", "cpucycles", "branchinstructions", "branchmisses", "pagefaults",
    "contextswitches",
)  # fmt: skip
_KEYS = ("title", "name", "unit", "batch", "complexityN")
_DEFAULT = "benchmark"  # the title of those who gave none
_MARK = "median(elapsed)"
_FIX = "render with ankerl::nanobench::templates::json(), which writes all measurements"


def knows_nanobench(opened: Opened) -> bool:
    """Tell by the keys of a result, or by the headings of its CSV."""
    data = opened.structure()
    if data is None:
        return bool(_SUMMARY.search(opened.head())) or opened.mentions("results", _MARK)
    return any(
        _MARK in one or {"measurements", "batch", "epochs"} <= one.keys()
        for one in objects_in(within(data, "results"))
    )


def read_nanobench(opened: Opened) -> ForeignFile:
    """Give a cell for each result, and one for each counter that was read."""
    if opened.structure() is None and _SUMMARY.search(opened.head()):
        raise opened.fail("nanobench's CSV holds medians only, no measurements", _FIX)
    data = opened.json()
    results = opened.list_at(data, "results", "there is no result in the file", _FIX)
    found = [
        (f"results[{k}]", one, _rows(opened, one, f"results[{k}]")) for k, one in enumerate(results)
    ]
    read_ = [
        name for name in _COUNTERS if any(row.get(name) for _, _, rows in found for row in rows)
    ]
    cells = tuple(
        cell for at, one, rows in found for cell in _nanobench_cells(opened, at, one, rows, read_)
    )
    inner = max(cell.inner or 1 for cell in cells)
    told = f"up to {inner} iterations" if inner > 1 else "single iterations"
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "one-process": one_process(f"epochs of {told}, all from one process"),
                "whole-batches": any(c.keys.get("batch", "1") not in ("1", "1.0") for c in cells)
                and "times are those of an iteration, which does 'batch' units of work",
                "no-sessions": "all epochs stem from one occasion",
                "warm-ups-unknown": "the warm-up is not in the file",
                "failed-unknown": "nanobench keeps no failed benchmarks",
            }
        ),
    )


def _rows(opened: Opened, result: object, at: str) -> list[dict[str, Any]]:
    rows = within(result, "measurements")
    if not isinstance(rows, list) or not rows:
        raise opened.fail("the result holds medians only, no measurements", _FIX, at=at)
    opened.require(
        all(isinstance(row, dict) for row in rows), "a measurement is not an object", at=at
    )
    return rows


def _nanobench_cells(
    opened: Opened,
    at: str,
    result: Mapping[str, Any],
    rows: list[dict[str, Any]],
    counters: list[str],
) -> Iterator[ForeignCell]:
    name, title = text_of(result.get("name")), text_of(result.get("title"))
    if not name:
        raise opened.fail("a result has no name", at=at)
    counts = [count_of(row.get("iterations")) for row in rows]
    for metric in ("elapsed", *counters):
        values = [
            opened.value(row.get(metric), f"{at}.measurements[{k}].{metric}")
            for k, row in enumerate(rows)
        ]
        yield ForeignCell(
            benchmark=name if title in (None, "", _DEFAULT) else f"{title}/{name}",
            metric="time" if metric == "elapsed" else metric,
            unit="s" if metric == "elapsed" else "",
            better="lower" if metric == "elapsed" else None,
            processes=(tuple(values),),
            known=True,
            inner=max((one for one in counts if one is not None), default=None),
            keys=texts_of({key: result.get(key) for key in _KEYS}),
        )
