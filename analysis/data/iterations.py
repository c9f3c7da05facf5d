"""The iterations of each run: where they are stored, and which are judged.

All are judged, or those behind the first N, or those of the run's steady state (``auto``). With ``auto`` a run without a
steady state keeps all its iterations: nothing tells which of them would be left out. Where more than a tenth of a cell's runs
have none, or the two sides of a comparison differ in how many have none (Fisher's exact test, two-sided, 5 %), the comparison
has no word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from ..announcing import doing
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..record.manifest import WarmupIterations, quantile_about, rank_of, warmup_of
from ..record.run_numbers import METRIC_NUMBERS, NUMBERS
from ..stats.samples import Array, Flags, Integers, read_only
from ..stats.steady_state import FEWEST, State, steady_state
from .columns import MetricColumn, metric_column
from .metrics import apart_of, info_of, kind_of
from .runs import Runs

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_AT_ONCE: Final = 10_000_000  # values that are held together: some 1.2 GB while they are judged
STATES: Final[tuple[State, ...]] = get_args(State)
_STEADY: Final = 3  # the first three of them have a steady state
_MOST_WITHOUT: Final = 0.1  # share of a cell's runs that may have none


# --- Which of them are judged.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedIterations:
    """The iterations that are judged, and how many each run left out.

    `state` is a place in `STATES` for each run, -1 where nobody looked; None unless the setting is ``auto``.
    """

    setting: WarmupIterations
    column: MetricColumn
    left_out: Integers
    state: NDArray[np.int8] | None = None


def judged_iterations(runs: Runs, metric: str) -> JudgedIterations | None:
    """Give the iterations of each run that are judged of a metric that was parsed from output.

    None for a metric that every run has. All that runs printed stand in `metrics`. Raises StoreError where iterations
    that stand in a file cannot be read.
    """
    column = runs.metrics.get(metric)
    if column is None:
        return None
    key = ("iterations", metric)
    if key not in runs.memo:
        about = runs.manifest.metrics[metric]
        setting = runs.warmup_iterations
        if setting is None or not kind_of(runs.manifest, metric).iterations:
            setting = warmup_of(about)
        of, share = metric, None
        if (text := quantile_about(about)) is not None and text[0] in runs.metrics:
            of, share = text
            base = judged_iterations(runs, of)
            setting = 0 if base is None else base.setting
        runs.memo[key] = _without_warmup(runs, metric, of, setting, share)
    found: JudgedIterations = runs.memo[key]
    return found


def _without_warmup(
    runs: Runs, metric: str, of: str, setting: WarmupIterations, share: float | None
) -> JudgedIterations:
    """Leave out the first `setting` values that each run printed of a metric, or those before its steady state.

    A run of no more than `setting` values keeps none. With `share` the runs are judged by that quantile of what is left of
    the metric `of`. Files are read only where something is left out.
    """
    printed, stored = runs.metrics[of], runs.stored.get(of, {})
    counts = np.diff(printed.offsets)
    several = counts.max(initial=0) > 1 or any(one.iterations for one in stored.values())
    if setting == 0 or (setting == "auto" and not several):
        nothing = read_only(np.zeros_like(counts))
        return JudgedIterations(setting=0, column=runs.metrics[metric], left_out=nothing)
    there = counts.copy()
    for row, one in stored.items():
        there[row] = one.iterations  # what tells only how they are distributed loses nothing
    left = np.zeros_like(counts) if setting == "auto" else np.minimum(there, setting)
    state = np.full(counts.size, -1, dtype=np.int8)
    values: dict[int, list[float]] = {}
    rows = np.flatnonzero(runs.measured & (there > 0)).tolist()
    if setting != "auto" and share is None:  # all others are taken from the column together
        rows = [row for row in rows if row in stored]
    higher = runs.manifest.metrics[metric]["better"] == "higher"
    for number, row in enumerate(rows):
        doing("looking at iterations", number, len(rows), "runs")
        found = stored[row].values() if row in stored else printed.of_run(row)
        if setting == "auto":
            steady = steady_state(found, higher=higher)
            left[row], state[row] = steady.first, STATES.index(steady.state)
        rest = found[left[row] :]
        if share is not None:
            quantile = quantile_in(rest, share)
            values[row] = [] if quantile is None else [quantile]
        elif row in stored:
            values[row] = [float(rest[0] + (rest - rest[0]).mean())] if rest.size else []
    kept = runs.metrics[metric]
    if share is None:
        here = left.copy()
        here[list(stored)] = 0
        kept = printed.behind(here)
    return JudgedIterations(
        setting=setting,
        column=kept.with_values(values) if values else kept,
        left_out=read_only(left),
        state=read_only(state) if setting == "auto" else None,
    )


def quantile_in(values: Array, share: float) -> float | None:
    """Give the quantile of values in any order; None of too few."""
    rank = rank_of(share, values.size)
    return None if rank is None else float(np.partition(values, rank - 1)[rank - 1])


def values_of(runs: Runs, metric: str) -> Array:
    """Give one value of a metric for each run, nan where it is unknown.

    A run's value of a metric with several iterations is their mean. Durations are seconds. Runs that stand apart for this
    metric have no value of it. Raises UsageError where the trial has no such metric.
    """
    info_of(runs, metric)
    if (judged := judged_iterations(runs, metric)) is not None:
        column = judged.column.per_run()
    else:
        number = METRIC_NUMBERS[metric]
        column = runs.numbers[number] / (1e9 if NUMBERS[number].unit == "ns" else 1)
    if runs.counted is None or kind_of(runs.manifest, metric).of == "build":
        return column
    return np.where(apart_of(runs, metric), np.nan, column)


def values_of_run(runs: Runs, metric: str, row: int) -> Array:
    """Give all values of a metric that a run printed, in their order, wherever they stand."""
    stored = runs.stored.get(metric, {}).get(row)
    if stored is not None and stored.iterations:
        return stored.values()
    return runs.metrics[metric].of_run(row)


def judged_counts(runs: Runs, metric: str) -> Integers:
    """Give how many iterations of each run are judged; nothing is read for it."""
    judged = judged_iterations(runs, metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    counts = np.diff(judged.column.offsets)
    for row, stored in runs.stored.get(metric, {}).items():
        if stored.iterations:
            counts[row] = stored.iterations - judged.left_out[row]
    return counts


def judged_values(runs: Runs, metric: str, rows: Integers) -> tuple[Array, Integers]:
    """Give the iterations of these runs that are judged, and for each the place of its run in `rows`.

    Raises AnalysisError where they are too many to be held together, StoreError where they cannot be read.
    """
    judged = judged_iterations(runs, metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    stored = runs.stored.get(metric, {})
    inside = [row for row in rows.tolist() if not (row in stored and stored[row].iterations)]
    if len(inside) == rows.size:
        return judged.column.of_runs(rows)
    counts = judged_counts(runs, metric)[rows]
    if counts.sum() > MOST_AT_ONCE:
        raise AnalysisError(
            f"{counts.sum():,} values of {metric} are more than can be held together ({MOST_AT_ONCE:,})",
            str(runs.path),
            "judge runs: leave '--level iteration' out",
        )
    parts = []
    for number, row in enumerate(rows.tolist()):
        doing("reading samples", number, rows.size, "runs")
        if row in stored and stored[row].iterations:
            parts.append(stored[row].values()[judged.left_out[row] :])
        else:
            parts.append(judged.column.of_run(row))
    return read_only(np.concatenate(parts)), np.repeat(np.arange(rows.size), counts)


# --- What became of them, in words.


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationsOfCell:
    """What became of the iterations of the runs of a benchmark and variant.

    `left_out` are the least, the median and the most iterations of a run that are not judged. With the setting
    ``auto``, `states` counts its runs by what they are called; else it is None. `host` is set in a fleet.
    """

    host: str | None = None
    benchmark: str
    variant: str
    setting: WarmupIterations
    runs: int
    left_out: Mapping[str, float]
    states: Mapping[State, int] | None = None

    @property
    def without(self) -> int:
        """How many runs have no steady state, as far as is known."""
        return sum((self.states or {}).get(state, 0) for state in STATES[_STEADY:])

    @property
    def unsteady(self) -> bool:
        """Whether the cell's iterations cannot be judged, because too many have none."""
        return self.without > _MOST_WITHOUT * self.runs

    def __str__(self) -> str:
        least, middle, most = self.left_out.values()
        left = f"{least}" if least == most else f"{least} to {most}, median {middle:g}"
        kinds = ", ".join(f"{n} {state}" for state, n in (self.states or {}).items() if n)
        return f"{self.benchmark} {left}" + (f" ({kinds})" if kinds else "")


def of_cells(
    judged: JudgedIterations | None, variant: str, rows: Mapping[str, Integers]
) -> dict[str, IterationsOfCell]:
    """Say of the runs of a variant, benchmark by benchmark, what became of their iterations; nothing where all are judged."""
    found: dict[str, IterationsOfCell] = {}
    if judged is None or judged.setting == 0:
        return found
    for name, every in rows.items():
        row, states = every, None
        if judged.state is not None:
            row = every[judged.state[every] >= 0]  # the others show only how they are distributed
            counts = np.bincount(judged.state[row].astype(np.int64), minlength=len(STATES))
            states = dict(zip(STATES, counts.tolist(), strict=True))
        if row.size:
            left = judged.left_out[row]
            found[name] = IterationsOfCell(
                benchmark=name,
                variant=variant,
                setting=judged.setting,
                runs=int(row.size),
                left_out={
                    "least": int(left.min()),
                    "median": float(np.median(left)),
                    "most": int(left.max()),
                },
                states=states,
            )
    return found


def iteration_cautions(
    cells: Mapping[str, IterationsOfCell], *, emptied: int, metric: str
) -> Iterator[Caution]:
    """Say of a variant which iterations are not judged, and where runs have no steady state."""
    if emptied:
        some = figures.counted(emptied, "run")
        yield Caution(
            "no-iteration-left",
            f"{some} printed no more iterations of {metric} than are left out as warm-up, and count as without it",
            short=ShortSentence.of(f"{some} had no iteration behind the warm-up"),
        )
    if not cells:
        return
    lost = {name: one for name, one in cells.items() if one.unsteady}
    ends = ("least", "most")
    span = figures.span(one.left_out[end] for one in cells.values() for end in ends)
    text = f"iterations of a run that are left out as warm-up: {span}"
    words = figures.listed([*map(str, cells.values())], 4, mark="; ", last="; and")
    short = None if lost else ShortSentence.of(text)
    yield Caution("iterations-left-out", f"{text}: {words}", short=short)
    if lost:
        why = "let them run longer, or name a number with --warmup-iterations"
        if all(one.without == (one.states or {}).get(STATES[-1]) for one in lost.values()):
            why = (
                f"too few iterations ({FEWEST} are needed): name a number with --warmup-iterations"
            )
        words = ", ".join(f"{name} {one.without} of {one.runs} runs" for name, one in lost.items())
        yield Caution(
            "no-steady-state",
            f"no steady state is known: {words}; {why}",
            tuple(lost),
            ShortSentence.of("no word on {}: too many runs reach no steady state", tuple(lost)),
        )


# --- Quantiles of all values of a session together, where the values, or histograms of them, are
# there.
#
# The p99 of a session is that of all its requests, and not a mean of what runs had as theirs: of
# runs with few values each that mean lies too low, and a quantile that no run knows by itself may
# be known of the session. Percentiles that were printed cannot be put together: no number follows
# from two of them.
#
# The quantile of n values lies at a place that depends on n: of 100 values the p99 is the 98.0 %
# place, of 199 the 99.0 %. So a session of n values is compared with one of m < n by the expected
# log of the r-th smallest of m that are drawn from the n without replacement, r = ceil(q m): sum
# over k of C(k - 1, r - 1) C(n - k, m - r) / C(n, m) log x_(k). It has no bias between sides of
# one law.


# why quantiles are those of single runs
Why = Literal["one-session", "printed", "not-kept", "own"]
_FEWEST: Final = 2  # sessions: within one, runs are what is compared
Source = TypeVar("Source", bound="Runs")


# --- The values of several runs together.


class RunValues(NamedTuple):
    """The values of a run; the `first` ones are not judged; with `counts`, how often each was counted."""

    values: Array
    counts: Array | None = None
    first: int = 0

    @property
    def judged(self) -> RunValues:
        """The values without the first ones."""
        return self._replace(values=self.values[self.first :], first=0) if self.first else self


def values_in_run(runs: Runs, metric: str, row: int) -> RunValues | Why:
    """Give the values of a run that a program printed, or why they are not known."""
    stored = runs.stored.get(metric, {}).get(row)
    if stored is not None and stored.about.sha256 is None:
        return "printed" if stored.about.form == "percentiles" else "not-kept"
    if stored is not None and stored.about.form == "counts":
        return RunValues(*stored.values().reshape(-1, 2).T)
    judged = judged_iterations(runs, metric)
    first = 0 if judged is None or judged.setting == 0 else int(judged.left_out[row])
    return RunValues(values_of_run(runs, metric, row), first=first)


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """Distinct values in ascending order, and how many values are at most each."""

    values: Array
    reached: Array

    @classmethod
    def of(cls, parts: Sequence[RunValues]) -> Pooled:
        """Put the values of runs together, at least one."""
        values, counts = _together(parts)
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, np.cumsum(np.bincount(place, weights=counts)))  # exact below 2^53

    @property
    def total(self) -> int:
        """How many values there are."""
        return int(self.reached[-1]) if self.reached.size else 0

    def quantile(self, share: float) -> float | None:
        """Give a quantile; None of too few values."""
        rank = rank_of(share, self.total)
        return None if rank is None else self.at(rank)

    def at(self, rank: int) -> float:
        """Give the value at a place from 1, in ascending order."""
        return float(self.values[np.searchsorted(self.reached, rank)])


def pooled(runs: Runs, metric: str, rows: Integers) -> Pooled | Why:
    """Put the judged values of these runs together, or say why they cannot be.

    Raises AnalysisError where they are too many, StoreError where they cannot be read.
    """
    parts, size = [], 0
    for row in rows.tolist():
        given = values_in_run(runs, metric, row)
        if isinstance(given, str):
            return given
        parts.append(given.judged)
        size += parts[-1].values.size
        if size > MOST_AT_ONCE:
            raise AnalysisError(f"more than {MOST_AT_ONCE:,} values of {metric}", str(runs.path))
    return Pooled.of(parts) if parts else Pooled(np.empty(0), np.empty(0))


def _together(parts: Sequence[RunValues]) -> tuple[Array, Array]:
    """Give all values of several runs, at least one, and how often each was counted."""
    values = np.concatenate([part.values for part in parts])
    counted = (np.ones(part.values.size) if part.counts is None else part.counts for part in parts)
    return values, np.concatenate(list(counted))


def merged_quantile(parts: Sequence[RunValues], share: float) -> float | None:
    """Give the quantile of all values together; None of too few."""
    if all(part.counts is None for part in parts):
        return quantile_in(_together(parts)[0], share)
    return Pooled.of(parts).quantile(share)


def thinned_quantile(parts: Sequence[RunValues], share: float, count: int) -> float | None:
    """Give the exponential of the expected log of the quantile of `count` of all values; None of too few."""
    whole = Pooled.of(parts)
    rank, n = rank_of(share, count), whole.total
    if rank is None:
        return None
    middle = rank * (n + 1) / (count + 1)  # the expected place, about which all that counts lies
    spread = math.sqrt(middle * (n + 1 - middle) * (n - count) / ((n + 1) * (count + 2)))
    reach = 10 + 12 * spread
    k = np.arange(max(rank, int(middle - reach)), min(n - count + rank, int(middle + reach)) + 1)
    logs = _choose(k - 1, rank - 1) + _choose(n - k, count - rank)
    weights = np.exp(logs - logs.max())
    at = whole.values[np.searchsorted(whole.reached, k)]
    if at[0] <= 0:  # no logarithm: the expected value itself
        return float((weights * at).sum() / weights.sum())
    return float(np.exp((weights * np.log(at)).sum() / weights.sum()))


def _choose(n: Integers, k: int) -> Array:
    from scipy.special import gammaln  # of those alone who judge quantiles: many read trials

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


# --- A quantile as the metric of a trial: one value a session.


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileBasis:
    """What the values of a quantile's metric are, `metric`'s quantile `share`.

    `level` is "session" where each is the quantile of all values of a session together, and "run" where it is a run's own;
    then `why` says why. `values` are how many values a session of the candidate and of the baseline has on average,
    `compared_at` the least number at which two sessions are compared.
    """

    renamed: ClassVar[Mapping[str, str]] = {"metric": "of", "share": "quantile"}

    metric: str
    share: float
    level: Literal["session", "run"]
    why: Why | None = None
    values: tuple[int, int] | None = None
    compared_at: int | None = None


class ValuesOf(NamedTuple):
    """How many values a benchmark's sessions have on average, and the least number at which one is compared.

    None where percentiles were printed: nothing is corrected there.
    """

    mean: float
    compared_at: int | None


class SessionQuantiles(NamedTuple):
    """The basis, and where it is the session the column: a value at the first run of each cell in each session.

    `apart` tells which runs have no value by design, as the first one of their session has it. `sizes` are how many values each
    rests on, by that run, `compared_at` at how many they are compared; empty of printed percentiles.
    """

    basis: QuantileBasis
    column: MetricColumn | None = None
    apart: Flags | None = None
    sizes: Mapping[int, int] = {}
    compared_at: Mapping[int, int] = {}

    def of(self, rows: Integers) -> ValuesOf | None:
        """Sum up some rows; None where nothing is known of them."""
        there = [row for row in rows.tolist() if row in self.sizes]
        if not there:
            return None
        mean = math.fsum(self.sizes[row] for row in there) / len(there)
        at = min(self.compared_at[row] for row in there) if self.compared_at else None
        return ValuesOf(mean, at)


def session_quantiles(runs: Runs, metric: str) -> SessionQuantiles | None:
    """Give a quantile's values by session, which a matrix takes in place of the runs' own; None of other metrics.

    They are there where the runs' values are, or histograms of them, and several sessions. Raises StoreError where
    values cannot be read.
    """
    rows = quantile_about(runs.manifest.metrics.get(metric, {}))
    if rows is None or metric not in runs.metrics or rows[0] not in runs.metrics:
        return None
    key = ("quantiles", metric)
    if key not in runs.memo:
        of, share = rows
        printed = {
            row: one.about.count
            for row, one in runs.stored.get(of, {}).items()
            if one.about.form == "percentiles" and one.about.count
        }
        if runs.own_quantiles:
            found = SessionQuantiles(QuantileBasis(metric=of, share=share, level="run"))
        else:
            found = _by_session(runs, metric, of, share)
        runs.memo[key] = found._replace(sizes=printed) if printed else found
    known: SessionQuantiles = runs.memo[key]
    return known


def _by_session(runs: Runs, metric: str, of: str, share: float) -> SessionQuantiles:
    """Give the quantile of each cell's sessions, or say why each run has its own.

    Each run's own quantile is computed as well: where it is not the one that was stored, the metric is another one of that name,
    which somebody declared.
    """
    used = runs.measured & ~apart_of(runs, metric)
    if runs.compared:
        used &= np.isin(runs.variant, [runs.manifest.variants.index(x) for x in runs.compared])
    alone = np.unique(runs.session[used]).size < _FEWEST
    by_run = QuantileBasis(metric=of, share=share, level="run", why="one-session")
    # the rows of each cell in each session, by the first; alone: each is compared by itself
    groups: dict[object, list[int]] = {}
    for row in np.flatnonzero(used).tolist():
        place = int(runs.benchmark[row]), int(runs.variant[row]), int(runs.session[row])
        groups.setdefault(row if alone else place, []).append(row)
    found: dict[int, float] = {}
    sizes: dict[int, int] = {}
    for number, group in enumerate(groups.values()):
        doing("merging values", number, len(groups), "sessions of cells")
        mine: list[RunValues] = []
        for row in group:
            given = values_in_run(runs, of, row)
            if isinstance(given, str):
                return SessionQuantiles(by_run if alone else replace(by_run, why=given))
            if given.values.size:
                own = merged_quantile([given], share)
                if runs.metrics[metric].of_run(row).tolist() != ([] if own is None else [own]):
                    return SessionQuantiles(by_run if alone else replace(by_run, why="own"))
                mine.append(given.judged)
        merged = merged_quantile(mine, share) if mine else None
        if merged is not None:
            found[group[0]] = merged
            sizes[group[0]] = int(_together(mine)[1].sum())
    least = _least(runs, sizes)
    if alone and least == sizes:
        return SessionQuantiles(by_run)
    for group in groups.values():
        row = group[0]
        if row in least and least[row] < sizes[row]:  # what it is expected to be of fewer values
            again = (values_in_run(runs, of, one) for one in group)  # not held since: they are many
            mine = [one.judged for one in again if not isinstance(one, str)]
            thinned = thinned_quantile(mine, share, least[row])
            del found[row]
            found |= {} if thinned is None else {row: thinned}
    apart = used.copy()
    apart[[group[0] for group in groups.values()]] = False
    none = metric_column([], np.zeros(used.size, dtype=np.int64))
    column = none.with_values({row: [value] for row, value in found.items()})
    basis = by_run if alone else replace(by_run, level="session", why=None)
    return SessionQuantiles(basis, column, read_only(apart), sizes, least)


def _least(runs: Runs, sizes: Mapping[int, int]) -> dict[int, int]:
    """Give the number at which each cell's session is compared: the least of its session, or of all where that has one side."""
    # benchmark and session, or benchmark -> variant -> its least
    by: dict[object, dict[int, int]] = {}
    for row, size in sizes.items():
        bench, variant = int(runs.benchmark[row]), int(runs.variant[row])
        for key in ((bench, int(runs.session[row])), bench):
            sides = by.setdefault(key, {})
            sides[variant] = min(size, sides.get(variant, size))
    found = {}
    for row, size in sizes.items():
        bench = int(runs.benchmark[row])
        session, whole = by[bench, int(runs.session[row])], by[bench]
        both = session if len(session) > 1 else whole
        least = min(both.values()) if len(whole) > 1 else size
        found[row] = min(least, runs.compared_at.get(runs.manifest.benchmarks[bench], least))
    return found


def printed_counts(runs: Runs, metric: str) -> Integers:
    """Give how many values each run printed of a metric, or of that whose quantile it is; nothing is read for it."""
    quantiles = session_quantiles(runs, metric)
    printed = metric if quantiles is None else quantiles.basis.metric
    counts = np.diff(runs.metrics[printed].offsets)
    for row, stored in runs.stored.get(printed, {}).items():
        counts[row] = stored.iterations or counts[row]
    return counts


def of_one_basis(trials: Iterable[Source], metric: str) -> tuple[Source, ...]:
    """Give trials that are compared with each other: where one has quantiles of its runs alone, all give those.

    The quantile of a session and a mean of what its runs had as theirs are two numbers of the same values.
    """
    trials = tuple(trials)
    if len(trials) < 2:
        return trials
    quantiles = [session_quantiles(trial, metric) for trial in trials]
    if len({one.basis.level for one in quantiles if one is not None}) > 1:
        return tuple(replace(trial, own_quantiles=True) for trial in trials)
    sizes: dict[str, list[int]] = {}
    for trial, found in zip(trials, quantiles, strict=True):
        for row, size in () if found is None else found.sizes.items():
            sizes.setdefault(trial.manifest.benchmarks[trial.benchmark[row]], []).append(size)
    least = {name: min(each) for name, each in sizes.items() if len({*each}) > 1}
    return tuple(replace(one, compared_at=least) if least else one for one in trials)
