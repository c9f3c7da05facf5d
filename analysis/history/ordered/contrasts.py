"""The places of an ordered series, each tested: all variants from it on against all before it.

A session gives one contrast a place: the mean log of the variants from the place on, less the mean of those before
it. What moves the whole session cancels in it, so Student's t over sessions is exact for normal contrasts,
whatever the variants of a session have in common, and however differently they vary. Places share their data;
Bonferroni's bound holds whatever their correlation.

Where a place is tested, the smallest p is that of the best one. If it counts, the step may still lie beside it: with a
flat prior on place, size and log variance, errors alike, P(k) is in proportion to rss(k)^(-(S (n - 1) - 1) / 2), of S
sessions, n variants and the residual sum of squares rss(k) of one step at k. What lies before and behind the
places that hold 95 % is then searched in turn, each side at half of the level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from ...methods.multilevel.exact import FEWEST, identity_pvalue
from ...stats.samples import Array, Integers

HELD = 0.95  # of the probability, by the places that are named
_FLAT = 1e-12  # a spread of logs that is none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """All places of a series of variants: `at` are the numbers of the first variant from each on.

    `difference` is positive where the later variants are slower, `error` its standard error with `freedom`
    degrees; `probability` is that of one step at each place, all together 1. `identity` is, of counts that vary in
    no variant, the chance that sessions fall apart so, nan where all are one number; None of everything else.
    """

    at: tuple[int, ...]
    difference: Array
    error: Array
    freedom: int
    probability: Array
    identity: Array | None = None

    @property
    def pvalue(self) -> Array:
        """Two-sided p of each place, nan where nothing varies that is measured."""
        if self.identity is not None:
            return self.identity
        return self._tail(np.abs(self.difference), 2.0)

    def pvalue_equivalent(self, margin: float) -> Array:
        """Give the larger p of the two tests that each difference lies within -margin to margin."""
        return self._tail(margin - np.abs(self.difference), 1.0)

    def same(self, margin: float) -> bool:
        """Tell whether these are counts that vary in no variant and differ by less than the margin."""
        near = np.abs(self.difference) < max(margin, _FLAT)
        return self.identity is not None and self.freedom + 1 >= FEWEST and bool(near.all())

    def half(self, risk: float) -> Array:
        """Give half the width of each place's interval, nan where nothing varies that is measured."""
        if self.identity is not None:
            return np.zeros(self.difference.shape)
        quantile = -float(stdtrit(self.freedom, risk / 2))
        return np.where(self.error > _FLAT, quantile * self.error, np.nan)

    def _tail(self, distance: Array, sides: float) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.error > _FLAT, distance / self.error, np.nan)
        return np.asarray(np.minimum(sides * stdtr(self.freedom, -t), 1.0))

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
        sums = np.concatenate([[0.0], np.cumsum(self.probability)])
        count = self.probability.size
        runs = (
            (j - i, -(sums[j] - sums[i]), i, j - 1)
            for i in range(count)
            for j in range(i + 1, count + 1)
            if sums[j] - sums[i] >= HELD - 1e-12
        )
        _, _, first, last = min(runs, default=(count, 0.0, 0, count - 1))
        return first, last


def contrasts_of(table: Array, places: Sequence[int], *, exact: bool = False) -> Contrasts:
    """Test places of a table of logs, `exact` ones of counts: sessions x variants, without gaps; two sessions at least."""
    sessions, n = table.shape
    k = np.array(places, dtype=np.int64)
    sums = np.cumsum(table, axis=1)
    before, whole = sums[:, k - 1], sums[:, -1:]
    each = (whole - before) / (n - k) - before / k
    difference = each.mean(axis=0)
    error = each.std(axis=0, ddof=1) / math.sqrt(sessions)
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
        identity=_identity(table, difference, k) if exact else None,
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
    table: Array, places: Sequence[int], risk: float, level: float, *, exact: bool = False
) -> tuple[FoundStep, ...]:
    """Find steps one by one; a series without any has one at most with `risk`. `level` is the risk of an interval."""
    n = table.shape[1]
    found = sorted(_found(table, 0, n, tuple(places), risk, exact=exact))
    steps = []
    for number, (_first, _last) in enumerate(found):
        begin = found[number - 1][1] if number else 0
        end = found[number + 1][0] if number + 1 < len(found) else n
        inside = [k for k in places if begin < k < end]
        steps.append(_sized(table, begin, end, inside, level, exact=exact))
    return tuple(steps)


def _sized(
    table: Array, begin: int, end: int, inside: Sequence[int], level: float, *, exact: bool
) -> FoundStep:
    """Give the place and the size of one step among the variants from `begin` to before `end`."""
    tested = contrasts_of(table[:, begin:end], [k - begin for k in inside], exact=exact)
    low, high = tested.likely()
    first, last = inside[low], inside[high]
    sure = np.concatenate([table[:, begin:first], table[:, last:end]], axis=1)
    one = contrasts_of(sure, (first - begin,), exact=exact)
    return FoundStep(
        at=inside[tested.likeliest],
        first=first,
        last=last,
        difference=float(one.difference[0]),
        half=float(one.half(level)[0]),
    )


def _found(
    table: Array, begin: int, end: int, places: tuple[int, ...], risk: float, *, exact: bool
) -> Iterator[tuple[int, int]]:
    """Give the likely first and last place of each step that is found from `begin` to before `end`."""
    inside = tuple(k for k in places if begin < k < end)
    if not inside:
        return
    tested = contrasts_of(table[:, begin:end], [k - begin for k in inside], exact=exact)
    if not tested.least <= risk / len(inside):
        return
    low, high = tested.likely()
    yield inside[low], inside[high]
    yield from _found(table, begin, inside[low], places, risk / 2, exact=exact)
    yield from _found(table, inside[high], end, places, risk / 2, exact=exact)
