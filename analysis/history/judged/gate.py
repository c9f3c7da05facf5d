"""The gate on many nights: whether the newest are slower than those before by more than is allowed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...pages.condition import Condition
from ..alarm import FEWEST, NEWEST, NIGHTS, Alarm, Direction, alarm_of, begin_of_reference
from ..changes import Changes, Step, step_between
from .result import Outcome

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
    has none. `reason`: Why it is undecided, else None.
    """

    alarm: Alarm
    against: Step | None
    outcome: Outcome
    reason: str | None


def gated(
    found: Changes, asked: Condition, *, since: int | None, risk: float, horizon: int, series: int
) -> Gated:
    """Hold the newest nights of a series against those before.

    ``slower>2%`` is proven by an alarm, and passes where the mean of the newest nights lies within the limit.
    ``faster<5%`` is passed by an alarm of being faster by more, and proven where the mean shows that it is not.
    """
    gain = asked.kind == "faster"
    direction: Direction = "faster" if gain else "slower"
    begins = begin_of_reference([one.last for one in found.intervals], found.values.size)
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
    reference = found.values[(begins if since is None else 0) : first_new]
    new = found.values[first_new:][-(alarm.nights or NEWEST) :]
    reason = None
    if outcome == "undecided":
        few = reference.size < FEWEST
        reason = "few-nights" if few else "few-new" if new.size < NIGHTS[0] else "between"
    against = step_between(reference, new) if reference.size and new.size else None
    return Gated(alarm, against, outcome, reason)
