"""Diagnose a trial, a matrix or a list of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...data import PerformanceMatrix, Trial, read_host_record
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...stats import door, numbers
from ..runs import of_matrix, of_trial, of_values
from .cautions import cautions_of
from .notes import disturbed_runs, noted, two_binaries, waiting_runs
from .result import Diagnosis
from .testing import diagnosed

__all__ = ["diagnose_matrix", "diagnose_runs", "diagnose_trial"]


@door
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


@door
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


@door
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
