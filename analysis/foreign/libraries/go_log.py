"""The lines that ``go test -bench`` prints, gone over once: results by configuration and process.

Prints of the program may split a line, or stand before it; ``-json`` puts lines into events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf

from ...record import Better
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["EVENT", "Failed", "Log", "Part", "lines_of_events", "log_of", "tidy"]

_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+,[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?|NaN|Inf)$")
EVENT = re.compile(r'^[^{"]{0,200}\{ ?(?:"[A-Z]\w*": ?"[^"]*", ?){0,4}"Action": ?"', re.MULTILINE)
_NAME = re.compile(r"(Benchmark[^\sa-z(:\"',;]\S*)(?=\s|$)")
_ABOUT = re.compile(r"^([a-z][^\sA-Z:]*):(?:\s+(\S.*))?$")
_UNIT = re.compile(r"^Unit\s+(\S+)\s+(?:.*\s)?better=(lower|higher)\b")
_STAMP = re.compile(
    r"^(?:[^\t]*\t[^\t]*\t)?\s*\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"(?:Z|[-+]\d\d:?\d\d)?\]?(?: \d\d[OE]\+?)?(?:\s+|$)"
)
_EDGE = re.compile(r"^(?:(goos: |pkg: )|PASS$|FAIL$|(?:ok|FAIL) *\t)")
_VERBOSE = re.compile(r"^\s*(?:=== [A-Z]+|--- (?:BENCH|SKIP|PASS):)\s")
_FAILED = re.compile(r"^\s*--- FAIL: (Benchmark\S*)")
_WORDS = 64  # of them pairs of value and unit


@dataclass(slots=True)
class Part:
    """The results under one configuration in one process.

    `told` says that a head or an end marks the process; `names` gives the values by name and unit.
    """

    about: dict[str, str]
    process: int
    told: bool
    names: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """A benchmark that failed, and the configuration in which it did."""

    name: str
    about: Mapping[str, str]


@dataclass(slots=True)
class Log:
    """What the whole output holds."""

    parts: list[Part] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    better: dict[str, Better] = field(default_factory=dict)
    ended: bool = False

    @property
    def abouts(self) -> list[Mapping[str, str]]:
        """The configurations of all that was measured, or failed."""
        return [part.about for part in self.parts if part.names] + [f.about for f in self.failed]


def lines_of_events(opened: Opened, text: str) -> list[str]:
    """Put the output of each package together; a line may be split over several events.

    Raises
    ------
    AnalysisError
        If a line is no event.
    """
    outputs: dict[str, list[str]] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw if raw.startswith("{") else _plain(raw)
        if not line.startswith("{"):  # what the compiler says of a package is no event
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise fail(
                opened, "the line is no JSON event", "is the file cut off?", at=f"{number}"
            ) from None
        if event.get("Action") == "output" and isinstance(event.get("Output"), str):
            outputs.setdefault(str(event.get("Package", "")), []).append(event["Output"])
    lines = []
    for package, parts in outputs.items():
        whole = "".join(parts)
        if package and not re.search(r"^pkg:", whole, re.MULTILINE):
            lines.append(f"pkg: {package}")
        lines += whole.replace("\r\n", "\n").split("\n")
    return lines


def log_of(opened: Opened, lines: Iterable[str]) -> Log:
    """Go over all lines; most of them are results that need no regular expression.

    Raises
    ------
    AnalysisError
        If a value of a result is negative, or no finite number.
    """
    log = Log()
    part = Part({}, 1, told=False)
    log.parts.append(part)
    waiting = ""  # a name whose numbers stand in a later line: the program printed between them
    for number, raw in enumerate(lines, 1):
        words = raw.split()
        if not words:
            continue
        if not (
            raw.startswith("Benchmark")
            and words[0] != "Benchmark"
            and len(words) > 3
            and not len(words) % 2
            and words[1].isdecimal()
            and _add(opened, part, words[0], words[1:], number)
        ):
            line = _plain(raw)
            found = _split_result(line, waiting)
            if found is not None:
                _add(opened, part, found[0], found[1], number)
                waiting = ""
                continue
            waiting = _begun(line, waiting)
            part = _other(log, part, line)
            continue
        waiting = ""
    return log


def _plain(line: str) -> str:
    """Take the time stamp of a continuous-integration log away."""
    return _STAMP.sub("", line).rstrip()


def _add(opened: Opened, part: Part, name: str, words: Sequence[str], number: int) -> bool:
    """Add a result line: N, then pairs of value and unit; false where it is none."""
    try:
        count = int(words[0])
        values = [float(word) for word in words[1::2]]
    except ValueError:
        grouped = next((word for word in words[1::2] if _GROUPED.fullmatch(word)), None)
        if grouped is not None and "ns/op" in words:
            raise fail(
                opened,
                f"{grouped!r} is no number as 'go test' writes it",
                "write it without commas, or copy the output again",
                at=f"{number}",
            ) from None
        return False
    row = part.names.get(name)
    if row is None:
        if any(unit[0].isdecimal() for unit in words[2::2]):
            return False
        row = part.names[name] = {}
    for value, unit in zip(values, words[2::2], strict=True):
        if not 0 <= value < inf:
            value_of(opened, value, f"{number}")
        column = row.get(unit)
        if column is None:
            row[unit] = [value]
        else:
            column.append(value)
    part.counts[name] = max(part.counts.get(name, 0), count)
    part.low = min(part.low, count) if part.low else count
    part.high = max(part.high, count)
    return True


def _split_result(line: str, waiting: str) -> tuple[str, list[str]] | None:
    """Find a result that prints of the program split, or that does not begin its line."""
    words = line.rsplit(None, _WORDS)
    start = len(words)
    while start > 2 and _NUMBER.match(words[start - 2]) and not words[start - 1][0].isdecimal():
        start -= 2
    if start == len(words) or _VERBOSE.match(line):
        return None
    tail = words[start:]
    first = line.rsplit(None, len(tail))[0]  # all before the pairs, which N ends
    before = first.rstrip("0123456789")
    count = first[len(before) :]
    if not count or first.rsplit(None, 1)[-1].startswith("Benchmark"):
        return None
    names = list(_NAME.finditer(before))
    begun = (names[0] if before.startswith("Benchmark") else names[-1]) if names else None
    apart = begun is None or before[begun.end() :].strip()  # a print stands between, or before
    if apart and line[len(first)] != "\t" and not any("/op" in word for word in tail):
        return None  # numbers of the program's own
    name = begun[1] if begun else waiting
    if not name:
        return None
    return name, [count, *tail]


def _begun(line: str, waiting: str) -> str:
    """Give the name whose numbers are still to come."""
    if _VERBOSE.match(line) or _EDGE.match(line) or _FAILED.match(line):
        return ""
    name = _NAME.match(line)
    if name is None:
        ends = [one for one in _NAME.finditer(line) if one.end() == len(line)]
        name = ends[0] if ends else None
    return waiting if name is None else name[1]


def _other(log: Log, part: Part, line: str) -> Part:
    """Take what a line says beside results; a new part begins where it changes something."""
    if (failed := _FAILED.match(line)) is not None:
        log.failed.append(Failed(failed[1], part.about))
        log.ended = True
        return part
    if (unit := _UNIT.match(line)) is not None:
        log.better[tidy(unit[1])] = "lower" if unit[2] == "lower" else "higher"
        return part
    about, process, told = part.about, part.process, part.told
    if (edge := _EDGE.match(line)) is not None:
        log.ended |= edge[1] is None
        mine = list(takewhile(lambda one: one.process == process, reversed(log.parts)))
        used = any(one.names for one in mine)
        if edge[1] is None and used:  # an end: what stands before it is one process
            for one in mine:
                one.told = True
        # a file that others put together may have the machine's lines, and no package
        process, told = process + used, (told and not used) or edge[1] == "pkg: "
    if (key := _ABOUT.match(line)) is not None:
        value = (key[2] or "").strip()
        if about.get(key[1], "") != value:
            about = about | {key[1]: value}
    if about is part.about and process == part.process and told == part.told:
        return part
    if not part.names:
        log.parts.pop()  # the last one it is
    log.parts.append(Part(about, process, told=told))
    return log.parts[-1]


def tidy(unit: str) -> str:
    """Give a unit as the Go project's tools compare it: what is said of sec/op holds for ns/op."""
    return "B/s" if unit == "MB/s" else re.sub(r"(^|-)ns(?=/|$)", r"\1sec", unit)
