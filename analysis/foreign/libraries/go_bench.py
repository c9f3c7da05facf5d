"""What ``go test -bench`` prints, as text or as ``-json`` events: each value a mean over N operations.

A test binary is one process for all its benchmarks and all of ``-count``: a head (``goos:``, ``pkg:``)
or an end (``PASS``, ``ok``) begins the next one. Where there are none, processes are unknown. Lines of
one benchmark repeat with ``-count``. Prints of the program may split a line, or stand before it. Whether
a name's ending ``-8`` is GOMAXPROCS or part of the name cannot be told from the name: it is cut only
where every benchmark of the file has the same one, and kept where they differ (``-cpu``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ...errors import AnalysisError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import TIMES, fail
from .go_log import EVENT, Failed, Log, Part, lines_of_events, log_of, tidy

__all__ = ["knows", "read"]

_PROCS = re.compile(r"-(\d+)$")
_RATE = re.compile(r"(?:^|[-_])per$")
_TIME = re.compile(r"^(?:(.*)-)?(ns|us|µs|μs|ms|s|sec|secs|second|seconds)(?:/\S+)?$")
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
_Apart = tuple[str | None, ...]  # what a configuration has of the keys that vary
_LONGEST = 2048  # characters that a result takes at most

_FURTHER = 8 * 1024**2  # so much a program may print before its first result


def knows(opened: Opened) -> bool:
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


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and unit.

    Raises
    ------
    AnalysisError
        If no line is a result, or an event is damaged.
    """
    text = opened.text()
    events = EVENT.search(opened.head()) is not None
    lines = lines_of_events(opened, text) if events else text.split("\n")
    log = log_of(opened, lines)
    if not any(part.names for part in log.parts):
        raise fail(opened, "there is no result line in the file", "was it 'go test -bench .'?")
    variant = _variant_key(log.abouts)
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
            Loss(
                code="no-sessions",
                text="on which occasion a run was made is not in the file"
                + (": each commit is taken for one" if any(c.session for c in cells) else ""),
            ),
            Loss(code="warm-ups-unknown", text="warm-up iterations are not in the file"),
        ),
        notes=tuple(_failures(log.failed)),
        facts={} if cpu is None else {"cpu_model": cpu},
    )


def _failures(failed: Sequence[Failed]) -> Iterator[Loss]:
    if failed:
        names = ", ".join(list(dict.fromkeys(one.name for one in failed))[:8])
        yield Loss(code="failed-benchmarks", text=f"failed, and left out: {names}")


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


def _variant_key(abouts: Sequence[Mapping[str, str]]) -> str | None:
    """Give the configuration key whose values are the variants, if there is one."""
    values = {key: {about.get(key) for about in abouts} for key in _VARIANTS}
    for sure in ("variant", "commit"):  # the first one is what our own exports write
        if values[sure] != {None}:
            return sure
    return next((key for key in _VARIANTS if len(values[key]) > 1), None)


def _metric(unit: str, better: Mapping[str, Better]) -> tuple[str, str, float, Better | None]:
    if unit in _METRICS:
        name, base, scale, direction = _METRICS[unit]
    elif (time := _TIME.match(unit)) is not None and not _RATE.search(time[1] or ""):
        # a time of the benchmark's own
        name, base, scale, direction = unit, "s", round(1 / TIMES[time[2]]), "lower"
    else:
        name, base, scale, direction = unit, unit, 1.0, None
    return name, base, scale, better.get(tidy(unit), direction)


def _common_procs(names: Iterable[str]) -> str:
    """Give the ending that every name has, such as ``-8``; "" where they differ."""
    endings = {found[0] if (found := _PROCS.search(name)) else "" for name in names}
    return endings.pop() if len(endings) == 1 else ""


def _cells(log: Log, variant: str | None) -> Iterator[ForeignCell]:
    parts = [part for part in log.parts if part.names]
    procs = _common_procs({name for part in parts for name in part.names})
    abouts = log.abouts
    varying = [key for key in _APART if len({about.get(key) for about in abouts}) > 1]
    grouped: dict[tuple[_Apart, str, str], list[Part]] = {}
    for part in parts:
        for name, row in part.names.items():
            for unit in row:
                grouped.setdefault((_place(part.about, varying), name, unit), []).append(part)
    failed = _leaves(log.failed, varying)
    occasions = _of_occasions(parts, variant)
    procs_key = {"procs": procs[1:]} if procs else {}
    ordered = sorted(grouped.items(), key=lambda item: _metric(item[0][2], {})[0] != "time")
    for (apart, name, unit), mine in ordered:
        metric, base, scale, better = _metric(unit, log.better)
        processes: dict[int, list[float]] = {}
        for part in mine:
            values = part.names[name][unit]
            processes.setdefault(part.process, []).extend(value / scale for value in values)
        plain = name.removesuffix(procs) if procs else name
        known = all(part.told for part in mine)
        yield ForeignCell(
            benchmark=_named(plain, mine[0].about, varying),
            variant=None if variant is None else mine[0].about.get(variant),
            metric=metric,
            unit=base,
            better=better,
            processes=tuple(map(tuple, processes.values())),
            known=known,
            labels=tuple(map(str, processes)) if known else None,
            inner=max(part.counts[name] for part in mine),
            failed=len(failed.get((apart, name), ())) if log.ended else None,
            session=mine[0].about.get(variant) if occasions and variant else None,
            keys=_shared(mine) | {"name": plain, "fullname": name} | procs_key,
        )
    measured = {(apart, name) for apart, name, _ in grouped}
    for place, found in failed.items():
        if place in measured:
            continue
        name, about = found[0].name, found[0].about
        plain = name.removesuffix(procs)
        yield ForeignCell(
            benchmark=_named(plain, about, varying),
            variant=None if variant is None else about.get(variant),
            processes=(),
            known=True,
            failed=len(found),
            session=about.get(variant) if occasions and variant else None,
            keys={**about, "name": plain, "fullname": name} | procs_key,
        )


def _place(about: Mapping[str, str], varying: Sequence[str]) -> _Apart:
    return tuple(about.get(key) for key in varying)


def _of_occasions(parts: Sequence[Part], variant: str | None) -> bool:
    """Tell whether each commit was measured by itself: its results stand together.

    Where commits alternate they were measured on one occasion. Variants of other kinds are parted by
    who put the file together.
    """
    if variant != "commit":
        return False
    names = [name for name, _ in groupby(part.about.get(variant) for part in parts)]
    return len(names) == len(set(names))


def _named(name: str, about: Mapping[str, str], varying: Sequence[str]) -> str:
    return f"{about['pkg']}.{name}" if "pkg" in varying and about.get("pkg") else name


def _shared(parts: Sequence[Part]) -> dict[str, str]:
    """Give the configuration that all of them have."""
    first, *others = (part.about.items() for part in parts)
    return {key: value for key, value in first if all((key, value) in one for one in others)}


def _leaves(
    failed: Sequence[Failed], varying: Sequence[str]
) -> dict[tuple[_Apart, str], list[Failed]]:
    """Put failures of a benchmark together; one that failed because a part of it did is left out."""
    named = [(_place(one.about, varying), _PROCS.sub("", one.name)) for one in failed]
    above = {
        (apart, plain[: match.start()])
        for apart, plain in named
        for match in re.finditer("/", plain)
    }
    found: dict[tuple[_Apart, str], list[Failed]] = {}
    for one, (apart, plain) in zip(failed, named, strict=True):
        if (apart, plain) not in above:
            found.setdefault((apart, one.name), []).append(one)
    return found
