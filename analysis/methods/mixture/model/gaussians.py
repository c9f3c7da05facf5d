"""What mixtures of one metric and of two have in common: parameters, what a fit adds, checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import UsageError
from ....report import Result
from ....stats import read_only

__all__ = ["BIC_MARGIN", "Gaussians", "Parameters", "finite", "frozen", "total_weight"]

Array = NDArray[np.float64]
BIC_MARGIN = 2.0  # a difference in BIC up to here is not worth mentioning
_WEIGHTS_SUM = 1e-6  # printed weights are rounded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parameters:
    """Weights and means, read-only; a subclass adds the spreads."""

    weights: Array
    means: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, frozen(getattr(self, field.name)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaussians(Result):
    """K Gaussians with their weights, and what belongs to a fit only.

    Attributes
    ----------
    weights, means : array
        An entry a component, in the order of the fit.
    log_likelihood, bic : float or None
        BIC is 2 L - p ln n, larger is better. They belong to the state before the last M-step.
    bic_table : dict of str to tuple of float, or None
        For each model the BIC at K = 1, 2, ...; nan where no fit exists.
    n, iterations : int or None
    """

    weights: Array
    means: Array
    log_likelihood: float | None = None
    bic: float | None = None
    bic_table: dict[str, tuple[float, ...]] | None = None
    n: int | None = None
    iterations: int | None = None

    @property
    def components(self) -> int:
        """The number of Gaussians, K."""
        return self.weights.size

    def body(self) -> dict[str, Any]:
        """Add the number of components."""
        return {"components": self.components, **Result.body(self)}


def frozen(values: ArrayLike) -> Array:
    """Give a copy that cannot be written to."""
    return read_only(np.array(values, dtype=np.float64))


def finite(values: ArrayLike, name: str) -> Array:
    """Give parameters as an array.

    Raises
    ------
    UsageError
        If one is not finite.
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise UsageError(f"the {name} of a mixture must be finite")
    return x


def total_weight(weights: Array) -> float:
    """Give the sum of the weights: 1, but for rounding.

    Raises
    ------
    UsageError
        If one is not positive, or they do not sum to 1 within 1e-6.
    """
    if not (weights > 0).all():
        raise UsageError(
            "the weights of a mixture must be positive", fix="leave out empty components"
        )
    total = math.fsum(weights)
    if abs(total - 1) > _WEIGHTS_SUM:
        raise UsageError(
            f"the weights of a mixture must sum to 1, and sum to {total:.9g}",
            fix="divide them by their sum",
        )
    return total
