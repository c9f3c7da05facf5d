"""The size of a factor's effect, as a ratio of values with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..result import ELSEWHERE
from .columns import Columns
from .orders import Directions, Fits

__all__ = ["Effect", "effect_of", "spread_within"]

Floats = NDArray[np.float64]
_LARGEST = 700.0  # of a logarithm
_WHOLE = 1e-9  # a share that is nearer to 1 leaves nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A ratio of values and its interval, None where nothing tells them, and what is compared."""

    ratio: float | None
    low: float | None
    high: float | None
    lowest: str | None
    highest: str | None


def effect_of(
    columns: Columns,
    found: Directions,
    along: Floats,
    *,
    spread: float,
    fits: Fits | None,
    confidence: float,
) -> Effect:
    """Compare the level with the highest values to that with the lowest, or a step of one deviation.

    Parameters
    ----------
    columns : Columns
        The factor.
    found : Directions
        Its directions.
    along : array
        The logarithms along them.
    spread : float
        The standard deviation of a number, in the unit of its column.
    fits : Fits or None
        Other orders; without them there is no interval.
    confidence : float
        Of the interval.

    Notes
    -----
    The levels are chosen by what was seen, so the interval is one for every comparison of levels at
    once (Scheffé 1953). The ratio of what the factor explains to what it leaves is taken from the other
    orders, where Scheffé takes Fisher's law: an interval without 1 and a small p-value are one thing.
    """
    low: str | None
    high: str | None
    if columns.effect_of == "sd":
        step, low, high = np.array([spread]), None, None
    elif columns.either:
        best = int(np.abs(along).argmax())
        more = float(along[best]) > 0
        step = np.zeros(along.size)
        step[best] = 1.0 if more else -1.0
        low, high = (ELSEWHERE, columns.labels[best]) if more else (columns.labels[best], ELSEWHERE)
    else:
        fitted = columns.places @ (found.back.T @ along)
        top, bottom = int(fitted.argmax()), int(fitted.argmin())
        step = columns.places[top] - columns.places[bottom]
        low, high = columns.labels[bottom], columns.labels[top]
    turned = found.back @ step
    log = float(turned @ along)
    if fits is None:
        return Effect(ratio=_ratio(log), low=None, high=None, lowest=low, highest=high)
    far = float(np.quantile(fits.drawn, confidence, method="higher"))
    left = max(1 - fits.found, 0.0) * fits.length**2
    half = math.inf
    if far < 1 - _WHOLE:
        half = math.sqrt(float(turned @ turned) * left * far / (1 - far))
    return Effect(
        ratio=_ratio(log),
        low=_ratio(log - half),
        high=_ratio(log + half),
        lowest=low,
        highest=high,
    )


def spread_within(
    column: Floats, known: NDArray[np.bool_], sessions: tuple[NDArray[np.int64], ...]
) -> float:
    """Give the standard deviation of a column within sessions."""
    squares, freedom = 0.0, 0
    for mine in sessions:
        there = column[mine[known[mine]]]
        if there.size > 1:
            squares += float(((there - there.mean()) ** 2).sum())
            freedom += there.size - 1
    return math.sqrt(squares / freedom) if freedom else 0.0


def _ratio(log: float) -> float:
    return math.exp(min(max(log, -_LARGEST), _LARGEST))
