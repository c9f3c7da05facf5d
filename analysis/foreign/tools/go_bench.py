"""What ``go test -bench`` prints, as text or as ``-json`` events: each value a mean over N operations.

A test binary is one process for all its benchmarks and all of ``-count``: a head (``goos:``, ``pkg:``)
or an end (``PASS``, ``ok``) begins the next one. Where there are none, processes are unknown. Lines of one benchmark repeat with ``-count``. Prints of the program may split a line, or stand before
it. Whether a name's ending ``-8`` is GOMAXPROCS or part of the name cannot be told from the name: it is
cut only where every benchmark of the file has the same one, and kept where they differ (``-cpu``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["knows", "read"]

_NUMBER = r"[-+]?(?:[0-9][0-9_]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?|NaN|[-+]?Inf)"
_RESULT = re.compile(rf"^(Benchmark\S*)?\s*(\d+)((?:\s+{_NUMBER}\s+\S+)+)\s*$")
_PAIR = re.compile(rf"({_NUMBER})\s+(\S+)")
_NAME = re.compile(r"(?:^|\s)(Benchmark[^\s]*)\s*$")
_ABOUT = re.compile(r"^(goos|goarch|pkg|cpu|commit|branch|toolchain|[a-z][\w-]*):\s+(\S.*)$")
_STAMP = re.compile(r"^\s*\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^\s\]]*\]?\s+")
_EDGE = re.compile(r"^(goos: |pkg: |PASS$|FAIL$|ok  ?\t?)")
_PROCS = re.compile(r"-(\d+)$")
_METRICS: Mapping[str, tuple[str, str, float, Better | None]] = {
    "ns/op": ("time", "s", 1e-9, "lower"),
    "B/op": ("B/op", "B/op", 1.0, "lower"),
    "allocs/op": ("allocs/op", "allocs/op", 1.0, "lower"),
    "MB/s": ("MB/s", "MB/s", 1.0, "higher"),
}


@dataclass(slots=True)
class _Line:
    name: str
    count: int
    process: int
    pairs: list[tuple[float, str]]
    about: dict[str, str] = field(default_factory=dict)


def knows(opened: Opened) -> bool:
    """Tell by a result line, or by the events of ``-json``."""
    head = opened.head()
    if head.lstrip().startswith("{"):
        return '"Action"' in head and '"Output"' in head
    return any(
        _RESULT.match(_STAMP.sub("", line)) and "Benchmark" in line for line in head.split("\n")
    ) or (re.search(r"^Benchmark\S+\s", head, re.MULTILINE) is not None and "goos:" in head)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and unit.

    Raises
    ------
    AnalysisError
        If no line is a result, or an event is damaged.
    """
    text = opened.text()
    lines = _of_events(opened, text) if text.lstrip().startswith("{") else text.split("\n")
    failed: list[str] = []
    found = list(_results(opened, lines, failed))
    if not found:
        raise fail(opened, "there is no result line in the file", "was it 'go test -bench .'?")
    procs = _common_procs([line.name for line in found])
    cells = tuple(_cells(found, procs))
    counts = [line.count for line in found]
    low, high = min(counts), max(counts)
    told = f"{low}" if low == high else f"{low} to {high}"
    keys = [key for key in ("variant", "commit") if any(key in line.about for line in found)]
    return ForeignFile(
        format="go-bench",
        source=opened.source,
        cells=cells,
        variant_rule=f"the key {keys[0]!r}" if keys else "the file's name",
        losses=(
            Loss(
                code="means-of-operations",
                text=f"means of {told} operations each: single operations cannot be seen",
            ),
            *_of_processes(cells),
            Loss(code="warm-ups-unknown", text="warm-up iterations are not in the file"),
        ),
        notes=(
            (
                Loss(
                    code="failed-benchmarks",
                    text=f"failed, and without values: {', '.join(failed[:8])}",
                ),
            )
            if failed
            else ()
        ),
        facts={"cpu_model": found[0].about["cpu"]} if "cpu" in found[0].about else {},
    )


def _of_processes(cells: tuple[ForeignCell, ...]) -> Iterator[Loss]:
    if not all(cell.known for cell in cells):
        yield Loss(
            code="processes-unknown",
            text="which values stem from one process is not in the file; -count repeats within one",
        )
    elif max(len(cell.processes) for cell in cells) == 1:
        yield Loss(
            code="one-process",
            text="all values of a benchmark stem from one process: variation between processes cannot "
            "be estimated",
        )


def _of_events(opened: Opened, text: str) -> list[str]:
    """Put the output of each package together; a line may be split over several events."""
    outputs: dict[tuple[str, str], list[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except ValueError:
            raise fail(
                opened, "the line is no JSON event", "is the file cut off?", at=f"{number}"
            ) from None
        if not isinstance(event, dict):
            raise fail(opened, "the line is no event", "is it 'go test -json'?", at=f"{number}")
        if event.get("Action") == "output" and isinstance(event.get("Output"), str):
            package = str(event.get("Package", ""))
            outputs.setdefault((package, ""), []).append(event["Output"])
    lines = []
    for (package, _), parts in outputs.items():
        whole = "".join(parts)
        if package and not re.search(r"^pkg:", whole, re.MULTILINE):
            lines.append(f"pkg: {package}")
        lines += whole.split("\n")
    return lines


def _results(opened: Opened, lines: list[str], failed: list[str]) -> Iterator[_Line]:
    about: dict[str, str] = {}
    process, used = 0, False  # `used` once the process has printed a result
    waiting = ""  # a name whose numbers stand in a later line: the program printed between them
    for number, raw in enumerate(lines, 1):
        line = _STAMP.sub("", raw).rstrip()
        if _EDGE.match(line) and (used or not process):
            process, used = process + 1, False
        if line.startswith("--- FAIL: Benchmark"):
            failed.append(line.split()[2])
            waiting = ""
            continue
        if (told := _ABOUT.match(line)) is not None:
            about = about | {told[1]: told[2].strip()}
            continue
        place = line.rfind("Benchmark")
        match = _RESULT.match(line) if place <= 0 or line.startswith("Benchmark") else None
        if (
            match is None and place > 0
        ):  # a name may hold the word too, so the whole line comes first
            match = _RESULT.match(line[place:])
        if match is None:
            name = _NAME.search(line) if place >= 0 else None
            if name is not None:
                waiting = name[1]
            elif place == 0:
                waiting = line.split()[0]
            continue
        name_of = match[1] or waiting
        if not name_of:
            continue
        waiting, used = "", True
        pairs = [
            (value_of(opened, _float(value), f"{number}"), unit)
            for value, unit in _PAIR.findall(match[3])
        ]
        yield _Line(
            name=name_of, count=int(match[2]), process=process, pairs=pairs, about=dict(about)
        )


def _float(text: str) -> float:
    return float(text.replace("_", ""))


def _metric(unit: str) -> tuple[str, str, float, Better | None]:
    if unit not in _METRICS and unit.endswith("-ns/op"):  # a time of the benchmark's own
        return unit, "s", 1e-9, "lower"
    return _METRICS.get(unit, (unit, unit, 1.0, None))


def _common_procs(names: list[str]) -> str:
    """Give the ending that every name has, such as ``-8``; "" where they differ."""
    endings = {found[0] if (found := _PROCS.search(name)) else "" for name in names}
    return endings.pop() if len(endings) == 1 else ""


def _cells(lines: list[_Line], procs: str) -> Iterator[ForeignCell]:
    packages = {line.about.get("pkg", "") for line in lines}
    grouped: dict[tuple[str, str, str, str], list[_Line]] = {}
    for line in lines:
        name = line.name.removesuffix(procs) if procs else line.name
        package = line.about.get("pkg", "") if len(packages) > 1 else ""
        for unit in dict.fromkeys(unit for _, unit in line.pairs):
            key = (package, name, line.about.get("variant", line.about.get("commit", "")), unit)
            grouped.setdefault(key, []).append(line)
    ordered = sorted(grouped.items(), key=lambda item: item[0][3] != "ns/op")
    for (package, name, commit, unit), mine in ordered:
        metric, base, factor, better = _metric(unit)
        processes: dict[int, list[float]] = {}
        for line in mine:
            processes.setdefault(line.process, []).extend(
                value * factor for value, of in line.pairs if of == unit
            )
        keys = dict(mine[0].about)
        if procs:
            keys["procs"] = procs[1:]
        yield ForeignCell(
            benchmark=f"{package}.{name}" if package else name,
            variant=commit or None,
            metric=metric,
            unit=base,
            better=better,
            processes=tuple(map(tuple, processes.values())),
            known=all(line.process for line in mine),
            inner=max(line.count for line in mine),
            keys=keys | {"name": name},
        )
