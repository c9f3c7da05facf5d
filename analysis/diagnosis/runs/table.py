"""Runs of many cells in one table, in the order in which they were executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix, Trial
from ...errors import InsufficientDataError, UsageError

__all__ = ["RunTable", "of_matrix", "of_trial", "of_values"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunTable:
    """One entry a run in each array of shape (runs,), in the order of execution.

    Attributes
    ----------
    benchmarks, variants : tuple of str
        What `benchmark` and `variant` number.
    sessions : tuple of int or str
        The labels of the sessions that `session` numbers.
    values : array of float
        Finite values.
    block : array of int
        The round of all cells within its session, from 0; -1 where it is not known.
    start_s : array of float
        Seconds since the session's first run; nan where not known.
    ordered : bool
        Whether the order of runs of different cells is known.
    in_order : bool
        Whether the order of the runs of one cell is known: not where another tool's file lists them.
    """

    benchmarks: tuple[str, ...]
    variants: tuple[str, ...]
    sessions: tuple[int | str, ...]
    values: Floats
    benchmark: Integers
    variant: Integers
    session: Integers
    block: Integers
    start_s: Floats
    ordered: bool
    in_order: bool = True

    @property
    def logs(self) -> Floats:
        """Natural logarithms; nan where a value is 0 or less."""
        found = np.full(self.values.shape, np.nan)
        positive = self.values > 0
        found[positive] = np.log(self.values[positive])
        return found


def of_trial(trial: Trial, metric: str, variants: Sequence[str] | None = None) -> RunTable:
    """Give the runs of a trial that count: measured, ended ok, with a value of the metric.

    Raises
    ------
    UsageError
        If the trial has no such metric or variant.
    InsufficientDataError
        If no run counts.
    """
    names = trial.manifest.variants
    for name in variants or ():
        if name not in names:
            raise UsageError(
                f"the trial has no variant {name!r}",
                str(trial.path),
                f"known here: {', '.join(names)}",
            )
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values)
    if variants is not None:
        used &= np.isin(trial.variant, [names.index(name) for name in variants])
    rows = np.flatnonzero(used)
    if not rows.size:
        raise InsufficientDataError(
            f"no run has a value of {metric!r} that counts",
            str(trial.path),
            "measure more, or look at the failed runs",
            n=0,
            needed=1,
        )
    labels, session = np.unique(trial.session[rows], return_inverse=True)
    starts = trial.start_ns[rows]
    start_s = np.full(rows.size, np.nan)
    for k in range(labels.size):
        mine = np.flatnonzero((session == k) & (starts >= 0))
        # the clock orders runs of one boot only; what goes back tells nothing
        if mine.size and (np.diff(starts[mine]) >= 0).all():
            start_s[mine] = (starts[mine] - starts[mine[0]]) / 1e9
    measured = trial.manifest.origin != "imported"
    return RunTable(
        benchmarks=trial.manifest.benchmarks,
        variants=names,
        sessions=tuple(int(label) for label in labels),
        values=values[rows],
        benchmark=trial.benchmark[rows],
        variant=trial.variant[rows],
        session=session.astype(np.int64).reshape(-1),
        block=np.where(trial.block[rows] > 0, trial.block[rows] - 1, -1),
        start_s=start_s,
        ordered=measured,
        in_order=measured,
    )


def of_matrix(matrix: PerformanceMatrix) -> RunTable:
    """Give the runs of a matrix; their order is known within each benchmark only."""
    counts = [values.size for values in matrix.samples]
    benchmark = np.repeat(np.arange(len(counts)), counts)
    labels: tuple[int | str, ...] = (1,)
    session = np.zeros(benchmark.size, dtype=np.int64)
    if matrix.sessions is not None:
        labels, session = _numbered([row.tolist() for row in matrix.sessions])
    return RunTable(
        benchmarks=matrix.benchmarks,
        variants=(matrix.name,),
        sessions=labels,
        values=np.concatenate(matrix.samples),
        benchmark=benchmark,
        variant=np.zeros_like(benchmark),
        session=session,
        block=_blocks(matrix, session),
        start_s=np.full(benchmark.size, np.nan),
        ordered=False,
    )


def of_values(values: Floats, sessions: Sequence[int] | None) -> RunTable:
    """Give values of one cell, each of the session named, or all of one."""
    labels, session = _numbered([[1] * values.size if sessions is None else list(sessions)])
    zeros = np.zeros(values.size, dtype=np.int64)
    return RunTable(
        benchmarks=("runs",),
        variants=("values",),
        sessions=labels,
        values=values,
        benchmark=zeros,
        variant=zeros,
        session=session,
        block=zeros - 1,
        start_s=np.full(values.size, np.nan),
        ordered=False,
    )


def _numbered(rows: Sequence[Sequence[int | str]]) -> tuple[tuple[int | str, ...], Integers]:
    """Give ids their places, in the order in which they are first met."""
    flat = [label for row in rows for label in row]
    places = {label: k for k, label in enumerate(dict.fromkeys(flat))}
    return tuple(places), np.array([places[label] for label in flat], dtype=np.int64)


def _blocks(matrix: PerformanceMatrix, session: Integers) -> Integers:
    if matrix.blocks is None:
        return np.full(session.size, -1, dtype=np.int64)
    _, block = _numbered([row.tolist() for row in matrix.blocks])
    found = np.empty_like(block)
    for k in np.unique(session):
        mine = session == k
        found[mine] = np.unique(block[mine], return_inverse=True)[1].reshape(-1)
    return found
