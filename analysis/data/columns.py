"""The files of a trial directory, streamed into flat columns and checked against each other and the plan.

``measurements.jsonl`` may hold a hundred thousand runs: no record is kept longer than its line.

Here it is decided which row of a repeated run is judged, for every reader.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from ..announcing import doing
from ..errors import StoreError
from ..pages.model import Caution
from ..record.run_numbers import MOST_REPEATS, NUMBERS, Outcome, judged_row
from ..record.shapes import SAMPLES, StoredSamples, checksum_holds, opened, parse, shaped
from ..record.trial_files import (
    ALL_SESSIONS,
    CHANGED,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    BuildRecord,
    Manifest,
    is_of_builds,
    layouts_by_session,
    read_builds,
)
from ..stats.samples import Array, Flags, Integers, read_only

# The last one stands for every outcome that this version does not know.
OUTCOMES: Final[tuple[str, ...]] = (*get_args(Outcome), "unknown")
# What a row must say of its run, and what the reader cannot do without.
_IDENTITY = ("position", "session", "segment", "block", "benchmark", "variant", "outcome", "warmup")
_LABELS = ("benchmark", "variant", "outcome")  # names; here their places in lists
_TIMES = ("wall_ns", "user_s", "system_s")  # a run that ended ok has them
_START = "start_ns"  # a clock: a double would not hold it exactly
_NUMBERS = (*_TIMES, *(name for name in NUMBERS if name not in {*_TIMES, _START}))
_TOLD_EACH = 1000  # rows after which it is said how many are read
_UNKNOWN_OUTCOME = len(OUTCOMES) - 1
_UNKNOWN = -1  # a start that is not known (the clock never shows it), no repeat, no answer
# kept output is evidence, not data; samples are held against their row when they are read
_ASIDE: Mapping[str, tuple[str, str]] = {  # with the codes of what is gone, and what changed
    OUTPUTS: ("output-gone", "output-changed"),
    SAMPLES: ("samples-gone", "samples-changed"),
}
_NO_METRICS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricColumn:
    """A metric parsed from output: its values, run after run.

    Run i has the values ``values[offsets[i]:offsets[i + 1]]``, one for each iteration, or none.
    """

    values: Array
    offsets: Integers

    def per_run(self) -> Array:
        """Give each run's value, the mean of its iterations; nan for a run without one."""
        counts = np.diff(self.offsets)
        result = np.full(counts.size, np.nan)
        known = counts > 0
        first = self.values[self.offsets[:-1][known]]
        # added to the first value: equal iterations have exactly their value as the mean
        run = np.repeat(np.arange(first.size), counts[known])
        above = np.bincount(run, weights=self.values - first[run], minlength=first.size)
        result[known] = first + above / counts[known]
        return result

    def of_run(self, row: int) -> Array:
        """Give the iterations of one run."""
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def of_runs(self, rows: Integers) -> tuple[Array, Integers]:
        """Give the iterations of these runs, and for each the place of its run in `rows`."""
        counts = np.diff(self.offsets)[rows]
        place = np.repeat(np.arange(rows.size), counts)
        within = np.arange(place.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.values[self.offsets[:-1][rows][place] + within], place

    def behind(self, left: Integers) -> MetricColumn:
        """Give the column without the first iterations of each run."""
        counts = np.diff(self.offsets)
        within = np.arange(self.values.size) - np.repeat(self.offsets[:-1], counts)
        return metric_column(self.values[within >= np.repeat(left, counts)], counts - left)

    def with_values(self, values: Mapping[int, Sequence[float]]) -> MetricColumn:
        """Give a column in which these runs have these values in place of their own."""
        others = np.ones(self.offsets.size - 1, dtype=np.bool_)
        others[list(values)] = False
        counts = np.diff(self.offsets)
        kept = self.values[np.repeat(others, counts)]
        counts[list(values)] = [len(one) for one in values.values()]
        whole = np.empty(counts.sum())
        own = np.repeat(others, counts)
        whole[own] = kept
        whole[~own] = [one for row in sorted(values) for one in values[row]]
        return metric_column(whole, counts)


def metric_column(
    values: Sequence[float] | Array, counts: Sequence[int] | Integers
) -> MetricColumn:
    """Give the column of the values of all runs, and how many each has."""
    return MetricColumn(
        values=read_only(np.array(values, dtype=np.float64)),
        offsets=read_only(np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))),
    )


def unknown_numbers(runs: int) -> dict[str, Array]:
    """Give the numbers of `runs` runs of another tool: nan, but no process was left over."""
    nan, zero = (read_only(np.broadcast_to(one, runs)) for one in (math.nan, 0.0))
    return {name: zero if name == "orphans" else nan for name in _NUMBERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRun:
    """One run whose outcome is not ``ok``."""

    position: int
    session: int
    benchmark: str
    variant: str
    warmup: bool
    outcome: str
    exit_code: int | None = None
    signal: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStart:
    """What the first row of a session, or of a part of one that was resumed, says.

    `row` is its place among the trial's rows; `cpus` the CPUs that it was pinned to, empty where that
    is not known and None where it was not pinned; `started_at` its start (RFC 3339), None if unknown.
    """

    row: int
    cpus: tuple[int, ...] | None
    started_at: str | None


def verify_files(path: Path, manifest: Manifest) -> Iterator[Caution]:
    """Compare every file that the manifest lists with its SHA-256.

    Yields a caution for kept output and samples that are gone or changed; raises StoreError for the rest.
    """
    for name, expected in manifest.files.items():
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or not parts.parts:
            raise StoreError(f"the manifest lists a file outside the trial: {name!r}", str(path))
        codes = _ASIDE.get(parts.parts[0])
        try:
            with opened(path / name) as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, StoreError) as error:
            if codes is None:
                what = f"the file cannot be read: {getattr(error, 'what', error)}"
                fix = "restore it: the finished trial lists it in its manifest"
                raise StoreError(what, str(path / name), fix) from error
            yield Caution(codes[0], f"{name} is gone since the trial ended", (name,))
            continue
        if actual == expected:
            continue
        if codes is None:
            fix = "restore the original, or measure again"
            raise StoreError(CHANGED, str(path / name), fix)
        yield Caution(codes[1], f"{name} changed since the trial ended", (name,))


def read_plan(path: Path, manifest: Manifest, cautions: list[Caution]) -> tuple[Integers, ...]:
    """Read the plan into columns: position, session, block, benchmark, variant, warm-up.

    The runner appends the plan of a session when the session begins, so the plan of an unfinished
    trial may be shorter than the manifest says, and may end in a torn line.
    """
    benchmarks = {name: k for k, name in enumerate(manifest.benchmarks)}
    variants = {name: k for k, name in enumerate(manifest.variants)}
    get = itemgetter("position", "session", "block", "benchmark", "variant", "warmup")
    fix = "restore the file: without its plan a trial cannot be read"
    flat = array("q")
    number = 0
    try:
        with opened(path) as file:
            for line in file:
                number += 1
                if not manifest.files and not line.endswith(b"\n"):
                    text = f"the last line of {path.name} ({number}) is torn and left out"
                    cautions.append(Caution("torn-line", text, (path.name,)))
                    number -= 1
                    break
                position, session, block, benchmark, variant, warmup = get(parse(line.rstrip()))
                flat.extend(
                    (position, session, block, benchmarks[benchmark], variants[variant], warmup)
                )
    except OSError as error:
        raise StoreError(f"the plan cannot be read: {error.strerror}", str(path)) from error
    except _MISSHAPEN as error:
        what = f"the plan is damaged: {_reason(error)}"
        raise StoreError(what, f"{path}:{number}", fix) from None
    if number < manifest.planned and manifest.status == "complete":
        what = f"it has {number} runs, the manifest of the complete trial {manifest.planned}"
        raise StoreError(f"the plan is damaged: {what}", str(path), fix)
    columns = tuple(np.array(flat, dtype=np.int64).reshape(-1, 6).T)
    for name, column, least, most in (
        ("position", columns[0], 0, np.iinfo(np.int64).max),
        ("session", columns[1], 1, manifest.sessions),
        ("block", columns[2], 0, manifest.runs),
    ):
        outside = np.flatnonzero((column < least) | (column > most))
        if outside.size:
            what = f"a {name} is {column[outside[0]]}, and they go from {least} to {most}"
            where = f"{path}:{outside[0] + 1}"
            raise StoreError(f"the plan is damaged: {what}", where, fix)
    if np.unique(columns[0]).size != number:
        raise StoreError("the plan is damaged: its positions are not unique", str(path), fix)
    return columns


# What comes of a record of another shape while it is put into columns.
_MISSHAPEN = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"unknown or missing {error.args[0]!r}"
    return str(error)


def _again(record: Mapping[str, Any]) -> tuple[int, int]:
    """Give which run a row repeats and whether it was disturbed; an earlier version says neither."""
    repeats, disturbed = record.get("repeats"), record.get("disturbed")
    if disturbed is not None and type(disturbed) is not bool:
        raise TypeError(f"disturbed is {disturbed!r}, and neither true, false nor null")
    if repeats is not None and type(repeats) is not int:
        raise TypeError(f"repeats is {repeats!r}, and no position")
    return (
        _UNKNOWN if repeats is None else repeats,
        _UNKNOWN if disturbed is None else disturbed,
    )


# of a row: what a hypervisor took from each CPU of the host meanwhile
_STEAL: Final = "cpu_steal_s"
MOST_CPUS: Final = 16  # those that lost most; of a host with hundreds, the others say little more


def column_of(cpu: int) -> str:
    """Name the column of what a hypervisor took from a CPU; it follows the numbers of the runs."""
    return f"{_STEAL}.{cpu}"


def cpu_of(column: str) -> int | None:
    """Give the CPU of such a column, None of any other name.

    >>> cpu_of("cpu_steal_s.3"), cpu_of("steal_s")
    (3, None)
    """
    key, _, cpu = column.partition(".")
    return int(cpu) if key == _STEAL and cpu.isdigit() else None


class CpuSteal:
    """Grows while rows are read; most of them lost nothing."""

    def __init__(self) -> None:
        self._known = array("b")
        self._rows, self._cpus, self._seconds = array("q"), array("q"), array("d")

    def add(self, record: Mapping[str, Any]) -> None:
        """Take what the next row says; raises ValueError or TypeError where it has another shape."""
        given = record.get(_STEAL)
        for cpu, seconds in (given or {}).items():
            if not math.isfinite(seconds) or not cpu.isdigit():
                raise ValueError(f"{_STEAL} of CPU {cpu} is {seconds!r}, and no finite number")
            self._rows.append(len(self._known))
            self._cpus.append(int(cpu))
            self._seconds.append(seconds)
        self._known.append(given is not None)

    def columns(self) -> dict[str, Array]:
        """Give a column, read-only, of each CPU that lost something; nan where nobody knows it."""
        unknown = np.frombuffer(self._known, dtype=np.int8) == 0
        rows, cpus = (np.frombuffer(part, dtype=np.int64) for part in (self._rows, self._cpus))
        seconds = np.frombuffer(self._seconds, dtype=np.float64)
        numbers, place = np.unique(cpus, return_inverse=True)
        lost = np.bincount(place, np.abs(seconds), numbers.size)
        found = {}
        for k in np.sort(np.argsort(-lost, kind="stable")[:MOST_CPUS]).tolist():
            column = np.where(unknown, np.nan, 0.0)
            column[rows[place == k]] = seconds[place == k]
            found[column_of(int(numbers[k]))] = read_only(column)
        return found


class Columns:
    """The growing columns while ``measurements.jsonl`` is read."""

    def __init__(self, manifest: Manifest) -> None:
        self._benchmarks = {name: k for k, name in enumerate(manifest.benchmarks)}
        self._variants = {name: k for k, name in enumerate(manifest.variants)}
        self._outcomes = {name: k for k, name in enumerate(get_args(Outcome))}
        self._identity = itemgetter(*_IDENTITY)
        self._measured = manifest.origin != "imported"  # by us: another tool's runs may lack times
        self._numbers: Callable[[dict[str, Any]], tuple[Any, ...]] = itemgetter(*_NUMBERS)
        self._flat = array("d")
        self._whole = array("q")
        self._values = {name: array("d") for name in manifest.metrics}
        self._counts = {name: array("q") for name in manifest.metrics}
        self._counted = array("b")
        self.stored: dict[str, dict[int, StoredSamples]] = {}
        self._cpu_steal = CpuSteal()
        self._failed: list[FailedRun] = []
        self._starts: dict[tuple[int, int], SegmentStart] = {}
        self._absent: tuple[str, ...] = ()  # numbers that no row has, for another version wrote it
        self.schema = manifest.schema

    def add(self, record: dict[str, Any]) -> None:
        """Append one run; raises KeyError or TypeError on a record of another shape."""
        position, session, segment, block, benchmark, variant, outcome, warmup = self._identity(
            record
        )
        try:
            numbers = self._numbers(record)
        except KeyError:  # of the first row that lacks a number: from here on, every row may
            self._absent = () if self._whole else _NUMBERS  # the rows before had them all
            self._numbers = self._known_of
            numbers = self._known_of(record)
        if None in numbers:
            if self._measured and outcome == "ok" and None in numbers[: len(_TIMES)]:
                raise TypeError("a run with the outcome 'ok' has no times")
            numbers = tuple([math.nan if x is None else x for x in numbers])
        metrics = record.get("metrics", _NO_METRICS)
        if metrics and not metrics.keys() <= self._values.keys():
            raise KeyError(next(iter(metrics.keys() - self._values.keys())))
        repeats, disturbed = _again(record)
        b, v = self._benchmarks[benchmark], self._variants[variant]
        kind = self._outcomes.get(outcome, _UNKNOWN_OUTCOME)
        start = record.get(_START)
        if start is None:
            start = _UNKNOWN
        try:
            self._whole.extend(
                (position, session, segment, block, b, v, kind, warmup, start, repeats, disturbed)
            )
        except TypeError:
            whole = ", ".join(name for name in _IDENTITY if name not in _LABELS)
            raise TypeError(f"one of {whole} is not a whole number") from None
        self._flat.extend(numbers)
        if self._measured and (session, segment) not in self._starts:
            cpus, at = record.get("cpus", ()), record.get("started_at")
            self._starts[session, segment] = SegmentStart(
                row=len(self._counted),
                cpus=None if cpus is None else tuple(cpus) if isinstance(cpus, list) else (),
                started_at=at if isinstance(at, str) else None,
            )
        self._cpu_steal.add(record)
        counted = record.get("counted")
        self._counted.append(int(counted) if isinstance(counted, bool) else _UNKNOWN)
        for name, values in self._values.items():
            given = metrics.get(name, ())
            values.extend(given)
            self._counts[name].append(len(given))
        for name, about in record.get("samples", _NO_METRICS).items():
            one = shaped(StoredSamples, about)
            none = one.form == "percentiles"  # these are in no file
            pairs = one.form == "counts"
            if one.count < (not none) or (pairs and one.count % 2) or name not in self._values:
                raise ValueError(f"samples of {name!r} are {about!r}")
            self.stored.setdefault(name, {})[len(self._counted) - 1] = one
        if kind:
            self._failed.append(shaped(FailedRun, record))

    def _known_of(self, record: dict[str, Any]) -> tuple[Any, ...]:
        if self._absent:
            self._absent = tuple([name for name in self._absent if name not in record])
        return tuple(map(record.get, _NUMBERS))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give what the rows say of their runs as read-only arrays, by the names that `Trial` has."""
        names = (*_IDENTITY, _START, "repeats", "disturbed")
        table = np.frombuffer(self._whole, dtype=np.int64).reshape(-1, len(names)).T
        columns = {name: read_only(np.array(row)) for name, row in zip(names, table, strict=True)}
        columns["warmup"] = read_only(columns["warmup"].astype(np.bool_))
        return columns

    def further(self, where: Path) -> dict[str, Any]:
        """Give the other columns by the names that `Trial` has: numbers are nan where one is unknown."""
        table = np.frombuffer(self._flat, dtype=np.float64).reshape(-1, len(_NUMBERS)).T
        if np.isinf(table).any():
            which, row = np.argwhere(np.isinf(table))[0]
            raise StoreError(
                f"the record is not one of schema {self.schema}: {_NUMBERS[which]} is not a "
                "finite number",
                f"{where}:{row + 1}",
            )
        whole = zip(_NUMBERS, table, strict=True)
        counted = np.frombuffer(self._counted, dtype=np.int8)
        return {
            "numbers": {name: read_only(np.array(row)) for name, row in whole}
            | self._cpu_steal.columns(),
            "metrics": {
                name: metric_column(values, self._counts[name])
                for name, values in self._values.items()
            },
            "counted": read_only(counted.copy()) if (counted == 1).any() else None,
            "absent": frozenset(self._absent),
            "failed": tuple(self._failed),
            "starts": tuple(self._starts.values()),
        }


def read_measurements(path: Path, manifest: Manifest, cautions: list[Caution]) -> Columns:
    """Stream the measurements into columns; an unfinished trial may end in a torn line."""
    columns, number, needed = Columns(manifest), 0, manifest.needed
    try:
        with opened(path) as file:
            for line in file:
                number += 1
                if number % _TOLD_EACH == 0 and number < needed:
                    doing("reading", number, needed, "runs")
                # A line without its newline is torn even when its checksum holds: a resumed
                # trial cuts it off and repeats the run.
                body = line[:-1]
                if not (line.endswith(b"\n") and checksum_holds(body)):
                    if not manifest.files and not file.read(1):
                        text = (
                            f"the last line of {path.name} ({number}) is torn and left out: "
                            "the runner was stopped while it wrote, or is writing now"
                        )
                        cautions.append(Caution("torn-line", text, (path.name,)))
                        return columns
                    what = "the line's checksum is wrong: it was changed or is damaged"
                    fix = "restore the file, or measure again; no run is dropped silently"
                    raise StoreError(what, f"{path}:{number}", fix)
                columns.add(parse(body))
    except OSError as error:
        raise StoreError(f"the measurements cannot be read: {error.strerror}", str(path)) from error
    except _MISSHAPEN as error:
        raise StoreError(
            f"the record is not one of schema {manifest.schema}: {_reason(error)}",
            f"{path}:{number}",
        ) from None
    return columns


_TOGETHER = f"{PLAN} and {MEASUREMENTS} do not belong together: restore both"


def compare_with_plan(
    columns: Mapping[str, NDArray[Any]],
    plan: tuple[Integers, ...],
    manifest: Manifest,
    where: Path,
) -> None:
    """Refuse two rows for one position, rows that are not what was planned there, and odd repeats."""
    position, repeats = columns["position"], columns["repeats"]
    distinct, first, count = np.unique(position, return_index=True, return_counts=True)
    if distinct.size != position.size:
        again = distinct[count > 1][np.argmin(first[count > 1])]
        rows = np.flatnonzero(position == again) + 1
        raise StoreError(
            f"position {again} has {rows.size} rows, the first two in lines {rows[0]} and {rows[1]}",
            f"{where}:{rows[1]}",
            "the trial is damaged: two runners may have written it at once",
        )
    _check_repeats(columns, manifest, where)
    # A negative position is a warm-up that a resumed session repeated, which the plan does not hold,
    # or a disturbed run that was repeated: the plan holds that at the position that it repeats.
    place = np.where(repeats >= 0, repeats, position)
    planned = place >= 0
    bad = ~planned & ~columns["warmup"]
    order = np.argsort(plan[0])
    slot = np.searchsorted(plan[0], place, sorter=order)
    if order.size:
        slot = order[np.minimum(slot, order.size - 1)]
        names = ("session", "block", "benchmark", "variant", "warmup")
        bad |= planned & (place != plan[0][slot])
        for name, expected in zip(names, plan[1:], strict=True):
            bad |= planned & (columns[name] != expected[slot])
    else:
        bad |= planned
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        what = f"the run at position {position[row]} is not the planned one"
        raise StoreError(what, f"{where}:{row + 1}", _TOGETHER)


def _check_repeats(columns: Mapping[str, NDArray[Any]], manifest: Manifest, where: Path) -> None:
    position, repeats = columns["position"], columns["repeats"]
    again = np.flatnonzero(repeats != -1)
    if not again.size:
        return
    if not manifest.repeating:
        what = "the row repeats a run, and a trial of schema 1 has none that does"
        raise StoreError(what, f"{where}:{again[0] + 1}", _TOGETHER)
    rows = {int(place): row for row, place in enumerate(position.tolist())}
    times: dict[int, int] = defaultdict(int)
    for row in again.tolist():
        of = int(repeats[row])
        times[of] += 1
        problem = None
        if position[row] >= 0 or columns["warmup"][row]:
            problem = f"position {position[row]} cannot be that of a run that was repeated"
        elif of < 0 or rows.get(of, row) >= row:
            problem = f"it repeats position {of}, and no such run stands before it"
        elif times[of] > MOST_REPEATS:
            problem = f"position {of} is repeated more than {MOST_REPEATS} times"
        if problem is not None:
            raise StoreError(problem, f"{where}:{row + 1}", "restore the file, or measure again")


def judged_rows(position: Integers, repeats: Integers, disturbed: Integers) -> Flags:
    """Tell of each row whether it is judged: of a repeated run the first undisturbed one, else the first."""
    judged: Flags = repeats == -1
    again = np.flatnonzero(~judged)
    if not again.size:
        return judged
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row in again.tolist():
        rows_of[int(repeats[row])].append(row)
    firsts = np.flatnonzero(np.isin(position, list(rows_of)))
    for first in firsts.tolist():
        rows = [first, *rows_of[int(position[first])]]
        known = [None if flag < 0 else bool(flag) for flag in disturbed[rows].tolist()]
        judged[first] = False
        judged[rows[judged_row(known)]] = True
    return judged


# --- The numbers of builds as columns of a trial: each build has one value, which stands at
# the first run that it was measured with.
#
# A build that serves all sessions has one value in the trial, and not one for each of its runs: as
# many equal values would look like a number that is known exactly.


def build_columns(
    path: Path, manifest: Manifest, rows: Mapping[str, NDArray[Any]], used: NDArray[np.bool_]
) -> dict[str, MetricColumn]:
    """Give the column of each metric of builds; `used` tells which rows stand for a run that ended ok.

    Raises StoreError for a damaged line of ``builds.jsonl``.
    """
    names = [name for name, about in manifest.metrics.items() if is_of_builds(about)]
    if not names:
        return {}
    there = _first_rows(read_builds(path), manifest, rows, used)
    none = metric_column([], np.zeros(used.size, dtype=np.int64))
    return {
        name: none.with_values({row: one.values(name, benchmark) for row, one, benchmark in there})
        for name in names
    }


def _first_rows(
    records: Sequence[BuildRecord],
    manifest: Manifest,
    rows: Mapping[str, NDArray[Any]],
    used: NDArray[np.bool_],
) -> list[tuple[int, BuildRecord, str]]:
    """Give each build's first row with each benchmark, in the order of the rows."""
    of_sessions = layouts_by_session(records)
    once = {
        variant: _of_parts([one for one in records if one.variant == variant], manifest)
        for variant in manifest.variants
        if variant not in of_sessions
    }
    place = np.flatnonzero(used)
    cells = np.stack([rows[key][place] for key in ("variant", "benchmark", "session")])
    _, first = np.unique(cells, axis=1, return_index=True)
    found: list[tuple[int, BuildRecord, str]] = []
    known = set()
    for row in np.sort(place[first]).tolist():
        variant = manifest.variants[rows["variant"][row]]
        benchmark = manifest.benchmarks[rows["benchmark"][row]]
        session = int(rows["session"][row])
        begin, record = session, of_sessions.get(variant, {}).get(session)
        if variant in once:
            begin, record = next(
                ((since, one) for since, one in once[variant] if since <= session), (0, None)
            )
        if record is not None and (variant, benchmark, begin) not in known:
            known.add((variant, benchmark, begin))
            found.append((row, record, benchmark))
    return found


def _of_parts(records: Sequence[BuildRecord], manifest: Manifest) -> list[tuple[int, BuildRecord]]:
    """Give the builds that serve all sessions with the first session that they serve, the last one first.

    Each of the trials that were merged had its own. Of a build that was repeated the last one counts, and where
    parts repeated theirs nobody can tell which is whose: then the last one is that of all.
    """
    made = [one for one in records if one.session == ALL_SESSIONS]
    firsts = sorted(part.first for part in manifest.merged_from)
    if len(made) == len(firsts) > 1:
        return [(since, one) for since, one in zip(firsts, made, strict=True)][::-1]
    return [(1, one) for one in made[-1:]]
