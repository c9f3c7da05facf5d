"""Whether the newest values of a series are slower than those before, with a risk over many nights.

The m newest values all lie above the j-th largest of n reference values with probability
C(m+j-1, m) / C(n+m, m), exactly, for exchangeable values of any continuous law: a permutation of n + m values puts the
m new ones among the m + j - 1 largest. With j the largest for which that is at most risk / horizon / 5, for
each of five m, a false alarm within the horizon has at most the risk, by addition.
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

Direction = Literal["slower", "faster"]
AlarmWord = Literal["proven", "ruled-out", "undecided"]

NIGHTS = (2, 3, 4, 6, 8)  # newest values that are looked at
NEWEST = 8  # of the values since the last change, no reference
FEWEST = 8  # values of a reference
_RULED_OUT = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What the newest values say of a limit.

    `word`: "proven" where they are beyond it, "ruled-out" where their mean is within it (one-sided at
    97.5 %), else "undecided". `nights`: How many newest values decided; 0 where undecided. `reference`: How
    many values they were held against. `limit`: The ratio of times that was allowed. `risk_each`: The chance that a look at one
    number of newest values alarms falsely.
    """

    word: AlarmWord
    nights: int
    reference: int
    limit: float
    risk_each: float

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
    reference = sign * values[(begins if since is None else 0) : first_new]
    new = x[first_new:]
    risk_each = risk / horizon / len(NIGHTS) / series
    if inflation > 1.0:
        risk_each = float(ndtr(inflation * ndtri(risk_each)))
    word: AlarmWord = "undecided"
    nights = 0
    if reference.size >= FEWEST:
        nights = _beyond(reference, new, risk_each)
        if nights:
            word = "proven"
        elif (within := _within(reference, new[-NEWEST:])) > 0:
            word, nights = "ruled-out", within
    return Alarm(
        word=word,
        nights=nights,
        reference=int(reference.size),
        limit=float(limit),
        risk_each=risk_each,
    )


def order_of(nights: int, reference: int, risk: float) -> int:
    """Give the largest j at which so many new values lie above the j-th largest by chance with at most `risk`; 0 if none."""
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


def _within(reference: Array, new: Array) -> int:
    """Give how many newest values show that their mean is within the limit; 0 where they do not."""
    if new.size < 2:
        return 0
    freedom = reference.size + new.size - 2
    squares = sum(float(np.square(part - part.mean()).sum()) for part in (reference, new))
    error = math.sqrt(squares / freedom * (1 / reference.size + 1 / new.size))
    bound = float(new.mean() - reference.mean()) - float(stdtrit(freedom, _RULED_OUT)) * error
    return int(new.size) if bound < 0 else 0
