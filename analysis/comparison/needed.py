"""How many more sessions the second trial needs to see what the first one concludes."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtri

from ..methods.multilevel import Law, chances
from .result import Effect, More

__all__ = ["more_sessions"]

_LIMIT = 100
_CHANCE = 0.8
_STRATA = 24  # of the law of the spread
_LEAST = 2  # sessions that show how sessions differ


def more_sessions(
    old: Effect, new: Effect, designs: tuple[str, str], law: Law, margin: float
) -> More | None:
    """Say with how many more sessions the new trial would say the old one's word.

    The effect is taken as the old trial estimates it. The spread of a session value is the new
    trial's; of a single session nobody knows it, and the old trial's is taken. The chance is a mean over
    what the spread may be, by its chi-square law: as measured in few sessions it is often too small.
    None where neither trial has one, or there is nothing to be seen.

    Parameters
    ----------
    old, new : Effect
        The effect in both trials; the old one is decided.
    designs : pair of str
        How the trials compare their sides: "paired", "separate", or within one session.
    law : Law
        Of the interval of the new trial at its next look.
    margin : float
        Of the log ratio.
    """
    if old.speedup is None or not old.decided:
        return None
    have, sides = max(new.sessions, 0), 1
    source, design = (new, designs[1]) if _known(new, designs[1]) else (old, designs[0])
    if not _known(source, design):
        return None
    if design == "separate":  # each side has sessions of its own, and needs as many
        sides = 2
        have //= 2
    counted = max(source.sessions // sides, _LEAST)
    spread = float(source.error or 0.0) * math.sqrt(counted)
    if spread == 0:
        lacking = max(_LEAST - have, 0)
        return More(sessions=lacking, target=old.outcome) if lacking else None
    counts = np.arange(max(have + 1, _LEAST), have + _LIMIT + 1, dtype=np.float64)
    known = sides * (counted - 1.0)
    spreads = spread * np.sqrt(known / chdtri(known, (np.arange(_STRATA) + 0.5) / _STRATA))
    each = np.repeat(counts, _STRATA)
    freedom = sides * (each - 1.0)
    multiplier = law.multiplier(freedom)
    step, distance = new.step_added or 0.0, abs(math.log(old.speedup))
    if old.outcome != "equivalent":  # the clock's step is taken from the distance that is tested
        distance = max(distance - step, 0.0)
    outside, inside = chances(
        np.full(each.shape, distance),
        np.tile(spreads, counts.size) / np.sqrt(each),
        freedom,
        (multiplier, multiplier),
        margin - step,
    )
    chance = inside if old.outcome == "equivalent" else outside
    chance = chance.reshape(counts.size, _STRATA).mean(axis=1)
    enough = np.flatnonzero(chance >= _CHANCE)
    more = int(counts[enough[0]]) - have if enough.size else None
    return More(sessions=more, target=old.outcome)


def _known(effect: Effect, design: str) -> bool:
    """Tell whether the effect says how sessions differ."""
    return design in ("paired", "separate") and effect.error is not None and effect.sessions >= 2
