"""A table's response predicted from its other columns, for systems that were held out.

The published study [1]_ predicts performance and relative variation of systems from what is known
of them, by boosted trees and one random split. Here each row is predicted once, in folds: at random
as published, and with whole families held out, since a random split leaves sister systems of a
row among those that are learned from.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError, library_needed
from ...pages.model import Caution, cautions_of, merged
from ...stats.arguments import between, checks_arguments, counted, stream
from ...stats.samples import Array, Indices, read_only
from ...words import Name
from .mixed_table import MixedTable, TableColumn, flag_columns, mixed_table, read_mixed_table
from .result import REFERENCES, Across, Agreement, CovariateUsed, Sources
from .systems_table import (
    FEWEST_ROWS,
    RESAMPLES,
    Response,
    ceiling_of,
    check_covariates,
    check_response,
    check_split,
    covariates_of,
    families_of,
    responses_of,
    suite_responses,
)

FOLDS = 10
REPEATS = 10
_CURVES = 6  # covariates whose partial dependence is shown


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
