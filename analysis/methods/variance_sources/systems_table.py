"""A table of systems: its responses with their noise, and what it must be.

A measured response is its true value plus noise. What predicts the true value exactly correlates
with the measured one by the root of its reliability [1]_, the share of the measured variance that
is not noise::

    ceiling = sqrt(1 - mean noise variance / variance of the response)

The response of the published study [2]_ is the geometric mean over benchmarks of the median of each
one's runs. Its standard deviation is that of the same number when the runs of each benchmark are drawn
anew, with replacement, by default 500 times.

References
----------
.. [1] C. Spearman, "The proof and measurement of association between two things", American Journal
   of Psychology 15, 1904 (attenuation).
.. [2] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
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
from ...words import Name
from .mixed_table import MixedTable, TableColumn
from .result import Ceiling

FEWEST_ROWS = 50  # in which 10 folds and the rows that decide on trees leave 38 to learn from
RESAMPLES = 500
_FEWEST_FAMILIES = 3
_LARGEST = 1e150
_LEAST_NOISE_KNOWN = 0.5  # share of the rows whose noise must be known for a ceiling
_NAMED = 3  # benchmarks, up to which a response is called by their names
_TESTED, _LEARNED = 10, 35  # rows of either side of a single split
_TOGETHER = 1000  # rows that are resampled together
_NUMBER = r"(?:[ ._:/#-]?run[ ._:/#-]?|[ ._:/#-])\d+"


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
        what = "several responses are the runs themselves, and tell their variation"
        raise UsageError(what, fix="name the runs, or one response and its variation")
    if runs is not None and variation is None:
        what = "a number of runs belongs to a column with their variation"
        raise UsageError(what, fix="name that column too: --variation COLUMN")
    each = np.column_stack([_numbers(table, name, "the response") for name in names])
    known = ~np.isnan(each)
    count, there = known.sum(axis=1).astype(np.float64), np.where(known, each, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = there.sum(axis=1) / count
        squares = np.where(known, (there - means[:, None]) ** 2, 0.0).sum(axis=1)
        sds = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
    # equal runs have no spread, whatever the rounding of their mean leaves
    same = np.fmax.reduce(each, axis=1) == np.fmin.reduce(each, axis=1)
    sds = np.where(same & (count > 1), 0.0, sds)
    text, ratio = names[0], f"log({variation} / {names[0]})"
    if len(names) > 1:
        listed = figures.listed(list(names), 4)
        text, ratio = f"mean of {listed}", f"log(sd / mean) of {listed}"
    elif variation is None:
        return (_response(table, text, "performance", means, None),)
    else:
        sds = _numbers(table, variation, "the variation")
        count = np.full(table.rows, np.nan if runs is None else float(runs))
        for row in np.flatnonzero(sds < 0).tolist():
            what = f"a standard deviation is negative: {sds[row]:g}"
            raise AnalysisError(what, table.place(row))
    performance = _response(table, text, "performance", means, sds**2 / count)
    return performance, _variation(table, ratio, means, sds, count)


def _numbers(table: MixedTable, name: str, text: str) -> Array:
    """Give the numbers of a column by its heading, or say what else stands there."""
    column = table.column(name, text)
    if column.levels is not None:
        wrong = next((one for one in column.levels if not _is_number(one)), column.levels[0])
        row = int(np.flatnonzero(column.values == column.levels.index(wrong))[0])
        what = f"{text} {name!r} is no number: '{Name(wrong):.40}' stands there"
        fix = "leave the cell empty where it was not measured, or name another column"
        raise AnalysisError(what, table.place(row), fix)
    if not column.known.any():
        raise AnalysisError(f"{text} {name!r} has no value in any row", table.source or None)
    return column.values


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _variation(  # noqa: PLR0917 - what a response is of
    table: MixedTable,
    name: str,
    means: Array,
    sds: Array,
    runs: Array | None,
    resamples: int | None = None,
) -> Response:
    """Take the logarithm of sd / mean where there is one; of normal `runs` its noise is known."""
    for row in np.flatnonzero((means <= 0) & (sds > 0)).tolist():
        what = "a relative variation needs a positive response, and here it is not"
        raise AnalysisError(what, table.place(row), "leave such rows out, or their cells empty")
    there = (means > 0) & (sds > 0)
    values, noise = np.full(table.rows, np.nan), None
    values[there] = np.log(sds[there] / means[there])
    if runs is not None and (runs[there] > 1).all():
        noise = np.full(table.rows, np.nan)
        noise[there] = noise_of_log_sd(sds[there], means[there], runs[there])
    return _response(table, name, "variation", values, noise, resamples)


def _response(  # noqa: PLR0917 - the fields of a response
    table: MixedTable,
    name: str,
    kind: Literal["performance", "variation"],
    values: Array,
    noise: Array | None,
    resamples: int | None = None,
) -> Response:
    """Take values, nan where unknown, as a response; `noise` is their variance."""
    rows = np.flatnonzero(~np.isnan(values))
    if noise is not None:
        noise = noise[rows] if np.isnan(noise[rows]).mean() <= 1 - _LEAST_NOISE_KNOWN else None
    return Response(
        name=name, kind=kind, rows=rows, left_out=table.rows - len(rows), values=values[rows],
        noise=noise, resamples=resamples,
    )  # fmt: skip


def runs_of_benchmarks(
    headings: Sequence[str], benchmarks: Sequence[str], where: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Find the columns of each benchmark's runs.

    They are called like the benchmark, or so with a number behind it: ``gcc``, ``gcc 1``, ``gcc_2``,
    ``gcc.3``, ``gcc run 4``.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in benchmarks:
        if name in found:
            raise UsageError(f"the benchmark {name!r} is named twice", where)
        known = re.compile(rf"{re.escape(name)}(?:{_NUMBER})?", re.IGNORECASE)
        found[name] = tuple(heading for heading in headings if known.fullmatch(heading))
        if not found[name]:
            listed = figures.listed(list(headings), 12)
            fix = f"headings such as '{name} 1' and '{name}_2' do. The columns: {listed}"
            raise UsageError(f"no column holds runs of the benchmark {name!r}", where, fix)
    return found


def suite_responses(
    table: MixedTable,
    benchmarks: Mapping[str, Sequence[str]],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Response, Response]:
    """Give the performance of a suite, and its relative variation.

    `benchmarks` names the columns of each one's runs, which are drawn anew `resamples` times.
    """
    fix = "name the columns of its runs: {'gcc': ['gcc 1', 'gcc 2']}"
    if not benchmarks:
        raise UsageError("no benchmark is named", fix=fix)
    for name, columns in benchmarks.items():
        if not columns:
            raise UsageError(f"the benchmark {name!r} has no columns", fix=fix)
    every = [name for columns in benchmarks.values() for name in columns]
    twice = next((name for k, name in enumerate(every) if name in every[:k]), None)
    if twice is not None:
        raise UsageError(f"the column {twice!r} is named twice as a run", table.source or None)
    values = np.full((table.rows, len(benchmarks), max(map(len, benchmarks.values()))), np.nan)
    for place, (benchmark, columns) in enumerate(benchmarks.items()):
        for run, name in enumerate(columns):
            values[:, place, run] = column = _numbers(table, name, f"a run of {benchmark}")
            for row in np.flatnonzero(column <= 0).tolist():
                what = f"{name!r} is {column[row]:g}: a geometric mean needs positive values"
                fix = "leave the cell empty where the benchmark was not measured"
                raise AnalysisError(what, table.place(row), fix)
    count = (~np.isnan(values)).sum(axis=2)
    means, sds = np.full((2, table.rows), np.nan)
    complete, several = (count > 0).all(axis=1), (count > 1).all(axis=1)
    means[complete] = np.exp(np.log(np.nanmedian(values[complete], axis=2)).mean(axis=1))
    sds[several] = bootstrapped_sds(values[several], resamples, rng)
    names = list(benchmarks)
    text = figures.listed(names) if len(names) <= _NAMED else f"{len(names)} benchmarks"
    mean, ratio = f"geometric mean of {text}", f"log(sd / mean) of {text}"
    return (
        _response(table, mean, "performance", means, sds**2, resamples),
        _variation(table, ratio, means, sds, None, resamples),
    )


def bootstrapped_sds(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Give the standard deviation of each row's geometric mean of medians when its runs are drawn anew.

    `values` have the shape (rows, benchmarks, runs), nan for a run that is not there; each benchmark has
    one run at least, and keeps its number of runs.
    """
    found = np.empty(len(values))
    for first in range(0, len(values), _TOGETHER):
        some = values[first : first + _TOGETHER]
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
        found[first : first + _TOGETHER] = np.where(same, 0.0, means.std(axis=1, ddof=1))
    return found


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
            what = f"the column {name!r} is to be ignored and has a role too"
            fix = "the response and the group are no covariates anyway: leave it out of --ignore"
            raise UsageError(what, table.source or None, fix)
    left = [c for name, c in table.columns.items() if name not in taken and name not in ignore]
    if not (left or flags):
        what = "no covariate is left: every column is the response, the group or ignored"
        raise AnalysisError(what, table.source or None, "ignore fewer columns")
    return [*left, *flags]


def check_response(response: Response, table: MixedTable) -> None:
    """Refuse too few rows, and a response that does not vary."""
    rows, values = len(response.rows), response.values
    name, where = repr(response.name), table.source or None
    if rows < FEWEST_ROWS:
        few = f"{rows} rows have the response {name}, too few to learn from some and predict others"
        fix = "measure more systems; a picture of few is 'fairtrial biplot'"
        what = f"{few}: {FEWEST_ROWS} are needed"
        raise InsufficientDataError(what, where, fix, n=rows, needed=FEWEST_ROWS)
    if np.abs(values).max() > _LARGEST or 0 < np.ptp(values) < 1 / _LARGEST:
        what = f"the squares of the response {name} leave the range of numbers"
        raise AnalysisError(what, where, "choose another unit")
    if np.ptp(values) == 0:
        what = f"the response {name} has one value in all rows: there is nothing to predict"
        raise AnalysisError(what, where, "name another column")


def check_covariates(
    columns: Sequence[TableColumn], rows: Indices, table: MixedTable, ignored: Sequence[str]
) -> None:
    """Refuse covariates that can tell nothing, all in one message."""
    why = {}
    for column in columns:
        there = column.values[rows]
        known = there[~np.isnan(there)]
        levels, name = len(np.unique(known)), f"'{Name(column.name):.40}'"
        if not levels:
            why[column.name] = f"{name} has no value in any row"
        elif levels == 1:
            kind = "value" if column.numeric else "level"
            first = Name(column.text(int(rows[~np.isnan(there)][0])))
            some = "" if len(known) == len(rows) else ", where it has one"
            why[column.name] = f"{name} is constant: one {kind}, '{first:.30}', in all rows{some}"
        elif not column.numeric and levels == len(known):
            why[column.name] = f"{name} has as many levels as rows ({levels:,}): it names each row"
    if why:
        these, them = ("these columns", "them") if len(why) > 1 else ("this column", "it")
        what = f"no model can learn from {these}: {'; '.join(why.values())}"
        fix = f"leave {them} out: --ignore '{','.join([*ignored, *why])}'"
        raise AnalysisError(what, table.source or None, fix)


def families_of(table: MixedTable, group: str, rows: Indices) -> tuple[Indices, int]:
    """Give each row the number of its family; rows without one are a family together."""
    values = table.column(group, "the group").values[rows]
    unknown = np.isnan(values)
    names, families = np.unique(np.where(unknown, -np.inf, values), return_inverse=True)
    text, where = f"the group {group!r} has", table.source or None
    if len(names) == 1:
        what = f"{text} one level only: no family can be held out"
        fix = "name a column that tells families apart, or leave --group out"
        raise AnalysisError(what, where, fix)
    if len(names) < _FEWEST_FAMILIES:
        what = (
            f"{text} {len(names)} levels, and {_FEWEST_FAMILIES} are needed: one is held out, and two "
            "at least are learned from"
        )
        fix = "name a column with more families"
        raise InsufficientDataError(what, where, fix, n=len(names), needed=_FEWEST_FAMILIES)
    if len(names) == len(rows):
        what = (
            f"{text} as many levels as rows: each row would be a family of its own, and nothing is "
            "kept together"
        )
        fix = "name a column that sister systems share, such as the processor"
        raise AnalysisError(what, where, fix)
    return families.astype(np.intp).ravel(), int(unknown.sum())


def check_split(rows: int, tested: int, share: float, table: MixedTable) -> None:
    """Refuse a split with a side that is too small."""
    text = f"with a test share of {share:g},"
    for count, needed, how in (
        (tested, _TESTED, "are held out"),
        (rows - tested, _LEARNED, "are left to learn from"),
    ):
        if count < needed:
            what = f"{text} {count} of {rows} rows {how}, and {needed} are needed"
            fix = "choose another share, or leave it out: then each row is held out once"
            raise InsufficientDataError(what, table.source or None, fix, n=count, needed=needed)
