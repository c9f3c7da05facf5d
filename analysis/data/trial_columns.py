"""The columns of a trial: what each run's row and the manifest say, by metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..record import Manifest, asked_now
from ..report import Caution
from ..run_numbers import BUILTIN_METRICS, METRIC_NUMBERS, NUMBERS, Better, MetricInfo
from ..stats import read_only
from .beside import read_host_record
from .columns import FailedRun, MetricColumn
from .levels import Level
from .question import differing
from .unit import Unit

__all__ = ["TrialColumns"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


_WAITED = ("run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")


def _none() -> Integers:
    return np.empty(0, dtype=np.int64)


def _no_flags() -> NDArray[np.bool_]:
    return np.empty(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialColumns:
    """A trial's manifest, and one entry a run in each column, in the order of execution.

    `benchmark`, `variant` and `outcome` hold indices into the manifest's benchmarks and variants
    and into ``OUTCOMES``; an unknown `start_ns` is -1. `numbers` holds the other numbers of
    `analysis.run_numbers` by their names, nan where one is unknown; `absent` names those that no
    run has, because another version of fairtrial wrote the trial. `cautions` says what a reader should know before trusting the values. `planned_runs` is what
    the plan holds; under a stopping rule that is the most, and `manifest.needed` what it came to.
    `repeats` is the planned position of a disturbed run that the row repeats, else -1; `disturbed` is
    1, 0, or -1 where it is not known; `chosen` tells which row of a run is the one to judge.
    `level` says what a matrix takes for a run: a process, or each of its iterations. `counted` is 1 of
    a run that is there for its counters alone, 0 of one beside such, and -1 of one that has both: a
    trial was gone on with under other settings. It is None where all runs are alike. `outermost` says
    what its sessions are: of a fleet that was read as one trial, each may be a host.
    """

    path: Path
    manifest: Manifest
    cautions: tuple[Caution, ...]
    planned_runs: int
    position: Integers
    session: Integers
    segment: Integers
    block: Integers
    benchmark: Integers
    variant: Integers
    outcome: Integers
    warmup: NDArray[np.bool_]
    start_ns: Integers
    numbers: Mapping[str, Floats]
    absent: frozenset[str]
    metrics: Mapping[str, MetricColumn]
    failed: tuple[FailedRun, ...]
    level: Level = "process"
    outermost: Unit = "session"
    counted: NDArray[np.int8] | None = None
    repeats: Integers = field(default_factory=_none)
    disturbed: Integers = field(default_factory=_none)
    chosen: NDArray[np.bool_] = field(default_factory=_no_flags)

    def __post_init__(self) -> None:
        if self.repeats.size == len(self):
            return
        # made in memory, without repeats: each row stands for a run, and nobody knows of disturbances
        nothing = read_only(np.full(len(self), -1, dtype=np.int64))
        object.__setattr__(self, "repeats", nothing)
        object.__setattr__(self, "disturbed", nothing)
        object.__setattr__(self, "chosen", read_only(np.ones(len(self), dtype=np.bool_)))

    def __len__(self) -> int:
        return int(self.position.size)

    @property
    def running(self) -> bool:
        """Whether the manifest says ``running``: the trial runs, or its runner was killed."""
        return self.manifest.status == "running"

    @property
    def finished(self) -> bool:
        """Whether the trial is no longer running."""
        return not self.running

    @property
    def candidates(self) -> NDArray[np.bool_]:
        """Which rows stand for a planned run: no warm-ups, and one row of a run that was repeated."""
        return self.chosen & ~self.warmup

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Which of these ended ``ok``."""
        return cast("NDArray[np.bool_]", self.candidates & (self.outcome == 0))

    @property
    def planned_position(self) -> Integers:
        """The place of each row's run in the plan; negative of a warm-up that was repeated."""
        return np.where(self.repeats >= 0, self.repeats, self.position)

    @property
    def waited_ns(self) -> Floats:
        """How long each run waited for a CPU that somebody else had; nan where it is not known.

        Of its wall time, on-CPU time and waiting, what is left is `other_ns`.
        """
        delay, late, own = (self.numbers[name] for name in _WAITED)
        return delay + late - own

    @property
    def other_ns(self) -> Floats:
        """What of each run's wall time it neither worked nor waited for a CPU; nan where not known.

        That is sleep, input and output, and what a hypervisor took; it may be negative, and is never
        clipped.
        """
        return self.numbers["wall_ns"] - self.numbers["on_cpu_ns"] - self.waited_ns

    @property
    def sessions(self) -> int:
        """How many sessions have at least one run that counts."""
        return int(np.unique(self.session[self.measured]).size)

    def failures(self) -> tuple[FailedRun, ...]:
        """Give the runs whose outcome is not ``ok``, warm-ups included, in order."""
        return self.failed

    @property
    def default_metric(self) -> str:
        """The first of `questions`."""
        return self.questions[0]

    @property
    def asked(self) -> tuple[str, ...]:
        """The metrics that the campaign's `judge` names, the first one first; none without the key.

        Raises
        ------
        UsageError
            If the trial is made of parts whose campaigns name others.
        """
        asked = self.manifest.questions
        if asked is None:
            raise differing(str(self.path), asked_now(self.manifest.judge))
        return asked

    @property
    def questions(self) -> tuple[str, ...]:
        """The metrics that are judged where nobody names one: those `asked`, else the wall time.

        Of an imported trial it is the first one. Raises what `asked` does.
        """
        first = next(iter(self.manifest.metrics), "wall")
        return self.asked or (first if self.manifest.origin == "imported" else "wall",)

    def is_usual(self, metric: str) -> bool:
        """Tell whether a metric is the one that is judged where nobody names one."""
        return self.manifest.questions is not None and metric == self.default_metric

    @property
    def unasked(self) -> tuple[str, ...]:
        """The metrics that benchmarks declare, where the campaign says of none that it is the question.

        An imported trial has none: what its files hold is what is judged. Raises what `asked` does.
        """
        imported = self.manifest.origin == "imported"
        return () if imported or self.asked else self.manifest.declared

    def metric(self, name: str) -> MetricInfo:
        """Give the unit and the direction of a metric.

        Raises
        ------
        UsageError
            If the trial has no such metric.
        """
        info = self.manifest.metrics.get(name)
        if info is not None:
            return MetricInfo(unit=info["unit"], better=cast("Better", info["better"]))
        number = METRIC_NUMBERS.get(name)
        if number is not None and number not in self.absent:
            return BUILTIN_METRICS[name]
        what = f"the trial has no metric {name!r}"
        if number is not None:
            what += (
                f": fairtrial records it since version {NUMBERS[number].since}, "
                f"and {self.manifest.tool_version} began this trial"
            )
        elif why := read_host_record(self.path).kept_from(name):
            what += f", and the check {why.check!r} said why: {why.what}"
        measured = self.manifest.origin != "imported"  # of other tools' runs they are all unknown
        there = [
            metric for metric, key in METRIC_NUMBERS.items() if measured and key not in self.absent
        ]
        known = ", ".join(dict.fromkeys([*there, *self.manifest.metrics]))
        raise UsageError(what, str(self.path), f"known here: {known}")

    def apart(self, metric: str) -> NDArray[np.bool_]:
        """Tell which runs have no value of a metric by design.

        Where a campaign counts in some blocks only, the counters are those of these blocks, and all
        else is taken from the others: a run that is counted is a little slower.
        """
        if self.counted is None:
            return np.zeros(len(self), dtype=np.bool_)
        return cast("NDArray[np.bool_]", self.counted == (0 if self.is_counter(metric) else 1))

    def is_counter(self, metric: str) -> bool:
        """Tell whether a metric was counted by processor or kernel while a run lasted."""
        return self.manifest.metrics.get(metric, {}).get("source") == "counters"

    def holds_waiting(self, metric: str) -> bool:
        """Tell whether the time that a run waits, or that others take from it, goes into a metric.

        It goes into `wall`, into energy, and into what a program measures itself, as far as anybody knows;
        not into processor time, memory, and events that are counted of the program alone.
        """
        ours = metric in METRIC_NUMBERS and metric not in self.manifest.metrics
        return metric == "wall" if ours else not self.is_counter(metric)

    def judged(self, metric: str) -> NDArray[np.bool_]:
        """Tell which runs count for a metric: those `measured` that are meant to have a value of it."""
        return self.measured & ~self.apart(metric)

    def values(self, metric: str) -> Floats:
        """Give one value of a metric for each run, nan where it is unknown.

        A run's value of a metric with several iterations is their mean. Durations are seconds. The
        runs that stand `apart` for this metric have no value of it.

        Raises
        ------
        UsageError
            If the trial has no such metric.
        """
        self.metric(metric)
        if metric in self.metrics:
            column = self.metrics[metric].per_run()
        else:
            number = METRIC_NUMBERS[metric]
            column = self.numbers[number]
            column = column / 1e9 if NUMBERS[number].unit == "ns" else column
        return column if self.counted is None else np.where(self.apart(metric), np.nan, column)

    def at_floor(self, metric: str) -> NDArray[np.bool_]:
        """Tell of each run whether its value of a metric only says "at most the floor"."""
        number = None if metric in self.metrics else METRIC_NUMBERS.get(metric)
        floor = None if number is None else NUMBERS[number].floor
        if number is None or floor is None:
            return np.zeros(len(self), dtype=np.bool_)
        return self.numbers[number] <= self.numbers[floor]
