"""Runs freed of sessions and drift, and covariates as columns of a linear model."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...stats.samples import Array, Flags, Integers, read_only

if TYPE_CHECKING:
    from .covariates import Covariate, CovariateRuns
    from .result import EffectOf


LEAST_RUNS = 8  # of a cell, in sessions of two or more
LEAST_IN_ROW = 6  # runs of a session, for a trend and for shifts
_OUTERMOST = 0.02  # of the runs, on either side, may be drawn in


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellRuns:
    """The runs of one benchmark and variant that can tell something.

    `rows` are their places among all runs, in the order of execution, `trial` the trial of each, by its
    number, `sessions` the places among `rows` of each session with two runs or more, `logs` the logarithms
    of the values. `rest` are these without the mean of their session, and without its trend where it has
    `LEAST_IN_ROW` runs; the outermost fiftieth on either side is drawn in where it lies far out.
    `autocorrelation` is that of consecutive values of `rest`, freed of what removing a trend takes from it.
    """

    benchmark: str
    variant: str
    rows: Integers
    trial: Integers
    sessions: tuple[Integers, ...]
    logs: Array
    rest: Array
    autocorrelation: float

    def alone(self) -> CellRuns:
        """Give the same runs as if there were no others."""
        return replace(self, rows=np.arange(self.rows.size))


def cell_of(runs: CovariateRuns, benchmark: str, variant: str, rows: Integers) -> CellRuns | None:
    """Prepare the runs of a cell; None where they are too few, or all the same."""
    labels = runs.session[rows]
    counts = dict(
        zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)
    )
    kept = np.array([counts[label] > 1 for label in labels.tolist()], dtype=np.bool_)
    rows, labels = rows[kept], labels[kept]
    if rows.size < LEAST_RUNS:
        return None
    sessions = tuple(np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist()))
    logs = runs.logs[rows]
    rest = np.zeros(rows.size)
    for mine in sessions:
        rest[mine] = detrended(logs[mine][:, None])[:, 0]
    rest = _drawn_in(rest)
    for mine in sessions:
        rest[mine] -= rest[mine].mean()
    if float(np.abs(rest).max()) < 1e-12:
        return None
    return CellRuns(
        benchmark=benchmark,
        variant=variant,
        rows=rows,
        trial=runs.trial[rows],
        sessions=sessions,
        logs=logs,
        rest=rest,
        autocorrelation=_autocorrelation(rest, sessions),
    )


@functools.lru_cache(maxsize=256)
def trend(size: int) -> Array:
    """Give a constant and a straight line as orthonormal columns, shape (size, 2)."""
    place = np.arange(size) - (size - 1) / 2
    found = np.column_stack([np.ones(size), place])
    return read_only(found / np.sqrt((found**2).sum(axis=0)))


def detrended(columns: Array) -> Array:
    """Take the mean from each column of a session, and the trend where there are enough rows."""
    if columns.shape[0] < LEAST_IN_ROW:
        return np.asarray(columns - columns.mean(axis=0))
    basis = trend(columns.shape[0])
    return np.asarray(columns - basis @ (basis.T @ columns))


def _drawn_in(rest: Array) -> Array:
    """Let single far values weigh no more than the outermost that are not far."""
    low, first, third, high = np.quantile(rest, [_OUTERMOST, 0.25, 0.75, 1 - _OUTERMOST])
    width = 3.0 * (third - first)  # values beyond that are far
    return np.asarray(np.clip(rest, min(low, first - width), max(high, third + width)))


def _autocorrelation(rest: Array, sessions: tuple[Integers, ...]) -> float:
    """Correlate consecutive runs over all sessions with enough of them."""
    long = [rest[mine] for mine in sessions if mine.size >= LEAST_IN_ROW]
    square = sum(float(row @ row) for row in long)
    if not square:
        return 0.0
    found = sum(float(row[1:] @ row[:-1]) for row in long) / square
    size = sum(row.size for row in long) / len(long)
    if abs(found + 2 / size) < 1.96 / np.sqrt(sum(row.size for row in long)):  # standard deviations
        return 0.0
    freed = (found + 2 / size) / (1 - 4 / size)
    return float(np.clip(freed, -0.5, 0.95))


_PHASES = 16  # at which a window of a circle may begin
_WIDTHS = (4, 8)  # of windows, in phases; a wider one is the rest of one of these
_PLACES = 64  # on a circle, at which an effect of sessions is looked at
_LEAST_AT_LEVEL = 3  # runs; what is rarer is taken together
_SAME = 1e-9  # of a factor's range: what differs by less within sessions does not


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateColumns:
    """The values of one covariate for the runs of a cell, as columns of a linear model.

    `table` has shape (runs, k); what is unknown is 0 in all columns, and `known` tells which runs know
    their value. `places`, shape (places, k), is what the columns would be at each level, or place on the
    circle, which `labels` name; of a number there are none. `effect_of` says what an effect compares. Where
    `either`, the columns are looked at one by one, and the best of them counts: windows of a circle, of
    which `labels` are the names.
    """

    table: Array
    known: Flags
    places: Array
    labels: tuple[str, ...]
    effect_of: EffectOf
    either: bool = False

    def vary_within(self, sessions: tuple[Integers, ...]) -> bool:
        """Tell whether the covariate differs between the runs of some session."""
        whole = float(np.ptp(self.table[self.known], axis=0).max())
        there = [mine[self.known[mine]] for mine in sessions]
        inside = [float(np.ptp(self.table[mine], axis=0).max()) for mine in there if mine.size > 1]
        return max(inside, default=0.0) > _SAME * whole


def columns_of(covariate: Covariate, rows: Integers) -> CovariateColumns | None:
    """Give a covariate's columns for these runs; None where it is constant or hardly known.

    A number that has two whole values only is taken as two levels.
    """
    values = covariate.values[rows]
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    if distinct.size < 2 or known.sum() < 2 * _LEAST_AT_LEVEL:
        return None
    if covariate.scale == "levels":
        return _levels(values, known, covariate.labels)
    if covariate.scale == "circular" and covariate.period:
        if covariate.of_session:  # sessions are few, and windows many
            return _wave(values, known, covariate.period)
        return _windows(values, known, covariate.period)
    two = distinct.size == 2 and bool((distinct == np.round(distinct)).all())
    if two and covariate.count is None:
        codes = np.where(known, np.searchsorted(distinct, values), np.nan)
        return _levels(codes, known, tuple(f"{one:.0f}" for one in distinct.tolist()))
    centre = float(values[known].mean())
    scale = float(np.abs(values[known] - centre).max()) or 1.0
    column = np.where(known, (values - centre) / scale, 0.0)[:, None]
    return CovariateColumns(
        table=column, known=known, places=np.zeros((0, 1)), labels=(), effect_of="sd"
    )


def _levels(values: Array, known: Flags, labels: tuple[str, ...]) -> CovariateColumns | None:
    codes = np.where(known, values, -1).astype(np.int64)
    counts = np.bincount(codes[known], minlength=len(labels))
    often = np.flatnonzero(counts >= _LEAST_AT_LEVEL)
    rare = np.flatnonzero((counts > 0) & (counts < _LEAST_AT_LEVEL))
    groups = [np.array([one]) for one in often]
    names = [labels[one] for one in often.tolist()]
    if counts[rare].sum() >= _LEAST_AT_LEVEL:
        groups.append(rare)
        names.append("others")
    if len(groups) < 2:
        return None
    table = np.column_stack([np.isin(codes, group) for group in groups]).astype(np.float64)
    return CovariateColumns(
        table=table,
        known=table.sum(axis=1) > 0,
        places=np.eye(len(groups)),
        labels=tuple(names),
        effect_of="levels",
    )


def _windows(values: Array, known: Flags, period: float) -> CovariateColumns | None:
    """Take a quarter or a half of a circle against the rest, beginning anywhere."""
    step = period / _PHASES
    phase = np.floor(np.mod(np.where(known, values, 0.0), period) / step)
    columns, labels = [], []
    for width in _WIDTHS:
        # a half that begins in the other half is the rest of one
        for begin in range(_PHASES if 2 * width < _PHASES else _PHASES // 2):
            inside = known & (np.mod(phase - begin, _PHASES) < width)
            if _LEAST_AT_LEVEL <= inside.sum() <= known.sum() - _LEAST_AT_LEVEL:
                columns.append(inside.astype(np.float64))
                last = np.mod((begin + width) * step - 1, period)
                labels.append(f"{begin * step:g} to {last:g}")
    if not columns:
        return None
    return CovariateColumns(
        table=np.column_stack(columns),
        known=known,
        places=np.zeros((0, len(columns))),
        labels=tuple(labels),
        effect_of="circle",
        either=True,
    )


def _wave(values: Array, known: Flags, period: float) -> CovariateColumns:
    distinct = np.unique(np.mod(values[known], period))
    if distinct.size > _PLACES:
        distinct = np.arange(_PLACES) * period / _PLACES
    table = _turned(np.where(known, values, 0.0), period)
    table[~known] = 0.0
    return CovariateColumns(
        table=table,
        known=known,
        places=_turned(distinct, period),
        labels=tuple(f"{place:g}" for place in distinct.tolist()),
        effect_of="circle",
    )


def _turned(values: Array, period: float) -> Array:
    angle = 2 * np.pi * values / period
    return np.column_stack([np.cos(angle), np.sin(angle)])
