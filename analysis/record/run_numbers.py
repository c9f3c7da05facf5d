"""One run as it was measured: the record, and in it the one table of a run's numbers.

A field of `Measurement` with a row in `NUMBERS` is a number. Its name is the key in a row of
``measurements.jsonl``, in the launcher's reply and in the reader's columns; ``docs/trial-format.md`` says what
it means. A number that a later version adds says `since` which. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from .shapes import StoredSamples
from .trial_files import Stored

FIRST = "0.1.0"  # the version that wrote the first trials of schema 1

Better = Literal["lower", "higher"]
Source = Literal["launcher", "runner", "host"]
Outcome = Literal[
    "ok", "exit", "signal", "timeout", "unparsable", "output-mismatch", "output-limit", "hook-failed",
    "service-failed",
]  # fmt: skip


_LIMIT = re.compile(r"timeout of ([0-9]{1,15}(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?) s")


def limit_of(detail: str | None, lasted_s: float) -> float:
    """Give the time limit that ended a run, as its `detail` says it; how long it lasted where that says nothing."""
    found = _LIMIT.search(detail or "")
    return float(found[1]) if found else lasted_s


class RunNumber(NamedTuple):
    """What is known of one number: a row of the table.

    `unit`: Of the stored value; it ends the number's name. Empty for a count. `source`: Who knows it: the launcher sends
    it in its reply, the runner does or sees it around the run, the host shows it to everybody. `metric`:
    What ``--metric`` calls it; None for one that is no metric. `better`: Which values of the metric
    are better. `floor`: The number at or below which a value says only "at most that much": the kernel passes the peak
    of the process that spawns on to a new one. `since`: The first version of fairtrial that stores it.
    """

    unit: str
    source: Source
    metric: str | None = None
    better: Better = "lower"
    floor: str | None = None
    since: str = FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run as it was measured: a line of ``measurements.jsonl``. Nothing is rounded.

    `position` is that of the planned run, or a negative number, unique in the trial, for a warm-up
    that a resumed session repeats, and for a run that was executed again because it was disturbed:
    `repeats` is its planned position. `disturbed` says whether it waited for a CPU. `counted` marks a
    run that is there for its counters alone among runs that are not, and is None where all runs are
    alike. `samples` tells of metrics whose values stand in files; in `metrics` is their mean. `cpu_steal_s` is
    the `steal_s` of each CPU of the host, by its number; one that lost nothing is not
    there. ``None`` means unknown, never zero, and so does a key that a row does not have: a run whose
    hook before it failed was not executed and has no times, and a trial of another version may have
    other numbers.
    """

    position: int
    session: int
    segment: int
    block: int
    benchmark: str
    variant: str
    warmup: bool
    repeats: int | None = None
    started_at: str | None = None
    start_ns: int | None = None
    wall_ns: int | None = None
    spawn_ns: int | None = None
    user_s: float | None = None
    system_s: float | None = None
    max_rss_bytes: int | None = None
    max_rss_floor_bytes: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    on_cpu_ns: int | None = None
    run_delay_ns: int | None = None
    launcher_delay_ns: int | None = None
    launcher_on_cpu_ns: int | None = None
    peak_memory_tree_bytes: int | None = None
    tree_cpu_s: float | None = None
    tree_stall_s: float | None = None
    group_leave_ns: int | None = None
    cpus: tuple[int, ...] | None = None
    frequency_khz: int | None = None
    temperature_c: float | None = None
    steal_s: float | None = None
    load_1min: float | None = None
    pressure_cpu_s: float | None = None
    pressure_memory_s: float | None = None
    pressure_io_s: float | None = None
    service_cpus_busy_s: float | None = None
    cpu_steal_s: Mapping[str, float] | None = None
    padding_bytes: int | None = None
    suspended: int | None = None
    disturbed: bool | None = None
    outcome: Outcome
    exit_code: int | None = None
    signal: int | None = None
    detail: str | None = None
    oom: bool | None = None  # whether the kernel killed one of its processes for lack of memory
    metrics: Mapping[str, tuple[float, ...]]
    samples: Mapping[str, StoredSamples] = field(default_factory=dict)
    counted: bool | None = None
    stdout_bytes: int | None = None
    stdout_sha256: str | None = None
    orphans: int = 0
    before_s: float | None = None
    after_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the measurement as JSON types, without the checksum."""
        data = {key: getattr(self, key) for key in _KEYS}
        data["cpus"] = None if self.cpus is None else list(self.cpus)
        data["cpu_steal_s"] = None if self.cpu_steal_s is None else dict(self.cpu_steal_s)
        data["metrics"] = {name: list(values) for name, values in self.metrics.items()}
        data["samples"] = {name: one.to_dict() for name, one in self.samples.items()}
        if not self.samples:
            del data["samples"]
        return data


_KEYS = tuple(field.name for field in fields(Measurement))

# The table, by name, in the order of a row.
NUMBERS: Mapping[str, RunNumber] = {
    "start_ns": RunNumber("ns", "launcher"),
    "wall_ns": RunNumber("ns", "launcher", metric="wall"),
    "spawn_ns": RunNumber("ns", "launcher"),
    "user_s": RunNumber("s", "launcher", metric="user"),
    "system_s": RunNumber("s", "launcher", metric="system"),
    "max_rss_bytes": RunNumber("B", "launcher", metric="max_rss", floor="max_rss_floor_bytes"),
    "max_rss_floor_bytes": RunNumber("B", "launcher"),
    "minor_faults": RunNumber("", "launcher"),
    "major_faults": RunNumber("", "launcher"),
    "voluntary_switches": RunNumber("", "launcher"),
    "involuntary_switches": RunNumber("", "launcher"),
    "on_cpu_ns": RunNumber("ns", "launcher", since="0.2.0"),
    "run_delay_ns": RunNumber("ns", "launcher", since="0.2.0"),
    "launcher_delay_ns": RunNumber("ns", "launcher", since="0.2.0"),
    "launcher_on_cpu_ns": RunNumber("ns", "launcher", since="0.2.0"),
    "peak_memory_tree_bytes": RunNumber("B", "launcher", metric="peak_memory_tree", since="0.2.0"),
    "tree_cpu_s": RunNumber("s", "launcher", metric="tree_cpu", since="0.2.0"),
    "tree_stall_s": RunNumber("s", "launcher", since="0.2.0"),
    "group_leave_ns": RunNumber("ns", "launcher", since="0.2.0"),
    "frequency_khz": RunNumber("kHz", "host"),
    "temperature_c": RunNumber("C", "host"),
    "steal_s": RunNumber("s", "host"),
    "load_1min": RunNumber("", "host", since="0.3.0"),
    "pressure_cpu_s": RunNumber("s", "host", since="0.3.0"),
    "pressure_memory_s": RunNumber("s", "host", since="0.3.0"),
    "pressure_io_s": RunNumber("s", "host", since="0.3.0"),
    "service_cpus_busy_s": RunNumber("s", "host", since="0.3.0"),
    "padding_bytes": RunNumber("B", "runner"),
    "suspended": RunNumber("", "runner", since="0.3.0"),
    "stdout_bytes": RunNumber("B", "runner"),
    "orphans": RunNumber("", "launcher"),
    "before_s": RunNumber("s", "runner"),
    "after_s": RunNumber("s", "runner"),
}
LAUNCHER_NUMBERS = frozenset(name for name, about in NUMBERS.items() if about.source == "launcher")


class MetricInfo(NamedTuple):
    """What a metric's numbers mean: its unit and which direction is better."""

    unit: str
    better: Better


# The metrics that every run has, and the numbers that they are. Durations are judged in seconds.
# Those parsed from output are described in the manifest.
METRIC_NUMBERS: Mapping[str, str] = {
    about.metric: name for name, about in NUMBERS.items() if about.metric is not None
}
BUILTIN_METRICS: Mapping[str, MetricInfo] = {
    metric: MetricInfo(
        unit="s" if NUMBERS[name].unit == "ns" else NUMBERS[name].unit, better=NUMBERS[name].better
    )
    for metric, name in METRIC_NUMBERS.items()
}
# No campaign may use these names. One that a later version measures may stand in a campaign already:
# there the campaign's own metric keeps the name.
RESERVED_METRICS = tuple(
    metric for metric, name in METRIC_NUMBERS.items() if NUMBERS[name].since == FIRST
)


# --- The metrics that the services of a campaign have in each run: their names and units.


SERVICES = "services"  # of these metrics, in the manifest
PEAK, PEAK_SINCE_START, PEAK_TREE = "peak_memory", "peak_memory_since_start", "peak_memory_tree"
_SERVICE_UNITS: Mapping[str, str] = {
    "cpu": "s",
    "wait": "s",
    "disk_read": "B",
    "disk_written": "B",
    "voluntary_switches": "",
    "involuntary_switches": "",
}


def metric_of(service: str, what: str) -> str:
    """Name the metric of a service: ``service.redis.cpu``."""
    return f"service.{service}.{what}"


def metrics_of(service: str, *peaks: str) -> Iterator[tuple[str, str]]:
    """Give the metrics of a service and their units, with these of its `peaks`."""
    for what, unit in {**_SERVICE_UNITS, **dict.fromkeys(peaks, "B")}.items():
        yield metric_of(service, what), unit


def grows(metric: str) -> bool:
    """Tell whether a service's metric is a sum over the run, so that a longer run has more of it.

    >>> grows("service.redis.disk_read"), grows("service.redis.peak_memory")
    (True, False)
    """
    return metric.rpartition(".")[2] in _SERVICE_UNITS


# --- Which run is disturbed, and which row of a run that was repeated is judged: rules fixed before
# the data.
#
# Neither looks at how long a run took compared with others: what is chosen by its value is
# biased.


SHARE = 0.005  # of its wall time; a run that waited for longer than that and than
LEAST_NS = 50_000  # this, in nanoseconds, is disturbed
MOST_REPEATS = 2  # of a run


def waited_ns(
    run_delay_ns: int | None, launcher_delay_ns: int | None, launcher_on_cpu_ns: int | None
) -> int | None:
    """Give how long a run waited for a CPU that somebody else had, in nanoseconds."""
    if run_delay_ns is None or launcher_delay_ns is None or launcher_on_cpu_ns is None:
        return None
    return run_delay_ns + launcher_delay_ns - launcher_on_cpu_ns


def is_disturbed(wall_ns: int | None, waited_ns: int | None) -> bool | None:
    """Tell whether a run waited for more than max(0.5 %, 50 us) of its wall time."""
    if wall_ns is None or waited_ns is None:
        return None
    return waited_ns > max(SHARE * wall_ns, LEAST_NS)


def service_disturbed(
    wall_ns: int | None, wait_ns: int | None, others_ns: int | None
) -> bool | None:
    """Tell whether a service waited for longer than that during a run.

    `wait_ns` is how long all its threads waited, also for each other; `others_ns` the least that one of them
    waited for somebody else. Between the two nobody knows.
    """
    if wait_ns is None or others_ns is None:
        return None
    if is_disturbed(wall_ns, others_ns):
        return True
    return None if is_disturbed(wall_ns, wait_ns) is not False else False


def together(parts: Iterable[bool | None]) -> bool | None:
    """Tell whether a run or one of its services was disturbed; None where none was, and one of them is unknown."""
    found = tuple(parts)
    return True if True in found else None if None in found else False


def judged_row(disturbed: Iterable[bool | None]) -> int:
    """Choose among the rows of one run: the first that is known to be undisturbed, else the first."""
    return next((place for place, one in enumerate(disturbed) if one is False), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbances(Stored):
    """How many measured runs were disturbed. Warm-ups and runs that failed are not counted.

    `known` is of how many runs it is known, `disturbed` how many of those were, `repeats` how many
    rows repeat one, and `mended` how many disturbed runs have an undisturbed row after all.
    """

    known: int
    disturbed: int
    repeats: int
    mended: int


class DisturbanceTally:
    """Counts disturbed runs, row by row in the order of execution."""

    def __init__(self) -> None:
        self._known = self._disturbed = self._repeats = 0
        self._mended: set[int] = set()

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row as it is stored; its shape was checked."""
        disturbed, repeats = row.get("disturbed"), row.get("repeats")
        if repeats is not None:
            self._repeats += 1
            if disturbed is False:
                self._mended.add(repeats)
            return
        measured = row["position"] >= 0 and not row["warmup"] and row["outcome"] == "ok"
        if measured and disturbed is not None:
            self._known += 1
            self._disturbed += disturbed

    @property
    def counts(self) -> Disturbances:
        """What was counted so far."""
        return Disturbances(
            known=self._known,
            disturbed=self._disturbed,
            repeats=self._repeats,
            mended=len(self._mended),
        )
