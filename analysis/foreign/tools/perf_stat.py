"""perf stat: ``-x`` fields and ``-j`` objects, one total or mean for each event; ``--table`` has runs.

Without ``--table`` there are no runs, only means of ``-r`` repetitions: one value for each event, and
that is said. ``<not supported>`` and ``<not counted>`` are no values. Less than 100 % of the time
counted means an estimate (multiplexed events).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, in_base_unit, value_of

__all__ = ["knows", "read"]

_NO_VALUE = ("<not supported>", "<not counted>")
_EVENT = re.compile(r"^[A-Za-z][\w:./=\-]*$")
_TABLE = re.compile(r"^\s*([0-9][0-9.,]*) \(([-+][0-9.,]+)\)\s*#*")
_COMMAND = re.compile(r"Performance counter stats for '(.+)'")


@dataclass(slots=True)
class _Counter:
    event: str
    value: float
    unit: str
    deviation: str
    share: float | None


def knows(opened: Opened) -> bool:
    """Tell by an event's fields, by the keys of an object, or by the heading of the text output."""
    head = opened.head()
    if '"counter-value"' in head and '"event"' in head:
        return True
    if "Performance counter stats for" in head:
        return True
    return any(_separator(line) is not None for line in head.split("\n")[:40])


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each event, or for the elapsed times of ``--table``.

    Raises
    ------
    AnalysisError
        If a line is damaged, or the text holds no runs.
    """
    head = opened.head()
    if (
        "Performance counter stats for" in head
        and "# Table of individual measurements" in opened.text()
    ):
        return _of_table(opened)
    if "Performance counter stats for" in head:
        raise fail(
            opened,
            "perf's text output holds a mean, no runs",
            "add --table to 'perf stat -r N', or measure the runs with 'fairtrial run'",
        )
    counters = list(_of_objects(opened) if '"counter-value"' in head else _of_fields(opened))
    if not counters:
        raise fail(opened, "no event was counted", "does this machine count events (perf list)?")
    repeated = any(one.deviation for one in counters)
    return ForeignFile(
        format="perf-stat",
        source=opened.source,
        cells=tuple(_cells(opened, counters)),
        losses=(
            Loss(
                code="no-runs",
                text="one value for each event"
                + (", the mean of the repetitions" if repeated else "")
                + ": single runs are not in the file, and nothing can be said of their variation "
                "(perf stat -r N --table keeps the elapsed times)",
            ),
        ),
        notes=tuple(_estimated(counters)),
    )


def _estimated(counters: list[_Counter]) -> Iterator[Loss]:
    named = [one.event for one in counters if one.share is not None and one.share < 99.995]
    if named:
        yield Loss(
            code="multiplexed",
            text=f"estimated from a part of the time: {', '.join(dict.fromkeys(named))}",
        )


def _cells(opened: Opened, counters: list[_Counter]) -> Iterator[ForeignCell]:
    grouped: dict[tuple[str, str], list[float]] = {}
    for one in counters:
        grouped.setdefault((one.event, one.unit), []).append(one.value)
    for (event, unit), values in grouped.items():
        factor, base = in_base_unit(unit)
        yield ForeignCell(
            benchmark=opened.stem,
            metric=event,
            unit=base,
            better="lower" if base == "s" else None,
            processes=tuple((value * factor,) for value in values),
            known=False,
            keys={"event": event},
        )


def _separator(line: str) -> str | None:
    """Find the field separator of a ``-x`` line: what stands between value, unit and event."""
    for separator in (",", ";", "\t", "|", ":"):
        parts = line.strip().split(separator)
        if len(parts) < 5:
            continue
        if _place([part.strip() for part in parts]) is not None:
            return separator
    return None


def _place(parts: list[str]) -> int | None:
    """Find the value that unit and event follow: a time (-I) or a CPU (-A) may stand before it."""
    for k in range(min(4, len(parts) - 2)):
        value, unit, event = parts[k : k + 3]
        counted = _is_value(value) or value in _NO_VALUE
        if counted and not (_is_value(unit) or unit in _NO_VALUE) and _EVENT.match(event):
            rest = [part for part in parts[k + 3 :] if not part.endswith("%")]
            # how long it was counted, and the share of the time
            if len(rest) >= 2 and rest[0].isdigit() and _is_value(rest[1]):
                return k
    return None


def _is_value(text: str) -> bool:
    return re.fullmatch(r"[0-9]+([.,][0-9]+)?", text) is not None


def _of_fields(opened: Opened) -> Iterator[_Counter]:
    separator = None
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = separator or _separator(line)
        if separator is None:
            continue
        parts = [part.strip() for part in line.split(separator)]
        place = _place(parts)
        if place is None:
            raise fail(
                opened,
                "the line has no value, unit and event",
                "is the decimal comma also the separator? use 'perf stat -x ;'",
                at=f"{number}",
            )
        value, unit, event = parts[place : place + 3]
        if value in _NO_VALUE:
            continue
        rest = parts[place + 3 :]
        deviation = rest.pop(0) if rest and rest[0].endswith("%") else ""
        share = _number(rest[1]) if len(rest) > 1 else None
        yield _Counter(event, value_of(opened, _number(value), f"{number}"), unit, deviation, share)


def _of_objects(opened: Opened) -> Iterator[_Counter]:
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            data = json.loads(line)
            value, event, unit = str(data["counter-value"]), str(data["event"]), str(data["unit"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise fail(
                opened, "the line is no counter's object", "is the file cut off?", at=f"{number}"
            ) from None
        if value in _NO_VALUE:
            continue
        share = data.get("pcnt-running")
        yield _Counter(
            event=event,
            value=value_of(opened, _number(value), f"{number}"),
            unit=unit,
            deviation=str(data.get("variance", "")),
            share=_number(str(share)) if isinstance(share, (int, float)) else None,
        )


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ".").rstrip("%"))
    except ValueError:
        return None


def _of_table(opened: Opened) -> ForeignFile:
    text = opened.text()
    values, inside = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if "Table of individual measurements" in line:
            inside = True
        elif inside and (match := _TABLE.match(line)):
            values.append(value_of(opened, _number(match[1]), f"{number}"))
    command = _COMMAND.search(text)
    name = command[1] if command else opened.stem
    if not values:
        raise fail(opened, "the table of measurements is empty", "use 'perf stat -r N --table'")
    return ForeignFile(
        format="perf-stat",
        source=opened.source,
        cells=(
            ForeignCell(
                benchmark=name,
                processes=tuple((value,) for value in values),
                known=True,
                inner=1,
                keys={"command": name},
            ),
        ),
        losses=(Loss(code="failed-unknown", text="failed runs are not told apart in the table"),),
    )
