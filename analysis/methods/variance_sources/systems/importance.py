"""What the predictions of held-out rows lose when a covariate is shuffled; what they follow.

Importance by permutation [1]_, on rows that the model has not seen: a covariate's values are moved
among all rows, and the squared error grows by a share of the response's variance. (Values are not
moved within a fold: where families are held out, one fold may hold a single one of them.) Partial
dependence [2]_: the mean prediction when all rows are given one value of a covariate.

References
----------
.. [1] L. Breiman, "Random forests", Machine Learning 45, 2001, section 10.
.. [2] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001, section 8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....formats import TableColumn
from ....stats import Progress, in_order, stream
from .booster import Booster, one_thread
from .design import Design
from .held_out import HeldOut
from .result import Dependence, DependencePoint, Importance

__all__ = ["dependences", "importances"]

Array = NDArray[np.float64]

_CELLS = 4_000_000  # of the rows that are predicted together: one call is costly, and so is memory
_GRID, _LEVELS = 20, 12  # points of a curve
_AVERAGED = 500  # rows that a point is the mean of


def importances(
    design: Design,
    y: Array,
    held: HeldOut,
    *,
    repeats: int,
    seed: int,
    step: Callable[[], None],
    workers: int | None = None,
) -> tuple[Importance, ...]:
    """Measure the importance of every covariate, the largest first.

    Parameters
    ----------
    design : Design
    y : array of float, shape (rows,)
    held : HeldOut
        What predicts them.
    repeats : int
        How often each covariate is shuffled.
    seed : int
        Of the shuffles; each covariate has a stream of its own.
    step : function
        Called when a fold is done.
    workers : int, optional
        Folds at the same time, as in `in_order`.
    """
    asked = (
        _Fold(
            booster=booster,
            x=design.coded(np.flatnonzero(held.folds != fold)),
            y=y,
            out=np.flatnonzero(held.folds == fold),
            predicted=held.predicted[held.folds == fold],
        )
        for fold, booster in enumerate(held.boosters)
    )
    grown = np.zeros((len(design.names), repeats))
    work = partial(_grown, names=design.names, repeats=repeats, seed=seed)
    for of_fold in in_order(work, asked, workers=workers, prefer="processes"):
        grown += of_fold
        step()
    shares = grown / (len(y) * float(y.var()))
    means, sds = shares.mean(axis=1), shares.std(axis=1, ddof=1)
    order = np.argsort(-means, kind="stable")
    return tuple(
        Importance(factor=design.names[k], mean=float(means[k]), sd=float(sds[k])) for k in order
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fold:
    """A fold's model, all rows as it is given them, and the rows `out` that it has not seen."""

    booster: Booster
    x: Array
    y: Array
    out: NDArray[np.intp]
    predicted: Array


def _grown(
    fold: _Fold, _going_on: Progress, *, names: tuple[str, ...], repeats: int, seed: int
) -> Array:
    """Give what the fold's squared errors grow by, for each covariate and repeat."""

    def moves(name: str, number: int) -> NDArray[np.intp]:
        """Shuffle the rows: the same way in each fold, drawn anew rather than kept."""
        return stream(seed, "importance", name, str(number)).permutation(len(fold.y))

    x, out, y = fold.x, fold.out, fold.y[fold.out]
    before = float(((fold.predicted - y) ** 2).sum())
    each = [(place, number) for place in range(len(names)) for number in range(repeats)]
    together = max(1, _CELLS // x[out].size)
    grown = []
    for first in range(0, len(each), together):
        some = each[first : first + together]
        moved = np.tile(x[out], (len(some), 1, 1))
        for copy, (place, number) in zip(moved, some, strict=True):
            copy[:, place] = x[moves(names[place], number)[out], place]
        with one_thread():
            guesses = fold.booster.predict(moved.reshape(-1, x.shape[1]))
        grown.append(((guesses.reshape(len(some), -1) - y) ** 2).sum(axis=1) - before)
    return np.concatenate(grown).reshape(len(names), repeats)


def dependences(
    design: Design,
    factors: Sequence[str],
    held: HeldOut,
    *,
    rng: np.random.Generator,
) -> tuple[Dependence, ...]:
    """Give the partial dependence of the predictions on some covariates.

    Parameters
    ----------
    design : Design
    factors : sequence of str
        The covariates' names.
    held : HeldOut
        Each of its models gives a curve; the mean and the spread of them are told.
    rng : numpy.random.Generator
        Which rows are averaged, where there are many.
    """
    count = len(held.folds)
    rows = np.sort(rng.permutation(count)[:_AVERAGED])
    places = {name: k for k, name in enumerate(design.names)}
    grids = {name: _grid(design.columns[places[name]]) for name in factors}
    curves: dict[str, list[Array]] = {name: [] for name in factors}
    for fold, booster in enumerate(held.boosters):
        x = design.coded(np.flatnonzero(held.folds != fold))
        for name in factors:
            place, column = places[name], design.columns[places[name]]
            # a row with the wanted value shows how this fold's model is given it
            given = [x[np.flatnonzero(column.values == value)[0], place] for value in grids[name]]
            asked = np.tile(x[rows], (len(given), 1))
            asked[:, place] = np.repeat(given, len(rows))
            curves[name].append(booster.predict(asked).reshape(len(given), -1).mean(axis=1))
    return tuple(
        Dependence(
            factor=name,
            kind="numeric" if design.columns[places[name]].numeric else "categorical",
            points=_points(design.columns[places[name]], grids[name], np.array(curves[name])),
        )
        for name in factors
    )


def _points(column: TableColumn, grid: Array, curves: Array) -> tuple[DependencePoint, ...]:
    means, sds = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    return tuple(
        DependencePoint(
            at=float(value) if column.levels is None else column.levels[int(value)],
            rows=int((column.values == value).sum()),
            mean=float(mean),
            sd=float(sd),
        )
        for value, mean, sd in zip(grid, means, sds, strict=True)
    )


def _grid(column: TableColumn) -> Array:
    """Give values that occur: quantiles of a number, the most frequent levels."""
    values = column.values[column.known]
    found, counts = np.unique(values, return_counts=True)
    if column.numeric:
        if len(found) <= _GRID:
            return np.asarray(found)
        return np.unique(np.quantile(values, np.linspace(0, 1, _GRID), method="nearest"))
    return np.asarray(found[np.argsort(-counts, kind="stable")][:_LEVELS])
