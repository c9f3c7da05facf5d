"""The cells of a trial whose runs have modes."""

from __future__ import annotations

import numpy as np

from ..data import Trial
from ..methods.variance_sources import covariates_of
from ..methods.variance_sources.modes import ModalRuns
from ..stats import stream
from .by_order import modes_by_order
from .by_values import modes_by_values

__all__ = ["modal_runs"]


def modal_runs(trial: Trial, metric: str, *, rng: np.random.Generator) -> tuple[ModalRuns, ...]:
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

    Raises
    ------
    UsageError
        If the trial has no such metric.
    """
    root = int(rng.integers(2**63))
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values)
    covariates = covariates_of(trial, metric)
    names = [(b, v) for b in trial.manifest.benchmarks for v in trial.manifest.variants]
    found = []
    for benchmark, variant in names:
        rows = np.flatnonzero(
            used
            & (trial.benchmark == trial.manifest.benchmarks.index(benchmark))
            & (trial.variant == trial.manifest.variants.index(variant))
        )
        if not rows.size:
            continue
        sessions = trial.session[rows]
        labels = modes_by_values(values[rows], stream(root, benchmark, variant))
        by_values = labels is not None
        if labels is None:
            labels = modes_by_order(values[rows], sessions)
        if labels is None:
            continue
        found.append(
            ModalRuns(
                benchmark=benchmark,
                variant=variant,
                trial=trial.manifest.trial,
                rows=rows,
                values=values[rows],
                sessions=sessions,
                labels=labels,
                by="values" if by_values else "order",
                covariates=covariates,
            )
        )
    return tuple(found)
