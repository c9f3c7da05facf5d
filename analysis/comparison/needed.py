"""How many more sessions the second trial needs to see what the first one concludes."""

from __future__ import annotations

import math

import numpy as np

from ..methods.multilevel import Law, chances
from .result import Effect, More

__all__ = ["more_sessions"]

_LIMIT = 100
_CHANCE = 0.8
_LEAST = 2  # sessions that show how sessions differ


def more_sessions(
    old: Effect, new: Effect, designs: tuple[str, str], law: Law, margin: float
) -> More | None:
    """Say with how many more sessions the new trial would say the old one's word.

    The effect is taken as the old trial estimates it. The spread of a session value is the new
    trial's; of a single session nobody knows it, and the old trial's is taken. None where neither
    has one, or there is nothing to be seen.

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
    source, design = (new, designs[1]) if _known(new, designs[1]) else (old, designs[0])
    if not _known(source, design):
        return None
    sides = 2 if design == "separate" else 1  # each side has sessions of its own, and needs as many
    have = max(new.sessions, 0) // sides
    spread = _spread(source, sides)
    if spread == 0:
        lacking = max(_LEAST - have, 0)
        return More(sessions=lacking, target=old.outcome) if lacking else None
    if source is new and new.freedom is None and new.errors and new.freedoms:
        # sides of unequal numbers stay unequal, and keep a quantile each
        before = np.array(new.freedoms) + 1.0
        more = np.arange(1.0, _LIMIT + 1)
        freedom = before + more[:, None] - 1.0
        error = np.array(new.errors) * np.sqrt(before / (freedom + 1.0))
    else:
        counts = np.arange(max(have + 1, _LEAST), have + _LIMIT + 1, dtype=np.float64)
        more, freedom, error = counts - have, sides * (counts - 1.0), spread / np.sqrt(counts)
    multiplier = law.multiplier(freedom)
    step, distance = new.step_added or 0.0, abs(math.log(old.speedup))
    if old.outcome != "equivalent":  # the clock's step is taken from the distance that is tested
        distance = max(distance - step, 0.0)
    effect, limits = np.full(more.shape, distance), (multiplier, multiplier)
    outside, inside = chances(effect, error, freedom, limits, margin - step)
    chance = inside if old.outcome == "equivalent" else outside
    enough = np.flatnonzero(chance >= _CHANCE)
    return More(sessions=int(more[enough[0]]) if enough.size else None, target=old.outcome)


def _spread(effect: Effect, sides: int) -> float:
    """Give the standard deviation of a session's value, of both sides together."""
    if effect.freedom is None and effect.errors and effect.freedoms:
        variances = (e**2 * (f + 1) for e, f in zip(effect.errors, effect.freedoms, strict=True))
        return math.sqrt(math.fsum(variances))
    counted = max(effect.sessions // sides, _LEAST)
    return float(effect.error or 0.0) * math.sqrt(counted)


def _known(effect: Effect, design: str) -> bool:
    """Tell whether the effect says how sessions differ."""
    return design in ("paired", "separate") and effect.error is not None and effect.sessions >= 2
