"""pyperf's JSON: processes, and the values that each measured; every value is a mean over loops.

A run object without ``values`` calibrates and is no measurement. In a run's metadata, and in that of
the file, ``values`` and ``warmups`` are counts. Metadata that all benchmarks share stand at the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import count_of, fail, json_of, looks_like_json, values_of

__all__ = ["knows", "read"]

_UNITS: Mapping[str, tuple[str, Better | None]] = {
    "second": ("s", "lower"),
    "byte": ("B", "lower"),
    "integer": ("", None),
}
_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")


def knows(opened: Opened) -> bool:
    """Tell by benchmarks that hold runs, and by the file's version."""
    head = opened.head()
    return (
        looks_like_json(opened)
        and re.search(r'"benchmarks"\s*:\s*\[', head) is not None
        and re.search(r'"runs"\s*:\s*\[', head) is not None
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, a process for each of its runs.

    Raises
    ------
    AnalysisError
        If the file is damaged, or no run has a value.
    """
    data = json_of(opened)
    benchmarks = data.get("benchmarks") if isinstance(data, dict) else None
    if not isinstance(benchmarks, list) or not benchmarks:
        raise fail(opened, "there is no benchmark in the file", "write it again with pyperf -o")
    shared = _about(data)
    cells = tuple(
        _cell(opened, one, shared, f"benchmarks[{k}]") for k, one in enumerate(benchmarks)
    )
    return ForeignFile(
        format="pyperf",
        source=opened.source,
        cells=cells,
        losses=tuple(_losses(cells)),
        facts={
            ours: str(shared[theirs])
            for ours, theirs in (("host", "hostname"), ("cpu_model", "cpu_model_name"))
            if theirs in shared
        },
    )


def _cell(opened: Opened, bench: Any, shared: Mapping[str, Any], at: str) -> ForeignCell:  # noqa: ANN401 - JSON
    if not isinstance(bench, dict) or not isinstance(bench.get("runs"), list):
        raise fail(opened, "a benchmark has no runs", "is the file damaged?", at=at)
    about: dict[str, Any] = {**shared, **_about(bench)}
    name = about.get("name")
    if not isinstance(name, str):
        raise fail(opened, "a benchmark has no name", "is the file damaged?", at=at)
    unit, better = _UNITS.get(str(about.get("unit", "second")), (str(about.get("unit")), None))
    processes, warmups, loops = [], 0, []
    for k, run in enumerate(bench["runs"]):
        where = f"{at}.runs[{k}]"
        if not isinstance(run, dict):
            raise fail(opened, "a run is no object", "is the file damaged?", at=where)
        if "values" not in run:
            continue  # it calibrated
        given = run["values"]
        if not isinstance(given, list):
            raise fail(opened, "its values are no list", "is the file damaged?", at=where)
        processes.append(values_of(opened, given, f"{where}.values"))
        warm = run.get("warmups")
        warmups += len(warm) if isinstance(warm, list) else 0
        own = {**about, **_about(run)}
        outer, within = count_of(own.get("loops")), count_of(own.get("inner_loops", 1))
        if outer is not None:
            loops.append(outer * (within or 1))
    if not any(processes):
        raise fail(opened, f"{name!r} has no values", "measure it: it was only calibrated", at=at)
    return ForeignCell(
        benchmark=name,
        metric="time" if unit == "s" else "memory" if unit == "B" else "value",
        unit=unit,
        better=better,
        processes=tuple(process for process in processes if process),
        known=True,
        inner=max(loops, default=None),
        warmups=warmups,
        keys={
            str(key): str(value)
            for key, value in about.items()
            if key not in _NO_KEYS and isinstance(value, (str, int, float))
        }
        | {"name": name},
    )


def _about(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    found = holder.get("metadata")
    return found if isinstance(found, dict) else {}


def _losses(cells: tuple[ForeignCell, ...]) -> Iterator[Loss]:
    inner = [cell.inner for cell in cells if cell.inner is not None and cell.inner > 1]
    if inner:
        low, high = min(inner), max(inner)
        told = f"{low}" if low == high else f"{low} to {high}"
        yield Loss(
            code="means-of-loops",
            text=f"each value is the mean of {told} loops: single iterations cannot be seen",
        )
    yield Loss(code="failed-unknown", text="pyperf keeps no failed runs")
    yield Loss(code="no-sessions", text="all processes stem from one occasion")
