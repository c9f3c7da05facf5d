"""One side of a comparison under resampling: how its suite mean moves when its centres move.

All is done on deviations from what was observed, on the log scale of the suite mean: a resample
that equals the sample gives exactly 0, and no scale of the values can overflow. A centre is that
of one benchmark; "runs" means that runs are averaged as the suite is (logarithms for the
geometric mean, reciprocals for the harmonic one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean, PerformanceMatrix

__all__ = ["Side", "side_of", "unit_sums", "weighted_medians"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_FAR = 1e300  # values further from their side's smallest one weigh nothing in a harmonic mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One variant's runs as deviations from the centres of their benchmarks.

    Attributes
    ----------
    values : tuple of arrays
        z, the runs in the form that is averaged, one array for each benchmark.
    deviations : tuple of arrays
        z - c; exactly 0 where z do not vary.
    centres : array, shape (n,)
        c, their means or medians.
    medians : bool
        Whether centres are medians.
    logs : bool
        Whether z are logarithms.
    geometric : bool
        Whether the suite mean is geometric: log M = mean of log c (of c where z are logarithms).
        If not, log M = sign * log S but for a constant, with S the sum of u = c ** power.
    power, sign : {1, -1}
        As above.
    """

    values: tuple[Array, ...]
    deviations: tuple[Array, ...]
    centres: Array
    medians: bool
    logs: bool
    geometric: bool
    power: int
    sign: int

    def shift(self, moved: Array, widths: Array | None = None, only: int | None = None) -> Array:
        """Give log M* - log M when the centres move.

        Parameters
        ----------
        moved : array, shape (n, resamples)
            c* - c; one row when `only` is given.
        widths : array, shape (n,), optional
            Factors by which the moves are widened, on the log scale of each centre.
        only : int, optional
            The one benchmark whose centre moves.
        """
        c = self.centres[:, None] if only is None else self.centres[only]
        n = self.centres.size
        if self.logs:
            logs = moved if widths is None else moved * widths[:, None]
            return np.asarray(logs.sum(axis=0) / n)
        if not self.geometric and self.power == 1 and widths is None:
            steps = moved.sum(axis=0)
        else:
            logs = np.log1p(np.maximum(moved / c, np.nextafter(-1, 0)))
            if widths is not None:
                logs *= widths[:, None]
            if self.geometric:
                return np.asarray(logs.sum(axis=0) / n)
            steps = (c**self.power * np.expm1(self.power * logs)).sum(axis=0)
        relative = steps / (self.centres**self.power).sum()
        return np.asarray(self.sign * np.log1p(np.maximum(relative, np.nextafter(-1, 0))))

    def gradient(self, moved: Array) -> Array:
        """Give the derivatives of log M* by each centre, shape (n, resamples), there."""
        n = self.centres.size
        if self.logs:
            return np.full_like(moved, 1 / n)
        c = self.centres[:, None] + moved
        if self.geometric:
            return np.asarray(1 / (n * c))
        return np.asarray(
            self.sign * self.power * c ** (self.power - 1) / (c**self.power).sum(axis=0)
        )

    def without_each(self, benchmark: int) -> Array:
        """Give c* - c of one benchmark without each of its runs, shape (m,); m is at least 2."""
        z = self.values[benchmark]
        m = z.size
        if not self.medians:
            return np.asarray(-self.deviations[benchmark] / (m - 1))
        ordered = np.sort(z)
        rank = np.empty(m, dtype=np.intp)
        rank[np.argsort(z, kind="stable")] = np.arange(m)
        low, high = (m - 2) // 2, (m - 1) // 2
        left = ordered[low + (rank <= low)]
        right = ordered[high + (rank <= high)]
        return np.asarray((left + right) / 2 - self.centres[benchmark])


def side_of(matrix: PerformanceMatrix, mean: Mean, centre: Centre) -> Side:
    """Bring the runs of one variant into the form that is averaged, free of their unit."""
    logs = mean == "geometric" and centre == "runs"
    if logs:
        values = [np.log(x) for x in matrix.samples]
    elif mean == "geometric":
        values = [x / x.max() for x in matrix.samples]
    elif mean == "arithmetic":
        largest = max(float(x.max()) for x in matrix.samples)
        values = [x / largest for x in matrix.samples]
    else:
        least = min(float(x.min()) for x in matrix.samples)
        with np.errstate(over="ignore", under="ignore"):
            if centre == "runs":
                values = [least / x for x in matrix.samples]
            else:
                values = [np.minimum(x / least, _FAR) for x in matrix.samples]
    middle = np.median if centre == "median" else np.mean
    centres = np.array([middle(z) for z in values], dtype=np.float64)
    return Side(
        values=tuple(values),
        deviations=tuple(
            np.zeros_like(z) if z.min() == z.max() else z - c
            for z, c in zip(values, centres, strict=True)
        ),
        centres=centres,
        medians=centre == "median",
        logs=logs,
        geometric=mean == "geometric",
        power=-1 if mean == "harmonic" and centre != "runs" else 1,
        sign=-1 if mean == "harmonic" else 1,
    )


def unit_sums(side: Side, units: Sequence[Indices], count: int) -> tuple[Array, Array]:
    """Give the sums of deviations and the numbers of runs, each (n, count), by unit."""
    pairs = list(zip(units, side.deviations, strict=True))
    sums = [np.bincount(where, weights=d, minlength=count) for where, d in pairs]
    numbers = [np.bincount(where, minlength=count).astype(np.float64) for where, _ in pairs]
    return np.array(sums), np.array(numbers)


def weighted_medians(z: Array, weights: NDArray[Any]) -> Array:
    """Give the median of each row's resample of z; weights (rows, m) tell how often each is in."""
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    upto = np.cumsum(weights[:, order], axis=1)
    total = upto[:, -1:]
    low = (upto <= (total - 1) // 2).sum(axis=1)
    high = (upto <= total // 2).sum(axis=1)
    return np.asarray((ordered[low] + ordered[high]) / 2)
