"""A covariate as columns that a linear model can use, and the places that its effect compares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..covariates import Covariate
from ..result import EffectOf

__all__ = ["Columns", "columns_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_PHASES = 16  # at which a window of a circle may begin
_WIDTHS = (4, 8)  # of windows, in phases; a wider one is the rest of one of these
_PLACES = 64  # on a circle, at which an effect of sessions is looked at
_LEAST_AT_LEVEL = 3  # runs; what is rarer is taken together
_OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The values of one covariate for the runs of a cell.

    Attributes
    ----------
    table : float array, shape (runs, k)
        Columns; what is unknown is 0 in all of them.
    known : bool array, shape (runs,)
        Which runs know their value.
    places : float array, shape (places, k)
        What the columns would be at each level, or place on the circle; of a number none.
    labels : tuple of str
        Names of the places.
    effect_of : {"levels", "circle", "sd"}
        What an effect compares.
    either : bool
        Whether the columns are looked at one by one, and the best of them counts: windows of a
        circle, of which `labels` are the names.
    """

    table: Floats
    known: NDArray[np.bool_]
    places: Floats
    labels: tuple[str, ...]
    effect_of: EffectOf
    either: bool = False


def columns_of(covariate: Covariate, rows: Integers) -> Columns | None:
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
    return _number(values, known)


def _number(values: Floats, known: NDArray[np.bool_]) -> Columns:
    centre = float(values[known].mean())
    scale = float(np.abs(values[known] - centre).max()) or 1.0
    column = np.where(known, (values - centre) / scale, 0.0)
    return Columns(
        table=column[:, None],
        known=known,
        places=np.zeros((0, 1)),
        labels=(),
        effect_of="sd",
    )


def _levels(values: Floats, known: NDArray[np.bool_], labels: tuple[str, ...]) -> Columns | None:
    codes = np.where(known, values, -1).astype(np.int64)
    counts = np.bincount(codes[known], minlength=len(labels))
    often = np.flatnonzero(counts >= _LEAST_AT_LEVEL)
    rare = np.flatnonzero((counts > 0) & (counts < _LEAST_AT_LEVEL))
    groups = [np.array([one]) for one in often]
    names = [labels[one] for one in often.tolist()]
    if counts[rare].sum() >= _LEAST_AT_LEVEL:
        groups.append(rare)
        names.append(_OTHERS)
    if len(groups) < 2:
        return None
    table = np.column_stack([np.isin(codes, group) for group in groups]).astype(np.float64)
    return Columns(
        table=table,
        known=table.sum(axis=1) > 0,
        places=np.eye(len(groups)),
        labels=tuple(names),
        effect_of="levels",
    )


def _windows(values: Floats, known: NDArray[np.bool_], period: float) -> Columns | None:
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
    return Columns(
        table=np.column_stack(columns),
        known=known,
        places=np.zeros((0, len(columns))),
        labels=tuple(labels),
        effect_of="circle",
        either=True,
    )


def _wave(values: Floats, known: NDArray[np.bool_], period: float) -> Columns:
    distinct = np.unique(np.mod(values[known], period))
    if distinct.size > _PLACES:
        distinct = np.arange(_PLACES) * period / _PLACES
    table = _turned(np.where(known, values, 0.0), period)
    table[~known] = 0.0
    return Columns(
        table=table,
        known=known,
        places=_turned(distinct, period),
        labels=tuple(f"{place:g}" for place in distinct.tolist()),
        effect_of="circle",
    )


def _turned(values: Floats, period: float) -> Floats:
    angle = 2 * np.pi * values / period
    return np.column_stack([np.cos(angle), np.sin(angle)])
