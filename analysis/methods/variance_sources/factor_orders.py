"""Runs freed of sessions and drift, and the other orders in which they could have met their covariates.

Of what was drawn for each run every order within its session was as likely: runs are shuffled. What was
only seen has an order of its own, as has the host: runs are shifted in a circle against it, after both
are freed of the runs' autocorrelation; each shift is freed of the trend that its seam makes.

References
----------
.. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993, section 2.6 (step-down
   by the largest statistic).
.. [2] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in
   Genetics and Molecular Biology 9, 2010.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from ...stats.samples import Array, Flags, Integers, read_only
from .covariates import Covariate, CovariateRuns
from .result import EffectOf

# of the largest: a direction, or a difference within sessions, that is smaller is none
_SAME = 1e-9
LEAST_RUNS = 8  # of a cell, in sessions of two or more
LEAST_IN_ROW = 6  # runs of a session, for a trend and for shifts
_OUTERMOST = 0.02  # of the runs, on either side, may be drawn in


@dataclass(frozen=True, slots=True, eq=False)
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


def cell_of(runs: CovariateRuns, benchmark: str, variant: str, rows: Integers) -> CellRuns | None:
    """Prepare the runs of a cell; None where they are too few, or all the same."""
    labels = runs.session[rows]
    counts = Counter(labels.tolist())
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
    carry = _autocorrelation(rest, sessions)
    return CellRuns(benchmark, variant, rows, runs.trial[rows], sessions, logs, rest, carry)


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
_PLACES = 64  # that were seen on a circle, at which an effect of sessions is looked at
_LEAST_AT_LEVEL = 3  # runs; what is rarer is taken together


@dataclass(frozen=True, slots=True, eq=False)
class CovariateColumns:
    """The values of one covariate for the runs of a cell, as columns of a linear model.

    `table` has shape (runs, k); what is unknown is 0 in all columns, and `known` tells which runs know
    their value. `places`, shape (places, k), is what the columns would be at each level, or place on the
    circle, which `labels` name; of a number there are none. `effect_of` says what an effect compares. Where
    `either`, the columns are looked at one by one, and the best of them counts: windows of a circle, whose
    names are the `labels`.
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


def columns_of(covariate: Covariate) -> CovariateColumns | None:
    """Give the columns of a covariate of some runs; None where it is constant or hardly known.

    A number that has two whole values only is taken as two levels.
    """
    values = covariate.values
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
    return CovariateColumns(column, known, np.zeros((0, 1)), (), "sd")


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
    there = table.sum(axis=1) > 0
    return CovariateColumns(table, there, np.eye(len(groups)), tuple(names), "levels")


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
    table, none = np.column_stack(columns), np.zeros((0, len(columns)))
    return CovariateColumns(table, known, none, tuple(labels), "circle", either=True)


def _wave(values: Array, known: Flags, period: float) -> CovariateColumns:
    distinct = np.unique(np.mod(values[known], period))
    if distinct.size > _PLACES:
        distinct = distinct[np.linspace(0, distinct.size - 1, _PLACES).round().astype(np.int64)]
    table = _turned(np.where(known, values, 0.0), period)
    table[~known] = 0.0
    labels = tuple(f"{place:g}" for place in distinct.tolist())
    return CovariateColumns(table, known, _turned(distinct, period), labels, "circle")


def _turned(values: Array, period: float) -> Array:
    angle = 2 * np.pi * values / period
    return np.column_stack([np.cos(angle), np.sin(angle)])


_COLLINEAR = 1e-10  # of the largest square: the same within rounding


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """The orthonormal directions of a factor's columns.

    `basis` has shape (rows, rank); `back`, shape (rank, k), takes coordinates of a place to those of
    the basis: the coefficients of the columns are ``back.T @ (basis.T @ y)``. Where `either`, each
    direction is that of one column, and the best of them counts.
    """

    basis: Array
    back: Array
    either: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """How much of the runs' variance a factor explains, as they were and in other orders.

    `found` is the share, 0 to 1, and `drawn`, shape (orders,), that of each other order. `along`, shape
    (rank,), are the runs along the factor's directions and `length` is that of all runs: `found` is the
    square of `along` over its square, or that of the longest of its parts. `signed` is the correlation with
    a factor of one direction in each other order (empty of other factors); `lengths` those of all runs there.
    """

    found: float
    drawn: Array
    along: Array
    length: float
    signed: Array
    lengths: Array


def directions(
    columns: Array, whole: Array | None = None, *, either: bool = False
) -> Directions | None:
    """Give the directions of columns; None where nothing of them is left."""
    scale = np.sqrt((columns**2).sum(axis=0)) if whole is None else np.sqrt((whole**2).sum(axis=0))
    largest = float(scale.max(initial=0.0))
    if not largest > 0:
        return None
    if either:
        sizes = np.sqrt((columns**2).sum(axis=0))
        there = sizes > _SAME * largest
        if not there.any():
            return None
        scales = np.where(there, 1 / np.where(there, sizes, 1.0), 0.0)
        return Directions(basis=columns * scales, back=np.diag(scales), either=True)
    # by the few columns' products: a decomposition of all rows costs a hundred times as much
    squares, turns = np.linalg.eigh(columns.T @ columns)
    kept = squares > max((_SAME * largest) ** 2, _COLLINEAR * float(squares[-1]))
    if not kept.any():
        return None
    back = (turns[:, kept] / np.sqrt(squares[kept])).T
    return Directions(basis=columns @ back.T, back=back)


class Shuffles:
    """Runs in every order within their sessions."""

    def __init__(self, cell: CellRuns, count: int, rng: np.random.Generator) -> None:
        self._sessions, self._y = cell.sessions, cell.rest
        self._orders = np.empty((count, cell.rest.size))
        for mine in cell.sessions:
            places = np.broadcast_to(cell.rest[mine], (count, mine.size))
            self._orders[:, mine] = rng.permuted(places, axis=1)
        self._square = float(cell.rest @ cell.rest)

    def prepared(self, table: Array, known: Flags, *, either: bool = False) -> Directions | None:
        """Free columns of their sessions' means."""
        found = np.zeros_like(table)
        for mine in self._sessions:
            there = mine[known[mine]]
            if there.size:
                found[there] = table[there] - table[there].mean(axis=0)
        return directions(found, table, either=either)

    def fits(self, those: Sequence[Directions]) -> list[Fits]:
        """Give how well each factor fits, in the order that was and in all others."""
        if not those:
            return []
        basis = np.concatenate([one.basis for one in those], axis=1)
        along, drawn = basis.T @ self._y, self._orders @ basis
        lengths = np.full(drawn.shape[0], np.sqrt(self._square))
        return _split(those, along, drawn, lengths, float(lengths[0]))


class Shifts:
    """Runs shifted in a circle within their sessions, against what was seen of them."""

    def __init__(self, cell: CellRuns, count: int, rng: np.random.Generator) -> None:
        self._sessions = tuple(mine for mine in cell.sessions if mine.size >= LEAST_IN_ROW)
        self._carry = cell.autocorrelation
        self._rows: list[Array] = []  # the runs of each session, freed of everything
        self._squares: list[Array] = []  # after each shift
        for mine in self._sessions:
            row = detrended(self._innovations(cell.rest[mine])[:, None])[:, 0]
            self._rows.append(row)
            left = np.full(row.size, float(row @ row))
            if row.size >= LEAST_IN_ROW:
                left -= (_correlated(row, trend(row.size)) ** 2).sum(axis=1)
            self._squares.append(left)
        self._drawn = _shifts([row.size for row in self._rows], count, rng)

    def prepared(self, table: Array, known: Flags, *, either: bool = False) -> Directions | None:
        """Free columns of the autocorrelation, the means and the trends of their sessions."""
        parts, whole = [], []
        for mine in self._sessions:
            there = known[mine]
            centred = np.zeros((mine.size, table.shape[1]))
            if there.any():
                centred[there] = table[mine[there]] - table[mine[there]].mean(axis=0)
            fresh = self._innovations(centred)
            fresh[~(there[1:] & there[:-1]) if self._carry else ~there] = 0.0
            parts.append(detrended(fresh))
            whole.append(centred)
        if not parts:
            return None
        return directions(np.concatenate(parts), np.concatenate(whole), either=either)

    def _innovations(self, rows: Array) -> Array:
        if not self._carry:
            return rows
        return np.asarray(rows[1:] - self._carry * rows[:-1])

    def fits(self, those: Sequence[Directions]) -> list[Fits]:
        """Give how well each factor fits, unshifted and after each shift."""
        if not those:
            return []
        basis = np.concatenate([one.basis for one in those], axis=1)
        along = np.zeros(basis.shape[1])
        drawn = np.zeros((self._drawn.shape[1], basis.shape[1]))
        squares, square, begin = np.zeros(self._drawn.shape[1]), 0.0, 0
        for row, after, shift in zip(self._rows, self._squares, self._drawn, strict=True):
            every = _correlated(row, basis[begin : begin + row.size])
            along += every[0]
            drawn += every[shift]
            square += float(row @ row)
            squares += after[shift]
            begin += row.size
        lengths = np.sqrt(np.maximum(squares, 0.0))
        return _split(those, along, drawn, lengths, float(np.sqrt(square)))


def _correlated(row: Array, columns: Array) -> Array:
    """Multiply a row, shifted by each number of places, with columns: shape (shifts, columns)."""
    size = row.size
    found: Array = np.fft.irfft(
        np.conj(np.fft.rfft(row))[:, None] * np.fft.rfft(columns, axis=0), size, axis=0
    )
    return found


def _shifts(sizes: Sequence[int], count: int, rng: np.random.Generator) -> Integers:
    """Draw shifts of all sessions, shape (sessions, count); of few, each as often as the others."""
    every = 1
    for size in sizes:
        every *= size
        if every > count:
            return np.stack([rng.integers(0, size, count) for size in sizes])
    if not sizes:
        return np.zeros((0, count), dtype=np.int64)
    whole = np.stack(np.unravel_index(np.arange(every), sizes))
    return whole[:, rng.permutation(np.arange(count) % every)]


def _split(
    those: Sequence[Directions], along: Array, drawn: Array, lengths: Array, length: float
) -> list[Fits]:
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(lengths[:, None] > 0, drawn / lengths[:, None], 0.0)
    found, begin = [], 0
    for one in those:
        mine = slice(begin, begin + one.basis.shape[1])
        own, squares = along[mine] ** 2 / length**2, scaled[:, mine] ** 2
        share = float(own.max() if one.either else own.sum())
        shares = squares.max(axis=1) if one.either else squares.sum(axis=1)
        signed = scaled[:, begin] if mine.stop == begin + 1 else np.zeros(0)
        found.append(Fits(share, shares, along[mine], length, signed, lengths))
        begin = mine.stop
    return found


def between_sessions(
    cell: CellRuns, columns: CovariateColumns, count: int, rng: np.random.Generator
) -> tuple[Directions, Array, float, Fits | None] | None:
    """Hold a factor against the sessions of each trial in other orders.

    Gives its directions, the means of sessions along them, its standard deviation, and how well it fits;
    no fit where sessions are too few to tell.
    """
    trial = np.array([cell.trial[mine[0]] for mine in cell.sessions])
    y = np.array([cell.logs[mine].mean() for mine in cell.sessions])
    table = np.full((len(cell.sessions), columns.table.shape[1]), np.nan)
    for k, mine in enumerate(cell.sessions):
        there = mine[columns.known[mine]]
        if there.size:
            table[k] = columns.table[there].mean(axis=0)
    known = np.isfinite(table).all(axis=1)
    trial, y, table = trial[known], y[known], table[known]
    if not trial.size:
        return None
    whole = table.copy()
    strata = [np.flatnonzero(trial == one) for one in np.unique(trial)]
    for mine in strata:
        y[mine] -= y[mine].mean()
        table[mine] -= table[mine].mean(axis=0)
    found = directions(table, whole)
    square = float(y @ y)
    if found is None or square <= 0:
        return None
    coordinates = found.basis.T @ y
    freedom = max(y.size - len(strata), 1)
    spread = math.sqrt(float((table[:, 0] ** 2).sum()) / freedom)
    few = 2 * found.basis.shape[1] > y.size - len(strata)
    if few or 2 / _arrangements(table, strata) > 0.05:  # two of them may fit alike
        return found, coordinates, spread, None
    orders = np.empty((count, y.size))
    for mine in strata:
        orders[:, mine] = rng.permuted(np.broadcast_to(y[mine], (count, mine.size)), axis=1)
    drawn = ((orders @ found.basis) ** 2).sum(axis=1) / square
    share, length = float(coordinates @ coordinates) / square, math.sqrt(square)
    fits = Fits(share, drawn, coordinates, length, np.zeros(0), np.full(count, length))
    return found, coordinates, spread, fits


def _arrangements(table: Array, strata: list[Integers]) -> float:
    """Count the different ways in which the sessions of each trial could have met the factor."""
    logs = 0.0
    for mine in strata:
        alike = Counter(map(tuple, np.round(table[mine], 9).tolist()))
        logs += math.lgamma(mine.size + 1) - sum(math.lgamma(n + 1) for n in alike.values())
    return math.exp(min(logs, 50.0))


def pvalue(fits: Fits) -> float:
    """Give the share of orders that fit as well as the one that was, itself among them [2]_."""
    as_well = int((fits.drawn >= fits.found * (1 - _SAME) - 1e-15).sum())
    return (as_well + 1) / (fits.drawn.size + 1)


def surprise(fits: Fits, law: Fits | None = None) -> tuple[float, Array]:
    """Put shares of factors with different numbers of levels on one scale."""
    base = fits if law is None else law
    every = np.append(base.drawn, base.found)
    mean, variance = float(every.mean()), float(every.var())
    if not 0 < mean < 1 or variance <= 0:
        return 0.0, np.zeros(fits.drawn.size)
    weight = max(mean * (1 - mean) / variance - 1, 1e-3)
    every = np.append(fits.drawn, fits.found)
    tail = betainc((1 - mean) * weight, mean * weight, np.clip(1 - every, 0.0, 1.0))
    scaled = -np.log(np.maximum(tail, 1e-300))  # probability whose logarithm is taken
    return float(scaled[-1]), scaled[:-1]


def stepped_down(tests: Sequence[tuple[float, Array]]) -> list[float]:
    """Give the p-value of each of the tests of one answer, for all of them together.

    Each comes with its surprise and those of the other orders. The k-th order of every test is one order
    of the whole trial: the largest surprise of each says what chance makes of this number of tests, and
    steps down from the most surprising one [1]_.
    """
    found = np.array([one for one, _ in tests])
    order = np.argsort(found, kind="stable")  # the least surprising first
    largest: NDArray[np.float32] = np.zeros(1, dtype=np.float32)
    raised = np.empty(found.size)
    for place in order:
        largest = np.maximum(largest, tests[place][1].astype(np.float32))
        as_much = int((largest >= found[place] - 1e-4).sum())
        raised[place] = (as_much + 1) / (largest.size + 1)
    down = np.maximum.accumulate(raised[order[::-1]])
    raised[order[::-1]] = down
    return [float(p) for p in raised]
