"""A table's response with its noise, predicted from the other columns, for systems that were held out.

The published study [1]_ predicts performance and relative variation of systems from what is known
of them, by boosted trees and one random split. Here each row is predicted once, in folds: at random
as published, and with whole families held out, since a random split leaves sister systems of a
row among those that are learned from.

A measured response is its true value plus noise. What predicts the true value exactly correlates
with the measured one by the root of its reliability [2]_, the share of the measured variance that
is not noise::

    ceiling = sqrt(1 - mean noise variance / variance of the response)

The published response is the geometric mean over benchmarks of the median of each one's runs. Its
standard deviation is that of the same number when the runs of each benchmark are drawn anew, with
replacement, by default 500 times.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
.. [2] C. Spearman, "The proof and measurement of association between two things", American Journal
   of Psychology 15, 1904 (attenuation).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError, library_needed
from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of, merged
from ...stats.arguments import between, checks_arguments, counted, stream
from ...stats.samples import Array, Indices, read_only
from ...words import Name
from .across import REFERENCES, Across, Agreement, Ceiling, CovariateUsed, ResponseKind
from .mixed_table import MixedTable, TableColumn, flag_columns, mixed_table, read_mixed_table
from .result import Sources

FEWEST_ROWS = 50  # in which 10 folds and the rows that decide on trees leave 38 to learn from
RESAMPLES = 500
_FEWEST_FAMILIES = 3
_LARGEST = 1e150
_LEAST_NOISE_KNOWN = 0.5  # share of the rows whose noise must be known for a ceiling
_NAMED = 3  # benchmarks, up to which a response is called by their names
_TESTED, _LEARNED = 10, 35  # rows of either side of a single split
_TOGETHER = 1000  # rows that are resampled together
_NUMBER = r"(?:[ ._:/#-]?run[ ._:/#-]?|[ ._:/#-])\d+"
FOLDS = 10
REPEATS = 10
_CURVES = 6  # covariates whose partial dependence is shown


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
    kind: ResponseKind
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


def _variation(
    table: MixedTable, name: str, means: Array, sds: Array, runs: Array | None
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
    return _response(table, name, "variation", values, noise)


def _response(
    table: MixedTable, name: str, kind: ResponseKind, values: Array, noise: Array | None
) -> Response:
    """Take values, nan where unknown, as a response; `noise` is their variance."""
    rows = np.flatnonzero(~np.isnan(values))
    if noise is not None:
        noise = noise[rows] if np.isnan(noise[rows]).mean() <= 1 - _LEAST_NOISE_KNOWN else None
    left, values = table.rows - len(rows), values[rows]
    return Response(name=name, kind=kind, rows=rows, left_out=left, values=values, noise=noise)


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
) -> tuple[Response, ...]:
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
    performance = _response(table, mean, "performance", means, sds**2)
    both = performance, _variation(table, ratio, means, sds, None)
    return tuple(replace(one, resamples=resamples) for one in both)


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
        what = f"{text} {len(names)} levels, and {_FEWEST_FAMILIES} are needed: one is held out, and two"
        what += " at least are learned from"
        fix = "name a column with more families"
        raise InsufficientDataError(what, where, fix, n=len(names), needed=_FEWEST_FAMILIES)
    if len(names) == len(rows):
        what = (
            f"{text} as many levels as rows: each row would be a family of its own, and nothing is"
        )
        what += " kept together"
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


def _table_cautions(
    columns: Sequence[TableColumn],
    rows: Indices,
    group: str | None,
    families: Indices | None,
    without_family: int,
) -> tuple[Caution, ...]:
    count = 0 if families is None else int(families.max()) + 1
    every = np.arange(len(rows))
    text = "holds each whole number of a range once: if it numbers the rows, --ignore it"
    table = {
        "prediction-is-no-cause": "nothing was changed on purpose between these systems: what predicts the "
        "response need not cause it, and covariates that go together share their importance. A cause is "
        "shown by an experiment",
        "families-unknown": not count
        and "rows were held out at random only: if the table has sister systems, they are predicted by "
        "looking up their sisters. Name what they share: --group COLUMN",
        "few-families": 0 < count < 10
        and f"there are {count} families only: the grouped correlation and its interval rest on few",
        "rows-without-family": without_family > 0
        and f"{without_family:,} rows have no '{Name(group or ''):.30}': they were held out "
        "together, as one family",
        "covariate-numbers-rows": [
            (f"the column '{Name(column.name):.30}' {text}", column.name)
            for column in columns
            if column.numeric
            and np.array_equal(np.sort(column.values[rows]), column.values[rows].min() + every)
        ],
    }
    return cautions_of(table)


def across_cautions(found: Across, response: Response) -> tuple[Caution, ...]:
    """Say what one response's answer lacks."""
    text, by_runs = f"{Name(response.name):.60}", response.resamples is None
    left, ceiling = response.left_out, found.ceiling
    why = "the cell is empty" if by_runs else "a benchmark has no run"
    if response.kind == "variation":
        why = "their runs are too few, or do not differ at all and have no logarithm"
    more = (
        "name its runs (--response A,B,C), or the standard deviation and number of them "
        "(--variation COLUMN --runs N)"
        if by_runs
        else "two runs of each benchmark are needed for that of the mean, and the noise of a "
        "standard deviation by resampling is unknown"
    )
    one, r = found.random, None if found.grouped is None else found.grouped.correlation
    leaks = one.correlation is not None and r is not None and one.correlation - r > 0.01
    table = {
        "rows-without-response": left > 0
        and f"{left:,} of {left + found.rows:,} rows have no {text}, and were left out: {why}",
        "ceiling-unknown": ceiling is None
        and f"nobody knows how exactly {text} was measured, nor how well it could be predicted at best: "
        f"{more}",
        "response-is-noise": ceiling is not None
        and ceiling.correlation == 0
        and f"{text} varies no more between the rows than its own noise explains: there is nothing to predict",
        "random-split-leaks": leaks
        and (one.low is None or one.low > 0)  # what is not predicted leaks nothing
        and f"{text} of a row held out at random is predicted better than that of a family never seen: "
        "sister systems stand on both sides of a random split. The grouped correlation is the one for new "
        "systems",
    }
    return tuple(replace(caution, about=(response.name,)) for caution in cautions_of(table))


@checks_arguments
def sources_of_table(
    table: object,
    response: str | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    flags: Sequence[str] = (),
    group: str | None = None,
    ignore: Sequence[str] = (),
    variation: str | None = None,
    runs: int | None = None,
    folds: int = FOLDS,
    test_share: float | None = None,
    repeats: int = REPEATS,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Sources:
    """Predict a table's response from its other columns, and tell what the predictions rest on.

    Parameters
    ----------
    table : str, Path, MixedTable, mapping, pandas.DataFrame, pyarrow.Table
        A file (CSV, Parquet), or columns by their headings: numbers, or levels. Cells may be
        unknown.
    response : str, sequence of str, mapping of str to sequence of str
        The column to predict; or several columns, the runs of one measurement: then their mean
        (the performance) and log(sd / mean) (the variation) are predicted, each on its own; or the
        columns of the runs of each benchmark: then the mean is the geometric mean of their medians.
    flags : sequence of str
        Columns of texts such as ``-O3 -ipo``: the 100 most common flags become covariates, 1 where
        a row has it.
    group : str, optional
        A column whose levels are families of sister systems. Each is held out as a whole, and the
        column is no covariate: it could not tell anything of a family never seen.
    ignore : sequence of str
        Columns that are no covariates either.
    variation : str, optional
        A column with the standard deviation of the runs behind a single response: its relative size
        is predicted too, and the response's noise is known if `runs` is given.
    runs : int, optional
        How many runs that is of.
    folds : int
        Into how many parts the rows are split; at most as many as families.
    test_share : float, optional
        The share of the rows that is held out, once, instead of folds: 0.3 is the published split.
    repeats : int
        How often each covariate is shuffled for its importance.
    resamples : int
        How often the runs of benchmarks are drawn anew for the variation of their mean.
    confidence : float
        Of the intervals of correlations.
    progress : function, optional
        Called with the steps that are done and their number.
    rng : numpy.random.Generator
        Of splits, shuffles and intervals.
    seed : int, optional
        Where `rng` comes from, to be said in the result.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.

    Returns
    -------
    Sources
        ``.systems`` holds an answer for each response; ``.correlation``, ``.correlation_grouped``,
        ``.ceiling`` and ``.importance`` are those of the first.

    Raises
    ------
    UsageError
        If scikit-learn is missing, a column is not there, or arguments do not go together.
    InsufficientDataError
        If fewer than 50 rows have the response, fewer than 10 of them are held out or fewer than 35
        learned from, or there are fewer than 3 families.
    AnalysisError
        If the response is no number or never differs; if all rows have the same flags; if a covariate is constant, or names each row
        by a level of its own; if no family can be held out.
    """
    counted("folds", folds, 2, 1000)
    counted("repeats", repeats, 2, 1000)
    counted("resamples", resamples, 2, 100_000)
    if runs is not None:
        counted("runs", runs, 2)
    between("confidence", confidence)
    if test_share is not None:
        between("test_share", test_share)
    try:
        from .predictions import one_thread
    except ImportError as error:
        fix = "pip install 'fairtrial[sources]'"
        raise library_needed("a model of boosted trees", "scikit-learn", error, fix=fix) from None
    whole = read_mixed_table(str(table)) if isinstance(table, str | Path) else mixed_table(table)
    root = int(rng.integers(2**63))
    responses: Sequence[Response]
    if isinstance(response, Mapping):
        if variation is not None or runs is not None:
            raise UsageError("the runs of benchmarks tell their variation: name no other one")
        names = [name for columns in response.values() for name in columns]
        draws = stream(root, "bootstrap")
        responses = suite_responses(whole, response, resamples=resamples, rng=draws)
    else:
        names = [response] if isinstance(response, str) else list(response)
        responses = responses_of(whole, names, variation=variation, runs=runs)
    taken = [*names, *(one for one in (variation, group) if one is not None), *flags]
    rows = responses[0].rows
    flagged, of_flags = flag_columns(whole, flags, rows)
    columns = covariates_of(whole, taken, ignore=ignore, flags=flagged)
    check_response(responses[0], whole)
    check_covariates(columns, rows, whole, ignore)
    families, without = (None, 0) if group is None else families_of(whole, group, rows)
    answered, short = _answerable(responses, whole, group)
    systems: list[Across] = []

    def step(steps: int) -> None:
        if progress is not None:
            progress(3 * len(systems) + steps, 3 * len(answered))

    how: dict[str, Any] = {"group": group, "folds": folds, "share": test_share, "repeats": repeats}
    how |= {"confidence": confidence, "step": step, "workers": workers}
    with one_thread():
        for one in answered:
            systems.append(_across(whole, one, columns, root, **how))
    first = systems[0]
    cautions = (across_cautions(*pair) for pair in zip(systems, answered, strict=True))
    return Sources(
        of=(whole.source or "table",),
        response=first.response,
        unit="1",
        confidence=confidence,
        seed=seed,
        correlation=first.random.correlation,
        correlation_grouped=None if first.grouped is None else first.grouped.correlation,
        ceiling=None if first.ceiling is None else first.ceiling.correlation,
        importance=first.importance,
        systems=tuple(systems),
        cautions=merged(
            *(whole.cautions, of_flags, short),
            _table_cautions(columns, rows, group, families, without),
            *cautions,
        ),
        references=REFERENCES,
    )


def _answerable(
    responses: Sequence[Response], table: MixedTable, group: str | None
) -> tuple[list[Response], list[Caution]]:
    """Leave out a variation that cannot be predicted while the performance can."""
    kept, cautions = [responses[0]], []
    for one in responses[1:]:
        try:
            check_response(one, table)
            if group is not None:
                families_of(table, group, one.rows)
            kept.append(one)
        except AnalysisError as error:
            found = error.what
            if isinstance(error, InsufficientDataError):
                needed = f"{FEWEST_ROWS} in 3 families are needed"
                found = f"{len(one.rows):,} rows tell a variation, and {needed}"
            what = f"{one.name} was left out: {found}"
            cautions.append(Caution("variation-not-predicted", what, (one.name,)))
    return kept, cautions


def _across(
    table: MixedTable,
    response: Response,
    columns: Sequence[TableColumn],
    root: int,
    *,
    group: str | None,
    folds: int,
    share: float | None,
    repeats: int,
    confidence: float,
    step: Callable[[int], None],
    workers: int | None,
) -> Across:
    from . import predictions as by

    y, logs = response.values, response.kind == "variation"
    x = np.column_stack([column.values[response.rows] for column in columns])
    families = None if group is None else families_of(table, group, response.rows)[0]

    def rng(what: str) -> np.random.Generator:
        return stream(root, response.kind, what)

    def seed(what: str) -> int:
        return int(rng(what).integers(2**31))

    def held_out(how: str, kept: Indices | None) -> by.HeldOut:
        splits = by.splits_of(len(y), kept, folds=folds, share=share, seed=seed(f"{how} folds"))
        if share is not None:
            check_split(len(y), len(splits[0][1]), share, table)
        model = by.model_of(columns, len(y), seed(f"{how} trees"))
        return by.hold_out(model, x, y, splits, workers=workers)

    def agreed(how: str, held: by.HeldOut) -> Agreement:
        draws = rng(f"{how} interval")
        return by.agreement(held, y, families=families, logs=logs, confidence=confidence, rng=draws)

    def predicted(held: by.HeldOut) -> Array:
        found = np.full(len(y), np.nan)
        found[held.out] = held.predicted
        return read_only(found)

    held = at_random = held_out("random", None)
    if families is not None:
        step(1)
        held = held_out("grouped", families)
    step(2)
    names = [column.name for column in columns]
    shares = by.importances(names, x, y, held, repeats=repeats, seed=seed("importance"))
    step(3)
    top = [names.index(one.factor) for one in shares[:_CURVES] if one.mean > 0]
    grouped = families is not None
    return Across(
        response=Name(response.name),
        kind=response.kind,
        rows=len(y),
        left_out=response.left_out,
        group=group,
        families=None if families is None else int(families.max()) + 1,
        covariates=tuple(
            CovariateUsed(
                name=column.name,
                kind="numeric" if column.numeric else "categorical",
                levels=len(np.unique(values[~np.isnan(values)])),
                unknown=int(np.isnan(values).sum()),
            )
            for column, values in zip(columns, x.T, strict=True)
        ),
        random=agreed("random", at_random),
        grouped=agreed("grouped", held) if grouped else None,
        ceiling=None if response.noise is None else ceiling_of(y, response.noise),
        test_share=share,
        resamples=response.resamples,
        importance_of="grouped" if grouped else "random",
        importance=shares,
        influence=by.influences(columns, held),
        dependence=tuple(by.dependence(k, columns[k], x, held, rng("dependence")) for k in top),
        measured=read_only(y.copy()),
        predicted_random=predicted(at_random),
        predicted_grouped=predicted(held) if grouped else None,
    )
