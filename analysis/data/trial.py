"""A trial directory, read into columns, and refused where it cannot be trusted.

A running or killed trial may end in a torn line; anything else that does not hold together is an
error that names the file and the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InsufficientDataError, UsageError
from ..record import (
    BUILTIN_METRICS,
    MEASUREMENTS,
    PLAN,
    Better,
    Manifest,
    MetricInfo,
    read_manifest,
)
from ..report import Caution
from .columns import (
    OUTCOMES,
    Columns,
    FailedRun,
    MetricColumn,
    compare_with_plan,
    read_measurements,
    read_plan,
    verify_files,
)
from .matrix import PerformanceMatrix

__all__ = ["OUTCOMES", "FailedRun", "MetricColumn", "Trial", "read_trial"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """A trial: its manifest and one entry a run in each column, in the order of execution.

    `benchmark`, `variant` and `outcome` hold indices into the manifest's benchmarks and variants
    and into ``OUTCOMES``. A number that the runner did not know is nan, an unknown `start_ns` -1.
    `cautions` says what a reader should know before trusting the values. `planned_runs` is what
    the plan holds; under a stopping rule that is the most, and `manifest.needed` what it came to.
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
    wall_s: Floats
    user_s: Floats
    system_s: Floats
    max_rss_bytes: Floats
    max_rss_floor_bytes: Floats
    minor_faults: Floats
    major_faults: Floats
    voluntary_switches: Floats
    involuntary_switches: Floats
    orphans: Integers
    frequency_khz: Floats
    temperature_c: Floats
    steal_s: Floats
    padding_bytes: Floats
    before_s: Floats
    after_s: Floats
    metrics: Mapping[str, MetricColumn]
    failed: tuple[FailedRun, ...]

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
    def measured(self) -> NDArray[np.bool_]:
        """Which runs are no warm-up and ended ``ok``."""
        return cast("NDArray[np.bool_]", ~self.warmup & (self.outcome == 0))

    @property
    def sessions(self) -> int:
        """How many sessions have at least one run that counts."""
        return int(np.unique(self.session[self.measured]).size)

    def failures(self) -> tuple[FailedRun, ...]:
        """Give the runs whose outcome is not ``ok``, warm-ups included, in order."""
        return self.failed

    def metric(self, name: str) -> MetricInfo:
        """Give the unit and the direction of a metric.

        Raises
        ------
        UsageError
            If the trial has no such metric.
        """
        if name in BUILTIN_METRICS:
            return BUILTIN_METRICS[name]
        info = self.manifest.metrics.get(name)
        if info is None:
            known = ", ".join([*BUILTIN_METRICS, *self.manifest.metrics])
            raise UsageError(
                f"the trial has no metric {name!r}", str(self.path), f"known here: {known}"
            )
        return MetricInfo(unit=info["unit"], better=cast("Better", info["better"]))

    def matrix(self, variant: str, metric: str = "wall") -> PerformanceMatrix:
        """Give the runs of one variant as a matrix.

        Warm-ups and failed runs are left out, and the matrix's cautions count them. A run's value
        of a metric with several iterations is their median. Block ids are unique in the trial.

        Parameters
        ----------
        variant : str
            One of the manifest's variants.
        metric : str
            ``wall``, ``user``, ``system``, ``max_rss``, or a metric parsed from output.

        Raises
        ------
        UsageError
            If the variant or the metric is unknown.
        InsufficientDataError
            If no run of the variant counts.
        AnalysisError
            If a value is not positive.
        """
        info = self.metric(metric)
        if variant not in self.manifest.variants:
            raise UsageError(
                f"the trial has no variant {variant!r}",
                str(self.path),
                f"known here: {', '.join(self.manifest.variants)}",
            )
        mine = self.variant == self.manifest.variants.index(variant)
        values = self._values(metric)
        known = np.isfinite(values)
        used = mine & self.measured & known
        rows = {
            bench: row
            for k, bench in enumerate(self.manifest.benchmarks)
            if (row := np.flatnonzero(used & (self.benchmark == k))).size
        }
        if not rows:
            raise InsufficientDataError(
                f"no run of {variant!r} has a value of {metric!r} that counts",
                str(self.path),
                "measure more, or look at the failed runs",
                n=0,
                needed=1,
            )
        absent = [bench for bench in self.manifest.benchmarks if bench not in rows]
        failed = mine & ~self.warmup & (self.outcome != 0)
        cautions = [
            Caution(code, text.format(count, "s" * (count > 1)))
            for code, which, text in (
                ("warm-up-left-out", mine & self.warmup, "{} warm-up run{} left out"),
                ("failed-left-out", failed, "{} failed run{} left out"),
                ("metric-missing", mine & self.measured & ~known, "{} run{} without " + metric),
            )
            if (count := int(which.sum()))
        ]
        if absent:
            said = f"no run that counts of {', '.join(absent)}"
            cautions.append(Caution("benchmark-missing", said, tuple(absent)))
        if self.manifest.sequential:
            rule = self.manifest.stop
            told = "" if rule is None else f", width {rule.width:g}"
            said = f"sequential (stopping rule{told}): the number of runs depends on the values"
            cautions.append(Caution("sequential", said))
        floored = used & (self.max_rss_bytes <= self.max_rss_floor_bytes)
        if metric == "max_rss" and floored.any():
            said = f"{int(floored.sum())} values of max_rss say only 'at most the launcher's floor'"
            cautions.append(Caution("floored", said))
        block_ids = self.session * (int(self.block.max()) + 1) + self.block
        return PerformanceMatrix.from_samples(
            variant,
            {bench: values[row] for bench, row in rows.items()},
            better=info.better,
            unit=info.unit,
            blocks={bench: block_ids[row] for bench, row in rows.items()},
            sessions={bench: self.session[row] for bench, row in rows.items()},
            cautions=cautions,
        )

    def below_floor(self, variant: str, metric: str) -> tuple[str, ...]:
        """List the benchmarks whose median of `metric` only says "at most the launcher's floor"."""
        if metric != "max_rss":
            return ()
        mine = self.measured & (self.variant == self.manifest.variants.index(variant))
        found = []
        for number, bench in enumerate(self.manifest.benchmarks):
            rows = mine & (self.benchmark == number)
            floored = self.max_rss_bytes[rows] <= self.max_rss_floor_bytes[rows]
            if floored.size and floored.mean() >= 0.5:
                found.append(bench)
        return tuple(found)

    def _values(self, metric: str) -> Floats:
        if metric == "max_rss":
            return self.max_rss_bytes
        if metric in BUILTIN_METRICS:
            return cast("Floats", getattr(self, f"{metric}_s"))
        return self.metrics[metric].per_run()


def _misstated(manifest: Manifest, arrays: Mapping[str, NDArray[Any]]) -> Iterator[Caution]:
    """Say where the manifest names another number of runs than a session that ended has."""
    for end in manifest.session_ends:
        mine = (arrays["session"] == end.session) & ~arrays["warmup"]
        blocks = int(arrays["block"][mine].max(initial=0))
        if blocks != end.runs:
            yield Caution(
                "session-misstated",
                f"the manifest says that session {end.session} ended after {end.runs} runs a cell, "
                f"and its runs go to {blocks}",
                (str(end.session),),
            )


def _sequential(manifest: Manifest) -> Caution:
    """Say what a reader of intervals must know when the values decided how many runs there are."""
    ends = manifest.session_ends
    capped = sum(end.why != "width" for end in ends)
    runs = sorted({end.runs for end in ends})
    told = [] if manifest.stop is None else [f"width {manifest.stop.width:g}"]
    if runs:
        counts = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        told.append(f"{counts} runs a cell and session")
    if capped:
        told.append(f"{capped} of {len(ends)} sessions ended at a cap before they were as narrow")
    return Caution(
        "sequential",
        "sequential: by the stopping rule the number of runs depends on the values "
        f"({'; '.join(told)}); methods that take it as fixed are only nearly right: in simulation, t "
        "intervals on logs then covered 94 to 95 % where 95 % is nominal, percentile bootstraps 90 "
        "to 92 %",
    )


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
    compare_with_plan(arrays, plan, path / MEASUREMENTS)
    planned, done = max(int(plan[0].size), manifest.planned), int((arrays["position"] >= 0).sum())
    # what ended sessions did not need under a stopping rule is not missing
    needed = planned - (manifest.planned - manifest.needed)
    if manifest.status == "running":
        said = "the trial is still running, or its runner was killed"
        cautions.append(Caution("still-running", said))
    elif manifest.status != "complete":
        reason = f": {manifest.reason}" if manifest.reason else ""
        cautions.append(Caution("ended-early", f"the trial was {manifest.status}{reason}"))
    if done < needed:
        most = "" if manifest.stop is None else "at most "
        said = f"{done} of {most}{needed} planned runs are there"
        cautions.append(Caution("runs-missing", said))
    cautions += _misstated(manifest, arrays)
    if manifest.sequential:
        cautions.append(_sequential(manifest))
    fields: dict[str, Any] = dict(arrays)
    return Trial(
        path=path,
        manifest=manifest,
        cautions=tuple(cautions),
        planned_runs=planned,
        metrics=columns.metrics(),
        failed=columns.failed,
        **fields,
    )
