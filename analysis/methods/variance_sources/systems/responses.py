"""The responses of a table: performance, and relative variation, each with its own noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError, UsageError
from ....formats import MixedTable, TableColumn
from ....report import figures
from .ceiling import noise_of_log_sd, noise_of_mean

__all__ = ["Response", "responses_of"]

Array = NDArray[np.float64]
_Whole = NDArray[np.intp]

_LEAST_NOISE_KNOWN = 0.5  # share of the rows whose noise must be known for a ceiling


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Response:
    """What is predicted.

    Attributes
    ----------
    name : str
    kind : {"performance", "variation"}
    rows : array of int
        The table's rows that have it.
    left_out : int
        How many have not.
    values : array of float
        Of these rows.
    noise : array of float or None
        The variance of each one's noise, nan where unknown; None where nobody knows it.
    """

    name: str
    kind: Literal["performance", "variation"]
    rows: _Whole
    left_out: int
    values: Array
    noise: Array | None


def responses_of(
    table: MixedTable, names: Sequence[str], *, variation: str | None, runs: int | None
) -> tuple[Response, ...]:
    """Give the performance, and the relative variation where the table tells it.

    Parameters
    ----------
    table : MixedTable
    names : sequence of str
        One column with the performance; or several, one for each run: then their mean is the
        performance.
    variation : str or None
        A column with the standard deviation of the runs (divisor runs - 1), in the response's unit.
    runs : int or None
        How many runs that is of.

    Raises
    ------
    UsageError
        If a column is missing or named twice, or the arguments do not go together.
    AnalysisError
        If a column holds no numbers, no value is there, or none differs.
    """
    if not names:
        raise UsageError("no response is named", fix="name a column: --response score")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None or variation in names:
        raise UsageError(f"the column {twice or variation!r} is named twice as a response")
    if len(names) > 1 and variation is not None:
        raise UsageError(
            "several responses are the runs themselves, and tell their variation",
            fix="name the runs, or one response and its variation",
        )
    if runs is not None and variation is None:
        raise UsageError(
            "a number of runs belongs to a column with their variation",
            fix="name that column too: --variation COLUMN",
        )
    columns = [_numeric(table, name, "the response") for name in names]
    if len(columns) > 1:
        return tuple(_of_runs(table, columns))
    spread = None if variation is None else _numeric(table, variation, "the variation")
    return tuple(_of_column(table, columns[0], spread, runs))


def _numeric(table: MixedTable, name: str, said: str) -> TableColumn:
    column = table.column(name, said)
    if not column.numeric:
        assert column.levels is not None
        wrong = next((t for t in column.levels if not _is_number(t)), column.levels[0])
        row = int(np.flatnonzero(column.values == column.levels.index(wrong))[0])
        raise AnalysisError(
            f"{said} {name!r} is no number: {figures.shorten(wrong, 40)!r} stands there",
            table.place(row),
            "leave the cell empty where it was not measured, or name another column",
        )
    if not column.known.any():
        raise AnalysisError(f"{said} {name!r} has no value in any row", table.source or None)
    return column


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _of_column(
    table: MixedTable, column: TableColumn, spread: TableColumn | None, runs: int | None
) -> Iterator[Response]:
    count = np.full(table.rows, np.nan if runs is None else float(runs))
    sds = np.full(table.rows, np.nan) if spread is None else spread.values
    if (sds < 0).any():
        row = int(np.flatnonzero(sds < 0)[0])
        raise AnalysisError(f"a standard deviation is negative: {sds[row]:g}", table.place(row))
    noise = None if spread is None or runs is None else noise_of_mean(sds, count)
    yield _performance(table, column.name, column.values, noise)
    if spread is not None:
        said = f"log({spread.name} / {column.name})"
        yield _variation(table, said, column.values, sds, None if runs is None else count)


def _of_runs(table: MixedTable, columns: Sequence[TableColumn]) -> Iterator[Response]:
    each = np.column_stack([column.values for column in columns])
    known = ~np.isnan(each)
    count = known.sum(axis=1).astype(np.float64)
    there = np.where(known, each, 0.0)
    means = np.divide(there.sum(axis=1), count, out=np.full(table.rows, np.nan), where=count > 0)
    squares = np.where(known, (there - means[:, None]) ** 2, 0.0).sum(axis=1)
    sds = np.sqrt(np.divide(squares, count - 1, out=np.full(table.rows, np.nan), where=count > 1))
    # equal runs have no spread, whatever the rounding of their mean leaves
    same = np.nanmax(np.where(known, each, -np.inf), axis=1) == np.nanmin(
        np.where(known, each, np.inf), axis=1
    )
    sds = np.where(same & (count > 1), 0.0, sds)
    names = figures.listed([column.name for column in columns], 4)
    yield _performance(table, f"mean of {names}", means, noise_of_mean(sds, count))
    yield _variation(table, f"log(sd / mean) of {names}", means, sds, count)


def _performance(table: MixedTable, name: str, values: Array, noise: Array | None) -> Response:
    rows = np.flatnonzero(~np.isnan(values))
    return Response(
        name=name,
        kind="performance",
        rows=rows,
        left_out=table.rows - len(rows),
        values=values[rows],
        noise=_enough(None if noise is None else noise[rows]),
    )


def _variation(
    table: MixedTable, name: str, means: Array, sds: Array, runs: Array | None
) -> Response:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero((means <= 0) & (sds > 0))
        there = np.flatnonzero((means > 0) & (sds > 0))
    if len(wrong):
        raise AnalysisError(
            "a relative variation needs a positive response, and here it is not",
            table.place(int(wrong[0])),
            "leave such rows out, or their cells empty",
        )
    noise = None
    if runs is not None and (runs[there] > 1).all():
        noise = noise_of_log_sd(sds[there], means[there], runs[there])
    return Response(
        name=name,
        kind="variation",
        rows=there,
        left_out=table.rows - len(there),
        values=np.log(sds[there] / means[there]),
        noise=_enough(noise),
    )


def _enough(noise: Array | None) -> Array | None:
    if noise is None or np.isnan(noise).mean() > 1 - _LEAST_NOISE_KNOWN:
        return None
    return noise
