"""SPEC CPU's CSV reports and raw files: the runs of each benchmark, base and peak.

In the CSV the table "Full Results Table" holds the runs; "Selected Results Table" repeats the medians
and is not read. In raw files each run is a number in the key; what is not valid has failed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, rows_in, value_of

__all__ = ["knows", "read"]

_FULL = re.compile(r'^"?Full Results Table"?', re.MULTILINE)
_RAW = re.compile(
    r"^spec\.(cpu\w+)\.results\.(\w+)\.(base|peak)\.(\d{1,9})\.(reported_time|ratio|valid|rate): (.*)$",
    re.MULTILINE,
)
_LONGER = 1024**2  # notes may stand before the table
_TUNINGS = ("Base", "Peak")
_GOOD = ("S", "")  # what a run's validity is where it counts, beside "1" and "*"


def knows(opened: Opened) -> bool:
    """Tell by the table's title, or by the keys of a raw file."""
    head = opened.head()
    if _RAW.search(head):
        return True
    return _FULL.search(head) is not None or bool(
        re.search(rb'^"?Full Results Table"?', opened.data[:_LONGER], re.MULTILINE)
        and b"Base" in opened.data[:_LONGER]
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, tuning and quantity (time, and ratio or rate).

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds no run.
    """
    text = opened.text()
    cells = list(_of_raw(opened, text)) if _RAW.search(text) else list(_of_csv(opened, text))
    if not cells:
        raise fail(opened, "there is no run in the file", "is the report whole?")
    return ForeignFile(
        format="spec-cpu",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the tuning (base or peak)",
        losses=(
            Loss(code="no-order", text="the order of the runs is not in the report"),
            Loss(code="no-sessions", text="all runs stem from one occasion"),
        ),
    )


def _of_csv(opened: Opened, text: str) -> Iterator[ForeignCell]:
    place = _FULL.search(text)
    if place is None:
        raise fail(opened, "there is no Full Results Table", "use the CSV of runcpu")
    before = text.count("\n", 0, place.start())
    runs: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = {}
    failed: dict[tuple[str, str], int] = {}
    for number, row in _table(opened, text[place.start() :], before):
        for tuning in _TUNINGS:
            time = row.get(f"{tuning} Run Time", "").strip()
            status = row.get(f"{tuning} Status", "").strip()
            key = (row["Benchmark"].strip(), tuning.lower())
            if not time and not status:
                continue
            if not time or status not in _GOOD:
                failed[key] = failed.get(key, 0) + 1
                continue
            found = runs.setdefault(key, {})
            found.setdefault("time", []).append((time, f"{before + number}"))
            for column in ("Ratio", "Rate"):
                if value := row.get(f"{tuning} {column}", "").strip():
                    found.setdefault(column.lower(), []).append((value, f"{before + number}"))
    for key in dict.fromkeys((*runs, *failed)):
        yield from _cells(opened, key, runs.get(key, {"time": []}), failed.get(key, 0))


def _table(opened: Opened, text: str, before: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of the first table by their headings, to its empty line."""
    heads: list[str] = []
    rows = rows_in(opened, csv.reader(io.StringIO(text)), before=before)
    for number, row in enumerate(rows, 1):
        if not heads:
            if row and row[0] == "Benchmark":
                heads = [cell.removeprefix("Est. ") for cell in row]
        elif not row or not row[0].strip() or "Selected Results Table" in row[0]:
            return
        else:
            yield number, dict(zip(heads, row, strict=False))


def _of_raw(opened: Opened, text: str) -> Iterator[ForeignCell]:
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    for match in _RAW.finditer(text):
        key = (match[2], match[3], int(match[4]))
        found.setdefault(key, {})[match[5]] = match[6].strip()
    runs: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = {}
    failed: dict[tuple[str, str], int] = {}
    for (bench, tuning, k), row in sorted(found.items(), key=lambda item: item[0][2]):
        name = re.sub(r"^(\d+)_", r"\1.", bench)
        time = row.get("reported_time", "")
        if not re.match(r"^[0-9.]", time) or row.get("valid", "1") not in ("1", "S", "*", ""):
            failed[name, tuning] = failed.get((name, tuning), 0) + 1
            continue
        mine = runs.setdefault((name, tuning), {})
        mine.setdefault("time", []).append((time, f"{bench}.{tuning}.{k:03d}"))
        for column in ("ratio", "rate"):
            if re.match(r"^[0-9.]", row.get(column, "")):
                mine.setdefault(column, []).append((row[column], f"{bench}.{tuning}.{k:03d}"))
    for named in sorted({*runs, *failed}):
        yield from _cells(opened, named, runs.get(named, {"time": []}), failed.get(named, 0))


def _cells(
    opened: Opened, key: tuple[str, str], found: dict[str, list[tuple[str, str]]], failed: int
) -> Iterator[ForeignCell]:
    bench, tuning = key
    for metric, values in found.items():
        shared: dict[str, Any] = (
            {"unit": "s", "better": "lower"}
            if metric == "time"
            else {"unit": "score", "better": "higher"}
        )
        yield ForeignCell(
            benchmark=bench,
            variant=tuning,
            metric=metric,
            processes=tuple((value_of(opened, _number(text), at),) for text, at in values),
            known=True,
            inner=1,
            warmups=0,
            failed=failed,
            keys={"benchmark": bench, "tuning": tuning},
            **shared,
        )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
