"""ReBench's ``.data``: tab-separated measurements of invocations (processes) and iterations.

The criterion ``total`` is the time; others, such as ``MaxRSS``, are metrics of their own. Warm-up
iterations are told apart where the benchmark's line says how many there are. A second execution appends
under the same headings, or new ones, and numbers its invocations again from 1: a number that does not
rise begins the next execution. Files of versions before 1.2 have no headings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, in_base_unit, number_or_text, value_of

__all__ = ["knows", "read"]

_NAMES = (
    "benchmark", "executor", "suite", "extraArgs", "cores", "inputSize", "varValue", "tag",
    "machine",
)  # fmt: skip
_MEASURED = ("invocation", "iteration", "value", "unit", "criterion")
_HEADLESS = {
    12: (*_MEASURED, *_NAMES[:7]),
    13: (*_MEASURED, *_NAMES[:7], "machine"),
    14: (*_MEASURED, *_NAMES),
    15: (*_MEASURED, *_NAMES, "runId"),
}
_SAID = re.compile(r"^# ?(run_id|benchmark): ?(\d+)\s*=\s*(\{.*)$")
_START = re.compile(r"^# ?Execution Start:\s*(.*)$")
_ROW = re.compile(r"^\d+\t\d+\t[-+\d.eE]+\t[^\t\d]*\t[^\t]+\t[^\t]+\t", re.MULTILINE)


@dataclass(slots=True)
class _Run:
    """What is known of one run id, criterion and execution."""

    names: dict[str, str]
    criterion: str
    unit: str
    execution: int
    started: str
    warm: int | None
    warmups: int = 0
    invocations: dict[int, list[float]] = field(default_factory=dict)


def knows(opened: Opened) -> bool:
    """Tell by the line of headings, or by the comments that begin an execution."""
    head = opened.head()
    if re.search(r"^invocation\titeration\tvalue\tunit\tcriterion\t", head, re.MULTILINE):
        return True
    if re.search(r"^# ?Execution Start:", head, re.MULTILINE):
        return True
    return head.startswith("#!") and "rebench" in head[:1000].lower() and bool(_ROW.search(head))


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each run, criterion and execution.

    Raises
    ------
    AnalysisError
        If the file is damaged; the message names the line.
    """
    reader = _Reader(opened)
    found = list(reader.runs())
    if not any(run.invocations for run in found):
        raise fail(opened, "there is no measurement in the file", "was every run a failure?")
    several = max(run.execution for run in found) > 1
    cells = tuple(
        _cell(opened, run, _varying(run, found), several=several) for run in _sorted(found)
    )
    return ForeignFile(
        format="rebench",
        source=opened.source,
        cells=cells,
        variant_rule="the executor",
        losses=(
            *(
                [
                    Loss(
                        code="warm-ups-unknown",
                        text="warm-up iterations are not told apart in the file",
                    )
                ]
                if any(cell.warmups is None for cell in cells)
                else []
            ),
            Loss(code="failed-unknown", text="failed invocations are not in the file"),
        ),
        facts=reader.facts,
    )


def _varying(run: _Run, every: list[_Run]) -> list[str]:
    """Name what tells runs of one benchmark and executor apart, the same for all executors."""
    alike = [one for one in every if one.names.get("benchmark") == run.names.get("benchmark")]
    by_executor: dict[str, list[_Run]] = {}
    for one in alike:
        by_executor.setdefault(one.names.get("executor", ""), []).append(one)
    return [
        name
        for name in _NAMES
        if any(len({one.names.get(name, "") for one in mine}) > 1 for mine in by_executor.values())
    ]


def _sorted(runs: list[_Run]) -> list[_Run]:
    return sorted(runs, key=lambda run: run.criterion != "total")


def _cell(opened: Opened, run: _Run, varying: list[str], *, several: bool) -> ForeignCell:
    # what /usr/bin/time calls kb are kibibytes
    factor, unit = (1024.0, "B") if run.unit.lower() == "kb" else in_base_unit(run.unit)
    parts = [run.names.get("benchmark", ""), *_parts(run, varying)]
    session = run.started or None
    if several:
        session = f"{run.started}, execution {run.execution}".removeprefix(", ")
    return ForeignCell(
        benchmark=" ".join(parts),
        variant=run.names.get("executor") or None,
        metric="time" if run.criterion == "total" and unit == "s" else run.criterion,
        unit=unit,
        better="lower" if unit in ("s", "B") else None,
        processes=tuple(
            tuple(value_of(opened, value, run.criterion, factor=factor) for value in values)
            for values in run.invocations.values()
        ),
        known=True,
        labels=tuple(map(str, run.invocations)),
        inner=1,
        warmups=None if run.warm is None else run.warmups,
        session=session,
        keys={name: value for name, value in run.names.items() if value},
    )


def _parts(run: _Run, varying: list[str]) -> Iterator[str]:
    for name in varying:
        if name != "benchmark" and run.names.get(name):
            yield f"{name}={run.names[name]}"


class _Reader:
    """One pass over the lines of a file."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.facts: dict[str, str] = {}
        self._benchmarks: dict[str, Any] = {}
        self._ids: dict[str, tuple[dict[str, str], int | None]] = {}
        self._found: dict[tuple[str, str, int], _Run] = {}
        self._columns: tuple[str, ...] = ()
        self._execution, self._started = 1, ""
        self._last: dict[tuple[str, str], tuple[int, int]] = {}

    def runs(self) -> Iterator[_Run]:
        """Give the runs in the order of their first measurements."""
        lines = self.opened.text().split("\n")
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                self._say(line, number)
            elif line.startswith("invocation\t"):
                self._columns = tuple(line.split("\t"))
                if self._columns[:5] != _MEASURED:
                    raise fail(
                        self.opened,
                        "these are profiles, no measurements",
                        "name the .data file of an experiment whose action is 'benchmark'",
                        at=f"{number}",
                    )
            elif line.strip():
                self._add(line.split("\t"), number, last=number == len(lines))
        yield from self._found.values()

    def _say(self, line: str, number: int) -> None:
        if (start := _START.match(line)) is not None:
            if self._found:
                self._execution, self._last = self._execution + 1, {}
            self._started = start[1].strip()
        elif line.startswith("# Environment: "):
            self._about_host(line.removeprefix("# Environment: "))
        elif (said := _SAID.match(line)) is not None:
            data = self._object(said[3], number)
            if said[1] == "benchmark":
                self._benchmarks[said[2]] = data
            else:
                known = self._benchmarks.get(str(data.get("benchmark_id")))
                bench = data.get("benchmark", known)
                self._ids[said[2]] = (_names_of(data, bench), _warm(bench))

    def _object(self, text: str, number: int) -> dict[str, Any]:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise fail(
                self.opened, "what the line describes is no JSON", "is the file damaged?",
                at=f"{number}",
            )  # fmt: skip
        return data

    def _about_host(self, text: str) -> None:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return
        for key, fact in (("hostName", "host"), ("cpu", "cpu_model")):
            if isinstance(data, dict) and isinstance(data.get(key), str):
                self.facts.setdefault(fact, data[key])

    def _add(self, cells: list[str], number: int, *, last: bool) -> None:
        at = f"{number}"
        columns = self._columns or _HEADLESS.get(len(cells), ())
        if len(cells) < len(columns) or not columns:
            raise fail(
                self.opened,
                "the line is cut off" if columns or last else "there is no line of headings",
                "remove it, or copy the file again",
                at=at,
            )
        row = dict(zip(columns, cells, strict=False))
        names, warm = self._ids.get(row.get("runId", ""), ({}, None))
        names = names | {name: row[name] for name in _NAMES if row.get(name)}
        if not names.get("benchmark"):
            raise fail(self.opened, "the line names no benchmark", "is the file damaged?", at=at)
        run_id = row.get("runId") or "\t".join(names.get(name, "") for name in _NAMES)
        criterion = row["criterion"]
        place = (self._whole(row["invocation"], at), self._whole(row["iteration"], at))
        if place <= self._last.get((run_id, criterion), (-1, -1)):
            self._execution, self._last = self._execution + 1, {}
        self._last[run_id, criterion] = place
        key = (run_id, criterion, self._execution)
        run = self._found.get(key)
        if run is None:
            run = self._found[key] = _Run(
                names, criterion, row["unit"], self._execution, self._started, warm
            )
        value = value_of(self.opened, number_or_text(row["value"]), at)
        if warm is not None and place[1] <= warm:
            run.warmups += 1
        else:
            run.invocations.setdefault(place[0], []).append(value)

    def _whole(self, text: str, at: str) -> int:
        if not (text.isdecimal() and len(text) < 19):
            raise fail(
                self.opened, f"{text!r} is no invocation number", "is the file damaged?", at=at
            )
        return int(text)


def _names_of(data: dict[str, Any], bench: object) -> dict[str, str]:
    names = {
        key: str(value)
        for key, value in data.items()
        if isinstance(value, (str, int)) and key != "benchmark_id"
    }
    for name, key in (("benchmark", "suite"), ("suite", "executor"), ("executor", "")):
        if not isinstance(bench, dict):
            break
        names[name] = str(bench.get("name"))
        bench = bench.get(key)
    return names


def _warm(bench: object) -> int | None:
    details = bench.get("runDetails") if isinstance(bench, dict) else None
    warm = details.get("warmup") if isinstance(details, dict) else None
    return warm if isinstance(warm, int) and not isinstance(warm, bool) and warm > 0 else None
