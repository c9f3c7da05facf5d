"""pyperf's JSON: processes, and the values that each measured; every value is a mean over loops.

A run object without ``values`` calibrates and is no measurement. In a run's metadata, and in that of
the file, ``values`` and ``warmups`` are counts. Metadata that all benchmarks share stand at the top.
Files before version 6 call the values ``samples`` and the shared metadata ``common_metadata``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...record import Better
from ...report import figures
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import count_of, fail, json_of, mentions, structure_of, texts_of, values_of

__all__ = ["knows", "read"]

_UNITS: Mapping[str, tuple[str, Better | None]] = {
    "second": ("s", "lower"),
    "byte": ("B", "lower"),
    "integer": ("", None),
}
_OF_RUN = frozenset(("metadata", "values", "samples", "warmups"))
_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")


def knows(opened: Opened) -> bool:
    """Tell by benchmarks that hold runs."""
    data = structure_of(opened)
    if data is None:
        return mentions(opened, "benchmarks", "runs") and (
            mentions(opened, "warmups") or mentions(opened, "values")
        )
    benchmarks = data.get("benchmarks") if isinstance(data, dict) else None
    return isinstance(benchmarks, list) and any(
        isinstance(one, dict) and _are_runs(one.get("runs")) for one in benchmarks
    )


def _are_runs(runs: object) -> bool:
    """Tell runs with what pyperf writes of each from other tools' lists of that name."""
    if not isinstance(runs, list):
        return False
    return not runs or any(isinstance(run, dict) and not _OF_RUN.isdisjoint(run) for run in runs)


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
    shared = _object(data.get("metadata"))
    found = [_cell(opened, one, shared, f"benchmarks[{k}]") for k, one in enumerate(benchmarks)]
    cells = tuple(cell for cell in found if cell.processes)
    only = [cell.benchmark for cell in found if not cell.processes]
    if not cells:
        raise fail(
            opened,
            f"no benchmark has values: {only[0]!r} was only calibrated",
            "measure it, without --calibrate-loops",
        )
    about = shared | _object(_object(benchmarks[0]).get("metadata"))
    return ForeignFile(
        format="pyperf",
        source=opened.source,
        cells=cells,
        losses=tuple(_losses(cells)),
        notes=(
            *(
                Loss(code="left-out", text=f"{name!r} was only calibrated: it has no values")
                for name in only
            ),
            *_hosts(benchmarks, shared),
        ),
        facts={
            ours: about[theirs]
            for ours, theirs in (("host", "hostname"), ("cpu_model", "cpu_model_name"))
            if isinstance(about.get(theirs), str)
        },
    )


def _hosts(benchmarks: list[Any], shared: Mapping[str, Any]) -> Iterator[Loss]:
    """Say that runs stem from several hosts, as in files that pyperf appended to on each."""
    names = dict.fromkeys(
        name
        for bench in benchmarks
        for run in bench["runs"]
        for about in (shared, _object(bench.get("metadata")), _object(run.get("metadata")))
        if isinstance(name := about.get("hostname"), str)
    )
    if len(names) > 1:
        yield Loss(
            code="several-hosts",
            text=f"the runs stem from {len(names)} hosts ({figures.listed(tuple(names), 3)}), and are "
            "taken as those of one: give each host a file of its own",
        )


def _object(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _cell(opened: Opened, bench: Any, shared: Mapping[str, Any], at: str) -> ForeignCell:  # noqa: ANN401 - JSON
    if not isinstance(bench, dict) or not isinstance(bench.get("runs"), list):
        raise fail(opened, "a benchmark has no runs", "is the file damaged?", at=at)
    about = {**shared, **_object(bench.get("common_metadata")), **_object(bench.get("metadata"))}
    runs = bench["runs"]
    name = about.get("name")
    if name is None and runs:
        name = _object(_object(runs[0]).get("metadata")).get("name")
    if not isinstance(name, str):
        raise fail(opened, "a benchmark has no name", "give one with pyperf --name", at=at)
    unit, better = _unit(opened, about.get("unit", "second"), at)
    processes, warmups, loops = [], 0, []
    for k, run in enumerate(runs):
        where = f"{at}.runs[{k}]"
        if not isinstance(run, dict):
            raise fail(opened, "a run is no object", "is the file damaged?", at=where)
        key = "values" if "values" in run else "samples"
        given = run.get(key, [])
        if not isinstance(given, list):
            raise fail(opened, "its values are no list", "is the file damaged?", at=where)
        if not given:
            continue  # it calibrated
        processes.append(values_of(opened, given, f"{where}.{key}"))
        warm = run.get("warmups")
        warmups += len(warm) if isinstance(warm, list) else 0
        own = {**about, **_object(run.get("metadata"))}
        count, within = count_of(own.get("loops")), count_of(own.get("inner_loops", 1))
        if count is not None and within is not None:
            loops.append(count * within)
    return ForeignCell(
        benchmark=name,
        metric="time" if unit == "s" else "memory" if unit == "B" else "value",
        unit=unit,
        better=better,
        processes=tuple(processes),
        known=True,
        inner=1 if unit == "B" else max(loops, default=None),  # a process has one peak of memory
        warmups=warmups,
        keys={key: text for key, text in texts_of(about).items() if key not in _NO_KEYS}
        | {"name": name},
    )


def _unit(opened: Opened, unit: object, at: str) -> tuple[str, Better | None]:
    if not isinstance(unit, str):
        raise fail(opened, "the unit of a benchmark is no text", "is the file damaged?", at=at)
    return _UNITS.get(unit, (unit, None))


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
