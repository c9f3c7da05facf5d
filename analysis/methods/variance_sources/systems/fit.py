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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....formats import MixedTable, TableColumn, mixed_table, read_mixed_table
from ....report import Caution, merged
from ....stats import counted, door, read_only, stream
from ..result import Sources
from .agreement import agreement
from .booster import check_installed, one_thread
from .cautions import across_cautions, table_cautions
from .ceiling import ceiling_of
from .checks import (
    FEWEST_ROWS,
    check_covariates,
    check_response,
    covariates_of,
    families_of,
)
from .design import Design
from .folds import grouped_folds, random_folds
from .held_out import hold_out
from .importance import dependences, importances
from .responses import Response, responses_of
from .result import REFERENCES, Across, CovariateUsed

__all__ = ["sources_of_table"]

_Whole = NDArray[np.intp]

FOLDS = 10
REPEATS = 10
_CURVES = 6  # covariates whose partial dependence is told


@door
def sources_of_table(
    table: object,
    response: str | Sequence[str],
    *,
    group: str | None = None,
    ignore: Sequence[str] = (),
    variation: str | None = None,
    runs: int | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
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
    response : str or sequence of str
        The column to predict; or several columns, the runs of one measurement: then their mean
        (the performance) and log(sd / mean) (the variation) are predicted, each on its own.
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
    repeats : int
        How often each covariate is shuffled for its importance.
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
        If fewer than 50 rows have the response, or there are fewer than 3 families.
    AnalysisError
        If the response is no number or never differs; if a covariate is constant, or names each row
        by a level of its own; if no family can be held out.
    """
    counted("folds", folds, 2, 1000)
    counted("repeats", repeats, 2, 1000)
    if runs is not None:
        counted("runs", runs, 2)
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence!r}")
    check_installed()
    whole = read_mixed_table(str(table)) if isinstance(table, str | Path) else mixed_table(table)
    names = (response,) if isinstance(response, str) else tuple(response)
    responses = responses_of(whole, names, variation=variation, runs=runs)
    taken = [*names, *(one for one in (variation, group) if one is not None)]
    columns = covariates_of(whole, taken, ignore=ignore)
    check_response(responses[0], whole)
    design = Design.of(columns, responses[0].rows)
    check_covariates(design, whole, ignore)
    families, without = (None, 0)
    if group is not None:
        families, without = families_of(whole, group, responses[0].rows)
    answered, short = _answerable(responses, whole, group)
    bar = _Bar(progress, len(answered) * (2 * folds if group is None else 3 * folds))
    plan = _Plan(
        columns=columns,
        group=group,
        folds=folds,
        repeats=repeats,
        confidence=confidence,
        bar=bar,
        workers=workers,
    )
    root = int(rng.integers(2**63))
    with one_thread():
        systems = [_across(whole, one, plan, root) for one in answered]
    bar.end()
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
        systems=tuple(systems),
        cautions=merged(
            whole.cautions,
            short,
            table_cautions(
                design,
                group=group,
                families=None if families is None else int(families.max()) + 1,
                without_family=without,
            ),
            *(across_cautions(*pair) for pair in zip(systems, answered, strict=True)),
        ),
        references=REFERENCES,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """What all responses have in common."""

    columns: Sequence[TableColumn]
    group: str | None
    folds: int
    repeats: int
    confidence: float
    bar: _Bar
    workers: int | None


class _Bar:
    """Counts steps, and tells whoever wants to know."""

    def __init__(self, progress: Callable[[int, int], None] | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def step(self) -> None:
        self._done = min(self._done + 1, self._total)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def end(self) -> None:
        """Tell that all is done, where there were fewer steps than thought."""
        if self._progress is not None and self._done < self._total:
            self._progress(self._total, self._total)


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
    design = Design.of(plan.columns, response.rows)
    families: _Whole | None = None
    if plan.group is not None:
        families, _ = families_of(table, plan.group, response.rows)
    y, logs = response.values, response.kind == "variation"

    def rng(what: str) -> np.random.Generator:
        return stream(root, response.kind, what)

    at_random = hold_out(
        design,
        y,
        random_folds(len(y), plan.folds, rng("random folds")),
        families=None,
        rng=rng("random trees"),
        step=plan.bar.step,
        workers=plan.workers,
    )
    held, grouped = at_random, None
    if families is not None:
        count = min(plan.folds, int(families.max()) + 1)
        held = hold_out(
            design,
            y,
            grouped_folds(families, count, rng("grouped folds")),
            families=families,
            rng=rng("grouped trees"),
            step=plan.bar.step,
            workers=plan.workers,
        )
        grouped = agreement(
            held,
            y,
            families=families,
            logs=logs,
            confidence=plan.confidence,
            rng=rng("grouped interval"),
        )
    shares = importances(
        design,
        y,
        held,
        repeats=plan.repeats,
        seed=int(rng("importance").integers(2**63)),
        step=plan.bar.step,
        workers=plan.workers,
    )
    top = [one.factor for one in shares[:_CURVES] if one.mean > 0]
    return Across(
        response=response.name,
        kind=response.kind,
        rows=len(y),
        left_out=response.left_out,
        group=plan.group,
        families=None if families is None else int(families.max()) + 1,
        covariates=tuple(_used(column) for column in design.columns),
        random=agreement(
            at_random,
            y,
            families=families,
            logs=logs,
            confidence=plan.confidence,
            rng=rng("random interval"),
        ),
        grouped=grouped,
        ceiling=None if response.noise is None else ceiling_of(response.values, response.noise),
        importance_of="random" if grouped is None else "grouped",
        importance=shares,
        dependence=dependences(design, top, held, rng=rng("dependence")),
        measured=read_only(response.values.copy()),
        predicted_random=read_only(at_random.predicted),
        predicted_grouped=None if grouped is None else read_only(held.predicted),
    )


def _used(column: TableColumn) -> CovariateUsed:
    known = column.values[column.known]
    return CovariateUsed(
        name=column.name,
        kind="numeric" if column.numeric else "categorical",
        levels=len(np.unique(known)),
        unknown=len(column.values) - len(known),
    )
