"""Other orders in which the runs could have met their covariates, and how well those would fit.

Of what was drawn for each run every order within its session was as likely: runs are shuffled. What was
only seen has an order of its own, as has the host: runs are shifted in a circle against it, after both
are freed of the runs' autocorrelation; each shift is freed of the trend that its seam makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cells import LEAST_IN_ROW, Cell, detrended, trend

__all__ = ["Directions", "Fits", "Shifts", "Shuffles", "directions"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_SAME = 1e-9  # of the largest: a direction that is smaller is none
_COLLINEAR = 1e-10  # of the largest square: the same within rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Directions:
    """The orthonormal directions of a factor's columns.

    `basis` has shape (rows, rank); `back`, shape (rank, k), takes coordinates of a place to those of
    the basis: the coefficients of the columns are ``back.T @ (basis.T @ y)``. Where `either`, each
    direction is that of one column, and the best of them counts.
    """

    basis: Floats
    back: Floats
    either: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fits:
    """How much of the runs' variance a factor explains, as they were and in other orders.

    Attributes
    ----------
    found : float
        The share, 0 to 1.
    drawn : float array, shape (orders,)
        That of each other order.
    along : float array, shape (rank,)
        The runs along the factor's directions.
    length : float
        That of all runs; `found` is the square of `along` over its square, or that of the longest
        of its parts.
    signed : float array, shape (orders,)
        The correlation with a factor of one direction in each other order; empty of other factors.
    lengths : float array, shape (orders,)
        Those of all runs in the other orders.
    """

    found: float
    drawn: Floats
    along: Floats
    length: float
    signed: Floats
    lengths: Floats


def directions(
    columns: Floats, whole: Floats | None = None, *, either: bool = False
) -> Directions | None:
    """Give the directions of columns; None where nothing of them is left.

    Parameters
    ----------
    columns : array, shape (rows, k)
        Freed of what is not looked at.
    whole : array, optional
        What they were before: what is left must not be rounding of it.
    either : bool
        Whether each column has its own.
    """
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
    """Runs in every order within their sessions.

    Parameters
    ----------
    cell : Cell
        The runs.
    count : int
        How many other orders.
    rng : numpy.random.Generator
        What draws them.
    """

    def __init__(self, cell: Cell, count: int, rng: np.random.Generator) -> None:
        self._sessions, self._y = cell.sessions, cell.rest
        self._orders = np.empty((count, cell.rest.size))
        for mine in cell.sessions:
            places = np.broadcast_to(cell.rest[mine], (count, mine.size))
            self._orders[:, mine] = rng.permuted(places, axis=1)
        self._square = float(cell.rest @ cell.rest)

    def prepared(
        self, table: Floats, known: NDArray[np.bool_], *, either: bool = False
    ) -> Directions | None:
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
    """Runs shifted in a circle within their sessions, against what was seen of them.

    Parameters
    ----------
    cell : Cell
        The runs.
    count : int
        How many shifts of all sessions.
    rng : numpy.random.Generator
        What draws them; where there are no more than `count` different ones, each is taken.
    """

    def __init__(self, cell: Cell, count: int, rng: np.random.Generator) -> None:
        self._sessions = tuple(mine for mine in cell.sessions if mine.size >= LEAST_IN_ROW)
        self._carry = cell.autocorrelation
        self._rows: list[Floats] = []  # the runs of each session, freed of everything
        self._squares: list[Floats] = []  # after each shift
        for mine in self._sessions:
            row = detrended(self._innovations(cell.rest[mine])[:, None])[:, 0]
            self._rows.append(row)
            left = np.full(row.size, float(row @ row))
            if row.size >= LEAST_IN_ROW:
                left -= (_correlated(row, trend(row.size)) ** 2).sum(axis=1)
            self._squares.append(left)
        self._drawn = _shifts([row.size for row in self._rows], count, rng)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def prepared(
        self, table: Floats, known: NDArray[np.bool_], *, either: bool = False
    ) -> Directions | None:
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

    def _innovations(self, rows: Floats) -> Floats:
        if not self._carry:
            return rows
        found: Floats = rows[1:] - self._carry * rows[:-1]
        return found

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


def _correlated(row: Floats, columns: Floats) -> Floats:
    """Multiply a row, shifted by each number of places, with columns: shape (shifts, columns)."""
    size = row.size
    found: Floats = np.fft.irfft(
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
    those: Sequence[Directions], along: Floats, drawn: Floats, lengths: Floats, length: float
) -> list[Fits]:
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(lengths[:, None] > 0, drawn / lengths[:, None], 0.0)
    found, begin = [], 0
    for one in those:
        mine = slice(begin, begin + one.basis.shape[1])
        own, squares = along[mine] ** 2 / length**2, scaled[:, mine] ** 2
        found.append(
            Fits(
                found=float(own.max() if one.either else own.sum()),
                drawn=squares.max(axis=1) if one.either else squares.sum(axis=1),
                along=along[mine],
                length=length,
                signed=scaled[:, begin] if mine.stop == begin + 1 else np.zeros(0),
                lengths=lengths,
            )
        )
        begin = mine.stop
    return found
