"""Quantiles of all values of a session together, where the values, or histograms of them, are there.

The p99 of a session is that of all its requests, and not a mean of what runs had as theirs: of runs with few values each that
mean lies too low, and a quantile that no run knows by itself may be known of the session. Percentiles that were printed cannot be
put together: no number follows from two of them.

The quantile of n values lies at a place that depends on n: of 100 values the p99 is the 98.0 % place, of 199 the 99.0 %. So a
session of n values stands beside one of m < n as the expected log of the r-th smallest of m that are drawn from the n without
replacement, r = ceil(q m): sum over k of C(k - 1, r - 1) C(n - k, m - r) / C(n, m) log x_(k). It has no bias between sides of one law.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np

from ..announcing import doing
from ..errors import AnalysisError
from ..record.manifest import quantile_said, rank_of
from ..stats.samples import Array, Flags, Integers, read_only
from .columns import MetricColumn, metric_column
from .iterations import MOST_AT_ONCE, judged_iterations, quantile_in, values_of_run
from .metrics import apart_of

if TYPE_CHECKING:
    from .runs import Runs

# why quantiles are those of single runs
Why = Literal["one-session", "printed", "not-kept", "own"]
_FEWEST: Final = 2  # sessions: within one, runs are what is compared
Source = TypeVar("Source", bound="Runs")


# --- The values of several runs together.


class RunValues(NamedTuple):
    """The values of a run, of which the `first` ones are not judged; with `counts`, how often each was counted."""

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
    if not parts:
        return Pooled(np.empty(0), np.empty(0))
    values, counts = _together(parts)
    distinct, place = np.unique(values, return_inverse=True)
    return Pooled(distinct, np.cumsum(np.bincount(place, weights=counts)))


def _together(parts: Sequence[RunValues]) -> tuple[Array, Array]:
    """Give all values of several runs, at least one, and how often each was counted."""
    values = np.concatenate([part.values for part in parts])
    counted = (np.ones(part.values.size) if part.counts is None else part.counts for part in parts)
    return values, np.concatenate(list(counted))


def merged_quantile(parts: Sequence[RunValues], share: float) -> float | None:
    """Give the quantile of all values together; None of too few."""
    values, counts = _together(parts)
    if all(part.counts is None for part in parts):
        return quantile_in(values, share)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])  # whole numbers, exact below 2^53
    rank = rank_of(share, int(reached[-1]) if reached.size else 0)
    return None if rank is None else float(values[order][np.searchsorted(reached, rank)])


def thinned_quantile(parts: Sequence[RunValues], share: float, count: int) -> float | None:
    """Give the exponential of the expected log of the quantile of so many of all values; None of too few."""
    values, counts = _together(parts)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    rank, n = rank_of(share, count), int(reached[-1])
    if rank is None:
        return None
    middle = rank * (n + 1) / (count + 1)  # the expected place, about which all that counts lies
    spread = math.sqrt(middle * (n + 1 - middle) * (n - count) / ((n + 1) * (count + 2)))
    reach = 10 + 12 * spread
    k = np.arange(max(rank, int(middle - reach)), min(n - count + rank, int(middle + reach)) + 1)
    logs = _choose(k - 1, rank - 1) + _choose(n - k, count - rank)
    weights = np.exp(logs - logs.max())
    at = values[order][np.searchsorted(reached, k)]
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

    metric: str
    share: float
    level: Literal["session", "run"]
    why: Why | None = None
    values: tuple[int, int] | None = None
    compared_at: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        said = {"of": self.metric, "quantile": self.share, "level": self.level, "why": self.why}
        values = None if self.values is None else list(self.values)
        return said | {"values": values, "compared_at": self.compared_at}


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
    said = quantile_said(runs.manifest.metrics.get(metric, {}))
    if said is None or metric not in runs.metrics or said[0] not in runs.metrics:
        return None
    key = ("quantiles", metric)
    if key not in runs.memo:
        of, share = said
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
    alone = np.unique(runs.session[used]).size < _FEWEST
    by_run = QuantileBasis(metric=of, share=share, level="run", why="one-session")
    groups: dict[object, list[int]] = {}  # the rows of each cell in each session, by the first
    for row in np.flatnonzero(used).tolist():
        place = int(runs.benchmark[row]), int(runs.variant[row]), int(runs.session[row])
        groups.setdefault(row if alone else place, []).append(
            row
        )  # alone: each is compared by itself
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
    by: dict[
        object, dict[int, int]
    ] = {}  # benchmark and session, or benchmark -> variant -> its least
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
    quantiles = [session_quantiles(trial, metric) for trial in trials]
    if len({one.basis.level for one in quantiles if one is not None}) > 1:
        return tuple(replace(trial, own_quantiles=True) for trial in trials)
    sizes: dict[str, list[int]] = {}
    for trial, found in zip(trials, quantiles, strict=True):
        for row, size in () if found is None else found.sizes.items():
            sizes.setdefault(trial.manifest.benchmarks[trial.benchmark[row]], []).append(size)
    least = {name: min(each) for name, each in sizes.items() if len({*each}) > 1}
    return tuple(replace(one, compared_at=least) if least else one for one in trials)
