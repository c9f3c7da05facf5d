"""What perf stat counts.

Without ``--table`` there are no runs, only means of ``-r`` repetitions: one value for each event, and
that is said. ``<not supported>`` and ``<not counted>`` are no values. Less than 100 % of the time
counted means an estimate (multiplexed events). ``-A`` counts each CPU, ``--per-thread`` each thread: each
is a benchmark of its own here; the intervals of ``-I`` are parts of one run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    in_base_unit,
    number_or_text,
)

if TYPE_CHECKING:
    from ..data.opening import Opened

_NO_VALUE = ("<not supported>", "<not counted>")
_EVENT = re.compile(r"^[A-Za-z][\w:./=\-]*$")
_TABLE = re.compile(r"^\s*([0-9][0-9.,]*) \(([-+][0-9.,]+)\)\s*#*")
_STATS = "Performance counter stats for"
_TABLE_HEAD = "Table of individual measurements"
_COMMAND = re.compile(rf"{_STATS} (?:'(.+)'|(.+?))(?: \(\d+ runs\))?:?\s*$")
_PLACE = re.compile(r"^(?:CPU\d+|[SDCN]\d+(?:-[A-Z]+\d+)*)$")
_COMMA = re.compile(r"(:\s*\d+),(\d+)(?=\s*[,}])")
_LONGEST = 4096  # characters of a command that are its name
_WHERE = ("cpu", "core", "cache", "cluster", "die", "socket", "node", "thread", "cgroup")


@dataclass(slots=True)
class _Counter:
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
    if '"counter-value"' in head and '"event"' in head:
        return True
    if _STATS in head:
        return True
    lines = [line for line in head.split("\n")[:40] if line.strip() and line[0] != "#"]
    found = next((sep for line in lines if (sep := _separator(line)) is not None), None)
    # a table of five columns and more has a line of headings
    return found is not None and (
        lines[0].count(found) < 4 or _separator(lines[0]) is not None or _is_metric(lines[0], found)
    )


def read_perf_stat(opened: Opened) -> ForeignFile:
    """Give a cell for each event, or for the elapsed times of ``--table``."""
    head = opened.head()
    if _STATS in head:
        return _of_table(opened)
    counters = list(_of_objects(opened) if '"counter-value"' in head else _of_fields(opened))
    if not counters:
        raise opened.fail("no event was counted", "does this machine count events (perf list)?")
    repeated = any(one.deviation for one in counters)
    part = [one.event for one in counters if one.share is not None and one.share < 99.995]
    return ForeignFile(
        cells=tuple(_cells(opened, counters)),
        losses=cautions_of(
            {
                "single": "one value for each event"
                + (", the mean of the repetitions" if repeated else "")
                + ": single runs are not in the file, so their variation is unknown "
                "(perf stat -r N --table keeps the elapsed times)",
            }
        ),
        notes=cautions_of(
            {
                "multiplexed": part != []
                and f"estimated from a part of the time: {', '.join(dict.fromkeys(part))}",
                "intervals": any(one.interval for one in counters)
                and "the values are intervals of one run (-I), not runs: they say nothing of the "
                "variation between runs",
            }
        ),
    )


def _cells(opened: Opened, counters: list[_Counter]) -> Iterator[ForeignCell]:
    grouped: dict[tuple[str, str, str], list[float]] = {}
    for one in counters:
        grouped.setdefault((one.where, one.event, one.unit), []).append(one.value)
    for (where, event, unit), values in grouped.items():
        factor, base = in_base_unit(unit)
        yield ForeignCell(
            benchmark=f"{opened.stem} {where}" if where else opened.stem,
            metric=event,
            unit=base,
            better="lower" if base == "s" else None,
            processes=tuple((opened.value(value, event, factor=factor),) for value in values),
            known=False,
            keys={"event": event} | ({"where": where} if where else {}),
        )


def _separator(line: str) -> str | None:
    """Find the field separator of a ``-x`` line: what stands between value, unit and event."""
    for separator in (",", ";", "\t", "|", ":"):
        parts = [part.strip() for part in line.strip().split(separator)]
        if len(parts) > 4 and _place(parts) is not None:
            return separator
    return None


def _place(parts: list[str]) -> int | None:
    """Find the value that unit and event follow: a time (-I) or a CPU (-A) may stand before it."""
    for k in range(min(4, len(parts) - 2)):
        value, unit, event = parts[k : k + 3]
        counted = _is_value(value) or value in _NO_VALUE
        if counted and not (_is_value(unit) or unit in _NO_VALUE) and _EVENT.match(event):
            _, rest, _ = _behind(parts[k + 3 :])
            rest = [part for part in rest if not part.endswith("%")]
            # how long it was counted, and the share of the time
            if len(rest) >= 2 and rest[0].isdecimal() and _is_value(rest[1]):
                return k
    return None


def _behind(parts: list[str]) -> tuple[str, list[str], str]:
    """Part what follows an event into the deviation of -r, the rest, and the group of -G."""
    deviation, group = "", ""
    if len(parts) > 1 and parts[0] and not parts[0][0].isdecimal():
        group, *parts = parts
    if parts and parts[0].endswith("%"):
        deviation, *parts = parts
    return deviation, parts, group


def _is_metric(line: str, separator: str) -> bool:
    """Tell whether all fields before a metric are empty: it belongs to the event above."""
    parts = [part.strip() for part in line.split(separator)]
    return len(parts) > 5 and sum(not part for part in parts[:-2]) > 3


def _is_value(text: str) -> bool:
    return re.fullmatch(r"[0-9]+([.,][0-9]+)?", text, re.ASCII) is not None


def _of_fields(opened: Opened) -> Iterator[_Counter]:
    separator = None
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = separator or _separator(line)
        if separator is None or _is_metric(line, separator):
            continue
        parts = [part.strip() for part in line.split(separator)]
        if parts[0] == "summary":  # of -I: what the intervals add up to
            continue
        place = _place(parts)
        if place is None or _has_decimal_commas(parts[:place], separator):
            raise opened.fail(
                "the line has no value, unit and event"
                if place is None
                else "the decimal comma is also the separator",
                "use 'perf stat -x ;' (numbers and events may contain commas)",
                at=f"{number}",
            )
        value, unit, event = parts[place : place + 3]
        if value in _NO_VALUE:
            continue
        deviation, rest, group = _behind(parts[place + 3 :])
        # a place, or a thread of --per-thread; numbers are a time, or how many CPUs there are
        where = next((part for part in parts[:place] if part and not _is_value(part)), group)
        yield _Counter(
            event,
            opened.value(_number(value), f"{number}"),
            unit,
            deviation,
            _share(rest[1]) if len(rest) > 1 else None,
            where,
            interval=place > 0 and _is_value(parts[0]),
        )


def _has_decimal_commas(before: list[str], separator: str) -> bool:
    """Tell whether what stands before a value is its whole part, as in ``0,49,msec``.

    A time (-I) has decimals, and the number of CPUs put together stands behind their place.
    """
    if separator != "," or not before or not before[-1].isdecimal():
        return False
    return len(before) == 1 or not _PLACE.match(before[-2])


def _of_objects(opened: Opened) -> Iterator[_Counter]:
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            data = json.loads(_COMMA.sub(r"\1.\2", line))  # some locales' commas
            if "counter-value" not in data and "metric-unit" in data:
                continue  # a further metric of the event above
            value, event = str(data["counter-value"]), str(data["event"])
            unit = str(data.get("unit", ""))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise opened.fail(
                "the line is not the object of a counter", "is the file cut off?", at=f"{number}"
            ) from None
        if value in _NO_VALUE:
            continue
        share = data.get("pcnt-running")
        yield _Counter(
            event=event,
            value=opened.value(_number(value), f"{number}"),
            unit=unit,
            deviation=str(data.get("variance", "")),
            share=_share(str(share)) if isinstance(share, (int, float)) else None,
            where=" ".join(f"{key} {data[key]}" for key in _WHERE if data.get(key) is not None),
            interval="interval" in data,
        )


def _number(text: str) -> float | str:
    return number_or_text(text.replace(",", ".").rstrip("%"))


def _share(text: str) -> float | None:
    return share if isinstance(share := _number(text), float) else None


def _of_table(opened: Opened) -> ForeignFile:
    """Read the elapsed times of each command; other counters are means."""
    found: list[tuple[str, list[float]]] = []
    inside = False
    for number, line in enumerate(opened.text().split("\n"), 1):
        if _STATS in line:
            command = _COMMAND.search(line[:_LONGEST])
            found.append(((command[1] or command[2]) if command else opened.stem, []))
            inside = False
        elif _TABLE_HEAD in line:
            inside = True
        elif "Final result" in line:
            inside = False
        elif inside and found and (match := _TABLE.match(line)):
            found[-1][1].append(opened.value(_number(match[1]), f"{number}"))
    if not any(values for _, values in found):
        raise opened.fail(
            "perf's text output holds a mean, no runs",
            "add --table to 'perf stat -r N', or measure the runs with 'fairtrial run'",
        )
    return ForeignFile(
        cells=tuple(
            ForeignCell(
                benchmark=name,
                processes=tuple((value,) for value in values),
                known=True,
                inner=1,
                keys={"command": name},
            )
            for name, values in found
            if values
        ),
        losses=cautions_of(
            {
                "failed-unknown": "failed runs are not told apart in the table",
                "means-of-counters": "counters other than the elapsed time are means of all runs, "
                "and left out",
            }
        ),
    )
