"""Text that tools print: what perf stat counts, and the logs of JMH and of Renaissance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..data.number_text import number_in
from ..data.opening import Opened
from ..pages.model import Caution
from ..pages.number_format import listed
from .parsing import (
    FORMATS,
    ForeignCell,
    ForeignFile,
    base_of,
    foreign_file,
    in_base_unit,
    number_or_text,
)

_STATS = "Performance counter stats for"
_TABLE_HEAD = "Table of individual measurements"
_TABLE = re.compile(r"^\s*([0-9][0-9.,]*) \(([-+][0-9.,]+)\)\s*#*")
_COMMAND = re.compile(rf"{_STATS} (?:'(.+)'|(.+?))(?: \(\d+ runs\))?:?\s*$")
_PLACE = re.compile(r"^(?:CPU\d+|[SDCN]\d+(?:-[A-Z]+\d+)*)$")
_COMMA = re.compile(r"(:\s*\d+),(\d+)(?=\s*[,}])")
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_NO_VALUE = "<not (?:supported|counted)>"
_LONGEST = 4096  # characters of a command that are its name
_WHERE = ("cpu", "core", "cache", "cluster", "die", "socket", "node", "thread", "cgroup")


def _fields(sign: str) -> re.Pattern[str]:
    """Match a time (-I) or a CPU (-A), value, unit, event, group (-G), deviation (-r), and what was counted of the time."""
    number = f"[0-9]++(?:[{'.' if sign == ',' else '.,'}][0-9]++)?"
    value = rf"(?:{number}|{_NO_VALUE}) *+[{sign}]"
    return re.compile(
        rf" *+(?P<before>(?:[^{sign}]*+[{sign}]){{0,3}}?) *+(?P<value>{value})"
        rf" *+(?P<unit>(?!{value})[^{sign}]*+)[{sign}]"
        rf" *+(?P<event>[A-Za-z][\w./=\-{':' * (sign != ':')}]*+) *+[{sign}]"
        rf"(?:(?P<group>[^{sign}0-9 ][^{sign}]*+)[{sign}])?"
        rf"(?:(?P<deviation>[0-9]++(?:[.,][0-9]++)?%)[{sign}])?"
        rf" *+[0-9]++ *+[{sign}] *+(?P<share>{number}) *+(?:[{sign}]|$)"
    )


_FIELDS = {sign: _fields(sign) for sign in ",;\t|:"}


class _Counter(NamedTuple):
    event: str
    value: float
    unit: str
    deviation: str
    share: float | None
    where: str = ""
    interval: bool = False


def knows_perf_stat(opened: Opened) -> bool:
    """Tell by an event's fields, by the keys of an object, or by the heading of the text output."""
    head = opened.head()
    if _STATS in head or ('"counter-value"' in head and '"event"' in head):
        return True
    lines = [line for line in head.split("\n")[:40] if line.strip() and line[0] != "#"]
    signs = [_separator(line) for line in lines]
    first, found = next(((k, one) for k, one in enumerate(signs) if one is not None), (0, None))
    # a table of five columns and more has a line of headings above its rows
    above = lines[first - 1] if first else ""
    return found is not None and (above.count(found) < 4 or _is_metric(above, found))


def read_perf_stat(opened: Opened) -> ForeignFile:
    """Give a cell for each event, or for the elapsed times of ``--table``."""
    head = opened.head()
    if _STATS in head:
        return _of_table(opened)
    counters = list(_of_objects(opened) if '"counter-value"' in head else _of_fields(opened))
    if not counters:
        raise opened.fail("no event was counted", "does this machine count events (perf list)?")
    part = [one.event for one in counters if one.share is not None and one.share < 99.995]
    grouped: dict[tuple[str, str, str], list[float]] = {}
    for one in counters:
        grouped.setdefault((one.where, one.event, one.unit), []).append(one.value)
    cells = []
    for (where, event, unit), values in grouped.items():
        factor, base = in_base_unit(unit)
        cells.append(
            ForeignCell(
                benchmark=f"{opened.stem} {where}" if where else opened.stem,
                metric=event,
                unit=base,
                better="lower" if base == "s" else None,
                processes=tuple((opened.value(v, event, factor=factor),) for v in values),
                keys={"event": event} | ({"where": where} if where else {}),
            )
        )
    means = ", the mean of the repetitions" * any(one.deviation for one in counters)
    holding = {"multiplexed": part, "intervals": any(one.interval for one in counters)}
    texts = {"means": means, "events": ", ".join(dict.fromkeys(part))}
    return foreign_file("perf-stat", cells, holding, texts)


def _separator(line: str) -> str | None:
    return next((sign for sign, fields in _FIELDS.items() if fields.match(line.strip())), None)


def _is_metric(line: str, separator: str) -> bool:
    """Tell whether all fields before a metric are empty: it belongs to the event above."""
    parts = [part.strip() for part in line.split(separator)]
    return len(parts) > 5 and sum(not part for part in parts[:-2]) > 3


def _of_fields(opened: Opened) -> Iterator[_Counter]:
    separator = None
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = separator or _separator(line)
        # behind -I stands a summary: what the intervals add up to
        if separator is None or _is_metric(line, separator) or line.lstrip().startswith("summary"):
            continue
        found = _FIELDS[separator].match(line)
        before = [part.strip() for part in found["before"].split(separator)[:-1]] if found else []
        # ``0,49,msec``: what stands before is the whole part, not the number of CPUs behind their place; a time has decimals
        whole = separator == "," and before != [] and before[-1].isdecimal()
        if found is None or (whole and (len(before) == 1 or not _PLACE.match(before[-2]))):
            fix = "use 'perf stat -x ;' (numbers and events may contain commas)"
            what = "the decimal comma is also the separator"
            what = what if found else "the line has no value, unit and event"
            raise opened.fail(what, fix, at=f"{number}")
        value = found["value"].strip(f"{separator} ")
        if not re.fullmatch(_NO_VALUE, value):
            # a place, or a thread of --per-thread; numbers are a time, or how many CPUs there are
            places = [part for part in before if part and not re.fullmatch(_NUMBER, part)]
            yield _Counter(
                found["event"],
                opened.value(_number(value), f"{number}"),
                found["unit"].strip(),
                found["deviation"] or "",
                number_in(found["share"].replace(",", ".")),
                next(iter(places), found["group"] or ""),
                interval=bool(before) and re.fullmatch(_NUMBER, before[0]) is not None,
            )


def _of_objects(opened: Opened) -> Iterator[_Counter]:
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            data = json.loads(_COMMA.sub(r"\1.\2", line))  # some locales' commas
            if "counter-value" not in data and "metric-unit" in data:
                continue  # a further metric of the event above
            value, event = str(data["counter-value"]), str(data["event"])
            share = data.get("pcnt-running")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            what = "the line is not the object of a counter"
            raise opened.fail(what, "is the file cut off?", at=f"{number}") from None
        if not re.fullmatch(_NO_VALUE, value):
            yield _Counter(
                event,
                opened.value(_number(value), f"{number}"),
                str(data.get("unit", "")),
                str(data.get("variance", "")),
                float(share) if isinstance(share, (int, float)) else None,
                " ".join(f"{key} {data[key]}" for key in _WHERE if data.get(key) is not None),
                interval="interval" in data,
            )


def _number(text: str) -> float | str:
    return number_or_text(text.replace(",", ".").rstrip("%"))


def _of_table(opened: Opened) -> ForeignFile:
    """Read the elapsed times of each command; other counters are means."""
    found: list[tuple[str, list[float]]] = []
    inside = False
    for number, line in enumerate(opened.text().split("\n"), 1):
        if _STATS in line:
            command = _COMMAND.search(line[:_LONGEST])
            found.append(((command[1] or command[2]) if command else opened.stem, []))
            inside = False
        elif _TABLE_HEAD in line or "Final result" in line:
            inside = _TABLE_HEAD in line
        elif inside and found and (match := _TABLE.match(line)):
            found[-1][1].append(opened.value(_number(match[1]), f"{number}"))
    fix = "add --table to 'perf stat -r N', or measure the runs with 'fairtrial run'"
    cells = [
        ForeignCell(
            benchmark=name,
            processes=tuple((value,) for value in values),
            known=True,
            inner=1,
            keys={"command": name},
        )
        for name, values in found
        if values
    ]
    opened.require(cells != [], "perf's text output holds a mean, no runs", fix, at="")
    return foreign_file("perf-stat-table", cells)


# --- Logs in which every iteration stands.


_BEFORE = r"^(?:\d{4}-\d\d-\d\d[T ][\d:.]+Z? )?(?:\[info\] )?"
_SAID = re.compile(rf"{_BEFORE}# ([A-Z][A-Za-z ]*): +(.*)$")
_ITERATION = re.compile(rf"{_BEFORE}(# Warmup )?Iteration +(\d+): +(.*)$")
_VALUE = re.compile(
    r"^(?:\(\*interrupt\*\) +)?(?:n = \d+, mean = )?(\d+)(?:[.,](\d+))?(?: ±\([\d.,]+%\) [\d.,]+)? ([^\s,]+)(?:$|, p)"
)
_FIX = "execute JMH with -rf json -rff FILE: it keeps all digits"
_FORK = re.compile(r"\d{1,6} of (\d{1,6})$")
_KEYS = {"JMH version": "jmhVersion", "VM version": "vmVersion", "Benchmark mode": "mode"}
_DEFINING = ("Threads", "Measurement", "VM options")


@dataclass(slots=True)
class _Measured:
    """A benchmark of JMH: what stands above it, and the values of its forks."""

    lines: dict[str, str]
    forks: list[list[float]] = field(default_factory=list)
    planned: int = 1
    warmups: int = 0
    unit: str = ""
    left: str = ""  # a value without digits, for which it is left out

    @property
    def parameters(self) -> dict[str, str]:
        settings = re.split(r", (?=[\w.]+ = )", self.lines.get("Parameters", "").strip("()"))
        return dict(text.split(" = ", 1) for text in settings if " = " in text)

    @property
    def name(self) -> str:
        settings = (f"{key}={text}" for key, text in self.parameters.items())
        return " ".join([self.lines["Benchmark"], *settings])


def read_jmh_log(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, mode and set of parameters."""
    found: list[_Measured] = []
    texts: dict[str, str] = {}
    counted = True
    for number, line in enumerate(opened.text().split("\n"), 1):
        if words := _SAID.match(line):
            texts[words[1]] = words[2].strip()
            if words[1] == "Benchmark":
                texts.pop("Parameters", None)
                found.append(_Measured(texts))
            counted = words[1] != "Warmup Fork" and (counted or words[1] == "Fork")
            if words[1] == "Fork" and found:
                found[-1].lines = dict(texts)
                found[-1].forks.append([])
                found[-1].planned = int(of[1]) if (of := _FORK.match(words[2])) else 0
        elif (words := _ITERATION.match(line)) and found and found[-1].forks and counted:
            found[-1].warmups += words[1] is not None
            if words[1] is None and words[3] != "<failure>":
                _add(opened, found[-1], words[3], number)
    cells = [_cell(one) for one in found if one.forks and not one.left]
    left = [f"{one.name!r}: {one.left}" for one in found if one.left]
    if not any(cell.values for cell in cells):
        what = f", {left[0]}" if left else ""
        raise opened.fail(f"no iteration in the log has a value{what}", _FIX)
    alone = sum(one.planned == 0 for one in found)
    forks = ((cell, len(cell.processes), cell.failed or 0) for cell in cells)
    missing = (f"{of.benchmark!r} has {n} of its {n + k} forks" for of, n, k in forks if k)
    notes = [Caution("forks-missing", text) for text in missing]
    notes += [Caution("left-out", f"left out: {listed(left, 3)} ({_FIX})")] * bool(left)
    about = {"alone": alone, "results": len(found)}
    return foreign_file("jmh-log", cells, {"one-process": alone}, about, notes=notes)


def _add(opened: Opened, to: _Measured, text: str, number: int) -> None:
    match = _VALUE.match(text)
    if match is None:
        to.left = to.left or f"line {number} has no digits, {text}"
        return
    factor, to.unit = base_of(match[3])
    digits = number_or_text(f"{match[1]}.{match[2] or 0}")
    to.forks[-1].append(opened.value(digits, f"{number}", factor=factor))


def _cell(one: _Measured) -> ForeignCell:
    mode = one.lines.get("Benchmark mode", "").partition(",")[0]
    metric, better = FORMATS["jmh"].get(mode, (mode or "value", None))
    forks = {f"{mode} {k}": tuple(values) for k, values in enumerate(one.forks, 1) if values}
    return ForeignCell(
        benchmark=one.name,
        metric=metric,
        unit=one.unit,
        better=better,
        processes=tuple(forks.values()),
        labels=tuple(forks),
        known=True,
        warmups=one.warmups,
        failed=max(1, one.planned, len(one.forks)) - len(forks),
        keys=one.parameters
        | {ours: one.lines[key] for key, ours in _KEYS.items() if key in one.lines}
        | {"benchmark": one.lines["Benchmark"]},
        definition=", ".join(f"{key}={one.lines[key]}" for key in _DEFINING if key in one.lines),
    )


_COMPLETED = re.compile(
    rf"{_BEFORE}=+ (\S+) \(([^()]*)\)(?: \[([^\[\]]*)\])?, iteration (\d{{1,9}}) completed \(([\d.,]+) ms\)"
)


def read_renaissance_log(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and configuration."""
    runs: dict[tuple[str, str, str], list[list[float]]] = {}
    last: dict[tuple[str, str, str], int] = {}
    for number, line in enumerate(opened.text().split("\n"), 1):
        if found := _COMPLETED.match(line):
            key, k = (found[1], found[2], found[3] or "default"), int(found[4])
            if k <= last.get(key, k):
                runs.setdefault(key, []).append([])
            last[key] = k
            value = number_or_text(found[5].replace(",", "."))
            runs[key][-1].append(opened.value(value, f"{number}", factor=1e-3))
    if not runs:
        raise opened.fail("no iteration stands in the log", "is it of Renaissance?")
    cells = [
        ForeignCell(
            benchmark=name if configuration == "default" else f"{name} [{configuration}]",
            processes=tuple(map(tuple, processes)),
            known=True,
            keys={"benchmark": name, "group": group, "configuration": configuration},
        )
        for (name, group, configuration), processes in runs.items()
    ]
    alone = all(len(one) == 1 for one in runs.values())
    return foreign_file("renaissance-log", cells, {"one-process": alone})
