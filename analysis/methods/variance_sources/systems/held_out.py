"""Every row predicted by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .booster import Booster, boosted
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
    """
    predicted, deviations = np.empty(len(y)), np.empty(len(y))
    boosters = []
    for fold in range(int(folds.max()) + 1):
        learned, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        left = (
            random_part(len(learned), _DECIDING, rng)
            if families is None
            else grouped_part(families[learned], _DECIDING, rng)
        )
        x = design.coded(learned)
        booster = boosted(
            x[learned],
            y[learned],
            categories=design.categories,
            left=left,
            seed=int(rng.integers(2**31)),
        )
        deviations[out] = booster.deviation(x[out])
        predicted[out] = booster.centre + deviations[out]
        boosters.append(booster)
        step()
    return HeldOut(
        folds=folds, boosters=tuple(boosters), predicted=predicted, deviations=deviations
    )
