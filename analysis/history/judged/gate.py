"""The gate on many nights: whether the newest are slower than those before by more than is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...pages.condition import Condition
from ..alarm import (
    FEWEST,
    NEWEST,
    NIGHTS,
    Alarm,
    Direction,
    alarm_of,
    banerjee_half,
    begin_of_reference,
    half_of,
)
from ..changes import Changes, Step, step_of
from .result import Outcome

_LEVEL = 0.95

_CONDITION_OF_GAIN: dict[str, Outcome] = {
    "proven": "passed",
    "ruled-out": "proven",
    "undecided": "undecided",
}
_CONDITION: dict[str, Outcome] = {
    "proven": "proven",
    "ruled-out": "passed",
    "undecided": "undecided",
}


class Gated(NamedTuple):
    """What the gate says of one series.

    `against`: The newest nights, those that decided or up to 8, against the reference; None where either side
    has none. `reference`: The number of its first value, and that behind its last. `drift`: The newest 8 against the
    first 8 of the series, where that withholds the answer. `reason`: Why it is undecided, else None.
    """

    alarm: Alarm
    against: Step | None
    reference: tuple[int, int]
    drift: Step | None
    outcome: Outcome
    reason: str | None


def gated(
    found: Changes,
    asked: Condition,
    *,
    since: int | None,
    risk: float,
    horizon: int,
    series: int,
    cut: Sequence[tuple[bool, bool]],
) -> Gated:
    """Hold the newest nights of a series against those before; of a `since`, those since a change eight before it.

    ``slower>2%`` is proven by an alarm, and passes where the mean of the newest nights lies within the limit.
    ``faster<5%`` is passed by an alarm of being faster by more, and proven where the mean shows that it is not.
    What a longer time of runs that were `cut`, of the candidate's or the baseline's, would overturn is undecided.
    """
    gain = asked.kind == "faster"
    direction: Direction = "faster" if gain else "slower"
    count = found.values.size if since is None else since
    begins = begin_of_reference([one.last for one in found.intervals], count)
    alarm = alarm_of(
        np.asarray(found.values),
        1.0 / asked.limit,
        begins=begins,
        since=since,
        risk=risk,
        inflation=found.inflation,
        horizon=horizon,
        series=series,
        direction=direction,
    )
    outcome = (_CONDITION_OF_GAIN if gain else _CONDITION)[alarm.word]
    first_new = max(begins, found.values.size - NEWEST) if since is None else since
    span = (begins, first_new)
    reference = found.values[slice(*span)]
    new = found.values[first_new:][-(alarm.nights or NEWEST) :]
    reason: str | None = None
    if outcome == "undecided":
        few = reference.size < FEWEST
        between = alarm.reason or "between"
        reason = "few-nights" if few else "few-new" if new.size < NIGHTS[0] else between
    later, before = cut[first_new:], cut[slice(*span)]
    longer = any(one for one, _ in later) or any(base for _, base in before)
    shorter = any(base for _, base in later) or any(one for one, _ in before)
    if (outcome == "passed" and longer) or (outcome == "proven" and shorter):
        outcome, reason = "undecided", "cut-off"
    against = drift = None
    if reference.size and new.size:
        half = (
            half_of(reference, new, found.inflation) if min(reference.size, new.size) > 1 else 0.0
        )
        against = step_of(reference, new, half, _LEVEL)
    if reason == "drift":
        first, newest = found.values[:NEWEST], found.values[-NEWEST:]
        drift = step_of(first, newest, banerjee_half(first, newest), _LEVEL)
    return Gated(alarm, against, span, drift, outcome, reason)
