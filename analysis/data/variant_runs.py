"""The runs of one variant of a trial, chosen and counted: how a trial becomes a matrix.

The counters move about once a millisecond, so each end of a run is known to one such step and its energy
to 0.4 of what a millisecond takes (the difference of two uniform errors: 1/sqrt(6)). From 0.1 s on that is
below half a percent of it. The sum over k runs of a shorter program has sqrt(k) times that error and k times
the energy: it is known like that of one run sqrt(k) times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..pages.model import Caution, ShortSentence, plain
from ..record.manifest import needed, warmup_of
from ..record.trial_files import (
    ENERGY,
    ENERGY_METRICS,
    NET_ENERGY,
    RESOLUTION_S,
    STEADY,
    IdlePower,
    is_steady,
)
from ..stats.samples import read_only
from .failed_runs import failures_of_rows
from .levels import level_caution
from .matrix import PerformanceMatrix, check_positive, cut_of_trial
from .session_quantiles import ValuesOf
from .stored_iterations import judged_counts, judged_values, printed_counts
from .warmup import JudgedIterations, iteration_cautions, of_cells

if TYPE_CHECKING:
    from .trial import Trial

Flags = NDArray[np.bool_]
_Segment = tuple[int, int]  # session and segment
_Around = tuple[IdlePower, IdlePower | None]  # before its runs, and after them


def is_counted(trial: Trial, metric: str) -> bool:
    """Tell whether a metric is energy that fairtrial counted; a program may print one of that name."""
    about = trial.manifest.metrics.get(metric)
    return metric in ENERGY_METRICS and about is not None and "source" in about


def require_steady(trial: Trial, metric: str, used: Flags) -> None:
    """Refuse a net energy where the idle power before and after runs is not one."""
    if metric != NET_ENERGY or not is_counted(trial, metric):
        return
    unsteady = [
        (before, after)
        for before, after in _around(trial, used).values()
        if after is not None and not is_steady(before, after)
    ]
    if not unsteady:
        return
    before, after = max(unsteady, key=lambda pair: _drift(*pair))
    others = f", and {len(unsteady) - 1} more" if len(unsteady) > 1 else ""
    raise AnalysisError(
        f"{NET_ENERGY} cannot be judged: idle, the machine used {before.watts:.2f} W before session "
        f"{before.session} and {after.watts:.2f} W after it, more than {STEADY:.0%} apart{others}",
        str(trial.path),
        f"judge {ENERGY}, or measure again on a machine that has settled",
    )


def _drift(before: IdlePower, after: IdlePower) -> float:
    """Give by what part of it the idle power has changed."""
    return abs(after.watts / before.watts - 1) if before.watts else math.inf


def energy_cautions(trial: Trial, metric: str, used: Flags) -> Iterator[Caution]:
    """Say what the energies of some runs cannot tell."""
    if not is_counted(trial, metric) or not used.any():
        return
    yield from _below_resolution(trial, metric, used)
    if metric == NET_ENERGY:
        yield from _idle(trial, used)


def _below_resolution(trial: Trial, metric: str, used: Flags) -> Iterator[Caution]:
    """Mark runs that are too short, and say whether a session's runs are long enough together."""
    wall = trial.numbers["wall_ns"] / 1e9
    short = used & (wall < RESOLUTION_S)
    if not short.any():
        return
    cells = np.stack([trial.benchmark[short], trial.session[short]])
    _, cell, runs = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
    total = np.bincount(cell.reshape(-1), weights=wall[short])
    # 1e-9: a hundred runs of 10 ms are enough
    enough = (total / np.sqrt(runs) >= RESOLUTION_S * (1 - 1e-9)).all()
    names = [trial.manifest.benchmarks[k] for k in np.unique(trial.benchmark[short])]
    count = int(short.sum())
    said = f"{count} run{'s' * (count > 1)} of less than {RESOLUTION_S:g} s: too short to be known "
    if enough:
        said += f"one by one; the mean {metric} of a session's runs is known"
    else:
        most = float((total / np.sqrt(runs)).min())
        said += (
            f"({metric}), and so is the mean of a session's runs, which is known like one run of {most:.2g} "
            "s: let the program repeat its work, or measure more runs a session"
        )
    yield Caution("short-for-energy", said, tuple(names))


def _idle(trial: Trial, used: Flags) -> Iterator[Caution]:
    """Say how well the idle power is known, and what that makes of the net energy."""
    around = _around(trial, used)
    alone = sorted(segment for segment, (_, after) in around.items() if after is None)
    if alone:
        told = ", ".join(str(session) for session in dict.fromkeys(one for one, _ in alone))
        said = (
            f"the idle power after session {told} was not measured, so it is unknown whether it "
            "stayed at the value that was subtracted"
        )
        yield Caution("idle-unconfirmed", said)
    error = np.full(len(trial), np.nan)
    for (session, segment), (before, after) in around.items():
        drift = 0.0 if after is None else abs(after.watts - before.watts) / 2
        mine = used & (trial.session == session) & (trial.segment == segment)
        error[mine] = math.hypot(before.error_w, drift)
    joules = error * trial.numbers["wall_ns"] / 1e9
    values = trial.values(NET_ENERGY)
    worst: dict[str, float] = {}
    for number, name in enumerate(trial.manifest.benchmarks):
        rows = used & (trial.benchmark == number) & np.isfinite(joules)
        if rows.any():
            middle = abs(float(np.median(values[rows])))
            worst[name] = float(np.max(joules[rows])) / middle if middle > 0 else math.inf
    if not worst:
        return
    name = max(worst, key=lambda bench: worst[bench])
    share = f"{worst[name]:.2g}" if math.isinf(worst[name]) else f"{worst[name] * 100:.2g} %"
    said = (
        f"the idle power is known to {float(np.nanmax(error)):.2g} W: up to {share} of {NET_ENERGY} ({name}), "
        "the same way in all runs of a session"
    )
    yield Caution("idle-uncertainty", said, (name,))


def _around(trial: Trial, used: Flags) -> dict[_Segment, _Around]:
    """Find the idle powers around the segments of these runs."""
    known: dict[Any, IdlePower] = {
        (one.session, one.segment, one.when): one for one in trial.manifest.idle_power
    }
    pairs = np.unique(np.stack([trial.session[used], trial.segment[used]]), axis=1).T.tolist()
    return {
        (session, segment): (before, known.get((session, segment, "after")))
        for session, segment in pairs
        if (before := known.get((session, segment, "before"))) is not None
    }


Integers = NDArray[np.int64]


def runs_of(
    trial: Trial, variant: str, metric: str, *, skip_zeros: bool, carry_zeros: bool
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
    merged = trial.session_quantiles(metric)
    values, apart = trial.values(metric), np.zeros(len(trial), dtype=np.bool_)
    if merged is not None and merged.column is not None and merged.apart is not None:
        values, apart = merged.column.per_run(), merged.apart
    used = mine & trial.measured & np.isfinite(values)
    require_steady(trial, metric, used)
    rows, carried, zeros = _chosen(
        trial, values, used, skip_zeros=skip_zeros, carry_zeros=carry_zeros
    )
    if not (rows or carried):
        raise InsufficientDataError(
            f"every benchmark of {variant!r} has a run whose {metric} is 0 or less"
            if zeros
            else f"no run of {variant!r} has a value of {metric!r} that counts",
            str(trial.path),
            "compare another metric, or make the runs longer"
            if zeros
            else (_few(trial, metric) if (mine & trial.measured).any() else None)
            or "measure more, or look at the failed runs",
            n=0,
            needed=1,
        )
    judged = trial.judged_iterations(metric)
    cells = of_cells(judged, variant, _with_iterations(trial, mine, metric, {**rows, **carried}))
    cautions = (
        *_counted(
            trial, mine, metric, missing=trial.judged(metric) & ~apart & ~np.isfinite(values)
        ),
        *iteration_cautions(cells, emptied=_emptied(trial, mine, judged, metric), metric=metric),
        *_without_iterations(trial, metric),
        *_left_out(trial, {*rows, *carried}, zeros, metric),
        *_how(trial, used, metric),
        *energy_cautions(trial, metric, used),
        *(() if apart.any() else _levels(trial, rows, metric)),
    )
    failed = mine & (trial.candidates | _first_tries(trial)) & (trial.outcome != 0)
    whole = _matrix(trial, variant, metric, rows, values, failed=failed, cautions=cautions)
    whole = replace(whole, judged_iterations=cells)
    for bench, runs in zip(whole.benchmarks, whole.samples, strict=True):
        check_positive(runs, f"{variant}, benchmark {bench!r}")
    if not carried:
        return whole
    aside = _matrix(trial, variant, metric, carried, values, failed=failed, cautions=cautions)
    return replace(whole, with_zeros=aside)


def _with_iterations(
    trial: Trial, mine: Flags, metric: str, rows: Mapping[str, Integers]
) -> dict[str, Integers]:
    """Give each benchmark's runs whose iterations make its values: of a quantile of sessions these are all runs, not the first."""
    basis = trial.quantile_basis(metric)
    if basis is None or basis.level == "run":
        return dict(rows)
    used = mine & trial.judged(metric) & (printed_counts(trial, metric) > 0)
    number = trial.manifest.benchmarks.index
    return {name: np.flatnonzero(used & (trial.benchmark == number(name))) for name in rows}


def _first_tries(trial: Trial) -> Flags:
    """Tell which runs are warm-ups of cells that were left out, because none was ok: they failed, and are all there is."""
    found: Flags = np.zeros(len(trial), dtype=np.bool_)
    manifest = trial.manifest
    for one in manifest.given_up:
        if one.never_ok and not one.runs:
            found |= (
                trial.warmup
                & (trial.position >= 0)
                & (trial.session == one.session)
                & (trial.benchmark == manifest.benchmarks.index(one.benchmark))
                & (trial.variant == manifest.variants.index(one.variant))
            )
    return found


def _few(trial: Trial, metric: str) -> str | None:
    """Say how many values a quantile needs; None of another metric."""
    basis = trial.quantile_basis(metric)
    if basis is None:
        return None
    return f"it needs {needed(basis.share)} judged values of {basis.metric} in a run: let runs print more, or measure more"


def _emptied(trial: Trial, mine: Flags, judged: JudgedIterations | None, metric: str) -> int:
    """Count the runs that have iterations, and none that is judged."""
    if judged is None or judged.setting in (0, "auto"):
        return 0
    there = printed_counts(trial, metric)
    none_left = (there > 0) & (judged.left_out >= there)
    return int((mine & trial.judged(metric) & none_left).sum())


def _without_iterations(trial: Trial, metric: str) -> Iterator[Caution]:
    """Say that a warm-up changes nothing, as every run or build has one value."""
    asked, judged = trial.warmup_iterations is not None, trial.judged_iterations(metric)
    builds = trial.is_of_builds(metric)
    several = judged is not None and printed_counts(trial, metric).max(initial=0) > 1
    said_of_it = asked or bool(warmup_of(trial.manifest.metrics.get(metric, {})))
    if said_of_it and (builds or not several):
        of = "is a number of builds" if builds else "has one value a run"
        option = "--warmup-iterations" if asked else "warmup_iterations"
        said = f"{option} changes nothing: {metric} {of}, and has no iterations"
        yield Caution("no-iterations", said, short=ShortSentence.of(plain(said)))


def _chosen(
    trial: Trial,
    values: NDArray[np.float64],
    used: Flags,
    *,
    skip_zeros: bool,
    carry_zeros: bool,
) -> tuple[dict[str, Integers], dict[str, Integers], dict[str, int]]:
    """Give each benchmark's rows, those with runs of 0 that are kept aside, and the runs of 0 left out."""
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
    return (
        {bench: row for bench, row in rows.items() if bench not in zeros},
        carried,
        {bench: n for bench, n in zeros.items() if bench not in carried},
    )


def _counted(trial: Trial, mine: Flags, metric: str, *, missing: Flags) -> Iterator[Caution]:
    """Count the runs that are left out; those `missing` have no value though they should."""
    basis = trial.quantile_basis(metric)
    few = "" if basis is None else f", which needs {needed(basis.share)} values of {basis.metric}"
    for code, which, text in (
        ("warm-up-left-out", mine & trial.warmup, "{} warm-up run{} left out"),
        (
            "failed-left-out",
            mine & trial.candidates & (trial.outcome != 0),
            "{} failed run{} left out",
        ),
        (
            "metric-missing",
            mine & missing,
            "{} run{} without {}" + few,
        ),
        (
            "counted-left-out",
            mine & trial.measured & trial.apart(metric) & (not trial.is_of_builds(metric)),
            "{} run{} left out by design: counters are read in some blocks, times in the others",
        ),
    ):
        if count := int(which.sum()):
            yield Caution(code, text.format(count, "s" * (count > 1), metric))


def _left_out(
    trial: Trial, kept: set[str], zeros: Mapping[str, int], metric: str
) -> Iterator[Caution]:
    absent = [b for b in trial.manifest.benchmarks if b not in kept and b not in zeros]
    if absent:
        said = f"no run that counts of {', '.join(absent)}"
        yield Caution("benchmark-missing", said, tuple(absent))
    if zeros:
        told = ", ".join(f"{bench} ({n})" for bench, n in zeros.items())
        said = (
            f"{metric} counts as not measured where it is 0 or less in some runs, because ratios "
            f"need positive values: {told}"
        )
        short = ShortSentence.of("not measured, as runs are 0: {}", tuple(zeros))
        yield Caution("not-positive", said, tuple(zeros), short)


def _how(trial: Trial, used: Flags, metric: str) -> Iterator[Caution]:
    """Say what holds for how the values came about."""
    if trial.manifest.sequential:
        rule = trial.manifest.stop
        told = "" if rule is None else f", width {rule.width:g}"
        said = f"sequential (stopping rule{told}): the number of runs depends on the values"
        yield Caution("sequential", said)
    if floored := int((used & trial.at_floor(metric)).sum()):
        said = f"{floored} values of {metric} say only 'at most the launcher's floor'"
        yield Caution("floored", said)


def _levels(trial: Trial, rows: Mapping[str, Integers], metric: str) -> Iterator[Caution]:
    """Say that runs are means of iterations, where they are."""
    if trial.judged_iterations(metric) is not None:
        counts = judged_counts(trial, metric)
        below = [int(counts[row].sum()) for row in rows.values()]
        yield from level_caution([row.size for row in rows.values()], below)


def _matrix(
    trial: Trial,
    variant: str,
    metric: str,
    rows: Mapping[str, Integers],
    values: NDArray[np.float64],
    *,
    failed: Flags,
    cautions: tuple[Caution, ...],
) -> PerformanceMatrix:
    info = trial.metric(metric)
    blocks = ids = None
    # of imported runs most stand in none: that is block 0
    if trial.manifest.origin != "imported" or (trial.block[trial.measured] > 0).all():
        ids = trial.session * (int(trial.block.max()) + 1) + trial.block
        blocks = tuple(read_only(ids[row]) for row in rows.values())
    below = None
    if trial.judged_iterations(metric) is not None:
        counts = judged_counts(trial, metric)
        several = any(counts[row].sum() > row.size for row in rows.values())
        # what stands in files is read where somebody asks for it
        if several and (trial.level == "iteration" or not trial.stored.get(metric)):
            below = [judged_values(trial, metric, row) for row in rows.values()]
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
        cut=cut_of_trial(
            trial, metric, trial.variant == trial.manifest.variants.index(variant), ids
        ),
        failed_by_session=failures.by_session,
        values_of=_values_of(trial, metric, rows),
        session_order=_order(trial),
        outermost=trial.outermost,
        of_builds=trial.is_of_builds(metric),
    )
    return matrix.at_level(trial.level)


def _values_of(trial: Trial, metric: str, rows: Mapping[str, Integers]) -> dict[str, ValuesOf]:
    found = trial.session_quantiles(metric)
    each = {} if found is None else {name: found.of(row) for name, row in rows.items()}
    return {name: one for name, one in each.items() if one is not None}


def _order(trial: Trial) -> tuple[int, ...] | None:
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
