"""All values of several runs together, as they are needed for a distribution: values, or histograms of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError
from ...record.quantiles import rank_of
from .session_quantiles import Why, put_together, values_in_run
from .stored import MOST_AT_ONCE

if TYPE_CHECKING:
    from ..columns import Floats, Integers
    from ..trial import Trial


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """Distinct values in ascending order, and how many values are at most each."""

    values: Floats
    reached: Floats

    @property
    def total(self) -> int:
        """How many values there are."""
        return int(self.reached[-1]) if self.reached.size else 0

    def quantile(self, share: float) -> float | None:
        """Give a quantile; None of too few values."""
        rank = rank_of(share, self.total)
        return None if rank is None else self.at(rank)

    def at(self, rank: int) -> float:
        """Give the value at a place from 1, in ascending order."""
        return float(self.values[np.searchsorted(self.reached, rank)])


def pooled(trial: Trial, metric: str, rows: Integers) -> Pooled | Why:
    """Put the judged values of these runs together, or say why they cannot be.

    Raises AnalysisError where they are too many, StoreError where they cannot be read.
    """
    parts, size = [], 0
    for row in rows.tolist():
        given = values_in_run(trial, metric, row)
        if isinstance(given, str):
            return given
        parts.append(given.judged)
        size += parts[-1].values.size
        if size > MOST_AT_ONCE:
            raise AnalysisError(f"more than {MOST_AT_ONCE:,} values of {metric}", str(trial.path))
    if not parts:
        return Pooled(np.empty(0), np.empty(0))
    values, counts = put_together(parts)
    distinct, place = np.unique(values, return_inverse=True)
    return Pooled(distinct, np.cumsum(np.bincount(place, weights=counts)))
