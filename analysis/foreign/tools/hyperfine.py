"""hyperfine's ``--export-json``: every run of every command, each a process of its own.

Times of failed runs stand among the others; they are told apart by their exit codes, where null stands
for a run that a signal ended. Up to version 1.21 a result has lists (``times``, ``exit_codes``), and user
and system times are means only; since version 2 it has ``measurements``, each with all that was measured
of one run. CSV, Markdown and the other exports hold no runs, nor does what it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import (
    fail,
    in_base_unit,
    json_of,
    mentions,
    structure_of,
    text_of,
    texts_of,
    value_of,
)

__all__ = ["knows", "read"]

_SUMMARY = re.compile(
    r"^command,(?:\w+,)*?(?:\w+_)?mean,"  # CSV
    r"|^\|\s*Command\s*\|[^\n]*(?:Mean|Time|Memory|Relative)"  # Markdown, Org
    r"|^\|===\s*\n\|\s*Command\s*\n\|"  # AsciiDoc
    r"|^Benchmark (?:#?\d+): .*\n\s+\w",  # the terminal
    re.MULTILINE,
)


# The metrics of version 2, and what else they are called here; counters have no direction.
_METRICS: dict[str, tuple[str, Better | None]] = {
    "time_wall_clock": ("time", "lower"),
    "time_cpu": ("time_cpu", "lower"),
    "time_user": ("time_user", "lower"),
    "time_system": ("time_system", "lower"),
    "memory_peak_resident": ("max_rss", "lower"),
}
_NO_METRICS = ("time_wall_clock", "exit_code")


def knows(opened: Opened) -> bool:
    """Tell by the keys of the results, or by the headings of an export without runs."""
    data = structure_of(opened)
    if data is None:
        return bool(_SUMMARY.search(opened.head())) or (
            mentions(opened, "results", "command")
            and (mentions(opened, "mean") or mentions(opened, "measurements"))
        )
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list):
        return False
    return data == {"results": []} or any(
        isinstance(one, dict)
        and "command" in one
        and one.keys() & {"times", "mean", "measurements"}
        for one in results
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each command's times, and one for its memory where it was measured.

    Raises
    ------
    AnalysisError
        If the file is damaged, or has summaries only.
    """
    if _SUMMARY.search(opened.head()) and structure_of(opened) is None:
        raise fail(
            opened,
            "this export of hyperfine holds summaries only, no runs",
            "export with --export-json FILE instead",
        )
    data = json_of(opened)
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not results:
        raise fail(opened, "there is no result in the file", "export it again with --export-json")
    metadata = data.get("metadata")
    session = text_of(metadata.get("start_time")) if isinstance(metadata, dict) else None
    cells: list[ForeignCell] = []
    notes: list[Loss] = []
    means = False
    for k, one in enumerate(results):
        at = f"results[{k}]"
        if not isinstance(one, dict) or not isinstance(one.get("command"), str):
            raise fail(opened, "a result has no command", "is the file damaged?", at=at)
        if "measurements" in one:
            cells += _measured(opened, one, at, session, notes)
        else:
            cells += _listed(opened, one, at)
            means = True
    if not any(cell.values or cell.failed for cell in cells):
        raise fail(opened, "no command has a run", "measure again with --export-json")
    return ForeignFile(
        format="hyperfine",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the command",
        losses=tuple(_losses(means=means)),
        notes=tuple(notes),
    )


def _losses(*, means: bool) -> Iterator[Loss]:
    yield Loss(
        code="no-order",
        text="hyperfine executes one command after the other: what changed between them "
        "cannot be told from what the commands differ in",
    )
    yield Loss(code="no-sessions", text="all runs stem from one occasion")
    yield Loss(code="warm-ups-unknown", text="whether there were warm-up runs is not in the file")
    if means:
        text = "user and system times are means over all runs, so they are not read"
        yield Loss(code="cpu-time-means", text=text)


def _shared(opened: Opened, result: Mapping[str, Any]) -> dict[str, Any]:
    """Give what all cells of a command have in common."""
    parameters = result.get("parameters")
    found = {
        key: value.get("value") if isinstance(value, dict) else value
        for key, value in (parameters if isinstance(parameters, dict) else {}).items()
    }
    name = text_of(result.get("name"))  # since version 2, beside the command itself
    return {
        "benchmark": opened.stem,
        "variant": result["command"] if name is None else name,
        "known": True,
        "inner": 1,
        "keys": texts_of({"command": result["command"], "name": name}) | texts_of(found),
    }


def _listed(opened: Opened, result: Mapping[str, Any], at: str) -> Iterator[ForeignCell]:
    times = result.get("times")
    if not isinstance(times, list):
        raise fail(
            opened,
            "the result holds a summary only, no 'times'",
            "export with --export-json and without leaving the times out",
            at=at,
        )
    codes = result.get("exit_codes")
    told = codes is not None
    if not told:
        codes = [0] * len(times)
    if not isinstance(codes, list) or len(codes) != len(times):
        raise fail(
            opened, "there is not one exit code for each time", "is the file damaged?", at=at
        )
    good = [k for k, code in enumerate(codes) if _succeeded(code)]
    shared = _shared(opened, result) | {"failed": len(times) - len(good) if told else None}
    yield ForeignCell(
        processes=tuple((value_of(opened, times[k], f"{at}.times[{k}]"),) for k in good), **shared
    )
    memory = result.get("memory_usage_byte")
    if isinstance(memory, list) and len(memory) == len(times) and None not in memory:
        yield ForeignCell(
            metric="max_rss",
            unit="B",
            processes=tuple(
                (value_of(opened, memory[k], f"{at}.memory_usage_byte[{k}]"),) for k in good
            ),
            **shared,
        )


def _measured(
    opened: Opened, result: Mapping[str, Any], at: str, session: str | None, notes: list[Loss]
) -> Iterator[ForeignCell]:
    """Give a cell for each metric that every run has."""
    given = result["measurements"]
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise fail(opened, "the measurements are no list of runs", "is the file damaged?", at=at)
    runs: list[dict[str, Any]] = given
    told = any("exit_code" in run for run in runs)
    good = [k for k, run in enumerate(runs) if not told or _succeeded(run.get("exit_code"))]
    shared = _shared(opened, result) | {
        "failed": len(runs) - len(good) if told else None,
        "session": session,
    }
    others = dict.fromkeys(key for k in good for key in runs[k] if key not in _NO_METRICS)
    for key in ("time_wall_clock", *others):
        values, unit = [], ""
        for k in good:
            where = f"{at}.measurements[{k}].{key}"
            found = runs[k].get(key)
            if not isinstance(found, dict):
                break
            factor, unit = in_base_unit(text_of(found.get("unit")) or "")
            values.append((value_of(opened, found.get("value"), where, factor=factor),))
        if len(values) < len(good):
            if key == "time_wall_clock":
                raise fail(opened, "a run has no wall-clock time", "is the file damaged?", at=where)
            text = f"{key!r} of {shared['variant']!r} is left out: not every run has it"
            notes.append(Loss(code="left-out", text=text))
            continue
        metric, better = _METRICS.get(key, (key, None))
        unit = unit or ("s" if metric == "time" else "")
        yield ForeignCell(
            metric=metric, unit=unit, better=better, processes=tuple(values), **shared
        )


def _succeeded(code: object) -> bool:
    return code == 0 and not isinstance(code, bool)
