"""What a table must be before trees are fitted to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....formats import MixedTable, TableColumn
from ....report import figures
from .design import Design
from .responses import Response

__all__ = ["FEWEST_FAMILIES", "FEWEST_ROWS", "check_covariates", "check_response", "covariates_of"]

_Whole = NDArray[np.intp]

FEWEST_ROWS = 50  # in which 10 folds and the rows that decide on trees leave 38 to learn from
_LARGEST = 1e150
FEWEST_FAMILIES = 3  # one held out, one that decides on trees, one to learn from


def covariates_of(
    table: MixedTable, taken: Sequence[str], *, ignore: Sequence[str]
) -> list[TableColumn]:
    """Give the columns that are covariates: all but those taken otherwise and those ignored.

    Raises
    ------
    UsageError
        If an ignored column does not exist, or is the response.
    AnalysisError
        If none is left.
    """
    for name in ignore:
        table.column(name, "one to ignore")
        if name in taken:
            raise UsageError(
                f"the column {name!r} is to be ignored and has a role too",
                table.source or None,
                "the response and the group are no covariates anyway: leave it out of --ignore",
            )
    left = [c for name, c in table.columns.items() if name not in taken and name not in ignore]
    if not left:
        raise AnalysisError(
            "no covariate is left: every column is the response, the group or ignored",
            table.source or None,
            "ignore fewer columns",
        )
    return left


def check_response(response: Response, table: MixedTable) -> None:
    """Refuse too few rows, and a response that does not vary.

    Raises
    ------
    InsufficientDataError, AnalysisError
    """
    where = table.source or None
    if len(response.rows) < FEWEST_ROWS:
        raise InsufficientDataError(
            f"{len(response.rows)} rows have the response {response.name!r}, too few to learn from "
            f"some and predict others: {FEWEST_ROWS} are needed",
            where,
            "measure more systems; a picture of few is 'fairtrial biplot'",
            n=len(response.rows),
            needed=FEWEST_ROWS,
        )
    if np.abs(response.values).max() > _LARGEST or 0 < np.ptp(response.values) < 1 / _LARGEST:
        raise AnalysisError(
            f"the squares of the response {response.name!r} leave the range of numbers",
            where,
            "choose another unit",
        )
    if np.ptp(response.values) == 0:
        raise AnalysisError(
            f"the response {response.name!r} has one value in all rows: there is nothing to predict",
            where,
            "name another column",
        )


def check_covariates(design: Design, table: MixedTable, ignored: Sequence[str]) -> None:
    """Refuse covariates that can tell nothing, all in one message.

    Raises
    ------
    AnalysisError
        If one has a single value or level, or names every row by a level of its own.
    """
    rows = len(design.columns[0].values)
    said, names = [], []
    for column in design.columns:
        known = column.values[column.known]
        levels = len(np.unique(known))
        name = repr(figures.shorten(column.name, 40))
        if not levels:
            said.append(f"{name} has no value in any row")
        elif levels == 1:
            kind = "value" if column.numeric else "level"
            first = figures.shorten(column.text(int(np.flatnonzero(column.known)[0])), 30)
            some = "" if len(known) == rows else ", where it has one"
            said.append(f"{name} is constant: one {kind}, {first!r}, in all rows{some}")
        elif not column.numeric and levels == len(known):
            said.append(f"{name} has as many levels as rows ({levels:,}): it names each row")
        else:
            continue
        names.append(column.name)
    if said:
        every = ",".join([*ignored, *names])
        raise AnalysisError(
            f"no model can learn from {'these columns' if len(said) > 1 else 'this column'}: "
            + "; ".join(said),
            table.source or None,
            f"leave {'them' if len(said) > 1 else 'it'} out: --ignore '{every}'",
        )


def families_of(table: MixedTable, group: str, rows: _Whole) -> tuple[_Whole, int]:
    """Give each row the number of its family; rows without one are a family together.

    Returns
    -------
    array of int
    int
        How many rows name no family.

    Raises
    ------
    UsageError
        If there is no such column.
    AnalysisError
        If there are too few families, or each row is one of its own.
    """
    column = table.column(group, "the group")
    values = column.values[rows]
    unknown = np.isnan(values)
    names, families = np.unique(np.where(unknown, -np.inf, values), return_inverse=True)
    where = table.source or None
    if len(names) == 1:
        raise AnalysisError(
            f"the group {group!r} has one level only: no family can be held out",
            where,
            "name a column that tells families apart, or leave --group out",
        )
    if len(names) < FEWEST_FAMILIES:
        raise InsufficientDataError(
            f"the group {group!r} has {len(names)} levels, and {FEWEST_FAMILIES} are needed: one is held "
            "out, one decides on the number of trees, and one at least is learned from",
            where,
            "name a column with more families",
            n=len(names),
            needed=FEWEST_FAMILIES,
        )
    if len(names) == len(rows):
        raise AnalysisError(
            f"the group {group!r} has as many levels as rows: each row would be a family of its "
            "own, and nothing is kept together",
            where,
            "name a column that sister systems share, such as the processor",
        )
    return families.astype(np.intp).ravel(), int(unknown.sum())
