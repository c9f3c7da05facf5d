"""SPEC CPU's CSV reports and raw files: the runs of each benchmark, base and peak.

In the CSV the table "Full Results Table" holds the runs; "Selected Results Table" repeats the medians
and is not read. In raw files each run is a number in the key; what is not valid has failed, what was not
run is nothing. A report that is invalid, or estimated, is read, and that is said.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, number_or_text, value_of

__all__ = ["knows", "read"]

_FULL = re.compile(r'^"?Full Results Table"?\s*$', re.MULTILINE)
_HEADS = re.compile(r'^"?Benchmark"?,"?(?:Est\. )?Base ', re.MULTILINE)
_RAW = re.compile(
    r"^spec\.(cpu\w+)\.results\.(\w+)\.(base|peak)\.(\d{1,9})\."
    r"(benchmark|reported_time|reported_sec|reported_nsec|ratio|rate|valid): (.*)$",
    re.MULTILINE,
)
_RAW_INVALID = re.compile(r"^spec\.cpu\w+\.(?:valid: 0|invalid: 1)\s*$", re.MULTILINE)
_CSV_INVALID = re.compile(r"^\ufeff?valid,0\s*$", re.MULTILINE)
_CPU = re.compile(r'^"?CPU Name"?,"?([^"\n]+)|^spec\.cpu\w+\.hw_cpu(?:_name)?: (.+)$', re.MULTILINE)
_LONGER = 1024**2  # notes may stand before the table
_TUNINGS = ("Base", "Peak")
_GOOD = ("S", "", "1", "*")
_NOT_RUN = "NR"
# by benchmark and tuning, then by metric: each value with its run and its place
_Runs = dict[tuple[str, str], dict[str, list[tuple[str, str, str]]]]


def knows(opened: Opened) -> bool:
    """Tell by the table's title and headings, or by the keys of a raw file."""
    if opened.is_folder:
        return False
    head = opened.head()
    if _RAW.search(head):
        return True
    start = head if _FULL.search(head) else ""
    if (
        b"Full Results Table" in opened.data[:_LONGER]
        or b".reported_time: " in opened.data[:_LONGER]
    ):
        start = opened.data[:_LONGER].decode("utf-8", errors="replace").replace("\r", "")
    found = _FULL.search(start)
    return _RAW.search(start) is not None or (
        found is not None and _HEADS.search(start, found.end()) is not None
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, tuning and quantity (time, and ratio or rate).

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds no run.
    """
    text = opened.text()
    raw = _RAW.search(text) is not None
    runs, failed = _of_raw(text) if raw else _of_csv(opened, text)
    cells = tuple(
        cell
        for key in dict.fromkeys((*runs, *failed))
        for cell in _cells(opened, key, runs.get(key, {"time": []}), failed.get(key, 0))
    )
    if not cells:
        raise fail(opened, "there is no run in the file", "is the report whole?")
    cpu = _CPU.search(text)
    return ForeignFile(
        format="spec-cpu",
        source=opened.source,
        cells=cells,
        variant_rule="the tuning (base or peak)",
        losses=(
            Loss(code="order-unknown", text="the order of the runs is not in the report"),
            Loss(code="no-sessions", text="all runs stem from one occasion"),
        ),
        notes=tuple(_notes(text)),
        facts={} if cpu is None else {"cpu_model": (cpu[1] or cpu[2]).strip()},
    )


def _notes(text: str) -> Iterator[Loss]:
    if _CSV_INVALID.search(text) or _RAW_INVALID.search(text):
        yield Loss(code="invalid-result", text="SPEC's tools marked this result as invalid")
    if re.search(r"\bEst\. (?:Base|Peak) ", text):
        yield Loss(
            code="estimated-result",
            text="SPEC's tools marked these values as estimates: the run does not follow its rules",
        )


def _of_csv(opened: Opened, text: str) -> tuple[_Runs, dict[tuple[str, str], int]]:
    place = _FULL.search(text)
    if place is None:
        raise fail(opened, "there is no Full Results Table", "use the CSV of runcpu")
    before = text.count("\n", 0, place.start())
    runs: _Runs = {}
    failed: dict[tuple[str, str], int] = {}
    order: Counter[str] = Counter()
    for number, row in _table(opened, text[place.start() :], before):
        order[row["Benchmark"].strip()] += 1
        for tuning in _TUNINGS:
            time = row.get(f"{tuning} Run Time", "").strip()
            status = row.get(f"{tuning} Status", "").strip()
            key = (row["Benchmark"].strip(), tuning.lower())
            if status == _NOT_RUN or not (time or status):
                continue
            if not time or status not in _GOOD:
                failed[key] = failed.get(key, 0) + 1
                continue
            found = runs.setdefault(key, {})
            found.setdefault("time", []).append((time, f"{order[key[0]]}", f"{number}"))
            for column in ("Ratio", "Rate"):
                if value := row.get(f"{tuning} {column}", "").strip():
                    found.setdefault(column.lower(), []).append(
                        (value, f"{order[key[0]]}", f"{number}")
                    )
    return runs, failed


def _table(opened: Opened, text: str, before: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of the first table by their headings, to its empty line, with their lines."""
    heads: list[str] = []
    reader = csv.reader(io.StringIO(text, newline="\n"))
    try:
        for row in reader:
            line = before + reader.line_num
            if not heads:
                if row and row[0] == "Benchmark":
                    heads = [cell.replace("Est. ", "") for cell in row]
            elif not row or not row[0].strip() or "Selected Results Table" in row[0]:
                return
            elif len(row) < len(heads):
                raise fail(opened, "the line is cut off", "copy the file again", at=f"{line}")
            else:
                yield line, dict(zip(heads, row, strict=False))
    except csv.Error as error:
        raise fail(
            opened, f"it is no CSV: {error}", "is a quote open?",
            at=f"{before + reader.line_num}",
        ) from None  # fmt: skip


def _of_raw(text: str) -> tuple[_Runs, dict[tuple[str, str], int]]:
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    for match in _RAW.finditer(text):
        key = (match[2], match[3], int(match[4]))
        found.setdefault(key, {})[match[5]] = match[6].strip()
    runs: _Runs = {}
    failed: dict[tuple[str, str], int] = {}
    for (bench, tuning, k), row in sorted(found.items(), key=lambda item: item[0][2]):
        named = (row.get("benchmark") or re.sub(r"^(\d+)_", r"\1.", bench), tuning)
        time, valid = row.get("reported_time", ""), row.get("valid", "")
        if not time and row.get("reported_sec", "").isdecimal():
            time = f"{row['reported_sec']}.{row.get('reported_nsec', '0').zfill(9)}"
        if valid == _NOT_RUN:
            continue
        if not re.match(r"^[-+0-9.]*[0-9]", time) or valid not in _GOOD:
            failed[named] = failed.get(named, 0) + 1
            continue
        mine = runs.setdefault(named, {})
        at = f"{bench}.{tuning}.{k:03d}"
        mine.setdefault("time", []).append((time, f"{k}", at))
        for column in ("ratio", "rate"):
            if re.match(r"^[0-9.]", row.get(column, "")):
                mine.setdefault(column, []).append((row[column], f"{k}", at))
    return runs, failed


def _cells(
    opened: Opened, key: tuple[str, str], found: dict[str, list[tuple[str, str, str]]], failed: int
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
            processes=tuple(
                (value_of(opened, number_or_text(text), at),) for text, _, at in values
            ),
            labels=tuple(run for _, run, _ in values),
            known=True,
            inner=1,
            warmups=0,
            failed=failed,
            keys={"benchmark": bench, "tuning": tuning},
            **shared,
        )
