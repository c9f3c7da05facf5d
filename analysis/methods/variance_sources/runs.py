"""The runs of all trials that count, with where each belongs and its covariates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.variant_runs import require_steady
from ...errors import AnalysisError, InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import Caution
from ...pages.short_sentence import ShortSentence
from ...stats.samples import Array, Flags, Integers, read_only
from .covariates import Covariate, covariates_of

if TYPE_CHECKING:
    from ...data.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Iterations:
    """What runs measured of themselves: logarithms, and the place of each one's run."""

    logs: Array
    run: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateRuns:
    """One entry a run, in the order of trials and of execution.

    `benchmarks`, `variants`, `hosts` and `trials` are names; the arrays of these names hold places among
    them. `logs` are natural logarithms of the values. `session` and `block` are codes from 0 on, unique over
    all trials; a block is -1 where it is unknown. `iterations` are there where runs have several values;
    `cautions` say which runs are left out.
    """

    benchmarks: tuple[str, ...]
    variants: tuple[str, ...]
    hosts: tuple[str, ...]
    trials: tuple[str, ...]
    logs: Array
    benchmark: Integers
    variant: Integers
    host: Integers
    trial: Integers
    session: Integers
    block: Integers
    covariates: Mapping[str, Covariate]
    iterations: Iterations | None
    cautions: tuple[Caution, ...]

    def cells(self) -> Iterator[tuple[str, str, Integers]]:
        """Give each benchmark and variant that has runs, and the places of these in their order."""
        key = self.benchmark * len(self.variants) + self.variant
        order = np.argsort(key, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if rows.size:
                b, v = int(self.benchmark[rows[0]]), int(self.variant[rows[0]])
                yield self.benchmarks[b], self.variants[v], rows


def pooled(trials: Sequence[Trial], metric: str) -> CovariateRuns:
    """Take the runs that count of all trials."""
    _check(trials, metric)
    benchmarks = _names(trial.manifest.benchmarks for trial in trials)
    variants = _names(trial.manifest.variants for trial in trials)
    hosts = _names([trial.manifest.host_id or trial.manifest.host] for trial in trials)
    values = [trial.values(metric) for trial in trials]
    used = [t.measured & np.isfinite(v) for t, v in zip(trials, values, strict=True)]
    for trial, mine in zip(trials, used, strict=True):
        require_steady(trial, metric, mine)
    cell = [_cell(trial, benchmarks, variants) for trial in trials]
    bad = {
        int(one)
        for codes, mine, value in zip(cell, used, values, strict=True)
        for one in np.unique(codes[mine & (value <= 0)])
    }
    rows = [
        np.flatnonzero(mine & ~np.isin(codes, list(bad)))
        for mine, codes in zip(used, cell, strict=True)
    ]
    if not sum(row.size for row in rows):
        raise InsufficientDataError(
            f"no run has a value of {metric!r} that counts",
            ", ".join(str(trial.path) for trial in trials[:3]),
            "measure more, or look at the failed runs",
            n=0,
            needed=1,
        )
    codes = np.concatenate([c[row] for c, row in zip(cell, rows, strict=True)])
    counts = [row.size for row in rows]
    wrong = [divmod(one, len(variants)) for one in sorted(bad)]
    place = [hosts.index(trial.manifest.host_id or trial.manifest.host) for trial in trials]
    session, block = _sessions_and_blocks(trials, rows)
    unread = sum(one.iterations for t in trials for one in t.stored.get(metric, {}).values())
    return CovariateRuns(
        benchmarks=benchmarks,
        variants=variants,
        hosts=hosts,
        trials=tuple(trial.manifest.trial for trial in trials),
        logs=np.log(np.concatenate([v[row] for v, row in zip(values, rows, strict=True)])),
        benchmark=codes // len(variants),
        variant=codes % len(variants),
        host=np.repeat(np.array(place, dtype=np.int64), counts),
        trial=np.repeat(np.arange(len(trials)), counts),
        session=session,
        block=block,
        covariates=_covariates(trials, rows, metric),
        iterations=None if unread else _iterations(trials, rows, metric),
        cautions=(
            *_unread(unread, metric),
            *_left_out(trials, used, metric),
            *_not_positive([(benchmarks[b], variants[v]) for b, v in wrong], metric),
        ),
    )


def _check(trials: Sequence[Trial], metric: str) -> None:
    units = {trial.metric(metric).unit: str(trial.path) for trial in trials}
    if len(units) > 1:
        told = ", ".join(f"{unit or 'none'} in {path}" for unit, path in units.items())
        raise AnalysisError(
            f"the trials measure {metric!r} in different units: {told}",
            fix="look at trials of one kind",
        )


def _names(rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))


def _cell(trial: Trial, benchmarks: tuple[str, ...], variants: tuple[str, ...]) -> Integers:
    ours = np.array([benchmarks.index(name) for name in trial.manifest.benchmarks], dtype=np.int64)
    theirs = np.array([variants.index(name) for name in trial.manifest.variants], dtype=np.int64)
    return np.asarray(ours[trial.benchmark] * len(variants) + theirs[trial.variant])


def _sessions_and_blocks(
    trials: Sequence[Trial], rows: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """Give sessions and blocks numbers over all trials."""
    sessions, blocks = [], []
    for k, (trial, row) in enumerate(zip(trials, rows, strict=True)):
        sessions.append(np.stack([np.full(row.size, k), trial.session[row]]))
        known = trial.manifest.origin != "imported"  # no other tool executes in blocks
        block = trial.block[row] if known else np.full(row.size, -1)
        blocks.append(np.vstack([sessions[-1], block]))
    where = np.concatenate(blocks, axis=1)
    session = np.unique(np.concatenate(sessions, axis=1), axis=1, return_inverse=True)[1]
    block = np.unique(where, axis=1, return_inverse=True)[1]
    return session.reshape(-1), np.where(where[2] >= 0, block.reshape(-1), -1)


def _covariates(
    trials: Sequence[Trial], rows: Sequence[Integers], metric: str
) -> dict[str, Covariate]:
    """Put the covariates of all trials together; one that a trial has not is unknown there."""
    found = [covariates_of(trial, metric) for trial in trials]
    return {
        name: _joined([one.get(name) for one in found], rows, several=len(trials) > 1)
        for name in dict.fromkeys(name for one in found for name in one)
    }


def _joined(
    parts: Sequence[Covariate | None], rows: Sequence[Integers], *, several: bool
) -> Covariate:
    there = [part for part in parts if part is not None]
    labels: tuple[str, ...] = _names([part.labels for part in there])
    values, counts = [], []
    for k, (part, row) in enumerate(zip(parts, rows, strict=True)):
        if part is None:
            values.append(np.full(row.size, np.nan))
            counts.append(values[-1])
            continue
        mine = part.values[row]
        if part.scale == "levels":
            mine = _recoded(mine, part.labels, labels)
            if part.name == "session" and several:  # those of different trials are different ones
                mine = mine + k * len(labels)
        values.append(mine)
        counts.append(np.full(row.size, np.nan) if part.count is None else part.count[row])
    first = there[0]
    if first.name == "session" and several:
        labels = tuple(f"{k + 1}: {label}" for k in range(len(parts)) for label in labels)
    return replace(
        first,
        kind="randomized" if all(part.kind == "randomized" for part in there) else "observed",
        values=read_only(np.concatenate(values)),
        labels=labels,
        count=None if first.count is None else read_only(np.concatenate(counts)),
    )


def _recoded(codes: Array, ours: tuple[str, ...], everyone: tuple[str, ...]) -> Array:
    places = np.array([everyone.index(name) for name in ours], dtype=np.float64)
    known = np.isfinite(codes)
    found = np.full(codes.shape, np.nan)
    found[known] = places[codes[known].astype(np.int64)]
    return found


def _iterations(
    trials: Sequence[Trial], rows: Sequence[Integers], metric: str
) -> Iterations | None:
    """Give the values that runs consist of, where they consist of several positive ones."""
    values, places, before = [], [], 0
    for trial, row in zip(trials, rows, strict=True):
        judged = trial.judged_iterations(metric)
        if judged is None:
            return None
        found, place = judged.column.of_runs(row)
        values.append(found)
        places.append(place + before)
        before += row.size
    flat = np.concatenate(values)
    if flat.size <= before or not (flat > 0).all():
        return None
    return Iterations(logs=np.log(flat), run=np.concatenate(places))


def _left_out(trials: Sequence[Trial], used: Sequence[Flags], metric: str) -> Iterator[Caution]:
    failed = sum(int((one.candidates & (one.outcome != 0)).sum()) for one in trials)
    if failed:
        yield Caution("failed-left-out", f"{failed} failed run{'s' * (failed > 1)} left out")
    each = zip(trials, used, strict=True)
    missing = sum(int((one.judged(metric) & ~mine).sum()) for one, mine in each)
    if missing:
        yield Caution("metric-missing", f"{missing} run{'s' * (missing > 1)} without {metric}")


def _unread(iterations: int, metric: str) -> Iterator[Caution]:
    if iterations:
        said = (
            f"the {iterations:,} values of {metric} that stand in samples/ are not looked at one by one: "
            "components are those of runs"
        )
        yield Caution(
            "iterations-unread",
            said,
            short=ShortSentence.of("components are of runs: their single values are not looked at"),
        )


def _not_positive(cells: Sequence[tuple[str, str]], metric: str) -> Iterator[Caution]:
    names = tuple(f"{benchmark} / {variant}" for benchmark, variant in cells)
    if names:
        said = (
            f"left out, because {metric} is 0 or less in some runs, and effects are ratios: "
            f"{figures.listed(names)}"
        )
        yield Caution("not-positive", said, names)
