"""Where a series of nights changes, and whether its newest values are slower: intervals, steps, alarms.

For every place and every length of both sides the nights before are held against those from it on by ranks
(`rank_windows`). A window counts where its p is so small that a series without a change has such a p anywhere with no more
than the risk (`least_p`). The shortest such window is reported, then the same is done to its left and right:
with probability 1 - risk none of the intervals is without a change, whatever and however many changes
there are elsewhere ([1]_), for any continuous law of nights, as long as nights are exchangeable. Nights that
resemble their neighbours are not: from 20 values on the normal quantile of each p is divided by an inflation
that the series itself shows, which corrects for most of it and not for all.

References
----------
.. [1] P. Fryzlewicz, "Narrowest significance pursuit: inference for multiple change-points in linear
   models", Journal of the American Statistical Association 119, 2024.
.. [2] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically
   larger than the other", Annals of Mathematical Statistics 18, 1947.
.. [3] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations when the
   population variances are not equal", Sankhya 22, 1960.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Block, Caution, Page, Value, section, table_of
from ..pages.number_format import Difference, pvalue, span
from ..pages.result import Result, plain
from ..registry import shipped
from ..stats.arguments import checks_arguments, counted, numbers
from ..stats.samples import Array, read_only

# --- The law of the least p over all windows of a series without a change, simulated once for each length.
#
# A series with more values than a length that was simulated is held against the next larger one, which is on the
# safe side: more windows have a smaller least p. ``tests/calibration/make_least_p_table.py`` makes the table.


LENGTHS = (8, 10, 13, 16, 20, 26, 32, 40, 50, 65, 80, 100, 130, 160, 200, 260, 330, 400)
TABLE = "analysis/history/least_p.json"


class LeastP(NamedTuple):
    """The law at one length: a share of at most `shares[i]` of series have a least p of `values[i]` or less."""

    shares: tuple[float, ...]
    values: tuple[float, ...]

    def threshold(self, risk: float) -> float:
        """Give the largest known p that at most a share `risk` of series without a change come to."""
        place = bisect.bisect_right(self.shares, risk * (1 + 1e-9))
        return self.values[place - 1] if place else 0.0

    def risk_of(self, least: float) -> float:
        """Give the share of series without a change whose least p is this one or less; never too small."""
        place = bisect.bisect_left(self.values, least)
        # values that are alike belong to the smallest share at which they are all below
        return self.shares[place] if place < len(self.shares) else 1.0


@functools.cache
def _table() -> dict[int, LeastP]:
    stored = json.loads(shipped(TABLE).read_text(encoding="utf-8"))
    shares = tuple(stored["shares"])
    return {int(n): LeastP(shares, tuple(values)) for n, values in stored["least_p"].items()}


def law_of(count: int) -> LeastP:
    """Give the law for a series of `count` values, from 1 to 400."""
    return _table()[LENGTHS[bisect.bisect_left(LENGTHS, count)]]


def least_share() -> float:
    """Give the smallest share that was simulated: at a risk below it no p counts."""
    return min(law.shares[0] for law in _table().values())


# --- Windows of ranks along a series: the nights before a place against those from it on, by Mann-Whitney ([2]_).
#
# All rank sums come from one cumulative sum of the signs of differences. A window's p-value does not know the
# values outside of it, so that windows without a change have jointly one law, whatever happens elsewhere ([1]_);
# and since ranks are taken, that law is the same for all continuous laws of the values.


GRID = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 40, 52, 64, 80, 104, 128)
EXACT = 16  # values on either side, up to which the law of the rank sum is enumerated

_Whole = NDArray[np.int64]


class Windows(NamedTuple):
    """All windows of a series, a row each; `behind` of `before` + `behind` values begins at `place`.

    The values are those numbered `place` - `before` to `place` + `behind` - 1, from 0; `pvalue` is two-sided.
    """

    place: _Whole
    before: _Whole
    behind: _Whole
    pvalue: Array

    def only(self, some: NDArray[np.bool_]) -> Windows:
        """Give some of them, read-only."""
        return Windows._make(read_only(column[some]) for column in self)

    @property
    def first(self) -> _Whole:
        """The first of the places at which a change that a window shows may lie."""
        return self.place - self.before + 1

    @property
    def last(self) -> _Whole:
        """The last of them."""
        return self.place + self.behind - 1


def windows_of(values: Array, inflation: float = 1.0) -> Windows:
    """Compare the two sides of each window of lengths in `GRID`; none where there are fewer than 4 finite values.

    `inflation`: By which the normal quantile of each p-value is divided first, for values that resemble their neighbours.
    """
    signs = np.sign(values[None, :] - values[:, None]).astype(np.int32)
    sums = np.zeros((values.size + 1, values.size + 1), dtype=np.int32)
    sums[1:, 1:] = signs.cumsum(axis=0).cumsum(axis=1)
    found = []
    edge = functools.cache(lambda offset: np.ascontiguousarray(sums.diagonal(offset)))
    for a in (one for one in GRID if one < values.size):
        for b in (one for one in GRID if a + one <= values.size):
            # sums over the rectangle of values before (rows) and behind (columns), a row a place
            places = values.size - a - b + 1
            total = edge(b)[a : a + places] - edge(a + b)[:places]
            total += edge(a)[:places] - edge(0)[a : a + places]
            found.append((a, b, pvalues(total, a, b)))
    if not found:
        none = np.empty(0, dtype=np.int64)
        return Windows(place=none, before=none, behind=none, pvalue=np.empty(0))
    counts = [len(one) for *_, one in found]
    place = np.concatenate([np.arange(a, a + n) for (a, *_), n in zip(found, counts, strict=True)])
    before, behind = (np.repeat([one[k] for one in found], counts) for k in (0, 1))
    p = np.concatenate([one for *_, one in found])
    if inflation != 1.0:
        p = 2.0 * ndtr(ndtri(p / 2.0) / inflation)
    return Windows(place=place, before=before, behind=behind, pvalue=p)


def pvalues(total: NDArray[np.integer], a: int, b: int) -> Array:
    """Give the two-sided p of `total` pairs, those in order less those that are not, of `a` x `b` pairs.

    Exact where neither side has more than 16 values, with ties the larger p of the two neighbours; else
    normal with a continuity correction of 1/2.
    """
    far = np.abs(np.asarray(total, dtype=np.int64))  # twice the distance of U from its middle
    if a <= EXACT and b <= EXACT:
        # an odd distance is that of a whole number of pairs where a * b is odd; others are ties
        step = (far - a * b) % 2
        return np.asarray(tails(a, b)[(far - step + a * b) // 2])
    sd = np.sqrt(a * b * (a + b + 1) / 12.0)
    z = np.maximum(far / 2.0 - 0.5, 0.0) / sd
    return np.asarray(2.0 * ndtr(-z), dtype=np.float64)


@functools.cache
def tails(a: int, b: int) -> Array:
    """Give the two-sided p of each U from 0 to a * b, at most 1, by enumeration of all orders of no ties."""
    counts = _counts(min(a, b), max(a, b))
    below = np.cumsum(counts) / counts.sum()
    one_sided = np.minimum(below, below[::-1])
    # of U in the middle both tails hold it
    return np.asarray(np.minimum(2.0 * one_sided, 1.0))


@functools.cache
def _counts(a: int, b: int) -> Array:
    """Count the orders of a and b values by U: the coefficients of the Gaussian binomial."""
    found = np.zeros(a * b + 1)
    found[0] = 1.0
    for i in range(1, a + 1):
        # times (1 - q^(b+i)), then divided by (1 - q^i); whole numbers below 2^53 throughout
        power = b + i
        if power <= a * b:
            found[power:] -= found[: a * b + 1 - power].copy()
        for k in range(i, a * b + 1):
            found[k] += found[k - i]
    return found


FEWEST = 8  # values without which no interval is looked for, and none are a reference
MOST = LENGTHS[-1]
CORRECTED = 20  # values from which on it can be seen how much neighbours resemble each other
RISKS = (0.001, 0.2)
_RESEMBLES = 1.64  # over the root of the number of values: an autocorrelation that is corrected for
_WIDEST = 300.0  # of a half width, or a difference, of logarithms that can be written as a ratio
_BETWEEN = (-0.3, 0.9)  # an autocorrelation is taken to lie there
_RISK = 0.05  # of the interval of a step, shared by all places at which it might have been
REFERENCES = (
    'P. Fryzlewicz, "Narrowest significance pursuit: inference for multiple change-points in linear '
    'models", Journal of the American Statistical Association 119, 2024',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInterval:
    """A change lies before one of the values numbered `first` to `last`, from 0; `pvalue` is its window's."""

    first: int
    last: int
    pvalue: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The speedup of later nights over those before, with its interval; above 1 the later ones are faster.

    At a place that was chosen for its size the interval is Welch's t at the risk .05 / (2 T), with T the nights of the
    series, so that it holds after the choice. `level`: What the interval holds with. `low`, `high`: None where either
    side has one night only or nothing varies.
    """

    speedup: float
    low: float | None
    high: float | None
    level: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Changes(Result):
    """Where a series changes.

    `values`: The logarithms that were given, read-only, larger = slower. `risk`: That any of the intervals holds no
    change, at the most, for exchangeable nights. `autocorrelation`: Of neighbouring values, as far as it can be estimated;
    None below 20 values. `inflation`: By which normal quantiles were divided for it; 1 where it is not beyond chance.
    `least_p`: The smallest p of all windows after that; None where none was looked at. `p_star`: What a p may be at most
    to count; None below 8 values. `pvalue`: The share of series without a change whose least p is this or less; never
    too small. `intervals`: In the order of the series; no two share a place. `places`: The best place in each: the
    number of the first value behind the change. `steps`: What changed there. `windows`: Those that may count.
    """

    method: ClassVar[str] = "changes"
    unlisted: ClassVar[frozenset[str]] = frozenset({"windows"})

    values: Array
    risk: float = math.nan
    autocorrelation: float | None
    inflation: float = 1.0
    least_p: float | None = None
    p_star: float | None = None
    pvalue: float | None = None
    intervals: tuple[ChangeInterval, ...] = ()
    places: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()
    references: tuple[str, ...] = REFERENCES
    windows: Windows | None = None

    def alarm(
        self,
        limit: float = 1.0,
        *,
        since: int | None = None,
        horizon: int = 100,
        series: int = 1,
        direction: Direction = "slower",
    ) -> Alarm:
        """Tell whether the newest values are slower than those before by more than a limit.

        Parameters
        ----------
        limit : float
            The ratio of times that is allowed, such as 1.02 for 2 % more.
        since : int, optional
            The number of the first value that may be new; all before it are the reference. Without it the
            reference is what came since the last interval of a change that does not reach into the newest 8,
            less these.
        horizon : int
            Nights in which a false alarm may come with the risk.
        series : int
            How many series share the risk.
        direction : {"slower", "faster"}
            With "faster" the question is whether they are faster by more; `limit` is below 1 then.

        Returns
        -------
        Alarm

        Raises
        ------
        UsageError
            If `limit` is not positive, `since` lies outside of the series, or a count is below 1.
        """
        ends = [one.last for one in self.intervals] if since is None else []
        begins = begin_of_reference(ends, self.values.size)
        how: dict[str, Any] = {"horizon": horizon, "series": series, "direction": direction}
        return alarm_of(self, limit, begins=begins, since=since, risk=self.risk, **how)

    def screen(self) -> Page:
        """Set how many intervals have a change, and a line for each."""
        count, many, risk = self.values.size, len(self.intervals), f"{100 * self.risk:g} %"
        if self.p_star is None:
            text = f"{count} values: no interval is looked for"
        elif not many:
            text = f"no change in {count} values, at a risk of {risk} over all places"
        else:
            text = f"{figures.counted(many, 'interval')} with a change in {count} values, {risk} over all places"
        blocks: list[Block | str] = [text]
        if many:
            table = table_of(
                "changes",
                zip(self.intervals, self.places, self.steps, strict=True),
                ("before value", lambda row: span((row[0].first, row[0].last))),
                ("best place", lambda row: row[1]),
                ("p", lambda row: Value(pvalue(row[0].pvalue), row[0].pvalue)),
                (
                    "<what changed",
                    lambda row: f"from there on it {Difference.of(row[2]).ranged('before')}",
                ),
            )
            blocks.append(table)
        return Page(title="Changes", sections=(section(*blocks),), cautions=self.cautions)


@checks_arguments
def changes(values: ArrayLike, *, risk: float = 0.05) -> Changes:
    """Find intervals that each hold a change of a series.

    Parameters
    ----------
    values : array_like, shape (n,)
        One logarithm a night, of a time or of a ratio of times: larger = slower; at most 400.
    risk : float
        That any interval holds no change, from 0.001 to 0.2.

    Returns
    -------
    Changes

    Raises
    ------
    AnalysisError
        If a value is not finite, they lie too far apart for logarithms, or there are more than 400.
    UsageError
        If `risk` lies outside of its range.

    Notes
    -----
    Hypothesis: without a change nights are exchangeable. Where neighbours resemble each other the risk is
    larger; ``docs/methods/changes.md`` has the figures.
    """
    x = numbers(values, "the values", dimensions=1, wrong=AnalysisError)
    if not np.isfinite(x).all():
        k = int(np.argmin(np.isfinite(x)))
        what, where = f"the value is {float(x[k])!r}", f"value {k} of {x.size}"
        raise AnalysisError(what, where, "leave the night out")
    if x.size and (width := float(x.max()) - float(x.min())) > _WIDEST:
        what = f"the values lie too far apart for logarithms: up to {width:.3g}"
        raise AnalysisError(what, fix="give the logarithms of times: numpy.log(times)")
    if x.size > MOST:
        what = f"{x.size} values are more than the {MOST} whose law is known"
        raise AnalysisError(what, fix=f"give the newest {MOST}")
    if not RISKS[0] <= risk <= RISKS[1]:
        raise UsageError(f"risk must lie between {RISKS[0]} and {RISKS[1]}, not {risk!r}")
    return changes_at(looked_at(x), float(risk))


def looked_at(x: Array, *, corrected: bool = True) -> Changes:
    """Compare the two sides of all windows of at most 400 finite values; at which level one counts is not known yet."""
    r = autocorrelation(x) if x.size >= CORRECTED else None
    found = Changes(values=read_only(x.copy()), autocorrelation=r)
    if corrected:
        found = replace(found, inflation=inflation_for(r, x.size))
    if x.size < FEWEST:
        return found
    law, windows = law_of(x.size), windows_of(x, found.inflation)
    least = float(windows.pvalue.min())
    kept = windows.only(windows.pvalue <= law.threshold(RISKS[1]))  # no level is above it
    return replace(found, least_p=least, pvalue=law.risk_of(least), windows=kept)


def changes_at(seen: Changes, level: float) -> Changes:
    """Give the intervals at a level; below the least simulated share nobody knows a p that is small enough, and none counts."""
    x, threshold = seen.values, None
    found: list[ChangeInterval] = []
    if seen.windows is not None:
        threshold = law_of(x.size).threshold(level)
        significant = seen.windows.only(seen.windows.pvalue <= threshold)
        found = sorted(_shortest(significant, 0, x.size - 1), key=lambda one: one.first)
    places = places_of(x, found)
    return replace(
        seen,
        risk=level,
        p_star=threshold,
        intervals=tuple(found),
        places=places,
        steps=steps_of(x, places),
        cautions=tuple(_cautions(seen)),
    )


def _shortest(windows: Windows, first: int, last: int) -> Iterator[ChangeInterval]:
    """Take the shortest window among the values `first` to `last`, then look to its left and right."""
    inside = (windows.place - windows.before >= first) & (windows.last <= last)
    there = np.flatnonzero(inside)
    if not there.size:
        return
    length = windows.before[there] + windows.behind[there]
    best = there[np.lexsort((windows.place[there], windows.pvalue[there], length))[0]]
    begin, end = int(windows.first[best]), int(windows.last[best])
    yield ChangeInterval(first=begin, last=end, pvalue=float(windows.pvalue[best]))
    yield from _shortest(windows, first, begin - 1)
    yield from _shortest(windows, end, last)


def autocorrelation(x: Array) -> float:
    """Tell how much neighbours resemble each other, from differences, so that steps hardly count.

    With e the values less the means on both sides of their best single split, and d1, d2 their differences at
    lag 1 and 2: r = mean of min(d2^2, its upper quartile) over the same of d1, less 1, cut to -0.3 .. 0.9. Of a
    first-order autoregression the variances of d2 and d1 have the ratio 1 + r.
    """
    e = x.copy()
    split = best_split(x, 1, x.size - 1)
    for part in (slice(None, split), slice(split, None)):
        e[part] -= e[part].mean()
    one, two = (np.square(e[lag:] - e[:-lag]) for lag in (1, 2))
    low, high = (float(np.minimum(d, np.quantile(d, 0.75)).mean()) for d in (one, two))
    return 0.0 if low <= 0 else float(np.clip(high / low - 1.0, *_BETWEEN))


def inflation_for(r: float | None, count: int) -> float:
    """Give sqrt((1 + r) / (1 - r)) where r is beyond chance, else 1."""
    if r is None or r <= _RESEMBLES / math.sqrt(count):
        return 1.0
    return math.sqrt((1.0 + r) / (1.0 - r))


def best_split(x: Array, first: int, last: int) -> int:
    """Give the place from `first` to `last` with the largest |difference of means| sqrt(n1 n2 / (n1 + n2))."""
    k = np.arange(first, last + 1)
    sums = np.cumsum(x)
    before = sums[k - 1] / k
    behind = (sums[-1] - sums[k - 1]) / (x.size - k)
    weight = np.sqrt(k * (x.size - k) / x.size)
    return int(k[np.argmax(np.abs(behind - before) * weight)])


def places_of(x: Array, intervals: Sequence[ChangeInterval]) -> tuple[int, ...]:
    """Give the best place in each interval, over the values between its neighbours' intervals."""
    places = []
    for k, one in enumerate(intervals):
        begin = intervals[k - 1].last if k else 0
        end = intervals[k + 1].first if k + 1 < len(intervals) else x.size
        places.append(begin + best_split(x[begin:end], one.first - begin, one.last - begin))
    return tuple(places)


def steps_of(x: Array, places: Sequence[int]) -> tuple[Step, ...]:
    """Give the speedup at each place between the segments on both sides of it."""
    ends = (0, *places, x.size)
    parts = [x[a:b] for a, b in itertools.pairwise(ends)]
    risk = _RISK / (2 * max(x.size, 1))
    return tuple(
        step_of(a, b, _welch_half(a, b, risk), 1 - risk) for a, b in itertools.pairwise(parts)
    )


def step_of(before: Array, behind: Array, half: float, level: float) -> Step:
    """Give the speedup of the values behind over those before; a `half` width of 0, or beyond all numbers, is no interval."""
    difference = float(before.mean() - behind.mean())  # larger = slower: fewer is faster
    ends = (
        (math.exp(difference - half), math.exp(difference + half))
        if 0 < half < _WIDEST
        else (None, None)
    )
    return Step(speedup=math.exp(difference), low=ends[0], high=ends[1], level=level)


def _welch_half(before: Array, behind: Array, risk: float) -> float:
    if before.size < 2 or behind.size < 2:
        return 0.0
    parts = [float(one.var(ddof=1)) / one.size for one in (before, behind)]
    if sum(parts) <= 0:
        return 0.0
    freedom = sum(parts) ** 2 / sum(
        part**2 / (one.size - 1) for part, one in zip(parts, (before, behind), strict=True)
    )
    return -float(stdtrit(freedom, risk / 2)) * math.sqrt(sum(parts))


def _cautions(seen: Changes) -> Iterator[Caution]:
    x, r, text = seen.values, seen.autocorrelation, ""
    if x.size < FEWEST:
        text = f"{x.size} values: {FEWEST} are needed to find a change"
        yield Caution("too-few-nights", text)
        return
    often = "hold no change {}more often than the risk says"
    if r is None and autocorrelation(x) > 0.5:
        text = f"seem to resemble each other, which {x.size} values cannot tell: an interval may {often.format('')}"
    elif seen.inflation > 1.0:
        often = f"p-values are taken at z / {seen.inflation:.2f}, and an interval may still {often.format('')}"
        text = f"resemble each other (r {r:.2f}): {often}"
    elif inflation_for(r, x.size) > 1.0:
        often = f"and nights were taken to be independent: an interval may {often.format('far ')}"
        text = f"resemble each other (r {r:.2f}), {often}"
    if text:
        yield Caution("neighbours-alike", f"neighbouring values {text}")


# --- The newest values against those before, with a risk over many nights.
#
# The m newest values all lie above the j-th largest of n reference values with probability
# C(m+j-1, m) / C(n+m, m), exactly, for exchangeable values of any continuous law: a permutation of n + m values puts the
# m new ones among the m + j - 1 largest. With j the largest for which that is at most risk / horizon / 5, for
# each of five m, a false alarm within the horizon has at most the risk, by addition.
#
# That the newest are within the limit rests on the larger of two half widths, times the series' inflation: Banerjee's
# ([3]_), which holds where the newest scatter more, and that of pooled spreads, which holds where nights are skewed.


Direction = Literal["faster", "slower"]
AlarmWord = Literal["proven", "ruled-out", "undecided"]
Withheld = Literal["nights-depend", "drift"]

NIGHTS = (2, 3, 4, 6, 8)  # newest values that are looked at
NEWEST = 8  # of the values since the last change, no reference
_RULED_OUT = 0.025
# the inflation of an autocorrelation of .5: beyond it nothing is ruled out
_DEPENDS = math.sqrt(3.0)
_DRIFTS = 24  # nights from which on the newest are held against the first ones too


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What the newest values say of a limit.

    `word`: "proven" where they are beyond it, "ruled-out" where their mean is within it (one-sided at
    97.5 %), else "undecided". `nights`: How many newest values decided; 0 where undecided. `reference`: How
    many values they were held against. `limit`: The ratio of times that was allowed. `risk_each`: The chance that a look at one
    number of newest values alarms falsely. `reason`: Why nothing is ruled out although the mean lies within the
    limit: "nights-depend" (neighbours resemble each other by more than .5), "drift" (the newest are beyond it
    against the first ones of the series); else None.
    """

    word: AlarmWord
    nights: int
    reference: int
    limit: float
    risk_each: float
    reason: Withheld | None = None

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON types."""
        return dict(plain(self))


def begin_of_reference(ends: Sequence[int], count: int) -> int:
    """Give the number of the first value of a reference, from the last places at which changes may lie.

    A change that may lie among the newest values is what an alarm is about: it begins no reference.
    """
    return max((end for end in ends if end <= count - NEWEST), default=0)


def alarm_of(
    found: Changes,
    limit: float,
    *,
    begins: int,
    since: int | None,
    risk: float,
    horizon: int,
    series: int,
    direction: Direction,
) -> Alarm:
    """Hold the newest values against those before; `Changes.alarm` says what is what."""
    values, inflation = found.values, found.inflation
    if not (math.isfinite(limit) and limit > 0):
        raise UsageError(
            f"the limit must be a positive ratio of times, not {limit!r}",
            fix="1.02 allows 2 % more time",
        )
    if direction not in get_args(Direction):
        raise UsageError(f"direction must be 'slower' or 'faster', not {direction!r}")
    counted("horizon", horizon, most=1_000_000)
    counted("series", series, most=1_000_000)
    if since is not None and not 0 <= since <= values.size:
        raise UsageError(
            f"since is the number of a value, from 0 to {values.size}, not {since!r}", "since"
        )
    sign = 1.0 if direction == "slower" else -1.0
    x = sign * (values - math.log(limit))
    first_new = max(begins, values.size - NEWEST) if since is None else since
    reference = sign * values[begins:first_new]
    new = x[first_new:]
    risk_each = risk / horizon / len(NIGHTS) / series
    if inflation > 1.0:
        risk_each = float(ndtr(inflation * ndtri(risk_each)))
    held: dict[str, Any] = {
        "reference": int(reference.size),
        "limit": float(limit),
        "risk_each": risk_each,
    }
    undecided = functools.partial(Alarm, word="undecided", nights=0, **held)
    if reference.size < FEWEST:
        return undecided()
    if nights := _beyond(reference, new, risk_each):
        return Alarm(word="proven", nights=nights, **held)
    newest = new[-NEWEST:]
    if newest.size < 2 or not _apart(reference, newest) + half_of(reference, newest, inflation) < 0:
        return undecided()
    if inflation > _DEPENDS:
        return undecided(reason="nights-depend")
    if since is None and direction == "slower" and _drifts(values, x):
        return undecided(reason="drift")
    return Alarm(word="ruled-out", nights=int(newest.size), **held)


def order_of(nights: int, reference: int, risk: float) -> int:
    """Give the largest j at which all new values lie above the j-th largest by chance with at most `risk`; 0 if none."""
    whole = math.comb(reference + nights, nights)
    j = 0
    while j < reference and math.comb(nights + j, nights) <= risk * whole:
        j += 1
    return j


def _beyond(reference: Array, new: Array, risk: float) -> int:
    """Give the fewest newest values that all lie beyond; 0 where none do."""
    ordered = np.sort(reference)[::-1]
    for m in NIGHTS:
        j = order_of(m, reference.size, risk)
        if m <= new.size and j and bool((new[-m:] > ordered[j - 1]).all()):
            return m
    return 0


def _apart(before: Array, behind: Array) -> float:
    return float(behind.mean() - before.mean())


def banerjee_half(before: Array, behind: Array) -> float:
    """Give Banerjee's half width at 95 % of the difference of two means, of two values each at least ([3]_)."""
    parts = (
        float(stdtrit(one.size - 1, _RULED_OUT)) ** 2 * float(one.var(ddof=1)) / one.size
        for one in (before, behind)
    )
    return math.sqrt(sum(parts))


def half_of(reference: Array, new: Array, inflation: float) -> float:
    """Give the half width by which newest values are within a limit, of two values each at least."""
    freedom = reference.size + new.size - 2
    squares = sum(float(np.square(part - part.mean()).sum()) for part in (reference, new))
    error = math.sqrt(squares / freedom * (1 / reference.size + 1 / new.size))
    pooled = -float(stdtrit(freedom, _RULED_OUT)) * error
    return inflation * max(pooled, banerjee_half(reference, new))


def _drifts(values: Array, x: Array) -> bool:
    """Tell whether the newest are surely beyond the limit against the first; `x` is `values` less it."""
    first, newest = values[:NEWEST], x[-NEWEST:]
    return values.size >= _DRIFTS and _apart(first, newest) > banerjee_half(first, newest)
