"""A trial directory, read into columns, and refused where it cannot be trusted.

A running or killed trial may end in a torn line; anything else that does not hold together is an
error that names the file and the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..pages.model import Page, section
from ..pages.result import short
from ..record.manifest import asked_warmup, read_manifest
from ..record.run_numbers import MetricInfo
from ..record.trial_files import MEASUREMENTS, PLAN
from ..stats.arguments import checks_arguments
from ..stats.samples import Array, Flags, read_only
from .columns import (
    Columns,
    FailedRun,
    build_columns,
    compare_with_plan,
    judged_rows,
    read_measurements,
    read_plan,
    verify_files,
)
from .iterations import (
    JudgedIterations,
    QuantileBasis,
    judged_iterations,
    session_quantiles,
    values_of,
)
from .matrix import PerformanceMatrix
from .metrics import apart_of, floor_of, info_of, kind_of
from .runs import Runs, missing_samples, stored_runs
from .trial_cautions import cautions_of_trial
from .variant_runs import runs_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Trial(Runs):
    """A trial: its runs (`Runs` has the columns), and what each metric makes of them."""

    @property
    def running(self) -> bool:
        """Whether the manifest says ``running``: the trial runs, or its runner was killed."""
        return self.manifest.status == "running"

    @property
    def finished(self) -> bool:
        """Whether the trial is no longer running."""
        return not self.running

    @property
    def waited_ns(self) -> Array:
        """How long each run waited for a CPU that somebody else had; nan where it is not known.

        What is left of its wall time without this and its on-CPU time is sleep, input and output, and what a
        hypervisor took; it may be negative.
        """
        numbers = self.numbers
        late = numbers["launcher_delay_ns"] - numbers["launcher_on_cpu_ns"]
        return numbers["run_delay_ns"] + late

    def failures(self) -> tuple[FailedRun, ...]:
        """Give the runs whose outcome is not ``ok``, warm-ups included, in order."""
        return self.failed

    def metric(self, name: str) -> MetricInfo:
        """Give the unit and the direction of a metric; raises UsageError where the trial has none of that name."""
        return info_of(self, name)

    def apart(self, metric: str) -> Flags:
        """Tell which runs have no value of a metric by design, as `analysis.data.metrics.apart_of`."""
        return apart_of(self, metric)

    def is_counter(self, metric: str) -> bool:
        """Tell whether a metric was counted by processor or kernel while a run lasted."""
        return kind_of(self.manifest, metric).counted

    def is_of_builds(self, metric: str) -> bool:
        """Tell whether a metric is a number of builds, of which no run has a value of its own."""
        return kind_of(self.manifest, metric).of == "build"

    def holds_waiting(self, metric: str) -> bool:
        """Tell whether the time that a run waits, or that others take from it, goes into a metric."""
        return kind_of(self.manifest, metric).waits

    def judged(self, metric: str) -> Flags:
        """Tell which runs count for a metric: those `measured` that are meant to have a value of it."""
        return self.measured & ~apart_of(self, metric)

    def values(self, metric: str) -> Array:
        """Give one value of a metric for each run, nan where it is unknown, as `analysis.data.iterations.values_of`."""
        return values_of(self, metric)

    def quantile_basis(self, metric: str) -> QuantileBasis | None:
        """Say of what the values that a matrix has of a metric are a quantile; None of a metric that is none."""
        found = session_quantiles(self, metric)
        return None if found is None else found.basis

    def judged_iterations(self, metric: str) -> JudgedIterations | None:
        """Give the iterations of each run that are judged of a metric that was parsed from output; else None."""
        return judged_iterations(self, metric)

    def at_floor(self, metric: str) -> Flags:
        """Tell of each run whether its value of a metric only says "at most the floor"."""
        return floor_of(self, metric)

    def below_floor(self, variant: str, metric: str) -> tuple[str, ...]:
        """List the benchmarks whose median of `metric` only says "at most the launcher's floor"."""
        floored, mine = floor_of(self, metric), self.measured & self.of_variant(variant)
        rows = {
            name: mine & (self.benchmark == k) for k, name in enumerate(self.manifest.benchmarks)
        }
        return tuple(name for name, row in rows.items() if row.any() and floored[row].mean() >= 0.5)

    def __repr__(self) -> str:
        manifest = self.manifest
        told = section(
            f"{len(self)} runs of {len(manifest.benchmarks)} benchmarks x {len(manifest.variants)} variants in "
            f"{self.sessions} sessions on {manifest.host}, {manifest.status}; baseline {manifest.baseline}"
        )
        return short(self, Page(title=manifest.trial, sections=(told,), cautions=self.cautions))

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
    planned = max(int(plan[0].size), manifest.planned)
    cautions += cautions_of_trial(path, manifest, arrays, planned)
    stored = stored_runs(path, columns.stored, arrays)
    cautions += missing_samples(stored, manifest)
    chosen = read_only(judged_rows(arrays["position"], arrays["repeats"], arrays["disturbed"]))
    used = chosen & ~arrays["warmup"] & (arrays["outcome"] == 0)
    fields: dict[str, Any] = dict(arrays)
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
