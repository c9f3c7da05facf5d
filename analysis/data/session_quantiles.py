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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from ..announcing import doing
from ..record.manifest import quantile_said, rank_of
from ..stats.samples import read_only
from .columns import Flags, Floats, Integers, MetricColumn
from .stored_iterations import values_of_run

if TYPE_CHECKING:
    from .trial import Trial

# why quantiles are those of single runs
Why = Literal["one-session", "printed", "not-kept", "own"]
_FEWEST: Final = 2  # sessions: within one, runs are what is compared


class RunValues(NamedTuple):
    """The values of a run, of which the `first` ones are not judged; with `counts`, how often each was counted."""

    values: Floats
    counts: Floats | None = None
    first: int = 0

    @property
    def judged(self) -> RunValues:
        """The values without the first ones."""
        return self._replace(values=self.values[self.first :], first=0) if self.first else self


class Rows(NamedTuple):
    """Of each row of a trial its cell, as one number, its session, and whether it is judged."""

    cell: Integers
    session: Integers
    used: Flags


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


def session_quantiles(
    metric: str,
    share: float,
    own: MetricColumn,
    rows: Rows,
    values_of: Callable[[int], RunValues | Why],
    *,
    variants: int = 1,
    most: Mapping[int, int] | None = None,
) -> SessionQuantiles:
    """Give the quantile of each cell's sessions.

    Parameters
    ----------
    metric, share : str, float
        Of which metric it is which quantile.
    own : MetricColumn
        Each run's own quantile, as it was stored while the trial was measured.
    rows : Rows
        All rows of the trial.
    values_of : function of a row
        Its values, or why there are none.
    variants : int
        How many cells a benchmark has, one behind the other.
    most : mapping, optional
        Benchmark -> the most values at which its cells are compared, as another trial has no more.

    Notes
    -----
    Each run's own quantile is computed as well: where it is not the one that was stored, the metric is another one of that name,
    which somebody declared. Values that cannot be read raise StoreError.
    """

    def by_run(why: Why) -> SessionQuantiles:
        return SessionQuantiles(QuantileBasis(metric=metric, share=share, level="run", why=why))

    alone = np.unique(rows.session[rows.used]).size < _FEWEST
    groups = _groups(rows)
    if alone:  # each run is compared by itself
        groups = [[row] for group in groups for row in group]
    counts = np.zeros(rows.used.size + 1, dtype=np.int64)
    apart = rows.used.copy()
    found: dict[int, float] = {}
    sizes: dict[int, int] = {}
    for number, group in enumerate(groups):
        doing("merging values", number, len(groups), "sessions of cells")
        parts = []
        for row in group:
            given = values_of(row)
            if isinstance(given, str):
                return by_run("one-session" if alone else given)
            if given.values.size:
                stored = own.values[own.offsets[row] : own.offsets[row + 1]]
                if _differs(merged_quantile([given], share), stored):
                    return by_run("one-session" if alone else "own")
                parts.append(given.judged)
        apart[group[0]] = False
        merged = merged_quantile(parts, share) if parts else None
        if merged is not None:
            found[group[0]] = merged
            sizes[group[0]] = int(put_together(parts)[1].sum())
    least = _least(sizes, rows, variants, most or {})
    if alone and least == sizes:
        return by_run("one-session")
    _thin(found, {row: n for row, n in least.items() if n < sizes[row]}, groups, share, values_of)
    counts[[row + 1 for row in found]] = 1
    column = MetricColumn(
        values=read_only(np.array([found[row] for row in sorted(found)], dtype=np.float64)),
        offsets=read_only(np.cumsum(counts)),
    )
    basis = QuantileBasis(metric=metric, share=share, level="session")
    if alone:
        basis = replace(basis, level="run", why="one-session")
    return SessionQuantiles(basis, column, read_only(apart), sizes, least)


def _thin(
    found: dict[int, float],
    least: Mapping[int, int],
    groups: Sequence[Sequence[int]],
    share: float,
    values_of: Callable[[int], RunValues | Why],
) -> None:
    """Put in the place of quantiles what they are expected to be of fewer values."""
    for group in groups:
        if group[0] in least:
            parts = [one.judged for row in group if not isinstance(one := values_of(row), str)]
            thinned = thinned_quantile(parts, share, least[group[0]])
            del found[group[0]]
            found |= {} if thinned is None else {group[0]: thinned}


def _least(
    sizes: Mapping[int, int], rows: Rows, variants: int, most: Mapping[int, int]
) -> dict[int, int]:
    """Give the number at which each cell's session is compared: the least of its session, or of all where that has one side."""
    by: dict[
        object, dict[int, int]
    ] = {}  # benchmark and session, or benchmark -> cell -> its least
    for row, size in sizes.items():
        cell, bench = int(rows.cell[row]), int(rows.cell[row]) // variants
        for key in ((bench, int(rows.session[row])), bench):
            by.setdefault(key, {})[cell] = min(size, by.get(key, {}).get(cell, size))
    found = {}
    for row, size in sizes.items():
        bench = int(rows.cell[row]) // variants
        session, whole = by[bench, int(rows.session[row])], by[bench]
        both = session if len(session) > 1 else whole
        least = min(both.values()) if len(whole) > 1 else size
        found[row] = min(least, most.get(bench, least))
    return found


def quantiles_of(trial: Trial, metric: str) -> SessionQuantiles | None:
    """Give the quantiles of a trial's sessions; None of a metric that is no quantile of another. As `session_quantiles`."""
    said = quantile_said(trial.manifest.metrics.get(metric, {}))
    if said is None or metric not in trial.metrics or said[0] not in trial.metrics:
        return None
    of, share = said
    printed = {
        row: one.about.count
        for row, one in trial.stored.get(of, {}).items()
        if one.about.form == "percentiles" and one.about.count
    }
    if trial.own_quantiles:
        return SessionQuantiles(QuantileBasis(metric=of, share=share, level="run"), sizes=printed)
    cells = trial.benchmark * len(trial.manifest.variants) + trial.variant
    rows = Rows(cells, trial.session, trial.judged(metric))
    found = session_quantiles(
        of,
        share,
        trial.metrics[metric],
        rows,
        lambda row: values_in_run(trial, of, row),
        variants=len(trial.manifest.variants),
        most={trial.manifest.benchmarks.index(b): n for b, n in trial.compared_at.items()},
    )
    return found._replace(sizes=printed) if printed else found


def of_one_basis(trials: Sequence[Trial], metric: str) -> tuple[Trial, ...]:
    """Give trials that are compared with each other: where one has quantiles of its runs alone, all give those.

    The quantile of a session and a mean of what its runs had as theirs are two numbers of the same values.
    """
    bases = [trial.quantile_basis(metric) for trial in trials]
    if len({basis.level for basis in bases if basis is not None}) < 2:
        sizes: dict[str, list[int]] = {}
        for trial in trials:
            found = trial.session_quantiles(metric)
            for row, size in () if found is None else found.sizes.items():
                sizes.setdefault(trial.manifest.benchmarks[trial.benchmark[row]], []).append(size)
        least = {name: min(each) for name, each in sizes.items() if len({*each}) > 1}
        return tuple(replace(one, compared_at=least) if least else one for one in trials)
    return tuple(replace(trial, own_quantiles=True) for trial in trials)


def values_in_run(trial: Trial, metric: str, row: int) -> RunValues | Why:
    """Give the values of a run that a program printed, or why they are not known."""
    stored = trial.stored.get(metric, {}).get(row)
    if stored is not None and stored.about.sha256 is None:
        return "printed" if stored.about.form == "percentiles" else "not-kept"
    if stored is not None and stored.about.form == "counts":
        values, counts = stored.values().reshape(-1, 2).T
        return RunValues(values, counts)
    judged = trial.judged_iterations(metric)
    first = 0 if judged is None or judged.setting == 0 else int(judged.left_out[row])
    return RunValues(values_of_run(trial, metric, row), first=first)


def put_together(parts: Sequence[RunValues]) -> tuple[Floats, Floats]:
    """Give all values of several runs, at least one, and how often each was counted."""
    values = np.concatenate([part.values for part in parts])
    counted = (np.ones(part.values.size) if part.counts is None else part.counts for part in parts)
    return values, np.concatenate(list(counted))


def merged_quantile(parts: Sequence[RunValues], share: float) -> float | None:
    """Give the quantile of all values together; None of too few."""
    values, counts = put_together(parts)
    if all(part.counts is None for part in parts):
        rank = rank_of(share, values.size)
        return None if rank is None else float(np.partition(values, rank - 1)[rank - 1])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])  # whole numbers, exact below 2^53
    rank = rank_of(share, int(reached[-1]) if reached.size else 0)
    return None if rank is None else float(values[order][np.searchsorted(reached, rank)])


def thinned_quantile(parts: Sequence[RunValues], share: float, count: int) -> float | None:
    """Give the exponential of the expected log of the quantile of so many of all values; None of too few."""
    values, counts = put_together(parts)
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


def _choose(n: Integers, k: int) -> Floats:
    from scipy.special import gammaln  # of those alone who judge quantiles: many read trials

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _differs(computed: float | None, stored: Floats) -> bool:
    """Tell whether a run's quantile is not the one that stands in its row."""
    if computed is None:
        return stored.size > 0
    return stored.size != 1 or stored[0] != computed


def _groups(rows: Rows) -> list[list[int]]:
    """Give the judged rows of each cell in each session, by their first rows."""
    found: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(rows.used).tolist():
        found.setdefault((int(rows.cell[row]), int(rows.session[row])), []).append(row)
    return list(found.values())
