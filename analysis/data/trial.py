"""A trial directory, read into columns, and refused where it cannot be trusted.

A running or killed trial may end in a torn line; anything else that does not hold together is an
error that names the file and the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..record import MEASUREMENTS, PLAN, read_manifest
from ..report import Caution, page_of, short
from ..stats import door, read_only
from .columns import (
    OUTCOMES,
    Columns,
    FailedRun,
    MetricColumn,
    read_measurements,
    read_plan,
    verify_files,
)
from .matrix import PerformanceMatrix
from .notes import (
    damaged,
    drift_cautions,
    given_up_cautions,
    imported_cautions,
    merged_cautions,
    misstated,
    name_cautions,
    sequential,
)
from .planned import compare_with_plan, judged_rows
from .runs_of import runs_of
from .trial_columns import TrialColumns

__all__ = ["OUTCOMES", "FailedRun", "MetricColumn", "Trial", "read_trial"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial(TrialColumns):
    """A trial: its columns, and the matrices that are made of them."""

    def __repr__(self) -> str:
        return short(self, page_of(self))

    def _repr_html_(self) -> str:
        from ..report import as_html

        return as_html.render(page_of(self))

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
        of a metric with several iterations is their mean; the matrix keeps them as `iterations`.
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


@door
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
        cautions.append(Caution("still-running", said))
    elif manifest.status != "complete":
        reason = f": {manifest.reason}" if manifest.reason else ""
        cautions.append(Caution("ended-early", f"the trial was {manifest.status}{reason}"))
    if done < needed:
        most = "" if manifest.stop is None else "at most "
        said = f"{done} of {most}{needed} planned runs are there"
        cautions.append(Caution("runs-missing", said))
    cautions += [*drift_cautions(path), *given_up_cautions(manifest), *merged_cautions(manifest)]
    cautions += name_cautions(manifest)
    cautions += imported_cautions(path, manifest)
    cautions += misstated(manifest, arrays)
    if manifest.sequential:
        cautions.append(sequential(manifest))
    fields: dict[str, Any] = dict(arrays)
    return Trial(
        path=path,
        manifest=manifest,
        cautions=tuple(cautions),
        planned_runs=planned,
        numbers=columns.numbers(path / MEASUREMENTS),
        absent=columns.absent,
        metrics=columns.metrics(),
        counted=columns.counted,
        failed=columns.failed,
        chosen=read_only(judged_rows(arrays["position"], arrays["repeats"], arrays["disturbed"])),
        **fields,
    )
