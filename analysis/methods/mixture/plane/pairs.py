"""Pairs of two metrics that were measured in the same runs of a trial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....data import Trial, always_said, energy_cautions, require_steady
from ....errors import InsufficientDataError, UsageError
from ....report import Caution
from ....stats import door, read_only

__all__ = ["Pairs", "pairs_of_runs"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Two metrics of the same runs, a row a run, in the order of execution.

    `values` has shape (n, 2), in `units`; `positions` says which runs of the trial they are;
    `cautions` what was left out and what the values cannot tell.
    """

    values: NDArray[np.float64]
    names: tuple[str, str]
    units: tuple[str, str]
    positions: NDArray[np.int64]
    cautions: tuple[Caution, ...]


@door
def pairs_of_runs(
    trial: Trial, variant: str, benchmark: str, *, metrics: tuple[str, str] = ("wall", "max_rss")
) -> Pairs:
    """Give both metrics of every run of one cell that counts and has both.

    Warm-ups, failed runs, and runs without one of the values are left out, so that a row is always
    one run. A run's value of a metric with several iterations is their mean.

    Parameters
    ----------
    trial : Trial
    variant, benchmark : str
    metrics : tuple of two str
        Metrics that every run has, such as these two, or metrics parsed from output. Seconds and
        bytes differ much as numbers: fit such pairs with ``units="spread"``.

    Raises
    ------
    UsageError
        If a name is unknown, or both metrics are the same.
    InsufficientDataError
        If no run has both.
    """
    info = [trial.metric(name) for name in metrics]
    if len(set(metrics)) != 2:
        raise UsageError("pairs need two different metrics", str(trial.path))
    for name, known, what in (
        (variant, trial.manifest.variants, "variant"),
        (benchmark, trial.manifest.benchmarks, "benchmark"),
    ):
        if name not in known:
            raise UsageError(
                f"the trial has no {what} {name!r}",
                str(trial.path),
                f"known here: {', '.join(known)}",
            )
    cell = (trial.variant == trial.manifest.variants.index(variant)) & (
        trial.benchmark == trial.manifest.benchmarks.index(benchmark)
    )
    columns = np.column_stack([trial.values(name) for name in metrics])
    complete: NDArray[np.bool_] = np.isfinite(columns[:, 0]) & np.isfinite(columns[:, 1])
    used = np.flatnonzero(cell & trial.measured & complete)
    for name in metrics:
        require_steady(trial, name, cell & trial.measured & complete)
    if used.size == 0:
        raise InsufficientDataError(
            f"no run of {variant!r} on {benchmark!r} has both {metrics[0]} and {metrics[1]}",
            str(trial.path),
            "measure more, or look at the failed runs",
            n=0,
            needed=1,
        )
    return Pairs(
        values=read_only(columns[used]),
        names=(metrics[0], metrics[1]),
        units=(info[0].unit, info[1].unit),
        positions=read_only(trial.planned_position[used]),
        cautions=tuple(_cautions(trial, cell, complete, used, metrics)),
    )


def _cautions(
    trial: Trial,
    cell: NDArray[np.bool_],
    complete: NDArray[np.bool_],
    used: NDArray[np.intp],
    metrics: tuple[str, str],
) -> Iterator[Caution]:
    """Say what was left out, and what the values cannot tell."""
    yield from always_said(trial)
    failed = cell & trial.candidates & (trial.outcome != 0)
    judged = trial.judged(metrics[0]) & trial.judged(metrics[1])
    for code, which, text in (
        ("warm-up-left-out", cell & trial.warmup, "{} warm-up run{} left out"),
        ("failed-left-out", failed, "{} failed run{} left out"),
        ("metric-missing", cell & judged & ~complete, "{} run{} without one of the values"),
    ):
        if count := int(which.sum()):
            yield Caution(code, text.format(count, "s" * (count > 1)))
    for name in metrics:
        yield from energy_cautions(trial, name, cell & trial.measured & complete)
        floored = int(trial.at_floor(name)[used].sum())
        if floored:
            yield Caution(
                "floored",
                f"{floored} values of {name} say only 'at most the launcher's floor': "
                "they are no memory of the program, and their correlation with time means nothing",
            )
