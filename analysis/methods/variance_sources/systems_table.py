"""A table of systems: its responses with their noise, and what it must be.

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

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...stats.samples import Array, Indices
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
    said, (means, sds, count) = names[0], _moments(columns)
    ratio = f"log({variation} / {said})"
    if len(names) > 1:
        listed = figures.listed(list(names), 4)
        said, ratio = f"mean of {listed}", f"log(sd / mean) of {listed}"
    elif variation is None:
        return (performance_of(table, said, means, None),)
    else:
        sds = numeric_column(table, variation, "the variation").values
        count = np.full(table.rows, np.nan if runs is None else float(runs))
        if (sds < 0).any():
            row = int(np.flatnonzero(sds < 0)[0])
            what = f"a standard deviation is negative: {sds[row]:g}"
            raise AnalysisError(what, table.place(row))
    performance = performance_of(table, said, means, sds**2 / count)
    return performance, variation_of(table, ratio, means, sds, count)


def _moments(columns: Sequence[TableColumn]) -> tuple[Array, Array, Array]:
    """Give mean, standard deviation and number of each row's runs."""
    each = np.column_stack([column.values for column in columns])
    known = ~np.isnan(each)
    count, there = known.sum(axis=1).astype(np.float64), np.where(known, each, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = there.sum(axis=1) / count
        squares = np.where(known, (there - means[:, None]) ** 2, 0.0).sum(axis=1)
        sds = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
    # equal runs have no spread, whatever the rounding of their mean leaves
    same = np.fmax.reduce(each, axis=1) == np.fmin.reduce(each, axis=1)
    return means, np.where(same & (count > 1), 0.0, sds), count


def numeric_column(table: MixedTable, name: str, said: str) -> TableColumn:
    """Give a column of numbers by its heading, or say what else stands there."""
    column = table.column(name, said)
    if column.levels is not None:
        wrong = next((one for one in column.levels if not _is_number(one)), column.levels[0])
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


def performance_of(
    table: MixedTable, name: str, values: Array, noise: Array | None, resamples: int | None = None
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


FEWEST_ROWS = 50  # in which 10 folds and the rows that decide on trees leave 38 to learn from
_LARGEST = 1e150
FEWEST_FAMILIES = 3
_TESTED, _LEARNED = 10, 35  # rows of either side of a single split


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


def check_covariates(
    columns: Sequence[TableColumn], rows: Indices, table: MixedTable, ignored: Sequence[str]
) -> None:
    """Refuse covariates that can tell nothing, all in one message."""
    said, names = [], []
    for column in columns:
        there = column.values[rows]
        known = there[~np.isnan(there)]
        levels = len(np.unique(known))
        name = repr(shorten(column.name, 40))
        if not levels:
            said.append(f"{name} has no value in any row")
        elif levels == 1:
            kind = "value" if column.numeric else "level"
            first = shorten(column.text(int(rows[~np.isnan(there)][0])), 30)
            some = "" if len(known) == len(rows) else ", where it has one"
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
            "out, and two at least are learned from",
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


def check_split(rows: int, tested: int, share: float, table: MixedTable) -> None:
    """Refuse a split of which one side is too small."""
    for count, needed, what in (
        (tested, _TESTED, "are held out"),
        (rows - tested, _LEARNED, "are left to learn from"),
    ):
        if count < needed:
            raise InsufficientDataError(
                f"with a test share of {share:g}, {count} of {rows} rows {what}, and {needed} are needed",
                table.source or None,
                "choose another share, or leave it out: then each row is held out once",
                n=count,
                needed=needed,
            )


# --- The response of the published study: a suite's geometric mean of medians, and its variation.
#
# Performance is the geometric mean over benchmarks of the median of each one's runs, as [1]_ takes it;
# its standard deviation is that of the same number when the runs of each benchmark are drawn anew, with
# replacement, by default 500 times.
#
# References
# ----------
# .. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
#    of performance variation", Frontiers of Computer Science, 2018, section 7.


RESAMPLES = 500
_NAMED = 3  # benchmarks, up to which a response is called by their names
_ROWS = 1000  # that are resampled together
_NUMBER = r"(?:[ ._:/#-]?run[ ._:/#-]?|[ ._:/#-])\d+"


def runs_of_benchmarks(
    headings: Sequence[str], benchmarks: Sequence[str], where: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Find the columns of each benchmark's runs.

    They are called like the benchmark, or so with a number behind it: ``gcc``, ``gcc 1``, ``gcc_2``,
    ``gcc.3``, ``gcc run 4``.

    Raises
    ------
    UsageError
        If a benchmark is named twice, or has no column.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in benchmarks:
        if name in found:
            raise UsageError(f"the benchmark {name!r} is named twice", where)
        known = re.compile(rf"{re.escape(name)}(?:{_NUMBER})?", re.IGNORECASE)
        found[name] = tuple(heading for heading in headings if known.fullmatch(heading))
        if not found[name]:
            raise UsageError(
                f"no column holds runs of the benchmark {name!r}",
                where,
                f"headings such as '{name} 1' and '{name}_2' do. "
                f"The columns: {figures.listed(list(headings), 12)}",
            )
    return found


def suite_responses(
    table: MixedTable,
    benchmarks: Mapping[str, Sequence[str]],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Response, Response]:
    """Give the performance of a suite, and its relative variation.

    Parameters
    ----------
    table : MixedTable
    benchmarks : mapping of str to sequence of str
        For each benchmark the columns of its runs.
    resamples : int
        How often the runs are drawn anew.
    rng : numpy.random.Generator
        Of these draws.

    Raises
    ------
    UsageError
        If nothing is named, or a column twice.
    AnalysisError
        If a column is no number, or a value is not positive.
    """
    every = [name for columns in benchmarks.values() for name in columns]
    empty = next((name for name, columns in benchmarks.items() if not columns), None)
    if not benchmarks or empty is not None:
        what = (
            "no benchmark is named" if empty is None else f"the benchmark {empty!r} has no columns"
        )
        raise UsageError(what, fix="name the columns of its runs: {'gcc': ['gcc 1', 'gcc 2']}")
    twice = next((name for k, name in enumerate(every) if name in every[:k]), None)
    if twice is not None:
        raise UsageError(f"the column {twice!r} is named twice as a run", table.source or None)
    values = _values(table, benchmarks)
    count = (~np.isnan(values)).sum(axis=2)
    complete = (count > 0).all(axis=1)
    means = np.full(table.rows, np.nan)
    medians = np.nanmedian(values[complete], axis=2)
    means[complete] = np.exp(np.log(medians).mean(axis=1))
    sds = np.full(table.rows, np.nan)
    several = (count > 1).all(axis=1)
    sds[several] = bootstrapped_sds(values[several], resamples, rng)
    names = list(benchmarks)
    said = figures.listed(names) if len(names) <= _NAMED else f"{len(names)} benchmarks"
    mean = f"geometric mean of {said}"
    return (
        performance_of(table, mean, means, sds**2, resamples),
        variation_of(table, f"log(sd / mean) of {said}", means, sds, None, resamples),
    )


def _values(table: MixedTable, benchmarks: Mapping[str, Sequence[str]]) -> Array:
    """Give runs of shape (rows, benchmarks, most runs of one), nan where there is none."""
    most = max(map(len, benchmarks.values()))
    values = np.full((table.rows, len(benchmarks), most), np.nan)
    for place, (benchmark, columns) in enumerate(benchmarks.items()):
        for run, name in enumerate(columns):
            column = numeric_column(table, name, f"a run of {benchmark}")
            wrong = np.flatnonzero(column.values <= 0)
            if len(wrong):
                raise AnalysisError(
                    f"{name!r} is {column.values[wrong[0]]:g}: a geometric mean needs positive values",
                    table.place(int(wrong[0])),
                    "leave the cell empty where the benchmark was not measured",
                )
            values[:, place, run] = column.values
    return values


def bootstrapped_sds(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Give the standard deviation of each row's geometric mean of medians when its runs are drawn anew.

    `values` have the shape (rows, benchmarks, runs), nan for a run that is not there; each benchmark has
    one run at least, and keeps its number of runs.
    """
    found = np.empty(len(values))
    for first in range(0, len(values), _ROWS):
        some = values[first : first + _ROWS]
        total = np.zeros((len(some), resamples))
        for runs in some.transpose(1, 0, 2):
            there = np.sort(runs, axis=1)  # nan stand last
            count = (~np.isnan(there)).sum(axis=1)
            for n in np.unique(count).tolist():
                rows = np.flatnonzero(count == n)
                # the values are sorted, so that the middle of the places is the place of the middle
                drawn = np.sort(rng.integers(0, n, (n, len(rows), resamples)), axis=0)
                low, high = (
                    np.take_along_axis(there[rows], drawn[middle], axis=1)
                    for middle in ((n - 1) // 2, n // 2)
                )
                total[rows] += np.log((low + high) / 2)
        means = np.exp(total / values.shape[1])
        # equal runs have no spread, whatever the rounding of their mean leaves
        same = total.max(axis=1) == total.min(axis=1)
        found[first : first + _ROWS] = np.where(same, 0.0, means.std(axis=1, ddof=1))
    return found
