"""Google Benchmark's JSON and CSV: repetitions within one process, each a mean over iterations.

Rows of aggregates (mean, median, stddev, cv) are summaries, in the CSV known by their suffix. Rows
with an error have times of 0 and are failed. Units may differ from row to row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import TIMES, fail, json_of, looks_like_json, value_of

__all__ = ["knows", "read"]

_CSV = "name,iterations,real_time,cpu_time,time_unit"
_AGGREGATE = re.compile(r"_(mean|median|stddev|cv|min|max|BigO|RMS)$")
_TIMES = (("real_time", "real_time"), ("cpu_time", "cpu_time"))
_FIXED = {
    "name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "time_unit", "family_index", "per_family_instance_index",
    "aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped",
    "skip_message", "label", "big_o", "rms", "cpu_coefficient", "real_coefficient",
}  # fmt: skip
_RATES = ("bytes_per_second", "items_per_second")

Row = Mapping[str, Any]


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result, or by the header of the CSV."""
    head = opened.head()
    if re.search(rf"^{_CSV}", head.replace('"', ""), re.MULTILINE):
        return True
    return looks_like_json(opened) and all(
        re.search(rf'"{key}"\s*:', head) for key in ("real_time", "cpu_time")
    )


def read(opened: Opened) -> ForeignFile:
    """Give cells for each benchmark: real time, CPU time, and its counters.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds aggregates only.
    """
    rows, facts = _of_json(opened) if looks_like_json(opened) else (_of_csv(opened), {})
    cells = tuple(_cells(opened, rows))
    if not any(cell.values or cell.failed for cell in cells):
        raise fail(
            opened,
            "the file holds aggregates only",
            "leave out --benchmark_report_aggregates_only, and add --benchmark_repetitions=N",
        )
    most = max((cell.inner or 1 for cell in cells), default=1)
    least = min((cell.inner or 1 for cell in cells), default=1)
    told = f"{most}" if least == most else f"{least} to {most}"
    few = max(len(cell.values) for cell in cells) == 1
    return ForeignFile(
        format="google-benchmark",
        source=opened.source,
        cells=cells,
        losses=(
            Loss(
                code="one-process",
                text=f"means of {told} iterations from one process: variation between processes "
                "cannot be estimated",
            ),
            *(
                [Loss(code="one-repetition", text="each benchmark was measured once: "
                      "--benchmark_repetitions=N keeps more")]
                if few
                else []
            ),
            Loss(code="warm-ups-unknown", text="whether there was a warm-up is not in the file"),
        ),
        facts=facts,
    )  # fmt: skip


def _of_json(opened: Opened) -> tuple[list[tuple[str, Row]], dict[str, str]]:
    data = json_of(opened)
    given = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise fail(opened, "there is no list of benchmarks", "is the file damaged?")
    context = data.get("context")
    facts = {}
    if isinstance(context, dict) and isinstance(context.get("host_name"), str):
        facts["host"] = context["host_name"]
    rows = [
        (f"benchmarks[{k}]", one)
        for k, one in enumerate(given)
        if one.get("run_type", "iteration") == "iteration"
        and not ("run_type" not in one and _AGGREGATE.search(str(one.get("name", ""))))
    ]
    return rows, facts


def _of_csv(opened: Opened) -> list[tuple[str, Row]]:
    text = opened.text()
    place = re.search(r'^"?name"?,"?iterations"?', text, re.MULTILINE)
    if place is None:
        raise fail(opened, "there is no line of headings", "is the file cut off at its beginning?")
    before = text.count("\n", 0, place.start())
    rows: list[tuple[str, Row]] = []
    reader = csv.DictReader(io.StringIO(text[place.start() :]), strict=True)
    try:
        for row in reader:
            line = f"{before + reader.line_num}"
            if row.get("time_unit") is None or None in row:
                raise fail(
                    opened,
                    "the line is cut off, or has more cells than the headings",
                    "Google Benchmark's CSV ends where a later benchmark adds a counter: use "
                    "--benchmark_out_format=json",
                    at=line,
                )
            if not _AGGREGATE.search(row["name"] or ""):
                rows.append((line, {k: _number(v) for k, v in row.items() if v}))
    except csv.Error as error:
        raise fail(
            opened, f"it is no CSV: {error}", "use --benchmark_out_format=json",
            at=f"{before + reader.line_num}",
        ) from None  # fmt: skip
    return rows


def _number(text: str) -> Any:  # noqa: ANN401 - a number where it is one
    try:
        return float(text)
    except ValueError:
        return text == "true" if text in ("true", "false") else text


def _cells(opened: Opened, rows: list[tuple[str, Row]]) -> Iterator[ForeignCell]:
    grouped: dict[str, list[tuple[str, Row]]] = {}
    for at, row in rows:
        name = row.get("run_name", row.get("name"))
        if not isinstance(name, str):
            raise fail(opened, "a result has no name", "is the file damaged?", at=at)
        grouped.setdefault(name, []).append((at, row))
    for name, mine in grouped.items():
        good = [
            (at, row) for at, row in mine if not (row.get("error_occurred") or row.get("skipped"))
        ]
        inner = [
            int(row["iterations"])
            for _, row in good
            if isinstance(row.get("iterations"), (int, float))
        ]
        shared: dict[str, Any] = {
            "benchmark": name,
            "known": True,
            "inner": max(inner, default=None),
            "failed": len(mine) - len(good),
            "keys": {
                "name": name,
                **{f"argument {k}": part for k, part in enumerate(name.split("/")[1:], 1)},
            },
        }
        for key, metric in _TIMES:
            yield ForeignCell(
                metric=metric, processes=_process(opened, good, key, times=True), **shared
            )
        for key in dict.fromkeys(key for _, row in good for key in row if key not in _FIXED):
            if all(isinstance(row.get(key), (int, float)) for _, row in good):
                better: Any = "higher" if key in _RATES else None
                unit = {"bytes_per_second": "B/s", "items_per_second": "1/s"}.get(key, "")
                yield ForeignCell(
                    metric=key,
                    better=better,
                    processes=_process(opened, good, key, times=False),
                    **(shared | {"unit": unit}),
                )


def _process(
    opened: Opened, rows: list[tuple[str, Row]], key: str, *, times: bool
) -> tuple[tuple[float, ...], ...]:
    values = []
    for at, row in rows:
        unit = row.get("time_unit", "ns")
        if times and unit not in TIMES:
            raise fail(opened, f"the unit {unit!r} is not known", "is the file damaged?", at=at)
        factor = TIMES[unit] if times else 1.0
        values.append(value_of(opened, row.get(key), f"{at}.{key}", factor=factor))
    return (tuple(values),) if values else ()
