"""Diagnosing a trial, a matrix or runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from ..data.host_record import read_host_record
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..stats.arguments import checks_arguments, numbers
from ..stats.multiplicity import adjusted
from .cell_tests import (
    LEAST,
    CellTests,
    Description,
    described,
    session_shift,
    size_of,
    within_sessions,
)
from .findings import (
    cell_lines,
    disturbed_runs,
    far_runs,
    modal_cells,
    noted,
    two_binaries,
    untested,
    waiting_runs,
)
from .host_tests import HostSpeeds, HostTest, host_speeds, host_tests
from .movers import Movers, only_these, who_moves
from .result import Diagnosis, Finding, cautions_of, cell_text, host_text
from .run_table import (
    Floats,
    RunTable,
    Series,
    middle_of,
    of_matrix,
    of_trial,
    of_values,
    series_of,
)

if TYPE_CHECKING:
    from ..record.run_numbers import Better

_ANY_ORDER = ("session-shift", "host-sessions")  # the tests that do not look at the order of runs


def diagnosed(
    table: RunTable, *, name: str, unit: str, better: str, confidence: float
) -> Diagnosis:
    """Test a table of runs; what a runner recorded, and cautions, are added by the caller."""
    series = series_of(table)
    figures = described(table, series)
    cells = (*within_sessions(series), session_shift(series))
    host = host_tests(table, series)
    if not table.in_order:
        cells = tuple(
            one
            if one.code in _ANY_ORDER
            else replace(one, pvalues=np.full_like(one.pvalues, math.nan))
            for one in cells
        )
        host = tuple(
            one if one.code in _ANY_ORDER else replace(one, pvalue=None, size=None) for one in host
        )
    of_hosts = [math.nan if test.pvalue is None else test.pvalue for test in host]
    pvalues = np.concatenate([*(test.pvalues for test in cells), of_hosts])
    corrected = adjusted(pvalues, "bh")
    tests = int(np.isfinite(pvalues).sum())
    risk = 1 - confidence
    split = series.benchmark.size * len(cells)
    by_test, by_host = corrected[:split].reshape(len(cells), -1), corrected[split:].tolist()
    of_cells = _cell_findings(cells, by_test, risk, tests, (table, series, figures))
    moved = [test for test, p in zip(host, by_host, strict=True) if p <= risk]
    in_time = [test for test in moved if test.code not in _ANY_ORDER]
    within = who_moves(table, series, in_time, "runs")
    between = who_moves(table, series, [one for one in moved if one not in in_time], "sessions")
    movers_by = within | between
    of_host = []
    for test, p in zip(host, by_host, strict=True):
        label = None if test.session is None else table.sessions[test.session]
        of_host.append(
            Finding(
                code=test.code,
                sessions=() if label is None else (label,),
                pvalue=test.pvalue,
                pvalue_adjusted=None if math.isnan(p) else p,
                size=test.size,
                certain=test.pvalue is not None and test.pvalue * tests <= risk,
                text=host_text(
                    test.code,
                    test.size,
                    session=label,
                    when=_when(table, test.session, test.row),
                    movers=movers_by.get(test),
                ),
            )
        )
    seen = [one for one in of_host if (p := one.pvalue_adjusted) is not None and p <= risk]
    movers = _movers(within or between)
    speeds = _speeds(table, series, movers) if seen and table.ordered else None
    there = np.unique(table.variant)
    cells_alone = (*_coarse(table, series, figures), *modal_cells(table, series, unit))
    return Diagnosis(
        name=name,
        metric=None,
        unit=unit,
        better=cast("Better", better),
        confidence=confidence,
        variants=tuple(table.variants[k] for k in there),
        benchmarks=tuple(table.benchmarks[k] for k in np.unique(table.benchmark)),
        sessions=len(table.sessions),
        runs=int(table.values.size),
        tests=tests,
        findings=(*seen, *of_cells, *cells_alone),
        host=tuple(of_host),
        speeds=speeds,
        movers=movers,
        cells=tuple(cell_lines(table, series, figures, cells)),
        not_tested=tuple(untested(table, series)),
        far_runs=tuple(far_runs(table, series, figures)),
        in_order=table.in_order,
    )


def _movers(told: Mapping[HostTest, Movers | None]) -> Movers | None:
    """Take what the surest test tells; where it cannot name anybody, what the next one does."""
    ordered = sorted(told, key=lambda test: test.pvalue or 0.0)
    found = [told[test] for test in ordered]
    return next((one for one in found if one is None or one.variants), found[0] if found else None)


def _speeds(table: RunTable, series: Series, movers: Movers | None) -> HostSpeeds | None:
    """Divide the runs into two levels: all of them, or those of the cells that move."""
    if movers is not None and movers.variants:
        table = only_these(table, movers)
        series = series_of(table)
    return host_speeds(table, series)


def _when(table: RunTable, session: int | None, row: int | None) -> str:
    if session is None or row is None:
        return ""
    seconds = float(table.start_s[row])
    if math.isfinite(seconds):
        return f"{seconds:.0f} s after the begin" if seconds >= 1 else "within the first second"
    return f"after {int((table.session[:row] == session).sum())} runs"


def _cell_findings(
    cells: Sequence[CellTests],
    corrected: Floats,
    risk: float,
    tests: int,
    looked: tuple[RunTable, Series, Description],
) -> list[Finding]:
    table, series, _ = looked
    found = []
    for test, row in zip(cells, corrected, strict=True):
        for cell in np.flatnonzero(np.nan_to_num(row, nan=1.0) <= risk).tolist():
            size = size_of(test, cell, *looked)
            label = place = None
            if test.session is not None and test.place is not None:
                label, place = table.sessions[test.session[cell]], int(test.place[cell])
            found.append(
                Finding(
                    code=test.code,
                    benchmark=table.benchmarks[series.benchmark[cell]],
                    variant=table.variants[series.variant[cell]],
                    sessions=() if label is None else (label,),
                    pvalue=float(test.pvalues[cell]),
                    pvalue_adjusted=float(row[cell]),
                    size=size,
                    certain=float(test.pvalues[cell]) * tests <= risk,
                    text=cell_text(test.code, size, session=label, place=place),
                )
            )
    return sorted(found, key=lambda one: one.pvalue or 0.0)


def _coarse(table: RunTable, series: Series, figures: Description) -> Iterable[Finding]:
    """Name the cells whose clock has few readings: ties, which no test of noise should meet."""
    middles = middle_of(series.values.reshape(series.runs.size, -1))
    with np.errstate(invalid="ignore"):
        fine = figures.resolution < 0.005 * np.abs(middles)  # a step that is too small to matter
    coarse = (figures.ties >= 0.5) & (series.runs >= LEAST) & ~fine
    for cell in np.flatnonzero(coarse).tolist():
        share = float(figures.ties[cell])
        step = float(figures.resolution[cell])
        said = f", in steps of {step:.3g}" if math.isfinite(step) else ", all of them the same"
        yield Finding(
            code="ties",
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            size=share,
            text=f"{100 * share:.0f} % of the runs share their value with another one{said}",
        )


@checks_arguments
def diagnose_trial(
    trial: Trial,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Diagnosis:
    """Look at the runs, the sessions and the host of a trial before judging it.

    Within sessions: drift with the order of runs, dependence of consecutive runs, change points,
    first runs unlike the others. Between sessions: shifts beyond what runs explain. Over all cells:
    speeds of the whole host. From the runner's record: load, steal, throttling, changes. Of the tested
    ones, what Benjamini and Hochberg's rule finds at 1 - `confidence` over all tests of the trial: of
    clean trials (exchangeable runs in every cell, cells independent) at most that share shows any.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    metric : str, optional
        ``wall``, another metric that every run has, or one parsed from output; by default the first that
        the campaign's `judge` names, else ``wall`` (of an imported trial its first).
    variants : sequence of str, optional
        The only variants to look at.
    confidence : float
        1 - this is the share of clean trials with a finding, at most.

    Returns
    -------
    Diagnosis
        Cells with fewer than 10 runs are not tested, and named.

    Raises
    ------
    UsageError
        If the metric or a variant is unknown, or the confidence out of range.
    InsufficientDataError
        If no run counts.

    References
    ----------
    Benjamini and Hochberg, JRSS B 57, 1995, section 2; docs/methods/diagnosis.md names those of the
    tests.
    """
    _check(confidence)
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    table = of_trial(trial, metric, variants)
    record = read_host_record(trial.path)
    names = table.variants if variants is None else tuple(variants)
    total = len(table.sessions)
    chosen = [table.variants.index(name) for name in names]
    told = [
        *noted(record, trial, total),
        *disturbed_runs(trial, chosen),
        *waiting_runs(trial, chosen),
    ]
    found = diagnosed(
        table, name=trial.manifest.trial, unit=info.unit, better=info.better, confidence=confidence
    )
    found = replace(
        found,
        metric=metric,
        variants=names,
        findings=(*found.findings, *told),
        two_binaries=tuple(two_binaries(record, names)),
    )
    return replace(found, cautions=tuple(cautions_of(found, waits=trial.holds_waiting(metric))))


@checks_arguments
def diagnose_matrix(matrix: PerformanceMatrix, *, confidence: float = 0.95) -> Diagnosis:
    """Look at the runs of a matrix, as `diagnose_trial` does.

    Nothing tells in which order runs of different benchmarks were executed, nor what happened on the
    host. Without session ids all runs count as one session, in the order in which they stand.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    confidence : float
        As for `diagnose_trial`.

    Raises
    ------
    UsageError
        If the confidence is out of range.
    """
    _check(confidence)
    found = diagnosed(
        of_matrix(matrix),
        name=matrix.name,
        unit=matrix.unit,
        better=matrix.better,
        confidence=confidence,
    )
    return replace(found, cautions=(*matrix.cautions, *cautions_of(found)))


@checks_arguments
def diagnose_runs(
    values: ArrayLike, *, sessions: Sequence[int] | None = None, confidence: float = 0.95
) -> Diagnosis:
    """Look at the runs of one cell in their order, as `diagnose_trial` does.

    Parameters
    ----------
    values : array_like, shape (n,)
        Finite values in the order in which they were measured.
    sessions : sequence of int, optional
        The session of each; one session by default.
    confidence : float
        As for `diagnose_trial`.

    Raises
    ------
    UsageError
        If the values are no numbers, the sessions do not fit, or the confidence is out of range.
    AnalysisError
        If a value is not finite.
    InsufficientDataError
        If there is none.
    """
    _check(confidence)
    runs = numbers(values, "the values")
    if runs.size == 0:
        raise InsufficientDataError("there is no value", None, "give some", n=0, needed=1)
    if not np.isfinite(runs).all():
        bad = int(np.flatnonzero(~np.isfinite(runs))[0])
        raise AnalysisError(f"value {bad + 1} is {float(runs[bad])!r}", None, "leave it out")
    if sessions is not None and len(sessions) != runs.size:
        raise UsageError(f"sessions must name one session for each of the {runs.size} values")
    table = of_values(runs, sessions)
    found = diagnosed(table, name="values", unit="", better="lower", confidence=confidence)
    return replace(found, cautions=tuple(cautions_of(found)))


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, and is {confidence!r}")
