"""A table of systems: its responses with their noise, its covariates, and what it must be.

A measured response is its true value plus noise. What predicts the true value exactly correlates
with the measured one by the root of its reliability [1]_, the share of the measured variance that
is not noise::

    ceiling = sqrt(1 - mean noise variance / variance of the response)

References
----------
.. [1] C. Spearman, "The proof and measurement of association between two things", American Journal
   of Psychology 15, 1904 (attenuation).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...stats.samples import Array, Flags, Indices
from ...words import shorten
from .mixed_table import MixedTable, TableColumn
from .result import Ceiling


def ceiling_of(values: Array, noise: Array) -> Ceiling:
    """Give the correlation that no prediction of these values can pass, but by chance."""
    known = noise[~np.isnan(noise)]
    share = min(1.0, float(known.mean()) / float(values.var(ddof=1)))
    return Ceiling(correlation=math.sqrt(1 - share), noise_share=share, rows=len(known))


def noise_of_log_sd(sds: Array, means: Array, runs: Array) -> Array:
    """Give the variance of log(sd / mean), of few runs.

    For normal runs (k - 1) s^2 / sigma^2 follows a chi-squared law, so that the variance of log s is
    a quarter of trigamma((k - 1) / 2), whatever sigma is: 0.41 for three runs. The mean adds its
    relative variance.
    """
    from scipy.special import polygamma

    return np.asarray(polygamma(1, (runs - 1) / 2) / 4 + (sds / means) ** 2 / runs)


_LEAST_NOISE_KNOWN = 0.5  # share of the rows whose noise must be known for a ceiling


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Response:
    """What is predicted: a column's values, or log(sd / mean) of its runs.

    `rows` are those of the table that have it, `left_out` the number of the others; `values` are of these
    rows. `noise` is the variance of each one's noise, nan where unknown; None where nobody knows it.
    `resamples` is how often runs were drawn anew to find that; None where they were not.
    """

    name: str
    kind: Literal["performance", "variation"]
    rows: Indices
    left_out: int
    values: Array
    noise: Array | None
    resamples: int | None = None


def responses_of(
    table: MixedTable, names: Sequence[str], *, variation: str | None, runs: int | None
) -> tuple[Response, ...]:
    """Give the performance, and the relative variation where the table tells it."""
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
    columns = [numeric_column(table, name, "the response") for name in names]
    if len(columns) > 1:
        return tuple(_of_runs(table, columns))
    spread = None if variation is None else numeric_column(table, variation, "the variation")
    return tuple(_of_column(table, columns[0], spread, runs))


def numeric_column(table: MixedTable, name: str, said: str) -> TableColumn:
    """Give a column of numbers by its heading, or say what else stands there."""
    column = table.column(name, said)
    if not column.numeric:
        assert column.levels is not None
        wrong = next(itertools.filterfalse(_is_number, column.levels), column.levels[0])
        row = int(np.flatnonzero(column.values == column.levels.index(wrong))[0])
        raise AnalysisError(
            f"{said} {name!r} is no number: {shorten(wrong, 40)!r} stands there",
            table.place(row),
            "leave the cell empty where it was not measured, or name another column",
        )
    if not column.known.any():
        raise AnalysisError(f"{said} {name!r} has no value in any row", table.source or None)
    return column


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
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
    noise = None if spread is None or runs is None else sds**2 / count
    yield performance_of(table, column.name, column.values, noise)
    if spread is not None:
        said = f"log({spread.name} / {column.name})"
        yield variation_of(table, said, column.values, sds, None if runs is None else count)


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
    yield performance_of(table, f"mean of {names}", means, sds**2 / count)
    yield variation_of(table, f"log(sd / mean) of {names}", means, sds, count)


def performance_of(
    table: MixedTable,
    name: str,
    values: Array,
    noise: Array | None,
    resamples: int | None = None,
) -> Response:
    """Take values, nan where unknown, as a performance; `noise` is their variance."""
    rows = np.flatnonzero(~np.isnan(values))
    noise = None if noise is None else noise[rows]
    return _response(table, name, "performance", rows, values[rows], noise, resamples)


def variation_of(  # noqa: PLR0917 - the fields of a response
    table: MixedTable,
    name: str,
    means: Array,
    sds: Array,
    runs: Array | None,
    resamples: int | None = None,
) -> Response:
    """Take the logarithm of sd / mean where there is one; of normal `runs` its noise is known."""
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
    values = np.log(sds[there] / means[there])
    return _response(table, name, "variation", there, values, noise, resamples)


def _response(  # noqa: PLR0917 - the fields of a response
    table: MixedTable,
    name: str,
    kind: Literal["performance", "variation"],
    rows: Indices,
    values: Array,
    noise: Array | None,
    resamples: int | None,
) -> Response:
    if noise is not None and np.isnan(noise).mean() > 1 - _LEAST_NOISE_KNOWN:
        noise = None
    left_out = table.rows - len(rows)
    return Response(
        name=name, kind=kind, rows=rows, left_out=left_out, values=values, noise=noise,
        resamples=resamples,
    )  # fmt: skip


MOST_LEVELS = 200  # of a covariate in a fold; all others are one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateRows:
    """The covariates of the rows that are looked at: each column has a value for each of these rows."""

    columns: tuple[TableColumn, ...]

    @classmethod
    def of(cls, columns: Sequence[TableColumn], rows: Indices) -> CovariateRows:
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
    def categories(self) -> Flags:
        """Which covariates are levels."""
        return np.array([not column.numeric for column in self.columns])

    def pooled(self) -> tuple[str, ...]:
        """Name the covariates with more levels than a model takes."""
        return tuple(
            column.name
            for column in self.columns
            if not column.numeric and len(np.unique(column.values[column.known])) > MOST_LEVELS
        )

    def coded(self, learned: Indices) -> Array:
        """Give all rows as a model that learns from some of them takes them."""
        return np.column_stack(
            [c.values if c.numeric else _ranked(c, learned) for c in self.columns]
        )


def _ranked(column: TableColumn, learned: Indices) -> Array:
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


FEWEST_ROWS = 50  # in which 10 folds and the rows that decide on trees leave 38 to learn from
_LARGEST = 1e150
FEWEST_FAMILIES = 3  # one held out, one that decides on trees, one to learn from


def covariates_of(
    table: MixedTable,
    taken: Sequence[str],
    *,
    ignore: Sequence[str],
    flags: Sequence[TableColumn] = (),
) -> list[TableColumn]:
    """Give the columns that are covariates: all but those taken otherwise and those ignored, and flags."""
    for name in ignore:
        table.column(name, "one to ignore")
        if name in taken:
            raise UsageError(
                f"the column {name!r} is to be ignored and has a role too",
                table.source or None,
                "the response and the group are no covariates anyway: leave it out of --ignore",
            )
    left = [c for name, c in table.columns.items() if name not in taken and name not in ignore]
    left += flags
    if not left:
        raise AnalysisError(
            "no covariate is left: every column is the response, the group or ignored",
            table.source or None,
            "ignore fewer columns",
        )
    return left


def check_response(response: Response, table: MixedTable) -> None:
    """Refuse too few rows, and a response that does not vary."""
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


def check_covariates(design: CovariateRows, table: MixedTable, ignored: Sequence[str]) -> None:
    """Refuse covariates that can tell nothing, all in one message."""
    rows = len(design.columns[0].values)
    said, names = [], []
    for column in design.columns:
        known = column.values[column.known]
        levels = len(np.unique(known))
        name = repr(shorten(column.name, 40))
        if not levels:
            said.append(f"{name} has no value in any row")
        elif levels == 1:
            kind = "value" if column.numeric else "level"
            first = shorten(column.text(int(np.flatnonzero(column.known)[0])), 30)
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


def families_of(table: MixedTable, group: str, rows: Indices) -> tuple[Indices, int]:
    """Give each row the number of its family; rows without one are a family together."""
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
