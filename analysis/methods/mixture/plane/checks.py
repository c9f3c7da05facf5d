"""What a mixture in the plane can be fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....stats import counted, numbers
from ..counts import MOST_COMPONENTS
from .models import MODELS

__all__ = ["checked_options", "checked_pairs", "correlation"]

Array = NDArray[np.float64]

LEAST_PAIRS = 3
_LARGEST, _SMALLEST = 1e150, 1e-150  # squares must stay finite and positive
_ON_A_LINE = 1e-12  # 1 - |r| that rounding may leave


def correlation(pairs: Array) -> float:
    """Give Pearson's correlation of two columns, neither constant."""
    d = pairs - pairs.mean(axis=0)
    d /= np.abs(d).max(axis=0)
    d /= np.sqrt((d * d).sum(axis=0))
    return float(np.clip(d[:, 0] @ d[:, 1], -1, 1))


def checked_options(
    models: Sequence[str], names: tuple[str, str], units: str, most: int
) -> tuple[tuple[str, ...], int]:
    """Check the arguments of `fit_mixture_2d`; give the models in our order, and the largest K."""
    unknown = [model for model in models if model not in MODELS]
    if isinstance(models, str) or unknown or not models or len(set(models)) < len(models):
        raise UsageError(
            "models must name some of the fourteen models, each once",
            fix=f"choose from {', '.join(MODELS)}",
        )
    if units not in ("given", "spread"):
        raise UsageError(f"units must be 'given' or 'spread', not {units!r}")
    if len(set(names)) != 2 or not all(isinstance(name, str) for name in names):
        raise UsageError("names must be two different names, one for each column")
    return tuple(model for model in MODELS if model in models), counted(
        "max_components", most, most=MOST_COMPONENTS
    )


def checked_pairs(values_xy: ArrayLike, names: tuple[str, str]) -> Array:
    """Check the values of `fit_mixture_2d`; it says what is raised when."""
    pairs = numbers(values_xy, "the values to be fitted", dimensions=None)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError(
            f"the values to be fitted must have two columns, not the shape {pairs.shape}",
            fix="put both metrics of a run in one row",
        )
    n = len(pairs)
    if n < LEAST_PAIRS:
        raise InsufficientDataError(
            f"a mixture in the plane needs at least {LEAST_PAIRS} pairs, and there are {n}",
            n=n,
            needed=LEAST_PAIRS,
        )
    if not np.isfinite(pairs).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    if np.abs(pairs).max() > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    for name, column in zip(names, pairs.T, strict=True):
        if column.min() == column.max():
            raise AnalysisError(
                f"all {n} values of {name} are equal: there is no plane to fit in",
                fix="fit the other metric alone, with fit_mixture",
            )
    if np.ptp(pairs, axis=0).min() < _SMALLEST:
        raise AnalysisError(
            f"a metric's spread is below {_SMALLEST:g}", fix="choose a smaller unit"
        )
    if 1 - abs(correlation(pairs)) <= _ON_A_LINE:
        raise AnalysisError(
            f"all pairs of {names[0]} and {names[1]} lie on one line: one metric tells the other",
            fix="fit one of them alone, with fit_mixture",
        )
    return pairs
