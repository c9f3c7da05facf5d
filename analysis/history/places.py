"""What a session says of variants, and where steps lie among them: between two ends, and in a series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.trial import Trial, cut_rows
from ..errors import AnalysisError, InsufficientDataError
from ..methods.multilevel.compare import cut_between, together
from ..methods.multilevel.estimates import FEWEST, identity_pvalue
from ..methods.multilevel.failures import fisher
from ..methods.multilevel.law import ErrorLaw
from ..methods.multilevel.result import Cut
from ..stats.samples import Array, Integers

_FISHER = 0.05

# --- What one session of a trial says of each of its variants: a number on the log scale, larger = worse.


def session_values(
    trial: Trial, session: int, metric: str, benchmarks: Sequence[str] | None = None
) -> dict[str, float | list[float]]:
    """Give of each variant the mean logarithm of a session's runs, in the mean over benchmarks; of one those of its runs.

    `session`: Its number, from 1. `metric`: If more of it is better, its logarithm is negated. `benchmarks`: All of
    the trial by default. Warm-ups and failed runs are left out, those that their time limit ended count with it; a
    variant without any run left of one of the benchmarks is nan.

    Raises AnalysisError if a value is 0 or less, so that it has no logarithm; UsageError if the trial has no such
    metric.
    """
    manifest = trial.manifest
    sign = -1.0 if trial.metric(metric).better == "higher" else 1.0
    cut, _, bounds = cut_rows(trial, metric)
    values = np.where(cut, bounds, trial.values(metric))
    mine = (trial.judged(metric) | cut) & (trial.session == session) & np.isfinite(values)
    if (values[mine] <= 0).any():
        raise AnalysisError(
            f"{metric} of a run is {values[mine].min():g}: it has no ratio to others",
            f"{trial.path}, session {session}",
            "name another metric with --metric, or let the program work longer",
        )
    logs = np.log(np.where(mine, values, 1.0))
    asked = manifest.benchmarks if benchmarks is None else benchmarks
    found: dict[str, float | list[float]] = {}
    for number, variant in enumerate(manifest.variants):
        runs = []
        for name in asked:
            cell = mine & (trial.variant == number)
            cell &= trial.benchmark == manifest.benchmarks.index(name)
            runs.append(sign * logs[cell])
        means = [float(one.mean()) if one.size else math.nan for one in runs]
        one = len(runs) == 1 and runs[0].size > 0
        found[variant] = runs[0].tolist() if one else math.fsum(means) / len(means)
    return found


def cut_in(
    trials: Iterable[Trial], candidate: str, baseline: str, metric: str, benchmarks: Sequence[str]
) -> Cut | None:
    """Count over trials the runs of two variants that their time limit ended; None without any."""
    found: list[Cut | None] = []
    for trial in trials:
        if {candidate, baseline} <= {*trial.manifest.variants}:
            with suppress(InsufficientDataError):  # nothing of it is judged
                sides = [trial.matrix(x, metric, carry_zeros=True) for x in (candidate, baseline)]
                found += [cut_between(sides[0], sides[1], bench) for bench in benchmarks]
    return together(found)


def runs_of_variants(
    trial: Trial, benchmarks: Sequence[str] | None = None
) -> dict[str, tuple[int, int]]:
    """Count of each variant the runs that failed and those that were made, without warm-ups."""
    asked = trial.manifest.benchmarks if benchmarks is None else benchmarks
    chosen = np.isin(trial.benchmark, [trial.manifest.benchmarks.index(name) for name in asked])
    counts = {}
    for number, variant in enumerate(trial.manifest.variants):
        made = trial.candidates & chosen & (trial.variant == number)
        counts[variant] = int((made & (trial.outcome != 0)).sum()), int(made.sum())
    return counts


def unsteady_variants(trial: Trial, metric: str, benchmarks: Sequence[str]) -> set[str]:
    """Name the variants of a trial with too many runs of a benchmark that reach no steady state."""
    found = set()
    for name in trial.manifest.variants:
        with suppress(AnalysisError):  # none of its runs counts
            judged = trial.matrix(name, metric, carry_zeros=True).judged_iterations
            if any(one.unsteady for bench, one in judged.items() if bench in benchmarks):
                found.add(name)
    return found


def fails_more(counts: Mapping[int, tuple[int, int]], last: int) -> tuple[int, ...]:
    """Give the places whose runs fail more often than those of the other ends, by Fisher's test at 0.05.

    Its hypothesis: runs of the place and of the ends fail with one probability, each on its own. `counts`: Failed runs
    and all runs of each place. `last`: The place of the newer end; that of the older one is 0.
    """
    found = []
    for place, (bad, runs) in sorted(counts.items()):
        ends = [counts[end] for end in {0, last} - {place} if end in counts]
        failed, made = (sum(one[k] for one in ends) for k in (0, 1))
        if bad * made > failed * runs and fisher(bad, runs, failed, made) <= _FISHER:
            found.append(place)
    return tuple(found)


# --- Where one step lies among places, from sessions that hold both ends and a place between them.
#
# With y the logarithm of the metric in a session, A and B the ends and x the place between,
#
#     m = y_x - (y_A + y_B) / 2,    D = y_B - y_A                                                  (1)
#
# are independent with variances 1.5 v and 2 v, whatever moves the whole session. A step of size d at place k
# (the first slow one) gives D the mean d, and m the mean d/2 where x >= k, else -d/2. Flat priors on place, d
# and log v integrated out leave
#
#     P(k) ~ weight(k) rss(k)^(-(n_D + n_m - 1) / 2)                                               (2)
#
# with rss(k) the residual sum of squares at the best d for k.


Session = Mapping[int, float]  # place -> log value, of those whose runs succeeded

_LEAST = 1e-12  # of a residual sum of squares
_EVERY = 3  # sessions of a place without which nobody asks whether it lies between two steps


def shortest_run(probability: Array, share: float) -> tuple[int, int, float]:
    """Give the shortest run with so much of the probability, the likelier of equals: its first, its last, what it holds."""
    sums = np.concatenate([[0.0], np.cumsum(probability)])
    best = (probability.size, 0.0, 0)
    for i in range(probability.size):
        j = int(np.searchsorted(sums, sums[i] + share - 1e-12))
        if j >= sums.size:
            break
        held = float(sums[j] - sums[i])
        if (j - i, -held) < (best[0], -best[1]):
            best = (j - i, held, i)
    width, held, first = best
    return first, first + width - 1, held if held else float(sums[-1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Probabilities of the places `lower` + 1 to `upper`, and the sums that they stem from.

    `size` is the step's estimate at the likeliest place, positive where the upper end is slower.
    """

    lower: int
    upper: int
    probability: Array
    size: float
    residual: float
    values: int
    information: float
    middles: Mapping[int, Array]

    @property
    def likeliest(self) -> int:
        """The place with the largest probability, the first of equals."""
        return self.lower + 1 + int(np.argmax(self.probability))

    def of(self, place: int) -> float:
        """Give the probability of a place."""
        return float(self.probability[place - self.lower - 1])

    def slow_already(self, place: int) -> float:
        """Give the probability that the step lies at or before a place between the ends."""
        return float(self.probability[: place - self.lower].sum())

    def shortest(self, share: float) -> tuple[int, int, float]:
        """Give the shortest run of places with so much probability, the likelier of equals: first, last, its share."""
        first, last, held = shortest_run(self.probability, share)
        return self.lower + 1 + first, self.lower + 1 + last, held

    def between(self, place: int, places: int, margin: float, quantile: float) -> bool:
        """Tell whether a place lies at a level of its own, between two steps of one direction.

        `quantile` is Student's at the one-sided 1 - 0.025 / log2 of the number of `places`, with `values` - 1 degrees.
        """
        middles = self.middles.get(place)
        if middles is None or middles.size < _EVERY or places < 2:
            return False
        sign = 1.0 if self.size >= 0 else -1.0
        level, half = sign * float(middles.mean()), abs(self.size) / 2
        error = math.sqrt(
            self.residual / (self.values - 1) * (1.5 / middles.size + 0.25 / self.information)
        )
        return min(level + half, half - level) > max(quantile * error, margin / 2)


def posterior_of(sessions: Sequence[Session], lower: int, upper: int, weights: Array) -> Posterior:
    """Compute (2) from the sessions that hold both ends; `weights` are those of `lower` + 1 to `upper`."""
    ends = [one for one in sessions if lower in one and upper in one]
    differences = np.array([one[upper] - one[lower] for one in ends])
    sums, squares = np.zeros(upper - lower + 1), 0.0
    middles: dict[int, list[float]] = {}
    for one in ends:
        centre = (one[lower] + one[upper]) / 2
        for place, value in one.items():
            if lower < place < upper:
                middles.setdefault(place, []).append(value - centre)
    for place, found in middles.items():
        sums[place - lower] = math.fsum(found)
        squares += math.fsum(m * m for m in found)
    count = sum(len(found) for found in middles.values())
    information = differences.size / 2 + count / 6
    # of k = lower + 1 .. upper: the middles from k on less those before
    before = np.cumsum(sums)[:-1]
    cross = differences.sum() / 2 + (sums.sum() - 2 * before) / 3
    whole = float(np.square(differences).sum()) / 2 + squares / 1.5
    explained = cross**2 / information if information else np.zeros_like(cross)
    residual = np.maximum(whole - explained, _LEAST)
    values = differences.size + count
    with np.errstate(divide="ignore"):
        logs = np.log(weights) - (values - 1) / 2 * np.log(residual)
    p = np.exp(logs - logs.max())
    p /= p.sum()
    k = int(np.argmax(p))
    return Posterior(
        lower=lower,
        upper=upper,
        probability=p,
        size=float(cross[k] / information) if information else 0.0,
        residual=float(residual[k]),
        values=int(values),
        information=float(information),
        middles={place: np.array(found) for place, found in middles.items()},
    )


# --- The places of an ordered series, each tested: all variants from it on against all before it.
#
# A session gives one contrast a place: the mean log of the variants from the place on, less the mean of those
# before it. What moves the whole session cancels in it, so Student's t over sessions is exact for normal contrasts,
# whatever the variants of a session have in common, and however differently they vary. Places share their data;
# Bonferroni's bound holds whatever their correlation.
#
# Where a place is tested, the smallest p is that of the best one. If it counts, the step may still lie near it:
# with a flat prior on place, size and log variance, errors alike, P(k) is in proportion to
# rss(k)^(-(S (n - 1) - 1) / 2), of S sessions, n variants and the residual sum of squares rss(k) of one step at k.
# What lies before and behind the places that hold 95 % is then searched in turn, each side at half of the level.


HELD = 0.95  # of the probability, by the places that are named
_FLAT = 1e-12  # a spread of logs that is none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """All places of a series of variants: `at` are the numbers of the first variant from each on.

    `difference` is positive where the later variants are slower, `error` its standard error with `freedom`
    degrees; `probability` is that of one step at each place, all together 1. `identity` is, of counts that vary in
    no variant, the chance that sessions fall apart so, nan where all are one number; None of everything else. `added` is
    what the clock adds to each half-width.
    """

    at: tuple[int, ...]
    difference: Array
    error: Array
    freedom: int
    probability: Array
    identity: Array | None = None
    added: float = 0.0

    @property
    def pvalue(self) -> Array:
        """Two-sided p of each place, nan where nothing varies that is measured."""
        if self.identity is not None:
            return self.identity
        seen = np.maximum(np.abs(self.difference) - self.added, 0.0)
        return ErrorLaw(alpha=1.0).pvalue(seen, self.error, np.array(self.freedom))

    def pvalue_equivalent(self, margin: float) -> Array:
        """Give the larger p of the two tests that each difference lies within -margin to margin."""
        freedom, inside = np.array(self.freedom), margin - self.added
        return ErrorLaw(alpha=1.0).pvalue_equivalent(self.difference, self.error, freedom, inside)

    def same(self, margin: float) -> bool:
        """Tell whether these are counts that vary in no variant and differ by less than the margin."""
        near = np.abs(self.difference) < max(margin - _FLAT, _FLAT)
        return self.identity is not None and self.freedom + 1 >= FEWEST and bool(near.all())

    def half(self, risk: float) -> Array:
        """Give half the width of each place's interval, nan where nothing varies that is measured."""
        if self.identity is not None:
            return np.zeros(self.difference.shape)
        half = ErrorLaw(alpha=risk).half(self.error, np.array(self.freedom))
        return np.where(self.error > 0, half + self.added, np.nan)

    @property
    def least(self) -> float:
        """The smallest p of all places; nan where nothing varies."""
        p = self.pvalue
        return float(np.nanmin(p)) if not np.isnan(p).all() else math.nan

    @property
    def likeliest(self) -> int:
        """The number, among the places, of the likeliest one."""
        return int(np.argmax(self.probability))

    def likely(self) -> tuple[int, int]:
        """Give the shortest run of places with `HELD` of the probability: the first and last, as numbers among them."""
        return shortest_run(self.probability, HELD)[:2]


class Rounding(NamedTuple):
    """What a step of the values leaves open: `variance` of each of the logs, and what it adds to half-widths; of counts they are `exact`."""

    exact: bool = False
    variance: Array | None = None
    added: float = 0.0

    def of(self, cells: Any) -> Rounding:  # noqa: ANN401 - an index
        """Give that of some sessions and variants."""
        return self if self.variance is None else self._replace(variance=self.variance[cells])


NO_STEP = Rounding()


def contrasts_of(table: Array, places: Sequence[int], rounding: Rounding = NO_STEP) -> Contrasts:
    """Test places of a table of logs: sessions x variants, without gaps; two sessions at least."""
    sessions, n = table.shape
    k = np.array(places, dtype=np.int64)
    weights = np.where(np.arange(n)[:, None] >= k, 1.0 / (n - k), -1.0 / k)
    each = table @ weights
    difference = each.mean(axis=0)
    error = each.std(axis=0, ddof=1) / math.sqrt(sessions)
    if rounding.variance is not None:
        floor = (rounding.variance @ weights**2).sum(axis=0)
        error = np.maximum(error, np.sqrt(floor) / sessions)
    error = np.where(error > _FLAT, error, 0.0)
    centred = table - table.mean(axis=1, keepdims=True)
    squares = float(np.square(centred).sum())
    explained = sessions * k * (n - k) / n * np.square(difference)
    residual = np.maximum(squares - explained, max(_FLAT**2, 1e-14 * squares))
    log = -(sessions * (n - 1) - 1) / 2 * np.log(residual)
    p = np.exp(log - log.max())
    return Contrasts(
        at=tuple(int(one) for one in k),
        difference=difference,
        error=error,
        freedom=sessions - 1,
        probability=p / p.sum(),
        identity=_identity(table, difference, k) if rounding.exact else None,
        added=rounding.added,
    )


def _identity(table: Array, difference: Array, places: Integers) -> Array | None:
    """Give the chance of each place, where no variant varies over sessions; None else."""
    sessions, n = table.shape
    if (np.ptp(table, axis=0) >= _FLAT).any():
        return None
    steps = 1 + np.flatnonzero(np.abs(np.diff(table.mean(axis=0))) >= _FLAT)
    alone = (steps.size == 1) & (places == steps.sum())
    # cells are the variants' sessions where each side of the place is one number, else whole sessions
    before, behind = (np.where(alone, sessions * count, sessions) for count in (places, n - places))
    p = np.where(np.abs(difference) < _FLAT, 1.0, identity_pvalue(before, behind))
    return p if steps.size else np.full(places.shape, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStep:
    """A step: `at` is likeliest the first variant from it on, which lies in `first` to `last` with 95 %.

    `difference` is that of the variants from `last` on, up to the next step, over those before `first`, since the one
    before; `half` is half of its interval.
    """

    at: int
    first: int
    last: int
    difference: float
    half: float


def steps_of(
    table: Array,
    places: Sequence[int],
    risk: float,
    level: float,
    rounding: Rounding = NO_STEP,
) -> tuple[FoundStep, ...]:
    """Find steps one by one; a series without any has one at most with `risk`. `level` is the risk of an interval."""

    def tested(begin: int, end: int) -> tuple[list[int], Contrasts]:
        """Test the places among the variants from `begin` to before `end`."""
        here, inside = np.s_[:, begin:end], [k for k in places if begin < k < end]
        return inside, contrasts_of(table[here], [k - begin for k in inside], rounding.of(here))

    def found(begin: int, end: int, risk: float) -> Iterator[tuple[int, int]]:
        """Give the likely first and last place of each step."""
        if not any(begin < k < end for k in places):
            return
        inside, one = tested(begin, end)
        if one.least <= risk / len(inside):
            first, last = (inside[k] for k in one.likely())
            yield first, last
            yield from found(begin, first, risk / 2)
            yield from found(last, end, risk / 2)

    def sized(begin: int, end: int) -> FoundStep:
        inside, one = tested(begin, end)
        first, last = (inside[k] for k in one.likely())
        sure = np.s_[:, np.r_[begin:first, last:end]]
        step = contrasts_of(table[sure], (first - begin,), rounding.of(sure))
        difference, half = float(step.difference[0]), float(step.half(level)[0])
        at = inside[one.likeliest]
        return FoundStep(at=at, first=first, last=last, difference=difference, half=half)

    likely = sorted(found(0, table.shape[1], risk))
    begins = (0, *(last for _, last in likely))
    ends = (*(first for first, _ in likely[1:]), table.shape[1])
    return tuple(sized(*both) for _, *both in zip(likely, begins, ends, strict=False))
