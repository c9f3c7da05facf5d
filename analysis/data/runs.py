"""The rows of a trial as columns, and what its campaign asks: nothing here knows what a metric means.

Values that are too many for a row stand in files of ``samples/``: they are read one run at a time, when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..record.shapes import SAMPLES, StoredSamples, read_samples, sample_file
from ..record.trial_files import Manifest, judged_now
from ..stats.samples import Array, Flags, Integers, read_only

if TYPE_CHECKING:
    from ..record.manifest import WarmupIterations
    from .columns import FailedRun, MetricColumn, SegmentStart


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
    a run that is there for its counters alone, 0 of one without counters, and -1 of one that has both: a
    trial was gone on with under other settings. It is None where all runs are alike. `outermost` says
    what its sessions are: of a fleet that was read as one trial, each may be a host. `warmup_iterations`
    takes the place of what the manifest says of its metrics. `stored` tells where the values of a run stand that are
    too many for its row: in `metrics` it has one value, their mean. With `own_quantiles` quantiles are those of runs,
    as no others are known of the trial compared with it; `compared_at` tells of how many values at most, as that has no more.
    `compared` names the variants whose quantiles are, where not all. `starts` has what the first rows of sessions, and of parts
    that were resumed, say in addition.
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
    compared: frozenset[str] = frozenset()
    starts: tuple[SegmentStart, ...] = ()
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
            raise differing(str(self.path), judged_now(self.manifest.judge))
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
    def unnamed(self) -> tuple[str, ...]:
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


# --- Levels of the data: hosts, sessions, blocks and processes by their ids, and iterations below a
# run.
#
# Iterations of one process share its memory layout, its caches, its compiled code. A method that
# takes them for independent draws finds differences where there are none: pooled, one program
# under two names is found different in 17 to 72 % of comparisons. So a run is the arithmetic mean of
# its process's iterations, everywhere, unless somebody asks for the iterations.


Level = str  # "process" or "iteration"
Unit = Literal["host", "session"]
Ids = Mapping[str, Sequence[int] | Sequence[str] | NDArray[Any]]
Rows = tuple[NDArray[Any], ...]  # an array a benchmark


def ids_of(
    name: str, kind: str, ids: Ids | None, benchmarks: tuple[str, ...], samples: Rows
) -> Rows | None:
    """Give the ids of every benchmark's values as read-only arrays; None stays None."""
    if ids is None:
        return None
    if set(ids) != set(benchmarks):
        raise UsageError(f"{kind} must name the same benchmarks as the samples", name)
    rows = []
    for bench, values in zip(benchmarks, samples, strict=True):
        try:
            row = np.array(ids[bench])
        except (ValueError, OverflowError):  # lists within, or numbers that no array holds
            row = np.array(None)
        if row.shape != values.shape or row.dtype.kind not in "iuU":
            raise UsageError(
                f"{kind} must hold one whole number or name for each of the {len(values)} runs",
                f"{name}, benchmark {bench!r}",
            )
        rows.append(read_only(row))
    return tuple(rows)


class Processes(NamedTuple):
    """A benchmark's iterations by process, in the order in which processes appear.

    `means` of each process's iterations, for each iteration the `place` of its process there, and the place of each process's
    `first` iteration.
    """

    means: Array
    place: Integers
    first: Integers

    @classmethod
    def of(cls, values: Array, ids: NDArray[Any]) -> Processes:
        """Group iterations by the id of their process."""
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear, not as they are sorted
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        run_of = rank[inverse.reshape(-1)]
        # added to the first value: equal iterations have exactly their value as the mean
        start = values[first[order]]
        above = np.bincount(run_of, weights=values - start[run_of])
        means = start + above / np.bincount(run_of)
        return cls(read_only(means), read_only(run_of), read_only(first[order]))


def ids_of_runs(
    name: str, kind: str, ids: Rows | None, benchmarks: tuple[str, ...], runs: Sequence[Processes]
) -> Rows | None:
    """Give the ids of processes, from those of their iterations."""
    if ids is None:
        return None
    for bench, row, one in zip(benchmarks, ids, runs, strict=True):
        if (row[one.first][one.place] != row).any():
            what = f"a process has values in two {kind}"
            fix = f"give processes of different {kind} different ids"
            raise UsageError(what, f"{name}, benchmark {bench!r}", fix)
    return tuple(read_only(row[one.first]) for row, one in zip(ids, runs, strict=True))


POOLED = Caution(
    "iterations-pooled",
    "iterations of one process are taken as independent runs (level iteration): they are not, "
    "and one program under two names is then found different far too often",
    short=ShortSentence.of("words come far too easily: iterations of a process count as runs"),
)


def level_caution(runs: Sequence[int], iterations: Sequence[int]) -> Iterator[Caution]:
    """Say that runs are means of iterations."""
    if sum(iterations) != sum(runs):
        found = figures.span((i / r for r, i in zip(runs, iterations, strict=True)), ".3g")
        yield Caution(
            "process-means",
            f"a run is the mean of its process's iterations ({found} each); --level iteration pools "
            "them",
        )
