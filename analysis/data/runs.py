"""The rows of a trial as columns, and what its campaign asks: nothing here knows what a metric means.

Values that are too many for a row stand in files of ``samples/``: they are read one run at a time, when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.shapes import SAMPLES, StoredSamples, read_samples, sample_file
from ..record.trial_files import Manifest, asked_now
from ..stats.samples import Array, Flags, Integers, read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..record.manifest import WarmupIterations
    from .columns import FailedRun, MetricColumn
    from .levels import Level, Unit


class StoredRun(NamedTuple):
    """Where the values of a metric in a run stand, and what its row says of them."""

    path: Path
    about: StoredSamples

    @property
    def iterations(self) -> int:
        """How many values the run printed one after the other; 0 of what tells only how they are distributed."""
        return self.about.count if self.about.form == "values" else 0

    def values(self) -> Array:
        """Read the doubles of the file; raises StoreError where they are not those that the row tells of."""
        return read_only(np.frombuffer(read_samples(self.path, self.about), dtype="<f8"))


# of a trial: metric -> row -> where its values are
StoredRuns = Mapping[str, Mapping[int, StoredRun]]


def stored_runs(
    trial: Path, found: Mapping[str, Mapping[int, StoredSamples]], arrays: Mapping[str, Any]
) -> StoredRuns:
    """Name the files of what the rows of a trial say: metric -> row -> its values."""

    def place(row: int, metric: str) -> Path:
        position, warmup = int(arrays["position"][row]), bool(arrays["warmup"][row])
        return trial / sample_file(position, metric, warmup=warmup)

    return {
        metric: {row: StoredRun(place(row, metric), about) for row, about in rows.items()}
        for metric, rows in found.items()
    }


def missing_samples(runs: StoredRuns, manifest: Manifest) -> Iterator[Caution]:
    """Name the files that rows tell of and that were gone before the trial ended: no manifest lists them."""
    for one in (one for rows in runs.values() for one in rows.values()):
        name = f"{SAMPLES}/{one.path.name}"
        kept = one.about.sha256 is not None
        if kept and name not in manifest.files and not one.path.is_file():
            yield Caution("samples-gone", f"{name} is gone, though its row tells of it", (name,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """The runs of a trial: its manifest, and one entry a run in each column, in the order of execution.

    `benchmark`, `variant` and `outcome` hold indices into the manifest's benchmarks and variants
    and into ``OUTCOMES``; an unknown `start_ns` is -1. `numbers` holds the other numbers of
    `analysis.record.run_numbers` by their names, nan where one is unknown, and what a hypervisor took from each CPU; `absent`
    names those that no run has, because another version of fairtrial wrote the trial. `cautions` says what a reader should
    know before trusting the values. `planned_runs` is what the plan holds; under a stopping rule that is the most, and
    `manifest.needed` what it came to.
    `repeats` is the planned position of a disturbed run that the row repeats, else -1; `disturbed` is
    1, 0, or -1 where it is not known; `chosen` tells which row of a run is the one to judge.
    `level` says what a matrix takes for a run: a process, or each of its iterations. `counted` is 1 of
    a run that is there for its counters alone, 0 of one beside such, and -1 of one that has both: a
    trial was gone on with under other settings. It is None where all runs are alike. `outermost` says
    what its sessions are: of a fleet that was read as one trial, each may be a host. `warmup_iterations`
    takes the place of what the manifest says of its metrics. `stored` tells where the values of a run stand that are
    too many for its row: in `metrics` it has one value, their mean. With `own_quantiles` quantiles are those of runs,
    as of a trial beside it no others are known; `compared_at` tells of how many values at most, as that has no more.
    `memo` keeps what was computed of a metric.
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
    warmup: Flags
    start_ns: Integers
    numbers: Mapping[str, Array]
    absent: frozenset[str]
    metrics: Mapping[str, MetricColumn]
    failed: tuple[FailedRun, ...]
    level: Level = "process"
    outermost: Unit = "session"
    counted: NDArray[np.int8] | None = None
    warmup_iterations: WarmupIterations | None = None
    repeats: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    disturbed: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    chosen: Flags = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    stored: StoredRuns = field(default_factory=dict)
    own_quantiles: bool = False
    compared_at: Mapping[str, int] = field(default_factory=dict)
    memo: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False)

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
    def candidates(self) -> Flags:
        """Which rows stand for a planned run: no warm-ups, and one row of a run that was repeated."""
        return self.chosen & ~self.warmup

    @property
    def measured(self) -> Flags:
        """Which of these ended ``ok``."""
        return cast("Flags", self.candidates & (self.outcome == 0))

    @property
    def planned_position(self) -> Integers:
        """The place of each row's run in the plan; negative of a warm-up that was repeated."""
        return np.where(self.repeats >= 0, self.repeats, self.position)

    @property
    def sessions(self) -> int:
        """How many sessions have at least one run that counts."""
        return int(np.unique(self.session[self.measured]).size)

    def of_variant(self, variant: str) -> Flags:
        """Tell which rows are those of a variant."""
        return cast("Flags", self.variant == self.manifest.variants.index(variant))

    @property
    def judge(self) -> tuple[str, ...]:
        """The metrics that the campaign's `judge` names, the first one first; none without the key.

        Raises UsageError where the parts of a trial name different ones.
        """
        asked = self.manifest.questions
        if asked is None:
            raise differing(str(self.path), asked_now(self.manifest.judge))
        return asked

    @property
    def default_metric(self) -> str:
        """The metric that is judged where nobody names one: that of `judge`, else the wall time.

        Of an imported trial it is the first one. Raises what `judge` does.
        """
        first = next(iter(self.manifest.metrics), "wall")
        usual = first if self.manifest.origin == "imported" else "wall"
        return next(iter(self.judge), usual)

    def is_usual(self, metric: str) -> bool:
        """Tell whether a metric is the one that is judged where nobody names one."""
        return self.manifest.questions is not None and metric == self.default_metric

    @property
    def unasked(self) -> tuple[str, ...]:
        """The metrics that benchmarks declare, where the campaign says of none that it is the question.

        An imported trial has none: what its files hold is what is judged. Raises what `judge` does.
        """
        imported = self.manifest.origin == "imported"
        return () if imported or self.judge else self.manifest.declared


def stored_together(trials: Sequence[Runs]) -> StoredRuns:
    """Give the runs of several trials whose rows stand one behind the other."""
    both: dict[str, dict[int, StoredRun]] = {}
    begin = 0
    for trial in trials:
        for metric, rows in trial.stored.items():
            both.setdefault(metric, {}).update({row + begin: one for row, one in rows.items()})
        begin += len(trial)
    return both


def differing(where: str, asked: Mapping[str, tuple[str, ...]]) -> UsageError:
    """Give the error for trials, or parts of one, that were declared to answer different questions."""
    parts = [f"{name}: {', '.join(metrics) or 'nothing'}" for name, metrics in asked.items()]
    metrics = dict.fromkeys(metrics[0] for metrics in asked.values() if metrics)
    return UsageError(
        "the campaigns name different metrics as their question (key 'judge'): "
        f"{figures.listed(parts, 4, mark='; ', last='; and')}",
        where,
        f"say which is meant: {' or '.join(f'--metric {name}' for name in metrics)}",
    )
