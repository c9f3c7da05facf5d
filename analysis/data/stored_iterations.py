"""Values of runs that stand in files of ``samples/``: read one run at a time, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..announcing import doing
from ..errors import AnalysisError
from ..pages.model import Caution
from ..record.shapes import SAMPLES, StoredSamples, read_samples, sample_file
from ..stats.samples import read_only

if TYPE_CHECKING:
    from ..record.trial_files import Manifest
    from .trial import Trial

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOST_AT_ONCE: Final = 10_000_000  # values that are held together: some 1.2 GB while they are judged


class StoredRun(NamedTuple):
    """Where the values of a metric in a run stand, and what its row says of them."""

    path: Path
    about: StoredSamples

    @property
    def iterations(self) -> int:
        """How many values the run printed one after the other; 0 of what tells only how they are distributed."""
        return self.about.count if self.about.form == "values" else 0

    def values(self) -> Floats:
        """Read the doubles of the file; raises StoreError where they are not those that the row tells of."""
        return read_only(np.frombuffer(read_samples(self.path, self.about), dtype="<f8"))


# of a trial: metric -> row -> where its values are
StoredRuns = Mapping[str, Mapping[int, StoredRun]]


def stored_runs(
    trial: Path, found: Mapping[str, Mapping[int, StoredSamples]], arrays: Mapping[str, Any]
) -> StoredRuns:
    """Name the files of what the rows of a trial say: metric -> row -> its values."""
    position, warmup = arrays["position"], arrays["warmup"]
    return {
        metric: {
            row: StoredRun(
                trial / sample_file(int(position[row]), metric, warmup=bool(warmup[row])), about
            )
            for row, about in rows.items()
        }
        for metric, rows in found.items()
    }


def missing_samples(runs: StoredRuns, manifest: Manifest) -> Iterator[Caution]:
    """Name the files that rows tell of and that were gone before the trial ended: no manifest lists them."""
    for rows in runs.values():
        for one in rows.values():
            name = f"{SAMPLES}/{one.path.name}"
            kept = one.about.sha256 is not None
            if kept and name not in manifest.files and not one.path.is_file():
                yield Caution(
                    "samples-gone", f"{name} is gone, though its row tells of it", (name,)
                )


def stored_together(trials: Sequence[Trial]) -> StoredRuns:
    """Give the runs of several trials whose rows stand one behind the other."""
    both: dict[str, dict[int, StoredRun]] = {}
    begin = 0
    for trial in trials:
        for metric, rows in trial.stored.items():
            both.setdefault(metric, {}).update({row + begin: one for row, one in rows.items()})
        begin += len(trial)
    return both


def values_of_run(trial: Trial, metric: str, row: int) -> Floats:
    """Give all values of a metric that a run printed, in their order, wherever they stand."""
    stored = trial.stored.get(metric, {}).get(row)
    if stored is not None and stored.iterations:
        return stored.values()
    column = trial.metrics[metric]
    return column.values[column.offsets[row] : column.offsets[row + 1]]


def printed_counts(trial: Trial, metric: str) -> Integers:
    """Give how many values each run printed of a metric, or of that whose quantile it is; nothing is read for it."""
    basis = trial.quantile_basis(metric)
    printed = metric if basis is None else basis.metric
    counts = np.diff(trial.metrics[printed].offsets)
    for row, stored in trial.stored.get(printed, {}).items():
        counts[row] = stored.iterations or counts[row]
    return counts


def judged_counts(trial: Trial, metric: str) -> Integers:
    """Give how many iterations of each run are judged; nothing is read for it."""
    judged = trial.judged_iterations(metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    counts = np.diff(judged.column.offsets)
    for row, stored in trial.stored.get(metric, {}).items():
        if stored.iterations:
            counts[row] = stored.iterations - judged.left_out[row]
    return counts


def judged_values(trial: Trial, metric: str, rows: Integers) -> tuple[Floats, Integers]:
    """Give the iterations of these runs that are judged, and for each the place of its run in `rows`.

    Raises AnalysisError where they are too many to be held together, StoreError where they cannot be read.
    """
    judged = trial.judged_iterations(metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    stored = trial.stored.get(metric, {})
    there = [row for row in rows.tolist() if row in stored and stored[row].iterations]
    if not there:
        return judged.column.of_runs(rows)
    counts = judged_counts(trial, metric)[rows]
    if counts.sum() > MOST_AT_ONCE:
        raise AnalysisError(
            f"{counts.sum():,} values of {metric} are more than can be held together ({MOST_AT_ONCE:,})",
            str(trial.path),
            "judge runs: leave '--level iteration' out",
        )
    parts = []
    for number, row in enumerate(rows.tolist()):
        doing("reading samples", number, rows.size, "runs")
        if row in stored and stored[row].iterations:
            parts.append(stored[row].values()[judged.left_out[row] :])
        else:
            parts.append(judged.column.of_runs(np.array([row]))[0])
    return read_only(np.concatenate(parts)), np.repeat(np.arange(rows.size), counts)
