"""The covariates of a trial's runs: what was drawn for each, and what was seen of it.

A campaign reads such counters from the output of ``perf stat`` as metrics like any other; their
names are what tells them from a seed or a size that a program prints.

One place says of each how it is to be compared (as a number, on a circle, by levels), whether the runner
drew it, whether it was fixed before the run, and whether it may follow from the run's own length.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ...data.columns import cpu_of
from ...data.trial import Trial, require_steady
from ...errors import AnalysisError, InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import Caution, ShortSentence, cautions_of
from ...record.manifest import quantile_about
from ...record.run_numbers import NUMBERS, SERVICES as SOURCE, grows
from ...record.trial_files import is_of_builds
from ...stats.samples import Array, Flags, Integers, read_only

# Events of perf-list(1): hardware, caches and software; "-" may be "_", as names of metrics are written.
_EVENT: Final = re.compile(
    r"""(?:cpu(?:-core|-atom)?/)?(?:
        instructions | (?:(?:cpu|ref|bus)-)?cycles
      | stalled-cycles-(?:frontend|backend) | slots
      | branches | branch-(?:instructions|misses)
      | cache-(?:references|misses)
      | (?:l1-[di]cache|llc|[di]tlb|branch|node)-(?:loads|stores|prefetches|(?:load|store|prefetch)-misses)
      | context-switches | cs | (?:cpu-)?migrations
      | (?:page|minor|major|alignment|emulation)-faults
    )/?(?:[:.-][ukhgp]+)?""",
    re.VERBOSE,
)


def is_counter(name: str) -> bool:
    """Tell whether a metric has the name of an event that is counted while a run lasts.

    >>> is_counter("L1-dcache-load-misses:u"), is_counter("cache_misses"), is_counter("seed")
    (True, True, False)
    """
    return _EVENT.fullmatch(name.lower().replace("_", "-")) is not None


Scale = Literal["numeric", "circular", "levels"]
Kind = Literal["randomized", "observed"]

AS_LEVELS: Final = " (levels)"  # behind the name of a number that is taken by its values
MOST_LEVELS: Final = 16  # of whole numbers that are taken as categories too
_DAY_S: Final = 86_400.0
_PERIODS: Final = (64, 4096)  # bytes: a cache line, a page

_SPOKEN: Final[Mapping[str, str]] = {
    "padding_bytes": "environment padding",
    "position": "position in its block",
    "previous_benchmark": "benchmark of the run before",
    "previous_variant": "variant of the run before",
    "session": "session",
    "cpu": "CPU",
    "time_of_day": "time of day (UTC)",
}
# The numbers of a run that are covariates as they are: known after the run, and not by it.
_SEEN: Final[Mapping[str, str]] = {
    "frequency_khz": "frequency",
    "temperature_c": "temperature",
    "max_rss_bytes": "resident memory",
    "stdout_bytes": "size of the output",
    "before_s": "time of the hooks before the run",
    "load_1min": "load of the host before the run",
}
_BEFORE: Final = ("before_s", "load_1min")
# Those that grow with the run: a longer run has more of them, whatever made it long.
_GROWING: Final[Mapping[str, str]] = {
    "steal_s": "steal",
    "pressure_cpu_s": "waiting for a CPU on the host",
    "pressure_memory_s": "waiting for memory on the host",
    "pressure_io_s": "waiting for input and output on the host",
    "service_cpus_busy_s": "work on the CPUs of its services",
    "voluntary_switches": "voluntary switches",
    "involuntary_switches": "involuntary switches",
    "minor_faults": "minor faults",
    "major_faults": "major faults",
    "user_s": "time in the program",
    "system_s": "time in the kernel",
}
_OF_SERVICES: Final[Mapping[str, str]] = {
    "cpu": "processor time of service {}",
    "wait": "waiting of service {} for a CPU",
    "disk_read": "bytes that service {} reads from a disk",
    "disk_written": "bytes that service {} writes to a disk",
    "voluntary_switches": "voluntary switches of service {}",
    "involuntary_switches": "involuntary switches of service {}",
}
_METRIC_OF: Final = {"user_s": "user", "system_s": "system", "max_rss_bytes": "max_rss"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariate:
    """One covariate of all rows of a trial, named as it is recorded, such as ``padding_bytes mod 64``.

    `kind` says whether the runner drew it. `values`, read-only, has one value a row, nan where it is
    unknown; of the scale ``levels`` they are codes into `labels`, of a circle their `period` is in the unit
    of the values. The unit of rates ends with ``/s``, and `count` is what grew: the value before it was
    divided by the run's time. `known_before` tells whether it was fixed before the run, `may_follow` whether
    it may be a consequence of a long run, `of_session` whether it belongs to a session as a whole, whatever
    it does within one.
    """

    name: str
    kind: Kind
    values: Array
    scale: Scale = "numeric"
    period: float | None = None
    labels: tuple[str, ...] = ()
    unit: str = ""
    known_before: bool = False
    may_follow: bool = False
    of_session: bool = False
    count: Array | None = None

    def of(self, rows: Integers) -> Covariate:
        """Give the same covariate of these rows only."""
        count = None if self.count is None else read_only(self.count[rows])
        return replace(self, values=read_only(self.values[rows]), count=count)


def spoken(name: str) -> str:
    """Say the name of a covariate in a sentence: ``environment padding modulo 64``."""
    plain = name.removesuffix(AS_LEVELS)
    recorded, _, period = plain.partition(" mod ")
    if period.isdigit() and recorded in _SPOKEN:
        return f"{_SPOKEN[recorded]} modulo {int(period):,}"
    cpu = cpu_of(plain)
    if cpu is not None or plain in _GROWING:
        return f"{_GROWING[plain] if cpu is None else f'steal of CPU {cpu}'} per second"
    service, _, what = plain.removeprefix("service.").rpartition(".")
    if plain.startswith("service.") and service and what in _OF_SERVICES:
        return f"{_OF_SERVICES[what].format(service)} per second"
    return _SPOKEN.get(plain) or _SEEN.get(plain) or plain


def covariates_of(trial: Trial, metric: str = "wall") -> dict[str, Covariate]:
    """Give the covariates of a trial's rows by their names.

    Padding and order are randomized where they differ from block to block in a trial that was
    measured here: a fixed padding and a fixed order are constant for each cell. In an imported trial
    nothing is. Counts that grow with the run are rates per second of its wall time.
    """
    found = (*_drawn(trial), *_circumstances(trial), *_seen(trial, metric), *_parsed(trial, metric))
    return {one.name: one for one in found if np.isfinite(one.values).any()}


def as_levels(covariate: Covariate) -> Covariate | None:
    """Take whole numbers of at most 16 values as categories; None where they are none."""
    if covariate.scale != "numeric" or covariate.count is not None:
        return None
    known = np.isfinite(covariate.values)
    levels = np.unique(covariate.values[known])
    if not 2 <= levels.size <= MOST_LEVELS or (levels != np.round(levels)).any():
        return None
    codes = np.full(covariate.values.shape, np.nan)
    codes[known] = np.searchsorted(levels, covariate.values[known])
    return replace(
        covariate,
        name=f"{covariate.name}{AS_LEVELS}",
        values=read_only(codes),
        scale="levels",
        labels=tuple(f"{level:.0f}" for level in levels.tolist()),
    )


# --- randomized ------------------------------------------------------------------------------------


def _drawn(trial: Trial) -> Iterator[Covariate]:
    measured = trial.manifest.origin != "imported"
    padding = trial.numbers["padding_bytes"]
    known = padding[np.isfinite(padding)]
    varied = measured and known.size > 0 and bool((known != known[0]).any())
    kind: Kind = "randomized" if varied else "observed"
    plain: dict[str, Any] = {"kind": kind, "unit": "B", "known_before": True}
    yield Covariate(name="padding_bytes", values=padding, **plain)
    for period in _PERIODS:
        name, values = f"padding_bytes mod {period}", read_only(np.mod(padding, period))
        circle: dict[str, Any] = {"scale": "circular", "period": float(period)}
        yield Covariate(name=name, values=values, **circle, **plain)
    if measured:
        yield from _order(trial)


def _order(trial: Trial) -> Iterator[Covariate]:
    """Give the place of each run in its block, and which program was executed before it."""
    place = np.full(len(trial), np.nan)
    planned = np.flatnonzero(~trial.warmup & (trial.position >= 0))
    for rows in _blocks(trial, planned, trial.position):
        place[rows] = np.arange(rows.size)
    shuffled: Kind = "randomized" if _is_shuffled(trial, place) else "observed"
    yield Covariate(name="position", kind=shuffled, values=read_only(place), known_before=True)
    first = np.ones(len(trial), dtype=np.bool_)  # of a session, or after it was resumed
    if len(trial):
        first[1:] = (np.diff(trial.session) != 0) | (np.diff(trial.segment) != 0)
    for name, codes, labels in (
        ("benchmark", trial.benchmark, trial.manifest.benchmarks),
        ("variant", trial.variant, trial.manifest.variants),
    ):
        before = np.full(len(trial), np.nan)
        before[1:] = codes[:-1]
        # what was repeated was not drawn to stand there
        before[first | (trial.repeats >= 0)] = np.nan
        yield _levels(f"previous_{name}", before, labels, kind=shuffled)


def _levels(name: str, codes: Array, labels: tuple[str, ...], kind: Kind = "observed") -> Covariate:
    values, of_session = read_only(codes), name == "session"
    known: dict[str, Any] = {"labels": labels, "known_before": True, "of_session": of_session}
    return Covariate(name=name, kind=kind, values=values, scale="levels", **known)


def _blocks(trial: Trial, rows: Integers, place: NDArray[Any]) -> list[Integers]:
    order = rows[np.lexsort((place[rows], trial.block[rows], trial.session[rows]))]
    new = (np.diff(trial.session[order]) != 0) | (np.diff(trial.block[order]) != 0)
    return np.split(order, np.flatnonzero(new) + 1)


def _is_shuffled(trial: Trial, place: Array) -> bool:
    """Tell whether two blocks of the same cells were executed in different orders."""
    cells = trial.benchmark * len(trial.manifest.variants) + trial.variant
    orders: dict[frozenset[int], tuple[int, ...]] = {}
    for rows in _blocks(trial, np.flatnonzero(np.isfinite(place)), place):
        block = tuple(cells[rows].tolist())
        if orders.setdefault(frozenset(block), block) != block:
            return True
    return False


# --- fixed before the run --------------------------------------------------------------------------


def _circumstances(trial: Trial) -> Iterator[Covariate]:
    labels, codes = np.unique(trial.session, return_inverse=True)
    sessions = codes.reshape(-1).astype(np.float64)
    yield _levels("session", sessions, tuple(map(str, labels.tolist())))
    cpus, day_s = _cpus_and_time(trial)
    names = tuple(dict.fromkeys(name for name in cpus if name is not None))
    places: dict[str | None, float] = {name: float(k) for k, name in enumerate(names)}
    yield _levels("cpu", np.array([places.get(name, np.nan) for name in cpus], np.float64), names)
    circle: dict[str, Any] = {"scale": "circular", "period": _DAY_S, "unit": "s"}
    seen: dict[str, Any] = {"kind": "observed", "known_before": True, "of_session": True}
    yield Covariate(name="time_of_day", values=read_only(day_s), **seen, **circle)


def _cpus_and_time(trial: Trial) -> tuple[list[str | None], Array]:
    """Give each row's CPUs, and the second of the day at which it started."""
    cpus: list[str | None] = [None] * len(trial)
    day_s = np.full(len(trial), np.nan)
    ends = [*(one.row for one in trial.starts[1:]), len(trial)]
    for start, end in zip(trial.starts, ends, strict=False):
        mine = slice(start.row, end)
        if start.cpus:
            cpus[mine] = [",".join(map(str, start.cpus))] * (end - start.row)
        clock, began = trial.start_ns[mine], _second_of_day(start.started_at)
        if began is not None and clock[0] >= 0:
            since = np.where(clock >= 0, clock - clock[0], np.nan) / 1e9
            day_s[mine] = np.mod(began + since, _DAY_S)
    return cpus, day_s


def _second_of_day(text: str | None) -> float | None:
    try:
        at = datetime.datetime.fromisoformat(text or "")
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    at = at.astimezone(datetime.UTC)
    return at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6


# --- seen of the run -------------------------------------------------------------------------------


def _seen(trial: Trial, metric: str) -> Iterator[Covariate]:
    for name in _SEEN:
        own = _METRIC_OF.get(name)
        if own == metric:
            continue
        values = trial.numbers[name]
        if own is not None and own not in trial.metrics:  # at its floor it is the launcher's own
            values = read_only(np.where(trial.at_floor(own), np.nan, values))
        yield Covariate(
            name=name,
            kind="observed",
            values=values,
            unit=name.rpartition("_")[2] if NUMBERS[name].unit else "",
            known_before=name in _BEFORE,
        )
    for name in _GROWING:
        if _METRIC_OF.get(name) != metric:
            yield _rate(trial, trial.numbers[name], name=name)
    measured = trial.numbers["steal_s"]  # where that is one CPU, its own column says the same
    for name, stolen in trial.numbers.items():
        if cpu_of(name) is not None and not np.array_equal(stolen, measured, equal_nan=True):
            yield _rate(trial, stolen, name=name)


def _printed_as(trial: Trial, metric: str) -> str:
    """Give the metric whose values a metric is made of: that of a quantile, else itself."""
    found = quantile_about(trial.manifest.metrics.get(metric, {}))
    return metric if found is None else found[0]


def _parsed(trial: Trial, metric: str) -> Iterator[Covariate]:
    """Give the trial's metrics other than its own: times and counted events grow with the run."""
    for name in trial.metrics:
        if _printed_as(trial, name) == _printed_as(trial, metric):  # a quantile explains no mean
            continue
        unit, values = trial.metric(name).unit, trial.values(name)
        # a share of events, or events per second, is no count
        named = is_counter(name) and unit != "%" and not figures.timed(unit)
        about = trial.manifest.metrics.get(name, {})
        of_build = is_of_builds(about)  # it was there before the runs of its session
        of_iterations = _printed_as(trial, name) != name  # a longer run has no more of a quantile
        named |= about.get("source") == SOURCE and grows(name)
        is_count = figures.is_time(unit) or trial.kind(name).counted or named
        if is_count and not of_build and not of_iterations:
            yield _rate(trial, values, name=name)
            continue
        yield Covariate(
            name=name,
            kind="observed",
            values=read_only(values),
            unit=unit,
            known_before=of_build,
            # such as 1/s: what it made of its time
            may_follow=of_iterations or (figures.timed(unit) and not of_build),
            of_session=of_build,
        )


def _rate(trial: Trial, count: Array, *, name: str) -> Covariate:
    wall_s = trial.numbers["wall_ns"] / 1e9
    rate = np.full(len(trial), np.nan)
    np.divide(count, wall_s, out=rate, where=wall_s > 0)
    known: dict[str, Any] = {"kind": "observed", "unit": "/s", "may_follow": True}
    return Covariate(name=name, values=read_only(rate), count=read_only(count), **known)


# --- The runs of all trials that count, with where each belongs and its covariates.


# What runs measured of themselves: logarithms, and the place of each one's run.
Iterations = tuple[Array, Integers]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateRuns:
    """One entry a run, in the order of trials and of execution.

    `benchmarks`, `variants` and `trials` are names; `benchmark`, `variant` and `trial` hold places among
    them, `host` numbers hosts. `logs` are natural logarithms of the values. `session` and `block` are codes from 0 on, unique over
    all trials; a block is -1 where it is unknown. `iterations` are there where runs have several values;
    `cautions` say which runs are left out.
    """

    benchmarks: tuple[str, ...]
    variants: tuple[str, ...]
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
    units = {trial.metric(metric).unit: str(trial.path) for trial in trials}
    if len(units) > 1:
        text = ", ".join(f"{unit or 'none'} in {path}" for unit, path in units.items())
        what = f"the trials measure {metric!r} in different units: {text}"
        raise AnalysisError(what, fix="look at trials of one kind")
    benchmarks = _names(trial.manifest.benchmarks for trial in trials)
    variants = _names(trial.manifest.variants for trial in trials)
    hosts = [trial.manifest.host_id or trial.manifest.host for trial in trials]
    values = [trial.values(metric) for trial in trials]
    used = [t.measured & np.isfinite(v) for t, v in zip(trials, values, strict=True)]
    for trial, mine in zip(trials, used, strict=True):
        require_steady(trial, metric, mine)
    cells = []
    for trial in trials:
        ours = np.array([benchmarks.index(name) for name in trial.manifest.benchmarks], np.int64)
        theirs = np.array([variants.index(name) for name in trial.manifest.variants], np.int64)
        cells.append(ours[trial.benchmark] * len(variants) + theirs[trial.variant])
    each = zip(cells, used, values, strict=True)
    bad = np.unique(np.concatenate([cell[mine & (value <= 0)] for cell, mine, value in each]))
    both = zip(used, cells, strict=True)
    rows = [np.flatnonzero(mine & ~np.isin(cell, bad)) for mine, cell in both]
    counts = [row.size for row in rows]
    if not sum(counts):
        what = f"no run has a value of {metric!r} that counts"
        where = ", ".join(str(trial.path) for trial in trials[:3])
        fix = "measure more, or look at the failed runs"
        raise InsufficientDataError(what, where, fix, n=0, needed=1)

    def flat(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([column[row] for column, row in zip(columns, rows, strict=True)])

    codes, of_trial = flat(cells), np.repeat(np.arange(len(trials)), counts)
    wrong = [f"{benchmarks[k // len(variants)]} / {variants[k % len(variants)]}" for k in bad]
    # no other tool executes in blocks
    blocks = [np.where(t.manifest.origin != "imported", t.block, -1) for t in trials]
    places = np.stack([of_trial, flat([trial.session for trial in trials]), flat(blocks)])
    session, block = (
        np.unique(places[:levels], axis=1, return_inverse=True)[1].reshape(-1) for levels in (2, 3)
    )
    found = [covariates_of(trial, metric) for trial in trials]
    unread = sum(one.iterations for t in trials for one in t.stored.get(metric, {}).values())
    return CovariateRuns(
        benchmarks=benchmarks,
        variants=variants,
        trials=tuple(trial.manifest.trial for trial in trials),
        logs=np.log(flat(values)),
        benchmark=codes // len(variants),
        variant=codes % len(variants),
        host=np.repeat([hosts.index(name) for name in hosts], counts),
        trial=of_trial,
        session=session,
        block=np.where(places[2] >= 0, block, -1),
        covariates={
            name: _joined([one.get(name) for one in found], rows, several=len(trials) > 1)
            for name in dict.fromkeys(name for one in found for name in one)
        },
        iterations=None if unread else _iterations(trials, rows, metric),
        cautions=_cautions(trials, used, metric, unread, wrong),
    )


def _names(rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name in row))


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
            known, places = np.isfinite(mine), [float(labels.index(name)) for name in part.labels]
            mine[known] = np.array(places)[mine[known].astype(np.int64)]
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
    return np.log(flat), np.concatenate(places)


def _cautions(
    trials: Sequence[Trial], used: Sequence[Flags], metric: str, unread: int, bad: Sequence[str]
) -> tuple[Caution, ...]:
    failed = sum(int((one.candidates & (one.outcome != 0)).sum()) for one in trials)
    each = zip(trials, used, strict=True)
    missing = sum(int((one.judged(metric) & ~mine).sum()) for one, mine in each)
    single = (
        f"the {unread:,} values of {metric} that stand in samples/ are not looked at one by one: "
        "components are those of runs"
    )
    short = "components are of runs: their single values are not looked at"
    wrong = (
        f"left out, because {metric} is 0 or less in some runs, and effects are ratios: "
        f"{figures.listed(bad)}"
    )
    table = {
        "iterations-unread": unread > 0 and (single, ShortSentence.of(short)),
        "failed-left-out": failed > 0 and f"{figures.counted(failed, 'failed run')} left out",
        "metric-missing": missing > 0 and f"{figures.counted(missing, 'run')} without {metric}",
        "not-positive": bad and (wrong, *bad),
    }
    return cautions_of(table)
