"""The values of a run on their way to its row: many of them go into a file of ``samples/`` before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import StoreError
from analysis.record.manifest import needed
from analysis.record.shapes import (
    FRESH,
    MOST_IN_ROW,
    SAMPLES,
    StoredSamples,
    packed,
    position_in,
    sample_file,
)
from analysis.record.trial_files import Finding, PlannedRun, warning

from ..campaign.distributions import Distribution, is_distribution
from ..campaign.metric_checks import quantiles_of
from .folder import mode_of_files, open_inside, storing

if TYPE_CHECKING:
    from ..campaign.model import Cell
    from .run_files import Spools


@dataclass(slots=True)
class _TooFew:
    runs: int = 0
    least: int | None = None


class RunValues:
    """Stores the values of a session's runs, within the cap of all that is kept of runs."""

    def __init__(self, trial: Path, spools: Spools) -> None:
        self._trial, self._spools = trial, spools
        self._dropped: list[int] = []
        self._few: dict[tuple[str, str, str, float], _TooFew] = {}

    def stored(
        self,
        run: PlannedRun,
        metrics: Mapping[str, Sequence[float]],
        distributions: Mapping[str, Distribution] | None = None,
    ) -> tuple[dict[str, tuple[float, ...]], dict[str, StoredSamples]]:
        """Write the values that are too many for a row into files, and histograms.

        Gives what the row says of the values, and of those that stand in files. The files are on the disk when this returns: the row comes after them.
        """
        found: dict[str, tuple[float, ...]] = {}
        samples = {}
        for name, values in metrics.items():
            found[name] = tuple(values)
            if len(values) > MOST_IN_ROW:
                found[name] = (_mean(values),)
                samples[name] = self._kept(run, name, values)
        for name, one in (distributions or {}).items():
            if one.counts is None:
                samples[name] = StoredSamples(count=one.requests, form="percentiles")
            else:
                pairs = [number for pair in one.counts for number in pair]
                samples[name] = replace(self._kept(run, name, pairs), form="counts")
        return found, samples

    def follow(self, cell: Cell, metrics: Mapping[str, Sequence[float]]) -> None:
        """Count the quantiles of an ok run for which it has too few values."""
        for name, rule, share in quantiles_of(cell.metrics):
            if name in metrics and not metrics[name]:
                few = self._few.setdefault((cell.benchmark, cell.variant, name, share), _TooFew())
                few.runs += 1
                if not is_distribution(rule):
                    few.least = min(few.least or needed(share), len(metrics[rule.name]))

    def findings(self) -> list[Finding]:
        """Say what was not kept, and which quantiles runs have too few values for."""
        told = [
            warning(
                "quantiles",
                f"{benchmark} / {variant}: {name} is unknown in {few.runs} run{'s' * (few.runs > 1)}: it "
                f"needs {needed(share)} values, and a run had {few.least or 'fewer'}",
                f"metrics.{name}",
                "let a run print more values, or ask for a quantile nearer to the middle",
                "no value of so few would lie beyond that quantile",
            )
            for (benchmark, variant, name, share), few in self._few.items()
        ]
        if self._dropped:
            count, size = len(self._dropped), sum(self._dropped)
            told.append(
                warning(
                    "kept-samples",
                    f"the values of {count} run{'s' * (count > 1)} ({size / 1e6:.1f} MB) were not kept: the "
                    "cap of isolation.kept_outputs is reached; their means and quantiles are stored",
                    "isolation.kept_outputs",
                    "raise isolation.kept_outputs, if more than the mean and the quantiles of each run is wanted",
                    "they cannot be merged, nor judged iteration by iteration",
                )
            )
        return told

    def _kept(self, run: PlannedRun, metric: str, values: Sequence[float]) -> StoredSamples:
        data, about = packed(values)
        if not self._spools.takes(len(data)):
            self._dropped.append(len(data))
            return StoredSamples(count=about.count)
        place = self._trial / sample_file(run.position, metric, warmup=run.warmup)
        with storing(place):
            self._write(place.name, data)
        return about

    def _write(self, name: str, data: bytes) -> None:
        folder = _folder(self._trial)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(FRESH, dir_fd=folder)
            making = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(FRESH, making, mode_of_files(folder), dir_fd=folder)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                os.fdatasync(fd)
            finally:
                os.close(fd)
            os.rename(FRESH, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(FRESH, dir_fd=folder)
            raise
        finally:
            os.close(folder)


def _folder(trial: Path) -> int:
    """Open the folder of samples, which is there from the first file on, through no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        return open_inside(trial, SAMPLES, flags)
    except FileNotFoundError:
        (trial / SAMPLES).mkdir(mode=trial.stat().st_mode & 0o777)
        return open_inside(trial, SAMPLES, flags)


def sample_bytes(trial: Path) -> int:
    """Give the size of the files in a trial's folder ``samples/``."""
    with contextlib.suppress(OSError), os.scandir(trial / SAMPLES) as entries:
        return sum(
            entry.stat(follow_symlinks=False).st_size
            for entry in entries
            if position_in(entry.name) is not None
        )
    return 0


def remove_unfinished(trial: Path, done: Container[int]) -> None:
    """Remove the values of runs that have no row: they are executed again."""
    folder = trial / SAMPLES
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", str(folder)) from error
    for path in paths:
        position = position_in(path.name)
        if path.name == FRESH or (position is not None and position not in done):
            path.unlink()


def _mean(values: Sequence[float]) -> float:
    """Give the mean as the reader of rows does: that of equal values is their value."""
    first = values[0]
    return first + sum(value - first for value in values) / len(values)
