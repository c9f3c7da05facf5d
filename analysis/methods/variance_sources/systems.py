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

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError, library_needed
from ...pages.model import Caution, merged
from ...stats.arguments import counted, door, stream
from ...stats.samples import Indices, read_only
from ...words import shorten
from .mixed_table import MixedTable, TableColumn, flag_columns, mixed_table, read_mixed_table
from .result import REFERENCES, Across, CovariateUsed, Sources
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

_NAME = 30
FOLDS = 10
REPEATS = 10
_CURVES = 6  # covariates whose partial dependence is told


def table_cautions(
    columns: Sequence[TableColumn],
    rows: Indices,
    *,
    group: str | None,
    families: int | None,
    without_family: int,
) -> Iterator[Caution]:
    """Say what the table's columns allow."""
    yield Caution(
        "prediction-is-no-cause",
        "nothing was changed on purpose between these systems: what predicts the response need not "
        "cause it, and covariates that go together share their importance. A cause is shown by an "
        "experiment",
    )
    if group is None:
        yield Caution(
            "families-unknown",
            "rows were held out at random only: if the table has sister systems, they are "
            "predicted by looking up their sisters. Name what they share: --group COLUMN",
        )
    if families is not None and families < 10:
        said = "the grouped correlation and its interval rest on few"
        yield Caution("few-families", f"there are {families} families only: {said}")
    if without_family:
        yield Caution(
            "rows-without-family",
            f"{without_family:,} rows have no {shorten(group or '', _NAME)!r}: they were "
            "held out together, as one family",
        )
    for column in columns:
        values = column.values[rows]
        if not column.numeric or np.isnan(values).any():
            continue
        if np.array_equal(np.sort(values), values.min() + np.arange(len(values))):
            yield Caution(
                "covariate-numbers-rows",
                f"the column {shorten(column.name, _NAME)!r} holds each whole number of a "
                "range once: if it numbers the rows, --ignore it",
                (column.name,),
            )


def across_cautions(found: Across, response: Response) -> Iterator[Caution]:
    """Say what one response's answer lacks."""
    about = (response.name,)
    said = shorten(response.name, 60)
    if response.left_out:
        why = (
            "their runs are too few, or do not differ at all and have no logarithm"
            if response.kind == "variation"
            else "the cell is empty"
            if response.resamples is None
            else "a benchmark has no run"
        )
        yield Caution(
            "rows-without-response",
            f"{response.left_out:,} of {response.left_out + len(response.rows):,} rows have no "
            f"{said}, and were left out: {why}",
            about,
        )
    if found.ceiling is None:
        more = (
            ": name its runs (--response A,B,C), or the standard deviation and number of them "
            "(--variation COLUMN --runs N)"
        )
        if response.resamples is not None:
            more = ": two runs of each benchmark are needed for that of the mean, and the noise of a standard deviation by resampling is unknown"
        yield Caution(
            "ceiling-unknown",
            f"how exactly {said} was measured is not known, and so not how well it could be "
            f"predicted at best{more}",
            about,
        )
    elif found.ceiling.correlation == 0:
        yield Caution(
            "response-is-noise",
            f"{said} varies no more between the rows than its own noise explains: there is nothing "
            "to predict",
            about,
        )
    at_random, of_families = found.random, found.grouped
    r = None if of_families is None else of_families.correlation
    leaks = at_random.correlation is not None and r is not None and at_random.correlation - r > 0.01
    # what is not predicted leaks nothing
    if leaks and (at_random.low is None or at_random.low > 0):
        yield Caution(
            "random-split-leaks",
            f"{said} of a row held out at random is predicted better than that of a family never "
            "seen: sister systems stand on both sides of a random split. The grouped correlation is "
            "the one for new systems",
            about,
        )


@door
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
        Where `rng` comes from, to be told in the result.
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
    for name, value in (("confidence", confidence), ("test_share", test_share)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} must lie between 0 and 1, not {value!r}")
    try:
        from .predictions import one_thread
    except ImportError as error:
        fix = "pip install 'fairtrial[sources]'"
        raise library_needed("a model of boosted trees", "scikit-learn", error, fix=fix) from None
    whole = read_mixed_table(str(table)) if isinstance(table, str | Path) else mixed_table(table)
    root = int(rng.integers(2**63))
    if isinstance(response, Mapping):
        if variation is not None or runs is not None:
            raise UsageError("the runs of benchmarks tell their variation: name no other one")
        names = [name for columns in response.values() for name in columns]
        responses: Sequence[Response] = suite_responses(
            whole, response, resamples=resamples, rng=stream(root, "bootstrap")
        )
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
    done = 0

    def step(steps: int = 1) -> None:
        nonlocal done
        done += steps
        if progress is not None:
            progress(done, len(answered) * 3)

    plan = _Plan(columns, group, folds, test_share, repeats, confidence, step, workers)
    with one_thread():
        systems = tuple(_across(whole, one, plan, root) for one in answered)
    first = systems[0]
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
        systems=systems,
        cautions=merged(
            whole.cautions,
            of_flags,
            short,
            table_cautions(
                columns,
                rows,
                group=group,
                families=None if families is None else int(families.max()) + 1,
                without_family=without,
            ),
            *(across_cautions(*pair) for pair in zip(systems, answered, strict=True)),
        ),
        references=REFERENCES,
    )


class _Plan(NamedTuple):
    """What all responses have in common."""

    columns: Sequence[TableColumn]
    group: str | None
    folds: int
    share: float | None
    repeats: int
    confidence: float
    step: Callable[[int], None]
    workers: int | None


def _answerable(
    responses: Sequence[Response], table: MixedTable, group: str | None
) -> tuple[list[Response], list[Caution]]:
    """Leave out a variation that cannot be predicted while the performance can."""
    first, *others = responses
    kept, cautions = [first], []
    for one in others:
        try:
            check_response(one, table)
            if group is not None:
                families_of(table, group, one.rows)
        except InsufficientDataError:
            said = f"{len(one.rows):,} rows tell a variation, and {FEWEST_ROWS} in 3 families are needed"
        except AnalysisError as error:
            said = error.what
        else:
            kept.append(one)
            continue
        cautions.append(
            Caution("variation-not-predicted", f"{one.name} was left out: {said}", (one.name,))
        )
    return kept, cautions


def _across(table: MixedTable, response: Response, plan: _Plan, root: int) -> Across:
    """Answer for one response."""
    from .predictions import (
        agreement,
        dependences,
        hold_out,
        importances,
        influences,
        model_of,
        splits_of,
    )

    y, columns = response.values, plan.columns
    x = np.column_stack([column.values[response.rows] for column in columns])
    families: Indices | None = None
    if plan.group is not None:
        families, _ = families_of(table, plan.group, response.rows)

    def rng(what: str) -> np.random.Generator:
        return stream(root, response.kind, what)

    def seed(what: str) -> int:
        return int(rng(what).integers(2**31))

    agreed, predicted, held = {}, {}, None
    for how, by in (("random", None), ("grouped", families)):
        if how == "grouped" and by is None:
            break
        splits = splits_of(
            len(y), by, folds=plan.folds, share=plan.share, seed=seed(f"{how} folds")
        )
        if plan.share is not None:
            check_split(len(y), len(splits[0][1]), plan.share, table)
        model = model_of(columns, len(y), seed(f"{how} trees"))
        held = hold_out(model, x, y, splits, workers=plan.workers)
        agreed[how] = agreement(
            held,
            y,
            families=families,
            logs=response.kind == "variation",
            confidence=plan.confidence,
            rng=rng(f"{how} interval"),
        )
        predicted[how] = np.full(len(y), np.nan)
        predicted[how][held.out] = held.predicted
        plan.step(1 if plan.group is not None else 2)
    assert held is not None
    names = [column.name for column in columns]
    shares = importances(names, x, y, held, repeats=plan.repeats, seed=seed("importance"))
    plan.step(1)
    top = [one.factor for one in shares[:_CURVES] if one.mean > 0]
    return Across(
        response=response.name,
        kind=response.kind,
        rows=len(y),
        left_out=response.left_out,
        group=plan.group,
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
        random=agreed["random"],
        grouped=agreed.get("grouped"),
        ceiling=None if response.noise is None else ceiling_of(response.values, response.noise),
        test_share=plan.share,
        resamples=response.resamples,
        importance_of="random" if families is None else "grouped",
        importance=shares,
        influence=influences(columns, held),
        dependence=dependences(columns, top, x, held, rng("dependence")),
        measured=read_only(response.values.copy()),
        predicted_random=read_only(predicted["random"]),
        predicted_grouped=read_only(predicted["grouped"]) if "grouped" in predicted else None,
    )
