"""What a plan has to reach: an interval so narrow, an effect that is told, or both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import UsageError
from .pair import check_positive, check_share

__all__ = ["WIDTH", "Goal", "check_on", "check_wanted", "goal_of"]

WIDTH = 0.02  # that is asked for where nothing is: an interval of about 1 % to either side


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is to be reached; None where it is not asked for.

    Attributes
    ----------
    half : float or None
        Half of the interval on the log scale, at most.
    effect : float or None
        The log speedup that is to be told from 0, above 0.
    power : float
        The chance of that.
    alpha : float
        1 - confidence of the two-sided interval.
    """

    half: float | None
    effect: float | None
    power: float
    alpha: float


def goal_of(width: float | None, effect: float | None, power: float, confidence: float) -> Goal:
    """Give the goal of an interval's relative width, and of a speedup to be told with a power.

    Raises
    ------
    UsageError
        If one is out of its range, or the power no more than chance gives.
    """
    check_share("confidence", confidence)
    check_share("power", power)
    if power <= 1 - confidence:
        raise UsageError(
            f"power must lie above the risk, {1 - confidence:.4g}, and is {power!r}",
            fix="ask for 0.8, or for another confidence",
        )
    check_wanted(width, effect)
    return Goal(
        half=None if width is None else math.asinh(width / 2),
        effect=None if effect is None else abs(math.log(effect)),
        power=power,
        alpha=1 - confidence,
    )


def check_wanted(width: float | None, effect: float | None) -> None:
    """Raise UsageError unless what is asked for are a width, and a speedup other than 1."""
    if width is not None:
        check_positive("width", width)
    if effect is not None:
        check_positive("effect", effect)
        if effect == 1:
            raise UsageError("an effect of 1 is none", fix="give a speedup, such as 1.02")


def check_on(on: str) -> None:
    """Raise UsageError unless it names what has to reach the goal."""
    if on not in ("suite", "benchmarks"):
        raise UsageError(f"on must be 'suite' or 'benchmarks', not {on!r}")
