"""What ``go test -bench`` prints, as text or as ``-json`` events: each value a mean over N operations.

A test binary is one process for all its benchmarks and all of ``-count``: a head (``goos:``, ``pkg:``)
or an end (``PASS``, ``ok``) begins the next one. Where there are none, processes are unknown. Lines of
one benchmark repeat with ``-count``. Prints of the program may split a line, or stand before it. Whether
a name's ending ``-8`` is GOMAXPROCS or part of the name cannot be told from the name: it is cut only
where every benchmark of the file has the same one, and kept where they differ (``-cpu``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf

from ...errors import AnalysisError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["knows", "read"]

_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?|NaN|Inf)$")
_EVENT = re.compile(r'^[^{"]{0,200}\{ ?(?:"[A-Z]\w*": ?"[^"]*", ?){0,4}"Action": ?"', re.MULTILINE)
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
_PROCS = re.compile(r"-(\d+)$")
_TIME = re.compile(r"^(?:.*-)?(ns|sec)(?:/\S+)?$")
_METRICS: Mapping[str, tuple[str, str, float, Better | None]] = {
    "ns/op": ("time", "s", 1e9, "lower"),
    "sec/op": ("time", "s", 1.0, "lower"),
    "B/op": ("B/op", "B/op", 1.0, "lower"),
    "allocs/op": ("allocs/op", "allocs/op", 1.0, "lower"),
    "MB/s": ("MB/s", "MB/s", 1.0, "higher"),
    "B/s": ("B/s", "B/s", 1.0, "higher"),
}
_APART = ("pkg", "variant", "commit", "toolchain", "branch", "goos", "goarch", "cpu")
_VARIANTS = ("variant", "commit", "toolchain", "branch")
_LONGEST = 2048  # characters that a result takes at most
_WORDS = 64  # of them pairs of value and unit
_FURTHER = 8 * 1024**2  # so much a program may print before its first result


@dataclass(slots=True)
class _Part:
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


@dataclass(slots=True)
class _Log:
    """What the whole output holds."""

    parts: list[_Part] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    better: dict[str, Better] = field(default_factory=dict)
    ended: bool = False


def knows(opened: Opened) -> bool:
    """Tell by a result line, or by the events of ``-json``."""
    head = opened.head()
    if _EVENT.search(head) or head.lstrip().startswith("{"):
        return _EVENT.search(head) is not None and '"Output"' in head
    place = opened.data.find(b" ns/op", 0, _FURTHER)
    if place >= 0:
        start = opened.data.rfind(b"\n", 0, place) + 1
        line = opened.data[start : start + _LONGEST].split(b"\n")[0]
        head += "\n" + line.decode(errors="replace")
    if "Benchmark" not in head:
        return False
    try:
        return any(part.names for part in _log_of(opened, head.split("\n")).parts) or (
            "goos: " in head and re.search(r"^Benchmark\S+\s", head, re.MULTILINE) is not None
        )
    except AnalysisError:  # a value that is refused
        return True


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and unit.

    Raises
    ------
    AnalysisError
        If no line is a result, or an event is damaged.
    """
    text = opened.text()
    events = _EVENT.search(opened.head()) is not None
    lines = _of_events(opened, text) if events else text.split("\n")
    log = _log_of(opened, lines)
    if not any(part.names for part in log.parts):
        raise fail(opened, "there is no result line in the file", "was it 'go test -bench .'?")
    variant = _variant_key(log.parts)
    cells = tuple(_cells(log, variant))
    low = min(part.low for part in log.parts if part.names)
    high = max(part.high for part in log.parts)
    told = f"{low}" if low == high else f"{low} to {high}"
    cpu = next((part.about["cpu"] for part in log.parts if "cpu" in part.about), None)
    return ForeignFile(
        format="go-bench",
        source=opened.source,
        cells=cells,
        variant_rule="the file's name" if variant is None else f"the {variant}",
        losses=(
            Loss(
                code="means-of-operations",
                text=f"means of {told} operations each: single operations cannot be seen",
            ),
            *_of_processes(cells),
            Loss(code="warm-ups-unknown", text="warm-up iterations are not in the file"),
        ),
        notes=tuple(_failures(log.failed)),
        facts={} if cpu is None else {"cpu_model": cpu},
    )


def _failures(failed: Sequence[str]) -> Iterator[Loss]:
    if failed:
        names = ", ".join(list(dict.fromkeys(failed))[:8])
        yield Loss(code="failed-benchmarks", text=f"failed, and without values: {names}")


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


def _log_of(opened: Opened, lines: Iterable[str]) -> _Log:
    """Go over all lines; most of them are results that need no regular expression."""
    log = _Log()
    part = _Part({}, 1, told=False)
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


def _add(opened: Opened, part: _Part, name: str, words: Sequence[str], number: int) -> bool:
    """Add a result line: N, then pairs of value and unit; false where it is none."""
    try:
        count = int(words[0])
        values = [float(word) for word in words[1::2]]
    except ValueError:
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


def _other(log: _Log, part: _Part, line: str) -> _Part:
    """Take what a line says beside results; a new part begins where it changes something."""
    if (failed := _FAILED.match(line)) is not None:
        log.failed.append(failed[1])
        log.ended = True
        return part
    if (unit := _UNIT.match(line)) is not None:
        log.better[unit[1]] = "lower" if unit[2] == "lower" else "higher"
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
    log.parts.append(_Part(about, process, told=told))
    return log.parts[-1]


def _variant_key(parts: Sequence[_Part]) -> str | None:
    """Give the configuration key whose values are the variants, if there is one."""
    values = {key: {part.about.get(key) for part in parts if part.names} for key in _VARIANTS}
    for sure in ("variant", "commit"):  # the first one is what our own exports write
        if values[sure] != {None}:
            return sure
    return next((key for key in _VARIANTS if len(values[key]) > 1), None)


def _metric(unit: str, better: Mapping[str, Better]) -> tuple[str, str, float, Better | None]:
    if unit in _METRICS:
        name, base, scale, direction = _METRICS[unit]
    elif (time := _TIME.match(unit)) is not None:  # a time of the benchmark's own
        name, base, scale, direction = unit, "s", 1e9 if time[1] == "ns" else 1.0, "lower"
    else:
        name, base, scale, direction = unit, unit, 1.0, None
    return name, base, scale, better.get(unit, direction)


def _common_procs(names: Iterable[str]) -> str:
    """Give the ending that every name has, such as ``-8``; "" where they differ."""
    endings = {found[0] if (found := _PROCS.search(name)) else "" for name in names}
    return endings.pop() if len(endings) == 1 else ""


def _cells(log: _Log, variant: str | None) -> Iterator[ForeignCell]:
    parts = [part for part in log.parts if part.names]
    procs = _common_procs({name for part in parts for name in part.names})
    varying = [key for key in _APART if len({part.about.get(key) for part in parts}) > 1]
    grouped: dict[tuple[tuple[str | None, ...], str, str], list[_Part]] = {}
    for part in parts:
        apart = tuple(part.about.get(key) for key in varying)
        for name, row in part.names.items():
            for unit in row:
                grouped.setdefault((apart, name, unit), []).append(part)
    failed = _leaves(log.failed)
    procs_key = {"procs": procs[1:]} if procs else {}
    ordered = sorted(grouped.items(), key=lambda item: _metric(item[0][2], {})[0] != "time")
    for (_, name, unit), mine in ordered:
        metric, base, scale, better = _metric(unit, log.better)
        processes: dict[int, list[float]] = {}
        for part in mine:
            values = part.names[name][unit]
            processes.setdefault(part.process, []).extend(value / scale for value in values)
        plain = name.removesuffix(procs) if procs else name
        yield ForeignCell(
            benchmark=_named(plain, mine[0].about, varying),
            variant=None if variant is None else mine[0].about.get(variant),
            metric=metric,
            unit=base,
            better=better,
            processes=tuple(map(tuple, processes.values())),
            known=all(part.told for part in mine),
            inner=max(part.counts[name] for part in mine),
            failed=failed.get(name, 0) if log.ended else None,
            keys=_shared(mine) | {"name": plain, "fullname": name} | procs_key,
        )
    for name in [one for one in failed if not any(one in part.names for part in parts)]:
        yield ForeignCell(
            benchmark=_named(name.removesuffix(procs), parts[0].about, []),
            variant=None if variant is None else parts[0].about.get(variant),
            processes=(),
            known=True,
            failed=failed[name],
            keys={"name": name.removesuffix(procs), "fullname": name},
        )


def _named(name: str, about: Mapping[str, str], varying: Sequence[str]) -> str:
    return f"{about['pkg']}.{name}" if "pkg" in varying and about.get("pkg") else name


def _shared(parts: Sequence[_Part]) -> dict[str, str]:
    """Give the configuration that all of them have."""
    first, *others = (part.about.items() for part in parts)
    return {key: value for key, value in first if all((key, value) in one for one in others)}


def _leaves(failed: Sequence[str]) -> dict[str, int]:
    """Count failed benchmarks by name; one that failed because a part of it did is left out."""
    plain = [_PROCS.sub("", name) for name in failed]
    counts: dict[str, int] = {}
    for name, bare in zip(failed, plain, strict=True):
        if not any(other.startswith(f"{bare}/") for other in plain):
            counts[name] = counts.get(name, 0) + 1
    return counts
