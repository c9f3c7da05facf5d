"""A trial directory, read into columns, and refused where it cannot be trusted.

A running or killed trial may end in a torn line; anything else that does not hold together is an
error that names the file and the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Cell,
    Column,
    Page,
    Section,
    Sentence,
    ShortSentence,
    Table,
    Value,
    page_of,
)
from ..pages.result import short
from ..record import service_metrics
from ..record.manifest import (
    WarmupIterations,
    asked_warmup,
    quantile_said,
    read_manifest,
    warmup_of,
)
from ..record.run_numbers import BUILTIN_METRICS, METRIC_NUMBERS, NUMBERS, Better, MetricInfo
from ..record.trial_files import MEASUREMENTS, PLAN, Manifest, asked_now, is_of_builds
from ..stats.arguments import checks_arguments
from ..stats.samples import read_only
from ..words import shorten
from .columns import (
    Columns,
    FailedRun,
    MetricColumn,
    build_columns,
    compare_with_plan,
    judged_rows,
    read_measurements,
    read_plan,
    verify_files,
)
from .host_record import differing
from .matrix import PerformanceMatrix
from .session_quantiles import QuantileBasis, SessionQuantiles, quantiles_of
from .stored_iterations import StoredRuns, missing_samples, stored_runs
from .trial_cautions import (
    damaged,
    drift_cautions,
    given_up_cautions,
    imported_cautions,
    measured_once_cautions,
    merged_cautions,
    misstated,
    name_cautions,
    sequential,
)
from .variant_runs import runs_of
from .warmup import JudgedIterations, without_warmup

if TYPE_CHECKING:
    from .levels import Level, Unit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


_WAITED = ("run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """A trial: its manifest, and one entry a run in each column, in the order of execution.

    `benchmark`, `variant` and `outcome` hold indices into the manifest's benchmarks and variants
    and into ``OUTCOMES``; an unknown `start_ns` is -1. `numbers` holds the other numbers of
    `analysis.record.run_numbers` by their names, nan where one is unknown, and those of `cpu_steal`; `absent` names those that no
    run has, because another version of fairtrial wrote the trial. `cautions` says what a reader should know before trusting the values. `planned_runs` is what
    the plan holds; under a stopping rule that is the most, and `manifest.needed` what it came to.
    `repeats` is the planned position of a disturbed run that the row repeats, else -1; `disturbed` is
    1, 0, or -1 where it is not known; `chosen` tells which row of a run is the one to judge.
    `level` says what a matrix takes for a run: a process, or each of its iterations. `counted` is 1 of
    a run that is there for its counters alone, 0 of one beside such, and -1 of one that has both: a
    trial was gone on with under other settings. It is None where all runs are alike. `outermost` says
    what its sessions are: of a fleet that was read as one trial, each may be a host. `warmup_iterations`
    takes the place of what the manifest says of its metrics. `stored` tells where the values of a run stand that are
    too many for its row: in `metrics` it has one value, their mean. With `own_quantiles` quantiles are those of runs,
    as of a trial beside it no others are known; `compared_at` tells of how many values at most, as that has no more.
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
    warmup_iterations: WarmupIterations | None = None
    repeats: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    disturbed: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    chosen: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    stored: StoredRuns = field(default_factory=dict)
    own_quantiles: bool = False
    compared_at: Mapping[str, int] = field(default_factory=dict)
    _judged: dict[str, JudgedIterations] = field(default_factory=dict, init=False, repr=False)
    _quantiles: dict[str, SessionQuantiles | None] = field(
        default_factory=dict, init=False, repr=False
    )

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
    def judge(self) -> tuple[str, ...]:
        """The metrics that the campaign's `judge` names, the first one first; none without the key."""
        asked = self.manifest.questions
        if asked is None:
            raise differing(str(self.path), asked_now(self.manifest.judge))
        return asked

    asked = judge  # its name before 0.3.0

    @property
    def questions(self) -> tuple[str, ...]:
        """The metrics that are judged where nobody names one: those of `judge`, else the wall time.

        Of an imported trial it is the first one. Raises what `judge` does.
        """
        first = next(iter(self.manifest.metrics), "wall")
        return self.judge or (first if self.manifest.origin == "imported" else "wall",)

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

    def metric(self, name: str) -> MetricInfo:
        """Give the unit and the direction of a metric."""
        info = self.manifest.metrics.get(name)
        if info is not None:
            return MetricInfo(unit=info["unit"], better=cast("Better", info["better"]))
        number = METRIC_NUMBERS.get(name)
        if number is not None and number not in self.absent:
            return BUILTIN_METRICS[name]
        from .host_record import read_host_record

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
        else is taken from the others: a run that is counted is a little slower. A number of builds has
        one value for each build.
        """
        if self.is_of_builds(metric):
            return np.isnan(self.metrics[metric].per_run())
        if self.counted is None:
            return np.zeros(len(self), dtype=np.bool_)
        return cast("NDArray[np.bool_]", self.counted == (0 if self.is_counter(metric) else 1))

    def is_counter(self, metric: str) -> bool:
        """Tell whether a metric was counted by processor or kernel while a run lasted."""
        return self.manifest.metrics.get(metric, {}).get("source") == "counters"

    def is_of_builds(self, metric: str) -> bool:
        """Tell whether a metric is a number of builds, of which no run has a value of its own."""
        return metric in self.metrics and is_of_builds(self.manifest.metrics.get(metric, {}))

    def holds_waiting(self, metric: str) -> bool:
        """Tell whether the time that a run waits, or that others take from it, goes into a metric.

        It goes into `wall`, into energy, and into what a program measures itself, as far as anybody knows;
        not into processor time, memory, events that are counted of the program alone, numbers of builds, and what services use.
        """
        source = self.manifest.metrics.get(metric, {}).get("source")
        if source == service_metrics.SOURCE or self.is_of_builds(metric):
            return False
        ours = metric in METRIC_NUMBERS and metric not in self.manifest.metrics
        return metric == "wall" if ours else not self.is_counter(metric)

    def judged(self, metric: str) -> NDArray[np.bool_]:
        """Tell which runs count for a metric: those `measured` that are meant to have a value of it."""
        return self.measured & ~self.apart(metric)

    def values(self, metric: str) -> Floats:
        """Give one value of a metric for each run, nan where it is unknown.

        A run's value of a metric with several iterations is their mean. Durations are seconds. The
        runs that stand `apart` for this metric have no value of it.
        """
        self.metric(metric)
        if (judged := self.judged_iterations(metric)) is not None:
            column = judged.column.per_run()
        else:
            number = METRIC_NUMBERS[metric]
            column = self.numbers[number]
            column = column / 1e9 if NUMBERS[number].unit == "ns" else column
        if self.counted is None or self.is_of_builds(metric):
            return column
        return np.where(self.apart(metric), np.nan, column)

    def quantile_basis(self, metric: str) -> QuantileBasis | None:
        """Say of what the values that a matrix has of a metric are a quantile; None of a metric that is none."""
        found = self.session_quantiles(metric)
        return None if found is None else found.basis

    def session_quantiles(self, metric: str) -> SessionQuantiles | None:
        """Give a quantile's values by session, which a matrix takes in place of the runs' own; None of other metrics.

        They are there where the runs' values are, or histograms of them, and several sessions. Raises StoreError where
        values cannot be read.
        """
        if metric not in self._quantiles:
            self._quantiles[metric] = quantiles_of(self, metric)
        return self._quantiles[metric]

    def judged_iterations(self, metric: str) -> JudgedIterations | None:
        """Give the iterations of each run that are judged of a metric that was parsed from output.

        None for a metric that every run has. All that runs printed stand in `metrics`.
        """
        column = self.metrics.get(metric)
        if column is None:
            return None
        if metric not in self._judged:
            about = self.manifest.metrics[metric]
            setting = self.warmup_iterations
            # values of meters and of builds are no iterations
            if setting is None or "source" in about or is_of_builds(about):
                setting = warmup_of(about)
            of, quantile = metric, None
            if (said := quantile_said(about)) is not None and said[0] in self.metrics:
                base = self.judged_iterations(said[0])
                of, quantile = said[0], (column, said[1])
                setting = 0 if base is None else base.setting
            self._judged[metric] = without_warmup(
                self.metrics[of] if setting else column,
                setting,
                self.measured,
                higher=about["better"] == "higher",
                stored=self.stored.get(of),
                quantile=quantile,
            )
        return self._judged[metric]

    def at_floor(self, metric: str) -> NDArray[np.bool_]:
        """Tell of each run whether its value of a metric only says "at most the floor"."""
        number = None if metric in self.metrics else METRIC_NUMBERS.get(metric)
        floor = None if number is None else NUMBERS[number].floor
        if number is None or floor is None:
            return np.zeros(len(self), dtype=np.bool_)
        return self.numbers[number] <= self.numbers[floor]

    def __repr__(self) -> str:
        return short(self, page_of(self))

    def _repr_html_(self) -> str:
        from ..pages import as_markup as as_html

        return as_html.render_html(page_of(self))

    def matrix(
        self,
        variant: str,
        metric: str = "wall",
        *,
        skip_zeros: bool = False,
        carry_zeros: bool = False,
    ) -> PerformanceMatrix:
        """Give the runs of one variant as a matrix.

        Warm-ups and failed runs are left out, and the matrix's cautions count them. Of a run that was
        repeated, because it was disturbed, the judged row is taken. A run's value
        of a metric with several iterations is their mean; the matrix keeps them as `iterations`. Of a
        quantile each session has one value, where `quantile_basis` says so.
        Block ids are unique in the trial.

        Parameters
        ----------
        variant : str
            One of the manifest's variants.
        metric : str
            ``wall``, another metric that every run has, or one parsed from output.
        skip_zeros : bool
            Leave out a benchmark of which some run's value is 0 or less, such as the kernel's account
            of a short run's user time; a caution says so. Otherwise such a value is refused.
        carry_zeros : bool
            Put benchmarks with runs of 0 into the matrix's `with_zeros`, for the one method that
            can use them (`analysis.multilevel`); all of them may stand there.

        Raises
        ------
        UsageError
            If the variant or the metric is unknown.
        InsufficientDataError
            If no run of the variant counts, or every benchmark is left out.
        AnalysisError
            If a value is not positive.
        """
        return runs_of(self, variant, metric, skip_zeros=skip_zeros, carry_zeros=carry_zeros)

    def below_floor(self, variant: str, metric: str) -> tuple[str, ...]:
        """List the benchmarks whose median of `metric` only says "at most the launcher's floor"."""
        floored = self.at_floor(metric)
        if not floored.any():
            return ()
        mine = self.measured & (self.variant == self.manifest.variants.index(variant))
        found = []
        for number, bench in enumerate(self.manifest.benchmarks):
            rows = mine & (self.benchmark == number)
            if rows.any() and floored[rows].mean() >= 0.5:
                found.append(bench)
        return tuple(found)


@checks_arguments
def read_trial(path: str | Path) -> Trial:
    """Read a trial directory.

    Parameters
    ----------
    path : str or Path
        The directory, such as ``runs/NAME``.

    Raises
    ------
    StoreError
        If it is no trial, has a newer schema, or is damaged: a file that changed after the trial
        ended, a line with a wrong checksum before the last one, two rows for one position, a run
        that is not the planned one.
    """
    path = Path(path)
    manifest = read_manifest(path)
    # Only a trial that is no longer running has checksums of its files; until then its last line
    # may be half written.
    cautions = list(verify_files(path, manifest))
    plan = read_plan(path / PLAN, manifest, cautions)
    columns = Columns(manifest)
    read_measurements(path / MEASUREMENTS, columns, cautions, torn_ok=not manifest.files)
    arrays = columns.arrays()
    if manifest.origin != "imported":  # another tool's runs were not planned here
        compare_with_plan(arrays, plan, manifest, path / MEASUREMENTS)
    cautions += damaged(path, manifest, arrays)
    planned, done = max(int(plan[0].size), manifest.planned), int((arrays["position"] >= 0).sum())
    # what ended sessions did not need under a stopping rule is not missing
    needed = planned - (manifest.planned - manifest.needed)
    if manifest.status == "running":
        said = "the trial is still running, or its runner was killed"
        told = None if done < needed else ShortSentence.of(said)  # else the missing runs say it
        cautions.append(Caution("still-running", said, short=told))
    elif manifest.status != "complete":
        reason = f": {manifest.reason}" if manifest.reason else ""
        told = None if done < needed else ShortSentence.of(f"the trial was {manifest.status}")
        said = f"the trial was {manifest.status}{reason}"
        cautions.append(Caution("ended-early", said, short=told))
    if done < needed:
        most = "" if manifest.stop is None else "at most "
        said = f"{done} of {most}{needed} planned runs are there"
        told = ShortSentence.of(f"the trial is not finished: {said}")
        cautions.append(Caution("runs-missing", said, short=told))
    cautions += [*drift_cautions(path), *given_up_cautions(manifest), *merged_cautions(manifest)]
    cautions += [*measured_once_cautions(manifest), *name_cautions(manifest)]
    cautions += imported_cautions(path, manifest)
    cautions += misstated(manifest, arrays)
    stored = stored_runs(path, columns.stored, arrays)
    cautions += missing_samples(stored, manifest)
    if manifest.sequential:
        cautions.append(sequential(manifest))
    fields: dict[str, Any] = dict(arrays)
    chosen = read_only(judged_rows(arrays["position"], arrays["repeats"], arrays["disturbed"]))
    used = chosen & ~arrays["warmup"] & (arrays["outcome"] == 0)
    return Trial(
        path=path,
        manifest=manifest,
        cautions=tuple(cautions),
        planned_runs=planned,
        numbers=columns.numbers(path / MEASUREMENTS),
        absent=columns.absent,
        metrics=columns.metrics() | build_columns(path, manifest, arrays, used),
        counted=columns.counted,
        stored=stored,
        warmup_iterations=asked_warmup(),
        failed=columns.failed,
        chosen=chosen,
        **fields,
    )


# --- A trial and a matrix in words: what was measured, and how many runs of each there are.


_NAME = 28  # columns for a name


@page_of.register(PerformanceMatrix)
def _performance_matrix_page(matrix: PerformanceMatrix) -> Page:
    rows: list[tuple[Cell, ...]] = []
    for bench, values in zip(matrix.benchmarks, matrix.samples, strict=True):
        three = (float(v) for v in (values.min(), np.median(values), values.max()))
        rows.append(
            (
                shorten(bench, _NAME),
                Value(str(values.size), int(values.size)),
                *(Value(figures.quantity(v, matrix.unit), v) for v in three),
            )
        )
    heads = (Column(heading) for heading in ("runs", "minimum", "median", "maximum"))
    table = Table(name="runs", columns=(Column("benchmark", "left"), *heads), rows=tuple(rows))
    return Page(
        title=matrix.name,
        sections=(
            Section((Sentence(str(matrix).removeprefix(f"{matrix.name}: ")),)),
            Section((table,)),
        ),
        cautions=matrix.cautions,
    )


@page_of.register(Trial)
def _trial_page(trial: Trial) -> Page:
    manifest = trial.manifest
    rows: list[tuple[Cell, ...]] = []
    for b, bench in enumerate(manifest.benchmarks):
        of_bench = trial.variant[trial.measured & (trial.benchmark == b)]
        counts = [int((of_bench == v).sum()) for v in range(len(manifest.variants))]
        rows.append((shorten(bench, _NAME), *(Value(str(n), n) for n in counts)))
    table = Table(
        name="runs-that-count",
        columns=(
            Column("runs that count", "left"),
            *(Column(shorten(name, _NAME)) for name in manifest.variants),
        ),
        rows=tuple(rows),
    )
    said = (
        f"{len(trial)} runs of {len(manifest.benchmarks)} benchmarks x {len(manifest.variants)} "
        f"variants in {trial.sessions} session{'s' * (trial.sessions != 1)} on {manifest.host}, "
        f"{manifest.status}; baseline {shorten(manifest.baseline, _NAME)}"
    )
    return Page(
        title=manifest.trial,
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=trial.cautions,
    )
