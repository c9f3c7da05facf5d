"""criterion.rs: the folder ``target/criterion``, one of its ``sample.json``, or a ``raw.csv``.

A sample is the total time of so many iterations; its value is their ratio. All samples of one
benchmark stem from one process. Saved baselines are variants: ``new`` is the last result, ``base`` the
one before, and ``change`` holds no data. Names stand in ``benchmark.json``.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..folders import files_in, opened_in
from ..opening import Opened
from ..parsing import fail, json_of, looks_like_json, rows_in, value_of

__all__ = ["knows", "read"]

_SAMPLE, _NAMES = "sample.json", "benchmark.json"
_RAW = "group,function,value,"
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def knows(opened: Opened) -> bool:
    """Tell by samples in the folder, by the keys of a sample, or by a header or message."""
    if opened.is_folder:
        return any(path.name == _SAMPLE for path in files_in(opened))
    head = opened.head()
    if _RAW in head:
        return True
    if '"reason"' in head and "benchmark-complete" in head:
        return True
    return looks_like_json(opened) and '"sampling_mode"' in head and '"iters"' in head


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and saved baseline.

    Raises
    ------
    AnalysisError
        If a file is damaged, or the folder holds no sample.
    """
    if opened.is_folder:
        cells = list(_of_folder(opened))
        rule = "the saved baseline's name"
    elif _RAW in opened.head():
        cells, rule = list(_of_csv(opened)), "the file's name"
    elif "benchmark-complete" in opened.head():
        cells, rule = list(_of_messages(opened)), "the file's name"
    else:
        cells = [_of_sample(opened, opened.stem, None, {})]
        rule = "the file's name"
    if not cells:
        raise fail(opened, "there is no sample in the folder", "name the folder target/criterion")
    low = min(cell.inner or 1 for cell in cells)
    high = max(cell.inner or 1 for cell in cells)
    told = f"{low}" if low == high else f"{low} to {high}"
    return ForeignFile(
        format="criterion",
        source=opened.source,
        cells=tuple(cells),
        variant_rule=rule,
        losses=(
            Loss(
                code="one-process",
                text=f"means of up to {told} iterations from one process: variation between processes "
                "cannot be estimated",
            ),
            Loss(code="unequal-means", text="values are means of different numbers of iterations"),
            Loss(code="warm-ups-unknown", text="the warm-up is not in the files"),
        ),
    )


def _of_folder(opened: Opened) -> Iterator[ForeignCell]:
    for path in files_in(opened):
        if path.name != _SAMPLE:
            continue
        baseline = path.parent.name or opened.name
        if baseline == "change":
            continue
        keys = _names(opened, path.parent)
        named = keys.get("full_id") or str(path.parent.parent)
        name = opened.name if named == "." else named
        yield _of_sample(opened_in(opened, path), name, baseline, keys)


def _names(opened: Opened, folder: Path) -> dict[str, str]:
    beside = opened_in(opened, folder / _NAMES) if _has(opened, folder / _NAMES) else None
    if beside is None:
        return {}
    data = json_of(beside)
    if not isinstance(data, dict):
        raise fail(beside, "it is no object", "is the file damaged?")
    return {str(k): str(v) for k, v in data.items() if isinstance(v, (str, int, float))}


def _has(opened: Opened, path: Path) -> bool:
    beside = None if opened.path is None else opened.path / path
    return beside is not None and beside.is_file() and not beside.is_symlink()


def _of_sample(
    opened: Opened, name: str, baseline: str | None, keys: dict[str, str]
) -> ForeignCell:
    data = json_of(opened)
    iters, times = (data.get(k) if isinstance(data, dict) else None for k in ("iters", "times"))
    if not (isinstance(iters, list) and isinstance(times, list) and len(iters) == len(times) > 0):
        raise fail(opened, "it does not hold as many times as iterations", "is the file damaged?")
    return _cell(opened, name, baseline, list(zip(times, iters, strict=True)), 1e-9, keys)


def _cell(  # noqa: PLR0917 - all of one sample
    opened: Opened,
    name: str,
    baseline: str | None,
    pairs: list[tuple[Any, Any]],
    factor: float,
    keys: dict[str, str],
) -> ForeignCell:
    values, counts = [], []
    for k, (time, iterations) in enumerate(pairs):
        total = value_of(opened, time, f"times[{k}]", factor=factor)
        count = value_of(opened, iterations, f"iters[{k}]")
        if not count:
            raise fail(opened, "a sample of 0 iterations", "is the file damaged?", at=f"iters[{k}]")
        values.append(value_of(opened, total / count, f"times[{k}]"))
        counts.append(int(count))
    return ForeignCell(
        benchmark=name,
        variant=baseline,
        processes=(tuple(values),),
        known=True,
        inner=max(counts),
        keys=keys | ({} if baseline is None else {"baseline": baseline}),
    )


def _of_csv(opened: Opened) -> Iterator[ForeignCell]:
    grouped: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    units: dict[tuple[str, ...], float] = {}
    reader = csv.DictReader(io.StringIO(opened.text()))
    for row in rows_in(opened, reader):
        line = f"{reader.line_num}"
        try:
            if "sample_time_nanos" in row:  # before 0.3.5
                value, unit = row["sample_time_nanos"], "ns"
            else:
                value, unit = row["sample_measured_value"], row["unit"]
            pair = (float(value), float(row["iteration_count"]))
            factor = _UNITS[unit]
            key = tuple(row[name] or "" for name in ("group", "function", "value"))
        except (TypeError, ValueError, KeyError):
            raise fail(
                opened, "the line is cut off or damaged", "copy the file again", at=line
            ) from None
        grouped.setdefault(key, []).append(pair)
        units[key] = factor
    for key, pairs in grouped.items():
        name = "/".join(part for part in key if part)
        keys = dict(zip(("group", "function", "value"), key, strict=True))
        yield _cell(opened, name, None, pairs, units[key], keys)


def _of_messages(opened: Opened) -> Iterator[ForeignCell]:
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not re.search(r"benchmark-complete", line):
            continue
        try:
            data = json.loads(line)
            counts, values = data["iteration_count"], data["measured_values"]
            pairs = list(zip(values, counts, strict=True))
            factor, name = _UNITS[data["unit"]], str(data["id"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise fail(
                opened, "the message is damaged", "is the file cut off?", at=f"{number}"
            ) from None
        yield _cell(opened, name, None, pairs, factor, {"id": name})
