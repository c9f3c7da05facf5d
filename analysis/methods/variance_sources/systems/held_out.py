"""Every row predicted by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....stats import Progress, in_order
from .booster import Booster, boosted, one_thread
from .design import Design
from .folds import grouped_part, random_part

__all__ = ["HeldOut", "hold_out"]

Array = NDArray[np.float64]
_Whole = NDArray[np.intp]

_DECIDING = 0.15  # share of the rows learned from that decides on the number of trees


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """The models of all folds, and what they predict.

    Attributes
    ----------
    folds : array of int, shape (rows,)
        The fold in which a row is held out.
    boosters : tuple of Booster
        The model of each fold.
    predicted : array of float, shape (rows,)
        In the response's unit.
    deviations : array of float, shape (rows,)
        The same less the mean of the rows that the model learned from.
    """

    folds: _Whole
    boosters: tuple[Booster, ...]
    predicted: Array
    deviations: Array

    @property
    def trees(self) -> tuple[int, ...]:
        """How many trees the models have."""
        return tuple(booster.trees for booster in self.boosters)


def hold_out(
    design: Design,
    y: Array,
    folds: _Whole,
    *,
    families: _Whole | None,
    rng: np.random.Generator,
    step: Callable[[], None],
    workers: int | None = None,
) -> HeldOut:
    """Fit a model for each fold to the rows of all others, and predict the fold by it.

    Parameters
    ----------
    design : Design
    y : array of float, shape (rows,)
        The response.
    folds : array of int, shape (rows,)
    families : array of int, shape (rows,), or None
        Where given, the rows that decide on the number of trees are whole families too.
    rng : numpy.random.Generator
        Which rows these are.
    step : function
        Called when a model is fitted.
    workers : int, optional
        Folds at the same time, as in `in_order`.
    """
    count = int(folds.max()) + 1
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(count)]

    def asked() -> Iterator[_Fold]:
        for learned, out in splits:
            left = (
                random_part(len(learned), _DECIDING, rng)
                if families is None
                else grouped_part(families[learned], _DECIDING, rng)
            )
            x = design.coded(learned)
            yield _Fold(
                x=x[learned], y=y[learned], left=left, seed=int(rng.integers(2**31)), out=x[out]
            )

    predicted, deviations = np.empty(len(y)), np.empty(len(y))
    boosters = []
    fitted = in_order(
        partial(_fitted, categories=design.categories),
        asked(),
        workers=workers,
        prefer="processes",
    )
    for (_, out), (booster, found) in zip(splits, fitted, strict=True):
        deviations[out] = found
        predicted[out] = booster.centre + found
        boosters.append(booster)
        step()
    return HeldOut(
        folds=folds, boosters=tuple(boosters), predicted=predicted, deviations=deviations
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fold:
    """What a fold's model learns from, and the rows `out` that it predicts."""

    x: Array
    y: Array
    left: NDArray[np.bool_]
    seed: int
    out: Array


def _fitted(
    fold: _Fold, _going_on: Progress, *, categories: NDArray[np.bool_]
) -> tuple[Booster, Array]:
    """Fit one fold's model, and predict the rows that it has not seen."""
    with one_thread():
        booster = boosted(fold.x, fold.y, categories=categories, left=fold.left, seed=fold.seed)
        return booster, booster.deviation(fold.out)
