"""The runs of one benchmark and variant, freed of what sessions and slow drift do to them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..runs import Runs

__all__ = ["LEAST_IN_ROW", "LEAST_RUNS", "Cell", "cell_of", "detrended", "trend"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_RUNS = 8  # of a cell, in sessions of two or more
LEAST_IN_ROW = 6  # runs of a session, for a trend and for shifts
_OUTERMOST = 0.02  # of the runs, on either side, may be drawn in
_FENCE = 3.0  # widths between the quartiles, beyond which they are
_BY_CHANCE = 1.96  # standard deviations
_MOST_AUTOCORRELATION = 0.95
_LEAST_AUTOCORRELATION = -0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """The runs of one benchmark and variant that can tell something.

    Attributes
    ----------
    benchmark, variant : str
        Which.
    rows : int array, shape (n,)
        Their places among all runs, in the order of execution.
    trial : int array, shape (n,)
        The trial of each, by its number.
    sessions : tuple of int arrays
        Places among `rows`, of each session with two runs or more.
    logs : float array, shape (n,)
        Logarithms of the values.
    rest : float array, shape (n,)
        Without the mean of their session, and without its trend where it has `LEAST_IN_ROW` runs;
        the outermost fiftieth on either side is drawn in where it lies far out.
    autocorrelation : float
        Of consecutive values of `rest`, freed of what removing a trend takes from it.
    """

    benchmark: str
    variant: str
    rows: Integers
    trial: Integers
    sessions: tuple[Integers, ...]
    logs: Floats
    rest: Floats
    autocorrelation: float

    def alone(self) -> Cell:
        """Give the same runs as if there were no others."""
        return replace(self, rows=np.arange(self.rows.size))


def cell_of(runs: Runs, benchmark: str, variant: str, rows: Integers) -> Cell | None:
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
    return Cell(
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
def trend(size: int) -> Floats:
    """Give a constant and a straight line as orthonormal columns, shape (size, 2)."""
    place = np.arange(size) - (size - 1) / 2
    found = np.column_stack([np.ones(size), place])
    found /= np.sqrt((found**2).sum(axis=0))
    found.flags.writeable = False
    return found


def detrended(columns: Floats) -> Floats:
    """Take the mean from each column of a session, and the trend where there are enough rows."""
    if columns.shape[0] < LEAST_IN_ROW:
        centred: Floats = columns - columns.mean(axis=0)
        return centred
    basis = trend(columns.shape[0])
    found: Floats = columns - basis @ (basis.T @ columns)
    return found


def _drawn_in(rest: Floats) -> Floats:
    """Let single far values weigh no more than the outermost that are not far.

    What at least a fiftieth of the runs do is a mode, and stays as it is.
    """
    low, first, third, high = np.quantile(rest, [_OUTERMOST, 0.25, 0.75, 1 - _OUTERMOST])
    width = _FENCE * (third - first)
    found: Floats = np.clip(rest, min(low, first - width), max(high, third + width))
    return found


def _autocorrelation(rest: Floats, sessions: tuple[Integers, ...]) -> float:
    """Correlate consecutive runs over all sessions with enough of them.

    Removing a line from n values of an autoregression takes about (2 + 4 r) / n from its correlation
    r; that is put back (Marriott and Pope, Biometrika 41, 1954). What chance makes of independent runs
    in one of twenty cells is taken as none: removing it would cost runs for nothing.
    """
    long = [rest[mine] for mine in sessions if mine.size >= LEAST_IN_ROW]
    square = sum(float(row @ row) for row in long)
    if not square:
        return 0.0
    found = sum(float(row[1:] @ row[:-1]) for row in long) / square
    size = sum(row.size for row in long) / len(long)
    if abs(found + 2 / size) < _BY_CHANCE / np.sqrt(sum(row.size for row in long)):
        return 0.0
    freed = (found + 2 / size) / (1 - 4 / size)
    return float(np.clip(freed, _LEAST_AUTOCORRELATION, _MOST_AUTOCORRELATION))
