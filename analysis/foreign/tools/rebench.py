"""ReBench's ``.data``: tab-separated measurements of invocations (processes) and iterations.

The criterion ``total`` is the time; others, such as ``MaxRSS``, are metrics of their own. Warm-up
iterations are not told apart. A second execution appends under the same header, or a new one, and
numbers its invocations again from 1: a falling invocation number begins the next execution.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, in_base_unit, value_of

__all__ = ["knows", "read"]

_COLUMNS = ("invocation", "iteration", "value", "unit", "criterion", "benchmark")
_NAMES = (
    "benchmark", "executor", "suite", "extraArgs", "cores", "inputSize", "varValue", "tag",
    "machine",
)  # fmt: skip
_RUN_ID = re.compile(r"^# ?run_id: ?(\d+)\s*=\s*(\{.*\})\s*$")


@dataclass(slots=True)
class _Run:
    """What is known of one run id, criterion and execution."""

    names: dict[str, str]
    criterion: str
    unit: str
    execution: int
    invocations: dict[int, list[float]] = field(default_factory=dict)


def knows(opened: Opened) -> bool:
    """Tell by the line of headings, or by the comment that begins an execution."""
    head = opened.head()
    return (
        re.search(r"^invocation\titeration\tvalue\tunit\tcriterion\t", head, re.MULTILINE)
        is not None
        or "# Execution Start" in head
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each run and criterion.

    Raises
    ------
    AnalysisError
        If the file is damaged; the message names the line.
    """
    found = list(_runs(opened))
    if not found:
        raise fail(opened, "there is no measurement in the file", "was every run a failure?")
    several = max(run.execution for run in found) > 1
    cells = tuple(_cell(run, _varying(run, found), several=several) for run in _total_first(found))
    return ForeignFile(
        format="rebench",
        source=opened.source,
        cells=cells,
        variant_rule="the executor",
        losses=(
            Loss(code="warm-ups-unknown", text="warm-up iterations are not told apart in the file"),
            Loss(code="failed-unknown", text="failed invocations are not in the file"),
        ),
    )


def _varying(run: _Run, every: list[_Run]) -> list[str]:
    """Name what tells runs of one benchmark apart."""
    alike = [one for one in every if one.names.get("benchmark") == run.names.get("benchmark")]
    return [name for name in _NAMES if len({one.names.get(name, "") for one in alike}) > 1]


def _total_first(runs: list[_Run]) -> list[_Run]:
    return sorted(runs, key=lambda run: run.criterion != "total")


def _cell(run: _Run, varying: list[str], *, several: bool) -> ForeignCell:
    # what /usr/bin/time calls kb are kibibytes
    factor, unit = (1024.0, "B") if run.unit.lower() == "kb" else in_base_unit(run.unit)
    parts = [run.names["benchmark"]]
    parts += [
        f"{name}={run.names[name]}"
        for name in varying
        if name not in ("benchmark", "executor") and run.names.get(name)
    ]
    return ForeignCell(
        benchmark=" ".join(parts),
        variant=run.names.get("executor") or None,
        metric="time" if run.criterion == "total" else run.criterion,
        unit=unit,
        better="lower" if unit in ("s", "B") else None,
        processes=tuple(
            tuple(value * factor for value in values) for values in run.invocations.values()
        ),
        known=True,
        inner=1,
        session=f"execution {run.execution}" if several else None,
        keys={name: value for name, value in run.names.items() if value},
    )


def _runs(opened: Opened) -> Iterator[_Run]:
    ids: dict[str, dict[str, str]] = {}
    found: dict[tuple[str, str, int], _Run] = {}
    columns: list[str] = []
    execution = 1
    last: dict[tuple[str, str], tuple[int, int]] = {}
    lines = opened.text().split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            if (told := _RUN_ID.match(line)) is not None:
                ids[told[1]] = _names_of(opened, told[2], number)
            elif "Execution Start" in line and found:
                execution, last = execution + 1, {}
            continue
        if not line.strip():
            continue
        cells = line.split("\t")
        if cells[0] == "invocation":
            columns = cells
            if lacking := [name for name in _COLUMNS if name not in cells]:
                raise fail(
                    opened,
                    f"the headings lack {', '.join(lacking)}",
                    "is the file damaged?",
                    at=f"{number}",
                )
            continue
        if not columns:
            raise fail(
                opened, "there is no line of headings", "is the file cut off?", at=f"{number}"
            )
        if len(cells) < len(_COLUMNS) or (number == len(lines) and len(cells) < len(columns) - 2):
            raise fail(
                opened, "the line is cut off", "remove it, or copy the file again", at=f"{number}"
            )
        row = dict.fromkeys(columns, "") | dict(zip(columns, cells, strict=False))
        names = ids.get(row.get("runId", ""), {}) | {
            name: row[name] for name in _NAMES if row.get(name)
        }
        if not names.get("benchmark"):
            raise fail(
                opened, "the line names no benchmark", "is the file damaged?", at=f"{number}"
            )
        invocation = _whole(opened, row["invocation"], number)
        run_id = row.get("runId") or "\t".join(names.get(name, "") for name in _NAMES)
        place = (invocation, _whole(opened, row["iteration"], number))
        if place <= last.get((run_id, row["criterion"]), (0, 0)):
            execution, last = execution + 1, {}
        last[run_id, row["criterion"]] = place
        key = (run_id, row["criterion"], execution)
        run = found.setdefault(
            key,
            _Run(names=names, criterion=row["criterion"], unit=row["unit"], execution=execution),
        )
        value = value_of(opened, _number(row["value"]), f"{number}")
        run.invocations.setdefault(invocation, []).append(value)
    yield from found.values()


def _names_of(opened: Opened, text: str, line: int) -> dict[str, str]:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise fail(opened, "the run id is no JSON", "is the file damaged?", at=f"{line}") from None
    if not isinstance(data, dict):
        raise fail(opened, "the run id is no object", "is the file damaged?", at=f"{line}")
    bench = data.get("benchmark")
    names = {str(key): str(value) for key, value in data.items() if isinstance(value, (str, int))}
    if isinstance(bench, dict):
        suite = bench.get("suite")
        names["benchmark"] = str(bench.get("name"))
        if isinstance(suite, dict):
            names["suite"] = str(suite.get("name"))
            executor = suite.get("executor")
            if isinstance(executor, dict):
                names["executor"] = str(executor.get("name"))
    return names


def _whole(opened: Opened, text: str, line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise fail(
            opened, f"{text!r} is no invocation number", "is the file damaged?", at=f"{line}"
        ) from None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
