"""Google Benchmark's JSON and CSV: repetitions within one process, each a mean over iterations.

Rows of aggregates (mean, median, stddev, cv, big O) are summaries; the CSV knows them by their names
only. Rows with an error have times of 0 and are failed; since version 1.8 a program may also skip a
benchmark. Units may differ from row to row.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...errors import AnalysisError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import (
    TIMES,
    count_of,
    fail,
    json_of,
    looks_like_json,
    mentions,
    number_or_text,
    structure_of,
    text_of,
    value_of,
)

__all__ = ["knows", "read"]

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


def knows(opened: Opened) -> bool:
    """Tell by the keys of the results or of the context, or by the headings of the CSV."""
    opened = _without_preamble(opened)
    if not looks_like_json(opened):
        head = opened.head()
        return bool(_CSV.search(head) or _CONSOLE.search(head))
    data = structure_of(opened)
    if data is None:
        return mentions(opened, "real_time", "cpu_time") or mentions(
            opened, "mhz_per_cpu", "library_build_type"
        )
    given = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list):
        return False
    if any(isinstance(one, dict) and {"real_time", "cpu_time"} <= one.keys() for one in given):
        return True
    context = data.get("context")
    return isinstance(context, dict) and "num_cpus" in context


def read(opened: Opened) -> ForeignFile:
    """Give cells for each benchmark: real time, CPU time, and its counters.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds aggregates only.
    """
    opened = _without_preamble(opened)
    facts: dict[str, str] = {}
    session = None
    if looks_like_json(opened):
        every, facts, session = _of_json(opened)
    else:
        every = _of_csv(opened)
    rows = _measured(every)
    notes: list[Loss] = []
    cells = tuple(_cells(opened, rows, session, notes))
    aggregates = len(every) > len(rows)
    if not cells or (aggregates and not any(cell.values for cell in cells)):
        raise fail(
            opened,
            "the file holds aggregates only" if aggregates else "no benchmark was measured",
            "leave out --benchmark_report_aggregates_only, and add --benchmark_repetitions=N",
        )
    inner = [cell.inner for cell in cells if cell.inner is not None] or [1]
    told = f"{min(inner)}" if min(inner) == max(inner) else f"{min(inner)} to {max(inner)}"
    losses = [
        Loss(
            code="one-process",
            text=f"means of {told} iterations from one process: variation between processes "
            "cannot be estimated",
        ),
        Loss(code="no-sessions", text="all repetitions stem from one occasion"),
        Loss(code="warm-ups-unknown", text="whether there was a warm-up is not in the file"),
    ]
    if max(len(cell.values) for cell in cells) == 1:
        text = "each benchmark was measured once: --benchmark_repetitions=N keeps more"
        losses.insert(1, Loss(code="one-repetition", text=text))
    if not looks_like_json(opened):
        text = "the CSV ends where a later benchmark adds a counter: some may be missing in it"
        losses.append(Loss(code="csv-may-end-early", text=text))
    return ForeignFile(
        format="google-benchmark",
        source=opened.source,
        cells=cells,
        losses=tuple(losses),
        notes=tuple(notes),
        facts=facts,
    )


def _without_preamble(opened: Opened) -> Opened:
    """Leave out what the program says of the machine before its JSON, on the same stream."""
    if looks_like_json(opened) or not _OUTPUT.search(opened.head()):
        return opened
    if "behind" not in opened.memo:
        text = opened.text()
        place = _OUTPUT.search(text)
        whole = text[place.start() :] if place else text
        opened.memo["behind"] = replace(opened, data=whole.encode(), encoding="utf-8")
    behind: Opened = opened.memo["behind"]
    return behind


def _of_json(opened: Opened) -> tuple[Rows, dict[str, str], str | None]:
    data = json_of(opened)
    given = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise fail(opened, "there is no list of benchmarks", "is the file damaged?")
    context = data.get("context")
    context = context if isinstance(context, dict) else {}
    host = context.get("host_name")
    rows: Rows = [(f"benchmarks[{k}]", one) for k, one in enumerate(given)]
    facts = {"host": host} if isinstance(host, str) else {}
    return rows, facts, text_of(context.get("date"))


def _of_csv(opened: Opened) -> Rows:
    text = opened.text()
    place = _CSV.search(text)
    if place is None:
        console = _CONSOLE.search(text) is not None
        raise fail(
            opened,
            "this is the table for the console, with rounded times"
            if console
            else "there is no line of headings",
            "add --benchmark_out=FILE --benchmark_out_format=json",
        )
    before = text.count("\n", 0, place.start())
    reader = csv.reader(io.StringIO(text[place.start() :]), strict=True)
    rows: Rows = []
    try:
        headings = next(reader)
        for cells in reader:
            if not cells:
                continue
            line = f"{before + reader.line_num}"
            row = {k: _number(v) for k, v in zip(headings, cells, strict=False) if v and k}
            # the library writes no counters behind an error
            short = len(cells) < len(headings) and not _without_times(row)
            if short or len(cells) > len(headings):
                raise fail(
                    opened,
                    "the line is cut off, or has more cells than the headings",
                    "Google Benchmark's CSV ends where a later benchmark adds a counter: use "
                    "--benchmark_out_format=json",
                    at=line,
                )
            rows.append((line, row))
    except csv.Error as error:
        raise fail(
            opened, f"it is no CSV: {error}", "use --benchmark_out_format=json",
            at=f"{before + reader.line_num}",
        ) from None  # fmt: skip
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


def _cells(
    opened: Opened, rows: Rows, session: str | None, notes: list[Loss]
) -> Iterator[ForeignCell]:
    grouped: dict[tuple[str, str], Rows] = {}
    for at, row in rows:
        name = row.get("run_name", row.get("name"))
        if not isinstance(name, str):
            raise fail(opened, "a result has no name", "is the file damaged?", at=at)
        # one name may be registered twice: the indexes tell them apart
        which = f"{row.get('family_index')}/{row.get('per_family_instance_index')}"
        grouped.setdefault((name, which), []).append((at, row))
    for (name, _), mine in grouped.items():
        failed = [row for _, row in mine if row.get("error_occurred") is True]
        good = [(at, row) for at, row in mine if not _is_out(row)]
        skipped = len(mine) - len(failed) - len(good)
        if skipped:
            text = f"{name!r} was skipped by its program, {skipped} of {len(mine)} times"
            notes.append(Loss(code="skipped", text=text))
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
            found = [row.get(key) for _, row in good]
            if not all(_is_number(value) for value in found):
                if any(_is_number(value) for value in found):
                    text = (
                        f"the counter {key!r} of {name!r} is left out: not every repetition has it"
                    )
                    notes.append(Loss(code="left-out", text=text))
                continue
            unit, better = _KNOWN.get(key, ("", None))
            try:
                values = [value_of(opened, row[key], f"{at}.{key}") for at, row in good]
            except AnalysisError as error:
                text = f"the counter {key!r} of {name!r} is left out: {error.what}"
                notes.append(Loss(code="left-out", text=text))
                continue
            shared |= {"unit": unit, "better": better}
            yield ForeignCell(metric=key, processes=(tuple(values),), **shared)


def _is_out(row: Row) -> bool:
    """Tell whether there is no measurement in the row: an error, or a benchmark that was skipped."""
    if row.get("error_occurred") or row.get("skipped"):
        return True
    return "real_time" not in row and _without_times(row)  # the CSV of a skipped benchmark


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
        raise fail(opened, f"the unit {unit!r} is not known", "is the file damaged?", at=at)
    return value_of(opened, row.get(key), f"{at}.{key}", factor=TIMES[unit])
