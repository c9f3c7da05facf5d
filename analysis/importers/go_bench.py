"""What ``go test -bench`` prints, as text or as ``-json`` events: each value a mean over N operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from math import inf

from ..data.opening import Opened
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..record.run_numbers import Better
from .parsing import FORMATS, TIMES, ForeignCell, ForeignFile, foreign_file

_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+,[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]{0,400}\.?[0-9]{0,400}(?:[eE][-+]?[0-9]{1,9})?|NaN|Inf)$")
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
    counts: dict[str, int] = field(default_factory=dict)
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
        if plain and _add(opened, part, words[0], words[1:], number):
            waiting = ""
            continue
        if not words:
            continue
        line = _plain(raw)
        if (found := _split_result(line, waiting)) is not None:
            _add(opened, part, found[0], found[1], number)
            waiting = ""
        else:
            waiting = _begun(line, waiting)
            part = _other(log, part, line)
    return log


def _plain(line: str) -> str:
    """Take the time stamp of a continuous-integration log away."""
    return _STAMP.sub("", line).rstrip()


def _add(opened: Opened, part: GoResults, name: str, words: Sequence[str], number: int) -> bool:
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
_VARIANTS = ("variant", "commit", "toolchain", "branch")  # the first two are surely variants
_Apart = tuple[str | None, ...]  # what a configuration has of the keys that vary
_LONGEST = 2048  # characters that a result takes at most

_FURTHER = 8 * 1024**2  # so much a program may print before its first result


def knows_go_bench(opened: Opened) -> bool:
    """Tell by a result line, or by the events of ``-json``."""
    head = opened.head()
    if EVENT.search(head) or head.lstrip().startswith("{"):
        return EVENT.search(head) is not None and '"Output"' in head
    place = opened.data.find(b" ns/op", 0, _FURTHER)
    if place >= 0:
        start = opened.data.rfind(b"\n", 0, place) + 1
        line = opened.data[start : start + _LONGEST].split(b"\n")[0]
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
    cpu = next((part.about["cpu"] for part in log.parts if "cpu" in part.about), None)
    known = all(cell.known for cell in cells)
    one = known and max(len(cell.processes) for cell in cells) == 1
    holding = {"processes-unknown": not known, "one-process": one, "failed-benchmarks": failed}
    commits = ": each commit is taken for one" * any(cell.session for cell in cells)
    texts = {"operations": found, "commits": commits, "failed": ", ".join(failed[:8])}
    rule = "the file's name" if variant is None else f"the {variant}"
    facts = {"cpu_model": cpu}
    return foreign_file("go-bench", cells, holding, texts, variant_rule=rule, facts=facts)


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
            inner=max((part.counts[name] for part in mine), default=None),
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
