"""Text that tools print: what perf stat counts, the logs of JMH and of Renaissance, and what ``go test -bench`` says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from math import inf
from typing import NamedTuple

from ..data.number_text import number_in
from ..data.opening import Opened
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..pages.number_format import listed
from ..record.run_numbers import Better
from .parsing import (
    FORMATS,
    TIMES,
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


# --- What ``go test -bench`` prints, as text or as ``-json`` events: each value a mean over N operations.


_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+,[0-9]+")
_GO_NUMBER = re.compile(
    r"[-+]?(?:[0-9][0-9_]{0,400}\.?[0-9]{0,400}(?:[eE][-+]?[0-9]{1,9})?|NaN|Inf)$"
)
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
class GoResults:
    """The results under one configuration in one process.

    `marked` says that a head or an end marks the process; `names` gives the values by name and unit.
    """

    about: dict[str, str]
    process: int
    marked: bool
    names: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    low: int = 0
    high: int = 0


FailedTest = tuple[str, Mapping[str, str]]  # a benchmark, and the configuration in which it failed


@dataclass(slots=True)
class Log:
    """What the whole output holds."""

    parts: list[GoResults] = field(default_factory=list)
    failed: list[FailedTest] = field(default_factory=list)
    better: dict[str, Better] = field(default_factory=dict)
    ended: bool = False

    @property
    def abouts(self) -> list[Mapping[str, str]]:
        """The configurations of all that was measured, or failed."""
        return [part.about for part in self.parts if part.names] + [of for _, of in self.failed]


def lines_of_events(opened: Opened, text: str) -> list[str]:
    """Put the output of each package together; a line may be split over several events."""
    outputs: dict[str, list[str]] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw if raw.startswith("{") else _plain(raw)
        if not line.startswith("{"):  # what the compiler says of a package is no event
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            what = "the line is no JSON event"
            raise opened.fail(what, "is the file cut off?", at=f"{number}") from None
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
    """Go over all lines; most of them are results that need no regular expression."""
    log = Log()
    part = GoResults({}, 1, marked=False)
    log.parts.append(part)
    waiting = ""  # a name whose numbers stand in a later line: the program printed between them
    for number, raw in enumerate(lines, 1):
        words = raw.split()
        plain = raw.startswith("Benchmark") and len(words) > 3 and words[1].isdecimal()
        plain = plain and words[0] != "Benchmark" and not len(words) % 2
        if plain and _add_result(opened, part, words[0], words[1:], number):
            waiting = ""
            continue
        if not words:
            continue
        line = _plain(raw)
        if (found := _split_result(line, waiting)) is not None:
            _add_result(opened, part, found[0], found[1], number)
            waiting = ""
        else:
            waiting = _begun(line, waiting)
            part = _other(log, part, line)
    return log


def _plain(line: str) -> str:
    """Take the time stamp of a continuous-integration log away."""
    return _STAMP.sub("", line).rstrip()


def _add_result(
    opened: Opened, part: GoResults, name: str, words: Sequence[str], number: int
) -> bool:
    """Add a result line: N, then pairs of value and unit; false where it is none."""
    try:
        count = int(words[0])
        values = [float(word) for word in words[1::2]]
    except ValueError:
        grouped = next((word for word in words[1::2] if _GROUPED.fullmatch(word)), None)
        if grouped is not None and "ns/op" in words:
            what = f"{grouped!r} is not a number as 'go test' writes it"
            fix = "write it without commas, or copy the output again"
            raise opened.fail(what, fix, at=f"{number}") from None
        return False
    if name not in part.names and any(unit[0].isdecimal() for unit in words[2::2]):
        return False
    row = part.names.setdefault(name, {})
    for value, unit in zip(values, words[2::2], strict=True):
        if not 0 <= value < inf:
            opened.value(value, f"{number}")
        row.setdefault(unit, []).append(value)
    part.low = min(part.low, count) if part.low else count
    part.high = max(part.high, count)
    return True


def _split_result(line: str, waiting: str) -> tuple[str, list[str]] | None:
    """Find a result that prints of the program split, or that does not begin its line."""
    words = line.rsplit(None, _WORDS)
    start = len(words)
    while start > 2 and _GO_NUMBER.match(words[start - 2]) and not words[start - 1][0].isdecimal():
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
    return (name, [count, *tail]) if name else None


def _begun(line: str, waiting: str) -> str:
    """Give the name whose numbers are still to come."""
    if _VERBOSE.match(line) or _EDGE.match(line) or _FAILED.match(line):
        return ""
    name = _NAME.match(line)
    if name is None:
        ends = [one for one in _NAME.finditer(line) if one.end() == len(line)]
        name = ends[0] if ends else None
    return waiting if name is None else name[1]


def _other(log: Log, part: GoResults, line: str) -> GoResults:
    """Take what a line says other than results; a new part begins where it changes something."""
    if (failed := _FAILED.match(line)) is not None:
        log.failed.append((failed[1], part.about))
        log.ended = True
        return part
    if (unit := _UNIT.match(line)) is not None:
        log.better[tidy(unit[1])] = "lower" if unit[2] == "lower" else "higher"
        return part
    about, process, known = part.about, part.process, part.marked
    if (edge := _EDGE.match(line)) is not None:
        log.ended |= edge[1] is None
        mine = list(takewhile(lambda one: one.process == process, reversed(log.parts)))
        used = any(one.names for one in mine)
        if edge[1] is None and used:  # an end: what stands before it is one process
            for one in mine:
                one.marked = True
        # a file that others put together may have the machine's lines, and no package
        process, known = process + used, (known and not used) or edge[1] == "pkg: "
    if (key := _ABOUT.match(line)) is not None:
        value = (key[2] or "").strip()
        if about.get(key[1], "") != value:
            about = about | {key[1]: value}
    if about is part.about and process == part.process and known == part.marked:
        return part
    if not part.names:
        log.parts.pop()  # the last one it is
    log.parts.append(GoResults(about, process, marked=known))
    return log.parts[-1]


def tidy(unit: str) -> str:
    """Give a unit as the Go project's tools compare it: what is said of sec/op holds for ns/op."""
    return "B/s" if unit == "MB/s" else re.sub(r"(^|-)ns(?=/|$)", r"\1sec", unit)


_PROCS = re.compile(r"-(\d+)$")
_RATE = re.compile(r"(?:^|[-_])per$")
_TIME = re.compile(r"^(?:(.*)-)?(ns|us|µs|μs|ms|s|sec|secs|second|seconds)(?:/\S+)?$")
_APART = ("pkg", "variant", "commit", "toolchain", "branch", "goos", "goarch", "cpu")
_SETTINGS = ("goos", "goarch", "procs")
_VARIANTS = ("variant", "commit", "toolchain", "branch")  # the first two are surely variants
_Apart = tuple[str | None, ...]  # what a configuration has of the keys that vary
_LONGEST_RESULT = 2048  # characters that a result takes at most

_FURTHER = 8 * 1024**2  # so much a program may print before its first result


def knows_go_bench(opened: Opened) -> bool:
    """Tell by a result line, or by the events of ``-json``."""
    head = opened.head()
    if EVENT.search(head) or head.lstrip().startswith("{"):
        return EVENT.search(head) is not None and '"Output"' in head
    place = opened.data.find(b" ns/op", 0, _FURTHER)
    if place >= 0:
        start = opened.data.rfind(b"\n", 0, place) + 1
        line = opened.data[start : start + _LONGEST_RESULT].split(b"\n")[0]
        head += "\n" + line.decode(errors="replace")
    if "Benchmark" not in head:
        return False
    try:
        return any(part.names for part in log_of(opened, head.split("\n")).parts) or (
            "goos: " in head and re.search(r"^Benchmark\S+\s", head, re.MULTILINE) is not None
        )
    except AnalysisError:  # a value that is refused
        return True


def read_go_bench(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and unit."""
    text = opened.text()
    events = EVENT.search(opened.head()) is not None
    lines = lines_of_events(opened, text) if events else text.split("\n")
    log = log_of(opened, lines)
    if not any(part.names for part in log.parts):
        raise opened.fail("there is no result line in the file", "was it 'go test -bench .'?")
    values = {key: {about.get(key) for about in log.abouts} for key in _VARIANTS}
    # the first one is what our own exports write
    sure = [key for key in _VARIANTS[:2] if values[key] != {None}]
    variant = next((k for k in (*sure, *_VARIANTS) if k in sure or len(values[k]) > 1), None)
    cells = tuple(_cells(log, variant))
    found = figures.span(n for part in log.parts if part.names for n in (part.low, part.high))
    failed = list(dict.fromkeys(name for name, _ in log.failed))
    shared = dict(set.intersection(*(set(cell.keys.items()) for cell in cells)))
    known = all(cell.known for cell in cells)
    one = known and max(len(cell.processes) for cell in cells) == 1
    holding = {"processes-unknown": not known, "one-process": one, "failed-benchmarks": failed}
    commits = ": each commit is taken for one" * any(cell.session for cell in cells)
    texts = {"operations": found, "commits": commits, "failed": ", ".join(failed[:8])}
    rule = "the file's name" if variant is None else f"the {variant}"
    return foreign_file(
        "go-bench",
        cells,
        holding,
        texts,
        variant_rule=rule,
        settings={key: shared[key] for key in _SETTINGS if key in shared},
        facts={"cpu_model": shared.get("cpu")},
    )


def _metric(unit: str, better: Mapping[str, Better]) -> tuple[str, str, float, Better | None]:
    found = FORMATS["go"].get(unit, (unit, unit, 1.0, None))
    time = _TIME.match(unit)
    if unit not in FORMATS["go"] and time is not None and not _RATE.search(time[1] or ""):
        found = unit, "s", round(1 / TIMES[time[2]]), "lower"  # a time of the benchmark's own
    return (*found[:3], better.get(tidy(unit), found[3]))


def _cells(log: Log, variant: str | None) -> Iterator[ForeignCell]:
    parts = [part for part in log.parts if part.names]
    found = {_PROCS.search(name) for part in parts for name in part.names}
    endings = {one[0] if one else "" for one in found}
    procs = endings.pop() if len(endings) == 1 else ""  # such as ``-8``, which every name has
    abouts = log.abouts
    varying = [key for key in _APART if len({about.get(key) for about in abouts}) > 1]
    grouped: dict[tuple[_Apart, str, str], list[GoResults]] = {}
    for part in parts:
        for name, row in part.names.items():
            for unit in row:
                grouped.setdefault((_place(part.about, varying), name, unit), []).append(part)
    failed = _leaves(log.failed, varying)
    measured = {(apart, name) for apart, name, _ in grouped}
    grouped |= {(*place, "ns/op"): [] for place in failed if place not in measured}
    # Commits that were each measured alone are occasions: their results stand together. Where commits
    # alternate they were measured on one. Variants of other kinds are parted by who put the file together.
    runs = [name for name, _ in groupby(part.about.get("commit") for part in parts)]
    occasions = variant == "commit" and len(runs) == len(set(runs))
    ordered = sorted(grouped.items(), key=lambda item: _metric(item[0][2], {})[0] != "time")
    for (apart, name, unit), mine in ordered:
        those = failed.get((apart, name), [])
        abouts = [part.about for part in mine] or [those[0][1]]
        metric, base, scale, better = _metric(unit, log.better)
        processes: dict[int, list[float]] = {}
        for part in mine:
            values = part.names[name][unit]
            processes.setdefault(part.process, []).extend(value / scale for value in values)
        plain = name.removesuffix(procs)
        known = all(part.marked for part in mine)
        own = None if variant is None else abouts[0].get(variant)
        keys = {"name": plain, "fullname": name} | ({"procs": procs[1:]} if procs else {})
        package = abouts[0].get("pkg") if "pkg" in varying else None
        shared = set.intersection(*(set(about.items()) for about in abouts))
        yield ForeignCell(
            benchmark=f"{package}.{plain}" if package else plain,
            variant=own,
            metric=metric,
            unit=base,
            better=better,
            processes=tuple(map(tuple, processes.values())),
            known=known,
            labels=tuple(map(str, processes)) if known and mine else None,
            failed=len(those) if log.ended or not mine else None,
            session=own if occasions else None,
            keys={key: of for key, of in abouts[0].items() if (key, of) in shared} | keys,
        )


def _place(about: Mapping[str, str], varying: Sequence[str]) -> _Apart:
    return tuple(about.get(key) for key in varying)


def _leaves(
    failed: Sequence[FailedTest], varying: Sequence[str]
) -> dict[tuple[_Apart, str], list[FailedTest]]:
    """Put failures of a benchmark together; one that failed because a part of it did is left out."""
    named = [(_place(about, varying), _PROCS.sub("", name)) for name, about in failed]
    above = {
        (apart, plain[: match.start()])
        for apart, plain in named
        for match in re.finditer("/", plain)
    }
    found: dict[tuple[_Apart, str], list[FailedTest]] = {}
    for one, (apart, plain) in zip(failed, named, strict=True):
        if (apart, plain) not in above:
            found.setdefault((apart, one[0]), []).append(one)
    return found
