"""Whether the newest values of a series are slower than those before, with a risk over many nights.

The m newest values all lie above the j-th largest of n reference values with probability
C(m+j-1, m) / C(n+m, m), exactly, for exchangeable values of any continuous law: a permutation of n + m values puts the
m new ones among the m + j - 1 largest. With j the largest for which that is at most risk / horizon / 5, for
each of five m, a false alarm within the horizon has at most the risk, by addition.

That the newest are within the limit rests on the larger of two half widths, times the series' inflation: Banerjee's
([1]_), which holds where the newest scatter more, and that of pooled spreads, which holds where nights are skewed.

References
----------
.. [1] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations when the
   population variances are not equal", Sankhya 22, 1960.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ..errors import UsageError
from ..pages.result import plain
from ..stats.arguments import counted
from ..stats.samples import Array

Direction = Literal["faster", "slower"]
AlarmWord = Literal["proven", "ruled-out", "undecided"]
Withheld = Literal["nights-depend", "drift"]

NIGHTS = (2, 3, 4, 6, 8)  # newest values that are looked at
NEWEST = 8  # of the values since the last change, no reference
FEWEST = 8  # values of a reference
_RULED_OUT = 0.025
_DEPENDS = math.sqrt(
    3.0
)  # the inflation of an autocorrelation of .5: beyond it nothing is ruled out
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
    values: Array,
    limit: float,
    *,
    begins: int,
    since: int | None,
    risk: float,
    inflation: float,
    horizon: int,
    series: int,
    direction: Direction,
) -> Alarm:
    """Hold the newest values against those before; `Changes.alarm` says what is what."""
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
    word: AlarmWord = "undecided"
    nights = 0
    reason: Withheld | None = None
    if reference.size >= FEWEST:
        nights = _beyond(reference, new, risk_each)
        newest = new[-NEWEST:]
        if nights:
            word = "proven"
        elif (
            newest.size > 1
            and _apart(reference, newest) + half_of(reference, newest, inflation) < 0
        ):
            if inflation > _DEPENDS:
                reason = "nights-depend"
            elif since is None and direction == "slower" and _drifts(values, x):
                reason = "drift"
            else:
                word, nights = "ruled-out", int(newest.size)
    return Alarm(
        word=word,
        nights=nights,
        reference=int(reference.size),
        limit=float(limit),
        risk_each=risk_each,
        reason=reason,
    )


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
    """Give Banerjee's half width at 95 % of the difference of two means, of two values each at least ([1]_)."""
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
