"""The runs of one variant of a trial, chosen and counted: how a trial becomes a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ..errors import InsufficientDataError, UsageError
from ..report import Caution
from ..stats import read_only
from .energy import energy_cautions, require_steady
from .failed import failures_of_rows
from .levels import level_caution
from .matrix import PerformanceMatrix, check_positive
from .trial_columns import TrialColumns

__all__ = ["runs_of"]

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Chosen:
    """The rows of a trial that a matrix takes, benchmark by benchmark.

    `carried` are those with runs of 0 that are kept aside, `zeros` counts the runs of those left out.
    """

    rows: Mapping[str, Integers]
    carried: Mapping[str, Integers]
    zeros: Mapping[str, int]


def runs_of(
    trial: TrialColumns, variant: str, metric: str, *, skip_zeros: bool, carry_zeros: bool
) -> PerformanceMatrix:
    """Give the runs of one variant, as `Trial.matrix` says."""
    trial.metric(metric)  # an unknown one is told first
    if variant not in trial.manifest.variants:
        raise UsageError(
            f"the trial has no variant {variant!r}",
            str(trial.path),
            f"known here: {', '.join(trial.manifest.variants)}",
        )
    mine: Flags = trial.variant == trial.manifest.variants.index(variant)
    values = trial.values(metric)
    used = mine & trial.measured & np.isfinite(values)
    require_steady(trial, metric, used)
    chosen = _choose(trial, values, used, skip_zeros=skip_zeros, carry_zeros=carry_zeros)
    _require(trial, chosen, variant, metric)
    cautions = (
        *_counted(trial, mine, values, metric),
        *_left_out(trial, chosen, metric),
        *_how(trial, used, metric),
        *energy_cautions(trial, metric, used),
        *_levels(trial, chosen.rows, metric),
    )
    failed = mine & trial.candidates & (trial.outcome != 0)
    whole = _matrix(trial, variant, metric, chosen.rows, failed=failed, cautions=cautions)
    for bench, runs in zip(whole.benchmarks, whole.samples, strict=True):
        check_positive(runs, f"{variant}, benchmark {bench!r}")
    if not chosen.carried:
        return whole
    carried = _matrix(trial, variant, metric, chosen.carried, failed=failed, cautions=cautions)
    return replace(whole, with_zeros=carried)


def _choose(
    trial: TrialColumns,
    values: NDArray[np.float64],
    used: Flags,
    *,
    skip_zeros: bool,
    carry_zeros: bool,
) -> _Chosen:
    rows = {
        bench: row
        for k, bench in enumerate(trial.manifest.benchmarks)
        if (row := np.flatnonzero(used & (trial.benchmark == k))).size
    }
    zeros = {
        bench: n
        for bench, row in rows.items()
        if (skip_zeros or carry_zeros) and (n := int((values[row] <= 0).sum()))
    }
    carried = {
        bench: row
        for bench, row in rows.items()
        if carry_zeros and bench in zeros and (values[row] >= 0).all()
    }
    return _Chosen(
        rows={bench: row for bench, row in rows.items() if bench not in zeros},
        carried=carried,
        zeros={bench: n for bench, n in zeros.items() if bench not in carried},
    )


def _require(trial: TrialColumns, chosen: _Chosen, variant: str, metric: str) -> None:
    """Refuse a matrix without any runs."""
    if chosen.rows or chosen.carried:
        return
    if chosen.zeros:
        raise InsufficientDataError(
            f"every benchmark of {variant!r} has a run whose {metric} is 0 or less",
            str(trial.path),
            "compare another metric, or make the runs longer",
            n=0,
            needed=1,
        )
    raise InsufficientDataError(
        f"no run of {variant!r} has a value of {metric!r} that counts",
        str(trial.path),
        "measure more, or look at the failed runs",
        n=0,
        needed=1,
    )


def _counted(
    trial: TrialColumns, mine: Flags, values: NDArray[np.float64], metric: str
) -> Iterator[Caution]:
    """Count the runs that are left out."""
    for code, which, text in (
        ("warm-up-left-out", mine & trial.warmup, "{} warm-up run{} left out"),
        (
            "failed-left-out",
            mine & trial.candidates & (trial.outcome != 0),
            "{} failed run{} left out",
        ),
        (
            "metric-missing",
            mine & trial.judged(metric) & ~np.isfinite(values),
            "{} run{} without {}",
        ),
        (
            "counted-left-out",
            mine & trial.measured & trial.apart(metric),
            "{} run{} left out by design: counters are read in some blocks, times in the others",
        ),
    ):
        if count := int(which.sum()):
            yield Caution(code, text.format(count, "s" * (count > 1), metric))


def _left_out(trial: TrialColumns, chosen: _Chosen, metric: str) -> Iterator[Caution]:
    """Name the benchmarks that are left out."""
    found = chosen.rows.keys() | chosen.zeros.keys() | chosen.carried.keys()
    absent = [bench for bench in trial.manifest.benchmarks if bench not in found]
    if absent:
        said = f"no run that counts of {', '.join(absent)}"
        yield Caution("benchmark-missing", said, tuple(absent))
    if chosen.zeros:
        told = ", ".join(f"{bench} ({n})" for bench, n in chosen.zeros.items())
        said = (
            f"{metric} counts as not measured where it is 0 or less in some runs, because ratios "
            f"need positive values: {told}"
        )
        yield Caution("not-positive", said, tuple(chosen.zeros))


def _how(trial: TrialColumns, used: Flags, metric: str) -> Iterator[Caution]:
    """Say what holds for how the values came about."""
    if trial.manifest.sequential:
        rule = trial.manifest.stop
        told = "" if rule is None else f", width {rule.width:g}"
        said = f"sequential (stopping rule{told}): the number of runs depends on the values"
        yield Caution("sequential", said)
    if floored := int((used & trial.at_floor(metric)).sum()):
        said = f"{floored} values of {metric} say only 'at most the launcher's floor'"
        yield Caution("floored", said)


def _levels(trial: TrialColumns, rows: Mapping[str, Integers], metric: str) -> Iterator[Caution]:
    """Say that runs are means of iterations, where they are."""
    column = trial.metrics.get(metric)
    if column is not None:
        below = [column.of_runs(row)[0].size for row in rows.values()]
        yield from level_caution([row.size for row in rows.values()], below)


def _matrix(
    trial: TrialColumns,
    variant: str,
    metric: str,
    rows: Mapping[str, Integers],
    *,
    failed: Flags,
    cautions: tuple[Caution, ...],
) -> PerformanceMatrix:
    info, values = trial.metric(metric), trial.values(metric)
    blocks = None
    # of imported runs most stand in none: that is block 0
    if trial.manifest.origin != "imported" or (trial.block[trial.measured] > 0).all():
        ids = trial.session * (int(trial.block.max()) + 1) + trial.block
        blocks = tuple(read_only(ids[row]) for row in rows.values())
    column = trial.metrics.get(metric)
    several = column is not None and any(
        column.of_runs(row)[0].size > row.size for row in rows.values()
    )
    below = [column.of_runs(row) for row in rows.values()] if column and several else None
    lost = np.flatnonzero(failed)
    lost = lost[np.argsort(trial.benchmark[lost], kind="stable")]  # as the campaign has them
    failures = failures_of_rows(
        [trial.manifest.benchmarks[k] for k in trial.benchmark[lost].tolist()],
        trial.session[lost].tolist(),
    )
    matrix = PerformanceMatrix(
        name=variant,
        benchmarks=tuple(rows),
        samples=tuple(read_only(values[row]) for row in rows.values()),
        better=info.better,
        unit=info.unit,
        blocks=blocks,
        sessions=tuple(read_only(trial.session[row]) for row in rows.values()),
        iterations=None if below is None else tuple(read_only(one) for one, _ in below),
        run_of=None if below is None else tuple(read_only(place) for _, place in below),
        metric=metric,
        cautions=cautions,
        trial=str(trial.path.resolve()),
        failed=failures.totals,
        failed_by_session=failures.by_session,
        session_order=_order(trial),
        outermost=trial.outermost,
    )
    return matrix.at_level(trial.level)


def _order(trial: TrialColumns) -> tuple[int, ...] | None:
    """Give the sessions of a merged trial by when its parts began; () where time tells no order."""
    if {"sessions-of-hosts", "hosts-as-sessions"} & {caution.code for caution in trial.cautions}:
        return ()
    try:
        parts = sorted(
            trial.manifest.merged_from,
            key=lambda part: (datetime.fromisoformat(part.started), part.first),
        )
    except (TypeError, ValueError):  # no time, or one without the other's zone
        return ()
    order = [n for part in parts for n in range(part.first, part.last + 1)]
    later = sorted(set(np.unique(trial.session).tolist()) - set(order))  # gone on with since
    return (*order, *later) if order else None
