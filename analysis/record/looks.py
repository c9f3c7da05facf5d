"""The lists of looks at a comparison's sessions: each is about 1.3 times as many as the one before.

Runner and judge take them from here: the runner has no numpy, and its first run waits for nothing.
"""

from __future__ import annotations

import bisect
from dataclasses import replace

from .trial_files import LooksPlan

LOOKS = (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 49, 64, 83, 108)  # numbers of sessions
OPEN_LOOKS = (*LOOKS, 143, 190, 251, 332, 440, 583, 773, 1024)  # chosen before the first of them


def with_look(looks: tuple[int, ...], sessions: int) -> tuple[int, ...]:
    """Put a look at so many sessions, which is none of the list, in the place of the next one.

    The cap of a measurement comes when it comes. So there are no more looks than were planned, and they
    risk no more together; what comes after the last look of the list is none of it.
    """
    if sessions in looks:
        return looks
    place = bisect.bisect_left(looks, sessions)
    return (*looks[:place], sessions, *looks[place + 1 :]) if place < len(looks) else looks


def looked_after(plan: LooksPlan, sessions: int) -> LooksPlan:
    """Give the plan after a look at so many sessions, where the measurement ended, perhaps between two looks."""
    if plan.rule == "planned":
        return plan
    return replace(plan, looks=with_look(plan.looks, sessions))


def next_look(plan: LooksPlan, sessions: int) -> int | None:
    """Give the number of sessions at the first look that is still to come; None after the last."""
    return next((n for n in plan.looks if n > sessions), None)
