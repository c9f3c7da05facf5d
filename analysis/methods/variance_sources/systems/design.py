"""The covariates as a model takes them: numbers, and levels by their rank within a fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....formats import TableColumn

__all__ = ["MOST_LEVELS", "Design"]

Array = NDArray[np.float64]
_Whole = NDArray[np.intp]

MOST_LEVELS = 200  # of a covariate in a fold; all others are one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """The covariates of the rows that are looked at.

    Attributes
    ----------
    columns : tuple of TableColumn
        Each with a value for each of these rows.
    """

    columns: tuple[TableColumn, ...]

    @classmethod
    def of(cls, columns: Sequence[TableColumn], rows: _Whole) -> Design:
        """Take these rows of the columns."""
        return cls(
            columns=tuple(
                TableColumn(name=column.name, values=column.values[rows], levels=column.levels)
                for column in columns
            )
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The covariates' names."""
        return tuple(column.name for column in self.columns)

    @property
    def categories(self) -> NDArray[np.bool_]:
        """Which covariates are levels."""
        return np.array([not column.numeric for column in self.columns])

    def pooled(self) -> tuple[str, ...]:
        """Name the covariates with more levels than a model takes."""
        return tuple(
            column.name
            for column in self.columns
            if not column.numeric and len(np.unique(column.values[column.known])) > MOST_LEVELS
        )

    def coded(self, learned: _Whole) -> Array:
        """Give all rows as a model that learns from some of them takes them.

        Levels are numbered by how often they occur among the rows learned from, the most frequent
        first, ties by their order in the table. Those beyond `MOST_LEVELS` are one, and a level
        that does not occur there belongs to them; if there are none beyond, it is unknown (nan).
        So nothing of the rows held out enters.

        Returns
        -------
        array of float, shape (rows, covariates)
        """
        return np.column_stack(
            [c.values if c.numeric else _ranked(c, learned) for c in self.columns]
        )


def _ranked(column: TableColumn, learned: _Whole) -> Array:
    assert column.levels is not None
    count = len(column.levels)
    known = column.known
    codes = np.where(known, column.values, count).astype(np.intp)
    counts = np.bincount(codes[learned], minlength=count + 1)[:count]
    order = np.argsort(-counts, kind="stable")[: min(MOST_LEVELS, int((counts > 0).sum()))]
    rest = float(MOST_LEVELS) if (counts > 0).sum() > MOST_LEVELS else np.nan
    rank = np.full(count + 1, rest)
    rank[order] = np.arange(len(order))
    rank[count] = np.nan
    return np.asarray(rank[codes])
