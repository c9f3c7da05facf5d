"""One number a benchmark of a whole trial: the mean over its sessions of what `multilevel` judges.

Series of trials are made of these: the trial is their unit, and its sessions only make the number more
exact. Here larger is slower, whichever direction of the metric is better.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.cut_runs import with_bounds
from ...data.pair import match
from ...stats.samples import Array, Integers
from .design import layout_of, session_means, tables_of, whole_matrix, zeroed_of
from .estimates import of_differences

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionMeans:
    """Means over sessions, arrays over `benchmarks`; nan where there is none.

    `log`: Of the candidate's mean log less the baseline's: minus the log of the speedup that
    `multilevel` gives for the same runs; of one side alone its mean log. `baseline_log`: The
    baseline's mean log over the same sessions; nan of one side alone. `sessions`: How many.
    """

    benchmarks: tuple[str, ...]
    log: Array
    baseline_log: Array
    sessions: Integers


def means_of_pair(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, sessions: Collection[object]
) -> SessionMeans | None:
    """Give the mean difference over those of `sessions` that hold both sides; None without one."""
    ours, theirs = (with_bounds(whole_matrix(one)) for one in (candidate, baseline))
    shared = _session_ids(ours) & _session_ids(theirs) & set(sessions)
    ours_then, theirs_then = _in_sessions(ours, shared), _in_sessions(theirs, shared)
    if ours_then is None or theirs_then is None:
        return None
    if not set(ours_then.benchmarks) & set(theirs_then.benchmarks):
        return None
    pair = match(ours_then, theirs_then)
    layout = layout_of(pair.candidate, pair.baseline)
    sign = 1 if ours.better == "higher" else -1
    tables = tables_of(layout, sign, zeroed_of(pair.candidate, pair.baseline))
    own, other = of_differences(tables.ours).estimate, of_differences(tables.theirs).estimate
    if tables.rows:
        found = of_differences(tables.differences)
        difference, count = found.estimate, found.values
    else:
        difference, count = own - other, np.zeros(own.shape, dtype=np.int64)
    if layout.design != "paired":  # its rows are no sessions
        count = np.isfinite(difference).astype(np.int64)
    return SessionMeans(
        benchmarks=pair.candidate.benchmarks, log=-difference, baseline_log=-other, sessions=count
    )


def means_of_one(matrix: PerformanceMatrix, sessions: Collection[object]) -> SessionMeans | None:
    """Give the mean log of one variant over some sessions; None where it has no run in them."""
    whole = _in_sessions(with_bounds(whole_matrix(matrix)), set(sessions))
    if whole is None:
        return None
    layout = layout_of(whole, whole)
    sign = 1 if whole.better == "higher" else -1
    means = session_means(layout, layout.ours, sign, zeroed_of(whole, whole)).mean
    found = of_differences(means)
    return SessionMeans(
        benchmarks=whole.benchmarks,
        log=-found.estimate,
        baseline_log=np.full(found.estimate.shape, np.nan),
        sessions=found.values,
    )


def _session_ids(matrix: PerformanceMatrix) -> set[object]:
    rows = matrix.sessions
    return set(np.unique(np.concatenate(rows)).tolist()) if rows else set()


def _in_sessions(matrix: PerformanceMatrix, wanted: set[object]) -> PerformanceMatrix | None:
    """Give the runs of some sessions, without the benchmarks that have none in them."""
    if matrix.sessions is None or not wanted:
        return None
    if wanted >= _session_ids(matrix):
        return matrix
    ids: list[Any] = [*wanted]
    masks = [np.isin(row, ids) for row in matrix.sessions]
    kept = [k for k, mask in enumerate(masks) if mask.any()]
    if not kept:
        return None
    blocks = matrix.blocks
    return replace(
        matrix,
        benchmarks=tuple(matrix.benchmarks[k] for k in kept),
        samples=tuple(matrix.samples[k][masks[k]] for k in kept),
        sessions=tuple(matrix.sessions[k][masks[k]] for k in kept),
        blocks=None if blocks is None else tuple(blocks[k][masks[k]] for k in kept),
        iterations=None,
        run_of=None,
    )
