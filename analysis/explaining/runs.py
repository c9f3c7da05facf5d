"""The cells of a trial whose runs have modes."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..data import Trial
from ..methods.variance_sources import ClassesBy, covariates_of
from ..methods.variance_sources.modes import ModalRuns
from ..stats import Progress, in_order, stream
from .by_order import modes_by_order
from .by_values import modes_by_values

__all__ = ["modal_runs"]


def modal_runs(
    trial: Trial, metric: str, *, rng: np.random.Generator, workers: int | None = None
) -> tuple[ModalRuns, ...]:
    """Find the benchmarks and variants of a trial whose runs have modes.

    Warm-ups, failed runs, and runs without a value are left out.

    Parameters
    ----------
    trial : Trial
        The trial.
    metric : str
        Whose values are looked at.
    rng : numpy.random.Generator
        One number of it seeds the streams, one for each cell.
    workers : int, optional
        Cells at the same time, as in `in_order`.

    Raises
    ------
    UsageError
        If the trial has no such metric.
    """
    root = int(rng.integers(2**63))
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values)
    covariates = covariates_of(trial, metric)
    cells = []
    for b, benchmark in enumerate(trial.manifest.benchmarks):
        for v, variant in enumerate(trial.manifest.variants):
            rows = np.flatnonzero(used & (trial.benchmark == b) & (trial.variant == v))
            if rows.size:
                cells.append((benchmark, variant, rows))
    found = in_order(
        partial(_modes, root=root),
        ((names, values[rows], trial.session[rows]) for *names, rows in cells),
        workers=workers,
        prefer="processes",
    )
    return tuple(
        ModalRuns(
            benchmark=benchmark,
            variant=variant,
            trial=trial.manifest.trial,
            rows=rows,
            values=values[rows],
            sessions=trial.session[rows],
            labels=labels,
            by=by,
            covariates=covariates,
        )
        for (benchmark, variant, rows), (labels, by) in zip(cells, found, strict=True)
        if labels is not None
    )


def _modes(
    cell: tuple[list[str], NDArray[np.float64], NDArray[np.int64]],
    _going_on: Progress,
    *,
    root: int,
) -> tuple[NDArray[np.int8] | None, ClassesBy]:
    """Label the runs of one cell, and say what tells their modes apart."""
    names, values, sessions = cell
    labels = modes_by_values(values, stream(root, *names))
    if labels is not None:
        return labels, "values"
    return modes_by_order(values, sessions), "order"
