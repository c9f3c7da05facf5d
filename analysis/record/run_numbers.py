"""One run as it was measured: the record, and in it the one table of a run's numbers.

A field of `Measurement` whose type carries a `RunNumber` is a number of the table. Its name is the
key in a row of ``measurements.jsonl``, in the launcher's reply and in the reader's columns; what is
known of it stands here and nowhere else. A number that a later version adds says `since` which.
Standard library only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple

from .shapes import StoredSamples

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

    `unit`: Of the stored value; it ends the number's name. Empty for a count. `what`: Its meaning,
    word for word as in ``docs/trial-format.md``. `source`: Who knows it: the launcher sends it in
    its reply, the runner does or sees it around the run, the host shows it to everybody. `metric`:
    What ``--metric`` calls it; None for one that is no metric. `better`: Which values of the metric
    are better. `floor`: The number at or below which a value says only "at most that much".
    `since`: The first version of fairtrial that stores it.
    """

    unit: str
    what: str
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
    `repeats` is its planned position. `disturbed` says whether it waited for a CPU. `counted` tells a
    run that is there for its counters alone from those beside it, and is None where all runs are
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
    start_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "the monotonic clock at the start: orders runs of one boot, means nothing beyond",
            "launcher",
        ),
    ] = None
    wall_ns: Annotated[
        int | None,
        RunNumber("ns", "from the start until the end was noticed", "launcher", metric="wall"),
    ] = None
    spawn_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "the part of `wall_ns` until the launcher had started the process: it exists, "
            "and its program is loaded",
            "launcher",
        ),
    ] = None
    user_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "processor time in the program, with that of children it waited for",
            "launcher",
            metric="user",
        ),
    ] = None
    system_s: Annotated[
        float | None,
        RunNumber("s", "processor time in the kernel, likewise", "launcher", metric="system"),
    ] = None
    max_rss_bytes: Annotated[
        int | None,
        RunNumber(
            "B",
            "largest resident memory of any one of these processes",
            "launcher",
            metric="max_rss",
            floor="max_rss_floor_bytes",
        ),
    ] = None
    # The kernel passes the peak of the process that spawns on to a new one.
    max_rss_floor_bytes: Annotated[
        int | None,
        RunNumber(
            "B",
            "the launcher's own peak; a `max_rss_bytes` at or below it only says "
            '"at most the floor"',
            "launcher",
        ),
    ] = None
    minor_faults: Annotated[
        int | None, RunNumber("", "page faults that needed no disk", "launcher")
    ] = None
    major_faults: Annotated[
        int | None, RunNumber("", "page faults that needed the disk", "launcher")
    ] = None
    voluntary_switches: Annotated[
        int | None, RunNumber("", "how often it waited for something", "launcher")
    ] = None
    involuntary_switches: Annotated[
        int | None, RunNumber("", "how often it was descheduled", "launcher")
    ] = None
    on_cpu_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "the part of `wall_ns` in which the program was on a CPU; null when threads or children, "
            "waited for or not, have a part of the processor time, or the kernel keeps no such account",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    run_delay_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "how long it was ready to run and waited for a CPU, likewise",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    launcher_delay_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "how long the launcher waited for a CPU within `wall_ns` while the program neither "
            "ran nor waited for one: the end was noticed that much too late; likewise",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    launcher_on_cpu_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "how long the launcher was on a CPU within `wall_ns`; likewise",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    peak_memory_tree_bytes: Annotated[
        int | None,
        RunNumber(
            "B",
            "most memory of all its processes together, at one time, with their page cache and "
            "what the kernel holds for them; null without a cgroup that accounts for memory",
            "launcher",
            metric="peak_memory_tree",
            since="0.2.0",
        ),
    ] = None
    tree_cpu_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "processor time of all its processes, whoever waited for them; null without a cgroup",
            "launcher",
            metric="tree_cpu",
            since="0.2.0",
        ),
    ] = None
    tree_stall_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "time in which at least one of its processes waited for a CPU; null without a cgroup "
            "that tells",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    group_leave_ns: Annotated[
        int | None,
        RunNumber(
            "ns",
            "the part of `wall_ns`, behind `spawn_ns`, in which the launcher left the run's cgroup; "
            "null without one, and where it need not enter it",
            "launcher",
            since="0.2.0",
        ),
    ] = None
    cpus: tuple[int, ...] | None = None
    frequency_khz: Annotated[
        int | None,
        RunNumber(
            "kHz",
            "frequency of the first of them, read after the run, as its driver reports it",
            "host",
        ),
    ] = None
    temperature_c: Annotated[
        float | None, RunNumber("C", "the hottest processor package, read after the run", "host")
    ] = None
    steal_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "time that a hypervisor took from these CPUs during the run; the kernel counts it "
            "in ticks, usually of 0.01 s",
            "host",
        ),
    ] = None
    load_1min: Annotated[
        float | None,
        RunNumber(
            "",
            "load of the host, the mean of the last minute, read before the run",
            "host",
            since="0.3.0",
        ),
    ] = None
    pressure_cpu_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "time during the run in which some process of the host waited for a CPU; null where the "
            "kernel keeps no account of pressure",
            "host",
            since="0.3.0",
        ),
    ] = None
    pressure_memory_s: Annotated[
        float | None,
        RunNumber("s", "the same of waiting for memory", "host", since="0.3.0"),
    ] = None
    pressure_io_s: Annotated[
        float | None,
        RunNumber("s", "the same of waiting for input and output", "host", since="0.3.0"),
    ] = None
    service_cpus_busy_s: Annotated[
        float | None,
        RunNumber(
            "s",
            "how long the CPUs of the services that the run uses were busy during it, all added up, "
            "whoever ran there; in ticks too; null without services",
            "host",
            since="0.3.0",
        ),
    ] = None
    cpu_steal_s: Mapping[str, float] | None = None
    padding_bytes: Annotated[
        int | None, RunNumber("B", "bytes added to the environment: they move the stack", "runner")
    ] = None
    suspended: Annotated[
        int | None,
        RunNumber(
            "",
            "how often it was discarded before and executed again, because the launcher, fairtrial or "
            "the machine stood still",
            "runner",
            since="0.3.0",
        ),
    ] = None
    disturbed: bool | None = None
    outcome: Outcome
    exit_code: int | None = None
    signal: int | None = None
    detail: str | None = None
    oom: bool | None = None  # whether the kernel killed one of its processes for lack of memory
    metrics: Mapping[str, tuple[float, ...]]
    samples: Mapping[str, StoredSamples] = field(default_factory=dict)
    counted: bool | None = None
    stdout_bytes: Annotated[
        int | None,
        RunNumber("B", "size of the standard output; null when it was discarded", "runner"),
    ] = None
    stdout_sha256: str | None = None
    orphans: Annotated[
        int,
        RunNumber(
            "",
            "processes that were still there when the program had ended, and had to be killed",
            "launcher",
        ),
    ] = 0
    before_s: Annotated[
        float | None, RunNumber("s", "time of the hooks before the run; null without any", "runner")
    ] = None
    after_s: Annotated[float | None, RunNumber("s", "time of the hooks after it", "runner")] = None

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

# The table, by name.
NUMBERS: Mapping[str, RunNumber] = {
    field.name: about
    for field in fields(Measurement)
    for about in getattr(field.type, "__metadata__", ())
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
