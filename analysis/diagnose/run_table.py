"""The runs of a trial as a table, and as series of logarithms by cell and session.

A series is what one cell (benchmark and variant) measured in one session, in order. All tests within
sessions take ranks within the series, so that no shift between sessions, no law of the values and no
monotone scale enters them: under exchangeable runs each order of the ranks is equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import InsufficientDataError, UsageError

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunTable:
    """One entry a run in each array of shape (runs,), in the order of execution.

    `benchmark`, `variant` and `session` number the names beside them; `block` is the round of all
    cells within its session, from 0, -1 where it is not known; `start_s` seconds since the session's
    first run, nan where not known. `ordered` tells whether the order of runs of different cells is
    known, `in_order` that of the runs of one cell: not where another tool's file lists them.
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
    """Give the runs of a trial that count: measured, ended ok, with a value of the metric."""
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


_FEWEST = 3  # runs of a series that say something about their order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """Series of C cells in S sessions, of at most R runs.

    `benchmark` and `variant`, of shape (C,), are the cell. Of shape (C, S, R) are `row`, the place of
    each run in its table, -1 where there is none; `values`, nan where there is none; and `scores`,
    midranks within the series less their mean: 0 where there is no run, and throughout a series that is
    too short or has one value only. Of shape (C, S) are `counts`, the runs of each series, and
    `squares`, the sums of the squared scores.
    """

    benchmark: Integers
    variant: Integers
    row: Integers
    values: Floats
    counts: Integers
    scores: Floats
    squares: Floats

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a run."""
        found: NDArray[np.bool_] = self.row >= 0
        return found

    @property
    def runs(self) -> Integers:
        """The runs of each cell, shape (C,)."""
        found: Integers = self.counts.sum(axis=1)
        return found

    def scaled(self) -> Floats:
        """Scores with variance 1 within each series (0 where all are equal), shape (C, S, R)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(self.counts / self.squares)
        scale[~np.isfinite(scale)] = 0.0
        found: Floats = self.scores * scale[:, :, None]
        return found


def series_of(table: RunTable) -> Series:
    """Arrange the runs of a table by cell and session."""
    sessions = len(table.sessions)
    cells, cell = np.unique(
        table.benchmark * len(table.variants) + table.variant, return_inverse=True
    )
    group = cell.reshape(-1) * sessions + table.session
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group, minlength=cells.size * sessions)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    place = np.arange(order.size) - np.repeat(starts, counts)
    shape = (cells.size, sessions, int(counts.max()))
    row = np.full(shape, -1, dtype=np.int64)
    row.reshape(cells.size * sessions, -1)[group[order], place] = order
    values = np.where(row >= 0, table.values[row], np.nan)
    counts = counts.reshape(shape[:2])
    ranks = midranks_along(np.where(row >= 0, values, np.inf))
    centred = ranks - ((counts + 1) / 2)[:, :, None]
    scores = np.where((row >= 0) & (counts >= _FEWEST)[:, :, None], centred, 0.0)
    return Series(
        benchmark=cells // len(table.variants),
        variant=cells % len(table.variants),
        row=row,
        values=values,
        counts=counts,
        scores=scores,
        squares=(scores**2).sum(axis=2),
    )


def midranks_along(values: Floats) -> Floats:
    """Rank along the last axis from 1, equal values by their mean rank; what is absent is infinite."""
    size = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.ones(values.shape, dtype=np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    last = np.ones(values.shape, dtype=np.bool_)
    last[..., :-1] = new[..., 1:]
    at = np.arange(size)
    first = np.maximum.accumulate(np.where(new, at, 0), axis=-1)
    final = np.minimum.accumulate(np.where(last, at, size)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + final) / 2 + 1, axis=-1)
    return ranks


def middle_of(values: Floats) -> Floats:
    """Give the median along the last axis of what is known; nan where nothing is."""
    ordered = np.sort(values, axis=-1)
    last = np.maximum(np.isfinite(values).sum(axis=-1) - 1, 0)
    low = np.take_along_axis(ordered, (last // 2)[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, ((last + 1) // 2)[..., None], axis=-1)[..., 0]
    found: Floats = low / 2 + high / 2
    return found
