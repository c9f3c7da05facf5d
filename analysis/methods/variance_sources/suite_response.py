"""The response of the published study: a suite's geometric mean of medians, and its variation.

Performance is the geometric mean over benchmarks of the median of each one's runs, as [1]_ takes it;
its standard deviation is that of the same number when the runs of each benchmark are drawn anew, with
replacement, by default 500 times.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...stats.samples import Array
from .mixed_table import MixedTable
from .systems_table import Response, numeric_column, performance_of, variation_of

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
